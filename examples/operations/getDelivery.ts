import { Console, Effect } from "effect"
import { getDelivery } from "effect-identity-client"

export const program = getDelivery({
  id: "est_6ZcQmD3vK8rWnYp5TsAhX2",
  event_id: "evt_9hBvKx3TzQ7mWc4RnLpYs2"
}).pipe(
  Effect.tap((value) => Console.log(value)),
  // Other failures remain in the type of the program.
  Effect.catchTag("NotFound", ({ message }) => Console.log(message))
)
