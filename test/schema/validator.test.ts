/** Tests of validators: for any value they agree with Effect's own validation. */
import { assert, describe, it } from "@effect/vitest"
import { FastCheck, ParseResult, Predicate, Schema } from "effect"
import { fromSchema } from "../../src/internal/schema/schemaTree.js"
import { copy, loose, looseNode, strict } from "../../src/internal/schema/validator.js"
import { operations } from "../support/operations.js"
import { arbitraryOf } from "../support/schemaArbitrary.js"

/** A copy in which the value at a path, at any depth, is replaced or absent. */
const damaged = (value: unknown, at: ReadonlyArray<number>, by: unknown): unknown => {
  const [first, ...rest] = at
  if (first === undefined) return by
  if (typeof value !== "object" || value === null) return value
  const keys = Object.keys(value)
  const key = keys[first % (keys.length + 1)] ?? "more"
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
  const inner = damaged(copy[key], rest, by)
  if (inner === gone) delete copy[key]
  else copy[key] = inner
  return copy
}

const gone = Symbol("gone")
const anything = FastCheck.oneof(
  FastCheck.constantFrom(gone, undefined, null, "", 0, NaN, [], {}),
  FastCheck.jsonValue()
)
type Case = readonly [name: string, schema: Schema.Schema.AnyNoContext]

const successes: ReadonlyArray<Case> = operations.flatMap(({ endpoint: { name, success } }) =>
  success === undefined ? [] : [[name, success] as const]
)
const inputs: ReadonlyArray<Case> = operations.map(({ endpoint: { input, name } }) => [name, input])
const others: ReadonlyArray<Case> = [
  [
    "other kinds",
    Schema.Struct({
      union: Schema.Union(Schema.String, Schema.Struct({ a: Schema.optional(Schema.Literal("b")) })),
      pair: Schema.Tuple(Schema.Number, Schema.optionalElement(Schema.String)),
      record: Schema.Record({ key: Schema.String, value: Schema.Number }),
      short: Schema.NonEmptyArray(Schema.String.pipe(Schema.maxLength(3))),
      none: Schema.Struct({}),
      more: Schema.Struct({ a: Schema.UndefinedOr(Schema.String) }, { key: Schema.String, value: Schema.Unknown })
    })
  ]
]

const validators = [
  { kind: "loose", compile: loose, cases: [...successes, ...others], onExcessProperty: "ignore" },
  { kind: "strict", compile: strict, cases: [...inputs, ...others], onExcessProperty: "error" }
] as const

describe("a validator", () => {
  for (
    const [kind, compile, onExcessProperty, [name, schema]] of validators.flatMap((
      { cases, compile, kind, onExcessProperty }
    ) => cases.map((each) => [kind, compile, onExcessProperty, each] as const))
  ) {
    it(`that is ${kind} agrees with Effect: ${name}`, () => {
      const [isValid, is] = [compile(schema), ParseResult.is(schema, { onExcessProperty })]
      const verdicts = new Set<boolean>()
      FastCheck.assert(
        FastCheck.property(
          arbitraryOf(Schema.typeSchema(schema)),
          FastCheck.array(FastCheck.nat(20), { maxLength: 5 }),
          anything,
          (good, at, by) => {
            assert.isTrue(isValid(good))
            const value = damaged(good, at, by)
            verdicts.add(is(value))
            assert.strictEqual(isValid(value), is(value))
          }
        ),
        { numRuns: 500 }
      )
      assert.strictEqual(verdicts.size, 2)
    })
  }
})

