/** Exports into files: all or nothing, one job, and nothing lost over crashes. */
import { FetchHttpClient, FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Layer, Stream } from "effect"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createUsersExport, Errors, Exports, IdentityClient, RateLimiter } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { baseUrl, bearer } from "../support/client.js"
import * as Permits from "../support/permits.js"
import { csv, fastClock, gzip, jobId, jobs, ndjson, type Respond, send, serve } from "../support/storage.js"

const input = { format: "json" } as const
const text = ndjson(500)
const file = gzip(text)

const whole: Respond = (to, request) => send(to, request, file)

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "exports-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A folder, a tenant with a storage, and exports into a file there. */
const setUp = (respond: Respond = whole, format?: "json" | "csv", look?: Parameters<typeof jobs>[2]) =>
  Effect.gen(function*() {
    const directory = yield* folder
    const { origin } = yield* serve(respond)
    const { layer, seen } = jobs(origin, format, look)
    const path = join(directory, "users.json")
    const services = Layer.mergeAll(layer, FetchHttpClient.layer, NodeFileSystem.layer)
    const to = (options?: Exports.FileOptions, given: Exports.Input = input) =>
      Exports.toFile(path, given, options).pipe(Effect.provide(services), Effect.withClock(fastClock()))
    const reason = (options?: Exports.FileOptions, given?: Exports.Input) =>
      Effect.map(Effect.flip(to(options, given)), (error) => error._tag === "ExportError" ? error.reason : error._tag)
    return { path, directory, seen, to, reason, state: `${path}.export.json`, services }
  })

const stateOf = (fields: object) => JSON.stringify({ version: 1, input: JSON.stringify(input), ...fields })

