/** A call has a span, with what is known of every call of its kind and nothing of this one's input, if somebody looks at it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Tracer } from "effect"
import { deleteEventStream, IdentityClient, RateLimiter, Retry, TokenProvider } from "../src/index.js"
import * as Testing from "../src/Testing.js"
import { bearer } from "./support/client.js"

const call = Retry.none(deleteEventStream({ id: "est_1234567890123456789012" }))

const client = (status: number, tokens = bearer) =>
  IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2" }).pipe(
    Layer.provide([Testing.layerHttp(Testing.reply({ status })), RateLimiter.layerUnlimited, tokens])
  )

const tokensOf = (get: TokenProvider.TokenProvider["Type"]["get"]) =>
  Layer.succeed(TokenProvider.TokenProvider, { get, invalidate: () => Effect.void })

/** Runs an effect with a tracer that keeps the spans. */
const recorded = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const native = yield* Effect.tracer
    const spans: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      context: (run) => run(),
      span: (...of) => {
        const span = native.span(...of)
        spans.push(span)
        return span
      }
    })
    yield* Effect.exit(Effect.withTracer(self, tracer))
    return spans
  })

describe("a call", () => {
  it.effect("has a span with its route and its status", () =>
    Effect.gen(function*() {
      const [span, ...others] = yield* recorded(Effect.provide(call, client(204)))
      assert.isEmpty(others)
      assert.strictEqual(span?.name, "identity.deleteEventStream")
      assert.strictEqual(span?.kind, "client")
      assert.deepStrictEqual(Object.fromEntries(span?.attributes ?? []), {
        "http.request.method": "DELETE",
        "url.template": "/api/v2/event-streams/{id}",
        "server.address": "t.example.com",
        "server.port": 443,
        "http.response.status_code": 204
      })
      assert.strictEqual(span?.status._tag, "Ended")
    }))

  it.effect("that fails says so in its span", () =>
    Effect.gen(function*() {
      const [span] = yield* recorded(Effect.provide(call, client(403)))
      assert.strictEqual(span?.attributes.get("http.response.status_code"), 403)
      assert.strictEqual(span?.attributes.get("error.type"), "Forbidden")
      assert.strictEqual(span?.status._tag === "Ended" && span.status.exit._tag, "Failure")
    }))

  it.effect("is a child of the span that it is made in, and the parent of what is done for it", () =>
    Effect.gen(function*() {
      const tokens = tokensOf(Effect.withSpan(Effect.succeed(Redacted.make("a-token")), "token"))
      const layer = client(204, tokens)
      const spans = yield* recorded(Effect.withSpan(Effect.provide(call, layer), "program"))
      const parents = spans.map(({ name, parent }) => [
        name,
        Option.getOrUndefined(Option.map(parent, (parent) => parent._tag === "Span" ? parent.name : "external"))
      ])
      assert.deepStrictEqual(parents, [
        ["program", undefined],
        ["identity.deleteEventStream", "program"],
        ["token", "identity.deleteEventStream"]
      ])
    }))

  it.effect("has none if nobody looks at spans", () =>
    Effect.gen(function*() {
      const seen: Array<Option.Option<unknown>> = []
      const tokens = tokensOf(Effect.flatMap(Effect.option(Effect.currentSpan), (span) => {
        seen.push(span)
        return Effect.succeed(Redacted.make("a-token"))
      }))
      yield* Effect.provide(call, client(204, tokens))
      assert.deepStrictEqual(seen, [Option.none()])
    }))
})
