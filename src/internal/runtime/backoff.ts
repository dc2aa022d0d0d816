/** Computes waits between attempts. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** The limits of a wait: up to `delay` after the first attempt, up to twice as long after each further one, up to `maxDelay`. */
export interface Growth {
  readonly delay: Duration.DurationInput
  readonly maxDelay: Duration.DurationInput
}

/** Picks a random wait after this many attempts, in milliseconds. It is never shorter than `retryAfter`. */
export const backoff = (
  { delay, maxDelay }: Growth,
  attempts: number,
  retryAfter = Duration.zero
): Effect.Effect<number> => {
  const ceiling = Math.min(Duration.toMillis(delay) * 2 ** (attempts - 1), Duration.toMillis(maxDelay))
  return Effect.map(Random.next, (chance) => Math.max(chance * ceiling, Duration.toMillis(retryAfter)))
}
