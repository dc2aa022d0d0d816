/** Sources of random numbers for tests. */
import type { Random } from "effect"

/** Gives these numbers, each from 0 to 1, in turn. */
export const cycle = (...numbers: readonly [number, ...Array<number>]): typeof Random.Random.Service => {
  let at = 0
  const next = () => numbers[at++ % numbers.length] ?? 0
  return { nextDoubleUnsafe: next, nextIntUnsafe: () => Math.round(next()) }
}
