/** Tests of what a journal asks of the database: which values an entry may have, and what it makes of the response. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type Database, DatabaseError } from "../../src/cluster/database.js"
import { clearEntries, type EntryRequest, type EntryResponse } from "../../src/cluster/entryStatement.js"
import { makeJournal } from "../../src/cluster/journal.js"
import { entry, keyOf } from "../support/jobStores.js"

const lost = (mayHaveRun: boolean) => new DatabaseError({ message: "lost (08006)", code: "08006", mayHaveRun })

const done: EntryResponse = { value: undefined, isDone: true }
const refused: EntryResponse = { value: undefined, isDone: false }

const noQuery: Database["query"] = () => Effect.dieMessage("no statement is run")

/** A journal whose requests get these responses in turn, and are kept. */
const journalOf = (responses: ReadonlyArray<EntryResponse | DatabaseError>, query = noQuery) => {
  const requests: Array<EntryRequest> = []
  const journal = makeJournal({ query }, (request) =>
    Effect.suspend(() => {
      const response = responses[requests.push(request) - 1] ?? done
      return response instanceof DatabaseError ? Effect.fail(response) : Effect.succeed(response)
    }), "j")
  return { journal, requests }
}

type Step =
  | readonly ["get" | "remove", response: EntryResponse | DatabaseError]
  | readonly ["set", response: EntryResponse | DatabaseError, value: string]

/** The requests that operations on an entry make, whatever their results are. */
const requestsOf = (key: string, steps: ReadonlyArray<Step>) =>
  Effect.gen(function*() {
    const { journal, requests } = journalOf(steps.map(([, response]) => response))
    for (const [name, , value] of steps) {
      yield* Effect.exit<unknown, unknown, never>(name === "set" ? journal.set(key, value) : journal[name](key))
    }
    return requests
  })

const event = keyOf("e")

const get = (key: string) => ({ kind: "get", job: "j", key, expected: [] })

/** An event's entry, with the outcome that it says. */
const noted = (outcome: "sending" | "accepted" | "failed") => ({ value: entry("e", outcome), outcome })

type Noted = { readonly value: string; readonly outcome: string | undefined }

const ofEvent = (kind: string, expected: ReadonlyArray<Noted>, written?: Noted) => ({
  kind,
  job: "j",
  key: event,
  event: "e",
  expected,
  ...written
})

const ofLock = (kind: string, expected: ReadonlyArray<string>, value?: string) => ({
  kind,
  job: "j",
  key: "lock",
  event: undefined,
  expected: expected.map((value) => ({ value, outcome: undefined })),
  ...(value !== undefined && { value, outcome: undefined })
})

const [sending, accepted, failed] = [noted("sending"), noted("accepted"), noted("failed")]
const strange = { value: "strange", outcome: "sending" }

