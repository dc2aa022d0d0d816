import { Console, Effect } from "effect"
import { getTokenExchangeProfile } from "effect-identity-client"

export const program = getTokenExchangeProfile({ id: "tep_4Wn8bXq2RvTy6LsZ" }).pipe(
  Effect.tap((value) => Console.log(value)),
  // Other failures remain in the type of the program.
  Effect.catchTag("NotFound", ({ message }) => Console.log(message))
)
