/** Exports users, as a stream and into a file, with a service and a storage that the test scripts. */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Console, Duration, Effect, Either, Layer, Option, Schema, Stream } from "effect"
import { createUsersExport, Exports, getJob } from "effect-identity-client"
import * as Testing from "effect-identity-client/Testing"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"

// All users, one by one. A bad row is reported in its place.
const emails = Exports.run({ format: "json", fields: [{ name: "user_id" }, { name: "email" }] }, {
  schema: Schema.Struct({ user_id: Schema.String, email: Schema.optional(Schema.String) })
}).pipe(
  Stream.tap(Either.match({
    onLeft: ({ message }) => Console.warn(message), // names the line and the field, never the value
    onRight: () => Effect.void
  })),
  Stream.filterMap(Either.getRight),
  Stream.filterMap(({ email }) => Option.fromNullable(email))
)

// All users into a file, with a report. Run it again with the same path to go on after a crash.
const exportTo = (path: string) =>
  Effect.gen(function*() {
    const progress = yield* Exports.makeProgress
    const report = Effect.flatMap(progress, ({ bytes, percentage, phase, remaining, rows }) =>
      Console.log(
        `${phase}: ${percentage ?? 0} %, ${bytes} bytes, ${rows} rows, ${
          remaining ? Duration.format(remaining) : "?"
        } left`
      ))
    yield* Effect.forkScoped(Effect.forever(Effect.delay(report, "5 seconds")))

    return yield* Exports.toFile(path, { format: "json" }, { progress })
  }).pipe(Effect.scoped)

// The service and the storage of the test.
const users = [
  "{\"user_id\":\"auth0|1\",\"email\":\"ann@example.com\"}",
  "{\"user_id\":7}",
  "{\"user_id\":\"auth0|2\"}"
]
const file = gzipSync(`${users.join("\n")}\n`)
const job = { id: "job_1", type: "users_export", format: "json" }
const location = "https://storage.example.com/job_1.json.gz?signature=secret"

const ServicesLive = Layer.mergeAll(
  Testing.layer(
    Testing.handle(createUsersExport, () => Effect.succeed({ ...job, status: "pending" })),
    Testing.handle(getJob, () => Effect.succeed({ ...job, status: "completed", location }))
  ),
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, new Response(file))))
  ),
  NodeFileSystem.layer
)

describe("the exports of the guide", () => {
  it.live("stream the addresses, without a bad row", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual([...(yield* Stream.runCollect(emails))], ["ann@example.com"])
    }).pipe(Effect.provide(ServicesLive)))

  it.scopedLive("write the file", () =>
    Effect.gen(function*() {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "exports-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const { rows } = yield* exportTo(join(directory, "users.json"))
      assert.strictEqual(rows, 3)
      assert.strictEqual(readFileSync(join(directory, "users.json"), "utf8"), `${users.join("\n")}\n`)
    }).pipe(Effect.provide(ServicesLive)))
})
