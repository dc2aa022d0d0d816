/** Tests of the runner of jobs: which ones it runs, when it ends, how long it waits for the service, and what it logs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import { createUsersExport, Errors, getJob, IdentityClient } from "../../src/index.js"
import { keepNothing, make } from "../../src/jobs/memoryStore.js"
import { JobStoreError, type State } from "../../src/jobs/model.js"
import { makeRunner, type RunnerOptions } from "../../src/jobs/runner.js"
import type { JobStore } from "../../src/jobs/store.js"
import * as Testing from "../../src/Testing.js"
import { newJob, seen } from "../support/jobStores.js"
import { transport } from "../support/redelivery.js"
import { logged } from "../support/telemetry.js"

type Client = RunnerOptions["tenants"]["client"]

/** A storage with an export in a state, and a run of it over a storage that does some things in another way. */
const running = (
  client: Client,
  { change, state = "running", ...options }: Partial<RunnerOptions> & {
    readonly change?: (store: JobStore) => Partial<JobStore>
    readonly state?: State
  } = {}
) =>
  Effect.gen(function*() {
    const store = yield* Effect.flatMap(keepNothing, make)
    yield* store.create(newJob("a", { kind: "export", definition: "{}" }))
    yield* store.update(seen("a"), ["loading"], { state, isLoaded: true })
    const run = makeRunner({ ...options, store: { ...store, ...change?.(store) }, tenants: { client } })("a")
    return { job: Effect.map(store.get("a"), Option.getOrThrow), run, store }
  })

const broken = new JobStoreError({ message: "the disk is broken" })

const isRunning = <A, E>(fiber: Fiber.RuntimeFiber<A, E>) => Effect.map(Fiber.poll(fiber), Option.isNone)

/** A client of a service of exports: what happens before each start and each look, counted from 1. */
const exporting = (
  start: (nth: number) => ReturnType<typeof failing>,
  look: (nth: number) => ReturnType<typeof failing> = () => Effect.void
) => {
  const counts = { starts: 0, looks: 0 }
  const job = { id: "job_0000000000000001", type: "users_export", status: "completed" } as const
  const layer = Testing.layer(
    Testing.handle(createUsersExport, () => Effect.suspend(() => Effect.as(start(++counts.starts), job))),
    Testing.handle(
      getJob,
      () =>
        Effect.suspend(() =>
          Effect.as(look(++counts.looks), { ...job, location: "https://storage.example.com/users.gz" })
        )
    )
  )
  const client: Client = () => Effect.provide(IdentityClient.IdentityClient, layer)
  return { client, counts }
}

const failing = (isFailing: boolean) => isFailing ? Effect.fail(transport("not-sent")) : Effect.void

describe("a run of a job", () => {
  it.effect.each<State>(["loading", "done", "failed", "cancelled"])(
    "does nothing while it is %s",
    (state) =>
      Effect.gen(function*() {
        const { job, run } = yield* running(() => Effect.dieMessage("it runs"), { state })
        const before = yield* job
        yield* run
        assert.deepStrictEqual(yield* job, before)
      })
  )

  it.effect("does nothing if there is no such job", () =>
    Effect.gen(function*() {
      const { run, store } = yield* running(() => Effect.dieMessage("it runs"))
      yield* store.remove(seen("a"), "running")
      yield* run
      assert.isTrue(Option.isNone(yield* store.get("a")))
    }))

  it.effect.each<readonly [string, (store: JobStore) => Effect.Effect<unknown, JobStoreError>]>([
    ["was cancelled", (store) => store.update(seen("a"), ["running"], { state: "cancelled", endedAt: 5 })],
    ["was removed", (store) => store.remove(seen("a"), "running")],
    ["was resumed", (store) => store.update(seen("a"), ["running"], { resumed: 1 })],
    ["was submitted anew", (store) =>
      store.remove(seen("a"), "running").pipe(
        Effect.zipRight(store.create(newJob("a", { submittedAt: 2000 }))),
        Effect.zipRight(store.update(seen("a", { submittedAt: 2000 }), ["loading"], { state: "running" }))
      )]
  ])(
    "ends at the next look after it %s elsewhere, though the storage failed at an earlier one",
    ([, change]) =>
      Effect.gen(function*() {
        let looks = 0
        const { run, store } = yield* running(() => Effect.never, {
          pollInterval: "10 seconds",
          change: (store) => ({ get: (id) => Effect.suspend(() => looks++ === 1 ? broken : store.get(id)) })
        })
        const fiber = yield* Effect.fork(run)
        yield* TestClock.adjust("25 seconds")
        assert.isTrue(yield* isRunning(fiber))
        yield* change(store)
        const left = yield* store.get("a")
        yield* TestClock.adjust("4 seconds")
        assert.isTrue(yield* isRunning(fiber))
        yield* TestClock.adjust("1 second")
        assert.isFalse(yield* isRunning(fiber))
        assert.deepStrictEqual(yield* store.get("a"), left)
      })
  )

  it.effect.each(
    [
      [new Error("a secret"), "Error"],
      ["a secret", "Error"],
      [{ _tag: "Odd", message: "a secret" }, "Odd"]
    ] as const
  )("that dies with %o fails, and the log says with what", ([defect, tag]) =>
    Effect.gen(function*() {
      const { job, run } = yield* running(() => Effect.die(defect))
      yield* TestClock.setTime(5000)
      const { lines } = yield* logged(run)
      assert.deepStrictEqual(lines, ["ERROR job=a a job failed unexpectedly"])
      assert.deepInclude(yield* job, {
        state: "failed",
        endedAt: 5000,
        error: new Errors.OtherError({
          tag,
          message: "the job failed unexpectedly: the log of its process says more"
        })
      })
    }))
})

