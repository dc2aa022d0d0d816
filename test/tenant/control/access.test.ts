/** Only programs and pages of this machine that have the key may use the control interface. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Tenant from "../../../src/Tenant.js"
import { refusalOf } from "../../../src/tenant/control/http/access.js"
import { endpoints } from "../../../src/tenant/control/http/api.js"
import { keyHeader } from "../../../src/tenant/control/messages.js"
import { keyIn } from "../../../src/tenant/page/ui/key.js"
import { itInProcess } from "../support/calls.js"
import { control, itControlled, key, origin } from "../support/control.js"

const withKey = { [keyHeader]: key }

/** The status of a change and of a read, under these headers. */
const statuses = (headers: Readonly<Record<string, string>>, to = origin) =>
  Effect.map(
    Effect.all([
      control("POST", "/clock", { headers, body: { forward: 1 }, origin: to }),
      control("GET", "/state", { headers, origin: to })
    ]),
    (responses) => responses.map(({ status }) => status)
  )

describe("the key", () => {
  itControlled("is needed at every address, for every method", () =>
    Effect.gen(function*() {
      for (const { method, path } of endpoints) {
        for (
          const headers of [{}, { [keyHeader]: "" }, { [keyHeader]: `${key}x` }, { [keyHeader]: key.slice(0, -1) }]
        ) {
          const { json, status } = yield* control(method, path.replace("/_tenant", "").replace(/:\w+/, "1"), {
            headers
          })
          assert.strictEqual(status, 403, `${method} ${path}`)
          assert.include(json.message, keyHeader)
        }
      }
      assert.deepStrictEqual(yield* statuses({ [keyHeader]: key.toUpperCase() }), [403, 403])
      assert.deepStrictEqual(yield* statuses({ authorization: `Bearer ${key}` }), [403, 403])
      assert.deepStrictEqual(yield* statuses(withKey), [200, 200])
    }))

  itControlled("is not accepted in the query, and no response has it", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* control("GET", `/state?key=${key}`, { headers: {} })).status, 403)
      for (const path of ["/state?secrets=include", "/save?secrets=include", "/openapi.json", "/requests"]) {
        assert.notInclude((yield* control("GET", path)).text, key)
      }
    }))

  it.effect("cannot be one that is empty, short or unfit for an address", () =>
    Effect.gen(function*() {
      for (const bad of ["", "short", "a".repeat(15), "with a space 0123456789abcdef", `${key}\n`]) {
        const { message } = yield* Effect.flip(Tenant.make({
          control: { key: Redacted.make(bad) },
          limits: { tokens: -1 }
        }))
        assert.include(message, "limits.tokens: ")
        assert.include(message, "control.key: expected at least 16 letters")
        if (bad !== "") assert.notInclude(message, bad)
      }
      yield* Tenant.make({ control: { key: Redacted.make("a".repeat(16)) } })
    }))

  it("stands in the fragment of the live page's address as it is", () => {
    assert.strictEqual(keyIn(`${origin}/#key=${key}`), key)
  })

  it("is refused if the header is absent, even before it is compared", () => {
    const request = HttpServerRequest.fromWeb(new Request(origin, { headers: { host: "localhost" } }))
    assert.strictEqual(refusalOf(request, Redacted.make(""), undefined)?.status, 403)
  })

  it.effect("is a random one if none is given, and hard to guess", () =>
    Effect.gen(function*() {
      const keys = yield* Effect.forEach([1, 2, 3], () => Tenant.make({ control: true }))
      const texts = keys.map(({ control }) => Redacted.value(control!.key))
      assert.strictEqual(new Set(texts).size, 3)
      for (const text of texts) assert.match(text, /^[0-9a-v]{32}$/)
      assert.notInclude(JSON.stringify(keys.map(({ control }) => control)), texts[0] ?? "")
    }))
})