describe("a journal", () => {
  it.effect.each<readonly [string, string, ReadonlyArray<Step>, ReadonlyArray<unknown>]>([
    ["inserts the entry of an event that it has not seen", event, [["set", done, sending.value]], [
      ofEvent("insert", [], sending)
    ]],
    ["updates what it has written last", event, [
      ["get", done],
      ["set", done, sending.value],
      ["set", done, failed.value],
      ["set", done, accepted.value]
    ], [
      get(event),
      ofEvent("insert", [], sending),
      ofEvent("update", [sending], failed),
      ofEvent("update", [failed], accepted)
    ]],
    ["updates what it has read, also what says no outcome", event, [
      ["get", { value: "strange", isDone: true }],
      ["set", done, accepted.value],
      ["get", { value: failed.value, isDone: true }],
      ["set", done, strange.value]
    ], [
      get(event),
      ofEvent("update", [strange], accepted),
      get(event),
      ofEvent("update", [failed], strange)
    ]],
    ["deletes what it has written, and inserts after that", event, [
      ["set", done, sending.value],
      ["remove", done],
      ["set", done, accepted.value]
    ], [
      ofEvent("insert", [], sending),
      ofEvent("delete", [sending]),
      ofEvent("insert", [], accepted)
    ]],
    ["drops an entry that it has not seen", event, [["remove", done]], [ofEvent("drop", [])]],
    ["expects the value of before after a refusal", event, [
      ["set", done, failed.value],
      ["set", refused, sending.value],
      ["remove", refused],
      ["set", done, accepted.value]
    ], [
      ofEvent("insert", [], failed),
      ofEvent("update", [failed], sending),
      ofEvent("delete", [failed]),
      ofEvent("update", [failed], accepted)
    ]],
    ["expects both values after a write that may have run", event, [
      ["set", done, failed.value],
      ["set", lost(true), sending.value],
      ["set", done, accepted.value],
      ["set", done, failed.value]
    ], [
      ofEvent("insert", [], failed),
      ofEvent("update", [failed], sending),
      ofEvent("update", [failed, sending], accepted),
      ofEvent("update", [accepted], failed)
    ]],
    ["expects no value that was certainly not written", event, [
      ["set", lost(false), sending.value],
      ["set", done, failed.value],
      ["set", lost(false), sending.value],
      ["remove", lost(false)],
      ["remove", done]
    ], [
      ofEvent("insert", [], sending),
      ofEvent("insert", [], failed),
      ofEvent("update", [failed], sending),
      ofEvent("delete", [failed]),
      ofEvent("delete", [failed])
    ]],
    ["expects the value of before, or none, after a removal that may have run", event, [
      ["set", done, failed.value],
      ["remove", lost(true)],
      ["set", lost(false), sending.value],
      ["remove", done],
      ["set", done, accepted.value]
    ], [
      ofEvent("insert", [], failed),
      ofEvent("delete", [failed]),
      ofEvent("insert", [failed], sending),
      ofEvent("delete", [failed]),
      ofEvent("insert", [], accepted)
    ]],
    ["asks for no outcome of other entries", "lock", [
      ["set", done, "1"],
      ["set", done, "2"],
      ["remove", done],
      ["remove", done]
    ], [
      ofLock("insert", [], "1"),
      ofLock("update", ["1"], "2"),
      ofLock("delete", ["2"]),
      ofLock("drop", [])
    ]]
  ])("%s", ([, key, steps, expected]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual<ReadonlyArray<unknown>>(yield* requestsOf(key, steps), expected)
    }))

  it.effect("gives the value of an entry", () =>
    Effect.gen(function*() {
      const { journal } = journalOf([{ value: "1", isDone: true }, done])
      assert.deepStrictEqual(yield* journal.get("lock"), Option.some("1"))
      assert.deepStrictEqual(yield* journal.get("lock"), Option.none())
    }))

  it.effect.each<readonly [string, "get" | "set" | "remove", EntryResponse | DatabaseError]>([
    ["AlreadyExists: KeyValueStore.set (lock): another run has changed the entry", "set", refused],
    ["NotFound: KeyValueStore.set (lock): the job was removed", "set", { ...refused, refusal: "removed" }],
    ["PermissionDenied: KeyValueStore.set (lock): the job does not run any more", "set", {
      ...refused,
      refusal: "notRunning"
    }],
    ["Unknown: KeyValueStore.set (lock): lost (08006)", "set", lost(true)],
    ["AlreadyExists: KeyValueStore.remove (lock): another run has changed the entry", "remove", refused],
    ["NotFound: KeyValueStore.remove (lock): the job was removed", "remove", { ...refused, refusal: "removed" }],
    ["Unknown: KeyValueStore.remove (lock): lost (08006)", "remove", lost(true)],
    ["Unknown: KeyValueStore.get (lock): lost (08006)", "get", lost(false)]
  ])("fails with %s", ([message, name, response]) =>
    Effect.gen(function*() {
      const { journal } = journalOf([response])
      const operation =
        { get: journal.get("lock"), set: journal.set("lock", "1"), remove: journal.remove("lock") }[name]
      const error = yield* Effect.flip<unknown, { readonly message: string }, never>(operation)
      assert.strictEqual(error.message, message)
    }))

  it.effect("clears and counts the entries of its job", () =>
    Effect.gen(function*() {
      const statements: Array<readonly [string, ReadonlyArray<unknown>]> = []
      const rows: Array<ReadonlyArray<object>> = [[], [{ size: 3 }], []]
      const { journal } = journalOf([], <A extends object>(...statement: Parameters<Database["query"]>) =>
        Effect.sync(() => {
          statements.push(statement)
          return (rows.shift() ?? []) as ReadonlyArray<A> // sound: only a count is asked for, in this form
        }))
      assert.isUndefined(yield* journal.clear)
      assert.strictEqual(yield* journal.size, 3)
      assert.strictEqual(yield* journal.size, 0)
      assert.deepStrictEqual(
        statements.map(([, parameters]) =>
          parameters
        ),
        [["j"], ["j"], ["j"]]
      )
      assert.strictEqual(statements[0]?.[0], clearEntries)
      assert.match(
        statements[1]?.[0] ?? "",
        /^SELECT count\(\*\).* AS size FROM identity_client_entries WHERE job = \$1$/
      )
    }))

  it.effect.each<
    readonly [string, Effect.Effect<never[], DatabaseError>, ReadonlyArray<EntryRequest["kind"]>, boolean]
  >([
    ["none once it is cleared", Effect.succeed([]), ["insert", "insert"], false],
    ["those of before, or none, if nobody knows", Effect.fail(lost(true)), ["insert", "insert"], true],
    ["those of before, or none, after an interruption", Effect.interrupt, ["insert", "insert"], true],
    ["those of before if it was certainly not cleared", Effect.fail(lost(false)), ["update", "update"], true]
  ])("expects %s", ([, cleared, kinds, isKept]) =>
    Effect.gen(function*() {
      const { journal, requests } = journalOf([], () => cleared)
      yield* journal.set(event, sending.value)
      yield* journal.set("lock", "a")
      yield* Effect.exit(journal.clear)
      yield* journal.set(event, accepted.value)
      yield* journal.set("lock", "c")
      assert.deepStrictEqual<unknown>(requests.slice(2), [
        ofEvent(kinds[0] ?? "", isKept ? [sending] : [], accepted),
        ofLock(kinds[1] ?? "", isKept ? ["a"] : [], "c")
      ])
    }))

  it.effect("cannot be cleared or counted without the database", () =>
    Effect.gen(function*() {
      const { journal } = journalOf([], () => Effect.fail(lost(true)))
      const messages = [(yield* Effect.flip(journal.clear)).message, (yield* Effect.flip(journal.size)).message]
      assert.deepStrictEqual(messages, [
        "Unknown: KeyValueStore.clear: lost (08006)",
        "Unknown: KeyValueStore.size: lost (08006)"
      ])
    }))
})
