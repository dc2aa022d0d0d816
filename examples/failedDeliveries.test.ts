/** Redelivers what failed last night: event by event with a journal, and with one call by filter. */
import { assert, it } from "@effect/vitest"
import { Console, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import { Deliveries, Redelivery } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"
import * as Tenant from "effect-identity-client/Tenant"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const { streams: [demo] } = Tenant.demo
const { id: stream } = demo

// Last night, in the time of the destination.
const lastNight: Deliveries.Filter = {
  eventTypes: ["user.created", "user.updated"], // default: all types
  from: "2026-01-15T22:00:00+01:00", // a Date or a DateTime will do, too
  to: "2026-01-16T06:00:00+01:00"
}

// Each failed event of last night, one call for each. Run it again with the same directory to resume it.
const redeliverEach = (directory: string) =>
  Effect.gen(function*() {
    const failed = Deliveries.failed(stream, lastNight).pipe(Stream.map(({ id }) => id))
    const journal = yield* Node.journal(directory)
    return yield* Redelivery.run(failed, { stream, journal }).pipe(
      Stream.tap(({ id, outcome }) => Console.log(`${id}: ${outcome}`)),
      Stream.runCount
    )
  })

// The same with one call, and what became of each delivery.
const redeliverAtOnce = Redelivery.runFiltered({ stream, filter: lastNight }).pipe(
  Stream.tap(({ error, id, outcome }) => Console.log(`${id}: ${outcome}${error === undefined ? "" : `, ${error}`}`)),
  Stream.runCollect
)

// The layers, with the embedded tenant as the service.
const TenantClient = Layer.provideMerge(Tenant.layerClient, Tenant.layer)

// Two events of the demo tenant have failed. A second run finds none.
it.scopedLive("redelivers what failed last night, each event once", () =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "redelivery-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true }))
    )
    assert.strictEqual(yield* redeliverEach(directory), 2)
    // They are listed as failed until they are delivered; the journal recalls their results.
    assert.strictEqual(yield* redeliverEach(directory), 2)
    const { requests } = yield* Tenant.Tenant
    const sent = (yield* requests).filter(({ operation }) => operation === "redeliverEvent")
    assert.lengthOf(sent, 2)
  }).pipe(Effect.provide(TenantClient)))

// A client that is refused ends the run. It is not a run that redelivered nothing.
it.scopedLive("fails if the client is refused", () =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "redelivery-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true }))
    )
    const { injectFault } = yield* Tenant.Tenant
    yield* injectFault({ operation: "redeliverEvent", status: 401, times: 100 })
    const error = yield* Effect.flip(redeliverEach(directory))
    assert.deepInclude(error, { _tag: "RunError", reason: "refused" })
  }).pipe(Effect.provide(TenantClient)))

// The demo's second event fails again.
it.effect("redelivers by filter, and tells what became of each delivery", () =>
  Effect.gen(function*() {
    const [first, second, ...others] = demo.events
    const { requests, seed } = yield* Tenant.Tenant
    yield* TestClock.setTime(Date.UTC(2026, 0, 16, 8))
    yield* seed({ streams: [{ ...demo, events: [first, { ...second, failsAgain: 1 }, ...others] }] })
    const fiber = yield* Effect.fork(redeliverAtOnce)
    // Checking a token takes real time.
    const pause = Effect.promise(() => new Promise((resume) => setTimeout(resume, 10)))
    yield* TestClock.adjust("1 seconds").pipe(
      Effect.zipRight(pause),
      Effect.repeat({ until: () => fiber.unsafePoll() !== null })
    )
    assert.deepStrictEqual([...(yield* Fiber.join(fiber))], [
      { id: second.id, outcome: "failedAgain", attempts: 5, error: "The destination has refused the event" },
      { id: first.id, outcome: "delivered", attempts: 2 }
    ])
    const calls = (yield* requests).filter(({ operation }) => operation === "redeliverEvents")
    assert.lengthOf(calls, 1)
  }).pipe(Effect.provide(TenantClient)))
