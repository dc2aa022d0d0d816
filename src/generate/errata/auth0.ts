/**
 * Corrections of Auth0's document of the Management API: where real tenants have been seen to answer or to accept something else. The
 * description of each says what, and when that was last recorded, or that it is known without a recording. What a later document
 * has itself stays as it is there: an action matches only where it is missing.
 */
import type { Overlay } from "../overlay/overlay.js"

type Action = Overlay["actions"][number]
type Schema = Readonly<Record<string, unknown>>

/** The place of the JSON that an operation answers with. */
const answer = (path: string, method = "get", status = "200") =>
  `$.paths['${path}'].${method}.responses['${status}'].content['application/json']`

const schemas = (...names: ReadonlyArray<string>) =>
  `$.components.schemas[${names.map((name) => `'${name}'`).join(", ")}]`

/** Fields that objects have beside those of the document. */
const fields = (
  recorded: string,
  names: ReadonlyArray<string>,
  update: Readonly<Record<string, Schema>>
): ReadonlyArray<Action> =>
  names.flatMap((name) =>
    Object.entries(update).map(([field, schema]) => ({
      target: `$.components[?@.${name} && !@.${name}.properties.${field}].${name}.properties`,
      description: `${field}: accepted or returned, and not described (${recorded}).`,
      update: { [field]: schema }
    }))
  )

/** Fields of responses that the document requires and that are absent. */
const absent = (recorded: string, name: string, names: ReadonlyArray<string>): Action => ({
  target: `${schemas(...names)}.required[?@ == '${name}']`,
  description: `${name} is required by the document, and absent in reality (${recorded}).`,
  remove: true
})

/** A parameter of a query that an operation accepts. */
const query = (recorded: string, path: string, operation: string, name: string, schema: Schema): Action => ({
  target:
    `$.paths['${path}'][?@.operationId == '${operation}' && count(@.parameters[?@.name == '${name}']) == 0].parameters`,
  description: `${name}: accepted, and not described (${recorded}).`,
  update: { name, in: "query", schema }
})

/** Facts of November 2026 about real tenants. No recording of them is among those that the project is tried against. */
const unrecorded = "known since 2026-11, without a recording"

const string: Schema = { type: "string" }
const boolean: Schema = { type: "boolean" }
const integer: Schema = { type: "integer", minimum: 0 }
const secret: Schema = { type: "string", writeOnly: true }

const deliveries: ReadonlyArray<Action> = [
  {
    target: `${answer("/event-streams/{id}/deliveries")}[?@.type == 'array']`,
    description: "Deliveries come in an object, not as a bare list (recorded on 2025-09-09).",
    remove: true
  },
  {
    target: `$.paths['/event-streams/{id}/deliveries'].get.responses['200'].content[?!@.schema]`,
    description:
      "A page of deliveries, with the checkpoint of the next one unless it is the last (recorded on 2025-09-09).",
    update: {
      schema: {
        type: "object",
        required: ["deliveries"],
        properties: {
          deliveries: { type: "array", items: { $ref: "#/components/schemas/EventStreamDelivery" } },
          next: { type: "string" }
        }
      }
    }
  },
  {
    target: `${schemas("EventStreamCloudEvent")}.properties.data[?@ == 'string']`,
    description: "data is an object, not a string (recorded on 2025-09-09).",
    remove: true
  },
  ...fields("recorded on 2025-09-09", ["EventStreamDeliveryAttempt"], { duration: { type: "number" } }),
  ...fields("recorded on 2025-09-09", ["EventStreamCloudEvent"], {
    a0tenant: string,
    a0stream: string,
    a0purpose: string
  })
]

const time: Schema = { type: "string", format: "date-time" }

/** The deployed version once more, with fewer fields, and its status in capitals. */
const actions = fields("recorded on 2026-08-10", [
  "Action",
  "CreateActionResponseContent",
  "GetActionResponseContent",
  "UpdateActionResponseContent"
], {
  current_version: {
    type: "object",
    properties: {
      id: string,
      code: string,
      runtime: string,
      status: string,
      number: { type: "number" },
      build_time: time,
      created_at: time,
      updated_at: time
    }
  }
})

