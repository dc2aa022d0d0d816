/** Deletes an event stream: `npx tsx examples/deleteEventStream.ts est_…` */
import { Console, Effect } from "effect"
import { deleteEventStream } from "effect-identity-client"
import { args, run } from "./support/script.js"

const usage = "deleteEventStream STREAM_ID"

run(Effect.gen(function*() {
  const { positionals: [id = ""] } = yield* args(usage, 1, {})
  yield* deleteEventStream({ id })
  yield* Console.log(`event stream ${id} is deleted`)
}))
