/** Redelivers events with a journal and a report of the progress, and resumes the run. */
import { assert, it } from "@effect/vitest"
import { Console, Duration, Effect, Layer, Stream } from "effect"
import { Redelivery } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"
import * as Tenant from "effect-identity-client/Tenant"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const { streams: [stream] } = Tenant.demo

// A run with a journal and a report. Run it again with the same ids and directory to resume it.
const redeliverAll = (ids: ReadonlyArray<string>, directory: string) =>
  Effect.gen(function*() {
    const progress = yield* Redelivery.makeProgress
    const report = Effect.flatMap(progress, ({ done, rate, remaining, total }) =>
      Console.log(`${done} of ${total}, ${rate.toFixed(0)}/s, ${remaining ? Duration.format(remaining) : "?"} left`))
    yield* Effect.forkScoped(Effect.forever(Effect.delay(report, "5 seconds")))

    yield* Redelivery.run(ids, {
      stream: stream.id,
      journal: yield* Node.journal(directory), // a file for each event, synced to disk before the event is sent
      progress,
      concurrency: 5, // events at the same time; default: 10
      repeat: ["failed"], // outcomes of earlier runs to retry; with "unknown", an event may be delivered twice
      stopAfter: 10 // takes no more ids after ten failures; default: 50
    }).pipe(
      Stream.filter(({ outcome }) =>
        outcome === "failed" || outcome === "unknown"
      ),
      Stream.runForEach(({ error, id, outcome }) => Console.log(`${id}: ${outcome}, ${error?.message}`))
    )
    return yield* progress
  }).pipe(Effect.scoped)

// The layers, with the embedded tenant as the service.
const TenantClient = Layer.provideMerge(Tenant.layerClient, Tenant.layer)

// A second run sends nothing that has an outcome.
it.scopedLive("sends each event once, in two runs", () =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "redelivery-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true }))
    )
    const ids = stream.events.map(({ id }) => id)
    const first = yield* redeliverAll(ids, directory)
    assert.strictEqual(first.done, ids.length)
    assert.isAbove(first.outcomes.accepted, 0)

    const { requests } = yield* Tenant.Tenant
    const sent = (yield* requests).length
    const second = yield* redeliverAll(ids, directory)
    assert.strictEqual(second.recalled, ids.length)
    assert.deepStrictEqual(second.outcomes, first.outcomes)
    assert.lengthOf(yield* requests, sent)
  }).pipe(Effect.provide(TenantClient)))
