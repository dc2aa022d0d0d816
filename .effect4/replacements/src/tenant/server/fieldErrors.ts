/** Checks values, and names the first invalid field: the only module of the tenant that reads Effect's parse issues. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { append } from "../../internal/schema/issues.js"
import type { FieldError } from "./formDecoding.js"

/** The name of a type in messages. Literals are quoted. */
const nameOf = (ast: SchemaAST.AST): string =>
  ast._tag === "Literal" ? JSON.stringify(ast.literal) : ast._tag.toLowerCase()

const options = { onExcessProperty: "error", reportInput: true } as const

const parse = (schema: Schema.Top, value: unknown): Result.Result<unknown, SchemaIssue.Issue> =>
  // Sound: the type of a schema needs no services.
  SchemaParser.decodeUnknownResult(schema as Schema.Codec<unknown>, options)(value)

/** The errors of each type of a union, of which Effect reports those only that the value may be meant for. */
const ofUnion = ({ types }: SchemaAST.Union, value: unknown, path: string): ReadonlyArray<FieldError> =>
  types.filter(({ _tag }) => _tag !== "Undefined").flatMap((type) =>
    Result.match(parse(Schema.make(type), value), {
      onFailure: (issue) => errors(issue, path),
      onSuccess: () => []
    })
  )

const errors = (issue: SchemaIssue.Issue, path: string): ReadonlyArray<FieldError> => {
  switch (issue._tag) {
    case "Pointer":
      return errors(issue.issue, append(path, issue.path))
    case "Composite":
      return issue.issues.flatMap((each) => errors(each, path))
    case "AnyOf":
      return SchemaIssue.hasInput(issue) ? ofUnion(issue.ast, issue.input, path) : []
    case "MissingKey":
      return [{ path, message: "is missing" }]
    case "UnexpectedKey":
      return [{ path, message: "is unexpected" }]
    case "Filter":
      return [{ path, message: `Expected ${issue.filter.annotations?.["expected"] ?? "a valid value"}` }]
    case "InvalidType":
      return [{ path, message: `Expected ${nameOf(issue.ast)}` }]
    default:
      return [{ path, message: "Expected a valid value" }]
  }
}

/** The first invalid field and all that it may be. The `undefined` of optional fields is left out. */
const firstError = (issue: SchemaIssue.Issue): FieldError =>
  errors(issue, "").reduce((first, { message, path }) =>
    path === first.path ? { path, message: `${first.message} or ${message.replace("Expected ", "")}` } : first
  )

/** Checks a value; fields that are not declared are refused by name. */
export const check = (schema: Schema.Codec<unknown>, value: unknown): Result.Result<unknown, FieldError> =>
  Result.mapError(parse(Schema.toType(schema), value), firstError)
