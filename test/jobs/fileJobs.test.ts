/** Jobs in a directory: they outlive their process, whenever it dies, and one process at a time has them. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Exit, Layer, Scope, Stream } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Jobs from "../../src/Jobs.js"
import * as Node from "../../src/Node.js"
import { ids, service, stream } from "../support/redelivery.js"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "jobs-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

const options = { lockExpiry: "200 millis", grace: "50 millis", pollInterval: "20 millis" } as const

/** The jobs of a process, until the scope closes. */
const open = (directory: string, { layer }: Pick<ReturnType<typeof service>, "layer">) =>
  Effect.map(
    Layer.build(Layer.provide(Node.layerJobs(directory, options), Jobs.layerTenants(() => layer))),
    (context) => context.unsafeMap.get(Jobs.Jobs.key) as Jobs.Jobs["Type"] // sound: the layer has just made it
  )

const night = Jobs.redelivery({ tenant: "acme", key: "night", stream, events: ids(60) })

describe("jobs in a directory", () => {
  it.scopedLive("go on in another process, and no event is sent twice", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const half = yield* Deferred.make<void>()
      const first = service((_, nth) =>
        nth === 30 ? Effect.zipRight(Deferred.succeed(half, undefined), Effect.never) : Effect.void
      )
      const scope = yield* Scope.make()
      const jobs = yield* Scope.extend(open(folder, first), scope)
      const id = yield* jobs.submit(night)
      yield* Deferred.await(half)
      yield* Scope.close(scope, Exit.void)

      const second = service()
      const { awaitEnd, results } = yield* open(folder, second)
      const { events, state } = yield* awaitEnd(id)
      assert.strictEqual(state, "done")
      assert.strictEqual(events.left, 0)
      assert.isAtLeast(events.outcomes.unknown, 1)
      const sent = [...first.sent, ...second.sent]
      assert.lengthOf(new Set(sent), sent.length)
      assert.deepStrictEqual(sent.sort(), ids(60))
      assert.lengthOf(Chunk.toReadonlyArray(yield* Stream.runCollect(results(id))), 60)
    }))

  it.scopedLive("are of one process at a time", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      yield* open(folder, service())
      const error = yield* Effect.flip(open(folder, service()))
      assert.strictEqual(error._tag, "JobStoreError")
      assert.include(error.message, "another run holds the journal")
    }))

  it.scopedLive("that have ended are found again, and can be removed", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const scope = yield* Scope.make()
      const acme = service()
      const before = yield* Scope.extend(open(folder, acme), scope)
      const id = yield* before.submit(night)
      const ended = yield* before.awaitEnd(id)
      yield* Scope.close(scope, Exit.void)

      const inner = yield* Scope.make()
      const after = yield* Scope.extend(open(folder, acme), inner)
      assert.deepStrictEqual(yield* after.status(id), ended)
      assert.lengthOf(acme.sent, 60)
      yield* Effect.sleep("5 millis")
      assert.strictEqual(yield* after.prune(0), 1)
      yield* Scope.close(inner, Exit.void)

      const { list } = yield* open(folder, acme)
      assert.lengthOf(yield* Stream.runCollect(list()), 0)
    }))

  it.scopedLive("that cannot be read are a failure that names them", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const scope = yield* Scope.make()
      const { submit } = yield* Scope.extend(open(folder, service()), scope)
      const id = yield* submit(night)
      yield* Scope.close(scope, Exit.void)
      writeFileSync(join(folder, "jobs", id, "job"), "{\"version\":2}")
      const error = yield* Effect.flip(open(folder, service()))
      assert.include(error.message, id)
    }))
})
