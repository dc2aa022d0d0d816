/** Fields that operations do not declare: what is sent with `IdentityClient.withFields`, and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  createUsersExport,
  Errors,
  getJob,
  IdentityClient,
  listActions,
  Operation,
  redeliverEvent,
  updateTokenExchangeProfile
} from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { bodyOf, failed, sent, sentOne } from "../support/client.js"

const id = "est_1234567890123456789012"

const common = { scope: [], idempotent: true, error: [Errors.BadRequest, Errors.RateLimited] } as const

/** As the published document has it: without the secrets of a webhook. */
const updateStream = Operation.make("updateStream", () => ({
  ...common,
  method: "PATCH",
  path: "/event-streams/:id",
  params: { id: Schema.String },
  payload: {
    name: Schema.optional(Schema.String),
    destination: Schema.optional(Schema.Struct({
      type: Schema.String,
      configuration: Schema.Struct({ webhook_authorization: Schema.Struct({ method: Schema.String }) })
    }))
  },
  minProperties: 1
}))

const putTags = Operation.make("putTags", () => ({ ...common, method: "PUT", path: "/tags", body: Schema.Unknown }))

/** The URL and the JSON of the only request of a call. */
const wireOf = (operation: Parameters<typeof sentOne>[0], input: unknown, fields: IdentityClient.ExtraFields) =>
  Effect.map(IdentityClient.withFields(sentOne(operation, input), fields), (request) => {
    const text = bodyOf(request)
    return [request.url.replace(/^.*\/api\/v2/, ""), text === undefined ? undefined : JSON.parse(text)] as const
  })

const issuesOf = (operation: Parameters<typeof sentOne>[0], input: unknown, fields: IdentityClient.ExtraFields) =>
  Effect.map(
    IdentityClient.withFields(failed(operation, input, Testing.reply({})), fields),
    (error) => (error as Errors.InvalidInput).issues
  )

