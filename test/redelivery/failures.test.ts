/** What a failed call says: about its event, about all events of the run, or about the store of the journal. */
import { KeyValueStore } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Logger, Option, Scope, TestClock } from "effect"
import { Errors } from "../../src/index.js"
import { subjectOf } from "../../src/internal/redelivery/ending.js"
import { decodeEntry, JournalError, keyOf } from "../../src/internal/redelivery/journal.js"
import * as Lock from "../../src/internal/redelivery/lock.js"
import { type CallFailure, interrupted, outcomeOf } from "../../src/internal/redelivery/outcome.js"
import { storeFailure } from "../../src/internal/redelivery/storeFailure.js"

const details = { operation: "redeliverEvent", message: "No." }

const token = (more: { readonly status?: number; readonly code?: string } = {}) =>
  new Errors.TokenError({ ...details, ...more })

const transport = (outcome: "not-sent" | "unknown", code?: string) =>
  new Errors.TransportError({ ...details, outcome, ...(code !== undefined && { code }) })

const unexpected = (status: number, reason: "status" | "redirect" | "json" = "status") =>
  new Errors.UnexpectedResponse({ ...details, status, reason, shape: "" })

type Row = readonly [
  title: string,
  error: CallFailure,
  subject: ReturnType<typeof subjectOf>,
  outcome: ReturnType<typeof outcomeOf>
]

const rows: ReadonlyArray<Row> = [
  ["an invalid input", new Errors.InvalidInput({ operation: "redeliverEvent", issues: [] }), "event", "failed"],
  ["a 401", new Errors.Unauthorized(details), "run", "failed"],
  ["a missing scope", new Errors.InsufficientScope({ ...details, required: [] }), "run", "failed"],
  ["another 403", new Errors.Forbidden(details), "run", "failed"],
  ["a 404", new Errors.NotFound(details), "event", "gone"],
  ["a 409", new Errors.Conflict(details), "event", "notFailed"],
  ["a limit", new Errors.RateLimited({ ...details, source: "service" }), "service", "failed"],
  ["no token, for no known reason", token(), "run", "failed"],
  ["no token, because the client is refused", token({ status: 401 }), "run", "failed"],
  ["no token, because of an odd status", token({ status: 499 }), "run", "failed"],
  ["no token in time", token({ status: 408 }), "service", "failed"],
  ["no token, because there are too many", token({ status: 429 }), "service", "failed"],
  ["no token, because the endpoint fails", token({ status: 500 }), "service", "failed"],
  ["no token, because nothing responds", token({ code: "ECONNREFUSED" }), "service", "failed"],
  ["a call that was not sent", transport("not-sent"), "service", "failed"],
  ["a call without a response", transport("unknown", "ECONNRESET"), "service", "unknown"],
  ["a client that is closed", transport("not-sent", "CLOSED"), "run", "failed"],
  ["a status of 300", unexpected(300), "service", "unknown"],
  ["a response that cannot be read", unexpected(202, "json"), "service", "unknown"],
  ["a redirect with a status of 400", unexpected(400, "redirect"), "service", "unknown"],
  ["a status of 400", unexpected(400), "event", "failed"],
  ["a status of 408", unexpected(408), "service", "unknown"],
  ["a status of 499", unexpected(499), "event", "failed"],
  ["a status of 500", unexpected(500), "service", "unknown"]
]

describe("a failed call", () => {
  it.each(rows)("%s: has its subject and the outcome of its event", (_, error, subject, outcome) => {
    assert.deepStrictEqual([subjectOf(error), outcomeOf(error)], [subject, outcome])
  })

  it("that the end of its run interrupted has no response", () => {
    const { error, outcome } = interrupted()
    assert.strictEqual(outcome, "unknown")
    assert.deepInclude(error, {
      _tag: "TransportError",
      outcome: "unknown",
      code: "interrupted",
      message: "redeliverEvent: the run ended before the response arrived"
    })
  })
})

