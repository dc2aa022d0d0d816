/** Says what is wrong with a value and where, without ever repeating the value: it may be secret. */
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as AST from "effect/SchemaAST"
import type { Issue } from "../../Errors.js"

/** What a schema expects, in words. */
const expected = (ast: AST.AST): string =>
  Option.getOrElse(AST.getDescriptionAnnotation(ast), () => {
    switch (ast._tag) {
      case "Union":
        return ast.types.filter((type) => !AST.isUndefinedKeyword(type)).map(expected).join(" or ")
      case "Refinement":
        return expected(ast.from)
      case "TupleType":
        return "a list"
      case "TypeLiteral":
        return "an object"
      default:
        return String(ast)
    }
  })

const append = (path: string, keys: ParseResult.Path): string =>
  [keys].flat().reduce<string>(
    (path, key) => typeof key === "number" ? `${path}[${key}]` : path === "" ? String(key) : `${path}.${String(key)}`,
    path
  )

/** Every fault in a value that was checked against a schema, each with its path from `path` on. */
export const of = (issue: ParseResult.ParseIssue, path = ""): ReadonlyArray<Issue> => {
  switch (issue._tag) {
    case "Pointer":
      return of(issue.issue, append(path, issue.path))
    case "Unexpected":
      return [{ path, message: "there is no such member" }]
    case "Missing":
      return [{ path, message: "is missing" }]
    case "Composite": {
      const inner = [issue.issues].flat() as ReadonlyArray<ParseResult.ParseIssue> // sound: a non-empty list is a list
      if (!AST.isUnion(issue.ast)) return inner.flatMap((issue) => of(issue, path))
      // Of the members of a union, the one that the value was meant for is the one that found fault deeper down.
      const deeper = inner.flatMap((issue) => of(issue, path)).filter((found) => found.path !== path)
      return deeper.length > 0 ? deeper : [{ path, message: `expected ${expected(issue.ast)}` }]
    }
    default:
      return [{ path, message: `expected ${expected(issue.ast)}` }]
  }
}
