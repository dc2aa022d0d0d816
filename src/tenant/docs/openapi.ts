/** The OpenAPI 3.1 document of the tenant, made from the declarations by which it serves its operations. */
import * as JSONSchema from "effect/JSONSchema"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { type Any, type ContentType, type Fields, scopesOf } from "../../Endpoint.js"
import { version } from "../../internal/http/requestEncoder.js"
import { withoutUndefined } from "../../internal/schema/schemaTree.js"
import { prefix, type ServedOperation, servedOperations, tokenPaths } from "../api/routes.js"
import { FailureBody, OAuthFailureBody, reasonPhrase } from "../server/response.js"
import { TokenBody, TokenRequest } from "../server/tokens.js"
import { examples } from "./examples.js"

/** A JSON value. @since 0.1.0 @category models */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json }
type JsonObject = { readonly [name: string]: Json }

const contentTypes: ReadonlyArray<ContentType> = ["application/json", "application/x-www-form-urlencoded"]

/** The schemas of `components`; `JSONSchema` adds one for each type with an identifier. */
const definitions: Record<string, JSONSchema.JsonSchema7> = {}

/** Removes empty lists, and the names of types that JSON Schema cannot express. */
const clean = (value: unknown): Json => {
  if (Array.isArray(value)) return value.map(clean)
  if (!Predicate.isRecord(value)) return value as Json // sound: JSON Schema consists of JSON values
  const entries = Object.entries("$id" in value ? Struct.omit(value, "$id", "title") : value)
  return Object.fromEntries(
    entries.filter(([, value]) => JSON.stringify(value) !== "[]").map(([name, value]) => [name, clean(value)])
  )
}

/** The JSON Schema of a type. In requests, objects have no fields but the declared ones; in responses they may. */
const jsonSchema = (schema: Schema.Schema.Any, use: "request" | "response"): JsonObject =>
  clean(JSONSchema.fromAST(Schema.typeSchema(schema).ast, {
    definitions,
    definitionPath: "#/components/schemas/",
    target: "openApi3.1",
    additionalPropertiesStrategy: use === "request" ? "strict" : "allow"
  })) as JsonObject // sound: every JSON Schema made here is an object

const capitalize = (name: string): string => name.replace(/./, (letter) => letter.toUpperCase())

/** Spells `createUsersExport` as `Create users export`. */
const words = (name: string): string => capitalize(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))

const examplesByName: Readonly<Record<string, object | undefined>> = examples

/** The part of the operation's example that these fields carry. */
const exampleOf = ({ name }: Any, fields: Fields): JsonObject =>
  Object.fromEntries(Object.entries(examplesByName[name] ?? {}).filter(([field]) => field in fields))

const parameters = (endpoint: Any, place: "path" | "query", fields: Fields = {}): ReadonlyArray<Json> => {
  const example = exampleOf(endpoint, fields)
  // Sound: this is the JSON Schema of a struct without an identifier.
  const { properties = {}, required = [] } = jsonSchema(Schema.Struct(fields), "request") as {
    readonly properties?: Readonly<Record<string, JsonObject>>
    readonly required?: ReadonlyArray<string>
  }
  return Object.entries(properties).map(([name, property]) => {
    const schema = place === "path" ? { minLength: 1, ...property } : property // an empty segment is another path
    const value = example[name]
    const isRequired = required.includes(name)
    return { name, in: place, required: isRequired, schema, ...(value !== undefined && { example: value }) }
  })
}

const jsonContent = (schema: Schema.Schema.AnyNoContext | undefined): Json => ({
  "application/json": schema === undefined ? {} : { schema: jsonSchema(withoutUndefined(schema), "response") }
})

/** The content of a request body, which may be sent as JSON or as a form. */
const requestContent = (media: JsonObject): Json => Object.fromEntries(contentTypes.map((type) => [type, media]))

const requestBody = (endpoint: Any, payload: Fields): Json => {
  const { minProperties } = endpoint
  const schema = Schema.Struct(payload).annotations({
    identifier: `${capitalize(endpoint.name)}Body`,
    ...(minProperties !== undefined && { jsonSchema: { minProperties } })
  })
  return {
    required: true,
    description: "In a form, nested fields are written in brackets: `fields[0][name]=email`.",
    content: requestContent({ schema: jsonSchema(schema, "request"), example: exampleOf(endpoint, payload) })
  }
}

const integer = (description: string, example: number): Json => ({ description, schema: { type: "integer" }, example })

/** The rate-limit headers (contract: Limits). */
const headers: JsonObject = {
  "X-RateLimit-Limit": integer("The number of calls that the bucket holds when it is full.", 50),
  "X-RateLimit-Remaining": integer("The number of calls left in the bucket.", 49),
  "X-RateLimit-Reset": integer(
    "The time at which the bucket is full again, in seconds since 1970 on the service's clock.",
    1767225600
  ),
  "Retry-After": integer("The seconds to wait before the next call.", 1)
}

