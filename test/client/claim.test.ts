/** Claims: what a call writes down before its request, which must not be sent twice. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, TestClock } from "effect"
import { createUsersExport, deleteEventStream, Errors, IdentityClient, RateLimiter } from "../../src/index.js"
import { claimed } from "../../src/internal/redelivery/claim.js"
import * as Testing from "../../src/Testing.js"
import { baseUrl, bearer, scripted } from "../support/client.js"
import * as Permits from "../support/permits.js"

const id = "est_0000000000000000000001"

/** A limiter whose permits come when the test says so, and what became of them. */
const slowLimiter = Effect.gen(function*() {
  const opened = yield* Deferred.make<void>()
  const ends: Array<string> = []
  const end = (name: string) => Effect.sync(() => void ends.push(name))
  const layer = Layer.succeed(
    RateLimiter.RateLimiter,
    Permits.limiterOf(() =>
      Effect.as(Deferred.await(opened), {
        settle: (response) => end(response === undefined ? "without a response" : "with a response"),
        giveBack: end("given back")
      })
    )
  )
  return { open: Deferred.succeed(opened, undefined), ends, layer }
})

/** A client over scripted replies and a limiter, a call of it with this claim, and the requests so far. */
const setUp = <E>(
  limiter: Layer.Layer<RateLimiter.RateLimiter>,
  claim: Effect.Effect<void, E>,
  ...replies: ReadonlyArray<Testing.Reply>
) =>
  Effect.map(
    Layer.build(
      IdentityClient.layer({ baseUrl }).pipe(
        Layer.provide([limiter, bearer]),
        Layer.provideMerge(Testing.layerHttp(...replies))
      )
    ),
    (context) => {
      const client = Context.get(context, IdentityClient.IdentityClient)
      return {
        call: claimed(client, client.execute(deleteEventStream.endpoint, { id }), claim),
        requests: Effect.provide(Effect.map(Testing.requests, ({ length }) => length), context)
      }
    }
  )

/** A client of a function that stands in for the service, a call of it, and what was carried out. */
const standIn = Effect.gen(function*() {
  const seen: Array<string> = []
  const handled = Testing.handle(deleteEventStream, () => Effect.sync(() => void seen.push("handled")))
  const client = yield* Effect.provide(IdentityClient.IdentityClient, Testing.layer(handled))
  return { client, execute: client.execute(deleteEventStream.endpoint, { id }), seen }
})

const counted = () => {
  let count = 0
  return { claim: Effect.sync(() => void count++), count: () => count }
}

