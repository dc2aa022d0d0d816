/** How long to wait before something is tried again. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** How the waits grow: up to `delay` at first, then up to twice as long each time, never above `maxDelay`. */
export interface Growth {
  readonly delay: Duration.DurationInput
  readonly maxDelay: Duration.DurationInput
}

/** The wait after so many attempts, in milliseconds: as chance has it, but not below what the server asks for. */
export const backoff = (
  { delay, maxDelay }: Growth,
  attempts: number,
  retryAfter: Duration.Duration | undefined
): Effect.Effect<number> => {
  const ceiling = Math.min(Duration.toMillis(delay) * 2 ** (attempts - 1), Duration.toMillis(maxDelay))
  return Effect.map(
    Random.next,
    (chance) => Math.max(chance * ceiling, retryAfter === undefined ? 0 : Duration.toMillis(retryAfter))
  )
}
