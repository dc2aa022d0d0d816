/** What an answer must be: a value of a schema's type, where a `null` may stand for what may be missing. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import type { Issue } from "../../Errors.js"
import * as Issues from "./issues.js"
import { withoutNulls } from "./nulls.js"
import * as Checks from "./validator.js"

/** Gives the very value if it is as promised, a copy without nulls if that is, or says what is wrong. */
export type Promised = (value: unknown) => Either.Either<unknown, Issue>

export const of = (schema: Schema.Schema.AnyNoContext): Promised => {
  const isPromised = Checks.promised(schema)
  const validate = ParseResult.validateEither(schema)
  return (value) => {
    if (isPromised(value)) return Either.right(value)
    const cleaned = withoutNulls(schema.ast, value)
    return Either.mapBoth(validate(cleaned), {
      onLeft: (error) => Issues.of(error)[0] ?? { path: "", message: "not as expected" },
      onRight: () => cleaned // what was validated is a copy, too, and not a whole one
    })
  }
}
