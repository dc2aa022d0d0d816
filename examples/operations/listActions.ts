import { Console, Effect } from "effect"
import { listActions } from "effect-identity-client"

export const program = listActions({ triggerId: "post-login", page: 0, per_page: 10 }).pipe(
  Effect.tap((value) => Console.log(value))
)
