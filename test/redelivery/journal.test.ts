/** The entries of a journal: for events and for its stream. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import { Errors, getEventStream } from "../../src/index.js"
import * as Journal from "../../src/internal/redelivery/journal.js"
import * as Testing from "../../src/Testing.js"
import { failure, ids, memory, run, service, transport } from "../support/redelivery.js"

describe("a journal", () => {
  const entries: ReadonlyArray<Journal.JournalEntry> = [
    ...(["sending", "accepted", "notFailed", "gone", "unknown", "failed"] as const).map((outcome) => ({
      id: "a",
      run: "r",
      outcome
    })),
    { id: "a", run: "r", outcome: "failed", error: new Errors.Forbidden({ ...failure, requestId: "req_1" }) }
  ]
  it.effect.each(entries)("reads the entry that was written: %j", (entry) =>
    Effect.gen(function*() {
      const store = Journal.inMemory()
      yield* Journal.writeEntry(store, entry)
      assert.deepStrictEqual(yield* Journal.readEntry(store, "a"), Option.some(entry))
    }))

  it.effect("belongs to the first stream that it is bound to", () =>
    Effect.gen(function*() {
      const store = Journal.inMemory()
      yield* Journal.bindToStream(store, "s", true, Effect.void) // a dry run writes nothing
      assert.deepStrictEqual(yield* store.get("journal"), Option.none())
      yield* Journal.bindToStream(store, "s", false, Effect.void)
      yield* Journal.bindToStream(store, "s", false, Effect.void)
      assert.deepStrictEqual(
        Option.map(yield* store.get("journal"), (text) => JSON.parse(text)),
        Option.some({ version: 1, stream: "s" })
      )
      assert.deepInclude(yield* Effect.flip(Journal.bindToStream(store, "t", true, Effect.void)), {
        reason: "foreign",
        message: "the journal belongs to another stream"
      })
    }))

  it.effect.each([0, 6])(
    "is freed from a stream that does not exist, also if an earlier run bound it: %d s",
    (seconds) =>
      Effect.gen(function*() {
        const { entries, store } = memory()
        const noStream = Effect.fail(new Errors.NotFound(failure))
        const away = service(() => Effect.fail(transport("not-sent")))
        const options = { stream: "est_9999999999999999999999", journal: store, giveUpAfter: 0 }
        assert.deepInclude(yield* Effect.flip(run(ids(2), options, away)), { reason: "unavailable" })
        assert.deepStrictEqual([...entries.keys()], ["journal"])
        // After 5 s the lock is renewed.
        const missing = service(
          () => Effect.delay(noStream, seconds * 1000),
          Testing.handle(getEventStream, () => noStream)
        )
        const fiber = yield* Effect.fork(Effect.flip(run(ids(2), options, missing)))
        yield* TestClock.adjust("6 seconds")
        assert.deepInclude(yield* Fiber.join(fiber), { reason: "streamNotFound" })
        assert.deepStrictEqual([...entries.keys()], [])
        assert.lengthOf(yield* run(ids(2), { journal: store }, service()), 2)
      })
  )

  it.effect.each(["", "{", "{}", "{\"version\":1}"])(
    "with the damaged header %j is refused and not changed",
    (header) =>
      Effect.gen(function*() {
        const store = Journal.inMemory()
        yield* store.set("journal", header)
        for (const isReadOnly of [false, true]) {
          assert.deepInclude(yield* Effect.flip(Journal.bindToStream(store, "s", isReadOnly, Effect.void)), {
            reason: "foreign",
            message: "the journal has a damaged entry \"journal\": it may belong to another stream"
          })
        }
        assert.deepStrictEqual(yield* store.get("journal"), Option.some(header))
      })
  )

  it.effect.each(["{\"version\":2,\"stream\":\"s\"}", "{\"version\":3}"])(
    "with the header %j is of a later version, and is not changed",
    (header) =>
      Effect.gen(function*() {
        const store = Journal.inMemory()
        yield* store.set("journal", header)
        for (const isReadOnly of [false, true]) {
          assert.deepInclude(yield* Effect.flip(Journal.bindToStream(store, "s", isReadOnly, Effect.void)), {
            reason: "foreign",
            message: "the journal was written by a later version of this library"
          })
        }
        assert.deepStrictEqual(yield* store.get("journal"), Option.some(header))
      })
  )
})
