/** Tests of single statements in PostgreSQL: entries of jobs, shared values, and connections that are lost. */
import { assert } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import type { AddressInfo, Socket } from "node:net"
import { connect, createServer } from "node:net"
import { layerSql } from "../../examples/support/postgresServer.js"
import { isResponding, makeDatabase } from "../../src/cluster/database.js"
import { type EntryRequest, runEntries } from "../../src/cluster/entryStatement.js"
import { makeJobStore } from "../../src/cluster/jobStore.js"
import { migrate } from "../../src/cluster/migrations.js"
import { makeSharedBackend } from "../../src/cluster/sharedStore.js"
import { entry, keyOf } from "../support/jobStores.js"
import { Postgres, withPostgres } from "../support/postgres.js"
import { next } from "../support/sharedStores.js"
import { createRunning, setState } from "./runningJob.js"

/** A pool of connections to a new database that has the tables. */
const setUp = Effect.gen(function*() {
  const server = yield* Postgres
  const database = yield* server.database
  const sql = layerSql(server, database, { maxConnections: 2 })
  const context = yield* Layer.build(Layer.provideMerge(Layer.effectDiscard(migrate), sql))
  const { query } = yield* Effect.provide(makeDatabase, context)
  return { context, database, query, server }
})

/** Passes connections on to a server, until they are cut: then there are none, and no new ones. */
const proxyTo = (port: number) => {
  const sockets: Array<Socket> = []
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1")
    for (const [from, to] of [[near, far], [far, near]] as const) {
      sockets.push(from)
      from.on("error", () => to.destroy())
      from.pipe(to)
    }
  })
  const cut = Effect.sync(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const listening = Effect.async<number>((resume) => {
    server.listen(0, "127.0.0.1", () => {
      resume(Effect.succeed((server.address() as AddressInfo).port)) // sound: on TCP
    })
  })
  return Effect.map(Effect.acquireRelease(listening, () => cut), (port) => ({ port, cut }))
}

