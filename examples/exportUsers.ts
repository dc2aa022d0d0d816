/** Starts an export of users with two fields: `npx tsx examples/exportUsers.ts --format csv` */
import { Console, Effect } from "effect"
import { createUsersExport } from "effect-identity-client"
import { run } from "./support/script.js"

const usage = "exportUsers [--format csv|json] [--connection CONNECTION_ID] [--limit NUMBER]"

const options = { format: { type: "string" }, connection: { type: "string" }, limit: { type: "string" } } as const

run({ usage, positionals: 0, options }, ({ values: { connection, format, limit } }) =>
  Effect.gen(function*() {
    const job = yield* createUsersExport({
      connection_id: connection,
      format: format === "csv" ? "csv" : "json",
      limit: limit === undefined ? undefined : Number(limit),
      fields: [{ name: "email", export_as: "E-mail" }, { name: "name" }]
    })
    yield* Console.log(`job ${job.id} is ${job.status}`)
  }))
