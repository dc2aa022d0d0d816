/** Turns Effect's parse issues into this library's. */
import * as Arr from "effect/Array"
import type * as ParseResult from "effect/ParseResult"
import type { Issue } from "../../Errors.js"
import { append, describe } from "./issues.js"
import { fromAST } from "./schemaTree.js"

type AST = Parameters<typeof fromAST>[0]

/** Lists every issue in a value, with paths such as `fields[0].name`. */
export const issuesOf = (issue: ParseResult.ParseIssue, path = ""): Arr.NonEmptyReadonlyArray<Issue> => {
  const expected = (ast: AST): Arr.NonEmptyReadonlyArray<Issue> => [
    { path, message: `expected ${describe(fromAST(ast))}` }
  ]
  switch (issue._tag) {
    case "Pointer":
      return issuesOf(issue.issue, append(path, issue.path))
    case "Unexpected":
      return [{ path, message: "unknown field" }]
    case "Missing":
      return [{ path, message: "is missing" }]
    case "Composite": {
      const inner = "_tag" in issue.issues ? Arr.of(issue.issues) : issue.issues
      const issues = Arr.flatMap(inner, (issue) => issuesOf(issue, path))
      if (issue.ast._tag !== "Union") return issues
      // Of a union's types, the value was meant for the one with an issue deeper in the value.
      const deeper = issues.filter((found) => found.path !== path)
      return Arr.isNonEmptyReadonlyArray(deeper) ? deeper : expected(issue.ast)
    }
    default:
      return expected(issue.ast)
  }
}
