/** The lock of a journal: one run holds it, loses it when it stops renewing it, and sends nothing after that. */
import { KeyValueStore } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, LogLevel, Option, Random, Scope, Stream, TestClock } from "effect"
import { redeliverEvent, Redelivery } from "../../src/index.js"
import { JournalError } from "../../src/internal/redelivery/journal.js"
import * as Lock from "../../src/internal/redelivery/lock.js"
import { storeFailure } from "../../src/internal/redelivery/storeFailure.js"
import * as Testing from "../../src/Testing.js"
import * as VirtualTime from "../support/virtualTime.js"

const makeStore = Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerMemory)

/** Locks for a run that lives until its scope is closed, or for ever. */
const hold = (store: KeyValueStore.KeyValueStore, run: string, expiry = 9_000) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const check = yield* Scope.extend(Lock.acquire(store, run, expiry), scope)
    return { check, release: Scope.close(scope, Exit.void) }
  })

/** A store that stops at all operations of one process, which is dead for others then. */
const freezable = (store: KeyValueStore.KeyValueStore) => {
  let isFrozen = false
  const frozen = <A, E>(operation: Effect.Effect<A, E>) => Effect.suspend(() => isFrozen ? Effect.never : operation)
  const freezing: KeyValueStore.KeyValueStore = {
    ...store,
    get: (key) => frozen(store.get(key)),
    set: (key, value) => frozen(store.set(key, value))
  }
  return { store: freezing, freeze: () => void (isFrozen = true) }
}

const lost = { _tag: "JournalError", reason: "locked" } as const

describe("the lock of a journal", () => {
  it.effect("is refused while its holder renews it, for any length of time", () =>
    Effect.gen(function*() {
      const store = yield* makeStore
      const first = yield* hold(store, "first")
      yield* TestClock.adjust("5 minutes")
      const second = yield* Effect.fork(Effect.flip(hold(store, "second")))
      yield* TestClock.adjust("9 seconds")
      const error = yield* Fiber.join(second)
      assert.instanceOf(error, JournalError)
      assert.strictEqual(error.reason, "locked")
      assert.include(error.message, "another run holds the journal: {\"run\":\"first\"")
      yield* first.check
      yield* first.release
    }))

  it.effect("is refused with a message that no terminal obeys, whatever its entry holds", () =>
    Effect.gen(function*() {
      const store = yield* makeStore
      yield* store.set("lock", "a\u001b[2J\r\nb")
      const second = yield* Effect.fork(Effect.flip(hold(store, "second")))
      yield* TestClock.adjust("1 second")
      yield* store.set("renewal", "1")
      yield* TestClock.adjust("8 seconds")
      const { message } = yield* Fiber.join(second)
      assert.strictEqual(message, "another run holds the journal: a [2J b")
    }))

  it.effect("is there again at once after its release, and leaves no entry", () =>
    Effect.gen(function*() {
      const store = yield* makeStore
      const first = yield* hold(store, "first")
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual(yield* store.size, 2)
      yield* first.release
      assert.strictEqual(yield* store.size, 0)
      yield* hold(store, "second")
    }))

  it.effect("is taken over as soon as it is released by a holder that is about to end", () =>
    Effect.gen(function*() {
      const store = yield* makeStore
      const first = yield* hold(store, "first")
      const second = yield* Effect.fork(hold(store, "second"))
      yield* TestClock.adjust("1 second")
      yield* first.release
      yield* TestClock.adjust("1 second")
      yield* (yield* Fiber.join(second)).check
      assert.isTrue(Option.contains(yield* store.get("lock"), "{\"run\":\"second\",\"expiresAfter\":9000}"))
    }))

  it.effect("does not count as renewed while its holder is just releasing it", () =>
    Effect.gen(function*() {
      const store = yield* makeStore
      const slow = { ...store, remove: (key: string) => Effect.delay(store.remove(key), "2 seconds") }
      const first = yield* hold(slow, "first")
      yield* TestClock.adjust("4 seconds")
      const second = yield* Effect.fork(hold(store, "second"))
      yield* TestClock.adjust("1 second")
      const released = yield* Effect.fork(first.release)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(released)
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(second)))
    }))

  it.effect("is taken over from a run that died, after its own expiry, not after the other's", () =>
    Effect.gen(function*() {
      const store = yield* makeStore
      const { freeze, store: ofFirst } = freezable(store)
      yield* hold(ofFirst, "first", 9_000)
      freeze()
      const second = yield* Effect.fork(hold(store, "second", 100))
      yield* TestClock.adjust("8999 millis")
      assert.isTrue(Option.isNone(yield* Fiber.poll(second)))
      yield* TestClock.adjust("1 millis")
      yield* (yield* Fiber.join(second)).check
    }))

  it.effect.each(["", "{", "{\"run\":\"x\",\"expiresAfter\":1e30}"])(
    "is taken over if its entry is damaged: %s",
    (text) =>
      Effect.gen(function*() {
        const store = yield* makeStore
        yield* store.set("lock", text)
        const fiber = yield* Effect.fork(hold(store, "second"))
        yield* TestClock.adjust("8999 millis")
        assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
        yield* TestClock.adjust("1 millis")
        yield* (yield* Fiber.join(fiber)).check
      })
  )

  it.effect("is known to be lost by a holder that comes to life again, which neither renews nor releases it", () =>
    Effect.gen(function*() {
      const store = yield* makeStore
      const first = yield* hold(store, "first")
      yield* store.set("lock", "{\"run\":\"second\",\"expiresAfter\":9000}") // as another run does it
      assert.deepInclude(yield* Effect.flip(first.check), lost)
      yield* TestClock.adjust("1 minute")
      assert.isTrue(Option.isNone(yield* store.get("renewal")))
      yield* first.release
      assert.isTrue(Option.isSome(yield* store.get("lock")))
    }))

  it.effect("is lost if its entry is removed", () =>
    Effect.gen(function*() {
      const store = yield* makeStore
      const first = yield* hold(store, "first")
      yield* store.remove("lock")
      assert.deepInclude(yield* Effect.flip(first.check), lost)
    }))

  it.effect("is renewed again after the store failed for a while", () =>
    Effect.gen(function*() {
      const memory = yield* makeStore
      let fails = false
      const full = storeFailure("set", undefined, "full")
      const store = {
        ...memory,
        set: (key: string, value: string | Uint8Array) =>
          Effect.suspend(() => fails ? Effect.fail(full) : memory.set(key, value))
      }
      const first = yield* hold(store, "first")
      fails = true
      yield* TestClock.adjust("5 seconds")
      fails = false
      yield* TestClock.adjust("3 seconds")
      assert.isTrue(Option.isSome(yield* memory.get("renewal")))
      yield* first.check
    }))
})

