/** Tests of what a sweep reads, page by page, and of what it does with jobs that it cannot start. */
import { assert, it } from "@effect/vitest"
import { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import { Effect, TestClock } from "effect"
import { makeSweep, Store } from "../../src/cluster/workflow.js"
import { keepNothing, make } from "../../src/jobs/memoryStore.js"
import { newJob, seen } from "../support/jobStores.js"
import { allLines } from "../support/telemetry.js"

/** Sweeps jobs, two at a time, with an engine that refuses some. Gives the jobs that it was to start, and the pages that were read. */
const sweeping = (count: number, refused: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    const store = yield* Effect.flatMap(keepNothing, make)
    const id = (nth: number) => `job ${nth}`
    for (let nth = 0; nth < count; nth++) {
      yield* store.create(newJob(id(nth), { submittedAt: nth }))
      yield* store.update(seen(id(nth), { submittedAt: nth }), ["loading"], { state: "waiting", isLoaded: true })
    }
    yield* store.create(newJob("cancelled"))
    yield* store.update(seen("cancelled"), ["loading"], { state: "cancelled", endedAt: 0 })
    const started: Array<string> = []
    const pages: Array<unknown> = []
    const sweep = yield* makeSweep("1 hour", 2).pipe(
      Effect.provideService(Store, {
        ...store,
        list: (filter, page) => {
          pages.push(page.after?.id)
          return store.list(filter, page)
        }
      }),
      Effect.provideService(
        WorkflowEngine,
        {
          poll: () => Effect.succeed(undefined),
          execute: (_: unknown, { payload }: { readonly payload: { readonly id: string } }) =>
            Effect.suspend(() => {
              started.push(payload.id)
              return refused.includes(payload.id) ? Effect.dieMessage("the engine is broken") : Effect.void
            })
        } as never // nothing else is called
      )
    )
    const { lines } = yield* allLines(sweep)
    return { lines, pages, started, store }
  })

it.effect("a sweep starts the jobs of all pages, and no job that has ended", () =>
  Effect.gen(function*() {
    for (const count of [0, 1, 2, 5]) {
      const { lines, pages, started } = yield* sweeping(count)
      assert.deepStrictEqual(started, Array.from({ length: count }, (_, nth) => `job ${nth}`))
      assert.deepStrictEqual(pages, [undefined, "job 1", "job 3"].slice(0, 1 + Math.floor(count / 2)))
      assert.deepStrictEqual(lines, [])
    }
  }))

it.effect("a sweep goes on after a job that it cannot start, says which one it was, and removes old jobs", () =>
  Effect.gen(function*() {
    yield* TestClock.adjust("1 hour")
    yield* TestClock.adjust("1 millis")
    const { lines, started, store } = yield* sweeping(3, ["job 0"])
    assert.deepStrictEqual(started, ["job 0", "job 1", "job 2"])
    assert.lengthOf(lines, 1)
    assert.match(lines[0] ?? "", /^could not start the job job 0.*the engine is broken/)
    assert.deepStrictEqual(
      (yield* store.list({}, { after: undefined, limit: 10 })).map(({ id }) => id),
      ["job 0", "job 1", "job 2"]
    )
  }))
