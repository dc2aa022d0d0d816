/** Turns Effect's parse issues into this library's. */
import * as Arr from "effect/Array"
import type * as SchemaIssue from "effect/SchemaIssue"
import type { Issue } from "../../Errors.js"
import { append, describe } from "./issues.js"
import { fromAST } from "./schemaTree.js"

type AST = Parameters<typeof fromAST>[0]

/** Lists every issue in a value, with paths such as `fields[0].name`. `checked` is the type whose checks the value does not pass. */
export const issuesOf = (
  issue: SchemaIssue.Issue,
  path = "",
  checked?: AST
): Arr.NonEmptyReadonlyArray<Issue> => {
  const expected = (ast: AST | undefined): Arr.NonEmptyReadonlyArray<Issue> => [
    { path, message: ast === undefined ? "is not valid" : `expected ${describe(fromAST(ast))}` }
  ]
  switch (issue._tag) {
    case "Pointer":
      return issuesOf(issue.issue, append(path, issue.path))
    case "UnexpectedKey":
      return [{ path, message: "unknown field" }]
    case "MissingKey":
      return [{ path, message: "is missing" }]
    case "Composite":
      return Arr.flatMap(issue.issues, (each) => issuesOf(each, path, issue.ast))
    case "AnyOf": {
      // Of a union's types, the value was meant for the one with an issue deeper in the value.
      const issues = issue.issues.flatMap((each) => issuesOf(each, path))
      const deeper = issues.filter((found) => found.path !== path)
      return Arr.isReadonlyArrayNonEmpty(deeper) ? deeper : expected(issue.ast)
    }
    case "Filter":
    case "InvalidValue":
    case "Forbidden":
      return expected(checked)
    case "InvalidType":
      // No value fits `never`: no field may have this name.
      return issue.ast._tag === "Never" && /[^\]]$/.test(path)
        ? [{ path, message: "unknown field" }]
        : expected(issue.ast)
    default:
      return expected(issue.ast)
  }
}