/** Secrets are sent, and never returned. */
const webhooks: ReadonlyArray<Action> = [
  ...fields("recorded on 2026-08-10", ["EventStreamWebhookBearerAuth"], { token: secret }),
  ...fields(unrecorded, ["EventStreamWebhookBasicAuth"], { password: secret }),
  ...fields("recorded on 2026-06-11", ["EventStreamWebhookCustomHeaderAuth"], { header_value: secret })
]

const resourceServers: ReadonlyArray<Action> = [
  absent("recorded on 2026-08-10", "pem", ["ResourceServerTokenEncryptionKey"]),
  ...fields("recorded on 2026-02-26", ["CreateResourceServerRequestContent", "UpdateResourceServerRequestContent"], {
    token_lifetime_for_web: integer
  }),
  query("recorded on 2025-08-29", "/resource-servers", "get_resource-servers", "fields", string)
]

const organizations = ["OrganizationResponseContent", "OrganizationRequestContent"].flatMap((end) =>
  ["Create", "Update"].map((begin) => `${begin}${end}`)
)

const roles = (begin: string) => [`${begin}RoleRequestContent`, `${begin}RoleResponseContent`]

const others: ReadonlyArray<Action> = [
  ...fields("recorded on 2026-08-14", [
    ...organizations,
    "Organization",
    "GetOrganizationResponseContent",
    "GetOrganizationByNameResponseContent"
  ], {
    is_app_entitlement_active: boolean,
    third_party_client_access: string
  }),
  ...fields("recorded on 2026-08-14", [
    ...roles("Create"),
    "Role",
    "GetRoleResponseContent",
    "UpdateRoleResponseContent"
  ], {
    type: string,
    owner_id: string
  }),
  ...["type", "owner_id"].map((name) => query("recorded on 2026-08-14", "/roles", "get_roles", name, string)),
  ...fields("recorded on 2026-08-13", [
    "ClientTokenVaultPrivilegedAccessWithCredentialId",
    "ClientTokenVaultPrivilegedAccessWithPublicKey"
  ], {
    grants: {
      type: "array",
      items: { type: "object", properties: { connection: string, scopes: { type: "array", items: string } } }
    }
  }),
  ...fields("recorded on 2026-07-31", [
    "CreateClientRequestContent",
    "UpdateClientRequestContent",
    "Client",
    "CreateClientResponseContent",
    "GetClientResponseContent",
    "RotateClientSecretResponseContent",
    "UpdateClientResponseContent"
  ], { identity_assertion_authorization_grant: { type: "object", properties: { active: boolean } } }),
  query("recorded on 2026-08-13", "/clients/{client_id}/credentials", "get_credentials", "per_page", integer),
  query("recorded on 2026-08-13", "/clients/{client_id}/credentials", "get_credentials", "include_totals", boolean),
  query(
    "recorded on 2024-05-09",
    "/users/{user_id}/refresh-tokens",
    "get_refresh_tokens_for_user",
    "per_page",
    integer
  ),
  query("recorded on 2023-03-14", "/logs", "get_logs", "q", string),
  absent(unrecorded, "displayName", [
    "CreateBrandingThemeResponseContent",
    "GetBrandingDefaultThemeResponseContent",
    "GetBrandingThemeResponseContent",
    "UpdateBrandingThemeResponseContent"
  ]),
  absent(unrecorded, "fingerprint", ["RotateConnectionsKeysResponseContent"]),
  {
    target: "$.paths['/network-acls'].post[?@['201'] && !@['201'].content]['201']",
    description: `The new object is returned (${unrecorded}).`,
    update: {
      content: { "application/json": { schema: { $ref: "#/components/schemas/GetNetworkAclsResponseContent" } } }
    }
  }
]

export const auth0: Overlay = {
  overlay: "1.0.0",
  info: { title: "Corrections of Auth0's document of the Management API", version: "1.0.0" },
  actions: [...deliveries, ...actions, ...webhooks, ...resourceServers, ...others]
}
