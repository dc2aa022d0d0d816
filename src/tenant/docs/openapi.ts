/** The OpenAPI 3.1 document of a tenant, made from the declarations by which it serves its operations. */
import * as Schema from "effect/Schema"
import { type Any, type ContentType, type Fields, scopesOf } from "../../Endpoint.js"
import { version } from "../../internal/http/requestEncoder.js"
import { maxPerPage } from "../api/paging.js"
import { allScopes, prefix, type ServedOperation, servedOperations, tokenPaths } from "../api/routes.js"
import { FailureBody, OAuthFailureBody, reasonPhrase } from "../server/response.js"
import { TokenBody, TokenRequest } from "../server/tokens.js"
import { type Description, descriptions } from "./descriptions.js"
import { examples } from "./examples.js"
import { type Converter, type Json, type JsonObject, make as makeConverter } from "./jsonSchema.js"

const contentTypes: ReadonlyArray<ContentType> = ["application/json", "application/x-www-form-urlencoded"]

const capitalize = (name: string): string => name.replace(/./, (letter) => letter.toUpperCase())

/** Spells `createUsersExport` as `Create users export`. */
const words = (name: string): string => capitalize(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))

const examplesByName: Readonly<Record<string, object | undefined>> = examples

const descriptionsByName: Readonly<Record<string, Description | undefined>> = descriptions

/** The description of an operation of this package; none of one that a program declares, even if it has the same name. */
const descriptionOf = ({ endpoint: { name, path } }: ServedOperation): Description | undefined =>
  servedOperations.some(({ endpoint }) => endpoint.name === name && endpoint.path === path)
    ? descriptionsByName[name]
    : undefined

/** A parameter of an operation. */
type Parameter = {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required: boolean
  readonly schema: JsonObject
  readonly example?: Json
}

/** The tenant refuses larger pages than the declarations, which leave that to the service. */
const limitPage = ({ handler }: ServedOperation, parameters: ReadonlyArray<Parameter>): ReadonlyArray<Parameter> =>
  parameters.map((parameter) =>
    parameter.name === "per_page" && handler.numbered === true
      ? { ...parameter, schema: { ...parameter.schema, maximum: maxPerPage } }
      : parameter
  )

/** Tells that a text of a path, which is never empty, may not fit its schema: the tenant refuses it with 400. */
const canBeRefused = ({ schema }: Parameter): boolean =>
  Object.entries(schema).some(([name, value]) =>
    !["type", "description", "title", "examples", "example"].includes(name) &&
    !(name === "minLength" && Number(value) <= 1)
  )

/** The schema of a text of a path. It is never empty: an empty segment makes another path. */
const notEmpty = (schema: JsonObject): JsonObject => ({
  ...schema,
  minLength: Math.max(1, Number(schema["minLength"] ?? 1))
})

/** The part of the operation's example that these fields carry. */
const exampleOf = ({ name }: Any, fields: Fields): JsonObject =>
  Object.fromEntries(Object.entries(examplesByName[name] ?? {}).filter(([field]) => field in fields))

const parameters = (
  { convert }: Converter,
  endpoint: Any,
  place: Parameter["in"],
  fields: Fields = {}
): ReadonlyArray<Parameter> => {
  const example = exampleOf(endpoint, fields)
  // Sound: this is the JSON Schema of a struct without an identifier.
  const { properties = {}, required } = convert(Schema.Struct(fields), "request") as {
    readonly properties?: Readonly<Record<string, JsonObject>>
    readonly required?: ReadonlyArray<string>
  }
  return Object.entries(properties).map(([name, property]) => {
    const schema = place === "path" ? notEmpty(property) : property
    const value = example[name]
    const isRequired = required?.includes(name) === true
    return { name, in: place, required: isRequired, schema, ...(value !== undefined && { example: value }) }
  })
}

const jsonContent = ({ convert }: Converter, schema: Schema.Schema.AnyNoContext | undefined): Json => ({
  "application/json": schema === undefined ? {} : { schema: convert(schema, "response") }
})

/** The content of a request body, which may be sent as JSON or as a form. */
const requestContent = (media: JsonObject): Json => Object.fromEntries(contentTypes.map((type) => [type, media]))

