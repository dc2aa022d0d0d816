/** The progress of an export: what is published, when, and the time that is left in each phase. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, SubscriptionRef, TestClock } from "effect"
import { initial, make, type Progress } from "../../src/internal/exports/progress.js"

/** A progress and what changes it, one second after the test began. */
const begun = Effect.gen(function*() {
  yield* TestClock.adjust("1 second")
  const ref = yield* SubscriptionRef.make(initial)
  return { ref, track: yield* make(ref) }
})

describe("progress", () => {
  it("of an export that has not begun is that of one that starts", () => {
    assert.deepStrictEqual(initial, {
      phase: "starting",
      job: undefined,
      percentage: undefined,
      bytes: 0,
      totalBytes: undefined,
      rows: 0,
      badRows: 0,
      elapsed: Duration.zero,
      remaining: undefined
    })
  })

  it.effect("counts the time since the export began, and begins anew where it is used again", () =>
    Effect.gen(function*() {
      const { ref, track } = yield* begun
      yield* TestClock.adjust("3 seconds")
      yield* track({ rows: 5, badRows: 1 })
      assert.deepStrictEqual(yield* SubscriptionRef.get(ref), {
        ...initial,
        rows: 5,
        badRows: 1,
        elapsed: Duration.seconds(3)
      })
      yield* make(ref)
      assert.deepStrictEqual(yield* SubscriptionRef.get(ref), initial)
    }))

  it.effect("keeps what a change does not name", () =>
    Effect.gen(function*() {
      const { ref, track } = yield* begun
      yield* track({ phase: "waiting", job: "job_1" })
      yield* track({ percentage: 20 })
      const { job, percentage, phase } = yield* SubscriptionRef.get(ref)
      assert.deepStrictEqual({ job, percentage, phase }, { job: "job_1", percentage: 20, phase: "waiting" })
    }))

  it.effect("has a remaining time in each phase that can be estimated", () =>
    Effect.gen(function*() {
      const { ref, track } = yield* begun
      const remaining = Effect.map(SubscriptionRef.get(ref), ({ remaining }: Progress) => remaining)

      yield* track({ secondsLeft: 5 })
      assert.isUndefined(yield* remaining, "of the phase before the job has begun nobody knows")

      yield* track({ phase: "waiting" })
      assert.isUndefined(yield* remaining)
      yield* track({ secondsLeft: 30 })
      assert.deepStrictEqual(yield* remaining, Duration.seconds(30))
      yield* track({ secondsLeft: -1 })
      assert.deepStrictEqual(yield* remaining, Duration.zero)

      yield* TestClock.adjust("10 seconds")
      yield* track({ phase: "downloading" })
      assert.isUndefined(yield* remaining)
      yield* TestClock.adjust("2 seconds")
      yield* track({ bytes: 100 })
      assert.isUndefined(yield* remaining, "the size is not known")
      yield* track({ totalBytes: 400 })
      assert.deepStrictEqual(yield* remaining, Duration.seconds(6), "100 of 400 bytes came in 2 s")
      yield* TestClock.adjust("2 seconds")
      yield* track({ bytes: 200 })
      assert.deepStrictEqual(yield* remaining, Duration.seconds(4))
      yield* track({ bytes: 500 })
      assert.deepStrictEqual(yield* remaining, Duration.zero, "the storage sent more than it had announced")
      yield* track({ bytes: 0 })
      assert.isUndefined(yield* remaining, "nothing has come")

      yield* track({ phase: "done" })
      assert.deepStrictEqual(yield* remaining, Duration.zero)
    }))

  it.effect("is not kept where nobody asked for it", () =>
    Effect.gen(function*() {
      const track = yield* make(undefined)
      assert.isUndefined(yield* track({ rows: 1 }))
    }))
})
