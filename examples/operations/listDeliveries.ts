import { Console, Effect } from "effect"
import { listDeliveries } from "effect-identity-client"

export const program = listDeliveries({
  id: "est_6ZcQmD3vK8rWnYp5TsAhX2",
  event_types: "user.created,user.updated",
  date_from: "2026-01-15T22:00:00Z",
  take: 10
}).pipe(
  Effect.tap((value) => Console.log(value)),
  // Other failures remain in the type of the program.
  Effect.catchTag("NotFound", ({ message }) => Console.log(message))
)
