import { Console, Effect } from "effect"
import { redeliverEvent } from "effect-identity-client"

export const program = redeliverEvent({
  id: "est_6ZcQmD3vK8rWnYp5TsAhX2",
  event_id: "evt_9hBvKx3TzQ7mWc4RnLpYs2"
}).pipe(
  Effect.tap(() => Console.log("done")),
  // Other failures remain in the type of the program.
  Effect.catchTag("Conflict", ({ message }) => Console.log(message))
)