describe("a validator agrees with Effect on", () => {
  const one = Schema.Struct({ a: Schema.String })
  const rows: ReadonlyArray<readonly [name: string, schema: Schema.Schema.AnyNoContext, ...values: Array<unknown>]> = [
    ["a list with a first item", Schema.Tuple([Schema.Number], Schema.String), [], [1], [1, "a"], ["a"], [1, 2]],
    ["a list with a last item", Schema.Tuple([], Schema.String, Schema.Number), [], [1], ["a", 1], ["a", "b"]],
    ["an empty list", Schema.Tuple(), [], [1], {}],
    ["a list of one", Schema.Tuple(one), [{ a: "x" }], [{ a: "x", b: 1 }], [{ a: 1 }], []],
    ["a string or a number", Schema.Union(Schema.String, Schema.Literal(7)), "a", 7, 8, null],
    ["known strings", Schema.Union(Schema.Literal("a"), Schema.Literal("b")), "a", "b", "c"],
    ["a struct with typed other fields", Schema.Struct(one.fields, { key: Schema.String, value: Schema.String }), {
      a: "x",
      b: 1
    }],
    ["a struct with any other fields", Schema.Struct(one.fields, { key: Schema.String, value: Schema.Unknown }), {
      a: "x",
      b: 1
    }],
    [
      "a struct with other fields of certain names",
      Schema.Struct(one.fields, { key: Schema.TemplateLiteral("x-", Schema.String), value: Schema.Unknown }),
      { a: "x", "x-b": 1 },
      { a: "x", b: 1 }
    ],
    ["a template literal", Schema.TemplateLiteral("a", Schema.Number), "a1", "a", "b1", 1],
    ["a boolean", Schema.Struct({ a: Schema.Boolean }), { a: true }, { a: false }, { a: 0 }, { a: "true" }],
    ["undefined", Schema.Undefined, undefined, null, 0],
    [
      "a struct with other fields of one type",
      Schema.Struct({ a: Schema.Number }, { key: Schema.String, value: Schema.Union(Schema.Number, Schema.Boolean) }),
      { a: 1 },
      { a: 1, b: true },
      { a: true },
      { b: true },
      { a: 1, b: "x" }
    ],
    [
      "a struct with other fields of two kinds of names",
      Schema.Struct(
        {},
        { key: Schema.String, value: Schema.Union(Schema.String, Schema.Number) },
        { key: Schema.TemplateLiteral("x-", Schema.String), value: Schema.Number }
      ),
      { a: "a", "x-b": 1 },
      { "x-b": "b" },
      { a: true }
    ],
    [
      "a record",
      Schema.Record({ key: Schema.String, value: Schema.Number }),
      {},
      { a: 1 },
      { a: "1" },
      []
    ],
    ["an object without a prototype", one, Object.assign(Object.create(null), { a: "x" })]
  ]
  for (const [name, schema, ...values] of rows) {
    it(name, () => {
      for (const [isValid, onExcessProperty] of [[loose(schema), "ignore"], [strict(schema), "error"]] as const) {
        const is = ParseResult.is(schema, { onExcessProperty })
        assert.deepStrictEqual(values.map(isValid), values.map((value) => is(value)))
      }
    })
  }
})

describe("a validator of a common type is compiled, without Effect's validation", () => {
  const text = Schema.Struct({ a: Schema.String })
  const cases: ReadonlyArray<readonly [name: string, schema: Schema.Schema.AnyNoContext, valid: unknown]> = [
    ["a string", Schema.String, "a"],
    ["a number", Schema.Number, 1],
    ["a boolean", Schema.Boolean, true],
    ["anything", Schema.Unknown, null],
    ["undefined", Schema.Undefined, undefined],
    ["a literal", Schema.Literal("a"), "a"],
    ["a union", Schema.Union(Schema.String, Schema.Number), 1],
    ["a filter", Schema.String.pipe(Schema.minLength(1)), "a"],
    ["a list", Schema.Array(Schema.String), ["a"]],
    ["a struct", text, { a: "a" }],
    ["a record", Schema.Record({ key: Schema.String, value: Schema.Number }), { a: 1 }],
    ["a struct with others", Schema.Struct(text.fields, { key: Schema.String, value: Schema.Unknown }), {
      a: "a",
      b: 1
    }]
  ]
  for (const [name, schema, valid] of cases) {
    it(name, () => {
      const node = Object.defineProperty({ ...fromSchema(schema) }, "schema", {
        get: () => assert.fail("the validation is Effect's")
      })
      assert.isTrue(looseNode(node)(valid))
      if (name !== "anything") assert.isFalse(looseNode(node)(Symbol("none")))
    })
  }

  it("and a union of any string and known strings is checked like a string", () => {
    assert.strictEqual(loose(Schema.Union(Schema.String, Schema.Literal("a"))), Predicate.isString)
    assert.notStrictEqual(loose(Schema.Union(Schema.String, Schema.Literal(1))), Predicate.isString)
    assert.notStrictEqual(loose(Schema.Union(Schema.String, Schema.Number)), Predicate.isString)
    assert.isFalse(loose(Schema.Union(Schema.Literal("a"), Schema.Literal("b")))("c"))
  })
})

