/** Computes waits between attempts. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** The limits of a wait: up to `delay` after the first attempt, up to twice as long after each further one, up to `maxDelay`. */
export interface Growth {
  readonly delay: Duration.DurationInput
  readonly maxDelay: Duration.DurationInput
}

/** The most doublings of a wait. With more, the factor is infinite, and zero times infinity is not a number. */
const maxDoublings = 1000

/** Picks a random wait after this many attempts, in milliseconds. It is never shorter than `retryAfter`. */
export const backoff = (
  { delay, maxDelay }: Growth,
  attempts: number,
  retryAfter = Duration.zero
): Effect.Effect<number> => {
  const factor = 2 ** Math.min(attempts - 1, maxDoublings)
  const ceiling = Math.min(Duration.toMillis(delay) * factor, Duration.toMillis(maxDelay))
  return Effect.map(Random.next, (chance) => Math.max(chance * ceiling, Duration.toMillis(retryAfter)))
}
