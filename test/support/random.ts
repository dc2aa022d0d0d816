/** Sources of random numbers for tests. */
import { Random } from "effect"

/** Gives these numbers, each from 0 to 1, in turn. */
export const cycle = (...numbers: readonly [number, ...Array<number>]): Random.Random => Random.fixed([...numbers])
