/** Tests of `/openapi.json` and `/docs`. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createServer } from "node:http"
import * as Tenant from "../../../src/Tenant.js"
import { host, itInProcess } from "../support/calls.js"

/** The address of a server. */
class Url extends Context.Tag("test/Url")<Url, string>() {}

describe("the documentation", () => {
  const get = (path: string) => HttpClient.get(`${host}${path}`)

  itInProcess("serves the OpenAPI document at /openapi.json", () =>
    Effect.gen(function*() {
      const response = yield* get("/openapi.json")
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers["content-type"], "application/json")
      assert.deepStrictEqual(yield* response.json, Tenant.openapi)
    }))

  itInProcess("serves a page at /docs that loads nothing else and contains no secret", () =>
    Effect.gen(function*() {
      const response = yield* get("/docs")
      const html = yield* response.text
      assert.strictEqual(response.headers["content-type"], "text/html")
      assert.strictEqual(response.headers["referrer-policy"], "no-referrer")
      assert.deepStrictEqual((response.headers["content-security-policy"] ?? "").split("; "), [
        "default-src 'none'",
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'"
      ])
      assert.notMatch(html, /<(?:script|link|img|iframe)[^>]* (?:src|href)="(?!data:)/)
      for (const { id, secret } of Object.values(Tenant.demoClients)) {
        assert.notInclude(html, Redacted.value(secret))
        assert.notInclude(html, id)
        assert.notInclude(JSON.stringify(Tenant.openapi), Redacted.value(secret))
      }
    }))

  itInProcess(
    "is served without log, fault and rate limit",
    () =>
      Effect.gen(function*() {
        const { injectFault, requests } = yield* Tenant.Tenant
        yield* injectFault({ status: 503 })
        for (const path of ["/docs", "/openapi.json?x=1"]) {
          const { headers, status } = yield* get(path)
          assert.deepStrictEqual(
            [status, headers["cache-control"], headers["x-content-type-options"]],
            [200, "no-store", "nosniff"]
          )
        }
        assert.deepStrictEqual(yield* requests, [])
        assert.strictEqual((yield* get("/api/v2/nothing")).status, 503)
        assert.strictEqual((yield* get("/api/v2/nothing")).headers["x-ratelimit-remaining"], "49")
      })
  )

  itInProcess("is served to HEAD without a body", () =>
    Effect.gen(function*() {
      for (const path of ["/docs", "/openapi.json"]) {
        const response = yield* HttpClient.head(`${host}${path}`)
        assert.deepStrictEqual([response.status, yield* response.text], [200, ""])
        assert.strictEqual(response.headers["content-type"], (yield* get(path)).headers["content-type"])
      }
    }))

  for (const control of [false, true]) {
    itInProcess(
      `is ${control ? "" : "not "}beside a live page at / ${control ? "with" : "without"} a control interface`,
      () =>
        Effect.gen(function*() {
          const { headers, status } = yield* get("/")
          assert.deepStrictEqual(
            [status, headers["content-type"]],
            control ? [200, "text/html"] : [404, "application/json; charset=utf-8"]
          )
          assert.strictEqual((yield* get("/docs")).status, 200)
        }),
      { control }
    )
  }

  itInProcess("is served at these two paths only, and only to GET and HEAD", () =>
    Effect.gen(function*() {
      for (const path of ["/docs/", "/docs/x", "/Docs", "/openapi.json/", "/openapi", "/api/v2/docs"]) {
        assert.strictEqual((yield* get(path)).status, 404, path)
      }
      assert.strictEqual((yield* HttpClient.post(`${host}/docs`)).status, 404)
      assert.lengthOf(yield* (yield* Tenant.Tenant).requests, 7)
    }))

  it.live("leaves the routes of a program's own server alone", () =>
    Effect.gen(function*() {
      const nodeServer = () => Layer.fresh(NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 }))
      const served = <E, R>(layer: Layer.Layer<never, E, R>) => {
        const server = nodeServer()
        const address = Layer.effectContext(
          HttpServer.addressFormattedWith((url) => Effect.succeed(Context.make(Url, url)))
        )
        return Layer.provide(Layer.merge(layer, address), server)
      }
      for (const path of ["/docs", "/hello"] as const) {
        const app = HttpLayerRouter.serve(
          HttpLayerRouter.add("GET", path, HttpServerResponse.text("the program's own")),
          {
            disableLogger: true,
            disableListenLog: true
          }
        )
        const [tenant, own] = yield* Effect.all([
          Effect.map(Layer.build(served(Layer.provide(Tenant.layerServer, Tenant.layer))), Context.get(Url)),
          Effect.map(Layer.build(served(app)), Context.get(Url))
        ])
        for (let times = 0; times < 2; times++) {
          const response = yield* HttpClient.get(`${tenant}/docs`)
          assert.include(yield* response.text, "SwaggerUIBundle")
        }
        assert.strictEqual((yield* HttpClient.get(`${own}/docs`)).status, path === "/docs" ? 200 : 404)
        assert.strictEqual(
          yield* Effect.flatMap(HttpClient.get(`${own}${path}`), ({ text }) => text),
          "the program's own"
        )
      }
    }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer)))
})
