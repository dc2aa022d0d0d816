/** A failed delivery as one line of text. */
import { failures } from "../../internal/deliveries/failures.js"
import type { Delivery } from "../../operations/listDeliveries.js"
import type { Output } from "./stdio.js"
import { printableLine } from "./text.js"

/** Joins cells of a fixed width, because a list may be too long to be measured first. A terminal's line is cut. */
export const fixedLine = ({ columns, isTerminal }: Output, cells: ReadonlyArray<string>): string => {
  const text = printableLine(cells.join("  ").trimEnd())
  return isTerminal && text.length > columns ? `${text.slice(0, columns - 1)}…` : text
}

/** Event, type, number of failed attempts, time of the last, and its message. */
export const deliveryLine = (output: Output) => (delivery: Delivery): string => {
  const { event_type, id } = delivery
  const failed = failures(delivery)
  const last = failed.at(-1)
  const count = String(failed.length).padStart(2)
  const time = (last?.timestamp ?? "").replace(/\.\d+Z$/, "Z").padEnd(20)
  return fixedLine(output, [id.padEnd(26), event_type.padEnd(12), count, time, last?.error_message ?? ""])
}
