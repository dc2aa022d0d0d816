/** Runs of jobs in this process: a job that is resumed while its old run ends, what is kept of jobs, and when old ones go. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Layer, Option, Stream, TestClock } from "effect"
import * as Jobs from "../../src/Jobs.js"
import * as LocalJobs from "../../src/jobs/local.js"
import * as MemoryStore from "../../src/jobs/memoryStore.js"
import * as TestJobs from "../support/jobs.js"
import { entry, eventsOf, keyOf, newJob, runningJob } from "../support/jobStores.js"
import { ids, memory, service, stream } from "../support/redelivery.js"
import { allLines } from "../support/telemetry.js"

const night = Jobs.redelivery({ tenant: "acme", key: "night", stream, events: ids(30) })

/** A service whose first three calls take long. */
const slow = () => service((_, nth) => nth < 3 ? Effect.sleep("3 seconds") : Effect.void)

const options = { concurrency: 3, grace: "1 minute", pollInterval: "30 seconds" } as const

describe("jobs in this process", () => {
  it.effect("that are resumed while their running calls end run once more after that", () => {
    const acme = slow()
    return Effect.gen(function*() {
      const { cancel, resume, status, submit } = yield* Jobs.Jobs
      const id = yield* submit(night)
      yield* TestClock.adjust("1 second")
      yield* cancel(id)
      yield* TestClock.adjust("1 second")
      yield* resume(id)
      assert.strictEqual((yield* status(id)).state, "waiting")
      yield* TestClock.adjust("10 seconds")
      const { events, state } = yield* status(id)
      assert.strictEqual(state, "done")
      assert.strictEqual(events.outcomes.accepted, 30)
      assert.deepStrictEqual([...acme.sent].sort(), ids(30))
    }).pipe(Effect.provide(TestJobs.over({ acme }, options)))
  })

  it.effect("that are submitted anew while calls of an earlier one end run after that", () => {
    const acme = slow()
    return Effect.gen(function*() {
      const { cancel, prune, status, submit } = yield* Jobs.Jobs
      const id = yield* submit(night)
      yield* TestClock.adjust("1 second")
      yield* cancel(id)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* prune(0), 1)
      yield* submit(night)
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* status(id), { state: "done" })
      assert.lengthOf(acme.sent, 33)
    }).pipe(Effect.provide(TestJobs.over({ acme }, options)))
  })

  it.effect("stop at once when they are cancelled, and give running calls their grace", () => {
    let interrupted = 0
    const acme = service((_, nth) =>
      nth < 3 ? Effect.void : Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++))
    )
    return Effect.gen(function*() {
      const { cancel, status, submit } = yield* Jobs.Jobs
      const id = yield* submit(night)
      yield* TestClock.adjust("1 second")
      yield* cancel(id)
      yield* TestClock.adjust("900 millis")
      assert.strictEqual(interrupted, 0)
      yield* TestClock.adjust("200 millis") // `pollInterval` is longer
      assert.strictEqual(interrupted, 3)
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(acme.sent, 6)
      assert.deepInclude((yield* status(id)).events.outcomes, { accepted: 3, unknown: 3 })
    }).pipe(Effect.provide(TestJobs.over({ acme }, { ...options, grace: "1 second" })))
  })

  it.scoped("are removed each hour, once they are old", () =>
    Effect.gen(function*() {
      const tenants = yield* Layer.build(Jobs.layerTenants(() => service().layer))
      const keeper = yield* MemoryStore.keepNothing
      const { list, status, submit } = yield* Effect.provide(
        LocalJobs.make(keeper, { pruneAfter: "90 minutes" }),
        tenants
      )
      const id = yield* submit(night)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* status(id)).state, "done")
      const left = Effect.map(Stream.runCollect(list()), ({ length }) => length)
      yield* TestClock.adjust("60 minutes")
      assert.strictEqual(yield* left, 1)
      yield* TestClock.adjust("60 minutes")
      assert.strictEqual(yield* left, 0)
    }))

  it.effect("that are submitted again while they run go on undisturbed", () => {
    const acme = service(() => Effect.sleep("1 minute"))
    return Effect.gen(function*() {
      const { status, submit } = yield* Jobs.Jobs
      const job = { ...night, events: ids(3) }
      const id = yield* submit(job)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* submit(job), id)
      yield* TestClock.adjust("2 minutes")
      const { events, state } = yield* status(id)
      assert.strictEqual(state, "done")
      assert.deepInclude(events.outcomes, { accepted: 3, unknown: 0 })
    }).pipe(Effect.provide(TestJobs.over({ acme }, { ...options, grace: "1 second" })))
  })

  it.scoped("are removed at a later hour if they cannot be at first, and the log says why", () =>
    Effect.gen(function*() {
      const tenants = yield* Layer.build(Jobs.layerTenants(() => service().layer))
      let isBroken = false
      const { lines } = yield* allLines(Effect.gen(function*() {
        const keeper = {
          ...yield* MemoryStore.keepNothing,
          check: Effect.suspend(() => isBroken ? new Jobs.JobStoreError({ message: "no disk" }) : Effect.void)
        }
        const { list, submit } = yield* Effect.provide(LocalJobs.make(keeper, { pruneAfter: "1 minute" }), tenants)
        yield* submit(night)
        yield* TestClock.adjust("1 minute")
        isBroken = true
        yield* TestClock.adjust("1 hour")
        isBroken = false
        assert.lengthOf(yield* TestJobs.collected(list()), 1)
        yield* TestClock.adjust("1 hour")
        assert.lengthOf(yield* TestJobs.collected(list()), 0)
      }))
      assert.deepStrictEqual(lines, [
        "could not remove old jobs: no disk"
      ])
    }))
})

