/** Jobs in a directory: they outlive their process, whenever it dies, and one process at a time has them. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Context, Deferred, Effect, Exit, Layer, Scope, Stream } from "effect"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Errors } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import * as Node from "../../src/Node.js"
import { failure, ids, service, stream } from "../support/redelivery.js"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "jobs-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

const options = { lockExpiry: "200 millis", grace: "50 millis", pollInterval: "20 millis" } as const

/** The jobs of a process, until the scope closes. */
const open = (
  directory: string,
  { layer }: Pick<ReturnType<typeof service>, "layer">,
  more: Node.JobsOptions = {}
) =>
  Effect.map(
    Layer.build(Layer.provide(Node.layerJobs(directory, { ...options, ...more }), Jobs.layerTenants(() => layer))),
    (context) => Context.get(context, Jobs.Jobs)
  )

/** Runs a job of a process that then ends, and returns its id. */
const runOne = (directory: string, job: Jobs.Job, tenant = service()) =>
  Effect.scoped(Effect.gen(function*() {
    const { awaitEnd, submit } = yield* open(directory, tenant)
    const id = yield* submit(job)
    yield* awaitEnd(id)
    return id
  }))

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
      const jobs = yield* Scope.extend(open(folder, first, { grace: "1 second" }), scope)
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

  it.scopedLive("have nothing of a job whose removal a crash has interrupted", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const id = yield* runOne(folder, night)
      unlinkSync(join(folder, "jobs", id, "job"))
      const acme = service()
      const { awaitEnd, submit } = yield* open(folder, acme)
      assert.isFalse(existsSync(join(folder, "jobs", id)))
      assert.strictEqual(yield* submit(night), id)
      assert.deepInclude((yield* awaitEnd(id)).events, { total: 60, left: 0 })
      assert.deepStrictEqual([...acme.sent].sort(), ids(60))
    }))

  it.scopedLive("are removed as a whole, and what is left of their files is deleted later", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const acme = service()
      yield* Effect.scoped(Effect.gen(function*() {
        const { awaitEnd, prune, submit } = yield* open(folder, acme)
        const id = yield* submit(night)
        const other = yield* submit({ ...night, key: "other" })
        yield* awaitEnd(id)
        yield* awaitEnd(other)
        yield* Effect.sleep("5 millis")
        unlinkSync(join(folder, "jobs", id, "job")) // as by somebody else
        rmSync(join(folder, "jobs", other), { recursive: true })
        mkdirSync(join(folder, "jobs", `removed-${id}`, "journal"), { recursive: true }) // by a removal that failed half-way
        assert.strictEqual(yield* prune(0), 2)
        assert.deepStrictEqual(readdirSync(join(folder, "jobs")), [])
        mkdirSync(join(folder, "jobs", `removed-${id}`, "journal"), { recursive: true })
      }))
      yield* open(folder, acme)
      assert.deepStrictEqual(readdirSync(join(folder, "jobs")), [])
    }))

  it.scopedLive("send nothing more once another process has their directory", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const half = yield* Deferred.make<void>()
      const taken = yield* Deferred.make<void>()
      const acme = service((_, nth) =>
        nth < 30 ? Effect.void : Effect.zipRight(Deferred.succeed(half, undefined), Deferred.await(taken))
      )
      const jobs = yield* open(folder, acme)
      const id = yield* jobs.submit(night)
      yield* Deferred.await(half)
      // Another process has taken the directory over, and has removed the job.
      writeFileSync(join(folder, "lock"), JSON.stringify({ run: "other", expiresAfter: 200 }))
      rmSync(join(folder, "jobs", id), { recursive: true })
      yield* Effect.repeat(Effect.delay(Effect.isFailure(jobs.status(id)), "5 millis"), { until: (is) => is })
      yield* Deferred.succeed(taken, undefined)
      const uses: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>> = [
        jobs.submit({ ...night, key: "other" }),
        jobs.status(id),
        jobs.cancel(id),
        jobs.resume(id),
        jobs.prune(0),
        Stream.runDrain(jobs.list()),
        Stream.runDrain(jobs.results(id))
      ]
      for (const use of uses) {
        const error = yield* Effect.flip(use)
        assert.strictEqual(error._tag, "JobStoreError")
        assert.include(error.message, "another process has the directory")
      }
      yield* Effect.sleep("500 millis")
      assert.isAtMost(acme.sent.length, 40)
      assert.lengthOf(new Set(acme.sent), acme.sent.length)
      assert.deepStrictEqual(readdirSync(join(folder, "jobs")), [])
    }))

  it.scopedLive("keep the error of one that has failed, also as an earlier version has written it", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const refused = service(() => Effect.fail(new Errors.Unauthorized({ ...failure, requestId: "req_1" })))
      const id = yield* runOne(folder, night, refused)
      const read = Effect.scoped(Effect.flatMap(open(folder, service()), ({ status }) => status(id)))
      const { error } = yield* read
      assert.deepInclude(error, { _tag: "RunError", reason: "refused" })
      assert.deepInclude(error?._tag === "RunError" && error.error, { _tag: "Unauthorized", requestId: "req_1" })

      const path = join(folder, "jobs", id, "job")
      const old = "\"error\":{\"tag\":\"RunError\",\"message\":\"the service accepts no call of this run: No.\"}"
      writeFileSync(path, readFileSync(path, "utf8").replace(/"error":\{.*\}(?=,"submittedAt")/, old))
      const after = yield* read
      assert.strictEqual(after.state, "failed")
      assert.deepInclude(after.error, {
        _tag: "OtherError",
        tag: "RunError",
        message: "the service accepts no call of this run: No."
      })
    }))

  it.scopedLive("do not mind other files in their directory", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const id = yield* runOne(folder, night)
      for (const name of [".DS_Store", "redelivery-x", "notes"]) writeFileSync(join(folder, "jobs", name), "")
      const { status } = yield* open(folder, service())
      assert.strictEqual((yield* status(id)).state, "done")
      assert.includeMembers(readdirSync(join(folder, "jobs")), [".DS_Store", "redelivery-x", "notes"])
    }))

  for (
    const [what, file, text] of [
      ["that a later version has written", "job", "{\"version\":2}"],
      ["that is damaged", "job", "{\"version\":1,\"job\":{}}"],
      ["whose list is damaged", "events-0", "[1]"]
    ] as const
  ) {
    it.scopedLive(`go on without a job ${what}, which stays as it is`, () =>
      Effect.gen(function*() {
        const folder = yield* directory
        const id = yield* runOne(folder, night)
        const other = yield* runOne(folder, { ...night, key: "other" })
        const path = join(folder, "jobs", id, file)
        writeFileSync(path, text)
        const acme = service()
        const { list, status, submit } = yield* open(folder, acme)
        assert.deepInclude(yield* status(other), { state: "done" })
        assert.lengthOf(yield* Stream.runCollect(list()), 1)
        const error = yield* Effect.flip(submit(night))
        assert.deepInclude(error, { _tag: "JobStoreError" })
        assert.include(error instanceof Jobs.JobStoreError ? error.message : "", id)
        assert.lengthOf(acme.sent, 0)
        assert.strictEqual(readFileSync(path, "utf8"), text)
      }))
  }

  it.scopedLive("are removed when the layer is built, once they are old", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const id = yield* runOne(folder, night)
      yield* Effect.scoped(Effect.gen(function*() {
        const { status } = yield* open(folder, service())
        assert.strictEqual((yield* status(id)).state, "done")
      }))
      yield* Effect.sleep("5 millis")
      const { list } = yield* open(folder, service(), { pruneAfter: "1 millis" })
      assert.lengthOf(yield* Stream.runCollect(list()), 0)
      assert.deepStrictEqual(readdirSync(join(folder, "jobs")), [])
    }))
})
