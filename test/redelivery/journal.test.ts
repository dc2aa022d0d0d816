/** The entries of a journal: for events, for its stream, and for its lock. */
import { KeyValueStore } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Journal from "../../src/internal/redelivery/journal.js"

describe("a journal", () => {
  const entries: ReadonlyArray<Journal.JournalEntry> = [
    ...(["sending", "accepted", "notFailed", "gone", "unknown", "failed"] as const).map((outcome) => ({
      id: "a",
      run: "r",
      outcome
    })),
    { id: "a", run: "r", outcome: "failed", error: { tag: "Forbidden", message: "No." } }
  ]
  it.effect.each(entries)("reads the entry that was written: %j", (entry) =>
    Effect.gen(function*() {
      const store = Journal.inMemory()
      yield* Journal.writeEntry(store, entry)
      assert.deepStrictEqual(yield* Journal.readEntry(store, "a"), Option.some(entry))
    }))

  it.effect.each(["", "{", "{}", "{\"version\":1}"])(
    "with the header %j belongs to no stream yet",
    (header) =>
      Effect.gen(function*() {
        const store = Journal.inMemory()
        yield* store.set("journal", header)
        yield* Journal.bindToStream(store, "s", false)
        assert.deepStrictEqual(
          Option.map(yield* store.get("journal"), (text) => JSON.parse(text)),
          Option.some({ version: 1, stream: "s" })
        )
        assert.deepInclude(yield* Effect.flip(Journal.bindToStream(store, "t", true)), {
          reason: "foreign",
          message: "the journal belongs to another stream"
        })
      })
  )

  it.effect.each(["{\"version\":2,\"stream\":\"s\"}", "{\"version\":3}"])(
    "with the header %j is of a later version, and is not changed",
    (header) =>
      Effect.gen(function*() {
        const store = Journal.inMemory()
        yield* store.set("journal", header)
        for (const isReadOnly of [false, true]) {
          assert.deepInclude(yield* Effect.flip(Journal.bindToStream(store, "s", isReadOnly)), {
            reason: "foreign",
            message: "the journal was written by a later version of this library"
          })
        }
        assert.deepStrictEqual(yield* store.get("journal"), Option.some(header))
      })
  )

  it.effect("can be locked by one run at a time; the error shows the lock's entry", () =>
    Effect.gen(function*() {
      const store = yield* KeyValueStore.KeyValueStore
      const lock = (run: string) => Journal.lock(store, run, "2026-01-01T00:00:00.000Z")
      const ours = yield* lock("ours")
      yield* ours
      const expected = (run: string) => ({
        reason: "locked" as const,
        message: `another run holds the journal: {"run":"${run}","since":"2026-01-01T00:00:00.000Z"}; `
          + "if it has ended, remove the entry \"lock\""
      })
      assert.deepInclude(yield* Effect.flip(Effect.asVoid(lock("theirs"))), expected("ours"))
      yield* store.remove("lock")
      assert.deepInclude(yield* Effect.flip(ours), {
        reason: "locked",
        message: "the journal's entry \"lock\" was removed: another run may hold the journal"
      })
      const theirs = yield* lock("theirs")
      yield* theirs
      assert.deepInclude(yield* Effect.flip(ours), expected("theirs"))
    }).pipe(Effect.scoped, Effect.provide(KeyValueStore.layerMemory)))
})
