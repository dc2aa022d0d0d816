import { Console, Effect } from "effect"
import { getEventStream } from "effect-identity-client"

export const program = getEventStream({ id: "est_6ZcQmD3vK8rWnYp5TsAhX2" }).pipe(
  Effect.tap((value) => Console.log(value)),
  // Other failures remain in the type of the program.
  Effect.catchTag("NotFound", ({ message }) => Console.log(message))
)