describe("the storage in memory", () => {
  it.effect("reads the entries of a kept job once, when they are asked for", () =>
    Effect.gen(function*() {
      const { entries, store: journal } = memory()
      let reads = 0
      for (const id of ["a", "b"]) entries.set(keyOf(id), entry(id, "accepted"))
      const record = { ...newJob("job"), state: "done", isLoaded: true, resumed: 0 } as const
      const store = yield* MemoryStore.make({
        ...yield* MemoryStore.keepNothing,
        load: Effect.succeed([{ record, events: ["a", "b", "c"] }]),
        journal: () => Effect.succeed({ ...journal, get: (key) => Effect.suspend(() => (reads++, journal.get(key))) })
      })
      assert.deepStrictEqual(yield* store.get("job"), Option.some(record))
      assert.lengthOf(yield* store.list({}, { after: undefined, limit: 10 }), 1)
      assert.strictEqual(reads, 0)
      const all = yield* Effect.all([store.counts("job"), store.counts("job")], { concurrency: "unbounded" })
      for (const counts of all) assert.deepInclude(counts, { total: 3, left: 1 })
      assert.lengthOf(yield* store.results("job", { after: 0, limit: 10 }), 2)
      assert.strictEqual(reads, 3)
    }))

  it.effect("removes the other old jobs when one cannot be removed", () =>
    Effect.gen(function*() {
      const keeper = yield* MemoryStore.keepNothing
      const store = yield* MemoryStore.make({
        ...keeper,
        remove: (id) => id === "a" ? new Jobs.JobStoreError({ message: "no" }) : keeper.remove(id)
      })
      for (const id of ["a", "b", "c"]) yield* store.create(newJob(id))
      assert.strictEqual(yield* store.prune(2000), 2)
      assert.isTrue(Option.isSome(yield* store.get("a")))
    }))

  it.scopedLive("tells counts and pages of a large job without reading each entry again", () =>
    Effect.gen(function*() {
      const store = yield* Effect.flatMap(MemoryStore.keepNothing, MemoryStore.make)
      const events = eventsOf(5000)
      yield* runningJob(store, "a", events)
      const journal = yield* store.journal("a")
      yield* Effect.forEach(events, (id) => journal.set(keyOf(id), entry(id, "accepted")), { discard: true })
      yield* store.counts("a")
      // To decode an entry, its JSON is parsed.
      const parse = yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(JSON, "parse")),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      for (let nth = 0; nth < 300; nth++) {
        yield* store.counts("a")
        yield* store.unfinished("a", { after: 0, limit: 10 })
      }
      assert.strictEqual(parse.mock.calls.length, 0)
    }))
})
