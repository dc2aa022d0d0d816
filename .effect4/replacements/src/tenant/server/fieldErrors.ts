/** Checks values, and names the first invalid field: the only module of the tenant that reads Effect's parse issues. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { append } from "../../internal/schema/issues.js"
import type { FieldError } from "./formDecoding.js"

/** What a type expects, by its name in TypeScript. Literals are quoted. */
const expected = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  switch (ast._tag) {
    case "Undefined":
      return []
    case "Union":
      return ast.types.flatMap(expected)
    case "Literal":
      return [JSON.stringify(ast.literal)]
    case "Arrays":
      return ["array"]
    case "Objects":
      return ["object"]
    default:
      return [ast._tag.toLowerCase()]
  }
}

const errors = (issue: SchemaIssue.Issue, path: string): ReadonlyArray<FieldError> => {
  switch (issue._tag) {
    case "Pointer":
      return errors(issue.issue, append(path, issue.path))
    case "Composite":
      return issue.issues.flatMap((each) => errors(each, path))
    case "AnyOf":
      return issue.issues.length > 0
        ? issue.issues.flatMap((each) => errors(each, path))
        : expected(issue.ast).map((name) => ({ path, message: `Expected ${name}` }))
    case "Encoding":
      return errors(issue.issue, path)
    case "MissingKey":
      return [{ path, message: "is missing" }]
    case "UnexpectedKey":
      return [{ path, message: "is unexpected" }]
    case "Filter":
      return [{ path, message: `Expected ${issue.filter.annotations?.["expected"] ?? "a valid value"}` }]
    case "InvalidType":
      return expected(issue.ast).map((name) => ({ path, message: `Expected ${name}` }))
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
  Result.mapError(
    SchemaParser.decodeUnknownResult(Schema.toType(schema), { onExcessProperty: "error" })(value),
    firstError
  )
