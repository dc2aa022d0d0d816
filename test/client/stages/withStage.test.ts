/** Stages of users, around the requests of a client. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Ref, TestClock } from "effect"
import { deleteEventStream, IdentityClient, RateLimiter } from "../../../src/index.js"
import * as Testing from "../../../src/Testing.js"
import { baseUrl, bearer } from "../../support/client.js"

const id = "est_0123456789012345678901"
const call = deleteEventStream({ id })

const over = (stages: ReadonlyArray<IdentityClient.Stage>, ...replies: ReadonlyArray<Testing.Reply>) =>
  IdentityClient.layer({ baseUrl, stages }).pipe(
    Layer.provide([RateLimiter.layerUnlimited, bearer]),
    Layer.provideMerge(Testing.layerHttp(...replies))
  )

/** Adds a header with the number of the attempt. */
const numbered: IdentityClient.Stage = (next) => (call) =>
  next({ ...call, headers: { ...call.headers, "x-attempt": `${call.attempt}`, authorization: "Bearer stolen" } })

describe("a stage", () => {
  it.effect("adds a header to every attempt, but cannot see or replace the token", () =>
    Effect.gen(function*() {
      const seen = yield* Ref.make<ReadonlyArray<string>>([])
      const noted: IdentityClient.Stage = (next) => (call) =>
        Effect.zipRight(Ref.update(seen, (names) => [...names, JSON.stringify(call)]), next(call))
      const fiber = yield* Effect.fork(call.pipe(
        IdentityClient.withStage(numbered),
        Effect.zipRight(Testing.requests),
        Effect.provide(over([noted], Testing.reply({ status: 503 }), Testing.reply({ status: 204 })))
      ))
      yield* TestClock.adjust("1 minute")
      const requests = yield* Fiber.join(fiber)
      assert.deepStrictEqual(requests.map(({ headers }) => headers["x-attempt"]), ["1", "2"])
      assert.deepStrictEqual(
        new Set(requests.map(({ headers }) => headers["authorization"])).has("Bearer stolen"),
        false
      )
      for (const text of yield* Ref.get(seen)) assert.notMatch(text, /authorization|bearer|token/i)
    }))

  it.effect("of the layer is around those of an effect, and the first around the others", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const named = (name: string): IdentityClient.Stage => (next) => (call) => {
        seen.push(name)
        return next(call)
      }
      const inner = IdentityClient.withStage(call, named("c"))
      yield* IdentityClient.withStage(inner, named("d")).pipe(
        Effect.provide(over([named("a"), named("b")], Testing.reply({ status: 204 })))
      )
      assert.deepStrictEqual(seen, ["a", "b", "d", "c"])
    }))

  it.effect("makes calls of its own without itself", () =>
    Effect.gen(function*() {
      const replies = [Testing.reply({ status: 204 }), Testing.reply({ status: 204 })]
      const context = yield* Layer.build(over([], ...replies))
      const audited: IdentityClient.Stage = (next) => (sent) =>
        Effect.zipRight(Effect.ignore(Effect.provide(call, context)), next(sent))
      yield* Effect.provide(IdentityClient.withStage(call, audited), context)
      assert.lengthOf(yield* Effect.provide(Testing.requests, context), 2)
    }).pipe(Effect.scoped))
})
