/** Tags of the syntax tree of schemas, and of issues. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { rules } from "../convert/rules.js"

const tags = new Map(Object.entries({
  BooleanKeyword: "Boolean",
  Missing: "MissingKey",
  NumberKeyword: "Number",
  StringKeyword: "String",
  TupleType: "Arrays",
  TypeLiteral: "Objects",
  UndefinedKeyword: "Undefined",
  Unexpected: "UnexpectedKey",
  UnknownKeyword: "Unknown"
}))

/** `case "StringKeyword":` in `switch (ast._tag)` */
const caseOf = ({ parent, text }: ts.StringLiteral, c: File): string | undefined => {
  const to = tags.get(text)
  if (to === undefined || !ts.isCaseClause(parent)) return undefined
  const { expression } = parent.parent.parent
  return ts.isPropertyAccessExpression(expression) &&
      c.isType(expression.expression, "effect/SchemaAST#AST", "effect/ParseResult#ParseIssue")
    ? JSON.stringify(to)
    : undefined
}

export default rules({
  names: { "effect/SchemaAST": { TupleType: "Arrays", TypeLiteral: "Objects" } },
  members: { "effect/SchemaAST#Suspend": { f: "thunk" } },
  nodes: { StringLiteral: caseOf }
})
