import { Console, Effect } from "effect"
import { deleteEventStream } from "effect-identity-client"

export const program = deleteEventStream({ id: "est_6ZcQmD3vK8rWnYp5TsAhX2" }).pipe(
  Effect.tap(() => Console.log("done"))
)
