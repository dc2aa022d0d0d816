import { Console, Effect } from "effect"
import { redeliverEvents } from "effect-identity-client"

export const program = redeliverEvents({
  id: "est_6ZcQmD3vK8rWnYp5TsAhX2",
  date_from: "2026-01-15T22:00:00Z",
  date_to: "2026-01-16T06:00:00Z",
  event_types: ["user.created"]
}).pipe(
  Effect.tap((value) => Console.log(value)),
  // Other failures remain in the type of the program.
  Effect.catchTag("Conflict", ({ message }) => Console.log(message))
)