describe("fields that an operation does not declare", () => {
  it.effect("are merged into the body at any depth, and replace what is no object", () =>
    Effect.gen(function*() {
      const configuration = { webhook_authorization: { method: "bearer" } }
      const input = { id, destination: { type: "webhook", configuration } }
      const before = structuredClone(input)
      const [, body] = yield* wireOf(updateStream, input, {
        body: { destination: { configuration: { webhook_authorization: { token: "s3cret" }, tags: [1] } }, "": null }
      })
      assert.deepStrictEqual(body, {
        destination: {
          type: "webhook",
          configuration: { webhook_authorization: { method: "bearer", token: "s3cret" }, tags: [1] }
        },
        "": null
      })
      assert.deepStrictEqual(input, before)
      const [, replaced] = yield* wireOf(createUsersExport, { fields: [{ name: "a" }], limit: 5 }, {
        body: { fields: ["b"], limit: { a: 1 } }
      })
      assert.deepStrictEqual(replaced, { fields: ["b"], limit: { a: 1 } })
    }))

  it.effect("are appended to the query, and a list repeats its name", () =>
    Effect.gen(function*() {
      const [url] = yield* wireOf(listActions, { page: 1 }, { query: { q: "a b&c", tag: ["x", "y"], page: 2 } })
      assert.strictEqual(url, "/actions/actions?page=2&q=a%20b%26c&tag=x&tag=y")
      const [plain] = yield* wireOf(getJob, { id: "job_1" }, { query: { verbose: true } })
      assert.strictEqual(plain, "/jobs/job_1?verbose=true")
    }))

  it.effect("are the whole body where none is declared or set, and count where one is required", () =>
    Effect.gen(function*() {
      const event = { id, event_id: id }
      assert.deepStrictEqual((yield* wireOf(redeliverEvent, event, { body: { why: "x" } }))[1], { why: "x" })
      assert.deepStrictEqual((yield* wireOf(putTags, {}, { body: { why: "x" } }))[1], { why: "x" })
      assert.deepStrictEqual((yield* wireOf(putTags, { body: { a: 1 } }, { body: { b: 2 } }))[1], { a: 1, b: 2 })
      assert.deepStrictEqual((yield* wireOf(updateTokenExchangeProfile, { id: "tep_1" }, { body: { a: 1 } }))[1], {
        a: 1
      })
    }))

  it.effect("of nested combinators are merged, the innermost last", () =>
    Effect.gen(function*() {
      const inner = IdentityClient.withFields({ body: { a: { x: 1 }, b: 1 } })
      const [request] = yield* sent(createUsersExport, {}).pipe(
        inner,
        IdentityClient.withFields({ body: { a: { x: 2, y: 2 }, c: 2 } })
      )
      assert.deepStrictEqual(JSON.parse(bodyOf(request!)!), { a: { x: 1, y: 2 }, b: 1, c: 2 })
    }))

  it.effect("may have the name __proto__, and pollute nothing", () =>
    Effect.gen(function*() {
      const body = JSON.parse("{\"__proto__\":{\"polluted\":true}}") as { readonly [name: string]: IdentityClient.Json }
      const request = yield* IdentityClient.withFields(sentOne(createUsersExport, {}), { body })
      assert.strictEqual(bodyOf(request), "{\"__proto__\":{\"polluted\":true}}")
      assert.notProperty({}, "polluted")
    }))

  it.effect("that cannot be sent are InvalidInput, and nothing is sent", () =>
    Effect.gen(function*() {
      const cycle: Record<string, unknown> = {}
      cycle["self"] = cycle
      const rows: ReadonlyArray<
        readonly [path: string, operation: Parameters<typeof sentOne>[0], input: unknown, fields: object]
      > = [
        ["withFields.body.a", createUsersExport, {}, { body: { a: Number.NaN } }],
        ["withFields.body.a", createUsersExport, {}, { body: { a: new Set([1]) } }],
        ["withFields", createUsersExport, {}, { body: cycle }],
        ["withFields", createUsersExport, {}, { body: { a: "x".repeat(64 * 1024) } }],
        ["withFields.body", listActions, {}, { body: { a: 1 } }],
        ["withFields.body", putTags, { body: [1] }, { body: { a: 1 } }]
      ]
      for (const [path, operation, input, fields] of rows) {
        assert.deepStrictEqual((yield* issuesOf(operation, input, fields)).map((issue) => issue.path), [path])
        assert.lengthOf(yield* IdentityClient.withFields(sent(operation, input), fields), 0)
      }
    }))

  it.effect("that are cyclic are InvalidInput, also where two such are merged", () =>
    Effect.gen(function*() {
      const cycles = [0, 1].map(() => {
        const cycle: Record<string, unknown> = {}
        return Object.assign(cycle, { a: cycle, b: cycle })
      })
      const [one, other] = cycles.map((cycle) => ({ body: { cycle } as never }))
      const error = yield* failed(createUsersExport, {}, Testing.reply({})).pipe(
        IdentityClient.withFields(one!),
        IdentityClient.withFields(other!),
        IdentityClient.withFields({ query: { a: "b" } })
      )
      assert.deepInclude((error as Errors.InvalidInput).issues[0], { path: "withFields" })
    }))

  it.effect("are hidden in messages, as the input is", () =>
    Effect.gen(function*() {
      const error = yield* IdentityClient.withFields(
        failed(createUsersExport, {}, Testing.reply({ status: 400, body: { message: "bad token s3cret-value" } })),
        { body: { token: "s3cret-value" }, query: { q: "other" } }
      )
      assert.deepInclude(error, { _tag: "BadRequest", message: "createUsersExport: bad token …" })
    }))

  it.effect("may be sent as a form", () =>
    Effect.gen(function*() {
      const request = yield* sentOne(createUsersExport, { format: "csv" }).pipe(
        IdentityClient.withFormBody,
        IdentityClient.withFields({ body: { a: { b: 1 } } })
      )
      assert.strictEqual(bodyOf(request), "format=csv&a%5Bb%5D=1")
    }))
})