describe("Exports.toFile", () => {
  it.scopedLive("writes the file as it is, plain or compressed, and nothing beside it", () =>
    Effect.gen(function*() {
      const { directory, path, seen, to } = yield* setUp()
      assert.deepStrictEqual(yield* to(), { path, job: jobId, rows: 500, size: Buffer.byteLength(text) })
      assert.strictEqual(readFileSync(path, "utf8"), text)
      assert.deepStrictEqual(yield* to({ gzip: true, overwrite: true }), {
        path,
        job: jobId,
        rows: 500,
        size: file.length
      })
      assert.isTrue(readFileSync(path).equals(file))
      assert.deepStrictEqual(readdirSync(directory), ["users.json"])
      assert.strictEqual(seen.started, 2)
    }))

  it.scopedLive("counts the rows of CSV, whose fields may contain newlines", () =>
    Effect.gen(function*() {
      const content = `${csv(20)}"a","b\n\nc","""d",4`
      const { path, to } = yield* setUp((response, request) => send(response, request, gzip(content)), "csv")
      assert.strictEqual((yield* to({}, { format: "csv" })).rows, 21)
      assert.strictEqual(readFileSync(path, "utf8"), content)
    }))

  it.scopedLive("leaves a file alone, unless it is asked to overwrite it", () =>
    Effect.gen(function*() {
      const { path, reason, seen } = yield* setUp()
      writeFileSync(path, "mine")
      assert.strictEqual(yield* reason(), "exists")
      assert.strictEqual(readFileSync(path, "utf8"), "mine")
      assert.strictEqual(seen.started, 0)
    }))

  it.scopedLive("starts nothing for a folder, or for no path at all", () =>
    Effect.gen(function*() {
      const { directory, path, reason, seen, services } = yield* setUp()
      mkdirSync(path)
      for (const overwrite of [false, true]) assert.strictEqual(yield* reason({ overwrite }), "exists")
      const error = yield* Effect.flip(Effect.provide(Exports.toFile("", input), services))
      assert.deepInclude(error, { _tag: "InvalidInput", issues: [{ path: "path", message: "is empty" }] })
      assert.strictEqual(seen.started, 0)
      assert.deepStrictEqual(readdirSync(directory), ["users.json"])
    }))

  it.scopedLive("leaves a file alone that appears meanwhile", () =>
    Effect.gen(function*() {
      let path = ""
      const set = yield* setUp((to, request) => {
        writeFileSync(path, "mine")
        send(to, request, file)
      })
      path = set.path
      assert.strictEqual(yield* set.reason(), "exists")
      assert.strictEqual(readFileSync(path, "utf8"), "mine")
      // The part holds personal data, so it does not stay; the job does.
      assert.deepStrictEqual(readdirSync(set.directory), ["users.json", "users.json.export.json"])
      yield* set.to({ overwrite: true })
      assert.strictEqual(set.seen.started, 1)
    }))

  it.scopedLive("goes on with the job of a run that died, and removes what that has left", () =>
    Effect.gen(function*() {
      const { directory, path, seen, state, to } = yield* setUp()
      writeFileSync(`${path}.old.part`, "half")
      writeFileSync(state, stateOf({ job: "job_7", part: `${path}.old.part` }))
      assert.strictEqual((yield* to()).job, "job_7")
      assert.deepStrictEqual(readdirSync(directory), ["users.json"])
      assert.strictEqual(seen.started, 0)
      assert.deepStrictEqual(seen.looks, ["job_7"])
    }))

  it.scopedLive("finishes what a run had completed, before or after it had its name", () =>
    Effect.gen(function*() {
      const { directory, path, seen, state, to } = yield* setUp()
      writeFileSync(`${path}.old.part`, "all")
      for (const _ of [1, 2]) {
        writeFileSync(state, stateOf({ job: "job_7", part: `${path}.old.part`, rows: 3 }))
        assert.deepStrictEqual(yield* to(), { path, job: "job_7", rows: 3, size: 3 })
        assert.deepStrictEqual(readdirSync(directory), ["users.json"])
      }
      assert.strictEqual(seen.looks.length, 0)
    }))

  it.scopedLive("starts no second job after a crash between the start and the id", () =>
    Effect.gen(function*() {
      const { path, reason, seen, state, to } = yield* setUp()
      for (const content of ["", stateOf({})]) {
        writeFileSync(state, content)
        assert.strictEqual(yield* reason(), "unknown-start")
      }
      assert.strictEqual(seen.started, 0)
      assert.strictEqual((yield* to({ job: "job_9" })).job, "job_9")
      assert.strictEqual(seen.started, 0)
      rmSync(path)
      writeFileSync(state, stateOf({}))
      assert.strictEqual((yield* to({ startAgain: true })).job, jobId)
      assert.strictEqual(seen.started, 1)
    }))

  it.scopedLive("refuses the state of another export, of another job, and what is no state", () =>
    Effect.gen(function*() {
      const { reason, seen, state } = yield* setUp()
      writeFileSync(state, stateOf({ job: "job_7" }))
      assert.strictEqual(yield* reason({}, { format: "csv" }), "other-export")
      assert.strictEqual(yield* reason({ job: "job_8" }), "other-export")
      for (
        const content of ["{", "[]", "{\"version\":2,\"input\":\"\"}", stateOf({ job: 7 }), stateOf({ rows: "3" })]
      ) {
        writeFileSync(state, content)
        assert.strictEqual(yield* reason(), "other-export", content)
      }
      assert.strictEqual(seen.started, 0)
    }))

  it.scopedLive("keeps the state after a failure, so that the next run goes on; and no part", () =>
    Effect.gen(function*() {
      let isBroken = true
      const { directory, path, reason, seen, to } = yield* setUp((response, request) =>
        send(response, request, isBroken ? file.subarray(0, 900) : file)
      )
      assert.strictEqual(yield* reason(), "truncated")
      assert.deepStrictEqual(readdirSync(directory), ["users.json.export.json"])
      isBroken = false
      yield* to()
      assert.strictEqual(readFileSync(path, "utf8"), text)
      assert.strictEqual(seen.started, 1)
    }))

  it.scopedLive.each(
    [
      [{ status: "failed", status_details: "no such connection" }, "job-failed"],
      [{ location: undefined }, "expired"],
      [{ type: "users_import" }, "not-an-export"],
      ["gone", "NotFound"]
    ] as const
  )("forgets a job that is of no use any more: %o", ([change, expected]) =>
    Effect.gen(function*() {
      const { directory, reason } = yield* setUp(whole, "json", () =>
        change === "gone"
          ? new Errors.NotFound({ operation: "getJob", message: "no" })
          : Effect.succeed(change as object)) // sound: fields of a job
      assert.strictEqual(yield* reason(), expected)
      assert.deepStrictEqual(readdirSync(directory), [])
    }))

  const startFailing = (error: Errors.Forbidden | Errors.ClientError) =>
    Testing.layer(Testing.handle(createUsersExport, () => error))
  const details = { operation: "createUsersExport", message: "No." }

  it.scopedLive.each(
    [
      [new Errors.Forbidden(details), false],
      [new Errors.TransportError({ ...details, outcome: "not-sent" }), false],
      [new Errors.TransportError({ ...details, outcome: "unknown" }), true],
      [new Errors.UnexpectedResponse({ ...details, status: 502, reason: "status", shape: "" }), true],
      [new Errors.UnexpectedResponse({ ...details, status: 418, reason: "status", shape: "" }), false]
    ] as const
  )("knows whether a failed start may have started a job: %s", ([error, mayHaveStarted]) =>
    Effect.gen(function*() {
      const { path, services, state } = yield* setUp()
      const exported = Exports.toFile(path, input).pipe(Effect.provide([services, startFailing(error)]))
      assert.strictEqual((yield* Effect.flip(exported))._tag, error._tag)
      assert.strictEqual(existsSync(state), mayHaveStarted)
    }))

  it.scopedLive("notes the id of a job whose start is interrupted", () =>
    Effect.gen(function*() {
      const { path, services, state } = yield* setUp()
      const begun = yield* Deferred.make<void>()
      const slow = Testing.layer(Testing.handle(createUsersExport, () =>
        Deferred.succeed(begun, undefined).pipe(
          Effect.zipRight(Effect.sleep("50 millis")),
          Effect.as({ id: "job_slow", type: "users_export", status: "pending" })
        )))
      const fiber = yield* Effect.fork(Exports.toFile(path, input).pipe(Effect.provide([services, slow])))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.include(readFileSync(state, "utf8"), "job_slow")
    }))

  it.scopedLive("keeps no trace of a start that is interrupted while it waits for its permit, or is refused then", () =>
    Effect.gen(function*() {
      const { directory, path, services, state } = yield* setUp()
      const neverPermits = Layer.succeed(RateLimiter.RateLimiter, Permits.limiterOf(() => Effect.never))
      const client = IdentityClient.layer({ baseUrl }).pipe(
        Layer.provide([neverPermits, bearer]),
        Layer.provide(Testing.layerHttp())
      )
      const waiting = yield* Effect.fork(Exports.toFile(path, input).pipe(Effect.provide([services, client])))
      yield* Effect.sleep("50 millis")
      assert.isFalse(existsSync(state))
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(readdirSync(directory), [])

      const begun = yield* Deferred.make<void>()
      const refusing = Testing.layer(Testing.handle(createUsersExport, () =>
        Deferred.succeed(begun, undefined).pipe(
          Effect.zipRight(Effect.sleep("50 millis")),
          Effect.zipRight(new Errors.Forbidden(details))
        )))
      const refused = yield* Effect.fork(Exports.toFile(path, input).pipe(Effect.provide([services, refusing])))
      yield* Deferred.await(begun)
      assert.isTrue(existsSync(state))
      yield* Fiber.interrupt(refused)
      assert.deepStrictEqual(readdirSync(directory), [])
    }))

  it.scopedLive("tells the id of a job that it starts, also if it is interrupted meanwhile", () =>
    Effect.gen(function*() {
      const { path, services, to } = yield* setUp()
      const noted: Array<string> = []
      const onJob = (id: string) => Effect.sync(() => void noted.push(id))
      yield* to({ onJob })
      assert.deepStrictEqual(noted, [jobId])

      const programs = [
        Effect.asVoid(Exports.toFile(path, input, { overwrite: true, onJob })),
        Stream.runDrain(Exports.run(input, { onJob }))
      ]
      for (const program of programs) {
        const begun = yield* Deferred.make<void>()
        const slow = Testing.layer(Testing.handle(createUsersExport, () =>
          Deferred.succeed(begun, undefined).pipe(
            Effect.zipRight(Effect.sleep("50 millis")),
            Effect.as({ id: "job_slow", type: "users_export", status: "pending" })
          )))
        const fiber = yield* Effect.fork(Effect.provide(program, [services, slow]))
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
      }
      assert.deepStrictEqual(noted, [jobId, "job_slow", "job_slow"])
    }))

  it.scopedLive("tells the id of a job that it starts, also if that cannot be written down", () =>
    Effect.gen(function*() {
      const { path, services, state } = yield* setUp()
      const real = yield* FileSystem.FileSystem
      let opened = 0
      // The claim can be written, what comes after it cannot.
      const fs: FileSystem.FileSystem = {
        ...real,
        open: (name, options) =>
          name.startsWith(state) && opened++ > 0 ? real.open(join(path, "none"), options) : real.open(name, options)
      }
      const noted: Array<string> = []
      const progress = yield* Exports.makeProgress
      const error = yield* Exports.toFile(path, input, {
        progress,
        onJob: (id) => Effect.sync(() => void noted.push(id))
      }).pipe(Effect.provideService(FileSystem.FileSystem, fs), Effect.provide(services), Effect.flip)
      assert.include(String(error), "NotFound")
      assert.deepStrictEqual(noted, [jobId])
      assert.deepInclude(yield* progress, { job: jobId, phase: "waiting" })
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive.each(["BadRequest", "InvalidInput", "NotFound"] as const)(
    "is not held up by a wrong id of a job (%s); a start that is not known stays so",
    (name) =>
      Effect.gen(function*() {
        const wrong = {
          BadRequest: new Errors.BadRequest({ operation: "getJob", message: "no" }),
          InvalidInput: new Errors.InvalidInput({ operation: "getJob", issues: [{ path: "id", message: "is empty" }] }),
          NotFound: new Errors.NotFound({ operation: "getJob", message: "no" })
        }[name]
        let isWrong = true
        const { directory, reason, seen, state, to } = yield* setUp(
          whole,
          "json",
          // Sound: the tests' jobs may fail like the operation.
          () => (isWrong ? Effect.fail(wrong) : Effect.succeed({})) as Effect.Effect<object>
        )
        assert.strictEqual(yield* reason({ job: "wrong" }), name)
        assert.deepStrictEqual(readdirSync(directory), [])
        writeFileSync(state, stateOf({}))
        assert.strictEqual(yield* reason({ job: "wrong" }), name)
        assert.strictEqual(yield* reason(), "unknown-start")
        isWrong = false
        assert.strictEqual((yield* to({ job: "job_right" })).job, "job_right")
        assert.strictEqual(seen.started, 0)
      })
  )

  it.scopedLive("lets one of two runs begin a file", () =>
    Effect.gen(function*() {
      const { path, seen, to } = yield* setUp()
      const ends = yield* Effect.all([Effect.either(to()), Effect.either(to())], { concurrency: 2 })
      assert.strictEqual(seen.started, 1)
      assert.strictEqual(ends.filter(Either.isRight).length, 1)
      assert.strictEqual(readFileSync(path, "utf8"), text)
    }))

  it.scopedLive("leaves the file to a run that has taken it over", () =>
    Effect.gen(function*() {
      let state = ""
      const set = yield* setUp((to, request) => {
        writeFileSync(state, stateOf({ job: jobId, part: "another" }))
        send(to, request, file)
      })
      state = set.state
      assert.strictEqual(yield* set.reason(), "superseded")
      assert.deepStrictEqual(readdirSync(set.directory), ["users.json.export.json"])
    }))

  it.scopedLive("fails like the file system", () =>
    Effect.gen(function*() {
      const { directory, services } = yield* setUp()
      const exported = Exports.toFile(join(directory, "none", "users.json"), input).pipe(Effect.provide(services))
      assert.include(String(yield* Effect.flip(exported)), "NotFound")
      assert.isFalse(
        yield* Effect.provide(
          Effect.flatMap(FileSystem.FileSystem, (fs) => fs.exists(join(directory, "none"))),
          services
        )
      )
    }))
})
