/** Redelivery runs: one result per id, no event sent twice and none lost, also after a crash or an interruption. */
import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  Chunk,
  Deferred,
  Duration,
  Effect,
  Exit,
  FastCheck,
  Fiber,
  Layer,
  Option,
  Ref,
  Stream,
  SubscriptionRef,
  TestClock
} from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Errors, IdentityClient, RateLimiter, Redelivery } from "../../src/index.js"
import { interrupted } from "../../src/internal/redelivery/outcome.js"
import { storeFailure } from "../../src/internal/redelivery/storeFailure.js"
import * as Node from "../../src/Node.js"
import * as Testing from "../../src/Testing.js"
import { forAll } from "../support/arbitraries.js"
import { baseUrl, bearer, over, scripted, silent, token } from "../support/client.js"
import { crash } from "../support/crash.js"
import { countFibers } from "../support/fibers.js"
import * as Permits from "../support/permits.js"
import {
  collect,
  failure,
  type Handled,
  idOf,
  ids,
  keyOf,
  memory,
  run,
  service,
  stream,
  transport,
  unexpected
} from "../support/redelivery.js"
import { inTime } from "../support/tokens.js"

const outcomes = (results: ReadonlyArray<Redelivery.Result>) =>
  results.map(({ id, outcome }) => [id, outcome] as const).sort(([a], [b]) => a < b ? -1 : 1)

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "journal-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

