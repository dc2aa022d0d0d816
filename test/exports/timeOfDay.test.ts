/** Exports whose machine's time of day is set meanwhile: durations are measured by another clock. */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either, Fiber, Stream, SubscriptionRef, TestClock } from "effect"
import { download } from "../../src/internal/exports/download.js"
import { awaitEnd, type Job } from "../../src/internal/exports/job.js"
import * as Progress from "../../src/internal/exports/progress.js"
import { skewed } from "../support/fleet.js"

const hour = 3_600_000

describe.each([["forward", 2 * hour], ["back", -2 * hour]])("the time of day that is set %s", (_, millis) => {
  it.effect("changes no duration of the progress", () =>
    Effect.gen(function*() {
      const { clock, skew } = skewed(yield* Effect.clock)
      const ref = yield* SubscriptionRef.make(Progress.initial)
      const track = yield* Progress.make(ref).pipe(Effect.withClock(clock))
      yield* TestClock.adjust("1 second")
      yield* track({ phase: "downloading", totalBytes: 400 }).pipe(Effect.withClock(clock))
      skew.millis = millis
      yield* TestClock.adjust("2 seconds")
      yield* track({ bytes: 100 }).pipe(Effect.withClock(clock))
      const { elapsed, remaining } = yield* SubscriptionRef.get(ref)
      assert.deepStrictEqual([elapsed, remaining], [Duration.seconds(3), Duration.seconds(6)])
    }))

  it.effect("changes no wait for the job", () =>
    Effect.gen(function*() {
      const { clock, skew } = skewed(yield* Effect.clock)
      const jobs: ReadonlyArray<Job> = [{ percentage_done: 0 }, { percentage_done: 10 }].map((change) => ({
        id: "job_1",
        type: "users_export",
        status: "processing",
        ...change
      }))
      const lefts: Array<number | undefined> = []
      let looks = 0
      const fiber = yield* Effect.fork(
        awaitEnd(
          Effect.sync(() => {
            const job = jobs[looks++]
            if (looks === 2) skew.millis = millis
            return job ?? { id: "job_1", type: "users_export", status: "completed" }
          }),
          { isPassing: () => false, track: ({ secondsLeft }) => Effect.sync(() => void lefts.push(secondsLeft)) }
        ).pipe(Effect.withClock(clock))
      )
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(lefts, [undefined, 13.5]) // a tenth took 1.5 s
    }))

  it.effect("changes no age of a link", () =>
    Effect.gen(function*() {
      const { clock, skew } = skewed(yield* Effect.clock)
      const urls: Array<string> = []
      const file = Uint8Array.of(0x1f, 0x8b, 0, 0) // begins like gzip
      const client = HttpClient.make((request) =>
        Effect.gen(function*() {
          const from = urls.push(request.url.slice(-1)) - 1
          yield* Effect.sleep("20 seconds")
          if (from === 0) skew.millis = millis
          const headers = { "content-range": `bytes ${from}-${from}/4` }
          return HttpClientResponse.fromWeb(
            request,
            new Response(file.subarray(from, from + 1), { status: 206, headers })
          )
        })
      )
      let links = 0
      const bytes = download({
        client,
        freshLink: Effect.sync(() => new URL(`https://storage.example.com/${++links}`)),
        track: () => Effect.void
      }, new URL("https://storage.example.com/0"))
      const fiber = yield* Effect.fork(Effect.either(Stream.runCount(bytes)).pipe(Effect.withClock(clock)))
      for (let seconds = 0; seconds < 100; seconds++) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Either.right(4))
      assert.deepStrictEqual(urls, ["0", "0", "0", "1"]) // a link is used for 50 seconds
    }))
})
