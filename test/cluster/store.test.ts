/** The storage in PostgreSQL: jobs do not disturb each other, and counts agree with the entries whatever happens. */
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import {
  Context,
  Deferred,
  Duration,
  Effect,
  Either,
  Fiber,
  Layer,
  Logger,
  Option,
  Random,
  Schedule,
  Stream
} from "effect"
import { makeJobStore } from "../../src/cluster/jobStore.js"
import { Redelivery } from "../../src/index.js"
import type { JobStore } from "../../src/jobs/store.js"
import { entry, eventsOf, keyOf, newJob } from "../support/jobStores.js"
import { layerMigrated, Postgres, withPostgres } from "../support/postgres.js"
import { service, stream } from "../support/redelivery.js"
import { createRunning, setState } from "./runningJob.js"

const setUp = Effect.gen(function*() {
  const context = yield* Layer.build(layerMigrated(yield* Postgres, { maxConnections: 5 }))
  const make = Effect.provide(makeJobStore, context)
  return { store: yield* make, other: yield* make, sql: Context.get(context, SqlClient.SqlClient) }
})

const quiet = Logger.remove(Logger.defaultLogger)

/** Counts the outcomes anew, from all events and entries. */
const counted = (sql: SqlClient.SqlClient, job: string) =>
  Effect.map(
    sql.unsafe<{ outcome: string | null; count: number }>(
      `SELECT n.outcome, count(*)::integer AS count FROM identity_client_events AS e
      LEFT JOIN identity_client_entries AS n ON n.job = e.job AND n.key = encode(convert_to(e.id, 'UTF8'), 'hex')
      WHERE e.job = $1 GROUP BY n.outcome`,
      [job]
    ),
    (rows) => {
      const of = (outcome: string) => rows.find((row) => row.outcome === outcome)?.count ?? 0
      const total = rows.reduce((sum, { count }) => sum + count, 0)
      const [accepted, notFailed, gone, unknown, failed] = ["accepted", "notFailed", "gone", "unknown", "failed"].map(
        of
      )
      const outcomes = { accepted, notFailed, gone, unknown, failed }
      return {
        total,
        left: of("sending") + rows.filter(({ outcome }) => outcome === null).reduce((sum, { count }) => sum + count, 0),
        outcomes
      }
    }
  )

/** Tries again: the pool may still have connections that the server has ended, and needs a moment to notice. */
const again = Effect.retry(Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(100)))

const outcomes = ["sending", "accepted", "notFailed", "gone", "unknown", "failed"] as const

/** Writes and removes entries of random events at random. Some are refused: they are another journal's by then. */
const writeAtRandom = (store: JobStore, job: string, events: ReadonlyArray<string>, times: number) =>
  Effect.gen(function*() {
    const journal = yield* again(store.journal(job))
    const once = Effect.gen(function*() {
      const id = events[yield* Random.nextIntBetween(0, events.length)] ?? ""
      const outcome = outcomes[yield* Random.nextIntBetween(0, outcomes.length)] ?? "sending"
      const kind = yield* Random.nextIntBetween(0, 10)
      if (kind < 3) yield* Effect.ignore(journal.get(keyOf(id)))
      if (kind === 9) return yield* Effect.ignore(journal.remove(keyOf(id)))
      if (kind === 8) return yield* Effect.ignore(journal.set("renewal", String(outcome)))
      yield* Effect.ignore(journal.set(keyOf(id), entry(id, outcome, String(kind))))
    })
    yield* Effect.all(Array.from({ length: times }, () => once), { concurrency: 30, discard: true })
  })