describe("a run of a job waits", () => {
  it.effect("for a storage as long as that takes, and says so in the log", () =>
    Effect.gen(function*() {
      const { client, counts } = exporting(() => Effect.void)
      let failures = 10
      const { job, run } = yield* running(client, {
        giveUpAfter: "10 seconds",
        pollInterval: "1 minute",
        change: (store) => ({ claimExport: (seen) => failures-- > 0 ? broken : store.claimExport(seen) })
      })
      const fiber = yield* Effect.fork(logged(run))
      yield* TestClock.adjust("10 minutes")
      const { lines } = yield* Fiber.join(fiber)
      const line = "WARN job=a a job cannot go on now, and is tried again: the disk is broken"
      assert.deepStrictEqual(lines, Array.from({ length: 10 }, () => line))
      assert.deepInclude(yield* job, { state: "done" })
      assert.strictEqual(counts.starts, 1)
    }))

  it.effect("for the service, until `giveUpAfter` has passed", () =>
    Effect.gen(function*() {
      const { client, counts } = exporting(() => failing(true))
      const { job, run } = yield* running(client, { giveUpAfter: "1 second" })
      const fiber = yield* Effect.fork(run)
      yield* TestClock.adjust("999 millis")
      assert.deepInclude(yield* job, { state: "running" })
      yield* TestClock.adjust("1 millis")
      assert.isFalse(yield* isRunning(fiber))
      const { error, state } = yield* job
      assert.strictEqual(state, "failed")
      assert.deepInclude(error, { _tag: "TransportError", message: "redeliverEvent: No.", outcome: "not-sent" })
      assert.strictEqual(counts.starts, 2)
    }))

  it.effect("for the service anew after each response", () =>
    Effect.gen(function*() {
      // The outage ends within `giveUpAfter` of the response, which comes after 9 min, but not within that time of the start.
      const { client, counts } = exporting(() => Effect.sleep("9 minutes"), (nth) => failing(nth < 10))
      const { job, run } = yield* running(client, { giveUpAfter: "10 minutes", pollInterval: "1 minute" })
      const fiber = yield* Effect.fork(run)
      yield* TestClock.adjust("20 minutes")
      assert.isFalse(yield* isRunning(fiber))
      assert.deepInclude(yield* job, { state: "done" })
      assert.deepStrictEqual(counts, { starts: 1, looks: 10 })
    }))

  it.effect("while another run starts its export, and then goes on with that", () =>
    Effect.gen(function*() {
      const { client, counts } = exporting(() => Effect.void)
      let isOther = true
      const { job, run, store } = yield* running(client, {
        change: (store) => ({ claimExport: (seen) => isOther ? Effect.succeed(false) : store.claimExport(seen) })
      })
      const fiber = yield* Effect.fork(logged(run))
      yield* TestClock.adjust("500 millis")
      isOther = false
      yield* store.update(seen("a"), ["running"], { exportJob: "job_0000000000000007" })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual((yield* Fiber.join(fiber)).lines, [
        "WARN job=a a job cannot go on now, and is tried again: the job does not run any more, or another run starts it"
      ])
      assert.deepInclude(yield* job, { state: "done", exportJob: "job_0000000000000007" })
      assert.deepStrictEqual(counts, { starts: 0, looks: 1 })
    }))
})
