/** Merges the schemas of an `allOf`: a value must match all of them. */
import {
  type ArrayShape,
  equals,
  type Field,
  never,
  type ObjectShape,
  type Primitive,
  type Shape,
  type TupleShape,
  union,
  unknown
} from "./shape.js"

interface Reader {
  /** The schema of `components` with a name. */
  readonly component: (name: string) => Shape
  /** Adds a note on what the result does not say. */
  readonly note: (message: string) => void
}

/** The one of two values that is there; if both are, the first, with a note. */
const firstOf = <A extends string | number>(
  keyword: string,
  a: A | undefined,
  b: A | undefined,
  { note }: Reader
): A | undefined => {
  if (a !== undefined && b !== undefined && a !== b) {
    note(`of the values ${a} and ${b} of ${keyword}, only the first is used`)
  }
  return a ?? b
}

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

const mergeFields = (a: ObjectShape, b: ObjectShape, reader: Reader): ReadonlyArray<Field> => {
  const merged = a.fields.map((field) => {
    const other = b.fields.find(({ name }) => name === field.name)
    return other === undefined ? field : {
      ...field,
      shape: intersect(field.shape, other.shape, reader) ?? never,
      readOnly: field.readOnly || other.readOnly,
      writeOnly: field.writeOnly || other.writeOnly,
      deprecated: field.deprecated || other.deprecated,
      description: field.description ?? other.description
    }
  })
  return [...merged, ...b.fields.filter(({ name }) => !a.fields.some((field) => field.name === name))]
}

/** The type of further fields as it can be expressed: beside fields with names there is none. */
const expressible = (
  additional: ObjectShape["additional"],
  fields: ReadonlyArray<Field>,
  note: Reader["note"]
): ObjectShape["additional"] => {
  if (typeof additional === "string" || additional._tag === "Unknown" || fields.length === 0) return additional
  note("the types of fields without names are not checked, because other fields have names")
  return unknown
}

const mergeAdditional = (a: ObjectShape, b: ObjectShape, reader: Reader): ObjectShape["additional"] => {
  if (a.additional === "closed" || b.additional === "closed") return "closed"
  if (typeof a.additional !== "string" && typeof b.additional !== "string") {
    return intersect(a.additional, b.additional, reader) ?? "closed"
  }
  if (typeof a.additional !== "string") return a.additional
  if (typeof b.additional !== "string") return b.additional
  return a.additional === "open" || b.additional === "open" ? "open" : "unstated"
}

/** A tuple that is also a list: it ends before an element that cannot be one of the list's items. */
const intersectTuple = (
  tuple: TupleShape,
  { items, max, min = 0, unique }: ArrayShape,
  reader: Reader
): Shape | undefined => {
  const size = tuple.elements.length
  const elements: Array<Shape> = []
  for (const element of tuple.elements.slice(0, max)) {
    const both = intersect(element, items, reader)
    if (both === undefined) break
    elements.push(both)
  }
  const mayGoOn = elements.length === size && max !== size
  const rest = tuple.rest !== undefined && mayGoOn ? intersect(tuple.rest, items, reader) : undefined
  const required = Math.max(tuple.required, min)
  if (rest === undefined && required > elements.length) return undefined
  const unexpressed = [
    ...min > size ? ["minItems"] : [],
    ...rest !== undefined && max !== undefined ? ["maxItems"] : [],
    ...unique && (rest !== undefined || elements.length > 1) ? ["uniqueItems"] : []
  ]
  for (const keyword of unexpressed) reader.note(`${keyword} is not checked, because the list is a tuple`)
  return { _tag: "Tuple", elements, required: Math.min(required, size), rest }
}

/** Merges each schema of a union with each of another one. Notes on a pair count if no other pair gives the same without notes. */
const intersectUnions = (
  as: ReadonlyArray<Shape>,
  bs: ReadonlyArray<Shape>,
  { component, note }: Reader
): Shape | undefined => {
  const pairs = as.flatMap((a) =>
    bs.flatMap((b) => {
      const notes: Array<string> = []
      const shape = intersect(a, b, { component, note: (message) => notes.push(message) })
      return shape === undefined ? [] : [{ shape, notes }]
    })
  )
  const exact = pairs.filter(({ notes }) => notes.length === 0)
  for (const { notes, shape } of pairs) {
    if (!exact.some((other) => equals(other.shape, shape))) notes.forEach(note)
  }
  const possible = union(pairs.map(({ shape }) => shape))
  return possible._tag === "Never" ? undefined : possible
}

/** The schema of the values that match both; `undefined` if the two contradict each other. */
export const intersect = (a: Shape, b: Shape, reader: Reader): Shape | undefined => {
  if (a._tag === "Unknown" || equals(a, b)) return b
  if (b._tag === "Unknown") return a
  if (a._tag === "Ref") return intersect(reader.component(a.name), b, reader)
  if (b._tag === "Ref") return intersect(a, reader.component(b.name), reader)
  if (a._tag === "Union" || b._tag === "Union") {
    return intersectUnions(a._tag === "Union" ? a.branches : [a], b._tag === "Union" ? b.branches : [b], reader)
  }
  if (b._tag === "Literal" && a._tag !== "Literal") return intersect(b, a, reader)
  if (a._tag === "Literal") {
    const values = a.values.filter((value) => accepts(b, value))
    return values.length === 0 ? undefined : { _tag: "Literal", values }
  }
  if (a._tag === "String" && b._tag === "String") {
    return {
      _tag: "String",
      patterns: [...new Set([...a.patterns, ...b.patterns])],
      min: highest(a.min, b.min),
      max: lowest(a.max, b.max),
      format: firstOf("format", a.format, b.format, reader)
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
      multipleOf: firstOf("multipleOf", a.multipleOf, b.multipleOf, reader)
    }
  }
  if (a._tag === "Array" && b._tag === "Array") {
    return {
      _tag: "Array",
      items: intersect(a.items, b.items, reader) ?? never,
      min: highest(a.min, b.min),
      max: lowest(a.max, b.max),
      unique: a.unique || b.unique
    }
  }
  if (a._tag === "Tuple" && b._tag === "Array") return intersectTuple(a, b, reader)
  if (a._tag === "Array" && b._tag === "Tuple") return intersectTuple(b, a, reader)
  // A file has no limits, as in a schema that states both itself.
  if (a._tag === "File" && b._tag === "String") return a
  if (a._tag === "String" && b._tag === "File") return b
  if (a._tag === "Object" && b._tag === "Object") {
    const fields = mergeFields(a, b, reader)
    return {
      _tag: "Object",
      fields,
      required: [...new Set([...a.required, ...b.required])],
      additional: expressible(mergeAdditional(a, b, reader), fields, reader.note),
      min: highest(a.min, b.min),
      max: lowest(a.max, b.max)
    }
  }
  return undefined
}
