/** An operation's declaration with pages whose items may be anything, so that each item can be checked by itself. */
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { Any, Endpoint } from "../../Endpoint.js"
import { perOperation } from "../runtime/memoizeByEndpoint.js"
import * as Promised from "../schema/decode.js"

const anything = new AST.TupleType([], [new AST.Type(AST.unknownKeyword)], true)

/** A page's schema in two: pages of anything, and the list that the items make. */
interface Split {
  readonly page: AST.AST
  readonly list: AST.AST
}

/** Takes the list apart from the page; none if it is not among the page's own members. */
const split = (ast: AST.AST, items: string): Split | undefined => {
  switch (ast._tag) {
    case "TypeLiteral": {
      const list = ast.propertySignatures.find(({ name }) => name === items)?.type
      return list && {
        list,
        page: new AST.TypeLiteral(
          ast.propertySignatures.map((member) =>
            member.name === items
              ? new AST.PropertySignature(member.name, anything, member.isOptional, member.isReadonly)
              : member
          ),
          ast.indexSignatures
        )
      }
    }
    case "Refinement":
      return split(ast.from, items)
    case "Suspend":
      return split(ast.f(), items)
    case "Union":
      return ast.types.map((type) => split(type, items)).find((found) => found !== undefined)
    default:
      return undefined
  }
}

/** The type of a list's items. */
const element = (ast: AST.AST): AST.AST => {
  switch (ast._tag) {
    case "TupleType":
      return AST.Union.make([...new Set([...ast.elements, ...ast.rest].map(({ type }) => type))])
    case "Refinement":
      return element(ast.from)
    case "Suspend":
      return element(ast.f())
    case "Union":
      return AST.Union.make(ast.types.filter((type) => !AST.isUndefinedKeyword(type)).map(element))
    default:
      return AST.unknownKeyword
  }
}

/** An operation that gives pages, and the member of them that holds the items. */
export interface Listed {
  readonly items: string
}

/** The endpoint of pages of anything, and the check that each item of them has to pass. */
export interface Derived {
  readonly endpoint: Endpoint<unknown, unknown, unknown> & Listed
  readonly check: Promised.Promised
}

/** What follows from an operation's declaration. It keeps the operation's name: limits, spans and mocks know it by that. */
export const of = perOperation((endpoint: Any & Listed): Derived => {
  const { items, name, success } = endpoint
  const found = success && split(success.ast, items)
  if (found === undefined) throw new TypeError(`${name}: its pages have no list named "${items}"`)
  return {
    // Sound: input and failures are the operation's own; whoever uses it sees to them.
    endpoint: { ...endpoint, success: Schema.make(found.page) } as Derived["endpoint"],
    check: Promised.of(Schema.make(element(found.list)))
  }
})
