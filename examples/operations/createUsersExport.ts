import { Console, Effect } from "effect"
import { createUsersExport } from "effect-identity-client"

export const program = createUsersExport({
  connection_id: "con_7hQ2xLw9TzVb4KdE",
  format: "csv",
  limit: 1000,
  fields: [{ name: "email" }, { name: "name", export_as: "Name" }]
}).pipe(
  Effect.tap((value) => Console.log(value)),
  Effect.catchTags({
    BadRequest: (error) => Console.log(error.message),
    Unauthorized: (error) => Console.log(error.message),
    InsufficientScope: (error) => Console.log("grant one of", error.required),
    Forbidden: (error) => Console.log(error.message),
    RateLimited: (error) => Console.log("too many calls", error.retryAfter)
  })
)
