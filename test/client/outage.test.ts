/** A planned outage of a minute with fifty callers: retries, the budget that bounds them, and the circuit. */
import { assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { InvalidInput, TransportError } from "../../src/Errors.js"
import { type CircuitOptions, layer as clientLayer } from "../../src/IdentityClient.js"
import { createUsersExport, deleteEventStream, RateLimiter, Retry } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { baseUrl, bearer } from "../support/client.js"
import { run } from "../support/outage.js"
import * as VirtualTime from "../support/virtualTime.js"

beforeEach(VirtualTime.letRunnerReport)

/** Runs with each seed with and without a budget, made once. */
const both = (seed: number) =>
  Effect.runSync(Effect.cached(Effect.all({
    without: run({ pace: "steady", seed, options: { retryBudget: Infinity } }),
    within: run({ pace: "steady", seed, options: { retryBudget: 0.2 } })
  })))

const runs = [1, 2].map(both)

describe("the retry budget", () => {
  it.effect("bounds nothing by default", () =>
    Effect.gen(function*() {
      const setting = { pace: "steady", outage: [1000, 5000], end: 8000 } as const
      const unbounded = yield* run({ ...setting, options: { retryBudget: Infinity } })
      assert.strictEqual((yield* run(setting)).duringOutage, unbounded.duringOutage)
    }))

  for (const [index, result] of runs.entries()) {
    it.effect(
      `keeps retries below a fifth of all requests, where there were three for each call: run ${index}`,
      () =>
        Effect.map(result, ({ within, without }) => {
          const retries = ({ callsDuringOutage, duringOutage }: typeof within) => duringOutage - callsDuringOutage
          assert.isAbove(retries(without) / without.duringOutage, 0.7)
          assert.isAtMost(retries(within) / within.duringOutage, 0.2)
        }),
      60_000
    )

    it.effect(
      `fails no call that would not have failed: run ${index}`,
      () =>
        Effect.map(result, ({ within, without }) => {
          assert.strictEqual(within.calls.size, without.calls.size)
          const failed = Array.from(within.calls).filter(([, { succeeded }]) => !succeeded)
          assert.isAbove(failed.length, 2000)
          for (const [nth, { began }] of failed) {
            assert.isFalse(without.calls.get(nth)?.succeeded, `call ${nth}, begun at ${began}`)
          }
        }),
      60_000
    )

    it.effect(
      `lets a call fail within seconds while the service is unavailable: run ${index}`,
      () =>
        Effect.map(result, ({ within }) => {
          assert.isAtMost(Math.max(...Array.from(within.calls.values(), ({ millis }) => millis)), 5000)
        }),
      60_000
    )
  }

  it.effect(
    "fails no call that would not have failed in a short outage that hits many at once",
    () =>
      Effect.gen(function*() {
        const setting = { pace: "steady", outage: [3000, 3300], callers: 200, end: 6000 } as const
        const without = yield* run({ ...setting, options: { retryBudget: Infinity } })
        const { calls } = yield* run({ ...setting, options: { retryBudget: 0.2 } })
        for (const [nth, { succeeded }] of calls) {
          assert.isTrue(succeeded || without.calls.get(nth)?.succeeded === false)
        }
      }),
    60_000
  )

  it.effect("also lets a single caller fail, whose calls nobody else makes", () =>
    Effect.gen(function*() {
      const { calls, duringOutage } = yield* run({ pace: "eager", callers: 1, options: { retryBudget: 0 } })
      assert.isAbove(calls.size, 10)
      assert.isAtMost(duringOutage, 10 + 60 + Array.from(calls.values()).length)
    }))

  it.effect("does not bound the retries after 429", () =>
    Effect.gen(function*() {
      const result = yield* run({
        pace: "steady",
        status: 429,
        options: { retryBudget: 0 },
        outage: [1000, 5000],
        end: 8000
      })
      assert.isAtLeast(result.duringOutage, 3 * result.callsDuringOutage)
    }))
})

const over = (
  options: { readonly circuit?: CircuitOptions; readonly retryBudget?: number },
  ...replies: ReadonlyArray<Testing.Reply>
) =>
  clientLayer({ baseUrl, ...options }).pipe(
    Layer.provide([RateLimiter.layerUnlimited, bearer]),
    Layer.provideMerge(Testing.layerHttp(...replies))
  )

const operation = deleteEventStream({ id: "est_0123456789012345678901" })
const once = Retry.withoutRetries(operation)
const away = Testing.reply({ status: 503 })
const back = Testing.reply({ status: 204 })

/** The code of a call's failure. */
const codeOf = (error: unknown) => error instanceof TransportError ? error.code : undefined

describe("a circuit", () => {
  it.effect("opens after failures in a row, and refuses calls as not sent", () =>
    Effect.gen(function*() {
      yield* Effect.flip(once)
      yield* once
      for (const _ of [1, 2]) yield* Effect.flip(once)
      const error = yield* Effect.flip(once)
      assert.deepInclude(error, { _tag: "TransportError", outcome: "not-sent", code: "CIRCUIT_OPEN" })
      assert.lengthOf(yield* Testing.requests, 4)
    }).pipe(Effect.provide(over({ circuit: { failures: 2 } }, away, back, away, away))))

  it.effect("lets one call through after its delay, which doubles, and closes when that succeeds", () =>
    Effect.gen(function*() {
      yield* Effect.flip(once)
      const isRefused = Effect.map(Effect.flip(once), (error) => codeOf(error) === "CIRCUIT_OPEN")
      yield* TestClock.adjust(999)
      assert.isTrue(yield* isRefused)
      yield* TestClock.adjust(1)
      assert.isFalse(yield* isRefused) // sent, and the service is still away
      yield* TestClock.adjust(1999)
      assert.isTrue(yield* isRefused)
      yield* TestClock.adjust(1)
      yield* once
      yield* once
      assert.lengthOf(yield* Testing.requests, 4)
    }).pipe(Effect.provide(over({ circuit: { failures: 1, delay: "1 second" } }, away, away, back, back))))

  it.effect("leaves the outcome of an attempt that was sent, and ends the call", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(operation).pipe(Effect.fork, Effect.tap(() => TestClock.adjust("1 minute")))
      const failure = yield* Effect.flatMap(error.await, (exit) => exit)
      assert.deepInclude(failure, { _tag: "UnexpectedResponse", status: 503 })
      assert.lengthOf(yield* Testing.requests, 1)
    }).pipe(Effect.provide(over({ circuit: { failures: 1, delay: "1 hour", maxDelay: "1 hour" } }, away))))

  it.effect("does not count responses that show that the service is there", () =>
    Effect.gen(function*() {
      for (let time = 0; time < 5; time++) yield* Effect.flip(Retry.withoutRetries(createUsersExport({})))
      assert.lengthOf(yield* Testing.requests, 5)
    }).pipe(Effect.provide(over(
      { circuit: { failures: 1 } },
      ...[400, 401, 403, 429, 404].map((status) => Testing.reply({ status }))
    ))))

  it.effect("sends few requests during an outage", () =>
    Effect.gen(function*() {
      const result = yield* run({ pace: "steady", options: { circuit: {} } })
      assert.isAtMost(result.duringOutage, 30)
      const late = Array.from(result.calls.values()).filter(({ began, succeeded }) =>
        !succeeded && began > 70_000 + 30_000
      )
      assert.deepStrictEqual(late, [])
    }))
})

