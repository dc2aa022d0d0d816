import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Logger, LogLevel, Scope, TestClock } from "effect"
import * as Timeouts from "../../src/internal/runtime/timeouts.js"
import { skewed } from "../support/fleet.js"
import { countSleeps } from "../support/sleeps.js"

const breathe = Effect.repeatN(Effect.yieldNow(), 100)

describe("time-outs", () => {
  it.scoped("end at their own times, in whatever order they were added", () =>
    Effect.gen(function*() {
      const timeouts = yield* Timeouts.make
      const ended: Array<string> = []
      for (const millis of [300, 100, 200, 100]) {
        timeouts.add(millis, (reason) => void ended.push(`${millis} ${reason}`))
      }
      yield* TestClock.adjust("99 millis")
      assert.deepStrictEqual(ended, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(ended, ["100 TIMEOUT", "100 TIMEOUT"])
      yield* TestClock.adjust("200 millis")
      assert.deepStrictEqual(ended.slice(2), ["200 TIMEOUT", "300 TIMEOUT"])
    }))

  it.scoped("end at their own times after any fraction of a millisecond, although sums of fractions are inexact", () =>
    Effect.gen(function*() {
      const timeouts = yield* Timeouts.make
      for (let nth = 0; nth < 200; nth++) {
        yield* TestClock.adjust(Duration.nanos(12_345_678n))
        let ended = ""
        timeouts.add(10_000, (reason) => void (ended = reason))
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(ended, "TIMEOUT", `time-out ${nth}`)
      }
    }))

  it.scoped("share one sleeping fiber", () =>
    Effect.gen(function*() {
      const sleeps = yield* countSleeps
      const timeouts = yield* Timeouts.make
      for (let millis = 1; millis <= 1000; millis++) timeouts.add(1000 + millis, () => {})
      yield* breathe
      assert.strictEqual(yield* sleeps, 1)
    }))

  it.scoped("end after their time if the time of day is set back meanwhile", () =>
    Effect.gen(function*() {
      const { clock, skew } = skewed(yield* Effect.clock)
      const timeouts = yield* Effect.withClock(Timeouts.make, clock)
      const ended: Array<string> = []
      timeouts.add(100, (reason) => void ended.push(reason))
      skew.millis = -3_600_000
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(ended, ["TIMEOUT"])
    }))

  it.scoped("log nothing when they end", () => {
    const notes: Array<unknown> = []
    const logger = Logger.make(({ message }) => void notes.push(message))
    return Effect.gen(function*() {
      const timeouts = yield* Timeouts.make
      let passed = 0
      for (const millis of [5, 10]) timeouts.add(millis, () => void passed++)
      yield* TestClock.adjust("10 millis")
      assert.deepStrictEqual([passed, ...notes], [2])
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)), Logger.withMinimumLogLevel(LogLevel.Debug))
  })

  it.effect("end with their scope, and with them what has no other end", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const timeouts = yield* Scope.extend(Timeouts.make, scope)
      const ended: Array<string> = []
      const forget = timeouts.onClose(() => void ended.push("forgotten"))
      timeouts.onClose(() => void ended.push("a wait"))
      timeouts.add(100, (reason) => void ended.push(reason))
      forget()
      yield* TestClock.adjust("99 millis")
      assert.deepStrictEqual([timeouts.isOpen(), ended], [true, []])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual([timeouts.isOpen(), ended], [false, ["CLOSED", "a wait"]])
    }))

  it.scoped("leave no sleeping fiber after all are cancelled and the last time has passed", () =>
    Effect.gen(function*() {
      const sleeps = yield* countSleeps
      const timeouts = yield* Timeouts.make
      for (const cancel of [100, 200].map((millis) => timeouts.add(millis, () => {}))) cancel()
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* sleeps, 0)
    }))

  it.scoped("go on for other tasks if one throws when it starts", () =>
    Effect.gen(function*() {
      const timeouts = yield* Timeouts.make
      const run = (millis: number, task: Timeouts.CallbackTask<never, never>) =>
        Effect.uninterruptible(
          Timeouts.runWithin({ timeouts, millis }, task, (reason) => reason)
        )
      const thrown = yield* Effect.exit(run(5, () => {
        throw new Error("boom")
      }))
      assert.isTrue(Exit.isFailure(thrown))
      const other = yield* Effect.fork(Effect.flip(run(10, () => () => true)))
      yield* TestClock.adjust("10 millis")
      assert.strictEqual(yield* Fiber.join(other), "TIMEOUT")
    }))

  it.scoped("go on for other tasks if one throws when it is stopped, and may have had an effect", () =>
    Effect.gen(function*() {
      const timeouts = yield* Timeouts.make
      const run = (task: Timeouts.CallbackTask<never, never>) =>
        Effect.uninterruptible(
          Timeouts.runWithin({ timeouts, millis: 10 }, task, (reason, hasBegun) => `${reason} ${hasBegun}`)
        )
      const throwing = run(() => () => {
        throw new Error("boom")
      })
      const thrown = yield* Effect.fork(Effect.flip(throwing))
      const other = yield* Effect.fork(Effect.flip(run(() => () => false)))
      const interrupted = yield* Effect.fork(throwing)
      yield* Effect.yieldNow()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(interrupted)))
      yield* TestClock.adjust("10 millis")
      assert.strictEqual(yield* Fiber.join(other), "TIMEOUT false")
      assert.strictEqual(yield* Fiber.join(thrown), "TIMEOUT true")
    }))

  it.effect("refuse a task when their scope is closed, without starting it", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const timeouts = yield* Scope.extend(Timeouts.make, scope)
      yield* Scope.close(scope, Exit.void)
      let started = 0
      const task = (done: (result: Effect.Effect<void>) => void) => {
        done(Effect.sync(() => void started++))
        return () => true
      }
      const ended = (reason: string, hasBegun: boolean) => `${reason} ${hasBegun}`
      const refused = Timeouts.runWithin({ timeouts, millis: 5 }, task, ended)
      assert.strictEqual(yield* Effect.flip(refused), "CLOSED false")
      assert.strictEqual(started, 0)
    }))

  it.effect("end with their scope", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const timeouts = yield* Scope.extend(Timeouts.make, scope)
      const reasons: Array<string> = []
      timeouts.add(5, (reason) => void reasons.push(reason))
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(reasons, ["CLOSED"])
    }))
})
