/** Tests of the storage in memory: what it asks of its keeper, and what its journals do once their job is over or cannot be kept. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Errors } from "../../src/index.js"
import { storeFailure } from "../../src/internal/redelivery/storeFailure.js"
import { type Keeper, keepNothing, make } from "../../src/jobs/memoryStore.js"
import { JobStoreError, type State } from "../../src/jobs/model.js"
import type { JobRecord } from "../../src/jobs/store.js"
import { entry, eventsOf, keyOf, newJob, note, runningJob, seen } from "../support/jobStores.js"
import { allLines } from "../support/telemetry.js"

const all = { after: 0, limit: Infinity }

/** A storage whose keeper does some things in another way, and what was asked of that keeper. */
const keeping = (change: (keeper: Keeper) => Partial<Keeper> = () => ({})) =>
  Effect.gen(function*() {
    const nothing = yield* keepNothing
    const keeper = { ...nothing, ...change(nothing) }
    const asked: Array<string> = []
    const store = yield* make({
      ...keeper,
      addEvents: (id, events, known) => {
        asked.push(`${events.length} events after ${known}`)
        return keeper.addEvents(id, events, known)
      },
      journal: (id) => {
        asked.push("journal")
        return keeper.journal(id)
      },
      remove: (id) => {
        asked.push("remove")
        return keeper.remove(id)
      }
    })
    return { asked, store }
  })

it.effect("what keeps nothing beyond the process has one journal for each job, until the job is removed", () =>
  Effect.gen(function*() {
    const { journal, remove } = yield* keepNothing
    yield* (yield* journal("a")).set("lock", "1")
    assert.deepStrictEqual(yield* (yield* journal("a")).get("lock"), Option.some("1"))
    assert.strictEqual(yield* (yield* journal("b")).size, 0)
    yield* remove("a")
    assert.strictEqual(yield* (yield* journal("a")).size, 0)
  }))

