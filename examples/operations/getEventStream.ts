import { Console, Effect } from "effect"
import { getEventStream } from "effect-identity-client"

export const program = getEventStream({ id: "est_6ZcQmD3vK8rWnYp5TsAhX2" }).pipe(
  Effect.tap((value) => Console.log(value)),
  Effect.catchTags({
    BadRequest: (error) => Console.log(error.message),
    Unauthorized: (error) => Console.log(error.message),
    InsufficientScope: (error) => Console.log("grant one of", error.required),
    Forbidden: (error) => Console.log(error.message),
    NotFound: (error) => Console.log(error.message),
    RateLimited: (error) => Console.log("too many calls", error.retryAfter)
  })
)
