/** One fiber that sleeps until the next thing is due, however many are. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { interruptInBackground, makeRunner } from "./fiber.js"

export interface Timer {
  /** The time of here and now, in milliseconds. */
  readonly now: () => number
  /** Sees to it that it rings at `at` at the latest. It may ring earlier, for what it was meant for before. */
  readonly set: (at: number) => void
  /** Takes back what it was meant for. */
  readonly clear: () => void
}

/** Times that differ by less are the same, in milliseconds: they are sums of fractions. */
const grain = 0.001

/** An alarm for as long as the scope is open, by the clock of here and now. `ring` runs in the alarm's own fiber. */
export const make = (ring: Effect.Effect<void>): Effect.Effect<Timer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { fork } = yield* makeRunner()
    const clock = yield* Clock.clockWith(Effect.succeed)
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
      return ring
    })

    const set = (at: number): void => {
      if (at > wakesAt - grain) return
      clear()
      wakesAt = at
      const sleep = clock.sleep(Duration.millis(Math.max(0, at - clock.unsafeCurrentTimeMillis())))
      sleeper = fork(Effect.zipRight(sleep, wake))
    }

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => sleeper === undefined ? Effect.void : Fiber.interrupt(sleeper))
    )
    return { now: () => clock.unsafeCurrentTimeMillis(), set, clear }
  })
