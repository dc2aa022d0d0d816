import { Console, Effect } from "effect"
import { listEventStreams } from "effect-identity-client"

export const program = listEventStreams({ take: 10 }).pipe(
  Effect.tap((value) => Console.log(value))
)