const requestBody = ({ convert }: Converter, endpoint: Any): Json | undefined => {
  const { body, minProperties, multipart, payload } = endpoint
  if (body !== undefined) {
    return {
      required: !Schema.is(body)(undefined),
      content: { "application/json": { schema: convert(body, "request") } }
    }
  }
  if (multipart !== undefined) {
    const schema = convert(Schema.Struct(multipart), "request")
    return { required: true, content: { "multipart/form-data": { schema } } }
  }
  if (payload === undefined) return undefined
  const fields = Schema.Struct(payload)
  const limited = minProperties === undefined
    ? fields
    : fields.pipe(Schema.filter(() => true, { jsonSchema: { minProperties } }))
  const schema = limited.annotations({ identifier: `${capitalize(endpoint.name)}Body` })
  return {
    required: true,
    description: "In a form, nested fields are written in brackets: `fields[0][name]=email`.",
    content: requestContent({
      schema: convert(schema, "request"),
      ...(endpoint.name in examples && { example: exampleOf(endpoint, payload) })
    })
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

/** The meanings of failures by status, where an operation has none of its own. */
const meanings: Readonly<Record<number, string>> = {
  400: "A field of the request is not valid: `message` names it.",
  401: "There is no token, or it is expired, revoked or not of this tenant.",
  403: "The token has none of the scopes that the operation needs: `message` names them.",
  404: "There is no such thing.",
  409: "The state does not allow this.",
  429: "The bucket is empty: `Retry-After` says when it has a call again."
}

/** The error responses of all operations; as keys of an object, repeated statuses become one. */
const failures = (converter: Converter, served: ReadonlyArray<ServedOperation>): JsonObject =>
  Object.fromEntries([
    ...[{ status: 400 }, ...served.flatMap(({ endpoint }) => endpoint.error)].map(({ status }) => [
      status,
      response(status, meanings[status] ?? reasonPhrase(status), jsonContent(converter, FailureBody))
    ]),
    ["default", response(0, "Any other failure.", jsonContent(converter, FailureBody))]
  ])

/** The failures that an operation can have, with their meaning if it is one of its own. */
const failuresOf = (
  { error }: Any,
  description: Description | undefined,
  pathParameters: ReadonlyArray<Parameter>
): JsonObject =>
  Object.fromEntries(
    [...pathParameters.some(canBeRefused) ? [{ status: 400 }] : [], ...error, { status: "default" }].map(
      ({ status }) => {
        const meaning = description?.failures?.[Number(status)]
        const reference = { $ref: `#/components/responses/${status}` }
        return [status, meaning === undefined ? reference : { ...reference, description: meaning }]
      }
    )
  )

/** Names the scopes; a call needs any of them. */
const needs = (scopes: ReadonlyArray<string>): string => {
  const names = scopes.map((scope) => `\`${scope}\``)
  if (names.length === 0) return "Needs a token with any scopes"
  return names.length === 1 ? `Needs the scope ${names[0]}` : `Needs one of the scopes ${names.join(", ")}`
}

const describe = (
  { endpoint, handler: { bucket, global } }: ServedOperation,
  { again = "A second call may take effect again.", details = "" }: Partial<Description>
): string =>
  [
    details,
    `${needs(scopesOf(endpoint))}${
      global === true ? ". This tenant refuses a client that is not global with 401" : ""
    }.`,
    endpoint.idempotent
      ? "Idempotent: repeating the call is harmless."
      : `Not idempotent. ${again}`,
    bucket === undefined ? "" : "Has its own rate limit."
  ].filter((sentence) => sentence !== "").join(" ")

const successContent = (converter: Converter, { events, success }: Any, status: number): Json | undefined => {
  if (events !== undefined) return { "text/event-stream": { schema: converter.convert(events, "response") } }
  return status === 204 ? undefined : jsonContent(converter, success)
}

/** Every operation accepts both schemes (contract: Authentication), with any of its scopes. */
const security = (scopes: ReadonlyArray<string>): ReadonlyArray<Json> =>
  (scopes.length === 0 ? [[]] : scopes.map((scope) => [scope])).flatMap((needed) => [
    { clientCredentials: needed },
    { bearer: needed }
  ])

const operation = (converter: Converter, served: ServedOperation): Json => {
  const { endpoint, handler: { status } } = served
  const body = requestBody(converter, endpoint)
  const description = descriptionOf(served)
  const pathParameters = parameters(converter, endpoint, "path", endpoint.params)
  return {
    operationId: endpoint.name,
    summary: description?.summary.replace(/\.$|`/g, "") ?? words(endpoint.name), // plain text, unlike the description
    description: describe(served, description ?? {}),
    security: security(scopesOf(endpoint)),
    parameters: [
      ...pathParameters,
      ...limitPage(served, parameters(converter, endpoint, "query", endpoint.query)),
      ...parameters(converter, endpoint, "header", endpoint.headers)
    ],
    ...(body !== undefined && { requestBody: body }),
    responses: {
      [status]: response(
        status,
        reasonPhrase(status),
        successContent(converter, endpoint, status)
      ),
      // The body may be absent.
      ...(endpoint.success !== undefined && Schema.is(endpoint.success)(undefined) && {
        204: response(204, reasonPhrase(204), undefined)
      }),
      ...failuresOf(endpoint, description, pathParameters)
    }
  }
}

/** The meanings of failures of the token endpoint. */
const tokenMeanings: Readonly<Record<number, string>> = {
  400: "A parameter is missing or not valid: `error` is `invalid_request` or `unsupported_grant_type`.",
  401: "The client is unknown, or does not prove itself.",
  403: "The audience is not that of this tenant."
}

const tokenOperation = (converter: Converter, operationId: string, summary: string): Json => {
  const response = (status: number, schema: Schema.Schema.AnyNoContext): Json => ({
    description: tokenMeanings[status] ?? reasonPhrase(status),
    content: jsonContent(converter, schema)
  })
  return {
    operationId,
    summary,
    description:
      "OAuth 2.0 client credentials. The client sends its secret or an assertion, unless its TLS certificate proves it.",
    security: [],
    requestBody: { required: true, content: requestContent({ schema: converter.convert(TokenRequest, "response") }) },
    responses: {
      200: response(200, TokenBody),
      ...Object.fromEntries([400, 401, 403].map((status) => [status, response(status, OAuthFailureBody)]))
    }
  }
}

const [tokenUrl, practicalTokenUrl] = tokenPaths

const paths = (converter: Converter, served: ReadonlyArray<ServedOperation>): JsonObject => {
  const all: Record<string, JsonObject> = {}
  for (const each of served) {
    const path = `${prefix}${each.endpoint.path.replace(/:([^/]+)/g, "{$1}")}`
    all[path] = { ...all[path], [each.endpoint.method.toLowerCase()]: operation(converter, each) }
  }
  return {
    ...all,
    [tokenUrl]: { post: tokenOperation(converter, "token", "Gets a token, at the path of the contract") },
    [practicalTokenUrl]: {
      post: tokenOperation(converter, "tokenWithoutSlash", "Gets a token, at the path that tenants have in practice")
    }
  }
}

/** Names an operation for each scope. */
const scopeDescriptions = (served: ReadonlyArray<ServedOperation>): JsonObject =>
  Object.fromEntries(
    allScopes(served).map((scope) => [
      scope,
      served.filter(({ endpoint }) => scopesOf(endpoint).some((other) => other === scope)).map(({ endpoint }) =>
        words(endpoint.name)
      )
        .join(", ")
    ])
  )

/** Makes the OpenAPI 3.1 document of a tenant that serves these operations. */
export const make = (served: ReadonlyArray<ServedOperation>): JsonObject => {
  const converter = makeConverter()
  // Both add definitions to the converter.
  const [described, responses] = [paths(converter, served), failures(converter, served)]
  return {
    openapi: "3.1.0",
    info: {
      title: "Embedded tenant of an identity service",
      version,
      license: { name: "MIT", identifier: "MIT" },
      description:
        "The operations of the management interface and the token endpoint, as the embedded tenant serves them."
    },
    servers: [{ url: "/", description: "The tenant that serves this document." }],
    paths: described,
    components: {
      schemas: converter.definitions,
      responses,
      headers,
      securitySchemes: {
        clientCredentials: {
          type: "oauth2",
          flows: { clientCredentials: { tokenUrl, scopes: scopeDescriptions(served) } }
        },
        bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" }
      }
    }
  }
}

/** The document of a tenant that is given no operations. */
export const openapi: JsonObject = make(servedOperations)
