/** Values that a request cannot carry as the caller gives them: JSON and forms would silently send something else. */
import { assert, describe, it } from "@effect/vitest"
import { Data, DateTime, Effect, Option, Redacted, Schema } from "effect"
import { Errors, IdentityClient, Operation } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { bodyOf, failed, sent, sentOne } from "../support/client.js"

const common = { scope: "update:things", idempotent: true, error: [Errors.RateLimited] } as const

const save = Operation.make("save", () => ({
  ...common,
  method: "PUT",
  path: "/things",
  payload: {
    password: Schema.optional(Schema.RedactedFromSelf(Schema.String)),
    tags: Schema.optional(Schema.declare((value): value is ReadonlySet<string> => value instanceof Set)),
    data: Schema.optional(Schema.Unknown)
  }
}))

const replace = Operation.make("replace", () => ({ ...common, method: "PUT", path: "/things", body: Schema.Unknown }))

const find = Operation.make("find", () => ({
  ...common,
  method: "GET",
  path: "/things",
  query: { where: Schema.optional(Schema.Unknown) }
}))

class Thing {
  readonly name = "a"
}

const refused: ReadonlyArray<readonly [title: string, value: unknown]> = [
  ["a Redacted", Redacted.make("hunter22hunter")],
  ["a Map", new Map([["a", 1]])],
  ["a Set", new Set(["a"])],
  ["a RegExp", /a/],
  ["an Error", Object.assign(new Error("a"), { code: "b" })],
  ["bytes", new Uint8Array([1, 2])],
  ["a buffer", new ArrayBuffer(2)],
  ["a Promise", Promise.resolve(1)],
  ["a function", () => 1],
  ["a symbol", Symbol("a")],
  ["an Option", Option.some("a")],
  ["an object whose toJSON gives nothing", { toJSON: () => undefined }],
  ["an object whose toJSON gives a Set", { toJSON: () => new Set() }]
]

describe("is refused by its path, and nothing is sent", () => {
  const issues = (error: unknown) => error instanceof Errors.InvalidInput ? error.issues : error
  const message = "expected a value that JSON can express"

  for (const [title, value] of refused) {
    it.effect(`${title} in JSON`, () =>
      Effect.gen(function*() {
        const input = { data: { list: [1, { inner: value }] } }
        const error = yield* failed(save, input, Testing.reply({}))
        assert.deepStrictEqual(issues(error), [{ path: "data.list[1].inner", message }])
        assert.lengthOf(yield* sent(save, input), 0)
      }))

    it.effect(`${title} as a whole body`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(issues(yield* failed(replace, { body: value }, Testing.reply({}))), [
          { path: "body", message }
        ])
      }))

    it.effect(`${title} in a form, and in a query`, () =>
      Effect.gen(function*() {
        const message = "expected a value that a form or a query can express"
        const form = IdentityClient.withFormBody(failed(save, { data: { a: [value] } }, Testing.reply({})))
        assert.deepStrictEqual(issues(yield* form), [{ path: "data[a][0]", message }])
        for (const [where, path] of [[{ a: value }, "where[a]"], [["a", value], "where"]] as const) {
          assert.deepStrictEqual(issues(yield* failed(find, { where }, Testing.reply({}))), [{ path, message }])
        }
      }))
  }

  it.effect("a value of a schema that no request can carry", () =>
    Effect.gen(function*() {
      for (const input of [{ password: Redacted.make("hunter22hunter") }, { tags: new Set(["a"]) }]) {
        const [path = ""] = Object.keys(input)
        assert.deepStrictEqual(issues(yield* failed(save, input, Testing.reply({}))), [{ path, message }])
      }
    }))

  it.effect("what JSON would turn into null in a list: undefined, and a hole", () =>
    Effect.gen(function*() {
      for (const list of [["a", undefined], Object.assign(["a"], { length: 2 })]) {
        assert.deepStrictEqual(issues(yield* failed(save, { data: { list } }, Testing.reply({}))), [
          { path: "data.list[1]", message }
        ])
      }
    }))

  it.effect("what is closest to the root first", () =>
    Effect.gen(function*() {
      const data = { deep: { value: Infinity }, list: [1, NaN], flat: NaN }
      assert.deepStrictEqual(issues(yield* failed(save, { data }, Testing.reply({}))), [
        { path: "data.flat", message: "expected a finite number" }
      ])
    }))

  it.effect("a date, a URL and a time in a form, whose fields would be sent in their place", () =>
    Effect.gen(function*() {
      const message = "expected a value that a form or a query can express"
      for (const value of [new Date(0), new URL("https://a.example"), DateTime.unsafeMake(0)]) {
        const error = yield* IdentityClient.withFormBody(failed(save, { data: { a: value } }, Testing.reply({})))
        assert.deepStrictEqual(issues(error), [{ path: "data[a]", message }])
      }
    }))
})

it.effect("objects are sent as their toJSON gives or as their fields, without those that are undefined", () =>
  Effect.gen(function*() {
    const data = {
      plain: Data.struct({ a: 1 }),
      bare: Object.assign(Object.create(null), { a: 1 }),
      thing: new Thing(),
      date: new Date(0),
      url: new URL("https://a.example/b"),
      money: { toJSON: () => ({ amount: 1, unit: { toJSON: () => null } }) },
      time: DateTime.unsafeMake(0),
      zoned: DateTime.unsafeMakeZoned(0, { timeZone: "Europe/Rome" }),
      none: undefined
    }
    assert.deepStrictEqual(JSON.parse(bodyOf(yield* sentOne(save, { data })) ?? ""), {
      data: {
        plain: { a: 1 },
        bare: { a: 1 },
        thing: { name: "a" },
        date: "1970-01-01T00:00:00.000Z",
        url: "https://a.example/b",
        money: { amount: 1, unit: null },
        time: "1970-01-01T00:00:00.000Z",
        zoned: "1970-01-01T00:00:00.000Z"
      }
    })
    const form = yield* IdentityClient.withFormBody(sentOne(save, { data: { thing: new Thing(), none: undefined } }))
    assert.strictEqual(decodeURIComponent(bodyOf(form) ?? ""), "data[thing][name]=a")
  }))
