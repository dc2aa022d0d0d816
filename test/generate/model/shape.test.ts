/** Tests unions of shapes, and what shapes consist of. */
import { assert, describe, it } from "@effect/vitest"
import {
  anyString,
  boolean,
  children,
  equals,
  isLiteralStrings,
  isPlainString,
  never,
  nil,
  nullable,
  type ObjectShape,
  ref,
  type Shape,
  union,
  unknown
} from "../../../src/generate/model/shape.js"

const short: Shape = { ...anyString, max: 3 }
const long: Shape = { ...anyString, min: 9 }
const letters: Shape = { _tag: "Literal", values: ["a", "b"] }
const integer: Shape = { _tag: "Number", integer: true }

describe("a union", () => {
  const unions: ReadonlyArray<readonly [title: string, shapes: ReadonlyArray<Shape>, result: Shape]> = [
    ["is never without branches", [], never],
    ["leaves out branches that accept nothing", [never, boolean, never], boolean],
    ["is never if no branch accepts anything", [never, never], never],
    ["is its only branch", [ref("A")], ref("A")],
    ["keeps the order of its branches", [nil, ref("A"), integer], {
      _tag: "Union",
      branches: [nil, ref("A"), integer]
    }],
    ["leaves out repetitions", [ref("A"), nil, ref("A"), { _tag: "Ref", name: "A" }], {
      _tag: "Union",
      branches: [ref("A"), nil]
    }],
    [
      "has the branches of its branches",
      [nil, { _tag: "Union", branches: [boolean, nil, integer] }, ref("A")],
      { _tag: "Union", branches: [nil, boolean, integer, ref("A")] }
    ],
    ["accepts everything if one branch does", [boolean, unknown, nil], unknown],
    ["keeps strings with limits", [short, long, nil], { _tag: "Union", branches: [short, long, nil] }],
    ["leaves out strings with limits beside any string", [short, nil, anyString, long, letters], {
      _tag: "Union",
      branches: [nil, anyString, letters]
    }],
    ["is a plain string if the others are strings with limits", [short, anyString], anyString]
  ]
  for (const [title, shapes, result] of unions) {
    it(title, () => {
      assert.deepStrictEqual(union(shapes), result)
    })
  }

  it("accepts null once", () => {
    const either: Shape = { _tag: "Union", branches: [boolean, nil] }
    assert.deepStrictEqual(nullable(boolean), either)
    assert.deepStrictEqual(nullable(either), either)
    assert.deepStrictEqual(nullable(nil), nil)
    assert.deepStrictEqual(nullable(never), nil)
    assert.deepStrictEqual(nullable(unknown), unknown)
  })
})

it("tells plain strings and lists of strings from other shapes", () => {
  const plain: Shape = { ...anyString, min: undefined, max: undefined, format: undefined }
  const limited: ReadonlyArray<Shape> = [
    short,
    long,
    { ...anyString, min: 1, max: 1 },
    { ...anyString, patterns: ["^a"] },
    { ...anyString, format: "uri" }
  ]
  const rest: ReadonlyArray<Shape> = [unknown, nil, boolean, { _tag: "File" }, ref("String")]
  const mixed: Shape = { _tag: "Literal", values: ["a", 1] }
  const all = [anyString, plain, letters, mixed, ...limited, ...rest]
  assert.deepStrictEqual(all.filter(isPlainString), [anyString, plain])
  assert.deepStrictEqual(all.filter(isLiteralStrings), [letters])
})

it("compares shapes by their content", () => {
  assert.isTrue(equals(anyString, { _tag: "String", patterns: [], min: undefined }))
  assert.isFalse(equals(anyString, short))
  assert.isFalse(equals(ref("A"), ref("B")))
})

describe("the parts of a shape", () => {
  const field = (name: string, shape: Shape) => ({ name, shape, readOnly: false, writeOnly: false, deprecated: false })
  const object = (additional: ObjectShape["additional"]): Shape => ({
    _tag: "Object",
    fields: [field("a", boolean), field("b", ref("B"))],
    required: ["a", "c"],
    additional
  })
  const parts: ReadonlyArray<readonly [title: string, shape: Shape, parts: ReadonlyArray<Shape>]> = [
    ["the items of a list", { _tag: "Array", items: integer, unique: false }, [integer]],
    ["the elements of a tuple", { _tag: "Tuple", elements: [boolean, nil], required: 1 }, [boolean, nil]],
    [
      "the elements of a tuple and the further ones",
      { _tag: "Tuple", elements: [boolean, nil], required: 1, rest: integer },
      [boolean, nil, integer]
    ],
    ["the fields of a closed object", object("closed"), [boolean, ref("B")]],
    ["the fields of an open object", object("open"), [boolean, ref("B")]],
    ["the fields of an object that does not say", object("unstated"), [boolean, ref("B")]],
    ["the fields of an object and further ones", object(integer), [boolean, ref("B"), integer]],
    ["the branches of a union", { _tag: "Union", branches: [nil, boolean] }, [nil, boolean]],
    ["nothing of a reference", ref("A"), []],
    ["nothing of a string", anyString, []]
  ]
  for (const [title, shape, expected] of parts) {
    it(`are ${title}`, () => {
      assert.deepStrictEqual(children(shape), expected)
    })
  }
})
