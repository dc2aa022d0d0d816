import { Console, Effect } from "effect"
import { listTokenExchangeProfiles } from "effect-identity-client"

export const program = listTokenExchangeProfiles({ take: 10 }).pipe(
  Effect.tap((value) => Console.log(value))
)
