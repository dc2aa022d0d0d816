/** Tests which changes a comparison finds between two shapes. */
import { assert, describe, it } from "@effect/vitest"
import { compare } from "../../../src/generate/compare/compare.js"
import {
  anyString,
  boolean,
  type Field,
  never,
  nil,
  type NumberShape,
  type ObjectShape,
  ref,
  type Shape,
  type StringShape,
  type TupleShape,
  unknown
} from "../../../src/generate/model/shape.js"

const text = (limits: Partial<StringShape>): Shape => ({ ...anyString, ...limits })
const number = (limits: Partial<NumberShape>): Shape => ({ _tag: "Number", integer: false, ...limits })
const integer = number({ integer: true })
const literal = (...values: ReadonlyArray<string | number>): Shape => ({ _tag: "Literal", values })
const list = (items: Shape, limits: { readonly min?: number; readonly unique?: boolean } = {}): Shape => ({
  _tag: "Array",
  items,
  unique: false,
  ...limits
})
const union = (...branches: ReadonlyArray<Shape>): Shape => ({ _tag: "Union", branches })
const tuple = (elements: ReadonlyArray<Shape>, more: Partial<TupleShape> = {}): Shape => ({
  _tag: "Tuple",
  elements,
  required: 0,
  ...more
})
const file: Shape = { _tag: "File" }
const field = (name: string, shape: Shape): Field => ({
  name,
  shape,
  readOnly: false,
  writeOnly: false,
  deprecated: false
})
const object = (more: Partial<ObjectShape>): Shape => ({
  _tag: "Object",
  fields: [],
  required: [],
  additional: "unstated",
  ...more
})

type Row = readonly [before: Shape, after: Shape, ...changes: ReadonlyArray<string>]

const limits: ReadonlyArray<Row> = [
  [text({ max: 5 }), text({ max: 9 }), "widened A: max 5 → 9"],
  [text({ max: 9 }), text({ max: 5 }), "narrowed A: max 9 → 5"],
  [text({ max: 9 }), anyString, "widened A: max 9 → none"],
  [anyString, text({ max: 9 }), "narrowed A: max none → 9"],
  [text({ min: 2 }), text({ min: 4 }), "narrowed A: min 2 → 4"],
  [text({ min: 4 }), text({ min: 2 }), "widened A: min 4 → 2"],
  [text({ min: 2 }), anyString, "widened A: min 2 → none"],
  [anyString, text({ min: 2 }), "narrowed A: min none → 2"],
  [number({ above: 1 }), number({ above: 0 }), "widened A: above 1 → 0"],
  [number({ below: 9 }), number({ below: 8 }), "narrowed A: below 9 → 8"],
  [
    number({ min: 1, below: 9 }),
    number({ max: 3 }),
    "widened A: min 1 → none",
    "narrowed A: max none → 3",
    "widened A: below 9 → none"
  ],
  [number({ multipleOf: 2 }), number({}), "widened A: multipleOf 2 → none"],
  [number({ multipleOf: 2 }), number({ multipleOf: 3 }), "changed A: multipleOf 2 → 3"],
  [integer, number({}), "widened A: integer → number"],
  [number({}), integer, "narrowed A: number → integer"],
  [text({ patterns: ["a", "b"] }), text({ patterns: ["a", "c"] }), "changed A: pattern a b → a c"],
  [anyString, text({ patterns: ["a", "b"] }), "narrowed A: pattern none → a b"],
  [text({ patterns: ["a"] }), anyString, "widened A: pattern a → none"],
  [text({ format: "uri" }), text({ format: "email" }), "changed A: format uri → email"],
  [text({ format: "uri" }), anyString, "widened A: format uri → none"],
  [anyString, text({ format: "uri" }), "narrowed A: format none → uri"]
]

/** Shapes of different kinds: every value is one of the other, or some are not. */
const kinds: ReadonlyArray<Row> = [
  [anyString, unknown, "widened A: string → unknown"],
  [unknown, anyString, "narrowed A: unknown → string"],
  [never, boolean, "widened A: never → boolean"],
  [boolean, never, "narrowed A: boolean → never"],
  [literal("x", "y"), anyString, "widened A: \"x\" | \"y\" → string"],
  [anyString, literal("x", "y"), "narrowed A: string → \"x\" | \"y\""],
  [literal(1, 2), number({}), "widened A: 1 | 2 → number"],
  [integer, literal(1, 2), "narrowed A: integer → 1 | 2"],
  [literal("x", 1), anyString, "changed A: \"x\" | 1 → string"],
  [literal("x", 1), integer, "changed A: \"x\" | 1 → integer"],
  [literal("x"), number({}), "changed A: \"x\" → number"],
  [literal(1), anyString, "changed A: 1 → string"],
  [literal("x"), boolean, "changed A: \"x\" → boolean"],
  [literal(1), boolean, "changed A: 1 → boolean"],
  [anyString, boolean, "changed A: string → boolean"],
  [integer, anyString, "changed A: integer → string"],
  [file, anyString, "changed A: file → string"],
  [ref("B"), ref("C"), "changed A: B → C"],
  [ref("B"), nil, "changed A: B → null"],
  [list(union(ref("B"), nil)), object({}), "changed A: list of B or null → object"],
  [tuple([]), list(integer), "changed A: tuple → list of integer"]
]

