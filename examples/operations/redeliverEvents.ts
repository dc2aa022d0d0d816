import { Console, Effect } from "effect"
import { redeliverEvents } from "effect-identity-client"

export const program = redeliverEvents({
  id: "est_6ZcQmD3vK8rWnYp5TsAhX2",
  date_from: "2026-01-15T22:00:00Z",
  date_to: "2026-01-16T06:00:00Z",
  event_types: ["user.created"]
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
