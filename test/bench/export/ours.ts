/** Reads an export by `Exports.run`, over the lean client of Node. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import * as Exports from "../../../src/Exports.js"
import { getJob } from "../../../src/index.js"
import * as Node from "../../../src/Node.js"
import * as Testing from "../../../src/Testing.js"
import { client } from "./client.js"

let location = ""
const job = { id: "job_1", type: "users_export", status: "completed" }

const runtime = ManagedRuntime.make(Layer.merge(
  Testing.layer(Testing.handle(getJob, () => Effect.succeed({ ...job, location }))),
  Node.layerHttpClient
))

client(({ format, origin }, visit) => {
  location = `${origin}/${format}.gz`
  return runtime.runPromise(
    Exports.run({ format: format === "csv" ? "csv" : "json" }, { job: job.id, undoGuard: true }).pipe(
      Stream.runForEachChunk((rows) => {
        for (const row of rows) visit(Either.getOrThrow(row))
        return Effect.void
      })
    )
  )
})
