/** The journal in PostgreSQL: whatever processes do at the same time, each event is claimed once. */
import { assert } from "@effect/vitest"
import { Effect, Either, Exit, Logger, Option, Random, Scope, Stream } from "effect"
import { getEventStream, redeliverEvent, Redelivery } from "../../src/index.js"
import * as Lock from "../../src/internal/redelivery/lock.js"
import * as Testing from "../../src/Testing.js"
import { entry, eventsOf, keyOf } from "../support/jobStores.js"
import { withPostgres } from "../support/postgres.js"
import { processes } from "./runningJob.js"

const quiet = Logger.remove(Logger.defaultLogger)

const changedMessage = "another run has changed the entry"

withPostgres("a journal in PostgreSQL", (it) => {
  it.scoped("gives each event to one of many claimers", () =>
    Effect.gen(function*() {
      const { journal, stores } = yield* processes(8)
      const events = eventsOf(600)
      const claims = yield* Effect.forEach(
        stores,
        (_, nth) =>
          Effect.gen(function*() {
            const own = yield* journal(nth)
            const order = nth < 4 ? events : yield* Random.shuffle(events).pipe(Effect.map((all) => [...all]))
            return yield* Effect.forEach(
              order,
              (id) =>
                Effect.gen(function*() {
                  if (Option.isSome(yield* own.get(keyOf(id)))) return []
                  const claim = yield* Effect.either(own.set(keyOf(id), entry(id, "sending", `run ${nth}`)))
                  if (Either.isRight(claim)) return [id]
                  assert.include(claim.left.message, changedMessage)
                  return []
                }),
              { concurrency: 50 }
            )
          }),
        { concurrency: "unbounded" }
      )
      const claimed = claims.flat(2)
      assert.strictEqual(claimed.length, 600)
      assert.strictEqual(new Set(claimed).size, 600)
      assert.isAbove(claims.filter((own) => own.flat().length > 0).length, 1, "several claimers got some")
    }))

  it.scoped("gives an event that failed before to one of many", () =>
    Effect.gen(function*() {
      const { journal, stores } = yield* processes(8)
      const events = eventsOf(300)
      const first = yield* journal(0)
      yield* Effect.forEach(events, (id) => first.set(keyOf(id), entry(id, "failed")), { concurrency: 100 })
      // All have read the same entries before the first one claims any.
      const journals = yield* Effect.forEach(stores, (_, nth) =>
        Effect.tap(journal(nth), (own) =>
          Effect.forEach(events, (id) => own.get(keyOf(id)), { concurrency: 100 })))
      const claims = yield* Effect.forEach(
        journals,
        (own, nth) =>
          Effect.forEach(
            nth % 2 === 0 ? events : events.toReversed(),
            (id) =>
              Effect.either(own.set(keyOf(id), entry(id, "sending", `run ${nth}`))),
            { concurrency: 30 }
          ),
        { concurrency: "unbounded" }
      )
      const all = claims.flat()
      assert.strictEqual(all.filter(Either.isRight).length, 300)
      for (const claim of all) if (Either.isLeft(claim)) assert.include(claim.left.message, changedMessage)
    }))

  it.scoped("lets a run write an entry until another one does", () =>
    Effect.gen(function*() {
      const { journal } = yield* processes(2)
      const [one, other] = [yield* journal(0), yield* journal(1)]
      const key = keyOf("e")
      const value = (outcome: "sending" | "accepted" | "failed", run = "1") => entry("e", outcome, run)
      assert.isTrue(Option.isNone(yield* one.get(key)))
      yield* one.set(key, value("failed"))
      yield* one.set(key, value("sending"))
      yield* one.set(key, value("failed"))
      yield* one.remove(key)
      yield* one.set(key, value("sending"))
      const error = yield* Effect.flip(other.set(key, value("sending", "2")))
      assert.strictEqual(error.message, `AlreadyExists: KeyValueStore.set (${key}): ${changedMessage}`)
      yield* other.get(key)
      yield* other.set(key, value("accepted", "2"))
      assert.include((yield* Effect.flip(one.set(key, value("accepted")))).message, changedMessage)
      assert.include((yield* Effect.flip(one.remove(key))).message, changedMessage)
      assert.deepStrictEqual(yield* one.get(key), Option.some(value("accepted", "2")))
      yield* one.remove(key)
      assert.isTrue(Option.isNone(yield* other.get(key)))
    }))

  it.scoped("lets one of two runs take an expired lock over at the same time", () =>
    Effect.gen(function*() {
      const { journal } = yield* processes(3)
      for (let round = 0; round < 10; round++) {
        const dead = yield* journal(2)
        yield* dead.get("lock")
        yield* dead.set("lock", JSON.stringify({ run: `dead ${round}`, expiresAfter: 30 }))
        const scope = yield* Scope.make()
        const locks = yield* Effect.forEach(
          [0, 1],
          (nth) =>
            Effect.flatMap(journal(nth), (own) =>
              Effect.either(Scope.extend(Lock.acquire(own, `run ${round} ${nth}`, "10 seconds"), scope))),
          { concurrency: "unbounded" }
        )
        const held = locks.filter(Either.isRight)
        assert.strictEqual(held.length, 1)
        for (const lock of held) {
          yield* lock.right
        }
        yield* Scope.close(scope, Exit.void)
        assert.isTrue(Option.isNone(yield* dead.get("lock")), "the holder has released it")
      }
    }).pipe(Effect.provide(quiet)))

  it.scoped("sends each event at most once though runs ignore each other's lock", () =>
    Effect.gen(function*() {
      const { journal, stores } = yield* processes(4)
      const sent = new Map<string, number>()
      const service = Testing.layer(
        Testing.handle(redeliverEvent, ({ event_id }) =>
          Effect.delay(
            Effect.sync(() => void sent.set(event_id, (sent.get(event_id) ?? 0) + 1)),
            "1 millis"
          )),
        Testing.handle(getEventStream, () => Effect.succeed({}))
      )
      let overtaken = 0
      const events = eventsOf(300)
      const runAll = (nth: number) =>
        Effect.flatMap(journal(nth), (own) => {
          // Each has a lock of its own, as if it had stalled after it has got it.
          const mine = new Map<string, string>()
          const isHeld = (key: string) => key === "lock" || key === "renewal" || key === "journal"
          return Stream.runDrain(Redelivery.run(nth < 2 ? events : events.toReversed(), {
            stream: "est_0000000000000000000001",
            journal: {
              ...own,
              get: (key) => isHeld(key) ? Effect.sync(() => Option.fromNullable(mine.get(key))) : own.get(key),
              set: (key, value) =>
                isHeld(key) ? Effect.sync(() => void mine.set(key, String(value))) : own.set(key, value),
              remove: (key) => isHeld(key) ? Effect.sync(() => void mine.delete(key)) : own.remove(key)
            }
          }))
        }).pipe(
          Effect.catchTag("JournalError", (error) => {
            overtaken++
            assert.include(error.message, changedMessage)
            return Effect.fail("again")
          }),
          Effect.retry({ while: (error) => error === "again" })
        )
      yield* Effect.forEach(stores, (_, nth) => runAll(nth), { concurrency: "unbounded" }).pipe(Effect.provide(service))
      assert.deepStrictEqual([...sent.values()].filter((count) => count > 1), [])
      assert.isAbove(overtaken, 0)
      assert.isAtLeast(sent.size, 250)
    }).pipe(Effect.provide(quiet)))
})
