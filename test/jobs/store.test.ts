import { FileSystem } from "@effect/platform"
import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { assert, describe, it, type Vitest } from "@effect/vitest"
import { Effect, Layer, Option, type Scope } from "effect"
import { makeJobStore } from "../../src/cluster/jobStore.js"
import { Errors } from "../../src/index.js"
import * as MemoryStore from "../../src/jobs/memoryStore.js"
import type { JobNotFound, JobStoreError, State } from "../../src/jobs/model.js"
import type { JobStore } from "../../src/jobs/store.js"
import * as FileJobs from "../../src/node/fileJobs.js"
import { entry, eventsOf, keyOf, newJob, note, runningJob, seen } from "../support/jobStores.js"
import { Postgres, withPostgres } from "../support/postgres.js"
import { layerMigrated } from "../support/postgres.js"

const all = { after: 0, limit: Infinity }
const allJobs = { after: undefined, limit: Infinity }

/** The laws of every storage of jobs. */
const contract = <R>(
  it: Vitest.MethodsNonLive<R, true>,
  run: (test: (store: JobStore) => Effect.Effect<void, unknown, Scope.Scope>) => Effect.Effect<void, unknown, R>
) => {
  const law = (name: string, test: (store: JobStore) => Effect.Effect<void, unknown, Scope.Scope>) =>
    it.effect(name, () => run(test))

  law("stores a job unless there is one with its id", (store) =>
    Effect.gen(function*() {
      assert.isTrue(Option.isNone(yield* store.get("a")))
      const job = newJob("a", { tenant: "ä\"'\\", key: "k\n\tß", submittedAt: 1_700_000_000_123 })
      const { isNew, job: created } = yield* store.create(job)
      assert.isTrue(isNew)
      assert.deepStrictEqual(created, { ...job, state: "loading", isLoaded: false, resumed: 0 })
      assert.deepStrictEqual(yield* store.get("a"), Option.some(created))
      assert.deepStrictEqual(yield* store.create(newJob("a", { definition: "{}", submittedAt: 5 })), {
        job: created,
        isNew: false
      })
      yield* store.update(created, ["loading"], { state: "running", isLoaded: true })
      assert.strictEqual((yield* store.create(job)).job.state, "running")
    }))

  law("lets one of many creations of a job win", (store) =>
    Effect.gen(function*() {
      const created = yield* Effect.all(
        Array.from({ length: 20 }, (_, nth) => store.create(newJob("a", { definition: String(nth) }))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(created.map(({ job }) => job.definition)).size, 1)
      assert.lengthOf(created.filter(({ isNew }) => isNew), 1)
    }))

  law(
    "lets one of many runs claim the start of an export, if nothing is known of one, and the job is running",
    (store) =>
      Effect.gen(function*() {
        yield* store.create(newJob("a", { kind: "export" }))
        assert.isFalse(yield* store.claimExport(seen("a")))
        yield* store.update(seen("a"), ["loading"], { state: "running", isLoaded: true })
        assert.isFalse(yield* store.claimExport(seen("a", { resumed: 1 })))
        assert.isFalse(yield* store.claimExport(seen("a", { submittedAt: 1 })))
        assert.isFalse(yield* store.claimExport(seen("b")))
        const claims = yield* Effect.all(Array.from({ length: 10 }, () => store.claimExport(seen("a"))), {
          concurrency: "unbounded"
        })
        assert.lengthOf(claims.filter((isClaimed) => isClaimed), 1)
        assert.strictEqual(Option.getOrThrow(yield* store.get("a")).exportJob, "")
        yield* store.update(seen("a"), ["running"], { exportJob: "job_1" })
        assert.isFalse(yield* store.claimExport(seen("a")))
        yield* store.update(seen("a"), ["running"], { exportJob: undefined })
        assert.isTrue(yield* store.claimExport(seen("a")))
      })
  )

  law(
    "counts the outcome of an event with any id once, also if a byte order mark begins it",
    (store) =>
      Effect.gen(function*() {
        const events = ["\uFEFFa", "a", "\u{10000}", "é\"\\'"]
        yield* runningJob(store, "a", events)
        yield* note(store, "a", Object.fromEntries(events.map((id) => [id, "accepted"])))
        assert.deepInclude(yield* store.counts("a"), { total: 4, left: 0 })
        assert.deepStrictEqual((yield* store.results("a", all)).map(({ id }) => id), events)
        assert.deepStrictEqual(yield* store.unfinished("a", all), [])
      })
  )

  law("changes a job only from the given states, and says whether it did", (store) =>
    Effect.gen(function*() {
      yield* store.create(newJob("a"))
      assert.isFalse(yield* store.update(seen("a"), ["running", "waiting"], { state: "done" }))
      const error = new Errors.Forbidden({ operation: "getJob", message: "no\u0000 \ud800 \"ü\"", requestId: "r" })
      assert.isTrue(
        yield* store.update(seen("a"), ["loading"], {
          state: "failed",
          resumed: 2,
          exportJob: "",
          error,
          endedAt: 2000.5
        })
      )
      const failed = {
        ...newJob("a"),
        state: "failed",
        isLoaded: false,
        resumed: 2,
        exportJob: "",
        error,
        endedAt: 2000.5
      }
      assert.deepStrictEqual<unknown>(Option.getOrThrow(yield* store.get("a")), failed)
      assert.deepStrictEqual({ ...Option.getOrThrow(yield* store.get("a")).error }, { ...error })
      assert.isTrue(yield* store.update(seen("a", { resumed: 2 }), ["failed"], { isLoaded: true }))
      assert.deepStrictEqual<unknown>(Option.getOrThrow(yield* store.get("a")), { ...failed, isLoaded: true })
      assert.isTrue(
        yield* store.update(seen("a", { resumed: 2 }), ["failed"], {
          exportJob: undefined,
          error: undefined,
          endedAt: undefined
        })
      )
      assert.deepStrictEqual<unknown>(Option.getOrThrow(yield* store.get("a")), {
        ...newJob("a"),
        state: "failed",
        isLoaded: true,
        resumed: 2
      })
    }))

  law("lets one of many changes from a state win", (store) =>
    Effect.gen(function*() {
      yield* store.create(newJob("a"))
      const changed = yield* Effect.all(
        Array.from({ length: 20 }, () => store.update(seen("a"), ["loading"], { state: "waiting" })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(changed.filter((isChanged) => isChanged).length, 1)
    }))

  law(
    "lists jobs by the time of their submission and their id, filtered, page by page",
    (store) =>
      Effect.gen(function*() {
        for (const [id, submittedAt] of [["b", 2], ["a", 2], ["c", 1], ["B", 2], ["d", 3]] as const) {
          yield* store.create(newJob(id, { submittedAt, ...(id === "d" && { tenant: "other", kind: "export" }) }))
        }
        yield* store.update(seen("a", { submittedAt: 2 }), ["loading"], { state: "done" })
        const idsOf = Effect.map((jobs: ReadonlyArray<{ readonly id: string }>) => jobs.map(({ id }) => id).join(""))
        assert.strictEqual(yield* idsOf(store.list({}, allJobs)), "cBabd")
        assert.strictEqual(yield* idsOf(store.list({ tenant: "other" }, allJobs)), "d")
        assert.strictEqual(yield* idsOf(store.list({ kind: "redelivery" }, allJobs)), "cBab")
        assert.strictEqual(yield* idsOf(store.list({ states: ["done", "failed"] }, allJobs)), "a")
        assert.strictEqual(yield* idsOf(store.list({ states: [] }, allJobs)), "")
        assert.strictEqual(yield* idsOf(store.list({ tenant: "acme", kind: "export" }, allJobs)), "")
        const first = yield* store.list({}, { after: undefined, limit: 2 })
        assert.strictEqual(yield* idsOf(Effect.succeed(first)), "cB")
        assert.strictEqual(yield* idsOf(store.list({}, { after: first.at(-1), limit: 2 })), "ab")
        assert.strictEqual(
          yield* idsOf(store.list({}, { after: newJob("x", { submittedAt: 3 }) as never, limit: 2 })),
          ""
        )
      })
  )

  law("keeps the order of events, each once", (store) =>
    Effect.gen(function*() {
      yield* store.create(newJob("a"))
      yield* store.create(newJob("b"))
      yield* store.addEvents(seen("b"), "loading", eventsOf(3))
      yield* store.addEvents(seen("a"), "loading", [])
      yield* store.addEvents(seen("a"), "loading", ["z", "y", "z", "ä\"{}\\,", "Z"])
      yield* store.addEvents(seen("a"), "loading", ["y", "x", "z", "w"])
      const listed = yield* store.unfinished("a", all)
      assert.deepStrictEqual(listed.map(({ id }) => id), ["z", "y", "ä\"{}\\,", "Z", "x", "w"])
      const positions = listed.map(({ position }) => position)
      assert.deepStrictEqual(positions, [...new Set(positions)].sort((one, other) => one - other))
      assert.isAbove(positions[0] ?? 0, 0)
      const page = yield* store.unfinished("a", { after: positions[1] ?? 0, limit: 2 })
      assert.deepStrictEqual(page, listed.slice(2, 4))
      assert.deepStrictEqual(yield* store.unfinished("a", { after: positions[5] ?? 0, limit: 2 }), [])
    }))

  law("adds thousands of events by many writers, and a reader misses none", (store) =>
    Effect.gen(function*() {
      yield* store.create(newJob("a"))
      const read: Array<string> = []
      let after = 0
      const follow = Effect.suspend(() => store.unfinished("a", { after, limit: 700 })).pipe(
        Effect.map((events) => {
          read.push(...events.map(({ id }) => id))
          after = events.at(-1)?.position ?? after
          return events.length
        })
      )
      const writers = Array.from({ length: 4 }, (_, nth) =>
        Effect.forEach([0, 1, 2, 3, 4], (round) =>
          store.addEvents(seen("a"), "loading", eventsOf(1000, 500 * nth + 1000 * round))))
      yield* Effect.all(writers, { concurrency: "unbounded" }).pipe(
        Effect.race(Effect.forever(follow))
      )
      yield* Effect.repeat(follow, {
        until: (count) =>
          count === 0
      })
      assert.strictEqual(read.length, 6500)
      assert.strictEqual(new Set(read).size, 6500)
      assert.strictEqual((yield* store.counts("a")).total, 6500)
    }))

  law("tells events with and without outcomes apart, also after the job has ended", (store) =>
    Effect.gen(function*() {
      const outcomes = ["accepted", "notFailed", "gone", "unknown", "failed", "sending"] as const
      yield* runningJob(store, "a", ["never", ...outcomes, "foreign", "damaged"])
      yield* note(store, "a", Object.fromEntries(outcomes.map((outcome) => [outcome, outcome])))
      const journal = yield* store.journal("a")
      yield* journal.set(keyOf("foreign"), entry("another event", "accepted"))
      yield* journal.set(keyOf("damaged"), "{")
      yield* journal.set(keyOf("not listed"), entry("not listed", "accepted"))
      yield* journal.set("lock", "x")
      const names = (events: ReadonlyArray<{ readonly id: string }>) => events.map(({ id }) => id)
      assert.deepStrictEqual(names(yield* store.unfinished("a", all)), [
        "never",
        "failed",
        "sending",
        "foreign",
        "damaged"
      ])
      assert.deepStrictEqual(names(yield* store.results("a", all)), outcomes.slice(0, 5))
      const counted = { accepted: 1, notFailed: 1, gone: 1, unknown: 1, failed: 1 }
      assert.deepStrictEqual(yield* store.counts("a"), { total: 9, left: 4, outcomes: counted })
      yield* store.update(seen("a"), ["running"], { state: "cancelled", endedAt: 1 })
      const results = yield* store.results("a", all)
      assert.deepStrictEqual(results.map(({ id, outcome }) => [id, outcome]), [
        ...outcomes.slice(0, 5).map((outcome) => [outcome, outcome]),
        ["sending", "unknown"],
        ["foreign", "unknown"],
        ["damaged", "unknown"]
      ])
      const [, second, third] = results
      assert.deepStrictEqual<unknown>(yield* store.results("a", { after: second?.position ?? 0, limit: 1 }), [third])
      assert.deepStrictEqual(yield* store.counts("a"), { total: 9, left: 1, outcomes: { ...counted, unknown: 4 } })
    }))

  law("returns the errors of events as they were written", (store) =>
    Effect.gen(function*() {
      yield* runningJob(store, "a", ["e"])
      const journal = yield* store.journal("a")
      const message = "line\n\u0000 \ud800 {\"outcome\":\"gone\"}"
      yield* journal.set(keyOf("e"), entry("e", "failed", "r", message))
      const [result] = yield* store.results("a", all)
      assert.deepStrictEqual(result?.error, new Errors.OtherError({ tag: "Error", message }))
      assert.strictEqual((yield* store.counts("a")).outcomes.failed, 1)
    }))

  law("has a journal for each job", (store) =>
    Effect.gen(function*() {
      yield* store.create(newJob("a"))
      yield* store.create(newJob("b"))
      const [one, other] = [yield* store.journal("a"), yield* store.journal("b")]
      assert.isTrue(Option.isNone(yield* one.get("lock")))
      yield* one.set("lock", "{\"a\":\"ü\\u0000\"}")
      assert.deepStrictEqual(yield* one.get("lock"), Option.some("{\"a\":\"ü\\u0000\"}"))
      assert.isTrue(Option.isNone(yield* other.get("lock")))
      yield* one.set("lock", "2")
      yield* one.set("renewal", "3")
      assert.strictEqual(yield* one.size, 2)
      assert.deepStrictEqual(yield* (yield* store.journal("a")).get("lock"), Option.some("2"))
      yield* one.remove("lock")
      yield* one.remove("lock")
      yield* one.set("lock", "4")
      yield* one.clear
      assert.strictEqual(yield* one.size, 0)
    }))

  law("changes only the job that was seen, resumed as often", (store) =>
    Effect.gen(function*() {
      yield* store.create(newJob("a"))
      assert.isFalse(yield* store.update(seen("a", { submittedAt: 999 }), ["loading"], { state: "done" }))
      assert.isFalse(yield* store.update(seen("a", { resumed: 1 }), ["loading"], { state: "done" }))
      assert.isFalse(yield* store.update(seen("b"), ["loading"], { state: "done" }))
      assert.strictEqual(Option.getOrThrow(yield* store.get("a")).state, "loading")
      assert.isTrue(yield* store.update(seen("a"), ["loading"], { state: "waiting", resumed: 1 }))
      assert.isFalse(yield* store.update(seen("a"), ["waiting"], { state: "running" }))
      assert.isTrue(yield* store.update(seen("a", { resumed: 1 }), ["waiting"], { state: "running" }))
    }))

  law("adds events only to the job that was seen, in its state", (store) =>
    Effect.gen(function*() {
      yield* store.create(newJob("a"))
      assert.isFalse(yield* store.addEvents(seen("a", { submittedAt: 999 }), "loading", ["e"]))
      assert.isFalse(yield* store.addEvents(seen("a"), "running", ["e"]))
      assert.isFalse(yield* store.addEvents(seen("b"), "loading", ["e"]))
      assert.isFalse(yield* store.addEvents(seen("a"), "running", []))
      assert.strictEqual((yield* store.counts("a")).total, 0)
      assert.isTrue(yield* store.addEvents(seen("a"), "loading", ["e"]))
      assert.isTrue(yield* store.addEvents(seen("a"), "loading", ["e"]))
      assert.strictEqual((yield* store.counts("a")).total, 1)
      yield* store.update(seen("a"), ["loading"], { state: "running", resumed: 3 })
      assert.isFalse(yield* store.addEvents(seen("a"), "loading", ["f"]))
      assert.isTrue(yield* store.addEvents(seen("a"), "running", ["f"]))
      assert.deepStrictEqual((yield* store.unfinished("a", all)).map(({ id }) => id), ["e", "f"])
    }))

  law("gives an event its first entry only while the job is running", (store) =>
    Effect.gen(function*() {
      yield* store.create(newJob("a"))
      yield* store.addEvents(seen("a"), "loading", ["sent", "refused", "removed"])
      const journal = yield* store.journal("a")
      const first = (event: string, outcome: "sending" | "accepted") => journal.set(keyOf(event), entry(event, outcome))
      const change = (from: State, state: State) => store.update(seen("a"), [from], { state })
      yield* Effect.flip(first("sent", "sending"))
      yield* change("loading", "waiting")
      yield* Effect.flip(first("sent", "sending"))
      yield* change("waiting", "running")
      yield* first("sent", "sending")
      yield* first("removed", "sending")
      yield* change("running", "cancelled")
      yield* Effect.flip(first("refused", "sending"))
      yield* first("sent", "accepted") // its call has ended after that
      yield* journal.remove(keyOf("removed"))
      yield* Effect.flip(first("removed", "sending"))
      yield* journal.set("lock", "1")
      assert.isTrue(Option.isNone(yield* journal.get(keyOf("refused"))))
      assert.deepStrictEqual((yield* store.results("a", all)).map(({ id, outcome }) => [id, outcome]), [
        ["sent", "accepted"]
      ])
      assert.deepInclude(yield* store.counts("a"), { total: 3, left: 2 })
      yield* change("cancelled", "waiting")
      yield* Effect.flip(first("refused", "sending"))
      yield* change("waiting", "running")
      yield* first("refused", "sending")
      for (const ended of ["done", "failed"] as const) {
        yield* change("running", ended)
        yield* Effect.flip(first("removed", "sending"))
        yield* change(ended, "running")
      }
    }))

  law("counts what a journal says now", (store) =>
    Effect.gen(function*() {
      yield* runningJob(store, "a", ["a", "b"])
      const journal = yield* store.journal("a")
      yield* note(store, "a", { a: "failed", b: "sending" })
      assert.deepInclude((yield* store.counts("a")).outcomes, { failed: 1, unknown: 0 })
      yield* journal.get(keyOf("a"))
      yield* journal.set(keyOf("a"), entry("a", "gone"))
      assert.deepInclude((yield* store.counts("a")).outcomes, { failed: 0, gone: 1 })
      yield* journal.remove(keyOf("a"))
      assert.deepInclude(yield* store.counts("a"), { total: 2, left: 2 })
      yield* store.addEvents(seen("a"), "running", ["c"])
      yield* note(store, "a", { c: "accepted", "no event": "accepted" })
      assert.deepInclude(yield* store.counts("a"), { total: 3, left: 2 })
      yield* (yield* store.journal("a")).clear
      assert.deepInclude(yield* store.counts("a"), { total: 3, left: 3 })
      assert.deepStrictEqual((yield* store.unfinished("a", all)).map(({ id }) => id), ["a", "b", "c"])
    }))

  law("removes the job that was seen from its state, with all that it has", (store) =>
    Effect.gen(function*() {
      yield* runningJob(store, "a", ["e"])
      const journal = yield* store.journal("a")
      yield* note(store, "a", { e: "accepted" })
      assert.isFalse(yield* store.remove(seen("a"), "loading"))
      assert.isFalse(yield* store.remove(seen("a", { submittedAt: 999 }), "running"))
      assert.isFalse(yield* store.remove(seen("b"), "running"))
      assert.strictEqual((yield* store.counts("a")).outcomes.accepted, 1)
      assert.isTrue(yield* store.remove(seen("a"), "running"))
      assert.isFalse(yield* store.remove(seen("a"), "running"))
      assert.isTrue(Option.isNone(yield* store.get("a")))
      yield* Effect.flip(journal.set(keyOf("e"), entry("e", "sending")))

      yield* store.create(newJob("a", { submittedAt: 2000 }))
      const next = seen("a", { submittedAt: 2000 })
      assert.strictEqual((yield* store.counts("a")).total, 0)
      assert.isTrue(yield* store.addEvents(next, "loading", ["e"]))
      assert.strictEqual((yield* store.counts("a")).left, 1, "it has none of the entries before")
      assert.isFalse(yield* store.update(seen("a"), ["loading"], { state: "done" }))
      assert.isFalse(yield* store.addEvents(seen("a"), "loading", ["f"]))
      assert.isFalse(yield* store.remove(seen("a"), "loading"))
      assert.strictEqual((yield* store.counts("a")).total, 1)
    }))

  law(
    "prunes jobs that have ended before a time, and lists that were begun before it, with all that they have",
    (store) =>
      Effect.gen(function*() {
        for (const id of ["old", "new", "running", "none"]) {
          yield* runningJob(store, id, ["e"])
          yield* note(store, id, { e: "accepted" })
        }
        yield* store.update(seen("old"), ["running"], { state: "done", endedAt: 1999 })
        yield* store.update(seen("new"), ["running"], { state: "failed", endedAt: 2000 })
        yield* store.update(seen("running"), ["running"], { endedAt: 5 })
        yield* store.update(seen("none"), ["running"], { state: "cancelled" })
        yield* store.create(newJob("begun", { submittedAt: 1999 }))
        yield* store.addEvents(seen("begun", { submittedAt: 1999 }), "loading", ["e"])
        yield* store.create(newJob("beginning", { submittedAt: 2000 }))
        yield* store.create(newJob("waiting", { submittedAt: 1 }))
        yield* store.update(seen("waiting", { submittedAt: 1 }), ["loading"], { state: "waiting" })
        assert.strictEqual(yield* store.prune(2000), 2)
        assert.strictEqual(yield* store.prune(2000), 0)
        const left = (yield* store.list({}, allJobs)).map(({ id }) => id)
        assert.deepStrictEqual(left.sort(), ["beginning", "new", "none", "running", "waiting"])
        for (const id of ["new", "running", "none"]) assert.strictEqual((yield* store.counts(id)).outcomes.accepted, 1)
        yield* store.create(newJob("old"))
        assert.strictEqual((yield* store.counts("old")).total, 0)
        yield* store.addEvents(seen("old"), "loading", ["e"])
        assert.strictEqual((yield* store.counts("old")).left, 1, "it has none of the entries before")
      })
  )

  law("says that a job was removed", (store) =>
    Effect.gen(function*() {
      const uses: ReadonlyArray<Effect.Effect<unknown, JobNotFound | JobStoreError>> = [
        store.unfinished("a", all),
        store.results("a", all),
        store.counts("a"),
        store.journal("a")
      ]
      for (const use of uses) assert.deepInclude(yield* Effect.flip(use), { _tag: "JobNotFound", id: "a" })
    }))
}

describe("jobs in memory", () => {
  contract(
    it as never,
    (test) => Effect.scoped(Effect.flatMap(Effect.flatMap(MemoryStore.keepNothing, MemoryStore.make), test))
  )
})

describe("jobs in files", () => {
  contract(it as never, (test) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const keeper = yield* FileJobs.make(yield* fs.makeTempDirectoryScoped(), "15 seconds")
      yield* Effect.flatMap(MemoryStore.make(keeper), test)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))))
})

withPostgres("jobs in PostgreSQL", (it) => {
  contract(
    it,
    (test) =>
      Effect.flatMap(
        Postgres,
        (server) => Effect.flatMap(makeJobStore, test).pipe(Effect.scoped, Effect.provide(layerMigrated(server)))
      )
  )
})
