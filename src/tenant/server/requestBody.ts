/** Reads what came with a request, in both content types and in the query, and holds it to the declaration. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Fields } from "../../Endpoint.js"
import * as Form from "./formDecoding.js"
import type { Problem } from "./formDecoding.js"
import * as Respond from "./response.js"

export type { Problem } from "./formDecoding.js"

/** The part of a request, as the service calls it in its messages, and the code it answers with. */
const parts = {
  Payload: "invalid_body",
  Query: "validation_error",
  Path: "validation_error"
} as const

export type Part = keyof typeof parts

/** The 400 that names the member. */
export const refuse = (part: Part, problem: Problem): Respond.Answer =>
  Respond.failure(
    400,
    `${part} validation error: '${problem.message}'${problem.path === "" ? "" : ` on property ${problem.path}`}`,
    { errorCode: parts[part] }
  )

/** `application/json; charset=utf-8` without its parameters. */
const mediaType = (contentType: string | undefined): string | undefined =>
  contentType?.replace(/;.*/, "").trim().toLowerCase()

/** The body as JSON, by its content type. */
export const parse = (
  fields: Fields,
  contentType: string | undefined,
  text: string
): Either.Either<unknown, Problem> => {
  switch (mediaType(contentType)) {
    case "application/x-www-form-urlencoded":
      return Form.toJson(fields, new URLSearchParams(text))
    case "application/json":
      return Either.try({
        try: (): unknown => JSON.parse(text),
        catch: () => ({ path: "", message: "The body is no valid JSON" })
      })
    default:
      return Either.left({ path: "", message: `The content type ${contentType ?? "(none)"} is not supported` })
  }
}

/** `fields[0].name`; the first step is a name. */
const property = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((step) => typeof step === "number" ? `[${step}]` : `.${String(step)}`).join("").slice(1)

/** What the first member that is wrong should have been; that an optional one is not `undefined` goes without saying. */
const explain = (error: ParseResult.ParseError): Problem => {
  const issues = ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message, path }) => ({
    path: property(path),
    message: message.replace(/, (?:actual|expected)[^]*/, "")
  }))
  const told = issues.filter(({ message }) => message !== "Expected undefined")
  return told.reduce((first, { message, path }) =>
    path === first.path ? { path, message: `${first.message} or ${message.replace("Expected ", "")}` } : first
  )
}

/** Holds one part of a request to the fields declared for it; other members are refused by name. */
export const validate = (
  part: Part,
  fields: Fields,
  value: unknown,
  minProperties = 0
): Either.Either<object, Respond.Answer> => {
  if (!Predicate.isRecord(value)) return Either.left(refuse(part, { path: "", message: "Expected an object" }))
  const checked = Schema.validateEither(Schema.typeSchema(Schema.Struct(fields)), { onExcessProperty: "error" })(value)
  if (Either.isLeft(checked)) return Either.left(refuse(part, explain(checked.left)))
  const count = Object.keys(checked.right).length
  return count < minProperties
    ? Either.left(refuse(part, { path: "", message: `Too few properties (${count}), minimum ${minProperties}` }))
    : Either.right(checked.right)
}
