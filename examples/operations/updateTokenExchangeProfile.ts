import { Console, Effect } from "effect"
import { updateTokenExchangeProfile } from "effect-identity-client"

export const program = updateTokenExchangeProfile({
  id: "tep_4Wn8bXq2RvTy6LsZ",
  name: "Older tokens",
  subject_token_type: "urn:example:legacy-token"
}).pipe(
  Effect.tap((value) => Console.log(value)),
  Effect.catchTags({
    BadRequest: (error) => Console.log(error.message),
    Unauthorized: (error) => Console.log(error.message),
    InsufficientScope: (error) => Console.log("grant one of", error.required),
    Forbidden: (error) => Console.log(error.message),
    NotFound: (error) => Console.log(error.message),
    Conflict: (error) => Console.log(error.message),
    RateLimited: (error) => Console.log("too many calls", error.retryAfter)
  })
)
