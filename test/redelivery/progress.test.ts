/** The progress of a run: its counts and estimates, its times, and its pause. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, SubscriptionRef, TestClock } from "effect"
import { Redelivery } from "../../src/index.js"
import type { Result } from "../../src/internal/redelivery/outcome.js"
import * as Progress from "../../src/internal/redelivery/progress.js"
import { skewed } from "../support/fleet.js"
import { ids, run, service, transport } from "../support/redelivery.js"

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

  it.effect.each([3_600_000, -3_600_000])(
    "measures its times though the time of day leaps by %d ms",
    (leap) =>
      Effect.gen(function*() {
        const progress = yield* Redelivery.makeProgress
        const { clock, skew } = skewed(yield* Effect.clock)
        const tenant = service(() => Effect.sleep("1 second"))
        const running = run(ids(4), { concurrency: 1, grace: 0, progress }, tenant)
        const fiber = yield* Effect.fork(Effect.withClock(running, clock))
        yield* TestClock.adjust("2 seconds")
        skew.millis = leap
        yield* TestClock.adjust("1 second")
        assert.deepInclude(yield* SubscriptionRef.get(progress), {
          done: 3,
          elapsed: Duration.seconds(3),
          rate: 1,
          remaining: Duration.seconds(1)
        })
        yield* Fiber.interrupt(fiber)
      })
  )

  const ends: ReadonlyArray<readonly [end: string, count: number, options: Partial<Redelivery.Options>]> = [
    ["its ids", 5, {}],
    ["stopWhen", 50, { stopWhen: ({ done }) => done === 6 }],
    ["an interruption", 50, {}]
  ]
  it.effect.each(ends)(
    "has no pause after a run that was ended in a pause by %s",
    ([, count, options]) =>
      Effect.gen(function*() {
        const progress = yield* Redelivery.makeProgress
        const tenant = service((_, nth) =>
          Effect.zipRight(nth === 4 ? Effect.sleep("1 second") : Effect.void, Effect.fail(transport("unknown")))
        )
        const fiber = yield* Effect.fork(run(ids(count), { ...options, concurrency: 1, progress }, tenant))
        yield* TestClock.adjust("3 seconds")
        yield* Fiber.interrupt(fiber)
        const { done, paused } = yield* SubscriptionRef.get(progress)
        assert.isAtLeast(done, 5)
        assert.isUndefined(paused)
      })
  )
})
