/** The rules of the retry budget alone. `outage.test.ts` has what they do to calls. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import * as RetryBudget from "../../src/internal/call/retryBudget.js"

/** A budget in an outage, with no retry left. */
const inOutage = (share: number) =>
  Effect.map(RetryBudget.make(share), (budget) => {
    for (let nth = 0; nth < 50; nth++) budget.attemptFailed("an operation", budget.attemptStarted())
    while (budget.take());
    return budget
  })

/** Begins to wait for a retry. */
const wait = (budget: RetryBudget.RetryBudget, queue: string, timeLimit = 1000) =>
  Effect.tap(Effect.fork(budget.wait(queue, timeLimit)), () => TestClock.adjust(0))

/** Gives the result of each wait that has ended. */
const results = (waits: ReadonlyArray<Fiber.RuntimeFiber<boolean>>) =>
  waits.map((fiber) => {
    const exit = fiber.unsafePoll()
    return exit === null ? "waits" : exit._tag === "Success" ? exit.value : "failed"
  })

describe("a retry budget", () => {
  it.scoped("allows ten retries at once, one more in each second, and its share of the calls", () =>
    Effect.gen(function*() {
      const budget = yield* inOutage(0.25)
      yield* TestClock.adjust("999 millis")
      assert.isFalse(budget.take())
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual([budget.take(), budget.take()], [true, false])
      for (let call = 0; call < 4; call++) budget.callStarted()
      assert.deepStrictEqual([budget.take(), budget.take()], [true, false])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(Array.from({ length: 11 }, budget.take), [
        ...Array.from({ length: 10 }, () => true),
        false
      ])
    }))

  it.scoped("allows all retries unless fifty attempts in a row have failed", () =>
    Effect.gen(function*() {
      const budget = yield* RetryBudget.make(0)
      const fail = () => budget.attemptFailed("an operation", budget.attemptStarted())
      for (let nth = 0; nth < 49; nth++) fail()
      assert.isTrue(Array.from({ length: 100 }, budget.take).every((isAllowed) => isAllowed))
      budget.endOutage()
      for (let nth = 0; nth < 49; nth++) fail()
      assert.isTrue(budget.take())
      fail()
      assert.isFalse(budget.take())
    }))

  it.scoped("gives retries that come back to those that have waited longest", () =>
    Effect.gen(function*() {
      const budget = yield* inOutage(1)
      const waits = yield* Effect.forEach(["a", "b", "c", "d"], (queue) => wait(budget, queue))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(results(waits), [true, "waits", "waits", "waits"])
      assert.isFalse(budget.take())
      budget.callStarted()
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(results(waits), [true, true, "waits", "waits"])
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(results(waits), [true, true, true, true])
    }))

  it.scoped("gives none to a wait that was interrupted", () =>
    Effect.gen(function*() {
      const budget = yield* inOutage(0)
      const first = yield* wait(budget, "a")
      const second = yield* wait(budget, "b")
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(results([second]), [true])
    }))

  it.scoped("ends waits in vain when a later attempt of the same queue has failed", () =>
    Effect.gen(function*() {
      const budget = yield* inOutage(0)
      const earlier = budget.attemptStarted()
      const waits = yield* Effect.forEach(["a", "b"], (queue) => wait(budget, queue))
      budget.attemptFailed("a", earlier)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(results(waits), ["waits", "waits"])
      budget.attemptFailed("a", budget.attemptStarted())
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(results(waits), [false, "waits"])
      budget.endOutage()
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(results(waits), [false, true])
    }))

  it.scoped("learns nothing from an attempt that timed out after less time than a retry has", () =>
    Effect.gen(function*() {
      const budget = yield* inOutage(0)
      const waits = yield* Effect.forEach([100, 101], (timeLimit) => wait(budget, "a", timeLimit))
      budget.attemptFailed("a", budget.attemptStarted(), 99)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(results(waits), ["waits", "waits"])
      budget.attemptFailed("a", budget.attemptStarted(), 100)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(results(waits), [false, "waits"])
    }))

  it.scoped("warns once in an outage, and at most once a minute", () =>
    Effect.gen(function*() {
      const budget = yield* RetryBudget.make(0)
      assert.deepStrictEqual([budget.shouldWarn(), budget.shouldWarn()], [true, false])
      yield* TestClock.adjust("1 hour")
      assert.isFalse(budget.shouldWarn())
      budget.endOutage()
      assert.isTrue(budget.shouldWarn())
      budget.endOutage()
      yield* TestClock.adjust("59 seconds")
      assert.isFalse(budget.shouldWarn())
      yield* TestClock.adjust("1 second")
      assert.isTrue(budget.shouldWarn())
    }))
})
