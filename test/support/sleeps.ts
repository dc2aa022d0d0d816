/** How many fibers sleep by the `TestClock`: its `sleep` is counted from the first call on. */
import { type Clock, Effect } from "effect"

interface Counter {
  sleeping: number
}

const counters = new WeakMap<Clock.Clock, Counter>()

const counterOf = (clock: Clock.Clock): Counter => {
  const known = counters.get(clock)
  if (known !== undefined) return known
  const counter = { sleeping: 0 }
  const sleep = clock.sleep.bind(clock)
  const counted: Clock.Clock["sleep"] = (duration) =>
    Effect.acquireUseRelease(
      Effect.sync(() => void counter.sleeping++),
      () => sleep(duration),
      () => Effect.sync(() => void counter.sleeping--)
    )
  Object.assign(clock, { sleep: counted })
  counters.set(clock, counter)
  return counter
}

/** Begins to count: call it before the fibers start that are to be counted. */
export const countSleeps: Effect.Effect<Effect.Effect<number>> = Effect.map(Effect.clock, (clock) => {
  const counter = counterOf(clock)
  return Effect.sync(() => counter.sleeping)
})

/** The most turns of the event loop to wait: a fiber may have fallen asleep before the count began. */
const mostTurns = 500

/** Waits until a fiber sleeps by the TestClock: signing and sending take real time. */
export const waitForSleep: Effect.Effect<void> = Effect.flatMap(
  countSleeps,
  (sleeps) =>
    Effect.promise(() => new Promise((resume) => setImmediate(resume))).pipe(
      Effect.zipRight(sleeps),
      Effect.repeat({ times: mostTurns, until: (count) => count > 0 })
    )
)
