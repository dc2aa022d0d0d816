/** The job of an export: the times of its looks, what is published, how it fails, and its link. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Either, Fiber, TestClock } from "effect"
import {
  awaitEnd,
  type Job,
  linkOf,
  nextWait,
  secondsLeft,
  start,
  type WaitOptions
} from "../../src/internal/exports/job.js"
import { allLines } from "../support/telemetry.js"

const job: Job = { id: "job_1", type: "users_export", status: "processing" }

const completed: Job = { ...job, status: "completed", location: "https://storage.example.com/f" }

/** Waits for the end of a job whose looks have these results, one minute after the clock's start. Gives the seconds of the looks. */
const waitFor = (
  results: ReadonlyArray<Job | string>,
  limit: Pick<WaitOptions<string>, "timeout" | "countFrom"> = {}
) =>
  Effect.gen(function*() {
    yield* TestClock.adjust("1 minute")
    const looks: Array<number> = []
    const changes: Array<unknown> = []
    const look = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const result = results[looks.push(now / 1000 - 60) - 1] ?? completed
      return typeof result === "string" ? Effect.fail(result) : Effect.succeed(result)
    })
    const fiber = yield* Effect.fork(awaitEnd(look, {
      isPassing: (error) => error === "passing",
      track: (change) => Effect.sync(() => void changes.push(change)),
      ...limit
    }))
    yield* TestClock.adjust("10 hours")
    return { looks, changes, end: yield* Effect.either(Fiber.join(fiber)) }
  })

describe("the start of a job", () => {
  it.effect("that fails leaves no text of the service in the log", () =>
    Effect.gen(function*() {
      const failing = { run: Effect.fail("a text of the service"), state: () => "claimed" as const }
      const { lines, value } = yield* allLines(Effect.flip(start(failing, () => Effect.void)))
      assert.strictEqual(value, "a text of the service")
      assert.deepStrictEqual(lines, [])
    }))
})

describe("the wait for a job", () => {
  it.effect("ends at once if the job has", () =>
    Effect.gen(function*() {
      const { changes, end, looks } = yield* waitFor([completed])
      assert.deepStrictEqual(end, Either.right(completed))
      assert.deepStrictEqual(looks, [0])
      assert.deepStrictEqual(changes, [])
    }))

  it.effect("looks after half of the time that the service tells, and publishes what it tells", () =>
    Effect.gen(function*() {
      const { changes, looks } = yield* waitFor([
        { ...job, percentage_done: 20, time_left_seconds: 40 },
        { ...job, percentage_done: 60, time_left_seconds: 8 }
      ])
      assert.deepStrictEqual(looks, [0, 20, 24])
      assert.deepStrictEqual(changes, [
        { phase: "waiting", percentage: 20, secondsLeft: 40 },
        { phase: "waiting", percentage: 60, secondsLeft: 8 }
      ])
    }))

  it.effect("estimates the time that is left by the time since it began", () =>
    Effect.gen(function*() {
      const { changes, looks } = yield* waitFor([job, { ...job, percentage_done: 10 }])
      assert.deepStrictEqual(looks, [0, 1.5, 1.5 + 6.75])
      assert.deepStrictEqual(changes, [
        { phase: "waiting", percentage: undefined, secondsLeft: undefined },
        { phase: "waiting", percentage: 10, secondsLeft: 13.5 }
      ])
    }))

  it.effect("grows while the part that is done stays the same, and is short again after a change", () =>
    Effect.gen(function*() {
      const at = (percentage_done: number) => ({ ...job, percentage_done, time_left_seconds: 4 })
      const { looks } = yield* waitFor([at(10), at(10), at(10), at(20)])
      assert.deepStrictEqual(looks, [0, 2, 5, 9.5, 11.5])
    }))

  it.effect("endures four failures that pass, 30 s each, and starts to count again after a look", () =>
    Effect.gen(function*() {
      const four = Array.from({ length: 4 }, () => "passing")
      const { end, looks } = yield* waitFor([...four, { ...job, time_left_seconds: 10 }, ...four])
      assert.deepStrictEqual(looks, [0, 30, 60, 90, 120, 125, 155, 185, 215, 245])
      assert.deepStrictEqual(end, Either.right(completed))
      const failed = yield* waitFor([...four, "passing"])
      assert.deepStrictEqual([failed.looks.length, failed.end], [5, Either.left("passing")])
    }))

  it.effect("ends at a failure that does not pass", () =>
    Effect.gen(function*() {
      const { end, looks } = yield* waitFor(["lasting"])
      assert.deepStrictEqual([looks.length, end], [1, Either.left("lasting")])
    }))

  it.effect.each<readonly [Job, object]>([
    [{ ...completed, type: "users_import" }, { reason: "not-an-export", message: "the job exports no users" }],
    [{ ...job, status: "failed" }, { reason: "job-failed", message: "the job has failed" }],
    [
      { ...job, status: "failed", status_details: "no such connection" },
      { reason: "job-failed", message: "the job has failed: no such connection" }
    ],
    [{ ...job, status: "FAILED" }, { reason: "job-failed", message: "the job has failed" }],
    [{ ...job, status: "canceled" }, { reason: "job-failed", message: "the job was canceled" }],
    [
      { ...job, status: "cancelled", status_details: "by an administrator" },
      { reason: "job-failed", message: "the job was canceled: by an administrator" }
    ],
    [{ ...job, status: "expired" }, {
      reason: "expired",
      message: "the job has expired, so it offers no file any more"
    }],
    [
      {
        ...completed,
        status: "failed",
        location: "https://storage.example.com/f?signature=0123456789",
        status_details: "cannot write to https://storage.example.com/f?signature=0123456789!"
      },
      { reason: "job-failed", message: "the job has failed: cannot write to …!" }
    ]
  ])("fails if the job has: %j", ([result, expected]) =>
    Effect.gen(function*() {
      const { end, looks } = yield* waitFor([result])
      assert.strictEqual(looks.length, 1)
      assert.deepInclude(Either.getOrThrow(Either.flip(end)), { _tag: "ExportError", job: "job_1", ...expected })
    }))

  it.effect("ends at its limit, nine hours by default, with a last look, and reports what it has seen", () =>
    Effect.gen(function*() {
      const pending = Array.from({ length: 5000 }, (): Job => ({ ...job, status: "pending", percentage_done: 0 }))
      const { end, looks } = yield* waitFor(pending)
      assert.strictEqual(looks.at(-1), 9 * 60 * 60)
      assert.deepInclude(Either.getOrThrow(Either.flip(end)), {
        _tag: "ExportError",
        reason: "timeout",
        job: "job_1",
        message:
          "the job has not ended in 9h: its status is \"pending\", 0 % done. If it ends later, its id gives the file"
      })
      const short = yield* waitFor(pending, { timeout: "10 seconds" })
      assert.strictEqual(short.looks.at(-1), 60 + 10 * 60 * 60 + 10)
    }))

  it.effect("waits for a status that it does not know, which may be a new name for a job that runs", () =>
    Effect.gen(function*() {
      const { end, looks } = yield* waitFor([{ ...job, status: "queued" }])
      assert.deepStrictEqual([looks.length, end], [2, Either.right(completed)])
      const unknown = yield* waitFor(Array.from({ length: 9 }, () => ({ ...job, status: "queued" })), {
        timeout: "5 seconds"
      })
      assert.include(String(Either.getOrThrow(Either.flip(unknown.end))), "its status is \"queued\". If")
    }))

  it.effect("counts from the creation of the job where asked to, and looks once at one that is too old", () =>
    Effect.gen(function*() {
      const old = { ...job, created_at: "1970-01-01T00:00:00.000Z" }
      const limit = { timeout: "1 minute", countFrom: "creation" } as const
      const first = yield* waitFor([old], limit)
      assert.deepInclude(Either.getOrThrow(Either.flip(first.end)), { reason: "timeout" })
      assert.deepStrictEqual(first.looks, [0])
      const done = yield* waitFor([{ ...completed, created_at: old.created_at }], limit)
      assert.isTrue(Either.isRight(done.end))
      // A time that is missing, is no time, or is that of a clock ahead of this one, does not make the wait longer.
      for (const created_at of [undefined, "yesterday", "2030-01-01T00:00:00.000Z"]) {
        const since = { ...job, ...(created_at !== undefined && { created_at }) }
        const { looks } = yield* waitFor(Array.from({ length: 99 }, () => since), limit)
        assert.strictEqual((looks.at(-1) ?? 0) - (looks[0] ?? 0), 60, created_at)
      }
    }))
})

