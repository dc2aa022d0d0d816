/** Tests the waits between attempts. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { backoff } from "../../src/internal/runtime/backoff.js"
import { cycle } from "../support/random.js"

/** The wait after this many attempts if chance makes it as long as possible. */
const longest = (attempts: number, delay: number, retryAfter?: Duration.Duration) =>
  Effect.withRandom(backoff({ delay, maxDelay: "10 seconds" }, attempts, retryAfter), cycle(1))

describe("backoff", () => {
  it.effect("doubles with each attempt, up to the longest wait", () =>
    Effect.gen(function*() {
      const waits = yield* Effect.forEach([1, 2, 3, 6, 7, 1026, Infinity], (attempts) => longest(attempts, 250))
      assert.deepStrictEqual(waits, [250, 500, 1000, 8000, 10_000, 10_000, 10_000])
    }))

  it.effect("stays zero without a delay, however many attempts there were", () =>
    Effect.gen(function*() {
      const waits = yield* Effect.forEach([1, 1025, 1026, Infinity], (attempts) => longest(attempts, 0))
      assert.deepStrictEqual(waits, [0, 0, 0, 0])
    }))

  it.effect("is never shorter than Retry-After", () =>
    Effect.gen(function*() {
      const waits = yield* Effect.forEach([1, 1026], (attempts) => longest(attempts, 0, Duration.seconds(30)))
      assert.deepStrictEqual(waits, [30_000, 30_000])
    }))
})
