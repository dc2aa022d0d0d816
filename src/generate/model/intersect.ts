/** Merges the schemas of an `allOf`: a value must match all of them. */
import { equals, type Field, never, type ObjectShape, type Primitive, type Shape, union, unknown } from "./shape.js"

/** The schema of `components` with a name. */
type Resolve = (name: string) => Shape

const highest = (a: number | undefined, b: number | undefined) =>
  a === undefined ? b : b === undefined ? a : Math.max(a, b)

const lowest = (a: number | undefined, b: number | undefined) =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b)

/** Tells whether a literal is of the kind of a schema. Limits are not considered. */
const accepts = (shape: Shape, value: Primitive): boolean => {
  switch (shape._tag) {
    case "String":
      return typeof value === "string"
    case "Number":
      return typeof value === "number" && (!shape.integer || Number.isInteger(value))
    case "Boolean":
      return typeof value === "boolean"
    case "Literal":
      return shape.values.includes(value)
    default:
      return false
  }
}

const mergeFields = (a: ObjectShape, b: ObjectShape, resolve: Resolve): ReadonlyArray<Field> => {
  const merged = a.fields.map((field) => {
    const other = b.fields.find(({ name }) => name === field.name)
    return other === undefined ? field : {
      ...field,
      shape: intersect(field.shape, other.shape, resolve) ?? never,
      readOnly: field.readOnly || other.readOnly,
      writeOnly: field.writeOnly || other.writeOnly,
      deprecated: field.deprecated || other.deprecated,
      description: field.description ?? other.description
    }
  })
  return [...merged, ...b.fields.filter(({ name }) => !a.fields.some((field) => field.name === name))]
}

const mergeAdditional = (a: ObjectShape, b: ObjectShape, resolve: Resolve): ObjectShape["additional"] => {
  if (a.additional === "closed" || b.additional === "closed") return "closed"
  if (typeof a.additional !== "string" && typeof b.additional !== "string") {
    return intersect(a.additional, b.additional, resolve) ?? "closed"
  }
  if (typeof a.additional !== "string") return a.additional
  if (typeof b.additional !== "string") return b.additional
  return a.additional === "open" || b.additional === "open" ? "open" : "unstated"
}

/** The schema of the values that match both; `undefined` if the two contradict each other. */
export const intersect = (a: Shape, b: Shape, resolve: Resolve): Shape | undefined => {
  if (a._tag === "Unknown" || equals(a, b)) return b
  if (b._tag === "Unknown") return a
  if (a._tag === "Ref") return intersect(resolve(a.name), b, resolve)
  if (b._tag === "Ref") return intersect(a, resolve(b.name), resolve)
  if (a._tag === "Union" || b._tag === "Union") {
    const pairs = (a._tag === "Union" ? a.branches : [a]).flatMap((left) =>
      (b._tag === "Union" ? b.branches : [b]).map((right) => intersect(left, right, resolve))
    )
    const possible = union(pairs.filter((shape) => shape !== undefined))
    return possible._tag === "Never" ? undefined : possible
  }
  if (a._tag === "Literal" || b._tag === "Literal") {
    const [literal, other] = a._tag === "Literal" ? [a, b] : [b, a]
    const values = literal._tag === "Literal" ? literal.values.filter((value) => accepts(other, value)) : []
    return values.length === 0 ? undefined : { _tag: "Literal", values }
  }
  if (a._tag === "String" && b._tag === "String") {
    return {
      _tag: "String",
      min: highest(a.min, b.min),
      max: lowest(a.max, b.max),
      patterns: [...new Set([...a.patterns, ...b.patterns])],
      format: a.format ?? b.format
    }
  }
  if (a._tag === "Number" && b._tag === "Number") {
    return {
      _tag: "Number",
      integer: a.integer || b.integer,
      min: highest(a.min, b.min),
      max: lowest(a.max, b.max),
      above: highest(a.above, b.above),
      below: lowest(a.below, b.below),
      multipleOf: a.multipleOf ?? b.multipleOf
    }
  }
  if (a._tag === "Array" && b._tag === "Array") {
    return {
      _tag: "Array",
      items: intersect(a.items, b.items, resolve) ?? never,
      min: highest(a.min, b.min),
      max: lowest(a.max, b.max),
      unique: a.unique || b.unique
    }
  }
  if (a._tag === "Tuple" && b._tag === "Array" && b.items === unknown) return a
  if (b._tag === "Tuple" && a._tag === "Array" && a.items === unknown) return b
  if (a._tag === "Object" && b._tag === "Object") {
    return {
      _tag: "Object",
      fields: mergeFields(a, b, resolve),
      required: [...new Set([...a.required, ...b.required])],
      additional: mergeAdditional(a, b, resolve),
      min: highest(a.min, b.min),
      max: lowest(a.max, b.max)
    }
  }
  return undefined
}
