/** Tests of the request log. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import { inspect } from "node:util"
import * as Tenant from "../../../src/Tenant.js"
import {
  action,
  createUsersExport,
  credentials,
  host,
  itInProcess,
  listActionVersions,
  requestToken,
  send,
  tokenOf,
  waitForSleep
} from "../support/calls.js"

const { demoClients } = Tenant

describe("the request log", () => {
  itInProcess("records requests as received, in their order", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* TestClock.adjust("5 seconds")
      yield* send(createUsersExport, { form: "fields[0][name]=a%20b&limit=5", token, headers: { "X-Mine": "1" } })
      yield* send(createUsersExport, { body: { limit: 0 } })
      yield* send(listActionVersions, { params: { actionId: "a/b c" }, query: "?page=1&q=a%26b&q=", token })
      yield* HttpClient.post(`${host}/nothing?x`, { body: HttpBody.text("{", "application/json") })
      const [first, ...rest] = yield* tenant.requests
      assert.deepStrictEqual([first!.operation, first!.at, first!.status, first!.path], [
        "token",
        0,
        200,
        "/oauth/token"
      ])
      assert.deepStrictEqual(
        rest.map((
          { at, body, contentType, method, operation, path, query, status }
        ) => [at, method, path, query, contentType, body, operation, status]),
        [
          [
            5000,
            "POST",
            "/api/v2/jobs/users-exports",
            [],
            "application/x-www-form-urlencoded",
            { fields: [{ name: "a b" }], limit: 5 },
            "createUsersExport",
            200
          ],
          [5000, "POST", "/api/v2/jobs/users-exports", [], "application/json", { limit: 0 }, "createUsersExport", 401],
          [
            5000,
            "GET",
            "/api/v2/actions/actions/a%2Fb%20c/versions",
            [["page", "1"], ["q", "a&b"], ["q", ""]],
            undefined,
            undefined,
            "listActionVersions",
            400
          ],
          [5000, "POST", "/nothing", [["x", ""]], "application/json", "{", undefined, 404]
        ]
      )
      assert.strictEqual(rest[0]!.headers["x-mine"], "1")
      assert.strictEqual(rest[0]!.headers["host"], "tenant.test")
    }))

  itInProcess("never shows a token or a client's secret", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      const secret = "demo-full-secret"
      yield* send(listActionVersions, {
        params: { actionId: action.id },
        token,
        headers: { cookie: secret, "proxy-authorization": secret }
      })
      for (
        const text of [
          `{"client_secret":"${secret}"`,
          `client_secret=${secret}`,
          `client_secret=${secret}&client_secret=x`
        ]
      ) {
        for (const type of ["application/json", "application/x-www-form-urlencoded", "text/plain"]) {
          yield* HttpClient.post(`${host}/oauth/token`, { body: HttpBody.text(text, type) })
        }
      }
      const requests = yield* tenant.requests
      for (const text of [inspect(requests, { depth: 9 }), JSON.stringify(requests)]) {
        assert.notInclude(text, token)
        assert.notInclude(text, secret)
        assert.include(text, "<redacted>")
      }
      assert.strictEqual(
        Redacted.value(requests[1]!.headers["authorization"] as Redacted.Redacted<string>),
        `Bearer ${token}`
      )
    }))

  itInProcess(
    "shows the grant parameters of a token request, and nothing of other bodies",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const given = { ...credentials(demoClients.full), scope: "read:users" }
        yield* requestToken(given)
        yield* requestToken({ grant_type: "password" })
        yield* requestToken({ grant_type: "password", password: "p" })
        yield* HttpClient.post(`${host}/oauth/token`, { body: HttpBody.text("[]", "application/json") })
        yield* HttpClient.post(`${host}/oauth/token`)
        const bodies = (yield* tenant.requests).map(({ body }) => body) as ReadonlyArray<any>
        assert.deepStrictEqual(JSON.parse(JSON.stringify(bodies)), [
          { ...given, client_secret: "<redacted>" },
          { grant_type: "password" },
          "<redacted>",
          "<redacted>",
          null
        ])
        assert.strictEqual(Redacted.value(bodies[0].client_secret), given.client_secret)
      })
  )

  itInProcess(
    "shows no secret in the query of a token request, nor a client's secret in any query",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const given = "client_secret=canary&client_assertion=canary"
        yield* HttpClient.post(`${host}/oauth/token?grant_type=a&client_id=b&${given}&password=canary`)
        yield* HttpClient.get(`${host}/oauth/token?${given}&page=1`)
        const redacted = [["client_secret", "<redacted>"], ["client_assertion", "<redacted>"]] as const
        assert.deepStrictEqual((yield* tenant.requests).map(({ query }) => query), [
          [["grant_type", "a"], ["client_id", "b"], ...redacted, ["password", "<redacted>"]],
          [...redacted, ["page", "1"]]
        ])
      })
  )

  itInProcess(
    "records a body without a content type as text, and an empty or missing body as undefined",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        for (
          const body of [
            HttpBody.raw(new TextEncoder().encode("{}")),
            HttpBody.text("", "application/json"),
            HttpBody.empty
          ]
        ) {
          yield* HttpClient.post(`${host}/`, { body })
        }
        assert.deepStrictEqual(
          (yield* tenant.requests).map(({ body, contentType }) => [contentType, body]),
          [[undefined, "{}"], ["application/json", undefined], [undefined, undefined]]
        )
      })
  )

  itInProcess("keeps nothing of a form that is too large", () =>
    Effect.gen(function*() {
      const body = HttpBody.text("a=0123456789", "application/x-www-form-urlencoded")
      yield* HttpClient.post(`${host}/`, { body })
      const requests = yield* (yield* Tenant.Tenant).requests
      assert.deepStrictEqual(requests.map(({ body, status }) => [body, status]), [[undefined, 413]])
    }), { limits: { bodySize: 10 } })

  itInProcess(
    "keeps the newest requests, and the status of a request that it no longer keeps is of no matter",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const path = (nth: number) => `/${nth}`
        yield* tenant.injectFault({ delay: "1 minute" })
        const slow = yield* Effect.fork(HttpClient.get(`${host}${path(0)}`))
        yield* waitForSleep
        for (const nth of [1, 2, 3]) yield* HttpClient.get(`${host}${path(nth)}`)
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(slow)
        assert.deepStrictEqual(
          (yield* tenant.requests).map(({ path, status }) => [path, status]),
          [1, 2, 3].map((nth) => [path(nth), 404])
        )
        yield* HttpClient.get(`${host}${path(4)}`)
        assert.deepStrictEqual((yield* tenant.requests).map(({ path }) => path), [2, 3, 4].map(path))
      }),
    { limits: { requests: 3 } }
  )

  it.effect("has a limit that is a whole number or none at all, as the other limits are", () =>
    Effect.gen(function*() {
      for (const name of ["requests", "tokens", "bodySize"]) {
        for (const limit of [0.5, -1, NaN, -Infinity]) {
          const { message } = yield* Effect.flip(Tenant.make({ limits: { [name]: limit } }))
          assert.include(message, `limits.${name}: expected an integer of at least 0, or Infinity`)
        }
        for (const limit of [0, 1, Infinity, undefined]) yield* Tenant.make({ limits: { [name]: limit } })
      }
    }))
})
