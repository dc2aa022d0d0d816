import { Console, Effect } from "effect"
import { deleteEventStream } from "effect-identity-client"

export const program = deleteEventStream({ id: "est_6ZcQmD3vK8rWnYp5TsAhX2" }).pipe(
  Effect.tap(() => Console.log("done")),
  Effect.catchTags({
    BadRequest: (error) => Console.log(error.message),
    Unauthorized: (error) => Console.log(error.message),
    InsufficientScope: (error) => Console.log("grant one of", error.required),
    Forbidden: (error) => Console.log(error.message),
    RateLimited: (error) => Console.log("too many calls", error.retryAfter)
  })
)
