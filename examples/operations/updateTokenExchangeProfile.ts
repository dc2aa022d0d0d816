import { Console, Effect } from "effect"
import { updateTokenExchangeProfile } from "effect-identity-client"

export const program = updateTokenExchangeProfile({
  id: "tep_4Wn8bXq2RvTy6LsZ",
  name: "Older tokens",
  subject_token_type: "urn:example:legacy-token"
}).pipe(
  Effect.tap((value) => Console.log(value)),
  // Other failures remain in the type of the program.
  Effect.catchTag("Conflict", ({ message }) => Console.log(message))
)