describe("the result of an id", () => {
  const responses: ReadonlyArray<readonly [Redelivery.Outcome, string, Handled]> = [
    ["accepted", "after a success", Effect.void],
    ["notFailed", "after 409", Effect.fail(new Errors.Conflict(failure))],
    ["gone", "after 404", Effect.fail(new Errors.NotFound(failure))],
    ["failed", "if nothing is sent while the service responds to others", Effect.fail(transport("not-sent"))],
    ["failed", "after 429 while the service responds to others", Effect.fail(new Errors.RateLimited(failure))],
    ["failed", "after an undeclared 400", Effect.fail(unexpected(400))],
    ["failed", "after an undeclared 4xx", Effect.fail(unexpected(422))],
    ["failed", "if the client rejects the input", Effect.fail(new Errors.InvalidInput({ operation: "x", issues: [] }))],
    ["unknown", "without a response", Effect.fail(transport("unknown"))],
    ["unknown", "after 408", Effect.fail(unexpected(408))],
    ["unknown", "after 500", Effect.fail(unexpected(500))],
    ["unknown", "after 504", Effect.fail(unexpected(504))],
    ["unknown", "after an undeclared success", Effect.fail(unexpected(200))],
    ["unknown", "after a redirect", Effect.fail(unexpected(303))]
  ]
  for (const [outcome, condition, response] of responses) {
    it.effect(`is ${outcome} ${condition}`, () =>
      Effect.gen(function*() {
        const [result] = yield* run([idOf(1)], { pauseAfter: Infinity }, service(() => response))
        assert.strictEqual(result?.outcome, outcome)
        assert.strictEqual(result?.error === undefined, outcome === "accepted")
        assert.isFalse(result?.recalled)
      }))
  }

  it.effect("is unknown after a time-out of the client", () =>
    Effect.gen(function*() {
      const results = yield* inTime(Stream.runCollect(Redelivery.run(ids(1), { stream })))
      assert.strictEqual(Chunk.unsafeHead(results).outcome, "unknown")
    }).pipe(IdentityClient.withTimeout("20 millis"), Effect.provide(over(silent))))

  it.effect.each(["", "short", "a".repeat(27), "\uD800".repeat(26)])(
    "is invalid for %j, and nothing is sent or written",
    (id) =>
      Effect.gen(function*() {
        const tenant = service()
        const { entries, store } = memory()
        const [result] = yield* run([id], { journal: store }, tenant)
        assert.deepInclude(result, { outcome: "invalid", recalled: false })
        assert.strictEqual(result?.error?._tag, "InvalidInput")
        assert.deepStrictEqual(tenant.sent, [])
        assert.deepStrictEqual([...entries.keys()], ["journal"])
      })
  )

  it.effect("is recalled for an id that comes again, also if it is invalid or due", () =>
    Effect.gen(function*() {
      const { store } = memory()
      for (const dryRun of [false, true]) {
        const results = yield* run(["x", "x", idOf(1), idOf(1)], { concurrency: 1, dryRun, journal: store }, service())
        assert.deepStrictEqual(results.map(({ recalled }) => recalled), [false, true, dryRun, true])
        assert.deepStrictEqual(results[1], { ...results[0]!, recalled: true })
      }
      const due = yield* run([idOf(2), idOf(2)], { concurrency: 1, dryRun: true }, service())
      assert.deepStrictEqual(due.map(({ outcome, recalled }) => [outcome, recalled]), [["due", false], ["due", true]])
    }))

  it.effect("exists for each occurrence, and each event is sent once, for any ids and responses", () =>
    forAll(
      FastCheck.record({
        list: FastCheck.array(FastCheck.nat(15), { maxLength: 60 }),
        concurrency: FastCheck.integer({ min: 1, max: 8 }),
        withJournal: FastCheck.boolean()
      }),
      ({ concurrency, list, withJournal }) =>
        Effect.gen(function*() {
          const tenant = service((id) =>
            Effect.zipRight(Effect.yieldNow(), responses[Number(id.slice(4)) % responses.length]?.[2] ?? Effect.void)
          )
          const results = yield* run(
            list.map(idOf),
            { concurrency, pauseAfter: Infinity, ...(withJournal && { journal: memory().store }) },
            tenant
          )
          assert.deepStrictEqual(results.map(({ id }) => id).sort(), list.map(idOf).sort())
          assert.deepStrictEqual([...tenant.sent].sort(), [...new Set(list)].map(idOf).sort())
          for (const id of new Set(list.map(idOf))) {
            const own = results.filter((result) => result.id === id)
            assert.lengthOf(new Set(own.map(({ outcome }) => outcome)), 1)
            assert.lengthOf(own.filter(({ recalled }) => !recalled), 1)
          }
        })
    ))

  it.effect("is shared by an id that comes again while its event is being sent", () =>
    Effect.gen(function*() {
      const response = yield* Deferred.make<void>()
      const tenant = service(() => Deferred.await(response))
      const fiber = yield* Effect.fork(run([idOf(1), idOf(1), idOf(1)], {}, tenant))
      yield* Effect.repeatN(Effect.yieldNow(), 50)
      assert.lengthOf(tenant.sent, 1)
      yield* Deferred.succeed(response, undefined)
      assert.deepStrictEqual((yield* Fiber.join(fiber)).map(({ outcome, recalled }) => [outcome, recalled]), [
        ["accepted", false],
        ["accepted", true],
        ["accepted", true]
      ])
    }))

  it.effect("arrives in the order of completion", () =>
    Effect.gen(function*() {
      const tenant = service((id) => Effect.sleep(Duration.seconds(10 - Number(id.slice(4)))))
      const fiber = yield* Effect.fork(run(ids(5), { concurrency: 5 }, tenant))
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual((yield* Fiber.join(fiber)).map(({ id }) => id), ids(5).toReversed())
    }))

  it.effect("is produced by at most `concurrency` calls at a time, and ids are taken only as fast as results", () =>
    Effect.gen(function*() {
      let now = 0
      let most = 0
      let taken = 0
      const tenant = service(() =>
        Effect.acquireUseRelease(
          Effect.sync(() => void (most = Math.max(most, ++now))),
          () => Effect.repeatN(Effect.yieldNow(), 100),
          () => Effect.sync(() => void now--)
        )
      )
      const list = Stream.range(0, 999).pipe(
        Stream.rechunk(1),
        Stream.map(idOf),
        Stream.tap(() => Effect.sync(() => void taken++))
      )
      const results = Redelivery.run(list, { stream, concurrency: 3 })
      yield* Stream.runForEach(Stream.take(results, 5), () => Effect.repeatN(Effect.yieldNow(), 200)).pipe(
        Effect.provide(tenant.layer)
      )
      assert.strictEqual(most, 3)
      assert.isAtMost(taken, 5 + 3 + 3 + 3)
    }))

  it.effect("comes from the client: 409 does not fail the run, and the POST is not retried", () =>
    Effect.gen(function*() {
      const results = yield* Stream.runCollect(Redelivery.run(ids(3), { stream, concurrency: 1 }))
      assert.deepStrictEqual(Array.from(results, ({ outcome }) => outcome), ["accepted", "notFailed", "unknown"])
      const requests = yield* Testing.requests
      assert.deepStrictEqual(
        requests.map(({ url }) => url),
        ids(3).map((id) => `${baseUrl}/event-streams/${stream}/redeliver/${id}`)
      )
    }).pipe(Effect.provide(scripted(
      Testing.reply({ status: 202, body: {} }),
      Testing.reply({ status: 409 }),
      Testing.reply({ status: 503 })
    ))))
})

