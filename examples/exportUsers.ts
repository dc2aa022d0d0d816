/** Exports users with two fields into a file: `npx tsx examples/exportUsers.ts --format csv --output users.csv` */
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Schedule, Stream } from "effect"
import { Errors, Exports } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"
import { run } from "./support/script.js"

const usage = "exportUsers [--format csv|json] [--connection CONNECTION_ID] [--limit NUMBER] [--output FILE]"

const options = {
  format: { type: "string", default: "json" },
  connection: { type: "string" },
  limit: { type: "string" },
  output: { type: "string" }
} as const

run(
  { usage, positionals: 0, options },
  ({ values: { connection, format, limit, output = `users.${format}` } }) =>
    Effect.gen(function*() {
      if (format !== "csv" && format !== "json") {
        const issues = [{ path: "format", message: "expected csv or json" }]
        return yield* new Errors.InvalidInput({ operation: "exportUsers", issues })
      }
      const progress = yield* Exports.makeProgress
      yield* Stream.repeatEffectWithSchedule(progress, Schedule.spaced("1 second")).pipe(
        Stream.filter(({ phase }) => phase !== "starting"),
        Stream.map(({ percentage = 0, rows }) => `${percentage} %, ${rows} rows`),
        Stream.changes,
        Stream.runForEach(Console.error),
        Effect.forkScoped
      )
      const file = yield* Exports.toFile(output, {
        connection_id: connection,
        format,
        limit: limit === undefined ? undefined : Number(limit),
        fields: [{ name: "email", export_as: "E-mail" }, { name: "name" }]
      }, { progress }).pipe(
        Effect.onInterrupt(() =>
          Console.error("Interrupted. Run the same command again: it goes on with the same job.")
        )
      )
      yield* Console.log(`${file.path}: ${file.rows} rows, ${file.size} bytes`)
    }).pipe(Effect.scoped, Effect.provide([Node.layerHttpClient, NodeContext.layer]))
)
