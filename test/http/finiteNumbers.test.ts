/** Numbers and dates that no request can express: JSON would turn them into `null`, which clears a field. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Errors, IdentityClient, Operation } from "../../src/index.js"
import { File } from "../../src/internal/schema/file.js"
import * as Testing from "../../src/Testing.js"
import { bodyOf, failed, sent, sentOne } from "../support/client.js"

const common = { method: "PUT", scope: "update:things", idempotent: true, error: [Errors.RateLimited] } as const

const save = Operation.make("save", () => ({
  ...common,
  path: "/things",
  query: {
    limit: Schema.optional(Schema.Number),
    limits: Schema.optional(Schema.Array(Schema.Number))
  },
  payload: {
    size: Schema.optional(Schema.NullOr(Schema.Number)),
    sizes: Schema.optional(Schema.Array(Schema.Struct({ size: Schema.Number }))),
    map: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Number })),
    data: Schema.optional(Schema.Unknown)
  }
}))

const replace = Operation.make("replace", () => ({ ...common, path: "/things", body: Schema.Array(Schema.Unknown) }))

const upload = Operation.make("upload", () => ({
  ...common,
  path: "/files",
  multipart: { file: File, limit: Schema.Number }
}))

class Thing {
  readonly size = NaN
}

const shared = { size: NaN }

const message = "expected a finite number"

describe("a number that is not finite is refused by its path, and nothing is sent", () => {
  const refused: ReadonlyArray<readonly [path: string, input: Record<string, unknown>]> = [
    ["size", { size: NaN }],
    ["size", { size: Infinity }],
    ["size", { size: -Infinity }],
    ["sizes[1].size", { sizes: [{ size: 1 }, { size: NaN }] }],
    ["map.a", { map: { b: 1, a: NaN } }],
    ["data", { data: NaN }],
    ["data.list[0][2].size", { data: { none: null, list: [[1, null, { size: Infinity }]] } }],
    ["data.thing.size", { data: { thing: new Thing() } }],
    ["data.thing.inner", { data: { thing: { toJSON: () => ({ inner: NaN }) } } }],
    ["data.a.size", { data: { a: shared, b: shared } }],
    ["limit", { limit: Infinity }],
    ["limits", { limits: [1, NaN] }]
  ]
  for (const [path, input] of refused) {
    it.effect(path, () =>
      Effect.gen(function*() {
        const error = yield* failed(save, input, Testing.reply({}))
        assert.instanceOf(error, Errors.InvalidInput)
        assert.deepStrictEqual((error as Errors.InvalidInput).issues, [{ path, message }])
        assert.lengthOf(yield* sent(save, input), 0)
      }))
  }

  it.effect("in a whole body", () =>
    Effect.gen(function*() {
      const error = yield* failed(replace, { body: [1, { size: NaN }] }, Testing.reply({}))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues, [{ path: "body[1].size", message }])
    }))

  it.effect("and so is an invalid date", () =>
    Effect.gen(function*() {
      const error = yield* failed(save, { data: { dates: [new Date(0), new Date(NaN)] } }, Testing.reply({}))
      const issue = { path: "data.dates[1]", message: "expected a valid date" }
      assert.deepStrictEqual((error as Errors.InvalidInput).issues, [issue])
    }))

  it.effect("and so is a body that has no JSON", () =>
    Effect.gen(function*() {
      const set = Operation.make("set", () => ({ ...common, path: "/things", body: Schema.Unknown }))
      const error = yield* failed(set, { body: () => 1 }, Testing.reply({}))
      const issue = { path: "body", message: "expected a value that JSON can express" }
      assert.deepStrictEqual((error as Errors.InvalidInput).issues, [issue])
    }))

  it.effect("in a form", () =>
    Effect.gen(function*() {
      const call = failed(save, { sizes: [{ size: NaN }] }, Testing.reply({}))
      const error = yield* IdentityClient.withFormBody(call)
      assert.deepStrictEqual((error as Errors.InvalidInput).issues, [{ path: "sizes[0][size]", message }])
    }))

  it.effect("beside a file", () =>
    Effect.gen(function*() {
      const error = yield* failed(upload, { file: { name: "a", content: "" }, limit: NaN }, Testing.reply({}))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues, [{ path: "limit", message }])
    }))
})

it.effect("null, the word null, what says of itself that it is null, dates and finite numbers are sent as they are", () =>
  Effect.gen(function*() {
    const input = { size: null, map: { a: -0.5, b: 1e300 }, data: ["null", null, { none: null }] }
    assert.deepStrictEqual(JSON.parse(bodyOf(yield* sentOne(save, input)) ?? ""), input)
    const data = [new Date(0), { toJSON: () => null }]
    const sentData = { data: ["1970-01-01T00:00:00.000Z", null] }
    assert.deepStrictEqual(JSON.parse(bodyOf(yield* sentOne(save, { data })) ?? ""), sentData)
  }))