describe("the journal", () => {
  it.effect("gives a second run the results of the first, and nothing is sent", () =>
    Effect.gen(function*() {
      const { store } = memory()
      const handle = (id: string): Handled =>
        Number(id.slice(4)) % 2 === 0 ? Effect.void : Effect.fail(new Errors.Conflict(failure))
      const first = yield* run(ids(20), { journal: store }, service(handle))
      const tenant = service()
      const second = yield* run(ids(20), { journal: store }, tenant)
      assert.deepStrictEqual(outcomes(second), outcomes(first))
      assert.isTrue(second.every(({ recalled }) => recalled))
      assert.deepStrictEqual(tenant.sent, [])
    }))

  it.effect("keeps the reasons of failures; an event that was being sent is unknown", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const responses = [Effect.void, Effect.fail(new Errors.NotFound(failure))]
      yield* run(ids(2), { journal: store, concurrency: 1 }, service((_, nth) => responses[nth]!))
      entries.set(keyOf(idOf(2)), JSON.stringify({ id: idOf(2), run: "r", outcome: "sending" }))
      assert.deepStrictEqual(yield* run(ids(3), { journal: store, concurrency: 1 }, service()), [
        { id: idOf(0), outcome: "accepted", recalled: true },
        { id: idOf(1), outcome: "gone", recalled: true, error: new Errors.NotFound(failure) },
        {
          id: idOf(2),
          outcome: "unknown",
          recalled: true,
          error: interrupted().error!
        }
      ])
    }))

  it.effect("keeps nothing of a response but what its error says: no token, body or header", () => {
    const profile = { email: "jane@profile.example", password: "of-the-profile" }
    const headers = { "x-request-id": "req_1", "set-cookie": "of-the-profile" }
    const replies = [400, 409, 422].map((status) =>
      Testing.reply({ status, headers, body: { message: `No, ${token}.`, errorCode: "no", profile } })
    )
    return Effect.gen(function*() {
      const { entries, store } = memory()
      const results = yield* Stream.runCollect(Redelivery.run(ids(3), { stream, journal: store, concurrency: 1 }))
      assert.lengthOf(Chunk.toReadonlyArray(results), 3)
      const written = entries.get(keyOf(idOf(0))) ?? ""
      assert.deepInclude(JSON.parse(written).error, {
        tag: "BadRequest",
        message: "redeliverEvent: No, ….",
        errorCode: "no"
      })
      for (const secret of [token, "jane", "of-the-profile", "password"]) {
        assert.notInclude([...entries.values()].join(), secret)
      }
    }).pipe(Effect.provide(scripted(...replies)))
  })

  it.effect("gets an entry before an event is sent, and the outcome after it", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const seen: Array<string | undefined> = []
      yield* run(
        [idOf(1)],
        { journal: store },
        service((id) => Effect.sync(() => void seen.push(entries.get(keyOf(id)))))
      )
      assert.deepInclude(JSON.parse(seen[0] ?? ""), { id: idOf(1), outcome: "sending" })
      assert.deepInclude(JSON.parse(entries.get(keyOf(idOf(1))) ?? ""), { id: idOf(1), outcome: "accepted" })
      assert.deepStrictEqual(JSON.parse(entries.get("journal") ?? ""), { version: 1, stream })
    }))

  const undecided: ReadonlyArray<readonly [string, string]> = [
    ["that is empty", ""],
    ["that is truncated", `{"id":"${idOf(1)}","ru`],
    ["of another id", JSON.stringify({ id: idOf(2), run: "r", outcome: "accepted" })],
    ["with an outcome that does not exist", JSON.stringify({ id: idOf(1), run: "r", outcome: "perhaps" })],
    ["with an invalid error", JSON.stringify({ id: idOf(1), run: "r", outcome: "failed", error: { tag: 1 } })],
    ["of an event that was being sent", JSON.stringify({ id: idOf(1), run: "r", outcome: "sending" })]
  ]
  it.effect.each(undecided)(
    "makes an event unknown by an entry %s; only `repeat` sends it",
    ([, text]) =>
      Effect.gen(function*() {
        const { store } = memory(new Map([[keyOf(idOf(1)), text]]))
        const tenant = service()
        assert.deepStrictEqual(outcomes(yield* run([idOf(1)], { journal: store }, tenant)), [[idOf(1), "unknown"]])
        assert.deepStrictEqual(tenant.sent, [])
        assert.deepStrictEqual(outcomes(yield* run([idOf(1)], { journal: store, repeat: ["unknown"] }, tenant)), [[
          idOf(1),
          "accepted"
        ]])
        assert.deepStrictEqual(tenant.sent, [idOf(1)])
      })
  )

  it.effect("lets the next run retry failed events, unless `repeat` excludes them, but never the same run", () =>
    Effect.gen(function*() {
      const { store } = memory()
      const failing = service(() => Effect.fail(unexpected(422)))
      yield* run([idOf(1), idOf(1)], { journal: store, concurrency: 1 }, failing)
      assert.lengthOf(failing.sent, 1)
      const tenant = service()
      assert.deepStrictEqual(outcomes(yield* run([idOf(1)], { journal: store, repeat: [] }, tenant)), [[
        idOf(1),
        "failed"
      ]])
      assert.deepStrictEqual(outcomes(yield* run([idOf(1)], { journal: store }, tenant)), [[idOf(1), "accepted"]])
      assert.lengthOf(tenant.sent, 1)
    }))

  it.effect("is rejected if it belongs to another stream", () =>
    Effect.gen(function*() {
      const { store } = memory()
      yield* run(ids(1), { journal: store }, service())
      const tenant = service()
      for (const dryRun of [false, true]) {
        const error = yield* Effect.flip(
          run(ids(1), { journal: store, dryRun, stream: "est_0000000000000000000002" }, tenant)
        )
        assert.deepInclude(error, { _tag: "JournalError", reason: "foreign" })
      }
      assert.deepStrictEqual(tenant.sent, [])
    }))

  it.effect("is rejected for a second run while the first one is running", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const response = yield* Deferred.make<void>()
      const first = yield* Effect.fork(run(ids(3), { journal: store }, service(() => Deferred.await(response))))
      yield* Effect.repeatN(Effect.yieldNow(), 50)
      const tenant = service()
      const second = yield* Effect.fork(Effect.flip(run(ids(3), { journal: store }, tenant)))
      yield* TestClock.adjust("15 seconds")
      assert.deepInclude(yield* Fiber.join(second), { _tag: "JournalError", reason: "locked" })
      // A dry run only reads the journal.
      assert.lengthOf(yield* run(ids(3), { journal: store, dryRun: true }, tenant), 3)
      assert.deepStrictEqual(tenant.sent, [])
      yield* Deferred.succeed(response, undefined)
      assert.lengthOf(yield* Fiber.join(first), 3)
      assert.isFalse(entries.has("lock"))
      assert.lengthOf(yield* run(ids(3), { journal: store }, tenant), 3)
    }))

  it.effect("is not bound to the stream of a run that loses it meanwhile", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const lock = JSON.stringify({ run: "other", expiresAfter: 15_000 })
      const robbed: Redelivery.Journal = {
        ...store,
        get: (key) => key === "journal" ? Effect.tap(store.get(key), () => store.set("lock", lock)) : store.get(key)
      }
      const tenant = service()
      assert.deepInclude(yield* Effect.flip(run(ids(1), { journal: robbed }, tenant)), { reason: "locked" })
      assert.deepStrictEqual([...entries], [["lock", lock]])
      assert.deepStrictEqual(tenant.sent, [])
    }))

  it.effect("lets only one of two runs send if both find no lock at the same time", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const tenant = service(() => Effect.sleep("1 seconds"))
      /** A store that is slow to write the lock. */
      const slow = (millis: number): Redelivery.Journal => ({
        ...store,
        set: (key, value) => Effect.zipRight(key === "lock" ? Effect.sleep(millis) : Effect.void, store.set(key, value))
      })
      const exits = yield* Effect.fork(Effect.forEach([100, 500], (millis) =>
        Effect.exit(run(ids(20), { journal: slow(millis), concurrency: 1 }, tenant)), { concurrency: "unbounded" }))
      yield* TestClock.adjust("1 minutes")
      const [first, second] = yield* Fiber.join(exits)
      assert.deepStrictEqual(tenant.sent, ids(20))
      assert.isTrue(first !== undefined && Exit.isFailure(first))
      assert.isTrue(second !== undefined && Exit.isSuccess(second))
      assert.isFalse(entries.has("lock"))
    }))

  it.effect("stops the run if it cannot be written; calls in progress end, and nothing is sent without it", () =>
    Effect.gen(function*() {
      const { store } = memory()
      const full = storeFailure("set", undefined, "no space left")
      let writes = 0
      const journal = {
        ...store,
        set: (key: string, value: string | Uint8Array) => ++writes > 7 ? Effect.fail(full) : store.set(key, value)
      }
      const tenant = service()
      const seen: Array<Redelivery.Result> = []
      const error = yield* Effect.flip(
        Redelivery.run(ids(20), { stream, journal, concurrency: 2 }).pipe(
          Stream.runForEach((result) => Effect.sync(() => void seen.push(result))),
          Effect.provide(tenant.layer)
        )
      )
      assert.deepInclude(error, { _tag: "JournalError", reason: "store" })
      assert.match(error.message, /^the journal cannot be used: .*no space left$/)
      const again = service()
      const later = yield* run(ids(20), { journal: store }, again)
      assert.lengthOf(later, 20)
      assert.deepStrictEqual(tenant.sent.filter((id) => again.sent.includes(id)), [])
      for (const { id, outcome } of seen) assert.deepInclude(later.find((result) => result.id === id), { outcome })
    }))

  it.effect("recognizes an id that comes again in a dry run", () =>
    Effect.gen(function*() {
      const results = yield* run([idOf(1), idOf(2), idOf(1)], { dryRun: true, concurrency: 1 }, service())
      assert.deepStrictEqual(results.map(({ outcome, recalled }) => [outcome, recalled]), [
        ["due", false],
        ["due", false],
        ["due", true]
      ])
    }))

  it.effect("is not written by a dry run, which sends nothing and lists what would be sent", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      yield* run(ids(2), { journal: store }, service())
      const before = new Map(entries)
      const tenant = service()
      const results = yield* run([...ids(4), "short"], { journal: store, dryRun: true }, tenant)
      assert.deepStrictEqual(outcomes(results), [
        ...ids(4).map((id, nth) => [id, nth < 2 ? "accepted" : "due"] as const),
        ["short", "invalid"] as const
      ])
      assert.deepStrictEqual(tenant.sent, [])
      assert.deepStrictEqual(entries, before)
    }))
})

