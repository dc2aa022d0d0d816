/** Tests of inputs as they are encoded: paths, header parameters, bodies, and which field is to blame. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Either, Schema, Stream } from "effect"
import type { Any, ContentType } from "../../src/Endpoint.js"
import { RateLimited } from "../../src/Errors.js"
import { make, strings, validate } from "../../src/internal/http/requestEncoder.js"
import * as Operation from "../../src/Operation.js"

const common = {
  method: "PUT",
  path: "/things",
  scope: "update:things",
  idempotent: true,
  error: [RateLimited]
} as const

const text = Schema.optional(Schema.String)

/** Encodes an input. Gives what it is encoded to, or what is wrong with it. */
const encoded = (
  { endpoint }: { readonly endpoint: Any },
  input: unknown,
  contentType: ContentType = "application/json",
  headers: Record<string, string> = {}
): object =>
  Either.match(make(endpoint, input, { contentType, headers: Headers.fromInput(headers) }), {
    onLeft: ({ issues, operation }) => ({ operation, issues }),
    onRight: ({ content, headers, target }) => {
      const body = content?.body()
      return {
        target,
        headers: { ...headers },
        body: typeof body === "object" && body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : body
      }
    }
  })

const refused = (path: string, message: string) => ({ operation: "save", issues: [{ path, message }] })

describe("a parameter of a path", () => {
  const one = Operation.make("save", () => ({ ...common, path: "/things/:id/part", params: { id: Schema.String } }))

  it.each([["...", "..."], [". ", ".%20"], ["a/../b", "a%2F..%2Fb"], ["%2e", "%252e"], ["ü?#", "%C3%BC%3F%23"]])(
    "%j is sent as %s",
    (id, segment) => {
      const target = `/things/${segment}/part`
      assert.deepStrictEqual(encoded(one, { id }), { target, headers: {}, body: undefined })
    }
  )

  it.each(["", ".", "..", "\uD800", "a\uDC00"])("%j is refused, because it would reach another route", (id) => {
    const message = "expected well-formed Unicode that is not empty, \".\" or \"..\""
    assert.deepStrictEqual(encoded(one, { id }), refused("id", message))
  })
})

it("a query that is declared without fields sends none", () => {
  const save = Operation.make("save", () => ({ ...common, query: {} }))
  assert.deepStrictEqual(encoded(save, {}), { target: "/things", headers: {}, body: undefined })
})

describe("header parameters", () => {
  const marked = Operation.make("save", () => ({ ...common, headers: { "x-thing": text, "x-other": text } }))

  it.each([
    [{}, {}],
    [{ "x-thing": "a" }, { "x-thing": "a" }],
    [{ "x-thing": undefined, "x-other": "" }, { "x-other": "" }],
    [{ "x-thing": "a", "x-other": "b" }, { "x-thing": "a", "x-other": "b" }]
  ])("that are set join the caller's headers: %j", (input, headers) => {
    assert.deepStrictEqual(encoded(marked, input, "application/json", { "x-own": "c" }), {
      target: "/things",
      headers: { "x-own": "c", ...headers },
      body: undefined
    })
  })

  it("replace the caller's headers", () => {
    assert.deepInclude(encoded(marked, { "x-thing": "a" }, "application/json", { "x-thing": "c" }), {
      headers: { "x-thing": "a" }
    })
  })

  it("that no header can carry are refused by their name", () => {
    assert.deepStrictEqual(
      encoded(marked, { "x-thing": "a\r\nb: c" }),
      refused("x-thing", "expected a valid HTTP header")
    )
  })
})

describe("a payload with a least number of fields", () => {
  const least = Operation.make("save", () => ({
    ...common,
    query: { q: text },
    payload: { a: text, b: text },
    minProperties: 2
  }))

  it.each([{}, { a: "x" }, { a: "x", b: undefined }, { a: "x", q: "y" }])("is refused with fewer: %j", (input) => {
    assert.deepStrictEqual(encoded(least, input), refused("a, b", "at least 2 must be set"))
  })

  it("is sent with as many", () => {
    assert.deepStrictEqual(encoded(least, { a: "x", b: "" }), {
      target: "/things",
      headers: {},
      body: "{\"a\":\"x\",\"b\":\"\"}"
    })
  })
})

