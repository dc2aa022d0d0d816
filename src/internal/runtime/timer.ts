/** A timer that one fiber serves, however often it is set. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { interruptInBackground } from "./fiber.js"
import { monotonicMillis } from "./monotonicClock.js"
import { makeRunner } from "./runner.js"

export interface Timer {
  /** The time of the monotonic clock, in milliseconds: a timer that follows the time of day would oversleep when that is set. */
  readonly now: () => number
  /** Lets the timer fire at `at`, or earlier if it is set to an earlier time already. */
  readonly set: (at: number) => void
  readonly clear: () => void
}

/** Times that differ by less, in milliseconds, count as equal: they are sums of fractions. */
export const grain = 0.001

/** Makes a timer for the lifetime of the scope. `onFire` runs in the timer's own fiber. */
export const make = (onFire: Effect.Effect<void>): Effect.Effect<Timer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { fork } = yield* makeRunner()
    const clock = yield* Effect.clock
    const now = () => monotonicMillis(clock)
    let sleeper: Fiber.RuntimeFiber<void> | undefined
    let wakesAt = Infinity

    const clear = (): void => {
      if (sleeper !== undefined) interruptInBackground(sleeper)
      sleeper = undefined
      wakesAt = Infinity
    }

    const wake = Effect.suspend(() => {
      sleeper = undefined
      wakesAt = Infinity
      return onFire
    })

    const set = (at: number): void => {
      if (at > wakesAt - grain) return
      clear()
      wakesAt = at
      const sleep = clock.sleep(Duration.millis(Math.max(0, at - now())))
      sleeper = fork(Effect.zipRight(sleep, wake))
    }

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => sleeper === undefined ? Effect.void : Fiber.interrupt(sleeper))
    )
    return { now, set, clear }
  })
