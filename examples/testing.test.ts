/** Tests a program that uses the client, in three ways: handlers of operations, scripted HTTP replies, an embedded tenant. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import {
  createUsersExport,
  Errors,
  IdentityClient,
  RateLimiter,
  redeliverEvent,
  TokenProvider
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import * as Testing from "effect-identity-client/Testing"

/** The program under test: redelivers an event and returns the outcome. */
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
const TenantClient = IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerClientCredentials({
    domain: "tenant.example.com",
    clientId: Tenant.demoClients.full.id,
    clientSecret: Tenant.demoClients.full.secret
  })),
  Layer.provide(Tenant.layerHttpClient),
  Layer.provideMerge(Tenant.layer())
)

it.effect("redelivers an event once", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* redeliver(input), "accepted")
    assert.strictEqual(yield* redeliver(input), "not failed")
    const { requests, state } = yield* Tenant.Tenant
    assert.deepStrictEqual((yield* requests).map(({ status }) => status), [200, 202, 409])
    assert.strictEqual((yield* state).streams[0]?.events[0]?.state, "queued")
  }).pipe(Effect.provide(TenantClient)))

it.effect("fails if the service is unavailable", () =>
  Effect.gen(function*() {
    const { injectFault } = yield* Tenant.Tenant
    yield* injectFault({ operation: "createUsersExport", status: 502, body: "<html><title>Bad gateway</title></html>" })
    const error = yield* Effect.flip(createUsersExport({}))
    assert.strictEqual(error._tag, "UnexpectedResponse")
  }).pipe(Effect.provide(TenantClient)))
