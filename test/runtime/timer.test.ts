import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Scope, TestClock } from "effect"
import * as Timer from "../../src/internal/runtime/timer.js"

/** A timer that writes down when it fires. */
const makeTimer = Effect.gen(function*() {
  const fired: Array<number> = []
  const clock = yield* Clock.clockWith(Effect.succeed)
  const timer = (yield* Timer.make).make(() => void fired.push(clock.unsafeCurrentTimeMillis()))
  return { timer, fired }
})

describe("Timer", () => {
  it.scoped("fires once at the time that was set", () =>
    Effect.gen(function*() {
      const { fired, timer } = yield* makeTimer
      timer.set(timer.now() + 500)
      yield* TestClock.adjust(499)
      assert.deepStrictEqual(fired, [])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(fired, [500])
    }))

  it.scoped("fires at the earliest of several times, and then only for a time that is set again", () =>
    Effect.gen(function*() {
      const { fired, timer } = yield* makeTimer
      for (const at of [500, 300, 400]) timer.set(at)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(fired, [300])
      timer.set(timer.now())
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(fired, [300, 60_000])
    }))

  it.scoped("fires no more when it was cleared or its scope was closed", () =>
    Effect.gen(function*() {
      const { fired, timer } = yield* makeTimer
      timer.set(100)
      timer.clear()
      const scope = yield* Scope.make()
      const other = yield* Scope.extend(makeTimer, scope)
      other.timer.set(100)
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([...fired, ...other.fired], [])
    }))

  it.scoped("stops with its scope although it was made where nothing can be interrupted", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { fired, timer } = yield* Effect.uninterruptible(Scope.extend(makeTimer, scope))
      timer.set(100)
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(fired, [])
    }))

  it.scoped("fires early, after an hour, where it is set to a later time, and never where that is infinite", () =>
    Effect.gen(function*() {
      const { fired, timer } = yield* makeTimer
      timer.set(Infinity)
      yield* TestClock.adjust("3 hours")
      assert.deepStrictEqual(fired, [])
      timer.set(timer.now() + 3_000_000_000)
      yield* TestClock.adjust("3 hours")
      assert.deepStrictEqual(fired, [4 * 3_600_000])
    }))
})
