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
  // Issues deeper in the value say more than what is expected of all of it.
  const deeperOr = (issues: ReadonlyArray<Issue>, ast: AST): Arr.NonEmptyReadonlyArray<Issue> => {
    const deeper = issues.filter((found) => found.path !== path)
    return Arr.isNonEmptyReadonlyArray(deeper) ? deeper : expected(ast)
  }
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
      // Of a union's types, the value was meant for the one with an issue deeper in the value.
      return issue.ast._tag === "Union" ? deeperOr(issues, issue.ast) : issues
    }
    case "Refinement":
      // `From`: the value is not of the type that is refined, so the check has not seen it.
      return issue.kind === "From" ? deeperOr(issuesOf(issue.issue, path), issue.ast) : expected(issue.ast)
    case "Type":
      // No value fits `never`: no field may have this name.
      return issue.ast._tag === "NeverKeyword" && /[^\]]$/.test(path)
        ? [{ path, message: "unknown field" }]
        : expected(issue.ast)
    default:
      return expected(issue.ast)
  }
}
