/** Base URLs and domains: which ones a client accepts, and where its requests go. */
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer } from "effect"
import { deleteEventStream, Errors, IdentityClient, RateLimiter } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { bearer } from "../support/client.js"

const id = "est_1234567890123456789012"
const bare = { id }

const needs = Layer.mergeAll(RateLimiter.layerUnlimited, bearer)

/** Builds a client and returns the URLs of its requests. */
const reaches = (options: IdentityClient.Options) =>
  Effect.gen(function*() {
    yield* deleteEventStream(bare)
    return (yield* Testing.requests).map(({ url }) => url)
  }).pipe(
    Effect.provide(
      IdentityClient.layer(options).pipe(Layer.provide(needs), Layer.provideMerge(Testing.layerHttp(Testing.reply({}))))
    )
  )

describe("the base URL of a client", () => {
  it.effect.each([
    ["https://tenant.example.com/api/v2", "https://tenant.example.com/api/v2"],
    ["https://tenant.example.com/api/v2///", "https://tenant.example.com/api/v2"],
    ["https://tenant.example.com", "https://tenant.example.com"],
    ["HTTPS://Tenant.Example.com:8443/a/../b", "https://tenant.example.com:8443/b"],
    ["http://localhost:3000/api/v2", "http://localhost:3000/api/v2"],
    ["http://tenant.localhost/api/v2", "http://tenant.localhost/api/v2"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000"],
    ["http://127.9.8.7", "http://127.9.8.7"],
    ["http://127.255.10.100", "http://127.255.10.100"],
    ["http://[::1]:3000", "http://[::1]:3000"]
  ])("%s is accepted", ([baseUrl, base]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* reaches({ baseUrl: baseUrl ?? "" }), [`${base}/event-streams/${id}`])
    }))

  it.effect.each([
    ["", "expected an absolute URL"],
    ["tenant.example.com", "expected an absolute URL"],
    ["/api/v2", "expected an absolute URL"],
    ["ftp://tenant.example.com", "expected http or https"],
    ["file:///etc/passwd", "expected http or https"],
    ["https://user@tenant.example.com", "expected a URL without credentials"],
    ["https://:hunter22@tenant.example.com", "expected a URL without credentials"],
    ["https://tenant.example.com/api/v2?a=b", "expected a URL without query and fragment"],
    ["https://tenant.example.com/api/v2#a", "expected a URL without query and fragment"],
    ["https://tenant.example.com/api/v2?", "expected a URL without query and fragment"],
    ["https://tenant.example.com/api/v2#", "expected a URL without query and fragment"],
    [
      "http://tenant.example.com",
      "expected https, because http would send secrets unencrypted (allowInsecure permits http)"
    ],
    [
      "http://127.0.0.1.example.com",
      "expected https, because http would send secrets unencrypted (allowInsecure permits http)"
    ],
    [
      "http://localhost.example.com",
      "expected https, because http would send secrets unencrypted (allowInsecure permits http)"
    ]
  ])("%j is refused, and the message does not repeat it", ([baseUrl = "", message = ""]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(reaches({ baseUrl }))
      assert.instanceOf(error, Errors.InvalidInput)
      assert.deepInclude(error, { operation: "IdentityClient.layer", issues: [{ path: "baseUrl", message }] })
      assert.strictEqual(error.message, `IdentityClient.layer: baseUrl: ${message}`)
    }))

  it.effect("http to another host is accepted with allowInsecure", () =>
    Effect.gen(function*() {
      const urls = yield* reaches({ baseUrl: "http://tenant.example.com", allowInsecure: true })
      assert.deepStrictEqual(urls, [`http://tenant.example.com/event-streams/${id}`])
    }))

  it.effect.each([
    ["ftp://tenant.example.com", "expected http or https"],
    ["http://user@tenant.example.com", "expected a URL without credentials"]
  ])("allowInsecure permits nothing but http: %s", ([baseUrl = "", message = ""]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(reaches({ baseUrl, allowInsecure: true }))
      assert.strictEqual(error.message, `IdentityClient.layer: baseUrl: ${message}`)
    }))

  const configured = (entries: ReadonlyArray<readonly [string, string]>) =>
    Effect.zipRight(deleteEventStream(bare), Testing.requests).pipe(
      Effect.provide(
        IdentityClient.layerConfig({
          baseUrl: Config.string("BASE_URL"),
          allowInsecure: Config.withDefault(Config.boolean("INSECURE"), undefined)
        }).pipe(Layer.provide(needs), Layer.provideMerge(Testing.layerHttp(Testing.reply({}))))
      ),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(entries)))
    )

  it.effect("layerConfig reads it from a Config", () =>
    Effect.gen(function*() {
      const [request] = yield* configured([["BASE_URL", "http://tenant.example.com"], ["INSECURE", "true"]])
      assert.strictEqual(request?.url, `http://tenant.example.com/event-streams/${id}`)
    }))

  it.effect("layerConfig validates it", () =>
    Effect.gen(function*() {
      assert.instanceOf(
        yield* Effect.flip(configured([["BASE_URL", "http://tenant.example.com"]])),
        Errors.InvalidInput
      )
    }))

  it.effect("layerConfig fails with ConfigError if a setting is missing", () =>
    Effect.gen(function*() {
      assert.include(String(yield* Effect.flip(configured([]))), "BASE_URL")
    }))
})
