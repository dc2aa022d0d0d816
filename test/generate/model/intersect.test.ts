/** Tests which shape the values have that match two shapes. */
import { assert, describe, it } from "@effect/vitest"
import { anyString, boolean, never, nil, ref, type Shape, unknown } from "../../../src/generate/model/shape.js"
import { both, either, field, file, list, literal, merges, number, object, string, tuple } from "../support/shapes.js"

describe("two shapes of one kind", () => {
  merges([
    ["that are equal are one", string({ max: 3 }), string({ max: 3 }), string({ max: 3 })],
    ["are the other if one accepts everything", unknown, boolean, boolean],
    [
      "of strings have the stricter limits",
      string({ min: 1, max: 9 }),
      string({ min: 2, max: 8 }),
      string({ min: 2, max: 8 })
    ],
    [
      "of strings have the limits of both",
      string({ min: 1 }),
      string({ max: 8, format: "uri" }),
      string({ min: 1, max: 8, format: "uri" })
    ],
    [
      "of numbers have the stricter limits",
      number({ integer: true, min: 1, max: 9, above: 0, below: 11 }),
      number({ min: 2, max: 8, above: 1, below: 10 }),
      number({ integer: true, min: 2, max: 8, above: 1, below: 10 })
    ],
    [
      "of numbers have the limits of both",
      number({ integer: true, min: 1, below: 10 }),
      number({ max: 8, above: 1, multipleOf: 2 }),
      number({ integer: true, min: 1, max: 8, above: 1, below: 10, multipleOf: 2 })
    ],
    [
      "of lists have the stricter limits, and items that match both",
      list(string({ min: 1 }), { min: 1, max: 9, unique: true }),
      list(string({ max: 5 }), { min: 2, max: 8 }),
      list(string({ min: 1, max: 5 }), { min: 2, max: 8, unique: true })
    ],
    ["of lists may repeat items if both may", list(unknown, { min: 1 }), list(boolean), list(boolean, { min: 1 })],
    ["of lists have no items if none can match", list(boolean), list(string()), list(never)],
    ["of literals have the values of both", literal("a", 1, true), literal("b", 1, true), literal(1, true)],
    ["of literals without a common value contradict each other", literal("a"), literal("b", "A"), undefined],
    ["of references have the shapes that they refer to", ref("Name"), ref("Count"), undefined],
    ["of references to the same are one", ref("Missing"), ref("Missing"), ref("Missing")]
  ])

  it("of strings have the patterns of both, once", () => {
    assert.deepStrictEqual(
      both(string({ patterns: ["a", "b"] }), string({ patterns: ["c", "a"] })),
      { shape: string({ patterns: ["a", "b", "c"] }), notes: [] }
    )
  })

  it("of two formats or divisors, where only one can be checked, have the first, with a note", () => {
    assert.deepStrictEqual(both(string({ format: "uri" }), string({ format: "email" })), {
      shape: string({ format: "uri" }),
      notes: ["of the values uri and email of format, only the first is used"]
    })
    assert.deepStrictEqual(both(number({ multipleOf: 2, min: 1 }), number({ multipleOf: 3 })), {
      shape: number({ multipleOf: 2, min: 1 }),
      notes: ["of the values 2 and 3 of multipleOf, only the first is used"]
    })
    assert.deepStrictEqual(both(number({ multipleOf: 2, min: 1 }), number({ multipleOf: 2 })), {
      shape: number({ multipleOf: 2, min: 1 }),
      notes: []
    })
  })
})

describe("a shape and one of another kind", () => {
  const values = literal("a", "b", 1, 1.5, true)
  merges([
    ["are strings of a list", values, anyString, literal("a", "b")],
    ["are numbers of a list", values, number(), literal(1, 1.5)],
    ["are integers of a list", values, number({ integer: true }), literal(1)],
    ["are booleans of a list", values, boolean, literal(true)],
    ["are none if the list has none of the kind", literal("a"), number(), undefined],
    ["are a file, which has no limits", file, string({ max: 3 }), file],
    ["are what a reference refers to", ref("Name"), string({ max: 3 }), string({ min: 2, max: 3 })],
    ["are the branch of a union that matches", either(boolean, string()), ref("Id"), string({ min: 2 })],
    [
      "are the branches of a union that match",
      either(string(), boolean, literal("a", 1)),
      literal("a", 1, true),
      either(literal("a"), literal(true), literal("a", 1))
    ],
    ["are none if no branch of a union matches", either(boolean, nil), string(), undefined]
  ])

  it("contradict each other, apart from those", () => {
    const kinds: ReadonlyArray<Shape> = [
      never,
      nil,
      boolean,
      file,
      string(),
      number(),
      literal("a", 1, true),
      list(boolean),
      tuple([boolean]),
      object([field("a", boolean)])
    ]
    const possible = kinds.flatMap((a) =>
      kinds.filter((b) => a !== b && both(a, b).shape !== undefined).map((b) => `${a._tag} and ${b._tag}`)
    )
    assert.deepStrictEqual(possible, [
      "Boolean and Literal",
      "File and String",
      "String and File",
      "String and Literal",
      "Number and Literal",
      "Literal and Boolean",
      "Literal and String",
      "Literal and Number",
      "Array and Tuple",
      "Tuple and Array"
    ])
  })
})

describe("two unions", () => {
  const [uri, email] = [string({ format: "uri" }), string({ format: "email" })]
  const note = (a: string, b: string) => `of the values ${a} and ${b} of format, only the first is used`

  it("have the pairs of branches that match", () => {
    assert.deepStrictEqual(
      both(either(string({ min: 1 }), boolean, nil), either(nil, string({ max: 5 }), number())),
      { shape: either(string({ min: 1, max: 5 }), nil), notes: [] }
    )
  })

  it("contradict each other if no pair matches", () => {
    assert.deepStrictEqual(both(either(boolean, nil), either(anyString, number())), { shape: undefined, notes: [] })
  })

  it("have the notes of pairs that no other pair gives without notes", () => {
    assert.deepStrictEqual(both(either(uri, email), either(email, uri)), { shape: either(uri, email), notes: [] })
    assert.deepStrictEqual(both(either(uri, nil), either(email, nil)), {
      shape: either(uri, nil),
      notes: [note("uri", "email")]
    })
    assert.deepStrictEqual(both(either(uri, email), either(string({ format: "date" }), nil)), {
      shape: either(uri, email),
      notes: [note("uri", "date"), note("email", "date")]
    })
  })
})