describe("a run that ends early", () => {
  it.effect("takes no more ids after stopWhen, finishes those in progress, and reports that it was stopped", () =>
    Effect.gen(function*() {
      const progress = yield* Redelivery.makeProgress
      const tenant = service(() => Effect.zipRight(Effect.yieldNow(), Effect.fail(unexpected(422))))
      const results = yield* run(ids(100), {
        concurrency: 4,
        progress,
        stopWhen: ({ outcomes }) => outcomes.failed >= 5
      }, tenant)
      assert.isAtLeast(results.length, 5)
      assert.isAtMost(results.length, 8)
      assert.lengthOf(tenant.sent, results.length)
      const { done, stopped, total } = yield* SubscriptionRef.get(progress)
      assert.deepStrictEqual({ done, stopped, total }, { done: results.length, stopped: true, total: 100 })
    }))

  it.effect("is ended by stopWhen also while it waits for ids", () =>
    Effect.gen(function*() {
      const list = Stream.concat(Stream.make(idOf(1)), Stream.never)
      const results = yield* collect(Redelivery.run(list, { stream, stopWhen: ({ done }) => done === 1 }), service())
      assert.lengthOf(results, 1)
    }))

  it.effect("is not reported as stopped if it reached the end of its ids", () =>
    Effect.gen(function*() {
      const progress = yield* Redelivery.makeProgress
      yield* run(ids(3), { progress, stopWhen: ({ done }) => done === 4 }, service())
      assert.isFalse((yield* SubscriptionRef.get(progress)).stopped)
    }))

  it.effect("fails with the failure of its ids, after the results of the ids before it", () =>
    Effect.gen(function*() {
      const seen = yield* Ref.make(0)
      const list = Stream.concat(Stream.fromIterable(ids(5)), Stream.fail("no more"))
      const exit = yield* Redelivery.run(list, { stream }).pipe(
        Stream.runForEach(() => Ref.update(seen, (count) => count + 1)),
        Effect.provide(service(() => Effect.yieldNow()).layer),
        Effect.exit
      )
      assert.deepStrictEqual(exit, Exit.fail("no more"))
      assert.strictEqual(yield* Ref.get(seen), 5)
    }))

  it.effect("is interrupted by its ids, after the results of the ids before it", () =>
    Effect.gen(function*() {
      const seen = yield* Ref.make(0)
      const list = Stream.concat(Stream.fromIterable(ids(5)), Stream.fromEffect(Effect.interrupt))
      const exit = yield* Redelivery.run(list, { stream }).pipe(
        Stream.runForEach(() => Ref.update(seen, (count) => count + 1)),
        Effect.provide(service(() => Effect.yieldNow()).layer),
        Effect.exit
      )
      assert.isTrue(Exit.isInterrupted(exit))
      assert.strictEqual(yield* Ref.get(seen), 5)
    }))

  it.effect("is interrupted by its journal, and nothing is sent without an entry", () =>
    Effect.gen(function*() {
      const { store } = memory()
      const tenant = service()
      const exit = yield* Effect.exit(run(
        ids(3),
        {
          journal: { ...store, set: (key, value) => key === keyOf(idOf(1)) ? Effect.interrupt : store.set(key, value) }
        },
        tenant
      ))
      assert.isTrue(Exit.isInterrupted(exit))
      assert.notInclude(tenant.sent, idOf(1))
    }))

  it.effect("lets calls end when it is interrupted, and their results are in the journal", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const progress = yield* Redelivery.makeProgress
      const tenant = service(() => Effect.sleep("3 seconds"))
      const { count, track } = yield* countFibers
      const fiber = yield* Effect.fork(
        track(run(ids(10), { journal: store, concurrency: 4, progress }, tenant))
      )
      yield* TestClock.adjust("1 seconds")
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(interrupting)
      assert.strictEqual(yield* count, 0, "fibers that are left")
      assert.lengthOf(tenant.sent, 4)
      assert.strictEqual((yield* SubscriptionRef.get(progress)).outcomes.accepted, 4)
      assert.isFalse(entries.has("lock"))
      const later = service()
      assert.deepStrictEqual(
        outcomes(yield* run(ids(10), { journal: store }, later)),
        ids(10).map((id) => [id, "accepted"])
      )
      assert.lengthOf(later.sent, 6)
    }))

  it.effect("reports calls as unknown that outlast the grace period", () =>
    Effect.gen(function*() {
      const { store } = memory()
      const progress = yield* Redelivery.makeProgress
      const tenant = service(() => Effect.never)
      const fiber = yield* Effect.fork(
        run(ids(10), { journal: store, concurrency: 4, grace: "2 seconds", progress }, tenant)
      )
      yield* TestClock.adjust("1 seconds")
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust("1999 millis")
      assert.isTrue(Option.isNone(yield* Fiber.poll(interrupting)))
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(interrupting)
      assert.strictEqual((yield* SubscriptionRef.get(progress)).outcomes.unknown, 4)
      const results = yield* run(ids(10), { journal: store }, service())
      assert.deepStrictEqual(
        outcomes(results).map(([id, outcome]) => [tenant.sent.includes(id), outcome]),
        [...Array.from({ length: 4 }, () => [true, "unknown"]), ...Array.from({ length: 6 }, () => [false, "accepted"])]
      )
    }))

  it.effect("does not send an event whose entry is not written within the grace period", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const set: typeof store.set = (key, value) =>
        Effect.zipRight(key === keyOf(idOf(1)) ? Effect.sleep("10 seconds") : Effect.void, store.set(key, value))
      const tenant = service(() => Effect.never)
      const fiber = yield* Effect.fork(run(ids(2), { journal: { ...store, set } }, tenant))
      yield* TestClock.adjust("1 seconds")
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust("1 minutes")
      assert.isTrue(Option.isSome(yield* Fiber.poll(interrupting)))
      assert.strictEqual(JSON.parse(entries.get(keyOf(idOf(0))) ?? "").outcome, "unknown")
      assert.deepStrictEqual([tenant.sent, entries.has(keyOf(idOf(1)))], [[idOf(0)], false])
    }))

  for (const [slow, name] of [["set", "is being written"], ["get", "waits for the lock to be checked"]] as const) {
    it.effect(`does not remove the entry of another run when it is interrupted while its own ${name}`, () =>
      Effect.gen(function*() {
        const { entries, store } = memory()
        let isSlow = false
        const delayed = <A, E>(method: string, key: string, self: Effect.Effect<A, E>) =>
          Effect.suspend(() =>
            isSlow && method === slow && key === (slow === "set" ? keyOf(idOf(0)) : "lock")
              ? Effect.zipRight(Effect.sleep("10 seconds"), self)
              : self
          )
        const journal: Redelivery.Journal = {
          ...store,
          get: (key) => delayed("get", key, store.get(key)),
          set: (key, value) => delayed("set", key, store.set(key, value))
        }
        const list = Stream.fromEffect(Effect.delay(
          Effect.sync(() => {
            isSlow = true
            return idOf(0)
          }),
          "1 second"
        ))
        const tenant = service()
        const fiber = yield* Effect.fork(
          collect(Redelivery.run(list, { stream, journal, grace: "1 second", lockExpiry: "15 seconds" }), tenant)
        )
        yield* TestClock.adjust("2 seconds")
        const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
        entries.set(keyOf(idOf(0)), JSON.stringify({ id: idOf(0), run: "another", outcome: "accepted" }))
        yield* TestClock.adjust("2 minutes")
        yield* Fiber.join(interrupting)
        assert.deepStrictEqual(tenant.sent, [])
        assert.strictEqual(JSON.parse(entries.get(keyOf(idOf(0))) ?? "{}").outcome, "accepted")
      }))
  }

  it.effect("leaves no entry of events that wait for a permit: they end at once, and a crash loses nothing", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      let permits = 3
      const limiter = Layer.succeed(
        RateLimiter.RateLimiter,
        Permits.limiterOf(() =>
          Effect.suspend(() => permits-- > 0 ? Effect.succeed({ settle: () => Effect.void }) : Effect.never)
        )
      )
      const client = IdentityClient.layer({ baseUrl }).pipe(
        Layer.provide([limiter, bearer]),
        Layer.provide(Testing.layerHttp(...Array.from({ length: 3 }, () => Testing.reply({ status: 202, body: {} }))))
      )
      const fiber = yield* Effect.fork(
        Effect.provide(
          Stream.runCollect(Redelivery.run(ids(20), { stream, journal: store, concurrency: 8, grace: "1 hour" })),
          client
        )
      )
      yield* TestClock.adjust("10 seconds")
      const known = () =>
        ids(20).flatMap((id) => entries.has(keyOf(id)) ? [JSON.parse(entries.get(keyOf(id)) ?? "").outcome] : [])
      assert.deepStrictEqual(known(), ["accepted", "accepted", "accepted"])
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(known(), ["accepted", "accepted", "accepted"])
      assert.isFalse(entries.has("lock"))
    }))

  it.effect("ends in the same way when no more results are taken", () =>
    Effect.gen(function*() {
      const { store } = memory()
      const tenant = service()
      const some = yield* collect(
        Stream.take(Redelivery.run(ids(50), { stream, journal: store, concurrency: 3 }), 2),
        tenant
      )
      assert.lengthOf(some, 2)
      const later = service()
      const all = yield* run(ids(50), { journal: store }, later)
      assert.deepStrictEqual(outcomes(all), ids(50).map((id) => [id, "accepted"]))
      assert.deepStrictEqual([...tenant.sent, ...later.sent].sort(), ids(50))
    }))

  it.effect("dies with a defect of the client, which leaves the event unknown", () =>
    Effect.gen(function*() {
      const { store } = memory()
      const exit = yield* Effect.exit(run([idOf(1)], { journal: store }, service(() => Effect.dieMessage("broken"))))
      assert.include(String(Exit.match(exit, { onFailure: Cause.squash, onSuccess: () => "none" })), "broken")
      assert.deepStrictEqual(outcomes(yield* run([idOf(1)], { journal: store }, service())), [[idOf(1), "unknown"]])
    }))
})

