/** Runs the row of one process with a journal in files. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { check } from "./check.js"
import { startService } from "./measure.js"
import type { Result } from "./result.js"
import type { Start } from "./runners.js"
import { single } from "./scenarios.js"
import { idealMs, type Work } from "./settings.js"
import type { Outcomes, Ready, SingleSettings } from "./single.js"

export const measureSingle = (start: Start, of: Work): Effect.Effect<Result, string> =>
  Effect.gen(function*() {
    const work = { ...of, tenants: 1 }
    const { ask, first: { origins } } = yield* startService(start, work)
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "durable-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
    )
    const process = yield* start<Ready, Record<string, never>, Outcomes>({
      program: "durable/single",
      argument: JSON.stringify(
        { work, origin: origins[0] ?? "", directory: join(directory, "journal") } satisfies SingleSettings
      )
    })
    const startedAt = performance.now()
    const outcomes = yield* process.ask({})
    const millis = performance.now() - startedAt
    const result: Result = {
      ...check(work, yield* ask({}), [outcomes]),
      scenario: single,
      events: work.eventsEach,
      mayBeUnknown: 0,
      unfinished: [],
      crashes: 0,
      timeRatio: millis / idealMs(work)
    }
    return result
  }).pipe(
    Effect.scoped,
    Effect.timeoutFail({
      duration: Duration.millis(of.limitMs),
      onTimeout: () => `${single}: the run has not ended in time`
    })
  )
