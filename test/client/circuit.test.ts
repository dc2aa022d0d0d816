/** A client's circuit: what opens and closes it, and the calls that it refuses. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"
import { InvalidInput, TransportError } from "../../src/Errors.js"
import { createUsersExport, IdentityClient, RateLimiter, Retry } from "../../src/index.js"
import { Circuit } from "../../src/internal/call/circuit.js"
import * as Testing from "../../src/Testing.js"
import { baseUrl, bearer } from "../support/client.js"
import { deletion as operation, run, unsent } from "../support/outage.js"
import * as Permits from "../support/permits.js"

/** Provides a client above these replies, and its limiter. */
const over = (
  options: IdentityClient.Defaults,
  replies: ReadonlyArray<Testing.Reply>,
  limiter: Layer.Layer<RateLimiter.RateLimiter> = RateLimiter.layerUnlimited
) =>
  IdentityClient.layer({ baseUrl, ...options }).pipe(
    Layer.provide(bearer),
    Layer.provideMerge(Layer.merge(limiter, Testing.layerHttp(...replies)))
  )

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
    }).pipe(Effect.provide(over({ circuit: { failures: 2 } }, [away, back, away, away]))))

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
    }).pipe(Effect.provide(over({ circuit: { failures: 1, delay: "1 second" } }, [away, away, back, back]))))

  it.effect("leaves the outcome of an attempt that was sent, and ends the call", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(operation).pipe(Effect.fork, Effect.tap(() => TestClock.adjust("1 minute")))
      const failure = yield* Effect.flatMap(error.await, (exit) => exit)
      assert.deepInclude(failure, { _tag: "UnexpectedResponse", status: 503 })
      assert.lengthOf(yield* Testing.requests, 1)
    }).pipe(Effect.provide(over({ circuit: { failures: 1, delay: "1 hour", maxDelay: "1 hour" } }, [away]))))

  it.effect("opens and closes without a retry budget, too", () =>
    Effect.gen(function*() {
      assert.isUndefined(codeOf(yield* Effect.flip(once)))
      assert.strictEqual(codeOf(yield* Effect.flip(once)), "CIRCUIT_OPEN")
      yield* TestClock.adjust("1 second")
      yield* once
      yield* once
    }).pipe(Effect.provide(over({ circuit: { failures: 1 }, retryBudget: Infinity }, [away, back, back]))))

  it.effect("does not count responses that show that the service is there", () =>
    Effect.gen(function*() {
      for (let time = 0; time < 5; time++) yield* Effect.flip(Retry.withoutRetries(createUsersExport({})))
      assert.lengthOf(yield* Testing.requests, 5)
    }).pipe(Effect.provide(over(
      { circuit: { failures: 1 } },
      [400, 401, 403, 429, 404].map((status) => Testing.reply({ status }))
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

  it.effect("does not count attempts that were not sent in time, which say nothing of the service", () =>
    Effect.gen(function*() {
      const calls = yield* Effect.fork(Effect.replicateEffect(
        Effect.flip(IdentityClient.withTimeout(once, "1 second")),
        3
      ))
      yield* TestClock.adjust("3 seconds")
      const errors = yield* Fiber.join(calls)
      for (const error of errors) assert.deepInclude(error, { outcome: "not-sent", code: "TIMEOUT" })
      assert.lengthOf(errors, 3)
    }).pipe(Effect.provide(unsent({ circuit: { failures: 1 } }, () => {}))))

  const limited = Layer.orDie(RateLimiter.layerFixed({ limit: 1, interval: "10 seconds" }))

  it.effect("lets through a call that waited for a permit meanwhile", () =>
    Effect.gen(function*() {
      const calls = yield* Effect.forEach([1, 2], () => Effect.fork(Effect.exit(once)))
      yield* TestClock.adjust("11 seconds")
      const exits = yield* Effect.forEach(calls, Fiber.join)
      assert.deepStrictEqual(exits.map(({ _tag }) => _tag), ["Failure", "Success"])
      const later = yield* Effect.fork(once)
      yield* TestClock.adjust("11 seconds")
      yield* Fiber.join(later)
      assert.lengthOf(yield* Testing.requests, 3)
    }).pipe(Effect.provide(over({ circuit: { failures: 1, delay: "5 seconds" } }, [away, back, back], limited))))

  const closed = { circuit: { failures: 1, delay: "1 hour", maxDelay: "1 hour" } } as const

  it.effect("gives back the permits of calls that it refuses after a wait", () =>
    Effect.gen(function*() {
      const calls = yield* Effect.forEach([1, 2, 3], () => Effect.fork(Effect.flip(once)))
      yield* TestClock.adjust("11 seconds")
      const [, ...refused] = yield* Effect.forEach(calls, Fiber.join)
      for (const error of refused) assert.deepInclude(error, { outcome: "not-sent", code: "CIRCUIT_OPEN" })
      assert.lengthOf(refused, 2)
      assert.deepStrictEqual((yield* RateLimiter.status).map(({ remaining }) => remaining), [1])
      assert.lengthOf(yield* Testing.requests, 1)
    }).pipe(Effect.provide(over(closed, [away], limited))))

  it.effect("settles the permits of a limiter that takes none back", () => {
    let settled = 0
    const limiter = Layer.succeed(
      RateLimiter.RateLimiter,
      Permits.limiterOf(() => Effect.as(Effect.sleep("1 second"), { settle: () => Effect.sync(() => void settled++) }))
    )
    return Effect.gen(function*() {
      const calls = yield* Effect.forEach([0, 500], (wait) => Effect.fork(Effect.delay(Effect.flip(once), wait)))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual((yield* Effect.forEach(calls, Fiber.join)).map(codeOf), [undefined, "CIRCUIT_OPEN"])
      assert.strictEqual(settled, 2)
    }).pipe(Effect.provide(over(closed, [away], limiter)))
  })
})

describe("a circuit that is open", () => {
  const opened = () => {
    const circuit = new Circuit({ failures: 2, delay: 1000, maxDelay: 3000 })
    const entered = [0, 0, 0].map((now) => circuit.enter(now) ?? -1)
    for (const each of entered.slice(0, 2)) circuit.attemptEnded(each, true, 0)
    return { circuit, before: entered[2] ?? -1 }
  }

  it("lets one attempt through after each delay, though that attempt never ends", () => {
    const { circuit } = opened()
    const isLetThrough = (now: number) => circuit.enter(now) !== undefined
    assert.deepStrictEqual([999, 1000, 1001, 1999, 2000, 2001].map(isLetThrough), [
      false,
      true,
      false,
      false,
      true,
      false
    ])
  })

  it("learns nothing from an attempt that began before", () => {
    const { before, circuit } = opened()
    assert.isFalse(circuit.attemptEnded(before, false, 500))
    assert.isTrue(circuit.isOpen)
    const next = circuit.enter(1000) ?? -1
    assert.isFalse(circuit.attemptEnded(before, true, 1500)) // nor does that keep it open for longer
    assert.isTrue(circuit.attemptEnded(next, false, 1600))
    assert.isFalse(circuit.isOpen)
  })

  it("doubles its delay up to a bound", () => {
    const { circuit } = opened()
    let now = 0
    const delays = Array.from({ length: 4 }, () => {
      const from = now
      let entered: number | undefined
      while ((entered = circuit.enter(now)) === undefined && now < 100_000) now += 500
      circuit.attemptEnded(entered ?? -1, true, now)
      return now - from
    })
    assert.deepStrictEqual(delays, [1000, 2000, 3000, 3000])
  })
})

describe("a client's options", () => {
  it.effect("name each field that is out of range", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Layer.build(over({
        retry: { attempts: NaN },
        retryBudget: -1,
        maxBodySize: NaN,
        timeout: 0,
        circuit: { failures: 0, delay: 0, maxDelay: Infinity }
      }, [])))
      assert.instanceOf(error, InvalidInput)
      assert.deepStrictEqual(error.issues, [
        { path: "retry.attempts", message: "expected a number of at least 0" },
        { path: "retryBudget", message: "expected a number of at least 0" },
        { path: "maxBodySize", message: "expected a number of at least 0" },
        { path: "circuit.failures", message: "expected an integer of at least 1" },
        { path: "timeout", message: "expected a time above zero" },
        { path: "circuit.delay", message: "expected a time above zero" },
        { path: "circuit.maxDelay", message: "expected a time above zero" }
      ])
    }).pipe(Effect.scoped))
})