describe("progress", () => {
  it.effect("has counts, a rate and the remaining time", () =>
    Effect.gen(function*() {
      const progress = yield* Redelivery.makeProgress
      const { store } = memory()
      yield* run(ids(2), { journal: store }, service())
      yield* TestClock.adjust("1 hours")
      const fiber = yield* Effect.fork(
        run(ids(12), { journal: store, concurrency: 1, progress }, service(() => Effect.sleep("500 millis")))
      )
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* SubscriptionRef.get(progress), {
        done: 6,
        recalled: 2,
        outcomes: { accepted: 6, notFailed: 0, gone: 0, invalid: 0, unknown: 0, failed: 0, due: 0 },
        unknown: [],
        total: 12,
        elapsed: Duration.seconds(2),
        rate: 2,
        remaining: Duration.seconds(3),
        stopped: false,
        paused: undefined
      })
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual((yield* SubscriptionRef.get(progress)).remaining, Duration.zero)
    }))

  it.effect("has no remaining time if the number of ids is unknown", () =>
    Effect.gen(function*() {
      const progress = yield* Redelivery.makeProgress
      yield* collect(Redelivery.run(Stream.fromIterable(ids(3)), { stream, progress }), service())
      const { done, remaining, total } = yield* SubscriptionRef.get(progress)
      assert.deepStrictEqual({ done, remaining, total }, { done: 3, remaining: undefined, total: undefined })
    }))

  it.effect("can be followed by its changes", () =>
    Effect.gen(function*() {
      const progress = yield* Redelivery.makeProgress
      const last = yield* Effect.fork(Stream.runLast(Stream.takeUntil(progress.changes, ({ done }) => done === 5)))
      yield* Effect.yieldNow()
      yield* run(ids(5), { progress }, service())
      assert.strictEqual(Option.getOrThrow(yield* Fiber.join(last)).done, 5)
    }))
})