describe("a whole body", () => {
  it("that is optional is sent only if it is given", () => {
    const maybe = Operation.make(
      "save",
      () => ({ ...common, body: Schema.UndefinedOr(Schema.Struct({ a: Schema.Number })) })
    )
    const none = { target: "/things", headers: {}, body: undefined }
    assert.deepStrictEqual([{}, { body: undefined }, { body: { a: 1 } }].map((input) => encoded(maybe, input)), [
      none,
      none,
      { ...none, body: "{\"a\":1}" }
    ])
  })

  it("is not what a field of a query is that has its name", () => {
    const search = Operation.make("save", () => ({ ...common, query: { body: text } }))
    assert.deepStrictEqual(encoded(search, { body: "x" }), { target: "/things?body=x", headers: {}, body: undefined })
  })

  const whole = Operation.make("save", () => ({ ...common, body: Schema.Unknown }))

  it.each([null, "x", 1, [["a", "b"]]])("%j is refused as a form", (body) => {
    assert.deepStrictEqual(
      encoded(whole, { body }, "application/x-www-form-urlencoded"),
      refused("body", "a form can express only an object")
    )
  })

  it("that is an object is sent as a form", () => {
    assert.deepInclude(encoded(whole, { body: { a: 1, b: ["c"] } }, "application/x-www-form-urlencoded"), {
      body: "a=1&b%5B0%5D=c"
    })
  })
})

describe("a value that cannot be encoded is blamed, not the one before it", () => {
  const save = Operation.make("save", () => ({
    ...common,
    payload: { before: Schema.optional(Schema.Unknown), data: Schema.optional(Schema.Unknown) }
  }))
  const cyclic: Record<string, unknown> = {}
  cyclic["self"] = cyclic
  const message = "expected a value that JSON or a form can express, neither cyclic nor nested too deep"
  /** Objects, one within the other. */
  const nested = (count: number): object => count === 1 ? {} : { inner: nested(count - 1) }

  it.each<readonly [string, unknown]>([
    ["null", null],
    ["a text", "x"],
    ["an empty object", {}],
    ["an empty list", []],
    ["an object that holds null", { a: 1, b: null, c: [] }],
    ["100 objects within each other", nested(100)]
  ])("%s", (_, before) => {
    assert.deepStrictEqual(encoded(save, { before, data: cyclic }), refused("data", message))
  })

  it("unless that is nested deeper than 100 objects, which may be too deep", () => {
    assert.deepStrictEqual(encoded(save, { before: nested(101), data: cyclic }), refused("before", message))
  })
})

describe("a field with a name that each object inherits", () => {
  const save = Operation.make("save", () => ({
    ...common,
    query: { valueOf: text },
    headers: { constructor: text },
    payload: { toString: text, data: text },
    minProperties: 1
  }))

  it("is not sent if it is not set", () => {
    assert.deepStrictEqual(encoded(save, { data: "a" }), { target: "/things", headers: {}, body: "{\"data\":\"a\"}" })
  })

  it("does not count as set", () => {
    assert.deepStrictEqual(encoded(save, {}), refused("toString, data", "at least 1 must be set"))
  })

  it("is sent if it is set", () => {
    assert.deepStrictEqual(encoded(save, { valueOf: "a", constructor: "b", toString: "c" }), {
      target: "/things?valueOf=a",
      headers: { constructor: "b" },
      body: "{\"toString\":\"c\"}"
    })
  })
})

/** On a usual object, an assignment to this name sets no field. */
describe("a field named __proto__", () => {
  const field = { ["__proto__"]: text }

  it("is sent in the body", () => {
    const save = Operation.make("save", () => ({ ...common, payload: { ...field, data: text } }))
    const input = JSON.parse("{\"data\":\"a\",\"__proto__\":\"b\"}")
    const body = "{\"__proto__\":\"b\",\"data\":\"a\"}"
    assert.deepStrictEqual(encoded(save, input), { target: "/things", headers: {}, body })
  })

  it("is sent in the query", () => {
    const save = Operation.make("save", () => ({ ...common, query: field }))
    const target = "/things?__proto__=b"
    assert.deepStrictEqual(encoded(save, JSON.parse("{\"__proto__\":\"b\"}")), { target, headers: {}, body: undefined })
  })
})

describe("validate", () => {
  const { endpoint } = Operation.make("save", () => ({
    ...common,
    headers: { "x-thing": text },
    payload: { data: Schema.optional(Schema.Unknown) }
  }))

  it("gives an input that a call with default settings can send, also what only JSON can express", () => {
    const input = { "x-thing": "a", data: { none: null, empty: [] } }
    assert.deepStrictEqual(validate(endpoint, input), Either.right(input))
  })

  it("refuses what a call refuses", () => {
    const refusals = [{ data: NaN }, { "x-thing": "\0" }, { other: 1 }].map((input) =>
      Either.match(validate(endpoint, input), { onLeft: ({ issues }) => issues, onRight: () => [] })
    )
    assert.deepStrictEqual(refusals, [
      [{ path: "data", message: "expected a finite number" }],
      [{ path: "x-thing", message: "expected a valid HTTP header" }],
      [{ path: "other", message: "unknown field" }]
    ])
  })
})

it("the content of a file is none of the texts that messages must not repeat, its name is", () => {
  const contents = [Uint8Array.of(1), Stream.make(Uint8Array.of(1)), Stream.fail("a reason")]
  for (const content of contents) {
    assert.deepStrictEqual(strings({ fields: { file: { name: "a.txt", content } }, headers: Headers.empty }), ["a.txt"])
  }
})
