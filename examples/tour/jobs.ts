/** Whole jobs: users that arrive as a file, failed deliveries that are redelivered, and the history of an action. */
import { FileSystem, Path } from "@effect/platform"
import { Chunk, Effect, Fiber, Stream } from "effect"
import { Deliveries, Exports, listActionVersions, Redelivery } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import { failure, note, step, success } from "./step.js"

const { actions: [action], connections: [connection], streams: [stream] } = Tenant.demo

// Starts the job, waits for it, and downloads its file. The folder is removed at the end, also after Ctrl-C.
export const exportUsers = step(
  "1. Export the users of a connection into a file",
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { basename, join } = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "identity-tour-" })
    const progress = yield* Exports.makeProgress
    const report = yield* Effect.forkScoped(progress.changes.pipe(
      Stream.takeUntil(({ phase }) => phase === "done"),
      Stream.filter(({ job }) => job !== undefined),
      Stream.map(({ job, percentage = 0, rows }) => `${job}: ${percentage} %, ${rows} rows`),
      Stream.changes,
      Stream.runForEach(note)
    ))
    const { path, rows, size } = yield* Exports.toFile(
      join(folder, "users.json"),
      {
        connection_id: connection.id,
        format: "json",
        fields: [{ name: "email" }, { name: "name" }]
      },
      { progress }
    )
    yield* Fiber.join(report)
    yield* success(`${basename(path)} has ${rows} rows and ${size} bytes. It begins with:`)
    yield* fs.stream(path).pipe(Stream.decodeText(), Stream.splitLines, Stream.take(2), Stream.runForEach(note))
  }).pipe(Effect.scoped)
)

// Each failed event is sent once. Its delivery stays listed, with an attempt `retrying`, until it has succeeded.
export const redeliverFailed = step(
  "2. Redeliver the failed deliveries of an event stream",
  Effect.gen(function*() {
    const failed = Deliveries.failed(stream.id)
    const deliveries = yield* Stream.runCollect(failed)
    yield* Effect.forEach(
      deliveries,
      ({ attempts, event_type, id }) => failure(`${id}, ${event_type}: ${attempts.at(-1)?.error_message}`)
    )
    const progress = yield* Redelivery.makeProgress
    yield* Redelivery.run(Chunk.map(deliveries, ({ id }) => id), { stream: stream.id, progress }).pipe(
      Stream.runForEach(({ id, outcome }) => (outcome === "accepted" ? success : failure)(`${id}: ${outcome}`))
    )
    const { done, outcomes } = yield* progress
    const retrying = yield* failed.pipe(
      Stream.filter(({ attempts }) => attempts.at(-1)?.status === "retrying"),
      Stream.runCount
    )
    yield* (retrying === done ? success : failure)(
      `${outcomes.accepted} of ${done} accepted, ${retrying} are being retried`
    )
  })
)

// The newest version comes first.
export const listVersions = step(
  "3. List the versions of an action",
  Effect.flatMap(
    listActionVersions({ actionId: action.id }),
    ({ versions }) =>
      Effect.forEach(
        versions,
        ({ built_at = "", deployed, number }) =>
          success(`version ${number}, built on ${built_at.slice(0, 10)}${deployed ? ", deployed" : ""}`)
      )
  )
)
