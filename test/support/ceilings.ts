/** Checks recorded times against a ceiling. */
import { assert } from "@effect/vitest"

/** Fails if a window of `interval` milliseconds has more than `limit` of the times, which are in ascending order. */
export const assertKept = (times: ReadonlyArray<number>, limit: number, interval: number): void => {
  for (let nth = limit; nth < times.length; nth++) {
    const span = times[nth]! - times[nth - limit]!
    if (span < interval - 1e-3) assert.fail(`${span} ms from call ${nth - limit} to ${nth}, limit ${limit}`)
  }
  assert.isAbove(times.length, 0)
}
