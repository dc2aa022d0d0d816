import { Console, Effect } from "effect"
import { createUsersExport } from "effect-identity-client"

export const program = createUsersExport({
  connection_id: "con_7hQ2xLw9TzVb4KdE",
  format: "csv",
  limit: 1000,
  fields: [{ name: "email" }, { name: "name", export_as: "Name" }]
}).pipe(
  Effect.tap((value) => Console.log(value))
)