describe("a client's options", () => {
  it.effect("name each field that is out of range", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Layer.build(over({
        retryBudget: -1,
        circuit: { failures: 0, delay: 0, maxDelay: Infinity }
      })))
      assert.instanceOf(error, InvalidInput)
      assert.deepStrictEqual(error.issues.map(({ path }) => path), [
        "retryBudget",
        "circuit.failures",
        "circuit.delay",
        "circuit.maxDelay"
      ])
    }).pipe(Effect.scoped))
})

describe("retryRateLimited", () => {
  it.effect("decides for each 429, by operation, attempt and Retry-After", () =>
    Effect.gen(function*() {
      const seen: Array<Retry.Refusal> = []
      const call = yield* operation.pipe(
        Retry.withPolicy({
          retryRateLimited: (refusal) => {
            seen.push(refusal)
            return refusal.retryAfter === undefined
          }
        }),
        Effect.flip,
        Effect.fork
      )
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* call, { _tag: "RateLimited", source: "service" })
      assert.deepStrictEqual(seen.map(({ attempt, operation }) => [operation, attempt]), [
        ["deleteEventStream", 1],
        ["deleteEventStream", 2]
      ])
      assert.lengthOf(yield* Testing.requests, 2)
    }).pipe(Effect.provide(over(
      {},
      Testing.reply({ status: 429 }),
      Testing.reply({ status: 429, headers: { "retry-after": "5" } }),
      back
    ))))
})
