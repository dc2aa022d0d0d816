/** `deliveries`: lists the failed deliveries of an event stream. */
import * as Options from "@effect/cli/Options"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Deliveries from "../../Deliveries.js"
import type { Delivery } from "../../operations/listDeliveries.js"
import * as Client from "../client.js"
import { define } from "../shared/definition.js"
import { eventTypes, json, stream } from "../shared/parameters.js"
import { type Output, Stdio } from "../shared/stdio.js"
import { printable } from "../shared/text.js"

const time = (name: string, text: string) =>
  Options.text(name).pipe(Options.withDescription(text), Options.optional, Options.map(Option.getOrUndefined))

/** One line; the columns have a fixed width, because a list may be too long to be measured first. A terminal's line is cut. */
const line = ({ columns, isTerminal }: Output) => ({ attempts, event_type, id }: Delivery): string => {
  const last = attempts.at(-1)
  const count = String(attempts.length).padStart(2)
  const time = (last?.timestamp ?? "").replace(/\.\d+Z$/, "Z").padEnd(20)
  const cells = [id.padEnd(26), event_type.padEnd(12), count, time, last?.error_message ?? ""]
  const text = printable(cells.join("  ").trimEnd())
  return isTerminal && text.length > columns ? `${text.slice(0, columns - 1)}…` : text
}

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
      const show = json ? (delivery: Delivery) => JSON.stringify(delivery) : line(output)
      return Deliveries.failed(stream, { eventTypes: eventTypes.length === 0 ? undefined : eventTypes, from, to }).pipe(
        Stream.runForEach((delivery) => Console.log(show(delivery))),
        Effect.provide(Client.layer)
      )
    })
})
