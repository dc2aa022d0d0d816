/** Timers, each of which wakes at the earliest time that it is set to. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { interruptInBackground } from "./fiber.js"
import { monotonicMillis } from "./monotonicClock.js"
import { makeRunner } from "./runner.js"

export interface Timer extends Pick<Timers, "now"> {
  /** Lets the timer fire at `at`, or earlier if it is set to an earlier time already. */
  readonly set: (at: number) => void
  readonly clear: () => void
}

export interface Timers {
  /** The time of the monotonic clock, in milliseconds: a timer that follows the time of day would oversleep when that is set. */
  readonly now: () => number
  /** Makes a timer; `onFire` runs in a fiber of its own. */
  readonly make: (onFire: () => void) => Timer
}

/** Times that differ by less, in milliseconds, count as equal: they are sums of fractions. */
export const grain = 0.001

/** The longest sleep, in milliseconds: the runtime's own timers cannot sleep for a month. A timer that is set to later fires earlier. */
const longestSleep = 3_600_000

/** Makes timers that stop when the scope is closed. */
export const make: Effect.Effect<Timers, never, Scope.Scope> = /* @__PURE__ */ Effect.gen(function*() {
  const { fork } = yield* makeRunner()
  const clock = yield* Effect.clock
  const now = () => monotonicMillis(clock)
  const sleepers = new Set<Fiber.RuntimeFiber<void>>()
  yield* Effect.addFinalizer(() => Effect.suspend(() => Fiber.interruptAll(sleepers)))

  const makeTimer = (onFire: () => void): Timer => {
    let sleeper: Fiber.RuntimeFiber<void> | undefined
    let wakesAt = Infinity

    const end = (): void => {
      if (sleeper !== undefined) sleepers.delete(sleeper)
      sleeper = undefined
      wakesAt = Infinity
    }

    const clear = (): void => {
      if (sleeper !== undefined) interruptInBackground(sleeper)
      end()
    }

    const wake = Effect.sync(() => {
      end()
      onFire()
    })

    const set = (at: number): void => {
      if (at > wakesAt - grain || at === Infinity) return
      clear()
      wakesAt = at
      const sleep = clock.sleep(Duration.millis(Math.min(Math.max(0, at - now()), longestSleep)))
      sleeper = fork(Effect.zipRight(sleep, wake))
      sleepers.add(sleeper)
    }

    return { now, set, clear }
  }
  return { now, make: makeTimer }
})
