/** Spans in a terminal: a tracer that remembers, and the tree that they make. */
import { Duration, Effect, Option, Tracer } from "effect"
import { dim, red } from "./terminal.js"

interface Recorded {
  readonly span: Tracer.Span
  readonly events: Array<readonly [name: string, attributes: Record<string, unknown>]>
}

/** Remembers the spans that the tracer of here and now makes. */
export const recording = Effect.map(Effect.tracer, (inner) => {
  const spans: Array<Recorded> = []
  const tracer = Tracer.make({
    context: (run, fiber) => inner.context(run, fiber),
    span: (...of) => {
      const span = inner.span(...of)
      const events: Recorded["events"] = []
      const event = span.event.bind(span)
      span.event = (name, time, attributes = {}) => {
        events.push([name, attributes])
        event(name, time, attributes)
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
  const taken = status._tag === "Ended" ? time(status.endTime - status.startTime) : "open"
  const code = attributes.get("http.response.status_code")
  const error = attributes.get("error.type")
  const link = links[0]?.span
  const title = `${"  ".repeat(depth)}${name}${link?._tag === "Span" ? ` (for ${link.name})` : ""}`
  const end = `${taken.padStart(8)}  ${code === undefined ? "" : String(code)}`.trimEnd()
  return `${title.padEnd(width)} ${error === undefined ? end : red(end)}`
}

const eventLine = (depth: number, [name, attributes]: Recorded["events"][number]): string => {
  const wait = attributes["identity.wait"]
  const seconds = typeof wait === "number" ? time(BigInt(Math.round(wait * 1e9))).padStart(8) : ""
  return dim((`${"  ".repeat(depth)}· ${name}`.padEnd(width + 1) + seconds).trimEnd())
}

/** The tree, a line for each span and for each event, with times and statuses. */
export const treeLines = (spans: ReadonlyArray<Recorded>): ReadonlyArray<string> => {
  const below = (recorded: Recorded, depth: number): ReadonlyArray<string> => [
    line(depth, recorded),
    ...recorded.events.map((event) => eventLine(depth + 1, event)),
    ...childrenOf(Option.some(recorded.span)).flatMap((child) => below(child, depth + 1))
  ]
  const childrenOf = (parent: Option.Option<Tracer.AnySpan>) =>
    spans.filter(({ span }) => Option.getOrUndefined(span.parent)?.spanId === Option.getOrUndefined(parent)?.spanId)
  return childrenOf(Option.none()).flatMap((root) => below(root, 0))
}
