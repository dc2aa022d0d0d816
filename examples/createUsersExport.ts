/** Starts an export of users: `npx tsx examples/createUsersExport.ts --format csv --field email --field name=Name` */
import { Console, Effect } from "effect"
import { createUsersExport } from "effect-identity-client"
import { number, run } from "./support/script.js"

const usage = "createUsersExport [--connection ID] [--format json|csv] [--limit N] [--field NAME[=TITLE]]..."

const options = {
  connection: { type: "string" },
  format: { type: "string" },
  limit: { type: "string" },
  field: { type: "string", multiple: true }
} as const

run({ usage, positionals: 0, options: options }, ({ values }) =>
  Effect.gen(function*() {
    const job = yield* createUsersExport({
      connection_id: values.connection,
      format: values.format as "csv" | undefined, // not sound: the operation checks it and names it if it is wrong
      limit: number(values.limit),
      fields: values.field?.map((field) => {
        const [name = "", title] = field.split("=", 2)
        return { name, export_as: title }
      })
    })
    yield* Console.log(`job ${job.id} is ${job.status}`)
  }))