describe("a recursive struct that allows any other field", () => {
  interface Node {
    readonly inner?: Node | undefined
    readonly [more: string]: unknown
  }
  const Node: Schema.Schema<Node> = Schema.suspend(() =>
    Schema.Struct({ inner: Schema.optional(Node) }, { key: Schema.String, value: Schema.Unknown })
  )
  it("is compiled once, and allows it at any depth", () => {
    for (const compile of [loose, strict]) {
      assert.isTrue(compile(Node)({ inner: { inner: { more: 1 }, more: 1 }, more: 1 }))
      assert.isFalse(compile(Node)({ inner: { inner: { inner: 1 } } }))
    }
  })
})

describe("a field whose name is a symbol", () => {
  const other = Symbol("other")
  const schema = Schema.Struct({ id: Schema.String, [other]: Schema.Number })
  it("is validated as any other", () => {
    for (const isValid of [loose(schema), strict(schema)]) {
      assert.deepStrictEqual(
        [{ id: "1", [other]: 1 }, { id: "1", [other]: "1" }, { id: "1" }, { [other]: 1 }].map(isValid),
        [true, false, false, false]
      )
    }
  })
})

describe("a required field that is not enumerable", () => {
  it("is missing", () => {
    for (const compile of [loose, strict]) {
      assert.isFalse(compile(Schema.Struct({ message: Schema.Number }))(new Error("1")))
    }
  })
})

describe("an input that is not a plain object", () => {
  const [, schema] = inputs.find(([name]) => name === "deleteEventStream")!
  const id = "est_1234567890123456789012"
  class Id {
    get id() {
      return id
    }
  }
  for (
    const [kind, input] of [
      ["an inherited field", Object.create({ id })],
      ["a getter of a class", new Id()],
      ["a field that is not enumerable", Object.defineProperty({}, "id", { value: id })],
      ["a symbol", { id, [Symbol("s")]: 1 }]
    ] as const
  ) {
    it(`is invalid: ${kind}`, () => {
      assert.isTrue(strict(schema)({ id }))
      assert.isFalse(strict(schema)(input))
    })
  }
})

it("a field that each object inherits takes no place of an unknown one", () => {
  const isValid = strict(Schema.Struct({ from: Schema.optional(Schema.String) }))
  // Sound: the field is there only while this test reads it.
  const everyObject = Object.prototype as { from?: string }
  everyObject.from = "x"
  const found = isValid({ other: 1 })
  delete everyObject.from
  assert.isFalse(found)
})

describe("fields of a record that JSON would not have", () => {
  const schema = Schema.Record({ key: Schema.String, value: Schema.Number })
  for (
    const [kind, value] of [
      ["inherited", Object.create({ a: 1 })],
      ["not enumerable", Object.defineProperty({}, "a", { value: 1 })],
      ["with a symbol as name", { [Symbol("s")]: 1 }]
    ] as const
  ) {
    it(`are refused in an input, and allowed in a response: ${kind}`, () => {
      assert.isFalse(strict(schema)(value))
      assert.isTrue(loose(schema)(value))
    })
  }
})

describe("a copy", () => {
  it("shares values that are neither lists nor plain objects", () => {
    const input = { at: new Date(0), list: [new URL("http://a/b")], inner: { at: new Date(1) } }
    assert.strictEqual(JSON.stringify(copy(input)), JSON.stringify(input))
    assert.strictEqual(copy(input).at, input.at)
  })

  it("is made of an object without a prototype", () => {
    const input: object = Object.assign(Object.create(null), { id: "1" })
    assert.deepStrictEqual({ ...copy(input) }, { ...input })
    assert.notStrictEqual(copy(input), input)
  })

  for (const [name, schema] of inputs) {
    it(`equals the input: ${name}`, () => {
      FastCheck.assert(FastCheck.property(arbitraryOf(Schema.typeSchema(schema)), (input) => {
        assert.deepStrictEqual(copy(input), input)
        assert.notStrictEqual(copy(input), input)
      }))
    })
  }
})
