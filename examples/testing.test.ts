/** Tests a program that uses the client, in three ways: handlers of operations, scripted HTTP replies, an embedded tenant. */
import { HttpClient } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Schema, TestClock } from "effect"
import {
  createUsersExport,
  Errors,
  getJob,
  IdentityClient,
  Operation,
  RateLimiter,
  redeliverEvent,
  TokenProvider
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import * as Testing from "effect-identity-client/Testing"
import { gunzipSync } from "node:zlib"

// The program under test: redelivers an event and returns the outcome.
const redeliver = (input: { readonly id: string; readonly event_id: string }) =>
  redeliverEvent(input).pipe(
    Effect.as("accepted"),
    Effect.catchTags({ NotFound: () => Effect.succeed("gone"), Conflict: () => Effect.succeed("not failed") })
  )

const { streams: [stream] } = Tenant.demo
const input = { id: stream.id, event_id: stream.events[0].id }

// 1. Handlers of operations: no HTTP, no token, no rate limit. The compiler checks their results.
it.effect("reports an event that does not exist", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* redeliver(input), "gone")
  }).pipe(Effect.provide(Testing.layer(
    Testing.handle(redeliverEvent, ({ event_id }) =>
      Effect.fail(new Errors.NotFound({ operation: "redeliverEvent", message: `no event ${event_id}` })))
  ))))

// 2. Scripted HTTP replies: the real client runs above them.
const clientAbove = (...replies: ReadonlyArray<Testing.Reply>) =>
  IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
    Layer.provide(RateLimiter.layerUnlimited),
    Layer.provide(TokenProvider.layerBearer(Redacted.make("a-token"))),
    Layer.provideMerge(Testing.layerHttp(...replies))
  )

it.effect("reports an event that has not failed", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* redeliver(input), "not failed")
    const [request] = yield* Testing.requests
    assert.isTrue(request?.url.endsWith(`/event-streams/${input.id}/redeliver/${input.event_id}`))
  }).pipe(Effect.provide(clientAbove(
    Testing.reply({ status: 409, body: { statusCode: 409, message: "The event is not in a failed state." } })
  ))))

// 3. A tenant in the process, with state, tokens, scopes and rate limits. It uses the Clock, so TestClock drives it.
const TenantClient = Layer.provideMerge(Tenant.layerClient, Tenant.layer)

it.effect("redelivers an event once", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* redeliver(input), "accepted")
    assert.strictEqual(yield* redeliver(input), "not failed")
    const { requests, state } = yield* Tenant.Tenant
    assert.deepStrictEqual((yield* requests).map(({ status }) => status), [200, 202, 409])
    assert.strictEqual((yield* state).streams[0]?.events[0]?.state, "queued")
  }).pipe(Effect.provide(TenantClient)))

// An export of a million users, made one by one, from the request to the file.
const ClientOfMany = IdentityClient.layer({ domain: "tenant.example.com" }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerClientCredentials({
    domain: "tenant.example.com",
    clientId: Tenant.demoClients.full.id,
    clientSecret: Tenant.demoClients.full.secret
  })),
  Layer.provideMerge(Tenant.layerHttpClient),
  Layer.provideMerge(Tenant.layerWith({ seed: { users: Tenant.makeUsers(1_000_000) } }))
)

it.effect("exports the first users", () =>
  Effect.gen(function*() {
    const { id } = yield* createUsersExport({ format: "csv", limit: 2, fields: [{ name: "email" }] })
    assert.strictEqual((yield* getJob({ id })).status, "pending")
    yield* TestClock.adjust("2 seconds")
    const { location = "" } = yield* getJob({ id })
    const { arrayBuffer } = yield* HttpClient.get(location)
    const text = gunzipSync(yield* arrayBuffer).toString()
    assert.strictEqual(text, `"email"\n"'user00000001@example.com"\n"'user00000002@example.com"\n`)
    yield* TestClock.adjust("60 seconds")
    assert.strictEqual((yield* HttpClient.get(location)).status, 403)
  }).pipe(Effect.provide(ClientOfMany)))

// Faults on demand.
it.effect("fails if the service is unavailable", () =>
  Effect.gen(function*() {
    const { injectFault } = yield* Tenant.Tenant
    yield* injectFault({ operation: "createUsersExport", status: 502, body: "<title>Bad gateway</title>" })
    const error = yield* Effect.flip(createUsersExport({}))
    assert.strictEqual(error._tag, "UnexpectedResponse")
  }).pipe(Effect.provide(TenantClient)))

// A retry in virtual time. Without `adjust` the test would wait for ever: no other time passes under `it.effect`.
it.effect("waits as long as the service asks, and tries again", () =>
  Effect.gen(function*() {
    const running = yield* Effect.fork(redeliver(input))
    yield* TestClock.adjust("29 seconds")
    assert.lengthOf(yield* Testing.requests, 1)
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual(yield* Fiber.join(running), "accepted")
  }).pipe(Effect.provide(clientAbove(
    Testing.reply({ status: 429, headers: { "retry-after": "30" }, body: { statusCode: 429, message: "Too many" } }),
    Testing.reply({ status: 202, body: {} })
  ))))

// A tenant with settings of its own: data, clients, a small bucket, tokens of a minute.
const SmallTenant = Tenant.layerWith({
  seed: { streams: [{ id: "est_1234567890123456789012", events: [] }] },
  clients: [{
    id: "reader",
    secret: Redacted.make("reader-secret"),
    scopes: ["read:actions"],
    global: false
  }],
  buckets: { tenant: { burst: 2, refill: 2, per: "1 second" } },
  tokenLifetime: "1 minute",
  limits: { requests: 100 }
})

it.effect("reports a missing scope", () =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(redeliver(input))
    assert.strictEqual(error._tag, "InsufficientScope")
  }).pipe(Effect.provide(
    IdentityClient.layer({ domain: "tenant.example.com" }).pipe(
      Layer.provide(RateLimiter.layer),
      Layer.provide(TokenProvider.layerClientCredentials({
        domain: "tenant.example.com",
        clientId: "reader",
        clientSecret: Redacted.make("reader-secret")
      })),
      Layer.provide(Tenant.layerHttpClient),
      Layer.provide(SmallTenant)
    )
  )))

// Operations beside those of the contract, declared or generated.
const getUser = Operation.make("getUser", () => ({
  method: "GET",
  path: "/users/:id",
  params: { id: Schema.String },
  success: Schema.Struct({ user_id: Schema.String, email: Schema.String }),
  scope: "read:users",
  idempotent: true,
  error: [Errors.Unauthorized, Errors.InsufficientScope, Errors.Forbidden, Errors.NotFound, Errors.RateLimited]
}))

const TenantWithUsers = Layer.provideMerge(Tenant.layerClient, Tenant.layerWith({ operations: { getUser } }))

it.effect("reads users", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* getUser({ id: "auth0|1" }), { user_id: "string", email: "string" })
    const { respond } = yield* Tenant.Tenant
    yield* respond(getUser, ({ id }) =>
      id === "auth0|1" ? Effect.succeed({ user_id: id, email: "ada@example.com" }) : Effect.fail(404))
    assert.strictEqual((yield* getUser({ id: "auth0|1" })).email, "ada@example.com")
    assert.strictEqual((yield* Effect.flip(getUser({ id: "auth0|2" })))._tag, "NotFound")
  }).pipe(Effect.provide(TenantWithUsers)))
