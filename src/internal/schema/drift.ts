/**
 * Detects drift: fields and enumeration values in responses that the schema does not know, before they hurt a user; and in lenient
 * responses also fields of another type and missing ones.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { getOrInsert } from "../runtime/memoize.js"
import { fromSchema, type SchemaNode, type Struct, typesOf, unwrap } from "./schemaTree.js"
import { looseNode, type Validator } from "./validator.js"

/** Receives each new field and, with `value`, each new value of an enumeration, `(perhaps rounded)`, `(missing)` or `(another type)`. */
export type Report = (path: string, value: string | undefined) => void

/** Limits that keep drift detection cheap, whatever the service sends. */
const limits = {
  reportsPerOperation: 100,
  nodesPerResponse: 10_000,
  depth: 32,
  /** An object with more unknown fields counts as a map: its keys are content, such as e-mail addresses. */
  unknownFieldsPerObject: 8,
  /** At most one response is inspected in this time. */
  intervalMillis: 1000
}

/** Recognizes a short identifier with few digits, as developers choose for fields; other names may be content. */
export const isIdentifier = (text: string): boolean =>
  text.length <= 40 && /^[A-Za-z_]+(?:[0-9]{1,3}[A-Za-z_]*)?$/.test(text)

/**
 * The known values of an open enumeration, which is a union of any string and literal strings; empty for other unions. The `null` or
 * `""` of a string that may be absent is no known value: such a string may hold anything, a secret too.
 */
const knownValues = (types: ReadonlyArray<SchemaNode>): ReadonlyArray<string> =>
  types.some(({ _tag }) => _tag === "String")
    ? types.flatMap((type) =>
      type._tag === "Literal" && Predicate.isString(type.value) && type.value !== "" ? [type.value] : []
    )
    : []

/** Recognizes a record, whose keys are content. */
const isRecord = ({ fields, indexes }: Struct): boolean => fields.length === 0 && indexes.length > 0

/** The number of a value's fields that a struct does not know. */
const unknownFields = (node: SchemaNode, value: unknown): number => {
  const type = unwrap(node)
  if (type._tag !== "Struct" || isRecord(type) || !Predicate.isReadonlyRecord(value)) return 0
  const known = new Set<PropertyKey>(type.fields.map(({ name }) => name))
  return Object.keys(value).filter((name) => !known.has(name)).length
}

/** Inspects the responses of one operation: the first, then at most one a second. Reports each finding once. */
export class DriftDetector {
  private readonly root: SchemaNode
  private readonly report: Report
  private readonly isLenient: boolean
  private readonly reported = new Set<string>()
  private readonly validators = new WeakMap<SchemaNode, Validator>()
  private nextAt = -Infinity

  /** `isLenient`: the values need not match the schema, so that this reports, too, where they do not. */
  constructor(schema: Schema.Schema.AnyNoContext, report: Report, isLenient = false) {
    this.root = fromSchema(schema)
    this.isLenient = isLenient
    this.report = report
  }

  /** Inspects a decoded value at `now`, in milliseconds. A name that contains one of the call's own strings is hidden. */
  inspect(value: unknown, now: number, ownStrings: () => ReadonlyArray<string>): void {
    if (now < this.nextAt) return
    this.nextAt = now + limits.intervalMillis
    let nodesLeft = limits.nodesPerResponse
    let hidden: ReadonlyArray<string> | undefined

    const shown = (text: string): string =>
      isIdentifier(text) && !(hidden ??= ownStrings()).some((own) => own !== "" && text.includes(own)) ? text : "*"

    const found = (path: string, value?: string): void => {
      nodesLeft--
      const finding = JSON.stringify([path, value])
      if (this.reported.size >= limits.reportsPerOperation || this.reported.has(finding)) return
      this.reported.add(finding)
      this.report(path, value)
    }

    const mismatch = (path: string, what: string): void => this.isLenient ? found(path, what) : undefined

    const visitFields = (struct: Struct, value: Readonly<Record<string, unknown>>, path: string, depth: number) => {
      const known = new Map(struct.fields.map(({ name, type }) => [name, type]))
      // The keys of a record are content, so only its values are visited. A struct that allows any other field knows none.
      const record = struct.indexes.find(({ values }) => values._tag !== "Unknown")?.values
      const at = (name: string) => path === "" ? name : `${path}.${name}`
      if (record === undefined && isRecord(struct)) return
      const names = Object.keys(value)
      const isMap = names.filter((name) => !known.has(name)).length > limits.unknownFieldsPerObject
      for (const name of names) {
        if (nodesLeft <= 0) return
        const type = known.get(name) ?? record
        if (type === undefined) found(at(isMap ? "*" : shown(name)))
        else visit(type, value[name], at(known.has(name) ? name : "*"), depth + 1)
      }
      for (const { isOptional, name } of struct.fields) {
        if (!isOptional && !Object.hasOwn(value, name)) mismatch(at(String(name)), "(missing)")
      }
    }

    const visit = (node: SchemaNode, value: unknown, path: string, depth: number): void => {
      if (depth > limits.depth || nodesLeft-- <= 0) return
      switch (node._tag) {
        case "Refinement":
          return visit(node.from, value, path, depth)
        case "Lazy":
          return visit(node.get(), value, path, depth)
        case "Union": {
          const types = typesOf(node)
          const known = knownValues(types)
          if (known.length > 0 && Predicate.isString(value)) {
            return known.includes(value) ? undefined : found(path, shown(value))
          }
          const type = this.closest(types, value)
          return type === undefined ? mismatch(path, "(another type)") : visit(type, value, path, depth + 1)
        }
        case "Array": {
          if (!Array.isArray(value)) return mismatch(path, "(another type)")
          return value.forEach((item, index) => {
            const type = node.elements[index] ?? node.rest[0]
            if (type !== undefined) visit(type, item, `${path}[]`, depth + 1)
          })
        }
        case "Struct":
          return Predicate.isReadonlyRecord(value)
            ? visitFields(node, value, path, depth)
            : mismatch(path, "(another type)")
        case "Number":
          if (Number.isInteger(value) && !Number.isSafeInteger(value)) return found(path, "(perhaps rounded)")
          return Predicate.isNumber(value) ? undefined : mismatch(path, "(another type)")
        default:
          return !this.isLenient || this.accepts(node, value) ? undefined : mismatch(path, "(another type)")
      }
    }

    visit(this.root, value, "", 0)
  }

  /** Of the types that accept the value, the first one that knows most of its fields. */
  private closest(types: ReadonlyArray<SchemaNode>, value: unknown): SchemaNode | undefined {
    let [closest, fewest]: [SchemaNode | undefined, number] = [undefined, Infinity]
    for (const type of types) {
      if (!this.accepts(type, value)) continue
      const unknown = unknownFields(type, value)
      if (unknown < fewest) [closest, fewest] = [type, unknown]
    }
    return closest
  }

  private accepts(node: SchemaNode, value: unknown): boolean {
    return getOrInsert(this.validators, node, looseNode)(value)
  }
}
