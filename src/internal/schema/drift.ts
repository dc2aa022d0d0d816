/** What answers hold that no schema knows, so that a change of the service is heard of before it hurts. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { isName } from "./names.js"
import * as Checks from "./validator.js"

/** Something new: a member, or a value of an enumeration. */
export type Report = (path: string, value: string | undefined) => void

/** No more is reported of one operation, looked at in one answer, or gone down into. */
const [most, nodes, depth] = [100, 10_000, 32]

/** An object with more members that nobody knows is taken for a map, whose keys are content. */
const mapSize = 8

/** An answer is looked at if the last was so long ago, in milliseconds. */
const interval = 1000

/** All members of a union, those of unions in it as well. */
const flat = ({ types }: AST.Union): ReadonlyArray<AST.AST> =>
  types.flatMap((type) => AST.isUnion(type) ? flat(type) : [type])

/** The texts that an enumeration knows: a union of literals and of any text. */
const literals = (types: ReadonlyArray<AST.AST>): ReadonlyArray<unknown> =>
  types.some(AST.isStringKeyword) ? types.flatMap((type) => AST.isLiteral(type) ? [type.literal] : []) : []

/** Looks at answers of one operation: the first, then at most one in a second. Of each thing it tells once. */
export class Drift {
  private readonly ast: AST.AST
  private readonly report: Report
  private readonly seen = new Set<string>()
  private readonly checks = new WeakMap<AST.AST, (value: unknown) => boolean>()
  private nextAt = -Infinity

  constructor(schema: Schema.Schema.AnyNoContext, report: Report) {
    this.ast = AST.typeAST(schema.ast)
    this.report = report
  }

  /** `strings` are those of the call's input: what holds one of them is not shown. */
  look(value: unknown, now: number, strings: () => ReadonlyArray<string>): void {
    if (now < this.nextAt) return
    this.nextAt = now + interval
    let left = nodes
    let hidden: ReadonlyArray<string> | undefined

    const shown = (text: string): string =>
      isName(text) && !(hidden ??= strings()).some((string) => string !== "" && text.includes(string)) ? text : "*"

    const found = (path: string, value?: string): void => {
      left--
      const thing = JSON.stringify([path, value])
      if (this.seen.size >= most || this.seen.has(thing)) return
      this.seen.add(thing)
      this.report(path, value)
    }

    const members = (ast: AST.TypeLiteral, value: Readonly<Record<string, unknown>>, path: string, level: number) => {
      const known = new Map(ast.propertySignatures.map(({ name, type }) => [name, type]))
      // A record's keys are content, and known if its values are; an object that is open to anything knows nothing more.
      const record = ast.indexSignatures.find(({ type }) => !AST.isUnknownKeyword(type))
      const at = (name: string) => path === "" ? name : `${path}.${name}`
      const names = Object.keys(value)
      const isMap = names.filter((name) => !known.has(name)).length > mapSize
      for (const name of names) {
        if (left <= 0) return
        const type = known.get(name) ?? record?.type
        if (type === undefined) found(at(isMap ? "*" : shown(name)))
        else visit(type, value[name], at(known.has(name) ? name : "*"), level + 1)
      }
    }

    const visit = (ast: AST.AST, value: unknown, path: string, level: number): void => {
      if (level > depth || left-- <= 0) return
      switch (ast._tag) {
        case "Refinement":
          return visit(ast.from, value, path, level)
        case "Suspend":
          return visit(ast.f(), value, path, level + 1)
        case "Union": {
          const types = flat(ast)
          const known = literals(types)
          if (known.length === 0) {
            const type = types.find((type) => this.accepts(type, value))
            return type === undefined ? undefined : visit(type, value, path, level + 1)
          }
          return Predicate.isString(value) && !known.includes(value) ? found(path, shown(value)) : undefined
        }
        case "TupleType": {
          if (!Array.isArray(value)) return
          return value.forEach((item, index) => {
            const type = ast.elements[index]?.type ?? ast.rest[0]?.type
            if (type !== undefined) visit(type, item, `${path}[]`, level + 1)
          })
        }
        case "TypeLiteral":
          return Predicate.isReadonlyRecord(value) ? members(ast, value, path, level) : undefined
      }
    }

    visit(this.ast, value, "", 0)
  }

  private accepts(ast: AST.AST, value: unknown): boolean {
    const check = this.checks.get(ast) ?? Checks.promised(Schema.make(ast))
    this.checks.set(ast, check)
    return check(value)
  }
}