withPostgres("the storage in PostgreSQL", (it) => {
  it.scoped("removes and cancels jobs while others are running, which notice nothing", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      const pause = () => Effect.delay(Effect.void, `${1 + Math.floor(Math.random() * 20)} millis`)
      const runOf = (job: string, tenant: ReturnType<typeof service>, count: number) =>
        Effect.flatMap(createRunning(store, job, eventsOf(count)), (journal) =>
          Stream.runDrain(Redelivery.run(eventsOf(count), { stream, journal, concurrency: 20 })).pipe(
            Effect.provide(tenant.layer),
            Effect.either
          ))
      // It takes longer than the four other jobs.
      const steady = service(() =>
        Effect.sleep(`${1 + Math.floor(Math.random() * 50)} millis`)
      )
      const running = yield* Effect.fork(runOf("b", steady, 1200))
      yield* Effect.repeat(Effect.sleep("5 millis"), {
        until: () => steady.sent.length > 100
      })
      for (let nth = 0; nth < 4; nth++) {
        const tenant = service(pause)
        const job = `a${nth}`
        const removed = yield* Effect.fork(runOf(job, tenant, 1000))
        yield* Effect.repeat(Effect.sleep("5 millis"), {
          until: () => tenant.sent.length > 50
        })
        yield* setState(store, job, "running", "cancelled")
        const sent = tenant.sent.length
        if (nth > 1) assert.isTrue(yield* store.remove(newJob(job), "cancelled"))
        const result = yield* Fiber.join(removed)
        assert.isTrue(Either.isLeft(result))
        if (Either.isLeft(result)) {
          assert.match(result.left.message, nth > 1 ? /does not run any more|was removed/ : /does not run any more/)
        }
        assert.isAtMost(tenant.sent.length, sent + 20, "no event is claimed any more")
      }
      assert.isBelow(steady.sent.length, 1200, "it runs while the other jobs do")
      assert.isTrue(Either.isRight(yield* Fiber.join(running)))
      assert.lengthOf(new Set(steady.sent), 1200)
      assert.strictEqual((yield* store.counts("b")).outcomes.accepted, 1200)
    }).pipe(Effect.provide(quiet)), 60_000)

  it.scoped("fails only the entry whose value the database refuses", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      const [one, other] = [yield* createRunning(store, "a"), yield* createRunning(store, "b")]
      const results = yield* Effect.all(
        [
          Effect.either(one.set("renewal", "0")),
          Effect.either(one.set("lock", "a\u0000b")),
          ...eventsOf(20).map((id) => Effect.either(other.set(keyOf(id), entry(id, "sending"))))
        ],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(results.map(Either.isRight), results.map((_, nth) => nth !== 1))
      assert.isTrue(Either.isLeft(results[1]!) && results[1].left.message.includes("(22021)"))
    }))

  it.scoped("claims an event first only while its job is running, and lets its run note the outcomes after that", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      const journal = yield* createRunning(store, "a", ["e", "f"])
      yield* journal.set("lock", "1")
      yield* journal.set(keyOf("e"), entry("e", "sending"))
      yield* setState(store, "a", "running", "cancelled")
      assert.include(
        (yield* Effect.flip(journal.set(keyOf("f"), entry("f", "sending")))).message,
        "does not run any more"
      )
      yield* journal.set(keyOf("e"), entry("e", "accepted"))
      yield* journal.remove("lock")
      assert.deepInclude(yield* store.counts("a"), { total: 2, left: 1 })
    }))

  it.scoped("counts what is there, whatever many writers do", () =>
    Effect.gen(function*() {
      const { other, sql, store } = yield* setUp
      const jobs = ["a", "b", "c"]
      const events = eventsOf(150)
      yield* Effect.forEach(jobs, (job) => createRunning(store, job, events))
      const writing = Effect.all(
        [store, other].flatMap((store) => jobs.map((job) => writeAtRandom(store, job, events, 400))),
        { concurrency: "unbounded", discard: true }
      )
      const adding = Effect.forEach(jobs, (job) => store.addEvents(newJob(job), "running", eventsOf(100, 100)))
      // Connections that end in the middle of statements: their responses are lost.
      const losing = Effect.repeatN(
        Effect.delay(
          Effect.ignore(sql.unsafe(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
          )),
          "100 millis"
        ),
        8
      )
      yield* Effect.all([writing, again(adding), losing], { concurrency: "unbounded" })
      for (const job of jobs) {
        const counts = yield* again(store.counts(job))
        assert.deepStrictEqual<unknown>(counts, yield* again(counted(sql, job)))
        assert.strictEqual(counts.total, 200)
        assert.isAbove(counts.outcomes.accepted, 0)
      }
      const journal = yield* again(store.journal("a"))
      yield* again(journal.set("lock", "before"))
      yield* again(journal.clear)
      assert.deepInclude(yield* again(store.counts("a")), { total: 200, left: 200 })
      yield* again(journal.set("lock", "after"))
      assert.strictEqual(yield* again(journal.size), 1)
    }).pipe(Effect.provide(quiet)), 60_000)

  it.scoped("counts 100,000 events without reading them, and removes them", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* setUp
      yield* createRunning(store, "a")
      yield* createRunning(store, "b")
      yield* sql.unsafe(`INSERT INTO identity_client_events (job, position, id)
        SELECT 'a', g, 'evt_' || lpad(g::text, 22, '0') FROM generate_series(1, 100000) AS g`)
      yield* sql.unsafe(`INSERT INTO identity_client_entries (job, key, value, outcome)
        SELECT job, encode(convert_to(id, 'UTF8'), 'hex'), '{}', 'accepted' FROM identity_client_events`)
      yield* sql.unsafe(`INSERT INTO identity_client_counts VALUES ('a', 'listed', 100000), ('a', 'accepted', 100000)`)
      const locked = yield* Deferred.make<void>()
      const released = yield* Deferred.make<void>()
      const locking = sql`LOCK TABLE identity_client_events, identity_client_entries`.pipe(
        Effect.zipRight(Deferred.succeed(locked, undefined)),
        Effect.zipRight(Deferred.await(released)),
        sql.withTransaction
      )
      const lock = yield* Effect.fork(locking)
      yield* Deferred.await(locked)
      const [took, counts] = yield* Effect.timed(store.counts("a"))
      assert.deepInclude(counts, { total: 100_000, left: 0 })
      yield* Deferred.succeed(released, undefined)
      yield* Fiber.join(lock)
      yield* Effect.forEach(["a", "b"], (job) => setState(store, job, "running", "done"))
      const [removal, removed] = yield* Effect.timed(store.prune(1))
      assert.strictEqual(removed, 2)
      assert.isTrue(Option.isNone(yield* store.get("a")))
      console.log(
        `100,000 events: ${Math.round(Duration.toMillis(took))} ms to count, ${
          Math.round(Duration.toMillis(removal))
        } ms to remove`
      )
    }), 60_000)
})