describe("the next look at a job", () => {
  it("comes after half of the time that is left, and not before the wait has grown without a change", () => {
    const table: ReadonlyArray<readonly [left: number | undefined, previous: number, changed: boolean, wait: number]> =
      [
        [10, 8000, true, 5000],
        [10, 8000, false, 12_000],
        [10, 2000, false, 5000],
        [undefined, 2000, true, 3000],
        [undefined, 2000, false, 3000],
        [0, 1000, true, 1000],
        [-5, 1000, true, 1000],
        [1e6, 1000, true, 30_000],
        [undefined, 30_000, false, 30_000]
      ]
    for (const [left, previous, changed, wait] of table) {
      assert.strictEqual(nextWait(left, previous, changed), wait, JSON.stringify([left, previous, changed]))
    }
  })

  it("comes by the part that is done, which may be all of it", () => {
    const table: ReadonlyArray<readonly [percentage: number | undefined, seconds: number | undefined]> = [
      [undefined, undefined],
      [-1, undefined],
      [0, undefined],
      [50, 10],
      [80, 2.5],
      [100, 0],
      [101, undefined]
    ]
    for (const [percentage_done, seconds] of table) {
      const known = percentage_done === undefined ? job : { ...job, percentage_done }
      assert.strictEqual(secondsLeft(known, 10_000), seconds, String(percentage_done))
    }
  })
})

describe("the link of a job", () => {
  it.effect("is missing once the job offers no file", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* Effect.flip(linkOf(job)), {
        _tag: "ExportError",
        reason: "expired",
        message: "the job has ended, but offers no file any more",
        job: "job_1"
      })
    }))

  it.effect.each([
    "nonsense",
    "",
    "/file",
    "ftp://localhost/file",
    "ws://127.0.0.1/file",
    "http://storage.example.com/file",
    "https://user@storage.example.com/file",
    "https://:password@storage.example.com/file"
  ])("is refused if it is no plain https URL: %s", (location) =>
    Effect.gen(function*() {
      assert.deepInclude(yield* Effect.flip(linkOf({ ...job, location })), {
        _tag: "ExportError",
        reason: "unsafe-link",
        message: "the link to the file is not an https URL",
        job: "job_1"
      })
    }))
})
