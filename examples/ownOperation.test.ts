/** Calls an endpoint that the library does not have: declares the operation, and tests it. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { Errors, IdentityClient, Operation, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Testing from "effect-identity-client/Testing"

// The declaration: method, path, fields of the request, schema of the response, and documented failures.
/** Returns an event stream. */
export const getEventStream = Operation.make("getEventStream", {
  method: "GET",
  path: "/event-streams/:id",
  params: { id: Schema.String },
  query: { include_stats: Schema.optional(Schema.Boolean) },
  success: Schema.Struct({ id: Schema.String, name: Schema.optionalWith(Schema.String, { exact: true }) }),
  scope: "read:event_streams",
  idempotent: true,
  error: [Errors.Unauthorized, Errors.InsufficientScope, Errors.Forbidden, Errors.NotFound, Errors.RateLimited]
})

// Its test.
const clientAbove = (...replies: ReadonlyArray<Testing.Reply>) =>
  IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
    Layer.provide(RateLimiter.layerUnlimited),
    Layer.provide(TokenProvider.layerBearer(Redacted.make("a-token"))),
    Layer.provideMerge(Testing.layerHttp(...replies))
  )

it.effect("returns an event stream", () =>
  Effect.gen(function*() {
    const stream = yield* getEventStream({ id: "est_1", include_stats: true })
    const [request] = yield* Testing.requests
    assert.deepStrictEqual(stream, { id: "est_1", name: "orders" })
    assert.strictEqual(request?.url, "https://tenant.example.com/api/v2/event-streams/est_1?include_stats=true")
  }).pipe(Effect.provide(clientAbove(Testing.reply({ body: { id: "est_1", name: "orders" } })))))
