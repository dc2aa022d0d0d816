/**
 * Operations of the management interface that are not built in and that the vendor's SDK and deploy tool call: a list in each form
 * of pages, and a change of each kind. Written after the vendor's document, without the fields that no test reads.
 */
import { Effect } from "effect"
import { generate } from "../../../src/generate/generate.js"
import { load } from "../../generate/support/compile.js"
import type { Json } from "../../generate/support/documents.js"
import { boolean, list, object, ref, string } from "../../generate/support/printed.js"

const number = { type: "number" }
const id26 = { type: "string", minLength: 26, maxLength: 26 }
const oneOf = (...values: ReadonlyArray<string>) => ({ type: "string", enum: values })
const content = (schema: Json) => ({ content: { "application/json": { schema } } })

const query = (name: string, schema: Json) => ({ name, in: "query", schema })
const page = query("page", { type: "integer", minimum: 0 })
const perPage = query("per_page", { type: "integer", minimum: 1, maximum: 100 })
const totals = query("include_totals", boolean)
const checkpoint = [query("from", string), query("take", { type: "integer", minimum: 1, maximum: 100 })]

/** The forms of a list: all items, a page by number, a page by checkpoint. */
const bare = (item: string) => list(ref(item))
const numbered = (name: string, item: string, more: Json = {}) =>
  object({ start: number, limit: number, total: number, ...more, [name]: bare(item) })
const checkpointed = (name: string, item: string) => object({ next: string, [name]: bare(item) })

interface Description {
  readonly parameters?: ReadonlyArray<Json>
  readonly body?: Json
  readonly success?: Json
}

/** An operation, named as a method of the SDK is. */
const operation = (method: string, scope: string, { body, parameters = [], success }: Description) => {
  const group = method.split(".")
  const name = group.pop()
  return {
    operationId: method,
    "x-operation-group": group,
    "x-operation-name": name,
    security: [{ oAuth2ClientCredentials: [scope] }],
    parameters,
    ...(body && { requestBody: { required: true, ...content(body) } }),
    responses: { 200: success === undefined ? {} : content(success) }
  }
}

const inPath = (name: string, schema: Json = string) => ({ name, in: "path", required: true, schema })

const paths = {
  "/clients": {
    get: operation("clients.list", "read:clients", {
      parameters: [page, perPage, totals, ...checkpoint, query("is_global", boolean)],
      success: { oneOf: [bare("Client"), numbered("clients", "Client"), checkpointed("clients", "Client")] }
    })
  },
  "/clients/{client_id}/credentials": {
    get: operation("clients.credentials.list", "read:client_credentials", {
      parameters: [inPath("client_id")],
      success: bare("ClientCredential")
    })
  },
  "/roles": {
    // The service also accepts `type`, which is not in the document; the deploy tool sends it.
    get: operation("roles.list", "read:roles", {
      parameters: [page, perPage, totals],
      success: { oneOf: [bare("Role"), numbered("roles", "Role")] }
    })
  },
  "/roles/{id}/permissions": {
    get: operation("roles.permissions.list", "read:roles", {
      parameters: [inPath("id"), page, perPage, totals],
      success: { oneOf: [bare("Permission"), numbered("permissions", "Permission")] }
    })
  },
  "/connections": {
    get: operation("connections.list", "read:connections", {
      parameters: [page, perPage, totals, ...checkpoint],
      success: {
        oneOf: [
          bare("Connection"),
          numbered("connections", "Connection"),
          checkpointed("connections", "Connection")
        ]
      }
    })
  },
  "/logs": {
    get: operation("logs.list", "read:logs", {
      parameters: [page, perPage, totals, ...checkpoint],
      success: { oneOf: [bare("Log"), numbered("logs", "Log", { length: number })] }
    })
  },
  "/actions/modules": {
    get: operation("actions.modules.list", "read:actions", {
      parameters: [page, perPage],
      success: object({ total: number, page: number, per_page: number, modules: bare("Module") })
    })
  },
  "/actions/modules/{id}/rollback": {
    post: operation("actions.modules.rollback", "update:actions", {
      parameters: [inPath("id")],
      body: object({ module_version_id: string }, "module_version_id"),
      success: ref("Module")
    })
  },
  "/actions/actions/{id}/deploy": {
    post: operation("actions.deploy", "update:actions", {
      parameters: [inPath("id")],
      success: object({ id: string, status: oneOf("pending", "built") })
    })
  },
  "/event-streams": {
    post: operation("eventStreams.create", "create:event_streams", {
      body: ref("StreamChange"),
      success: ref("Stream")
    })
  },
  "/event-streams/{id}": {
    patch: operation("eventStreams.update", "update:event_streams", {
      parameters: [inPath("id", id26)],
      body: ref("StreamChange"),
      success: ref("Stream")
    })
  },
  "/event-streams/{id}/test": {
    post: operation("eventStreams.test", "update:event_streams", {
      parameters: [inPath("id", id26)],
      body: object({ event_type: oneOf("user.created", "user.updated", "user.deleted") }, "event_type"),
      success: object({ id: id26, event_stream_id: id26, event_type: oneOf("user.created") })
    })
  },
  "/token-exchange-profiles": {
    post: operation("tokenExchangeProfiles.create", "create:token_exchange_profiles", {
      body: object(
        { name: string, subject_token_type: string, action_id: string, type: oneOf("custom_authentication") },
        "name",
        "subject_token_type",
        "action_id",
        "type"
      ),
      success: ref("Profile")
    })
  },
  "/token-exchange-profiles/{id}": {
    delete: operation("tokenExchangeProfiles.delete", "delete:token_exchange_profiles", { parameters: [inPath("id")] })
  }
}

const stream = {
  name: string,
  status: oneOf("enabled", "disabled"),
  subscriptions: list(object({ event_type: string })),
  destination: object({ type: oneOf("webhook"), configuration: object({}) }, "type", "configuration")
}

const schemas = {
  Client: object({
    client_id: string,
    client_secret: string,
    name: string,
    app_type: oneOf("native", "spa", "regular_web", "non_interactive"),
    grant_types: list(string),
    client_authentication_methods: object({
      private_key_jwt: object({ credentials: list(object({ id: string })) })
    })
  }),
  ClientCredential: object({ id: string, name: string, credential_type: oneOf("public_key") }),
  Role: object({ id: string, name: string, description: string }),
  Permission: object({
    resource_server_identifier: string,
    permission_name: string,
    resource_server_name: string,
    description: string
  }),
  Connection: object({ id: string, name: string, strategy: string }),
  Log: object({ log_id: string, type: string, description: { type: ["string", "null"] } }),
  Module: object({ id: string, name: string, latest_version_number: number }),
  StreamChange: object(stream),
  Stream: object({ id: id26, ...stream }),
  Profile: object({ id: string, name: string, type: string, subject_token_type: string, action_id: string })
}

/** The operations as the generator declares them, made once. */
export const generated = Effect.runSync(Effect.cached(Effect.gen(function*() {
  const info = { title: "A part of the management interface", version: "2" }
  const { files } = yield* generate({ openapi: "3.1.0", info, paths, components: { schemas } })
  return yield* Effect.promise(() => load(files))
})))
