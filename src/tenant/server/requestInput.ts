/** Reads the input of an operation from path, query, headers and body, and validates each against the declaration. */
import type * as Headers from "@effect/platform/Headers"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type * as Endpoint from "../../Endpoint.js"
import { text as bodyText } from "../../internal/http/errorBody.js"
import type { RawBody } from "../../internal/http/rawExchange.js"
import { check } from "./fieldErrors.js"
import { decodeForm, decodeMultipart, decodeQuery, type FieldError, structOf } from "./formDecoding.js"
import { parseJson } from "./json.js"
import { failure, type PlainResponse } from "./response.js"

/** A request as operations and the token endpoint read it. */
export interface ParsedRequest {
  readonly headers: Headers.Headers
  readonly query: URLSearchParams
  readonly body: Either.Either<unknown, FieldError>
}

/** The `errorCode` for each part of a request; the service's messages name the parts so. */
const errorCodes = {
  Payload: "invalid_body",
  Query: "validation_error",
  Path: "validation_error",
  Header: "validation_error"
} as const

type Part = keyof typeof errorCodes

/** The 400 that names the invalid field. */
export const invalidField = (part: Part, { message, path }: FieldError): PlainResponse =>
  failure(400, `${part} validation error: '${message}'${path === "" ? "" : ` on property ${path}`}`, {
    errorCode: errorCodes[part]
  })

/** The parts of a declaration that describe the body. */
export type BodyDeclaration = Pick<Endpoint.Any, "payload" | "body" | "multipart">

const noFields: Endpoint.Fields = {}

/** Parses a body by its content type. An empty body is `undefined`, whatever its content type. */
export const parseBody = (
  { body, multipart, payload }: BodyDeclaration,
  contentType: string | undefined,
  content: RawBody["body"]
): Effect.Effect<Either.Either<unknown, FieldError>> => {
  if (content.length === 0) return Effect.succeed(Either.right(undefined))
  const type = contentType?.replace(/;.*/, "").trim().toLowerCase()
  const unsupported = { path: "", message: `The content type ${contentType ?? "(none)"} is not supported` }
  if (multipart !== undefined) {
    return type === "multipart/form-data"
      ? decodeMultipart(multipart, String(contentType), content)
      : Effect.succeed(Either.left(unsupported))
  }
  const text = bodyText(content)
  switch (type) {
    case "application/x-www-form-urlencoded":
      return Effect.succeed(decodeForm(body ?? structOf(payload ?? noFields), new URLSearchParams(text)))
    case "application/json":
      return Effect.succeed(parseJson(text))
    default:
      return Effect.succeed(Either.left(unsupported))
  }
}

const validate = (
  part: Part,
  schema: Schema.Schema.AnyNoContext,
  decoded: Either.Either<unknown, FieldError>
): Either.Either<unknown, PlainResponse> =>
  Either.mapLeft(Either.flatMap(decoded, (value) => check(schema, value)), (error) => invalidField(part, error))

/** Validates one part of a request against its declared fields. Ignores an undeclared part. An empty body has no fields. */
export const validatePart = (
  part: Part,
  fields: Endpoint.Fields | undefined,
  found: Either.Either<unknown, FieldError>,
  minProperties = 0
): Either.Either<object, PlainResponse> => {
  // `Schema.Struct({})` would let every field through.
  if (fields === undefined) return Either.right({})
  const decoded = Either.map(found, (value) => value === undefined ? {} : value)
  const invalid = (message: string) => Either.left(invalidField(part, { path: "", message }))
  if (Either.isRight(decoded) && !Predicate.isRecord(decoded.right)) return invalid("Expected an object")
  return Either.flatMap(validate(part, structOf(fields), decoded), (value) => {
    const count = Object.keys(Object(value)).length
    return count < minProperties
      ? invalid(`Too few properties (${count}), minimum ${minProperties}`)
      : Either.right(Object(value))
  })
}

const readBody = (endpoint: Endpoint.Any, body: ParsedRequest["body"]): Either.Either<object, PlainResponse> =>
  endpoint.body === undefined
    ? validatePart("Payload", endpoint.payload ?? endpoint.multipart, body, endpoint.minProperties)
    : Either.map(validate("Payload", endpoint.body, body), (body) => body === undefined ? {} : { body })

/** What becomes of query parameters that an operation does not declare. */
export type UnknownQuery = "refuse" | "ignore"

/** Picks the declared query parameters; `name[0]` and `name[]` are those of a list. */
const declaredQuery = (declared: Endpoint.Fields = {}, query: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...query].filter(([name]) => Object.hasOwn(declared, name.replace(/\[.*/, ""))))

/** Picks the declared headers; a request has others, too. */
const headerFields = (declared: Endpoint.Fields = {}, headers: Headers.Headers): object =>
  Struct.pick(headers, ...Object.keys(declared).filter((name) => name in headers))

export const readInput = (
  endpoint: Endpoint.Any,
  request: ParsedRequest,
  pathParams: unknown,
  unknownQuery: UnknownQuery
): Either.Either<object, PlainResponse> => {
  const query = unknownQuery === "ignore" ? declaredQuery(endpoint.query, request.query) : request.query
  return Either.map(
    Either.all([
      validatePart("Path", endpoint.params, Either.right(pathParams)),
      validatePart("Query", endpoint.query, decodeQuery(endpoint.query ?? noFields, query)),
      validatePart("Header", endpoint.headers, Either.right(headerFields(endpoint.headers, request.headers))),
      readBody(endpoint, request.body)
    ]),
    (parts) => Object.assign({}, ...parts)
  )
}
