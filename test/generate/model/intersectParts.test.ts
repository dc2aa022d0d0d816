/** Tests which shape the values have that match a list and a tuple, or two objects. */
import { assert, describe, it } from "@effect/vitest"
import { boolean, never, nil, type ObjectShape, unknown } from "../../../src/generate/model/shape.js"
import { both, field, list, merges, object, string, tuple } from "../support/shapes.js"

describe("a list and a tuple", () => {
  const unchecked = (keyword: string) => `${keyword} is not checked, because the list is a tuple`
  const pair = [string({ min: 1 }), boolean]
  const open = tuple(pair, { rest: unknown })
  const openWithBoth = tuple(pair, { rest: unknown, required: 2 })
  merges([
    [
      "have elements and further items that match both",
      list(string({ max: 5 })),
      tuple([string({ min: 1 })], { required: 1, rest: string({ min: 2 }) }),
      tuple([string({ min: 1, max: 5 })], { required: 1, rest: string({ min: 2, max: 5 }) })
    ],
    ["end before an element that does not match", list(boolean), tuple([boolean, nil, boolean]), tuple([boolean])],
    [
      "have no further items after such an end",
      list(boolean),
      tuple([boolean, nil], { rest: boolean }),
      tuple([boolean])
    ],
    ["have no further items that do not match", list(boolean), tuple([boolean], { rest: nil }), tuple([boolean])],
    ["have as many elements as the list may", list(unknown, { max: 1 }), open, tuple([string({ min: 1 })])],
    ["have no further items if the list is full", list(unknown, { max: 2 }), open, tuple(pair)],
    ["have as many elements as the list must", list(unknown, { min: 1 }), tuple(pair), tuple(pair, { required: 1 })],
    [
      "have as many elements as the tuple must",
      list(unknown, { min: 1 }),
      tuple(pair, { required: 2 }),
      tuple(pair, { required: 2 })
    ],
    [
      "contradict each other if elements must be there that do not match",
      list(boolean),
      tuple([nil], { required: 1 }),
      undefined
    ],
    ["contradict each other if the list must be longer", list(unknown, { min: 3 }), tuple(pair), undefined],
    ["may have just as many items as there are elements", list(unknown, { min: 2 }), open, openWithBoth],
    ["have a note on a longer list", list(unknown, { min: 3 }), open, openWithBoth, unchecked("minItems")],
    [
      "have a note on a list that ends among the further items",
      list(unknown, { max: 3 }),
      open,
      open,
      unchecked("maxItems")
    ],
    [
      "have a note if items differ from each other",
      list(unknown, { unique: true }),
      tuple(pair),
      tuple(pair),
      unchecked("uniqueItems")
    ],
    [
      "have a note if further items differ from each other",
      list(unknown, { unique: true }),
      tuple([boolean], { rest: unknown }),
      tuple([boolean], { rest: unknown }),
      unchecked("uniqueItems")
    ],
    ["have no note if there is one item only", list(unknown, { unique: true }), tuple([boolean]), tuple([boolean])],
    [
      "have all notes at once",
      list(unknown, { min: 3, max: 4, unique: true }),
      open,
      openWithBoth,
      unchecked("minItems"),
      unchecked("maxItems"),
      unchecked("uniqueItems")
    ]
  ])
})

describe("two objects", () => {
  const unchecked = "the types of fields without names are not checked, because other fields have names"
  const additional = (a: ObjectShape["additional"], b: ObjectShape["additional"], c: ObjectShape["additional"]) =>
    [object([], { additional: a }), object([], { additional: b }), object([], { additional: c })] as const
  const [short, long] = [string({ max: 3 }), string({ min: 1 })]
  const a = field("a", boolean)
  merges([
    ["are closed if one of them is", ...additional("closed", "open", "closed")],
    ["are closed if one of them is and the other has a type", ...additional("closed", short, "closed")],
    ["are closed if one of them is and the other does not say", ...additional("closed", "unstated", "closed")],
    ["have the type of further fields of one if the other is open", ...additional(short, "open", short)],
    ["have the type of further fields of one if the other does not say", ...additional(short, "unstated", short)],
    ["have further fields that match both types", ...additional(short, long, string({ min: 1, max: 3 }))],
    ["are closed if no further field matches both types", ...additional(short, boolean, "closed")],
    ["are open if one of them is", ...additional("open", "unstated", "open")],
    [
      "have the stricter limits",
      object([a], { min: 1, max: 9 }),
      object([], { min: 2, max: 8 }),
      object([a], { min: 2, max: 8 })
    ],
    [
      "have no type of further fields beside others, with a note",
      object([a]),
      object([], { additional: short }),
      object([a], { additional: unknown }),
      unchecked
    ],
    [
      "have no note if further fields have any type",
      object([a]),
      object([], { additional: unknown }),
      object([a], { additional: unknown })
    ]
  ])

  it("that do not say whether they are open do not say together", () => {
    assert.deepStrictEqual(both(object([a]), object([])), { shape: object([a]), notes: [] })
  })

  it("have the fields of both, and what both say of one field", () => {
    const parts = { readOnly: true, writeOnly: true, deprecated: true, description: "the first" }
    const one = object([a, field("b", short, parts), field("c", boolean), field("d", short, { description: "one" })], {
      required: ["a", "b"]
    })
    const other = object([
      field("e", nil),
      field("d", boolean, { description: "two" }),
      field("c", unknown, parts),
      field("b", long)
    ], {
      required: ["b", "e"]
    })
    const b = field("b", string({ min: 1, max: 3 }), parts)
    const c = field("c", boolean, parts)
    assert.deepStrictEqual(both(one, other), {
      shape: object([a, b, c, field("d", never, { description: "one" }), field("e", nil)], {
        required: ["a", "b", "e"]
      }),
      notes: []
    })
    assert.deepStrictEqual(both(other, one), {
      shape: object([field("e", nil), field("d", never, { description: "two" }), c, b, a], {
        required: ["b", "e", "a"]
      }),
      notes: []
    })
  })

  it("say of a field neither that it is read-only nor more if neither does", () => {
    assert.deepStrictEqual(both(object([field("a", short)]), object([field("a", long)])), {
      shape: object([field("a", string({ min: 1, max: 3 }))]),
      notes: []
    })
  })
})