describe("an invalid option", () => {
  it.effect.each(
    [
      ["stream", { stream: "short" }, /26/],
      ["concurrency", { concurrency: 0 }, /^expected an integer of at least 1$/],
      ["concurrency", { concurrency: 1.5 }, /^expected an integer of at least 1$/],
      ["stopAfter", { stopAfter: 0 }, /^expected an integer of at least 1, or Infinity$/],
      ["pauseAfter", { pauseAfter: 2.5 }, /^expected an integer of at least 1, or Infinity$/],
      ["total", { total: -1 }, /^expected an integer of at least 0$/],
      ["lockExpiry", { lockExpiry: "99 millis" }, /^expected a duration from 100 milliseconds to 1 hour$/],
      ["lockExpiry", { lockExpiry: "2 hours" }, /^expected a duration from 100 milliseconds to 1 hour$/]
    ] as const
  )("%s is named in the error, and nothing is sent", ([name, options, message]) =>
    Effect.gen(function*() {
      const tenant = service()
      const error = yield* Effect.flip(run(ids(1), options, tenant))
      assert.deepInclude(error, { _tag: "InvalidInput", operation: "Redelivery.run" })
      const { issues } = error as Errors.InvalidInput
      assert.deepStrictEqual(issues.map(({ path }) => path), [name])
      assert.match(issues[0]!.message, message)
      assert.deepStrictEqual(tenant.sent, [])
    }))
})

