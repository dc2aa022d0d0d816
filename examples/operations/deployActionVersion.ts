import { Console, Effect } from "effect"
import { deployActionVersion } from "effect-identity-client"

export const program = deployActionVersion({
  actionId: "910b1053-577f-4d81-a8c8-020e7319a38a",
  id: "c0a5e1f4-6d3b-4b7a-8f29-7be13d90a264",
  update_draft: true
}).pipe(
  Effect.tap((value) => Console.log(value)),
  // Other failures remain in the type of the program.
  Effect.catchTag("NotFound", ({ message }) => Console.log(message))
)
