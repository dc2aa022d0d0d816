/** A statement may have been carried out though its response is lost: the journal knows its own values again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { DatabaseError } from "../../src/cluster/database.js"
import type { EntryRequest, EntryResponse } from "../../src/cluster/entryStatement.js"
import { makeJournal } from "../../src/cluster/journal.js"
import { makeKnownValues } from "../../src/cluster/knownValues.js"
import { entry, keyOf } from "../support/jobStores.js"

type Loss = "none" | "before" | "after" | "refused"

/** A table in memory, whose responses can be lost before or after the statement was carried out. */
const setUp = () => {
  const entries = new Map<string, string>()
  const state: { loss: Loss } = { loss: "none" }
  const apply = ({ expected, key, kind, value = "" }: EntryRequest): EntryResponse => {
    const before = entries.get(key)
    if (kind === "get") return { value: before, isDone: true }
    const matches = before !== undefined && expected.some(({ value }) => value === before)
    const isDone = matches || (before === undefined && kind !== "update") || kind === "drop"
    if (!isDone) return { value: before, isDone }
    if (kind === "insert" || kind === "update") entries.set(key, value)
    else entries.delete(key)
    return { value: before, isDone }
  }
  const run = (request: EntryRequest) =>
    Effect.suspend(() => {
      const { loss } = state
      if (loss === "none") return Effect.succeed(apply(request))
      if (loss === "after") apply(request)
      return new DatabaseError({ message: "lost", code: undefined, mayHaveRun: loss !== "refused" })
    })
  const query = () => Effect.succeed([])
  return { entries, state, open: () => makeJournal({ query }, run, "j") }
}

const event = keyOf("e")

describe("a journal whose response is lost", () => {
  for (const loss of ["before", "after", "refused"] as const) {
    it.effect(`writes the entry later, though it does not know whether it is there (${loss})`, () =>
      Effect.gen(function*() {
        const { entries, open, state } = setUp()
        const journal = open()
        for (const key of ["renewal", event]) {
          state.loss = loss
          assert.include((yield* Effect.flip(journal.set(key, "1"))).message, "lost")
          state.loss = "none"
          yield* journal.set(key, "2")
          state.loss = loss
          for (const value of ["3", "4", "5"]) yield* Effect.flip(journal.set(key, value))
          state.loss = "none"
          yield* journal.set(key, "6")
          assert.strictEqual(entries.get(key), "6")
        }
      }))

    it.effect(`does not overwrite what another run has written meanwhile (${loss})`, () =>
      Effect.gen(function*() {
        const { entries, open, state } = setUp()
        const journal = open()
        state.loss = loss
        yield* Effect.flip(journal.set(event, entry("e", "sending", "1")))
        state.loss = "none"
        const other = open()
        yield* other.get(event)
        yield* other.set(event, entry("e", "sending", "2"))
        const error = yield* Effect.flip(journal.set(event, entry("e", "accepted", "1")))
        assert.include(error.message, "another run has changed the entry")
        assert.strictEqual(entries.get(event), entry("e", "sending", "2"))
      }))
  }

  it.effect("removes an entry whose removal was lost", () =>
    Effect.gen(function*() {
      const { entries, open, state } = setUp()
      const journal = open()
      yield* journal.set("lock", "1")
      state.loss = "after"
      yield* Effect.flip(journal.remove("lock"))
      state.loss = "none"
      yield* journal.remove("lock")
      assert.isTrue(Option.isNone(yield* journal.get("lock")))
      assert.strictEqual(entries.size, 0)
    }))
})

describe("known values", () => {
  it("are forgotten for the events that were written long ago, never for the lock", () => {
    const known = makeKnownValues()
    known.saw("lock", "mine")
    for (let nth = 0; nth < 10_001; nth++) {
      known.begins(keyOf(`e${nth}`), "sending")
      known.saw(keyOf(`e${nth}`), "accepted")
    }
    assert.deepStrictEqual(known.expected("lock"), { values: ["mine"], isMissing: false })
    assert.deepStrictEqual(known.expected(keyOf("e0")), { values: [], isMissing: true })
    for (const nth of [1, 10_000]) {
      assert.deepStrictEqual(known.expected(keyOf(`e${nth}`)), { values: ["accepted"], isMissing: false })
    }
  })

  it("of attempts are the last eight", () => {
    const known = makeKnownValues()
    known.saw("renewal", "seen")
    for (let nth = 0; nth < 20; nth++) known.begins("renewal", String(nth))
    assert.deepStrictEqual(known.expected("renewal").values, ["seen", "12", "13", "14", "15", "16", "17", "18", "19"])
    known.saw("renewal", undefined)
    assert.deepStrictEqual(known.expected("renewal"), { values: [], isMissing: true })
  })
})
