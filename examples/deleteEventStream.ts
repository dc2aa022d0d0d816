/** Deletes an event stream: `npx tsx examples/deleteEventStream.ts est_…` */
import { Console, Effect } from "effect"
import { deleteEventStream } from "effect-identity-client"
import { run } from "./support/script.js"

const usage = "deleteEventStream STREAM_ID"

run({ usage, positionals: 1, options: {} }, ({ positionals: [id = ""] }) =>
  Effect.gen(function*() {
    yield* deleteEventStream({ id })
    yield* Console.log(`event stream ${id} is deleted`)
  }))
