/** The counts and estimates of a run's progress. */
import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import type { Result } from "../../src/internal/redelivery/outcome.js"
import * as Progress from "../../src/internal/redelivery/progress.js"

describe("progress", () => {
  const result = (more: Partial<Result> = {}): Result => ({ id: "a", outcome: "accepted", recalled: false, ...more })
  const after = (total: number | undefined, millis: number, ...results: ReadonlyArray<Result>) => {
    const { done, rate, recalled, remaining } = results.reduce(
      (before, each) => Progress.add(before, each, millis),
      { ...Progress.initial, total }
    )
    return { done, rate, recalled, remaining }
  }
  const recalled = result({ recalled: true })

  for (
    const [title, progress, expected] of [
      ["counts recalled results, but not for the rate", () => after(4, 2000, recalled, result()), {
        done: 2,
        rate: 0.5,
        recalled: 1,
        remaining: Duration.seconds(4)
      }],
      ["has no rate before any time has passed", () => after(4, 0, result()), {
        done: 1,
        rate: 0,
        recalled: 0,
        remaining: undefined
      }],
      ["has no remaining time while the rate is 0", () => after(4, 2000, recalled), {
        done: 1,
        rate: 0,
        recalled: 1,
        remaining: undefined
      }],
      ["has no remaining time without a total", () => after(undefined, 2000, result()), {
        done: 1,
        rate: 0.5,
        recalled: 0,
        remaining: undefined
      }],
      ["has no time left after the last id, even if the rate is 0", () => after(1, 2000, recalled), {
        done: 1,
        rate: 0,
        recalled: 1,
        remaining: Duration.zero
      }],
      ["has no time left after more results than the total", () => after(1, 2000, result(), result()), {
        done: 2,
        rate: 1,
        recalled: 0,
        remaining: Duration.zero
      }]
    ] as const
  ) {
    it(title, () => {
      assert.deepStrictEqual(progress(), expected)
    })
  }
})
