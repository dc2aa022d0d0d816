/** Asks for a failed event to be delivered once more: `npx tsx examples/redeliverEvent.ts est_… evt_…` */
import { Console, Effect } from "effect"
import { redeliverEvent } from "effect-identity-client"
import { run } from "./support/script.js"

const usage = "redeliverEvent STREAM_ID EVENT_ID"

run(
  { usage, positionals: 2, options: {} },
  ({ positionals: [id = "", event_id = ""] }) =>
    redeliverEvent({ id, event_id }).pipe(
      Effect.zipRight(Console.log(`event ${event_id} is accepted for redelivery`)),
      Effect.catchTag("Conflict", () => Console.log(`event ${event_id} has not failed: nothing to redeliver`))
    )
)
