/** Tests of the application: every operation authenticates, validates and reports alike. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"
import { scopesOf } from "../../../src/Endpoint.js"
import * as Tenant from "../../../src/Tenant.js"
import {
  action,
  call,
  endpoints,
  fillPath,
  host,
  itInProcess,
  largeBuckets,
  send,
  tokenOf,
  validCalls
} from "../support/calls.js"

const { demoClients } = Tenant

describe("every operation", () => {
  for (const endpoint of endpoints) {
    const { status, ...sent } = validCalls[endpoint.name]!

    itInProcess(`${endpoint.name} succeeds with only its own scope`, () =>
      Effect.gen(function*() {
        const response = yield* call(endpoint, sent, { ...demoClients.full, id: "only" })
        assert.strictEqual(response.status, status)
        assert.isTrue(endpoint.success === undefined || Schema.is(endpoint.success)(response.json))
      }), { clients: [{ ...demoClients.full, id: "only", scopes: scopesOf(endpoint) }] })

    itInProcess(
      `${endpoint.name} is refused without its scope, and the response names it`,
      () =>
        Effect.gen(function*() {
          const response = yield* call(endpoint, sent)
          assert.strictEqual(response.status, 403)
          assert.deepStrictEqual(response.json, {
            statusCode: 403,
            error: "Forbidden",
            message: `Insufficient scope, expected any of: ${scopesOf(endpoint).join(", ")}`,
            errorCode: "insufficient_scope"
          })
        }),
      { clients: [{ ...demoClients.full, scopes: ["read:nothing"] }] }
    )

    itInProcess(
      `${endpoint.name} is refused without a token, and with one that is not a JWT`,
      () =>
        Effect.gen(function*() {
          for (const headers of [{}, { authorization: "" }]) {
            const missing = yield* send(endpoint, { ...sent, headers })
            assert.deepStrictEqual([missing.status, missing.json.message], [401, "Missing authentication"])
          }
          for (
            const authorization of [
              "Bearer abc",
              "Bearer a.b",
              "Basic a.b.c",
              "Bearer",
              "Bearer a.b.c d",
              "No bearer a.b.c"
            ]
          ) {
            const bad = yield* send(endpoint, { ...sent, headers: { authorization } })
            assert.deepStrictEqual(
              [bad.status, bad.json.message, bad.json.errorCode],
              [400, "Bad HTTP authentication header format", "Bearer"]
            )
          }
        }),
      { buckets: largeBuckets }
    )

    itInProcess(
      `${endpoint.name} is refused with a token that the tenant has not signed`,
      () =>
        Effect.gen(function*() {
          const token = yield* tokenOf()
          const other = yield* Effect.provide(
            tokenOf(),
            Layer.provide(Layer.fresh(Tenant.layerHttpClient), Tenant.layer)
          )
          for (
            const [bad, message] of [[other, /^Invalid signature/], ["a.b.c", /^Invalid token$/], [
              `${token}A`,
              /^Invalid/
            ]] as const
          ) {
            const response = yield* send(endpoint, { ...sent, token: bad })
            assert.strictEqual(response.status, 401)
            assert.match(response.json.message, message)
            assert.deepStrictEqual(response.json.attributes, { error: response.json.message })
          }
        })
    )

    itInProcess(
      `${endpoint.name} is refused with an expired token, but not a second earlier`,
      () =>
        Effect.gen(function*() {
          const token = yield* tokenOf()
          yield* TestClock.adjust("86399 seconds")
          assert.strictEqual((yield* send(endpoint, { ...sent, token })).status, status)
          yield* TestClock.adjust("1 second")
          const response = yield* send(endpoint, { ...sent, token })
          assert.strictEqual(response.status, 401)
          assert.match(response.json.message, /^Expired token received/)
        })
    )

    itInProcess(
      `${endpoint.name} is refused with a revoked token, and accepted with the next`,
      () =>
        Effect.gen(function*() {
          const tenant = yield* Tenant.Tenant
          const token = yield* tokenOf()
          yield* tenant.revokeTokens
          const response = yield* send(endpoint, { ...sent, token })
          assert.deepStrictEqual([response.status, response.json.message], [401, "Invalid token"])
          assert.strictEqual((yield* call(endpoint, sent)).status, status)
        })
    )

    itInProcess(`${endpoint.name} reports its bucket and the date in every response`, () =>
      Effect.gen(function*() {
        const token = yield* tokenOf()
        for (const headers of [{ authorization: `Bearer ${token}` }, {}, { authorization: "x" }]) {
          const response = yield* send(endpoint, { ...sent, headers })
          for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
            assert.match(response.headers[name]!, /^\d+$/)
          }
          assert.strictEqual(response.headers["date"], "Thu, 01 Jan 1970 00:00:00 GMT")
        }
      }))

    if (endpoint.payload !== undefined) {
      itInProcess(
        `${endpoint.name} takes an empty body of any content type for one without fields`,
        () =>
          Effect.gen(function*() {
            const token = yield* tokenOf()
            const statusOf = (body: HttpBody.HttpBody) =>
              Effect.map(
                HttpClient.execute(
                  HttpClientRequest.make(endpoint.method)(`${host}/api/v2${fillPath(endpoint.path, sent.params)}`, {
                    headers: { authorization: `Bearer ${token}` },
                    body
                  })
                ),
                ({ status }) => status === 400
              )
            const isRefused = yield* statusOf(HttpBody.text("{}", "application/json"))
            const empty = ["application/json", "application/x-www-form-urlencoded", "text/plain"]
              .map((type) => HttpBody.text("", type))
            for (const body of [HttpBody.empty, ...empty]) assert.strictEqual(yield* statusOf(body), isRefused)
          })
      )

      itInProcess(`${endpoint.name} refuses invalid bodies of any content type`, () =>
        Effect.gen(function*() {
          const token = yield* tokenOf()
          for (
            const [contentType, text, message] of [
              ["application/json", "{", "'The body is not valid JSON'"],
              ["Application/JSON ;charset=utf-8", "{", "'The body is not valid JSON'"],
              ["application/json", "[]", "'Expected an object'"],
              [
                "application/json",
                `{"a":${"[".repeat(500)}${"]".repeat(500)}}`,
                "'The body is nested too deeply: it may have at most 500 levels'"
              ],
              ["application/json", "null", "'Expected an object'"],
              ["text/plain", "{}", "'The content type text/plain is not supported'"],
              ["application/x-www-form-urlencoded", "nobody=1", "'unknown field' on property nobody"],
              ["application/x-www-form-urlencoded", "__proto__[a]=1", "'unknown field' on property __proto__"],
              ["application/json; charset=utf-8", "{\"__proto__\":{\"a\":1}}", "'unknown field' on property __proto__"]
            ] as const
          ) {
            const response = yield* HttpClient.execute(
              HttpClientRequest.make(endpoint.method)(`${host}/api/v2${fillPath(endpoint.path, sent.params)}`, {
                headers: { authorization: `Bearer ${token}` },
                body: contentType === undefined ? HttpBody.empty : HttpBody.text(text, contentType)
              })
            )
            assert.strictEqual(response.status, 400, `${contentType} ${text}`)
            assert.deepStrictEqual(yield* response.json, {
              statusCode: 400,
              error: "Bad Request",
              message: `Payload validation error: ${message}`,
              errorCode: "invalid_body"
            })
          }
        }), { buckets: largeBuckets })
    }
  }

  itInProcess("is matched by its exact path; all others give a 404", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      const get = (path: string) => HttpClient.get(`${host}${path}`, { headers: { authorization: `Bearer ${token}` } })
      const unknown = yield* get("/api/v2/nothing")
      assert.strictEqual(unknown.status, 404)
      assert.strictEqual(unknown.headers["x-ratelimit-remaining"], "49")
      assert.deepStrictEqual(yield* unknown.json, { statusCode: 404, error: "Not Found", message: "Not Found" })
      for (const path of ["/", "/nothing", "/API/v2/jobs", "/api/v20", "/api/v2"]) {
        const { headers, status } = yield* get(path)
        assert.deepStrictEqual([status, headers["x-ratelimit-remaining"]], [404, undefined])
      }
      const versions = `actions/actions/${action.id}/versions`
      for (const [path, remaining] of [[`/api/v2/${versions}/`, "48"], [`/api/v2//${versions}`, "47"]] as const) {
        const { headers, status } = yield* get(path)
        assert.deepStrictEqual([status, headers["x-ratelimit-remaining"]], [404, remaining])
      }
    }))

  it("is listed in the routes, and so are both token paths", () => {
    assert.deepStrictEqual(
      Tenant.routes.map(({ method, operation, path, scopes }) => [operation, method, path, scopes]),
      [
        ...endpoints.map((endpoint) => [endpoint.name, endpoint.method, `/api/v2${endpoint.path}`, scopesOf(endpoint)]),
        ["token", "POST", "/oauth/token/", []],
        ["token", "POST", "/oauth/token", []]
      ]
    )
  })
})

it.effect("a program without a tenant fails with the name of the missing service", () =>
  Effect.gen(function*() {
    const withoutTenant = Effect.asVoid(Tenant.Tenant) as Effect.Effect<void> // the compiler would refuse it
    const cause = yield* Effect.sandbox(withoutTenant).pipe(Effect.flip)
    assert.match(Cause.pretty(cause), /Service not found: effect-identity-client\/Tenant\b/)
  }))
