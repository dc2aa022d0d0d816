import { Console, Effect } from "effect"
import { listActionVersions } from "effect-identity-client"

export const program = listActionVersions({
  actionId: "910b1053-577f-4d81-a8c8-020e7319a38a",
  page: 0,
  per_page: 2
}).pipe(
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
