/** Redelivers an event, and returns what became of it. `handleErrors.test.ts` tests every case. */
import { Effect } from "effect"
import { redeliverEvent } from "effect-identity-client"

export const redeliver = (id: string, event_id: string) =>
  redeliverEvent({ id, event_id }).pipe(
    Effect.as("accepted"),
    Effect.catchTags({
      NotFound: () => Effect.succeed("gone"),
      Conflict: () => Effect.succeed("not in a failed state"),
      InsufficientScope: ({ required }) => Effect.succeed(`grant ${required.join(" or ")}`),
      TransportError: ({ outcome }) =>
        Effect.succeed(outcome === "not-sent" ? "not sent: retry later" : "perhaps accepted: look before you retry")
    })
  )