const headersOf = (status: number): Json =>
  Object.fromEntries(
    Object.keys(headers)
      .filter((name) => name !== "Retry-After" || status === 429)
      .map((name) => [name, { $ref: `#/components/headers/${name}` }])
  )

const response = (status: number, description: string, content: Json | undefined): Json => ({
  description,
  headers: headersOf(status),
  ...(content !== undefined && { content })
})

/** The error responses of all operations; as keys of an object, repeated statuses become one. */
const failures = (): JsonObject =>
  Object.fromEntries([
    ...servedOperations.flatMap(({ endpoint }) => endpoint.error).map(({ status }) => [
      status,
      response(status, reasonPhrase(status), jsonContent(FailureBody))
    ]),
    ["default", response(0, "Any other failure", jsonContent(FailureBody))]
  ])

const describe = ({ endpoint, handler: { bucket, global } }: ServedOperation): string =>
  [
    `Needs the scope ${scopesOf(endpoint).map((scope) => `\`${scope}\``).join(" or ")}${
      global === true ? " and a global client" : ""
    }.`,
    endpoint.idempotent
      ? "Idempotent: repeating the call is harmless."
      : "Not idempotent: each call takes effect again.",
    bucket === undefined ? "" : "Has its own rate limit."
  ].filter((sentence) => sentence !== "").join(" ")

const operation = (served: ServedOperation): Json => {
  const { endpoint, handler: { status } } = served
  return {
    operationId: endpoint.name,
    summary: words(endpoint.name),
    description: describe(served),
    // Every operation accepts both schemes (contract: Authentication).
    security: scopesOf(endpoint).flatMap((scope) => [{ clientCredentials: [scope] }, { bearer: [scope] }]),
    parameters: [
      ...parameters(endpoint, "path", endpoint.params),
      ...parameters(endpoint, "query", endpoint.query)
    ],
    ...(endpoint.payload !== undefined && { requestBody: requestBody(endpoint, endpoint.payload) }),
    responses: {
      [status]: response(status, reasonPhrase(status), status === 204 ? undefined : jsonContent(endpoint.success)),
      // The body may be absent.
      ...(endpoint.success !== undefined && Schema.is(endpoint.success)(undefined) && {
        204: response(204, reasonPhrase(204), undefined)
      }),
      ...Object.fromEntries(
        [...endpoint.error, { status: "default" }]
          .map(({ status }) => [status, { $ref: `#/components/responses/${status}` }])
      )
    }
  }
}

const tokenOperation = (operationId: string): Json => {
  const response = (status: number, schema: Schema.Schema.AnyNoContext): Json => ({
    description: reasonPhrase(status),
    content: jsonContent(schema)
  })
  return {
    operationId,
    summary: "Get a token",
    description:
      "OAuth 2.0 client credentials. The client sends its secret or an assertion, unless its TLS certificate proves it.",
    security: [],
    requestBody: { required: true, content: requestContent({ schema: jsonSchema(TokenRequest, "response") }) },
    responses: {
      200: response(200, TokenBody),
      ...Object.fromEntries([400, 401, 403].map((status) => [status, response(status, OAuthFailureBody)]))
    }
  }
}

const [tokenUrl, practicalTokenUrl] = tokenPaths

const paths = (): JsonObject => {
  const all: Record<string, JsonObject> = {}
  for (const served of servedOperations) {
    const path = `${prefix}${served.endpoint.path.replace(/:([^/]+)/g, "{$1}")}`
    all[path] = { ...all[path], [served.endpoint.method.toLowerCase()]: operation(served) }
  }
  return {
    ...all,
    [tokenUrl]: { post: tokenOperation("token") },
    [practicalTokenUrl]: { post: tokenOperation("tokenWithoutSlash") }
  }
}

// Both fill `definitions`.
const [described, responses] = [paths(), failures()]

/**
 * The OpenAPI 3.1 document of the tenant. The tenant serves it at `/openapi.json`, and a page that sends calls at `/docs`.
 * @since 0.1.0 @category constants
 */
export const openapi: { readonly [name: string]: Json } = {
  openapi: "3.1.0",
  info: {
    title: "Embedded tenant of an identity service",
    version,
    description:
      "The operations of the management interface and the token endpoint, as the embedded tenant serves them."
  },
  paths: described,
  components: {
    schemas: clean(definitions),
    responses,
    headers,
    securitySchemes: {
      clientCredentials: {
        type: "oauth2",
        flows: {
          clientCredentials: {
            tokenUrl,
            scopes: Object.fromEntries(
              servedOperations.flatMap(({ endpoint }) =>
                scopesOf(endpoint).map((scope) => [scope, words(endpoint.name)])
              )
            )
          }
        }
      },
      bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" }
    }
  }
}