describe("Node.journal", () => {
  it.live("keeps results in a directory, for any characters in ids", () =>
    Effect.gen(function*() {
      const path = join(yield* directory, "deep", "journal")
      const hostile = [
        "../../../../../etc/passwd!",
        "con.txt:stream%2e%2e/\\\\\\\\\\\\\\".slice(0, 26).padEnd(26, "/"),
        "\u{1F600}".repeat(26),
        "A".repeat(26),
        "a".repeat(26)
      ]
      const first = service()
      yield* run(hostile, { journal: yield* Node.journal(path) }, first)
      assert.lengthOf(first.sent, hostile.length)
      const names = readdirSync(path)
      assert.lengthOf(names, hostile.length + 1)
      assert.deepStrictEqual(names.filter((name) => !/^(?:journal|[0-9a-f]+)$/.test(name)), [])
      const second = service()
      const results = yield* run(hostile, { journal: yield* Node.journal(path) }, second)
      assert.deepStrictEqual(results.map(({ outcome }) => outcome), hostile.map(() => "accepted"))
      assert.deepStrictEqual(second.sent, [])
      assert.notMatch(names.map((name) => readFileSync(join(path, name), "utf8")).join(), /token|Bearer/)
    }).pipe(Effect.scoped))

  it.live("lets at most one of several runs send that start at the same time", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const tenant = service(() => Effect.sleep("5 millis"))
      const journal = yield* Node.journal(path)
      yield* Effect.forEach(Array.from({ length: 5 }), () => Effect.exit(run(ids(4), { journal }, tenant)), {
        concurrency: "unbounded"
      })
      assert.lengthOf(new Set(tenant.sent), tenant.sent.length)
    }).pipe(Effect.scoped))

  it.live("fails if the directory cannot be created", () =>
    Effect.gen(function*() {
      const file = join(yield* directory, "file")
      writeFileSync(file, "")
      assert.include(String(yield* Effect.flip(Node.journal(join(file, "journal")))), "BadResource")
    }).pipe(Effect.scoped))
})

describe("a process that is killed at random moments and restarted", () => {
  it.live("sends every event exactly once, except for those that it reports as unknown", () =>
    Effect.gen(function*() {
      const { accepted, kills, unknown } = yield* crash(150, 6)
      assert.isAtLeast(kills, 4)
      assert.isAbove(unknown, 0)
      assert.isAbove(accepted, unknown)
    }))
})
