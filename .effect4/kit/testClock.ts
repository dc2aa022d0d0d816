/** The `TestClock`, which lets fibers run until they sleep or wait before it moves. */
import { type Duration, Effect } from "effect"
import * as Original from "../node_modules/effect/dist/testing/TestClock.js"

export * from "../node_modules/effect/dist/testing/TestClock.js"

/** Turns of the scheduler, more than any fiber of a test needs until it sleeps. */
const turns = 25

const settled = Effect.repeat(Effect.yieldNow, { times: turns })

export const adjust = (duration: Duration.Input): Effect.Effect<void> =>
  Effect.andThen(settled, Original.adjust(duration))

export const setTime = (timestamp: number): Effect.Effect<void> => Effect.andThen(settled, Original.setTime(timestamp))
