/** Checks values, and names the first invalid field. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { issuesOf } from "../../internal/schema/parseIssues.js"
import type { FieldError } from "./formDecoding.js"

/** Checks a value; fields that are not declared are refused by name. */
export const check = (schema: Schema.Schema.AnyNoContext, value: unknown): Either.Either<unknown, FieldError> => {
  const decode = ParseResult.decodeUnknownEither(Schema.typeSchema(schema), { onExcessProperty: "error" })
  return Either.mapLeft(decode(value), (issue) => {
    const [{ message, path }] = issuesOf(issue)
    return { path, message: message.replace(/^e/, "E") }
  })
}