describe("the storage in memory", () => {
  it.effect("keeps only events that are new, and reads no entries of a job that it has created", () =>
    Effect.gen(function*() {
      const { asked, store } = yield* keeping()
      yield* store.create(newJob("a"))
      for (const count of [2, 2, 3, 0]) {
        assert.isTrue(yield* store.addEvents(seen("a"), "loading", eventsOf(count)))
      }
      assert.deepInclude(yield* store.counts("a"), { total: 3, left: 3 })
      assert.deepStrictEqual(asked, ["2 events after 0", "1 events after 2"])
    }))

  it.effect("removes a job once, though two ask for it, and not the one that is submitted in between", () =>
    Effect.gen(function*() {
      const { asked, store } = yield* keeping((keeper) => ({
        remove: (id) => Effect.zipRight(Effect.yieldNow(), keeper.remove(id))
      }))
      yield* store.create(newJob("a"))
      const remove = store.remove(seen("a"), "loading")
      const [isRemoved, { isNew }, isRemovedAgain] = yield* Effect.all([remove, store.create(newJob("a")), remove], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual([isRemoved, isNew, isRemovedAgain], [true, true, false])
      assert.isTrue(Option.isSome(yield* store.get("a")))
      assert.deepStrictEqual(asked, ["remove"])
    }))

  it.effect("looks only at the jobs of the page that it lists, whatever the order of their submission", () =>
    Effect.gen(function*() {
      const { store } = yield* keeping()
      const times = Array.from({ length: 100 }, (_, nth) => (nth * 37) % 100)
      for (const time of times) yield* store.create(newJob(`job ${time}`, { submittedAt: time }))
      yield* store.remove({ id: "job 51", submittedAt: 51 }, "loading")
      let looks = 0
      const states: ReadonlyArray<State> = Object.assign(["loading" as const], { includes: () => ++looks > 0 })
      let after: JobRecord | undefined
      const listed: Array<number> = []
      for (let page = 0; page < 3; page++) {
        const jobs = yield* store.list({ states }, { after, limit: 20 })
        after = jobs.at(-1)
        listed.push(...jobs.map(({ submittedAt }) => submittedAt))
      }
      assert.deepStrictEqual(listed, Array.from({ length: 61 }, (_, nth) => nth).filter((nth) => nth !== 51))
      assert.strictEqual(looks, 60)
    }))

  it.effect("says why it cannot read the entries of a kept job, and reads them later", () =>
    Effect.gen(function*() {
      let isBroken = true
      const record = { ...newJob("a"), state: "done", isLoaded: true, resumed: 0 } as const
      const { store } = yield* keeping(({ journal }) => ({
        load: Effect.succeed([{ record, events: ["e"] }]),
        journal: (id) =>
          Effect.map(journal(id), (own) => ({
            ...own,
            get: (key) => isBroken ? storeFailure("get", key, "the disk is broken") : own.get(key)
          }))
      }))
      const error = yield* Effect.flip(store.counts("a"))
      assert.strictEqual(error._tag, "JobStoreError")
      assert.include(error.message, "the disk is broken")
      isBroken = false
      assert.deepInclude(yield* store.counts("a"), { total: 1, left: 1 })
    }))

  it.effect("logs which old job it could not remove, and why", () =>
    Effect.gen(function*() {
      const { store } = yield* keeping(() => ({ remove: () => new JobStoreError({ message: "the disk is broken" }) }))
      yield* store.create(newJob("a"))
      const { lines, value } = yield* allLines(store.prune(2000))
      assert.strictEqual(value, 0)
      assert.deepStrictEqual(lines, [
        "could not remove the job a: the disk is broken"
      ])
    }))

  it.effect("gives results as they are, with an error only where there is one", () =>
    Effect.gen(function*() {
      const { store } = yield* keeping()
      yield* runningJob(store, "a", ["sent", "refused"])
      yield* note(store, "a", { sent: "accepted" })
      yield* (yield* store.journal("a")).set(keyOf("refused"), entry("refused", "failed", "r", "No."))
      assert.deepStrictEqual(yield* store.results("a", all), [
        { position: 1, id: "sent", outcome: "accepted" },
        {
          position: 2,
          id: "refused",
          outcome: "failed",
          error: new Errors.OtherError({ tag: "Error", message: "No." })
        }
      ])
    }))
})

describe("the journal of a job", () => {
  it.effect("takes what an entry says of an event that is listed later, as bytes, too", () =>
    Effect.gen(function*() {
      const { store } = yield* keeping()
      yield* runningJob(store, "a", ["bytes"])
      const journal = yield* store.journal("a")
      const bytes = new TextEncoder().encode(entry("bytes", "accepted"))
      yield* journal.set(keyOf("bytes"), bytes)
      assert.deepStrictEqual(yield* journal.getUint8Array(keyOf("bytes")), Option.some(bytes))
      for (const id of ["later", "removed"]) yield* journal.set(keyOf(id), entry(id, "gone"))
      yield* journal.remove(keyOf("removed"))
      yield* store.addEvents(seen("a"), "running", ["later", "removed"])
      assert.deepStrictEqual((yield* store.results("a", all)).map(({ id, outcome }) => [id, outcome]), [
        ["bytes", "accepted"],
        ["later", "gone"]
      ])
      assert.deepInclude(yield* store.counts("a"), { total: 3, left: 1 })
    }))

  it.effect("refuses the first entry of an event while the job does not run, whether the event is listed or not", () =>
    Effect.gen(function*() {
      const { store } = yield* keeping()
      yield* runningJob(store, "a", ["listed"])
      const journal = yield* store.journal("a")
      for (const id of ["begun", "removed"]) yield* journal.set(keyOf(id), entry(id, "sending"))
      yield* journal.remove(keyOf("removed"))
      yield* store.update(seen("a"), ["running"], { state: "cancelled", endedAt: 1 })
      for (const id of ["listed", "not listed", "removed"]) {
        const error = yield* Effect.flip(journal.set(keyOf(id), entry(id, "sending")))
        assert.strictEqual(
          error.message,
          storeFailure("set", undefined, "the job is not running: it is cancelled").message
        )
      }
      yield* journal.set(keyOf("begun"), entry("begun", "accepted"))
      assert.isTrue(Option.isSome(yield* journal.get(keyOf("begun"))))
    }))

  it.effect.each(
    [
      ["the job was removed", "there is no job a"],
      ["the storage cannot be used", "another process has the jobs"]
    ] as const
  )("fails with the name of each operation once %s", ([, description]) =>
    Effect.gen(function*() {
      let isTaken = false
      const { store } = yield* keeping(() => ({
        check: Effect.suspend(() => isTaken ? Effect.fail(new JobStoreError({ message: description })) : Effect.void)
      }))
      yield* runningJob(store, "a", ["e"])
      const journal = yield* store.journal("a")
      if (description === "there is no job a") yield* store.remove(seen("a"), "running")
      else isTaken = true
      const operations = {
        get: journal.get("lock"),
        set: journal.set("lock", "1"),
        remove: journal.remove("lock"),
        size: journal.size,
        clear: journal.clear
      }
      for (const [name, operation] of Object.entries(operations)) {
        const error = yield* Effect.flip(Effect.asVoid(operation))
        assert.strictEqual(error.message, storeFailure(name, undefined, description).message)
      }
      const error = yield* Effect.flip(journal.getUint8Array("lock"))
      assert.strictEqual(error.message, storeFailure("get", undefined, description).message)
    }))

  it.effect("fails as what keeps it does", () =>
    Effect.gen(function*() {
      const failure = storeFailure("get", "lock", "the disk is broken", "PermissionDenied")
      const { store } = yield* keeping(({ journal }) => ({
        journal: (id) =>
          Effect.map(journal(id), (own) => ({
            ...own,
            get: () => Effect.zipRight(Effect.fail(failure), own.get("lock"))
          }))
      }))
      yield* runningJob(store, "a", [])
      assert.strictEqual(yield* Effect.flip((yield* store.journal("a")).get("lock")), failure)
    }))
})