describe("a failure of a store", () => {
  it("names the operation, and the key if there is one", () => {
    const ofKey = String(storeFailure("set", keyOf("evt_1"), "the disk is full", "WriteZero"))
    for (const part of ["WriteZero", "KeyValueStore.set", keyOf("evt_1"), "the disk is full"]) {
      assert.include(ofKey, part)
    }
    const ofAll = String(storeFailure("size", undefined, "no"))
    assert.include(ofAll, "KeyValueStore.size")
    assert.include(ofAll, "Unknown")
    assert.notInclude(ofAll, "undefined")
    assert.notInclude(ofAll, "(")
  })
})

describe("an entry of a journal", () => {
  it("may have an error with a tag and a message, as earlier versions wrote it, but no empty one", () => {
    const entry = { id: "evt_1", run: "a", outcome: "failed" } as const
    const decoded = (value: object) => Option.getOrUndefined(decodeEntry(JSON.stringify(value)))
    assert.deepStrictEqual(decoded(entry), entry)
    const line =
      "{\"id\":\"evt_1\",\"run\":\"a\",\"outcome\":\"failed\",\"error\":{\"tag\":\"BadRequest\",\"message\":\"No.\"}}"
    assert.deepStrictEqual(
      decodeEntry(line),
      Option.some({
        ...entry,
        error: new Errors.OtherError({ tag: "BadRequest", message: "No." })
      })
    )
    for (const bad of [null, {}, { tag: "BadRequest" }, { message: "No." }]) {
      assert.isUndefined(decoded({ ...entry, error: bad }))
    }
  })
})

/** A store, its lock, and what this logs. */
const setUp = Effect.gen(function*() {
  const disk = { isFull: false }
  const memory = yield* Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerMemory)
  const store: typeof memory = {
    ...memory,
    set: (key, value) =>
      Effect.suspend(() =>
        disk.isFull ? Effect.fail(storeFailure("set", key, "the disk is full")) : memory.set(key, value)
      )
  }
  const messages: Array<string> = []
  const layer = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void messages.push(String(message))))
  const acquire = Effect.flatMap(Scope.make(), (scope) => Scope.extend(Lock.acquire(store, "own", "9 seconds"), scope))
  return { disk, store, messages, acquire: Effect.provide(acquire, layer) }
})

describe("the lock of a journal", () => {
  it.effect("that another run may hold says how long this one waits", () =>
    Effect.gen(function*() {
      const { acquire, messages, store } = yield* setUp
      yield* store.set("lock", JSON.stringify({ run: "other", expiresAfter: 60_000 }))
      const fiber = yield* Effect.fork(acquire)
      yield* TestClock.adjust("59999 millis")
      assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
      yield* TestClock.adjust("1 millis")
      yield* yield* Fiber.join(fiber)
      assert.deepStrictEqual(messages, [
        `the journal is locked; this run takes it over in ${Duration.format("60 seconds")} unless its holder is alive`
      ])
    }))

  it.effect("that is lost says so to the run that had it", () =>
    Effect.gen(function*() {
      const { acquire, store } = yield* setUp
      const check = yield* acquire
      yield* store.set("lock", JSON.stringify({ run: "other", expiresAfter: 60_000 }))
      assert.deepStrictEqual(
        yield* Effect.flip(check),
        new JournalError({
          reason: "locked",
          message: "another run has taken the journal over, or its entry \"lock\" was removed"
        })
      )
    }))

  it.effect("is renewed each third of its time, and says so if that fails", () =>
    Effect.gen(function*() {
      const { acquire, disk, messages, store } = yield* setUp
      yield* Effect.asVoid(acquire)
      for (const count of [1, 2, 3]) {
        yield* TestClock.adjust("3 seconds")
        const renewal = Option.getOrThrow(yield* store.get("renewal"))
        assert.deepStrictEqual(JSON.parse(renewal), { run: "own", count })
      }
      assert.deepStrictEqual(messages, [])
      disk.isFull = true
      yield* TestClock.adjust("3 seconds")
      assert.lengthOf(messages, 1)
      assert.match(
        messages[0] ?? "",
        /^could not renew the journal's lock: the journal cannot be used: .*the disk is full/
      )
    }))
})