const alternatives: ReadonlyArray<Row> = [
  [union(anyString, nil), union(anyString, nil)],
  [union(anyString, nil), union(nil, anyString)],
  [anyString, union(anyString, nil), "widened A: also null"],
  [union(anyString, nil), anyString, "narrowed A: no longer null"],
  [union(anyString, nil, boolean), anyString, "narrowed A: no longer null, boolean"],
  [anyString, union(anyString, nil, list(file)), "widened A: also null, list of file"],
  [union(anyString, boolean), union(anyString, integer), "changed A: boolean → integer"],
  [union(ref("B"), nil), union(ref("C"), nil), "changed A: B → C"],
  [union(text({ max: 5 }), nil), union(text({ max: 9 }), nil), "widened A: max 5 → 9"],
  [
    union(anyString, boolean),
    union(anyString, integer, nil),
    "narrowed A: no longer boolean",
    "widened A: also integer, null"
  ],
  [
    union(anyString, boolean, nil),
    union(anyString, integer),
    "narrowed A: no longer boolean, null",
    "widened A: also integer"
  ],
  [
    union(anyString, boolean, nil),
    union(anyString, integer, file),
    "narrowed A: no longer boolean, null",
    "widened A: also integer, file"
  ],
  [literal("x", "y", "z"), literal("z"), "narrowed A: values without x, y"],
  [literal("z"), literal("x", "y", "z"), "widened A: values with x, y"],
  [literal("x", 1), literal(2, "x"), "narrowed A: values without 1", "widened A: values with 2"]
]

const parts: ReadonlyArray<Row> = [
  [list(anyString), list(anyString, { unique: true }), "narrowed A: without repetition"],
  [
    list(anyString, { min: 1, unique: true }),
    list(boolean),
    "widened A: min 1 → none",
    "widened A: with repetition",
    "changed A[]: string → boolean"
  ],
  [list(list(anyString)), list(list(text({ max: 5 }))), "narrowed A[][]: max none → 5"],
  [tuple([anyString, boolean]), tuple([integer, boolean]), "changed A[0]: string → integer"],
  [
    tuple([anyString, boolean], { rest: integer }),
    tuple([anyString, nil], { rest: number({}) }),
    "changed A[1]: boolean → null",
    "widened A[2]: integer → number"
  ],
  [
    tuple([anyString, boolean]),
    tuple([anyString, boolean], { required: 1 }),
    "changed A: 0 to 2 elements → 1 to 2 elements"
  ],
  [tuple([anyString, boolean], { required: 2 }), tuple([anyString]), "changed A: 2 elements → 0 to 1 elements"],
  [
    tuple([anyString]),
    tuple([anyString], { rest: boolean }),
    "changed A: 0 to 1 elements → 0 to any number of elements"
  ],
  [
    tuple([anyString, boolean]),
    tuple([integer]),
    "changed A: 0 to 2 elements → 0 to 1 elements",
    "changed A[0]: string → integer"
  ],
  [
    object({
      fields: [field("a", anyString), field("b", ref("B")), field("same", ref("B"))],
      required: ["a", "b"],
      additional: "closed",
      min: 1
    }),
    object({
      fields: [field("a", boolean), field("same", ref("B")), field("c", list(anyString))],
      required: ["c"],
      additional: integer,
      max: 3
    }),
    "widened A: min 1 → none",
    "narrowed A: max none → 3",
    "widened A.a: is optional",
    "changed A.a: string → boolean",
    "removed A.b: required B",
    "added A.c: required list of string",
    "widened A.*: never → integer"
  ],
  [
    object({ fields: [field("a", object({ fields: [field("b", anyString)] }))] }),
    object({ fields: [field("a", object({ fields: [field("b", anyString)], required: ["b"] }))] }),
    "narrowed A.a.b: is required"
  ],
  [object({ additional: "unstated" }), object({ additional: "closed" }), "narrowed A.*: unknown → never"],
  [
    object({ fields: [field("a", boolean)], additional: "unstated" }),
    object({ fields: [field("a", boolean)], additional: "closed" })
  ],
  [object({ additional: "closed" }), object({ additional: "open" }), "widened A.*: never → unknown"],
  [object({ additional: anyString }), object({ additional: "open" }), "widened A.*: string → unknown"],
  [object({ additional: anyString }), object({ additional: text({ max: 5 }) }), "narrowed A.*: max none → 5"]
]

describe("a comparison of shapes", () => {
  const document = { title: "Things", version: "1" }
  const of = (shape: Shape) => ({ document, operations: {}, schemas: { A: shape } })

  it.each([
    ["limits and checks", limits],
    ["kinds", kinds],
    ["alternatives and values", alternatives],
    ["elements and fields", parts]
  ])("says what changed: %s", (_, rows) => {
    for (const [before, after, ...changes] of rows) {
      const found = compare(of(before), of(after)).map(({ detail, kind, path }) => `${kind} ${path}: ${detail}`)
      assert.deepStrictEqual(found, changes, JSON.stringify([before, after]))
      assert.deepStrictEqual(compare(of(before), of(before)), [])
    }
  })
})
