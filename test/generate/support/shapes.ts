/** Makes shapes with all of their properties, and tests what comes of two of them. */
import { assert, it } from "@effect/vitest"
import { intersect } from "../../../src/generate/model/intersect.js"
import {
  anyString,
  type ArrayShape,
  type Field,
  type NumberShape,
  type ObjectShape,
  type Primitive,
  ref,
  type Shape,
  type StringShape,
  type TupleShape
} from "../../../src/generate/model/shape.js"

const unlimited = { min: undefined, max: undefined }

export const string = (limits: Partial<StringShape> = {}): Shape => ({
  ...anyString,
  ...unlimited,
  format: undefined,
  ...limits
})
export const number = (limits: Partial<NumberShape> = {}): Shape => ({
  _tag: "Number",
  integer: false,
  ...unlimited,
  above: undefined,
  below: undefined,
  multipleOf: undefined,
  ...limits
})
export const list = (items: Shape, limits: Partial<ArrayShape> = {}): Shape => ({
  _tag: "Array",
  items,
  ...unlimited,
  unique: false,
  ...limits
})
export const tuple = (elements: ReadonlyArray<Shape>, parts: Partial<TupleShape> = {}): Shape => ({
  _tag: "Tuple",
  elements,
  required: 0,
  rest: undefined,
  ...parts
})
export const literal = (...values: ReadonlyArray<Primitive>): Shape => ({ _tag: "Literal", values })
export const either = (...branches: ReadonlyArray<Shape>): Shape => ({ _tag: "Union", branches })
export const file: Shape = { _tag: "File" }

export const field = (name: string, shape: Shape, parts: Partial<Field> = {}): Field => ({
  name,
  shape,
  readOnly: false,
  writeOnly: false,
  deprecated: false,
  description: undefined,
  ...parts
})
export const object = (fields: ReadonlyArray<Field>, parts: Partial<ObjectShape> = {}): Shape => ({
  _tag: "Object",
  fields,
  required: [],
  additional: "unstated",
  ...unlimited,
  ...parts
})

const components: Readonly<Record<string, Shape>> = {
  Id: string({ min: 2 }),
  Count: number({ integer: true }),
  Name: ref("Id")
}

/** The shape of the values that match both, with the notes. */
export const both = (a: Shape, b: Shape) => {
  const notes: Array<string> = []
  const shape = intersect(a, b, {
    component: (name) => components[name] ?? assert.fail(name),
    note: (message) => notes.push(message)
  })
  return { shape, notes }
}

type Row = readonly [title: string, a: Shape, b: Shape, shape: Shape | undefined, ...notes: ReadonlyArray<string>]

/** What comes of two shapes in either order. */
export const merges = (rows: ReadonlyArray<Row>) => {
  for (const [title, a, b, shape, ...notes] of rows) {
    it(title, () => {
      assert.deepStrictEqual([both(a, b), both(b, a)], [{ shape, notes }, { shape, notes }])
    })
  }
}
