/** What a response may be beyond its declaration: new kinds of objects, bodies that are not described, fields of other types. */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import { Cause, Effect, Inspectable, Redacted, Schema, Stream } from "effect"
import { Errors, Operation, Pagination } from "../../src/index.js"
import { DriftDetector } from "../../src/internal/schema/drift.js"
import * as Schemas from "../../src/Schemas.js"
import type { Reply } from "../../src/Testing.js"
import { scripted } from "../support/client.js"

const json = (status: number, body: unknown) => ({
  status,
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" }
})

const Basic = Schema.Struct({ method: Schema.Literal("basic"), username: Schema.String })
const Bearer = Schema.Struct({ method: Schema.Literal("bearer") })
const Authorization = Schemas.openUnion(["method"], Basic, Bearer)
const Hook = Schema.Struct({ id: Schema.String, authorization: Schemas.omittable(Authorization) })

const failures = [Errors.BadRequest, Errors.NotFound, Errors.RateLimited] as const

const listHooks = Operation.make("listHooks", () => ({
  method: "GET",
  path: "/hooks",
  query: { from: Schema.optional(Schema.String), take: Schema.optional(Schema.Number) },
  success: Schema.Struct({ hooks: Schema.Array(Hook), next: Schemas.omittable(Schema.String) }),
  items: "hooks",
  paging: "checkpoint",
  scope: "read:hooks",
  idempotent: true,
  error: failures
}))

const createHook = Operation.make("createHook", () => ({
  method: "POST",
  path: "/hooks",
  payload: { name: Schema.String },
  success: Hook,
  scope: "create:hooks",
  idempotent: false,
  error: failures
}))

const createRule = Operation.make("createRule", () => ({
  method: "POST",
  path: "/rules",
  success: Schema.Unknown,
  scope: "create:rules",
  idempotent: false,
  error: failures
}))

describe("a union that may grow", () => {
  const page = {
    hooks: [{ id: "a", authorization: { method: "basic", username: "u" } }, {
      id: "b",
      authorization: { method: "custom_header", header: "x" }
    }]
  }

  it.effect("has objects of kinds that are not known, and a page of them is a value", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual<unknown>(yield* listHooks({}), page)
    }).pipe(Effect.provide(scripted(json(200, page)))))

  it("is told apart by its tags, and what is not known can be read field by field", () => {
    const describe = (authorization: Schema.Schema.Type<typeof Authorization>): string => {
      switch (authorization.method) {
        case "basic":
          return authorization.username
        case "bearer":
          return "bearer"
        default:
          return `${String(authorization.method)}: ${String(authorization["header"])}`
      }
    }
    const decode = Schema.decodeUnknownSync(Authorization)
    assert.strictEqual(describe(decode({ method: "basic", username: "u" })), "u")
    assert.strictEqual(describe(decode({ method: "custom_header", header: "x" })), "custom_header: x")
  })

  it.effect("checks the objects that it knows, and needs the tag", () =>
    Effect.forEach([{ method: "basic" }, { method: 1 }, {}], (authorization) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(listHooks({}))
        assert.strictEqual(error._tag, "UnexpectedResponse")
      }).pipe(Effect.provide(scripted(json(200, { hooks: [{ id: "a", authorization }] }))))))

  it("tells objects apart by several tags together", () => {
    const tagged = <Type extends string, Action extends string>(type: Type, action: Action) =>
      Schema.Struct({ type: Schema.Literal(type), action: Schema.Literal(action), id: Schema.String })
    const Message = Schemas.openUnion(
      ["type", "action"],
      tagged("mail", "send"),
      tagged("mail", "read"),
      tagged("chat", "send")
    )
    const is = Schema.is(Message)
    // One tag may be known without the others, so it tells nothing about them.
    const actionOf = (message: Schema.Schema.Type<typeof Message>) => message.type === "mail" ? message.action : ""
    expectTypeOf(actionOf).returns.toEqualTypeOf<string>()
    assert.isTrue(is({ type: "mail", action: "send", id: "1" }))
    assert.isFalse(is({ type: "mail", action: "send" }))
    assert.isTrue(is({ type: "chat", action: "read" }))
    assert.isTrue(is({ type: "fax", action: "send" }))
  })

  it("counts an unknown tag and further fields as drift, without their content", () => {
    const found: Array<readonly [string, string | undefined]> = []
    const detector = new DriftDetector(Hook, (path, value) => void found.push([path, value]))
    detector.inspect({ id: "a", authorization: { method: "custom_header", secret: "hidden" } }, 0, () => [])
    assert.deepStrictEqual(found, [["authorization.method", "custom_header"], ["authorization.secret", undefined]])
  })
})

