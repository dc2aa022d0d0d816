/** Prints spans in a terminal: a tracer that records them, and their tree. */
import { Array, Duration, Effect, Option, Order, Tracer } from "effect"
import { dim, red } from "./terminal.js"

interface Event {
  readonly name: string
  readonly at: bigint
  readonly attributes: Record<string, unknown>
}

interface Recorded {
  readonly span: Tracer.Span
  readonly events: ReadonlyArray<Event>
}

/** Records the spans of the current tracer. */
export const recording = Effect.map(Effect.tracer, (inner) => {
  const spans: globalThis.Array<Recorded> = []
  const tracer = Tracer.make({
    context: (run) => run(),
    span: (...args) => {
      const span = inner.span(...args)
      const events: globalThis.Array<Event> = []
      const event = span.event.bind(span)
      span.event = (name, at, attributes = {}) => {
        events.push({ name, at, attributes })
        event(name, at, attributes)
      }
      spans.push({ span, events })
      return span
    }
  })
  return { spans, tracer }
})

const width = 62

const time = (nanos: bigint): string => {
  const millis = Duration.toMillis(Duration.nanos(nanos))
  return `${millis < 10 ? millis.toFixed(1) : millis.toFixed(0)} ms`
}

const line = (depth: number, { span }: Recorded): string => {
  const { attributes, links, name, status } = span
  const duration = status._tag === "Ended" ? time(status.endTime - status.startTime) : "open"
  const code = attributes.get("http.response.status_code")
  const error = attributes.get("error.type")
  const link = links[0]?.span
  const title = `${"  ".repeat(depth)}${name}${link?._tag === "Span" ? ` (for ${link.name})` : ""}`
  const end = `${duration.padStart(8)}  ${code === undefined ? "" : String(code)}`.trimEnd()
  return `${title.padEnd(width)} ${error === undefined ? end : red(end)}`
}

const eventLine = (depth: number, { attributes, name }: Event): string => {
  const wait = attributes["identity.wait"]
  const seconds = typeof wait === "number" ? time(BigInt(Math.round(wait * 1e9))).padStart(8) : ""
  return dim((`${"  ".repeat(depth)}· ${name}`.padEnd(width + 1) + seconds).trimEnd())
}

/** The tree of spans: a line for each span with duration and status, and for each event, in order of time. */
export const treeLines = (spans: ReadonlyArray<Recorded>): ReadonlyArray<string> => {
  const below = (recorded: Recorded, depth: number): ReadonlyArray<string> => {
    const within = [
      ...recorded.events.map((event) => ({ at: event.at, lines: [eventLine(depth + 1, event)] })),
      ...childrenOf(Option.some(recorded.span)).map((child) => (
        { at: child.span.status.startTime, lines: below(child, depth + 1) }
      ))
    ]
    return [
      line(depth, recorded),
      ...Array.sortWith(within, ({ at }) => at, Order.bigint).flatMap(({ lines }) => lines)
    ]
  }
  const childrenOf = (parent: Option.Option<Tracer.AnySpan>) =>
    spans.filter(({ span }) => Option.getOrUndefined(span.parent)?.spanId === Option.getOrUndefined(parent)?.spanId)
  return childrenOf(Option.none()).flatMap((root) => below(root, 0))
}
