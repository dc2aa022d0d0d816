import { Console, Effect } from "effect"
import { listActionVersions } from "effect-identity-client"

export const program = listActionVersions({
  actionId: "910b1053-577f-4d81-a8c8-020e7319a38a",
  page: 0,
  per_page: 2
}).pipe(
  Effect.tap((value) => Console.log(value)),
  // Other failures remain in the type of the program.
  Effect.catchTag("NotFound", ({ message }) => Console.log(message))
)