describe("foreign callers", () => {
  itControlled(
    "are refused by another host, which a web page could make point to this machine",
    () =>
      Effect.gen(function*() {
        for (
          const host of [
            "http://evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example:8787",
            "http://192.168.0.1",
            "http://0.0.0.0:8787",
            "http://localhost."
          ]
        ) {
          assert.deepStrictEqual(yield* statuses(withKey, host), [403, 403], host)
        }
        for (
          const host of ["http://127.0.0.1:8787", "http://[::1]:8787", "http://LOCALHOST", "http://tenant.localhost:1"]
        ) {
          assert.deepStrictEqual(yield* statuses(withKey, host), [200, 200], host)
        }
      })
  )

  itControlled("are refused by their origin, even with the key", () =>
    Effect.gen(function*() {
      for (
        const foreign of [
          "http://evil.example",
          "null",
          "",
          "http://localhost",
          "http://localhost:8788",
          "http://127.0.0.1:8787"
        ]
      ) {
        assert.deepStrictEqual(yield* statuses({ ...withKey, origin: foreign }), [403, 403], foreign)
      }
      assert.deepStrictEqual((yield* control("GET", "/state", { headers: { ...withKey, origin: "null" } })).json, {
        status: 403,
        message: "The control interface is not for pages of other origins"
      })
      assert.deepStrictEqual(yield* statuses({ ...withKey, origin }), [200, 200])
      assert.deepStrictEqual(yield* statuses({ ...withKey, "sec-fetch-site": "cross-site" }), [403, 403])
      assert.deepStrictEqual(yield* statuses({ ...withKey, "sec-fetch-site": "same-site" }), [403, 403])
      assert.deepStrictEqual(yield* statuses({ ...withKey, "sec-fetch-site": "same-origin" }), [200, 200])
    }))

  itControlled("get no permission from a preflight request", () =>
    Effect.gen(function*() {
      const headers = { origin: "http://evil.example", "access-control-request-method": "POST" }
      const response = yield* control("OPTIONS", "/clock", { headers })
      assert.strictEqual(response.status, 403)
      assert.isUndefined(Object.keys(response.headers).find((name) => name.startsWith("access-control")))
    }))

  itControlled("are refused through a proxy", () =>
    Effect.gen(function*() {
      for (const name of ["forwarded", "x-forwarded-for", "x-forwarded-host", "via"]) {
        assert.deepStrictEqual(yield* statuses({ ...withKey, [name]: "x" }), [403, 403], name)
      }
    }))

  it.effect("are refused from another machine, whatever host they name", () =>
    Effect.gen(function*() {
      const { app } = yield* Tenant.make({ control: { key: Redacted.make(key) } })
      const status = (remoteAddress: string) =>
        Effect.map(
          Effect.provideService(
            app,
            HttpServerRequest.HttpServerRequest,
            HttpServerRequest.fromWeb(
              new Request(`${origin}/_tenant/state`, { headers: { ...withKey, host: "localhost" } })
            )
              .modify({ remoteAddress })
          ),
          ({ status }) => status
        )
      for (const address of ["192.168.1.5", "8.8.8.8", "fe80::1", "::ffff:10.0.0.1", "128.0.0.1"]) {
        assert.strictEqual(yield* status(address), 403, address)
      }
      for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]) {
        assert.strictEqual(yield* status(address), 200, address)
      }
    }))
})

describe("a tenant that is not asked for control", () => {
  itInProcess("has no such addresses, records no more than before, and gives no key", () =>
    Effect.gen(function*() {
      const { json, status } = yield* control("GET", "/state")
      assert.deepStrictEqual([status, json.message], [404, "Not Found"])
      const tenant = yield* Tenant.Tenant
      assert.isUndefined(tenant.control)
      assert.deepStrictEqual((yield* tenant.requests).map(({ path }) => path), ["/_tenant/state"])
    }))

  itInProcess(
    "has no page at its root",
    () => Effect.map(HttpClient.get(`${origin}/`), ({ status }) => assert.strictEqual(status, 404)),
    { control: false }
  )
})

describe("the control interface", () => {
  itControlled(
    "is not among the requests, and takes neither faults nor calls of a bucket",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        yield* tenant.injectFault({ status: 500 })
        assert.strictEqual((yield* control("GET", "/state")).json.faults.length, 1)
        const { json } = yield* control("GET", "/state")
        assert.deepStrictEqual([json.faults.length, json.requests.total, json.buckets[0].left], [1, 0, 50])
        assert.lengthOf(yield* tenant.requests, 0)
      })
  )

  itControlled("keeps its responses out of caches and frames", () =>
    Effect.gen(function*() {
      const { headers } = yield* control("GET", "/state")
      assert.deepInclude({ ...headers }, {
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin"
      })
    }))

  itControlled("says that there is no such address", () =>
    Effect.gen(function*() {
      for (const [method, path] of [["GET", "/nothing"], ["PUT", "/clock"], ["GET", ""]] as const) {
        const { json, status } = yield* control(method, path)
        assert.deepStrictEqual([status, json.message], [404, "There is no such address"])
      }
    }))
})
