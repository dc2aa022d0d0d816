/** `delete`: deletes an event stream. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { deleteEventStream } from "../../operations/deleteEventStream.js"
import * as Client from "../client.js"
import { confirm } from "../shared/confirm.js"
import { define } from "../shared/definition.js"
import { Exited } from "../shared/exit.js"
import { json, stream, yes } from "../shared/parameters.js"
import { jsonLine } from "../shared/text.js"
import { wrongArguments } from "../shared/wrongArguments.js"

export const definition = define({
  name: "delete",
  usage: "STREAM [--yes] [--json]",
  about: "Deletes an event stream, after a question. It succeeds also if the stream is already gone.",
  config: { stream, yes, json: json("one line of JSON: the id") },
  run: ({ json, stream, yes }) =>
    Effect.gen(function*() {
      if (!(yield* confirm(`Delete event stream ${stream} with its undelivered events?`, yes))) {
        yield* Console.error("Nothing was deleted.")
        return yield* new Exited({ code: 1 })
      }
      yield* Effect.provide(deleteEventStream({ id: stream }), Client.layer)
      yield* Console.log(json ? jsonLine({ id: stream }) : `event stream ${stream} is deleted`)
    }).pipe(wrongArguments({ id: "STREAM" }))
})