withPostgres("a statement in PostgreSQL", (it) => {
  it.scoped("reads and writes entries of several jobs", () =>
    Effect.gen(function*() {
      const { context, query } = yield* setUp
      const store = yield* Effect.provide(makeJobStore, context)
      for (const job of ["a", "b"]) yield* createRunning(store, job, ["e", "f"])
      const [e, f] = [keyOf("e"), keyOf("f")]
      /** An entry of an event of the job `a`, or a value that it may have. */
      const noted = (outcome: "sending" | "accepted") => ({ value: entry("e", outcome), outcome })
      const ofEvent = { job: "a", key: e, event: "e" }
      const ofLock = (
        job: string,
        kind: EntryRequest["kind"],
        value?: string,
        expected: ReadonlyArray<string> = []
      ) => ({
        job,
        kind,
        key: "lock",
        ...(value !== undefined && { value }),
        expected: expected.map((value) => ({ value, outcome: undefined }))
      })
      const run = (requests: ReadonlyArray<EntryRequest>) =>
        Effect.map(
          runEntries({ query }, requests),
          (responses) =>
            responses.map(({ isDone, refusal, value }) => refusal ?? (isDone ? value ?? "done" : "refused"))
        )

      assert.deepStrictEqual(
        yield* run([
          ofLock("b", "insert", "1"),
          { kind: "insert", ...ofEvent, ...noted("sending"), expected: [] },
          ofLock("c", "insert", "1"),
          ofLock("a", "insert", "2"),
          { kind: "update", job: "a", key: f, event: "f", value: "1", expected: [{ value: "0", outcome: undefined }] }
        ]),
        ["done", "done", "removed", "done", "refused"]
      )
      assert.deepInclude(yield* store.counts("a"), { total: 2, left: 2 })
      yield* setState(store, "a", "running", "done")
      assert.deepStrictEqual(
        yield* run([
          ofLock("a", "update", "3", ["0", "2"]),
          ofLock("b", "update", "3", ["0", "2"]),
          { kind: "update", ...ofEvent, ...noted("accepted"), expected: [noted("sending")] },
          { kind: "insert", job: "a", key: f, event: "f", value: "1", expected: [] },
          { kind: "insert", job: "b", key: f, event: "f", value: "1", expected: [] },
          { kind: "get", job: "a", key: "renewal", expected: [] }
        ]),
        ["done", "refused", "done", "notRunning", "done", "done"]
      )
      assert.deepInclude(yield* store.counts("a"), { total: 2, left: 1 })
      assert.deepStrictEqual(
        yield* run([
          ofLock("a", "get"),
          ofLock("b", "delete", undefined, ["2"]),
          { kind: "drop", ...ofEvent, expected: [] },
          { kind: "delete", job: "a", key: f, event: "f", expected: [{ value: "1", outcome: undefined }] },
          { kind: "delete", job: "b", key: f, event: "f", expected: [{ value: "1", outcome: undefined }] }
        ]),
        ["3", "refused", noted("accepted").value, "done", "1"]
      )
      assert.deepInclude(yield* store.counts("a"), { total: 2, left: 2 })
    }))

  it.scoped("keeps shared values by their versions, until they expire", () =>
    Effect.gen(function*() {
      const { context } = yield* setUp
      const { get, swap } = yield* Effect.provide(makeSharedBackend, context)
      const missing = yield* get("k")
      assert.deepStrictEqual({ ...missing, now: 0 }, { now: 0, swapped: false, entry: undefined })
      assert.closeTo(missing.now, Date.now(), 60_000)
      const first = yield* swap("k", undefined, next("a \u0000"))
      assert.isTrue(first.swapped)
      assert.strictEqual(first.entry?.value, "a \u0000")
      assert.deepStrictEqual((yield* get("k")).entry, first.entry)
      const late = yield* swap("k", undefined, next("b"))
      assert.deepStrictEqual({ ...late, now: 0 }, { now: 0, swapped: false, entry: first.entry })
      assert.isAtLeast(late.now, first.now)
      const removed = yield* swap("k", first.entry?.version, undefined)
      assert.deepStrictEqual({ ...removed, now: 0 }, { now: 0, swapped: true, entry: undefined })
      const expired = yield* swap("k", undefined, next("c", "1 millis"))
      assert.isTrue(expired.swapped)
      yield* Effect.repeat(get("k"), { until: ({ now }) => now > expired.now + 1 })
      const again = yield* swap("k", expired.entry?.version, next("d"))
      assert.deepStrictEqual({ ...again, now: 0 }, { now: 0, swapped: false, entry: undefined })
    }))

  it.scoped("may have run if its connection is lost meanwhile, and has not without one", () =>
    Effect.gen(function*() {
      const { database, query, server } = yield* setUp
      const proxy = yield* proxyTo(server.port)
      const context = yield* Layer.build(layerSql(proxy, database, { maxConnections: 1 }))
      const lost = yield* Effect.provide(makeDatabase, context)
      const fiber = yield* Effect.fork(Effect.flip(lost.query("SELECT pg_sleep(60)", [])))
      yield* Effect.repeat(
        query("SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)' AND datname = current_database()", []),
        {
          until: ({ length }) => length > 0
        }
      )
      yield* proxy.cut
      const errors = [yield* Fiber.join(fiber), yield* Effect.flip(lost.query("SELECT 1", []))]
      assert.deepStrictEqual(errors.map(({ mayHaveRun }) => mayHaveRun), [true, false])
      for (const { message } of errors) assert.match(message, /^the database cannot be used( \([A-Z0-9_]+\))?$/)
      assert.isFalse(yield* Effect.provide(isResponding, context))
    }))

  it.scoped("counts and removes the entries of one job", () =>
    Effect.gen(function*() {
      const { context } = yield* setUp
      const store = yield* Effect.provide(makeJobStore, context)
      const [own, other] = [yield* createRunning(store, "own", ["e"]), yield* createRunning(store, "other")]
      for (const journal of [own, other]) yield* journal.set("lock", "1")
      yield* own.set(keyOf("e"), entry("e", "failed"))
      assert.deepStrictEqual([yield* own.size, yield* other.size], [2, 1])
      assert.deepInclude(yield* store.counts("own"), { total: 1, left: 0 })
      yield* own.clear
      assert.deepStrictEqual([yield* own.size, yield* other.size], [0, 1])
      assert.deepInclude(yield* store.counts("own"), { total: 1, left: 1 })
      yield* own.set("lock", "2")
      assert.deepStrictEqual(yield* own.get("lock"), Option.some("2"))
    }))
})
