/** Unions of objects: what tells their branches apart. */
import { equals, type Field, type ObjectShape, type Shape, union } from "./shape.js"

type Dereference = (shape: Shape) => Shape

/** The number of objects among the branches of a union, those of unions within it included. */
export const objectsIn = (shape: Shape, dereference: Dereference, open: ReadonlyArray<Shape> = []): number => {
  const target = dereference(shape)
  return target._tag === "Object"
    ? 1
    : target._tag === "Union" && !open.includes(target)
    ? target.branches.reduce((sum, branch) => sum + objectsIn(branch, dereference, [...open, target]), 0)
    : 0
}

/** The branches of a union, and in place of a union of objects within it that union's branches. */
export const flatten = (
  shape: Shape,
  dereference: Dereference,
  open: ReadonlyArray<Shape> = []
): ReadonlyArray<Shape> => {
  const target = dereference(shape)
  return target._tag === "Union" && !open.includes(target) &&
      (shape._tag === "Union" || objectsIn(target, dereference) > 0)
    ? target.branches.flatMap((branch) => flatten(branch, dereference, [...open, target]))
    : [shape]
}

/** The names of fields that tell the objects of a union apart. */
export type Tags = readonly [string, ...ReadonlyArray<string>]

const isDistinct = (values: ReadonlyArray<unknown>): boolean => new Set(values).size === values.length

/** The one value that a required field of an object has, if it is a string. */
const valueOf = ({ fields, required }: ObjectShape, name: string, dereference: Dereference) => {
  const field = fields.find((field) => field.name === name)
  const target = field && required.includes(name) ? dereference(field.shape) : undefined
  if (target?._tag !== "Literal" || target.values.length > 1) return undefined
  const [value] = target.values
  return typeof value === "string" ? value : undefined
}

/** The tags of several objects: one field with another value in each of them or, if there is none, all fields with one value in each. */
export const tagsOf = (objects: ReadonlyArray<ObjectShape>, dereference: Dereference): Tags | undefined => {
  const [first] = objects
  if (first === undefined || objects.length === 1) return undefined
  const candidates = first.fields.map(({ name }) => ({
    name,
    values: objects.map((object) => valueOf(object, name, dereference))
  })).filter(({ values }) => values.every((value) => value !== undefined))
  const single = candidates.find(({ values }) => isDistinct(values))
  if (single !== undefined) return [single.name]
  const [tag, ...tags] = candidates.map(({ name }) => name)
  const together = objects.map((_, index) => JSON.stringify(candidates.map(({ values }) => values[index])))
  return tag !== undefined && isDistinct(together) ? [tag, ...tags] : undefined
}

const isSame = (a: Field, b: Field): boolean =>
  equals(a.shape, b.shape) && a.readOnly === b.readOnly && a.writeOnly === b.writeOnly

/**
 * Objects that differ in the schema of one field are one object with a union there: `{ id, to: A } | { id, to: B }` is `{ id, to: A | B }`.
 * `undefined` if they differ in more.
 */
export const factor = (shapes: ReadonlyArray<Shape>): ObjectShape | undefined => {
  const objects = shapes.filter((shape) => shape._tag === "Object")
  const [first, ...others] = objects
  if (first === undefined || objects.length < shapes.length) return undefined
  const names = ({ fields }: ObjectShape) => fields.map(({ name }) => name).sort()
  const rest = ({ additional, max, min, required }: ObjectShape) => ({
    additional,
    max,
    min,
    required: [...required].sort()
  })
  const outline = (object: ObjectShape) => JSON.stringify([names(object), rest(object)])
  if (others.some((other) => outline(other) !== outline(first))) return undefined
  const fields = first.fields.map((field) => ({
    field,
    all: objects.flatMap((object) => object.fields.filter(({ name }) => name === field.name))
  }))
  const different = fields.filter(({ all, field }) => !all.every((each) => isSame(each, field)))
  if (different.length !== 1) return undefined
  return {
    ...first,
    fields: fields.map(({ all, field }) => ({ ...field, shape: union(all.map(({ shape }) => shape)) }))
  }
}
