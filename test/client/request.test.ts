/** Tests of calls without a declaration: what is sent, what comes back, and how failures, retries and names are those of other calls. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Schema, TestClock } from "effect"
import { Errors, IdentityClient, RateLimiter } from "../../src/index.js"
import * as Node from "../../src/Node.js"
import * as Tenant from "../../src/Tenant.js"
import * as Testing from "../../src/Testing.js"
import { baseUrl, bearer, scripted } from "../support/client.js"
import { rawServer } from "../support/rawServer.js"
import { recorded } from "../support/telemetry.js"

const { request } = IdentityClient

const sent = (options: IdentityClient.Request) =>
  request(options).pipe(
    Effect.zipRight(Testing.requests),
    Effect.map(([sent]) => sent),
    Effect.provide(scripted(Testing.reply({ body: {} })))
  )

describe("request", () => {
  it.effect("sends method, path, query and body, with a token", () =>
    Effect.gen(function*() {
      const found = yield* sent({
        method: "PATCH",
        path: "/organizations/:id/members",
        params: { id: "org/1|a" },
        query: { per_page: 5, include: ["a", "b"], none: undefined },
        body: { members: [1], note: null }
      })
      assert.deepStrictEqual([found?.method, found?.url.replace(/^.*\/api\/v2/, "")], [
        "PATCH",
        "/organizations/org%2F1%7Ca/members?per_page=5&include=a&include=b"
      ])
      assert.match(found?.headers["authorization"] ?? "", /^Bearer /)
      const text = found?.body._tag === "Uint8Array" ? new TextDecoder().decode(found.body.body) : ""
      assert.deepStrictEqual(JSON.parse(text), { members: [1], note: null })
    }))

  it.effect("gives the JSON of the response, undefined if it has none, or what a schema accepts", () =>
    Effect.gen(function*() {
      const reply = (body?: object) => scripted(Testing.reply(body === undefined ? { status: 204 } : { body }))
      const get = { method: "GET", path: "/users/auth0%7C1" } as const
      assert.deepStrictEqual(yield* Effect.provide(request(get), reply({ a: 1 })), { a: 1 })
      assert.strictEqual(yield* Effect.provide(request({ ...get, method: "DELETE" }), reply()), undefined)
      const response = Schema.Struct({ name: Schema.String })
      const named: { readonly name: string } = yield* Effect.provide(
        request({ ...get, response }),
        reply({ name: "a" })
      )
      assert.deepStrictEqual(named, { name: "a" })
      const error = yield* Effect.flip(Effect.provide(request({ ...get, response }), reply({ name: 1 })))
      assert.deepInclude(error, { _tag: "UnexpectedResponse", operation: "GET /users/:id", reason: "schema" })
    }))

  it.effect("fails with the class of the status, and hides the input in its message", () =>
    Effect.gen(function*() {
      const tags: Array<string> = []
      for (const status of [400, 402, 403, 404, 409, 410, 412, 413, 418]) {
        const network = scripted(Testing.reply({ status, body: { message: "No secret-of-mine" } }))
        const call = request({
          method: "POST",
          path: "/clients",
          body: { name: "secret-of-mine" },
          scope: "create:clients"
        })
        const error = yield* Effect.flip(Effect.provide(call, network))
        assert.notInclude(error.message, "secret-of-mine")
        assert.include(error.message, "POST /clients: ")
        tags.push(error._tag)
      }
      assert.deepStrictEqual(tags, [
        "BadRequest",
        "PaymentRequired",
        "Forbidden",
        "NotFound",
        "Conflict",
        "Gone",
        "PreconditionFailed",
        "ContentTooLarge",
        "UnexpectedResponse"
      ])
    }))

  it.effect("is retried by its method, or as the caller says", () =>
    Effect.gen(function*() {
      const attempts = (options: Pick<IdentityClient.Request, "method" | "idempotent">) =>
        Effect.fork(Effect.ignore(request({ ...options, path: "/actions/triggers/:id", params: { id: "a" } }))).pipe(
          Effect.zipLeft(TestClock.adjust("1 minute")),
          Effect.flatMap(Fiber.join),
          Effect.zipRight(Testing.requests),
          Effect.map(({ length }) => length),
          Effect.provide(scripted(...Array.from({ length: 4 }, () => Testing.reply({ status: 500 }))))
        )
      const rows = [
        ["GET", undefined, 4],
        ["PUT", undefined, 4],
        ["DELETE", undefined, 4],
        ["POST", undefined, 1],
        ["PATCH", undefined, 1],
        ["POST", true, 4],
        ["GET", false, 1]
      ] as const
      for (const [method, idempotent, expected] of rows) {
        assert.strictEqual(yield* attempts({ method, idempotent }), expected, `${method} ${idempotent}`)
      }
    }))

  it.effect("refuses a path that would become another one, a missing parameter, and the body of a GET", () =>
    Effect.gen(function*() {
      const issues = (options: IdentityClient.Request) =>
        Effect.flip(request(options)).pipe(
          Effect.map((error) => error instanceof Errors.InvalidInput ? error.issues.map(({ path }) => path) : error),
          Effect.provide(scripted())
        )
      const bad = [
        "/users/../clients",
        "/users/%2e%2E/a",
        "/users//a",
        "/a?b=c",
        "/a#b",
        "/a b",
        "/a\\b",
        "/ä",
        "/a/%zz",
        "/"
      ]
      for (const path of bad) {
        assert.deepStrictEqual(yield* issues({ method: "GET", path: path as "/" }), ["path"], path)
      }
      assert.deepStrictEqual(yield* issues({ method: "GET", path: "/users/:id" }), ["id"])
      assert.deepStrictEqual(yield* issues({ method: "GET", path: "/users/:id", params: { id: ".." } }), ["id"])
      assert.deepStrictEqual(yield* issues({ method: "GET", path: "/users", params: { id: "a" } }), ["id"])
      assert.deepStrictEqual(yield* issues({ method: "POST", path: "/users", params: { body: "a" } }), ["params.body"])
      assert.deepStrictEqual(yield* issues({ method: "GET", path: "/users/auth0%7C1", params: { id: "a" } }), [
        "params.id"
      ])
      assert.deepStrictEqual(yield* issues({ method: "post" as "POST", path: "/users" }), ["method"])
      assert.deepStrictEqual(yield* issues({ method: "GET", path: "/users", body: {} }), ["body"])
      assert.deepStrictEqual(yield* issues({ method: "POST", path: "/users", body: new Set() }), ["body"])
    }))

  it.effect("names calls without their ids", () =>
    Effect.gen(function*() {
      const names: Array<string> = []
      for (
        const path of [
          "/users/auth0%7Cabc",
          "/actions/actions/6f1c/versions",
          "/users/:user/roles",
          "/stats/daily"
        ] as const
      ) {
        const error = yield* Effect.flip(Effect.provide(
          request({ method: "GET", path, params: path.includes(":user") ? { user: "a" } : {} }),
          scripted(Testing.reply({ status: 404 }))
        ))
        names.push(error.operation)
      }
      assert.deepStrictEqual(names, [
        "GET /users/:id",
        "GET /actions/actions/:id/versions",
        "GET /users/:user/roles",
        "GET /stats/daily"
      ])
    }))

  it.effect("hides ids of the path where it hides those of params: in messages and on spans", () =>
    Effect.gen(function*() {
      const id = "auth0%7Cjane.doe@example.com"
      const network = scripted(Testing.reply({ status: 404, body: { message: "no user auth0|jane.doe@example.com" } }))
      const messages: Array<string> = []
      const spans = yield* request({ method: "GET", path: `/users/${id}/roles` }).pipe(
        Effect.tapError(({ message }) => Effect.sync(() => messages.push(message))),
        Effect.provide(network),
        recorded
      )
      assert.deepStrictEqual(messages, ["GET /users/:id/roles: no user …"])
      assert.notInclude(JSON.stringify(spans.map(({ attributes, name }) => [name, ...attributes])), "jane")
      assert.deepStrictEqual(spans.map(({ name }) => name), [
        "identity.GET /users/:id/roles",
        "GET /api/v2/users/{id}/roles"
      ])
      const found = yield* sent({ method: "GET", path: `/users/${id}/organizations/:id`, params: { id: "org_1" } })
      assert.match(found?.url ?? "", /\/users\/auth0%7Cjane\.doe%40example\.com\/organizations\/org_1$/)
    }))

  it.live("fails if the response is cut off or too large, as a declared call does", () =>
    Effect.gen(function*() {
      const { url } = yield* rawServer((_, socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"half\": true")
        setTimeout(() => socket.resetAndDestroy(), 20)
      })
      const cut = IdentityClient.layer({ baseUrl: url, retry: { attempts: 1 } }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, bearer, Node.layerHttpClient])
      )
      const error = yield* Effect.flip(Effect.provide(request({ method: "GET", path: "/users" }), cut))
      assert.deepInclude(error, { _tag: "TransportError", operation: "GET /users" })
      const small = IdentityClient.layer({ baseUrl, maxBodySize: 10 }).pipe(
        Layer.provide([
          RateLimiter.layerUnlimited,
          bearer,
          Testing.layerHttp(Testing.reply({ body: { a: "0123456789" } }))
        ])
      )
      const large = yield* Effect.flip(Effect.provide(request({ method: "GET", path: "/users" }), small))
      assert.deepInclude(large, { _tag: "UnexpectedResponse", reason: "size" })
    }).pipe(Effect.scoped))

  it("has a type for its response only with a schema", () => {
    const get = { method: "GET", path: "/users" } as const
    // @ts-expect-error: nothing says what the response is
    const claimed = (): Effect.Effect<{ readonly name: string }, unknown, IdentityClient.IdentityClient> => request(get)
    const response = Schema.Struct({ name: Schema.String })
    const typed = (): Effect.Effect<{ readonly name: string }, unknown, IdentityClient.IdentityClient> =>
      request({ ...get, response })
    assert.deepStrictEqual([typeof claimed, typeof typed], ["function", "function"])
  })

  it.effect("shares what is reported once with other calls of its shape", () =>
    Effect.gen(function*() {
      const waits: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void waits.push(String(message)))
      const replies = Array.from({ length: 20 }, () => Testing.reply({ status: 503, headers: { "retry-after": "20" } }))
      const calls = Effect.forEach(
        Array.from({ length: 5 }, (_, nth) => nth),
        (nth) => Effect.ignore(request({ method: "GET", path: `/users/auth0%7C${nth}` })),
        { concurrency: "unbounded", discard: true }
      )
      const logged = Effect.provide(
        calls,
        Layer.merge(scripted(...replies), Logger.replace(Logger.defaultLogger, logger))
      )
      const fiber = yield* Effect.fork(logged)
      yield* TestClock.adjust("10 minutes")
      yield* Fiber.join(fiber)
      assert.lengthOf(waits.filter((text) => text.includes("retrying in 20 s")), 1)
    }))

  it.effect("reaches the embedded tenant as its declared operation does", () =>
    Effect.gen(function*() {
      const { actions: [action] } = Tenant.demo
      const found = yield* request({ method: "GET", path: "/actions/actions/:id", params: { id: action.id } })
      assert.deepInclude(found, { id: action.id })
      const [, last] = yield* Effect.flatMap(Tenant.Tenant, ({ requests }) => requests)
      assert.deepInclude(last, { operation: "getAction", status: 200 })
    }).pipe(Effect.provide(Tenant.layerClient), Effect.provide(Tenant.layer)))
})