describe("a claim", () => {
  it.scoped("comes after the permit and before the request", () =>
    Effect.gen(function*() {
      const { layer, open } = yield* slowLimiter
      const seen: Array<string> = []
      const claim: Effect.Effect<void> = Effect.suspend(() =>
        Effect.map(requests, (count) => void seen.push(`claimed after ${count} requests`))
      )
      const { call, requests } = yield* setUp(layer, claim, Testing.reply({ status: 204 }))
      const fiber = yield* Effect.fork(call.run)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([seen, call.state()], [[], "waiting"])
      yield* open
      yield* Fiber.join(fiber)
      assert.deepStrictEqual([seen, call.state(), yield* requests], [["claimed after 0 requests"], "claimed", 1])
    }))

  it.scoped("leaves nothing behind if the call is interrupted while it waits for its permit", () =>
    Effect.gen(function*() {
      const { layer } = yield* slowLimiter
      const { claim, count } = counted()
      const { call, requests } = yield* setUp(layer, claim)
      const fiber = yield* Effect.fork(call.run)
      yield* TestClock.adjust("1 minute")
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.deepStrictEqual([count(), call.state(), yield* requests], [0, "waiting", 0])
    }))

  it.scoped("comes once, however often the request is retried", () =>
    Effect.gen(function*() {
      const { claim, count } = counted()
      const replies = [Testing.noReply("ECONNREFUSED"), Testing.reply({ status: 429 }), Testing.reply({ status: 204 })]
      const { call, requests } = yield* setUp(RateLimiter.layerUnlimited, claim, ...replies)
      const fiber = yield* Effect.fork(call.run)
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual([count(), yield* requests], [1, 3])
    }))

  it.scoped("that fails is the failure of the call: nothing is sent, once, and the permit is given back", () =>
    Effect.gen(function*() {
      const { ends, layer, open } = yield* slowLimiter
      yield* open
      let claims = 0
      const claim = Effect.suspend(() => Effect.fail(`refused ${++claims}`))
      const { call, requests } = yield* setUp(layer, claim, Testing.reply({ status: 204 }))
      assert.strictEqual(yield* Effect.flip(call.run), "refused 1")
      assert.deepStrictEqual([claims, call.state(), yield* requests, ends], [1, "claiming", 0, ["given back"]])
    }))

  it.scoped("that succeeds leaves the failure of the call as it is", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp(RateLimiter.layerUnlimited, Effect.void, Testing.reply({ status: 400 }))
      assert.instanceOf(yield* Effect.flip(call.run), Errors.BadRequest)
    }))

  it.scoped("is not carried out if the call fails before it", () =>
    Effect.gen(function*() {
      const closed = Layer.succeed(RateLimiter.RateLimiter, Permits.limiterOf(() => Effect.die("no permit")))
      const { claim, count } = counted()
      const { call } = yield* setUp(closed, claim)
      assert.deepStrictEqual(yield* Effect.exit(call.run), Exit.die("no permit"))
      assert.deepStrictEqual([count(), call.state()], [0, "waiting"])
    }))

  it.effect("comes before a function that stands in for the service, and once for all calls of an effect", () =>
    Effect.gen(function*() {
      const { client, execute, seen } = yield* standIn
      const claim = Effect.sync(() => void seen.push("claimed"))
      yield* claimed(client, Effect.zipRight(execute, execute), claim).run
      assert.deepStrictEqual(seen, ["claimed", "handled", "handled"])
    }))

  it.effect("that fails keeps such a function from running", () =>
    Effect.gen(function*() {
      const { client, execute, seen } = yield* standIn
      assert.strictEqual(yield* Effect.flip(claimed(client, execute, Effect.fail("refused")).run), "refused")
      assert.deepStrictEqual(seen, [])
    }))

  it.scoped("that is interrupted gives the permit back, and nothing is sent", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(RateLimiter.layerFixed({ limit: 1, interval: "1 day" }))
      const left = Effect.map(Effect.provide(RateLimiter.status, context), ([status]) => status?.remaining)
      const begun = yield* Deferred.make<void>()
      const claim = Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
      const { call, requests } = yield* setUp(Layer.succeedContext(context), claim)
      const fiber = yield* Effect.fork(call.run)
      yield* Deferred.await(begun)
      assert.strictEqual(yield* left, 0)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual([call.state(), yield* requests, yield* left], ["claiming", 0, 1])
    }))

  it.effect("comes before the whole call of a client that knows nothing of claims", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const client = { execute: Effect.sync(() => void seen.push("call")) }
      yield* claimed(client, client.execute, Effect.sync(() => void seen.push("claim"))).run
      assert.deepStrictEqual(seen, ["claim", "call"])
      assert.strictEqual(yield* Effect.flip(claimed(client, client.execute, Effect.fail("refused")).run), "refused")
      assert.deepStrictEqual(seen, ["claim", "call"])
    }))

  it.effect("is carried out by a client of handlers, whose own calls have none", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const handled = Testing.layer(
        Testing.handle(createUsersExport, () => Effect.die("not called")),
        Testing.handle(deleteEventStream, () =>
          Effect.orDie(Effect.provide(
            Effect.tap(deleteEventStream({ id }), () => Effect.sync(() => void seen.push("inner"))),
            scripted(Testing.reply({ status: 204 }))
          )))
      )
      const client = yield* Effect.provide(IdentityClient.IdentityClient, handled)
      const execute = client.execute(deleteEventStream.endpoint, { id })
      yield* claimed(client, execute, Effect.sync(() => void seen.push("claim"))).run
      assert.deepStrictEqual(seen, ["claim", "inner"])
      assert.strictEqual(yield* Effect.flip(claimed(client, execute, Effect.fail("refused")).run), "refused")
      assert.deepStrictEqual(seen, ["claim", "inner"])
    }))
})
