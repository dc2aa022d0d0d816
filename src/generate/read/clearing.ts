/** Makes `null` clear each optional object of a change, whether the document says so or not: real tenants take it. */
import { equals, never, nullable, type ObjectShape, ref, type Shape } from "../model/shape.js"
import type { SchemaReader } from "./schemaReader.js"

/** Checks the forms of a value: those of a union are its branches. */
const hasForm = (
  reader: SchemaReader,
  shape: Shape,
  tags: ReadonlyArray<Shape["_tag"]>,
  open: ReadonlyArray<Shape> = []
): boolean => {
  const target = reader.dereference(shape)
  return target._tag === "Union"
    ? !open.includes(target) && target.branches.some((branch) => hasForm(reader, branch, tags, [...open, target]))
    : tags.includes(target._tag)
}

const optional = (reader: SchemaReader, shape: Shape): Shape =>
  hasForm(reader, shape, ["Object"]) && !hasForm(reader, shape, ["Null", "Unknown"]) ? nullable(shape) : shape

/** Changes the optional objects within a shape, and the references by `refer`. A list is replaced as a whole, so its items stay. */
const change = (reader: SchemaReader, shape: Shape, refer: (name: string) => Shape): Shape => {
  switch (shape._tag) {
    case "Ref":
      return refer(shape.name)
    case "Union":
      return { ...shape, branches: shape.branches.map((branch) => change(reader, branch, refer)) }
    case "Object":
      return changeObject(reader, shape, refer)
    default:
      return shape
  }
}

const changeObject = (reader: SchemaReader, shape: ObjectShape, refer: (name: string) => Shape): ObjectShape => {
  const changed = (shape: Shape) => change(reader, shape, refer)
  return {
    ...shape,
    fields: shape.fields.map((field) => {
      if (field.readOnly) return field
      return {
        ...field,
        shape: changed(shape.required.includes(field.name) ? field.shape : optional(reader, field.shape))
      }
    }),
    additional: typeof shape.additional === "string" ? shape.additional : changed(optional(reader, shape.additional))
  }
}

/** Tells that a schema of `components`, or one within it, has an optional object that `null` does not clear. */
const isChanged = (reader: SchemaReader, name: string, seen: Set<string>): boolean => {
  const shape = reader.component(name)
  seen.add(name)
  const refer = (inner: string) => !seen.has(inner) && isChanged(reader, inner, seen) ? never : ref(inner)
  return !equals(shape, change(reader, shape, refer))
}

/** A schema that changes gets a name of its own, because other requests and responses use it as it is. */
const derived = (reader: SchemaReader) => {
  const refer = (name: string): Shape =>
    isChanged(reader, name, new Set())
      ? reader.derive(name, "Patch", (shape) => change(reader, shape, refer))
      : ref(name)
  return refer
}

export const clearing = (reader: SchemaReader, shape: Shape): Shape => change(reader, shape, derived(reader))

export const clearingObject = (reader: SchemaReader, shape: ObjectShape): ObjectShape =>
  changeObject(reader, shape, derived(reader))
