/** The pauses of a process that loses a compare-and-set again and again. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** In milliseconds. */
const longest = 16

/** Waits after so many writes that others have won: not after the first, then for a random time up to one that doubles. */
export const pauseAfter = (losses: number): Effect.Effect<void> =>
  losses < 2 ? Effect.void : Effect.flatMap(Random.nextRange(0, Math.min(longest, 2 ** (losses - 1))), Effect.sleep)
