/** Many processes that share one tenant's limits and one token: with Redis, or with a store of your own. */
import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Config, Duration, Effect, Layer, LayerMap, Logger, Redacted } from "effect"
import { IdentityClient, listActionVersions, TokenProvider } from "effect-identity-client"
import * as Fleet from "effect-identity-client/Fleet"
import { SharedStore } from "effect-identity-client/Fleet"
import * as Redis from "effect-identity-client/Redis"
import * as Tenant from "effect-identity-client/Tenant"

const { full } = Tenant.demoClients

// The layers: a provider of tokens shares them if `Fleet.layerTokens…` is beneath it.
const Tokens = TokenProvider.layerClientCredentialsConfig({
  domain: Config.string("IDENTITY_DOMAIN"),
  clientId: Config.string("IDENTITY_CLIENT_ID"),
  clientSecret: Config.redacted("IDENTITY_CLIENT_SECRET")
}).pipe(Layer.provide(Fleet.layerTokensConfig({
  encryptionKey: Config.redacted("TOKEN_KEY") // 32 bytes in base64: `openssl rand -base64 32`
})))

const Client = IdentityClient.layerConfig({ domain: Config.string("IDENTITY_DOMAIN") }).pipe(
  Layer.provide([Fleet.layerRateLimiter, Tokens])
)

export const FleetLive = Client.pipe(
  Layer.provide(Redis.layerStoreConfig({ url: Config.redacted("REDIS_URL") })),
  Layer.provide(Tenant.layerHttpClient) // for a real tenant: Node.layerHttpClient
)

// A store of your own: here a key-value service over HTTP with ETags and its time in milliseconds.
const seen = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.text, (value): SharedStore.Snapshot => ({
    entry: response.headers["etag"] === undefined ? undefined : { value, version: response.headers["etag"] },
    now: Number(response.headers["x-time"])
  }))

const isExpected = (status: number) => status < 300 || status === 404 || status === 412 // 412: another was faster

const KeyValueStore = SharedStore.layer(Effect.map(HttpClient.HttpClient, (client): SharedStore.Backend => {
  const http = HttpClient.filterStatus(client, isExpected) // all else is an unavailable store
  const url = (key: string) => `https://kv.example.com/${encodeURIComponent(key)}`
  return {
    get: (key) => Effect.flatMap(http.get(url(key)), seen),
    swap: (key, version, next) =>
      Effect.gen(function*() {
        const request = next === undefined
          ? HttpClientRequest.del(url(key))
          : HttpClientRequest.put(url(key)).pipe(
            HttpClientRequest.bodyText(next.value),
            HttpClientRequest.setUrlParam("ttl", String(Duration.toSeconds(next.timeToLive)))
          )
        const condition: readonly [string, string] = version === undefined
          ? ["if-none-match", "*"]
          : ["if-match", version]
        const response = yield* http.execute(HttpClientRequest.setHeader(request, ...condition))
        return { ...(yield* seen(response)), swapped: response.status < 300 }
      })
  }
}))

// Many tenants: a client for each, made when it is first needed; one limiter and one store serve them all.
const SharedTokens = Fleet.layerTokensWith({
  encryptionKey: Redacted.make("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
})

class Tenants extends LayerMap.Service<Tenants>()("Tenants", {
  lookup: (domain: string) =>
    IdentityClient.layer({ domain }).pipe(
      Layer.provide(TokenProvider.layerClientCredentials({ domain, clientId: full.id, clientSecret: full.secret })),
      Layer.provide(SharedTokens)
    ),
  idleTimeToLive: "5 minutes"
}) {}

// The tests.
/** A key-value service in memory. */
const service = (memory: SharedStore.Backend) =>
  HttpClient.make((request, url) =>
    Effect.gen(function*() {
      const [key, { "if-match": version }] = [url.pathname, request.headers]
      const value = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
      const { entry, now, swapped } = request.method === "GET"
        ? { ...(yield* memory.get(key)), swapped: true }
        : yield* memory.swap(
          key,
          version,
          request.method === "DELETE"
            ? undefined
            : { value, timeToLive: Duration.seconds(Number(url.searchParams.get("ttl"))) }
        )
      const headers = { "x-time": String(now), ...(entry !== undefined && { etag: entry.version }) }
      return HttpClientResponse.fromWeb(
        request,
        new Response(entry?.value ?? "", { status: swapped ? 200 : 412, headers })
      )
    }).pipe(Effect.orDie)
  )

/** A service that always fails. */
const outOfOrder = HttpClient.make((request) =>
  Effect.succeed(HttpClientResponse.fromWeb(request, new Response("", { status: 503, headers: { "x-time": "1" } })))
)

const call = listActionVersions({ actionId: Tenant.demo.actions[0].id })

const TenantLive = Layer.provideMerge(Tenant.layerHttpClient, Tenant.layer)

const OverKeyValue = Layer.provide(
  KeyValueStore,
  Layer.effect(HttpClient.HttpClient, Effect.map(SharedStore.memory, service))
)

describe("a fleet", () => {
  it.live("shares a token and limits through a store of its own", () =>
    Effect.gen(function*() {
      const process = Layer.fresh(
        IdentityClient.layer({ domain: "tenant.example.com" }).pipe(
          Layer.provide(Fleet.layerRateLimiter),
          Layer.provide(TokenProvider.layerClientCredentials({
            domain: "tenant.example.com",
            clientId: full.id,
            clientSecret: full.secret
          })),
          Layer.provide(SharedTokens)
        )
      )
      const store = yield* SharedStore.SharedStore
      const calls = Effect.provide(Effect.all(Array.from({ length: 10 }, () => call)), process)
      yield* Effect.all([calls, calls, calls], { concurrency: "unbounded" }).pipe(
        Effect.provideService(SharedStore.SharedStore, store)
      )
      const { requests } = yield* Tenant.Tenant
      const operations = (yield* requests).map(({ operation }) => operation)
      assert.strictEqual(operations.filter((name) => name === "token").length, 1)
      assert.strictEqual(operations.length, 31)
    }).pipe(
      Effect.provide(Layer.merge(OverKeyValue, TenantLive))
    ))

  it.live("fails with StoreUnavailable if the service fails", () =>
    Effect.gen(function*() {
      const store = yield* SharedStore.SharedStore
      assert.strictEqual((yield* Effect.flip(store.get("key")))._tag, "StoreUnavailable")
    }).pipe(
      Effect.provide([
        Layer.provide(KeyValueStore, Layer.succeed(HttpClient.HttpClient, outOfOrder)),
        Logger.remove(Logger.defaultLogger)
      ])
    ))

  it.live("serves many tenants with a token each", () =>
    Effect.gen(function*() {
      for (const domain of ["one.example.com", "two.example.com", "one.example.com"]) {
        yield* Effect.provide(call, Tenants.get(domain))
      }
      const { requests } = yield* Tenant.Tenant
      const operations = (yield* requests).map(({ operation }) => operation)
      assert.deepStrictEqual(operations.filter((name) => name === "token").length, 2)
    }).pipe(
      Effect.provide(Tenants.Default.pipe(
        Layer.provide(Layer.provideMerge(Fleet.layerRateLimiter, SharedStore.layerMemory)),
        Layer.provideMerge(TenantLive)
      ))
    ))
})