/**
 * Three runs of the same ids over one store. Each process stalls between any two operations, often for longer than the
 * lock's expiry, so that the others take the lock over from runs that are alive.
 */
const stallingRuns = (seed: number) =>
  Effect.gen(function*() {
    const shared = yield* makeStore
    const stream = "est_0000000000000000000001"
    const ids = Array.from({ length: 12 }, (_, nth) => `evt_${String(nth).padStart(22, "0")}`)
    const sent: Array<string> = []
    const unknown = new Set<string>()
    let takeovers = 0
    const process = (nth: number) => {
      const stall = Effect.flatMap(
        Effect.zip(Random.next, Random.next),
        ([chance, length]) => Effect.sleep(chance < 0.1 ? 1000 * length : 10 * length)
      )
      const journal: Redelivery.Journal = {
        ...shared,
        get: (key) => Effect.zipRight(stall, Effect.zipLeft(shared.get(key), stall)),
        set: (key, value) => Effect.zipRight(stall, Effect.zipLeft(shared.set(key, value), stall))
      }
      const client = Testing.layer(
        Testing.handle(redeliverEvent, ({ event_id }) =>
          Effect.zipRight(Effect.sync(() => void sent.push(event_id)), stall))
      )
      const attempt: Effect.Effect<void> = Stream.runForEach(
        Redelivery.run(ids, { stream, journal, concurrency: 3, lockExpiry: "150 millis" }),
        ({ id, outcome }) =>
          Effect.sync(() => void (outcome === "unknown" && unknown.add(id)))
      ).pipe(
        Effect.provide(client),
        Effect.catchAll((error) => {
          if (error._tag === "JournalError" && /taken/.test(error.message)) {
            takeovers++
          }
          return Effect.delay(attempt, "50 millis")
        })
      )
      return Effect.withRandom(attempt, Random.make(`${seed} ${nth}`))
    }
    yield* Effect.forEach([1, 2, 3], process, { concurrency: "unbounded" })
    return { ids, sent, takeovers, unknown }
  })

it.effect("a run that lost its lock keeps the results of its successor", () =>
  Effect.gen(function*() {
    const shared = yield* makeStore
    const stream = "est_0000000000000000000001"
    const id = "evt_0000000000000000000001"
    const sent: Array<string> = []
    const { freeze, store } = freezable(shared)
    const isEntry = (key: string) => !["lock", "renewal", "journal"].includes(key)
    // The first run stalls after it has found no entry for the event, and comes to life after the second run.
    const stalling: KeyValueStore.KeyValueStore = {
      ...store,
      get: (key) => Effect.tap(shared.get(key), () => isEntry(key) ? Effect.sleep("10 seconds") : Effect.void),
      set: (key, value) =>
        Effect.suspend(() => {
          if (key === "lock") freeze()
          return key === "renewal" ? Effect.never : shared.set(key, value)
        })
    }
    const run = (name: string, journal: Redelivery.Journal) =>
      Stream.runCollect(Redelivery.run([id], { stream, journal, lockExpiry: "1 second" })).pipe(
        Effect.provide(Testing.layer(Testing.handle(redeliverEvent, () => Effect.sync(() => void sent.push(name)))))
      )
    const first = yield* Effect.fork(Effect.flip(run("first", stalling)))
    yield* TestClock.adjust("100 millis")
    const second = yield* Effect.fork(run("second", shared))
    yield* TestClock.adjust("5 seconds")
    yield* Fiber.join(second)
    yield* TestClock.adjust("10 seconds")
    assert.deepInclude(yield* Fiber.join(first), lost)
    const [third] = yield* run("third", shared)
    assert.deepInclude(third, { outcome: "accepted", recalled: true })
    assert.deepStrictEqual(sent, ["second"])
  }).pipe(Logger.withMinimumLogLevel(LogLevel.None)))

describe("runs that stall for longer than the lock's expiry", () => {
  it.effect("send no event twice, and report every event that was not sent", () =>
    Effect.gen(function*() {
      let takeovers = 0
      for (let seed = 0; seed < 60; seed++) {
        const result = yield* VirtualTime.run(stallingRuns(seed), { most: "1 hour" }).pipe(
          Logger.withMinimumLogLevel(LogLevel.None)
        )
        assert.lengthOf(new Set(result.sent), result.sent.length, `seed ${seed}`)
        const notSent = result.ids.filter((id) => !result.sent.includes(id))
        assert.deepStrictEqual(notSent.filter((id) => !result.unknown.has(id)), [], `seed ${seed}`)
        takeovers += result.takeovers
      }
      assert.isAbove(takeovers, 20)
    }))
})
