/** Checks values, and names the first invalid field: the only module of the tenant that reads Effect's parse issues. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { append } from "../../internal/schema/issues.js"
import type { FieldError } from "./formDecoding.js"

/** The first invalid field and all that it may be. The `undefined` of optional fields is left out. */
const firstError = (error: ParseResult.ParseError): FieldError =>
  ParseResult.ArrayFormatter.formatErrorSync(error)
    .map(({ message, path }) => ({ path: append("", path), message: message.replace(/, (?:actual|expected)[^]*/, "") }))
    .filter(({ message }) => message !== "Expected undefined")
    .reduce((first, { message, path }) =>
      path === first.path ? { path, message: `${first.message} or ${message.replace("Expected ", "")}` } : first
    )

/** Checks a value; fields that are not declared are refused by name. */
export const check = (schema: Schema.Schema.AnyNoContext, value: unknown): Either.Either<unknown, FieldError> =>
  Either.mapLeft(
    Schema.validateEither(Schema.typeSchema(schema), { onExcessProperty: "error" })(value),
    firstError
  )
