/** The laws of every store that a fleet may share. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, type Scope } from "effect"
import type * as SharedStore from "../../src/SharedStore.js"

export const next = (value: string, timeToLive: Duration.DurationInput = "1 minute") => ({
  value,
  timeToLive: Duration.decode(timeToLive)
})

/** Retries until the request succeeds. */
export const eventually = <A, E>(request: Effect.Effect<A, E>) =>
  request.pipe(
    Effect.catchAll(() => Effect.delay(Effect.fail("no response"), "50 millis")),
    Effect.retry({ times: 100 })
  )

/** The laws of every store. */
export const contract = (name: string, store: Effect.Effect<SharedStore.SharedStore["Type"], unknown, Scope.Scope>) =>
  describe(name, () => {
    it.live("changes a value only for a caller that knows its version", () =>
      Effect.gen(function*() {
        const { get, swap } = yield* store
        assert.isUndefined((yield* get("k")).entry)
        assert.isFalse((yield* swap("k", "no such version", next("a"))).swapped)
        const first = yield* swap("k", undefined, next("a\u0000\"ü\n"))
        assert.isTrue(first.swapped)
        assert.strictEqual(first.entry?.value, "a\u0000\"ü\n")
        assert.deepStrictEqual((yield* get("k")).entry, first.entry)
        const late = yield* swap("k", undefined, next("b"))
        assert.isFalse(late.swapped)
        assert.deepStrictEqual(late.entry, first.entry, "it returns the entry")
        const second = yield* swap("k", first.entry?.version, next("b"))
        assert.isTrue(second.swapped)
        assert.notStrictEqual(second.entry?.version, first.entry?.version)
        assert.isFalse((yield* swap("k", first.entry?.version, undefined)).swapped)
        assert.isTrue((yield* swap("k", second.entry?.version, undefined)).swapped)
        assert.isUndefined((yield* get("k")).entry)
        const again = yield* swap("k", undefined, next("a"))
        for (const { entry } of [first, second]) assert.notStrictEqual(again.entry?.version, entry?.version)
      }).pipe(Effect.scoped))

    it.live("lets one of many swaps win", () =>
      Effect.gen(function*() {
        const { swap } = yield* store
        const results = yield* Effect.all(
          Array.from({ length: 50 }, (_, nth) => swap("race", undefined, next(String(nth)))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(results.filter(({ swapped }) => swapped).length, 1)
      }).pipe(Effect.scoped))

    it.live("keeps a value for as long as it can if its time to live is longer than any store counts", () =>
      Effect.gen(function*() {
        const { get, swap } = yield* store
        for (const millis of [1e16, 1e22, Number.MAX_VALUE]) {
          const { entry, swapped } = yield* swap(`long ${millis}`, undefined, next("a", Duration.millis(millis)))
          assert.isTrue(swapped)
          assert.deepStrictEqual((yield* get(`long ${millis}`)).entry, entry)
        }
      }).pipe(Effect.scoped))

    it.live("removes a value after its time to live, and returns the time", () =>
      Effect.gen(function*() {
        const { get, swap } = yield* store
        const { entry, now } = yield* swap("k", undefined, next("a", "30 millis"))
        yield* Effect.sleep("80 millis")
        const later = yield* get("k")
        assert.isUndefined(later.entry)
        assert.isAbove(later.now, now + 70)
        assert.closeTo(later.now, Date.now(), 10_000)
        assert.isFalse((yield* swap("k", entry?.version, next("b"))).swapped)
      }).pipe(Effect.scoped))
  })
