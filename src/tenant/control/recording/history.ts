/** The level of a bucket within the last minute, in steps. Nothing runs between calls: levels in between are computed. */
import type { BucketSample } from "../http/schemas.js"

/** The length of a step in milliseconds, and the number of steps. */
export const step = 200
const steps = 300

/** Rounds a number of calls to thousandths. */
export const rounded = (left: number): number => Math.max(0, Math.round(left * 1000) / 1000)

export interface History {
  /** Records the calls left after a call. Times are of the clock that only runs. */
  readonly took: (at: number, left: number, allowed: boolean) => void
  /** Records that the level was changed by hand. */
  readonly set: (at: number, left: number) => void
  readonly samples: (at: number) => ReadonlyArray<BucketSample>
}

export const make = (burst: number, refillPerSecond: number): History => {
  const lowest = new Float64Array(steps).fill(burst)
  const allowed = new Uint32Array(steps)
  const refused = new Uint32Array(steps)
  /** The current step, counted from an origin. */
  let current = -1
  let [level, levelAt] = [burst, 0]

  const levelOf = (at: number) => Math.min(burst, level + Math.max(0, at - levelAt) * refillPerSecond / 1000)

  /** Moves on to the step of this time, and gives its place. */
  const placeAt = (at: number): number => {
    const target = Math.max(current, Math.floor(at / step))
    for (let next = Math.max(current + 1, target - steps + 1); next <= target; next++) {
      const place = next % steps
      lowest[place] = levelOf(next * step)
      allowed[place] = refused[place] = 0
    }
    current = target
    return target % steps
  }

  const record = (at: number, left: number): number => {
    const place = placeAt(at)
    lowest[place] = Math.min(lowest[place] ?? burst, left)
    level = left
    levelAt = at
    return place
  }

  return {
    took: (at, left, isAllowed) => {
      const place = record(at, left)
      const counts = isAllowed ? allowed : refused
      counts[place] = (counts[place] ?? 0) + 1
    },
    set: (at, left) => {
      record(at, left)
    },
    samples: (at) => {
      const newest = placeAt(at)
      return Array.from({ length: steps }, (_, index) => {
        const place = (newest + 1 + index) % steps
        return { left: rounded(lowest[place] ?? burst), allowed: allowed[place] ?? 0, refused: refused[place] ?? 0 }
      })
    }
  }
}
