/** Reads the input of an operation from path, query and body, and validates each against the declaration. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Endpoint from "../../Endpoint.js"
import { append } from "../../internal/schema/issues.js"
import { decodeForm, decodeQuery, type FieldError } from "./formDecoding.js"
import { failure, type PlainResponse } from "./response.js"

/** A request as operations and the token endpoint read it. */
export interface ParsedRequest {
  readonly authorization: string | undefined
  readonly query: URLSearchParams
  readonly body: Either.Either<unknown, FieldError>
}

/** The `errorCode` for each part of a request; the service's messages name the parts so. */
const errorCodes = { Payload: "invalid_body", Query: "validation_error", Path: "validation_error" } as const

type Part = keyof typeof errorCodes

/** The 400 that names the invalid field. */
export const invalidField = (part: Part, { message, path }: FieldError): PlainResponse =>
  failure(400, `${part} validation error: '${message}'${path === "" ? "" : ` on property ${path}`}`, {
    errorCode: errorCodes[part]
  })

export const parseBody = (
  fields: Endpoint.Fields,
  contentType: string | undefined,
  text: string
): Either.Either<unknown, FieldError> => {
  switch (contentType?.replace(/;.*/, "").trim().toLowerCase()) {
    case "application/x-www-form-urlencoded":
      return decodeForm(Schema.typeSchema(Schema.Struct(fields)), new URLSearchParams(text))
    case "application/json":
      return Either.try({
        try: (): unknown => JSON.parse(text),
        catch: () => ({ path: "", message: "The body is not valid JSON" })
      })
    default:
      return Either.left({ path: "", message: `The content type ${contentType ?? "(none)"} is not supported` })
  }
}

/** The first invalid field and all that it may be. The `undefined` of optional fields is left out. */
const firstError = (error: ParseResult.ParseError): FieldError =>
  ParseResult.ArrayFormatter.formatErrorSync(error)
    .map(({ message, path }) => ({ path: append("", path), message: message.replace(/, (?:actual|expected)[^]*/, "") }))
    .filter(({ message }) => message !== "Expected undefined")
    .reduce((first, { message, path }) =>
      path === first.path ? { path, message: `${first.message} or ${message.replace("Expected ", "")}` } : first
    )

/** Validates one part of a request against its declared fields; others are refused by name. Ignores an undeclared part. */
export const validatePart = (
  part: Part,
  fields: Endpoint.Fields | undefined,
  decoded: Either.Either<unknown, FieldError>,
  minProperties = 0
): Either.Either<object, PlainResponse> => {
  // `Schema.Struct({})` would let every field through.
  if (fields === undefined) return Either.right({})
  const invalid = (error: FieldError) => Either.left(invalidField(part, error))
  if (Either.isLeft(decoded)) return invalid(decoded.left)
  if (!Predicate.isRecord(decoded.right)) return invalid({ path: "", message: "Expected an object" })
  const type = Schema.typeSchema(Schema.Struct(fields))
  const checked = Schema.validateEither(type, { onExcessProperty: "error" })(decoded.right)
  if (Either.isLeft(checked)) return invalid(firstError(checked.left))
  const count = Object.keys(checked.right).length
  return count < minProperties
    ? invalid({ path: "", message: `Too few properties (${count}), minimum ${minProperties}` })
    : Either.right(checked.right)
}

export const readInput = (
  { minProperties, params, payload, query }: Endpoint.Any,
  request: ParsedRequest,
  pathParams: unknown
): Either.Either<object, PlainResponse> =>
  Either.map(
    Either.all([
      validatePart("Path", params, Either.right(pathParams)),
      validatePart("Query", query, decodeQuery(query ?? {}, request.query)),
      validatePart("Payload", payload, request.body, minProperties)
    ]),
    (parts) => Object.assign({}, ...parts)
  )
