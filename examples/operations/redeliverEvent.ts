import { Console, Effect } from "effect"
import { redeliverEvent } from "effect-identity-client"

export const program = redeliverEvent({
  id: "est_6ZcQmD3vK8rWnYp5TsAhX2",
  event_id: "evt_9hBvKx3TzQ7mWc4RnLpYs2"
}).pipe(
  Effect.tap(() => Console.log("done")),
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