describe("a body that is not described", () => {
  const cases: ReadonlyArray<readonly [title: string, reply: Reply, value: unknown]> = [
    ["is its JSON", json(201, { id: "acl_1" }), { id: "acl_1" }],
    ["may be a list", json(200, [1]), [1]],
    ["may be missing", { status: 204, headers: {}, body: "" }, undefined],
    [
      "may be empty though it is labelled JSON",
      { status: 204, body: "", headers: { "content-type": "application/json" } },
      undefined
    ],
    [
      "may be no JSON, which is left out",
      { status: 200, body: "OK", headers: { "content-type": "text/plain" } },
      undefined
    ]
  ]
  for (const [title, reply, value] of cases) {
    it.effect(title, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* createRule({}), value)
      }).pipe(Effect.provide(scripted(reply))))
  }

  it.effect("is no web page, which is a proxy's", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(createRule({}))
      assert.strictEqual(error._tag, "UnexpectedResponse")
      if (error._tag !== "UnexpectedResponse") return
      assert.deepStrictEqual([error.reason, error.outcome], ["html", "unknown"])
    }).pipe(Effect.provide(scripted({ status: 200, body: "<html>", headers: { "content-type": "text/html" } }))))
})

describe("a response that cannot be used", () => {
  const failureOf = (reply: Reply) => Effect.flip(createHook({ name: "n" })).pipe(Effect.provide(scripted(reply)))

  it.effect("says that the change was carried out, and has the value", () =>
    Effect.gen(function*() {
      const error = yield* failureOf(json(201, { id: 1, token: "averysecrettoken" }))
      assert.strictEqual(error._tag, "UnexpectedResponse")
      if (error._tag !== "UnexpectedResponse") return
      assert.strictEqual(error.outcome, "done")
      assert.deepStrictEqual(error.value && Redacted.value(error.value), { id: 1, token: "averysecrettoken" })
      assert.strictEqual(
        error.message,
        "createHook: status 201 from tenant.example.com: the change was carried out, but its response cannot be used: unexpected response body at id: expected a string"
      )
      const texts = [
        String(error),
        JSON.stringify(error),
        Inspectable.toStringUnknown(error),
        Cause.pretty(Cause.fail(error))
      ]
      assert.notInclude(texts.join(), "averysecrettoken")
    }))

  const cases: ReadonlyArray<readonly [title: string, reply: Reply, outcome: string]> = [
    ["an undeclared refusal", json(422, {}), "not-done"],
    ["a failure of the service", json(500, {}), "unknown"],
    ["a request that took the service too long", json(408, {}), "unknown"],
    ["a proxy's text", { status: 200, body: "hello", headers: { "content-type": "text/plain" } }, "unknown"],
    ["JSON that is cut off", { status: 200, body: "{\"id\"", headers: { "content-type": "application/json" } }, "done"],
    ["a redirect", { status: 302, headers: {}, body: "" }, "unknown"]
  ]
  for (const [title, reply, outcome] of cases) {
    it.effect(`has an outcome: ${title} is ${outcome}`, () =>
      Effect.gen(function*() {
        const error = yield* failureOf(reply)
        assert.strictEqual(error._tag, "UnexpectedResponse")
        if (error._tag === "UnexpectedResponse") assert.strictEqual(error.outcome, outcome)
      }))
  }

  it.effect("changed nothing if the call was a GET", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(listHooks({}))
      assert.strictEqual(error._tag, "UnexpectedResponse")
      if (error._tag === "UnexpectedResponse") assert.strictEqual(error.outcome, "not-done")
    }).pipe(Effect.provide(scripted(json(200, { hooks: 1 })))))
})

describe("lenient responses", () => {
  const lenient = Operation.make("listHooks", () => ({
    method: "GET",
    path: "/hooks",
    query: { from: Schema.optional(Schema.String), take: Schema.optional(Schema.Number) },
    success: Schema.Struct({ hooks: Schema.Array(Hook), next: Schemas.omittable(Schema.String) }),
    items: "hooks",
    paging: "checkpoint",
    responses: "lenient",
    scope: "read:hooks",
    idempotent: true,
    error: failures
  }))
  const odd = { hooks: [{ id: 1, authorization: null }, { authorization: { method: "basic" } }, { id: "c" }] }
  const kept = { hooks: [{ id: 1 }, { authorization: { method: "basic" } }, { id: "c" }] }

  it.effect("keep fields of other types, and do without those that are missing", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual<unknown>(yield* lenient({}), kept)
    }).pipe(Effect.provide(scripted(json(200, odd)))))

  it.effect("let a listing go on after an odd item", () =>
    Effect.gen(function*() {
      const items = yield* Stream.runCollect(Pagination.stream(lenient, {}))
      assert.deepStrictEqual<unknown>([...items], kept.hooks)
    }).pipe(Effect.provide(scripted(json(200, odd)))))

  for (const body of [{}, { hooks: "none" }, "text", 1, null]) {
    it.effect(`need the list of a page: ${JSON.stringify(body)} fails`, () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(lenient({})))._tag, "UnexpectedResponse")
      }).pipe(Effect.provide(scripted(json(200, body)))))
  }

  it("count what differs as drift, without its content", () => {
    const found: Array<string> = []
    const detector = new DriftDetector(Hook, (path, value) => void found.push(`${path}=${value}`), true)
    detector.inspect({ id: 7, authorization: { method: "basic" } }, 0, () => [])
    detector.inspect({ authorization: "secret" }, 1000, () => [])
    assert.deepStrictEqual(found, [
      "id=(another type)",
      "authorization=(another type)",
      "id=(missing)"
    ])
  })
})
