/** `deliveries`: lists the failed deliveries of an event stream. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Deliveries from "../../Deliveries.js"
import type { Delivery } from "../../operations/listDeliveries.js"
import * as Client from "../client.js"
import { define } from "../shared/definition.js"
import { deliveryLine } from "../shared/deliveryLine.js"
import { eventTypes, json, stream, time } from "../shared/parameters.js"
import { Stdio } from "../shared/stdio.js"
import { jsonLine } from "../shared/text.js"
import { wrongArguments } from "../shared/wrongArguments.js"

export const definition = define({
  name: "deliveries",
  usage: "STREAM [--event-type TYPE…] [--from TIME] [--to TIME] [--json]",
  about: "Lists the failed deliveries of an event stream: event, type, attempts, last attempt and its error.",
  codes: { 3: "the stream does not exist" },
  config: {
    stream,
    eventTypes,
    from: time("from", "Failures from this time on: 2026-01-31, or 2026-01-31T22:00:00Z"),
    to: time("to", "Failures up to this time"),
    json: json("a line of JSON per delivery")
  },
  run: ({ eventTypes, from, json, stream, to }) =>
    Effect.flatMap(Stdio, ({ output }) => {
      const show = json ? (delivery: Delivery) => jsonLine(delivery) : deliveryLine(output)
      return Deliveries.failed(stream, { eventTypes: eventTypes.length === 0 ? undefined : eventTypes, from, to }).pipe(
        Stream.runForEach((delivery) => Console.log(show(delivery))),
        wrongArguments({ stream: "STREAM", eventTypes: "--event-type", from: "--from", to: "--to" }),
        Effect.provide(Client.layer)
      )
    })
})
