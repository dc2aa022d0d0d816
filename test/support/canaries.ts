/** Searches planted secrets in everything that a program can see or print. */
import { Cause, Effect, Exit, Logger, LogLevel, Tracer } from "effect"
import { format, inspect } from "node:util"
import { type MetricReading, metricReadings } from "../../examples/support/metricReadings.js"

/** The encodings of bytes at any offset of an encoded text. */
const base64 = (secret: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.from("\0".repeat(before) + secret).toString("base64")
    const from = Math.ceil(before * 4 / 3)
    const to = Math.floor((before + Buffer.byteLength(secret)) * 4 / 3)
    const certain = encoded.slice(from, to)
    return [certain, certain.replaceAll("+", "-").replaceAll("/", "_")]
  })

const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")

const spell = (secret: string): ReadonlyArray<string> => [
  ...new Set([
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ "": secret }).toString().slice(1),
    percent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("hex"),
    [...Buffer.from(secret)].join(","), // an array of bytes
    [...Buffer.from(secret)].map((byte) => byte.toString(16).padStart(2, "0")).join(" "), // a buffer, inspected
    ...base64(secret)
  ].map((text) => text.toLowerCase()))
]

const spelt = new Map<string, ReadonlyArray<string>>()

/** All spellings of a secret, in lower case. Each canary is searched for in thousands of texts, and spelt once. */
const spellings = (secret: string): ReadonlyArray<string> => {
  const known = spelt.get(secret) ?? spell(secret)
  spelt.set(secret, known)
  return known
}

/** Finds the canaries in a text, in any spelling. */
export const found = (canaries: Readonly<Record<string, string>>, text: string): ReadonlyArray<string> => {
  const lower = text.toLowerCase()
  return Object.entries(canaries).flatMap(([name, secret]) =>
    spellings(secret).filter((spelling) => lower.includes(spelling)).map((spelling) => `${name} as ${spelling}`)
  )
}

const everything = { depth: Infinity, showHidden: true, maxArrayLength: Infinity, maxStringLength: Infinity } as const

/** Prints a failure in every way. */
const printed = (cause: Cause.Cause<unknown>): ReadonlyArray<readonly [string, string]> => [
  ["Cause.pretty", Cause.pretty(cause, { renderErrorCause: true })],
  ["Cause.toString", String(cause)],
  ["inspect of the cause", inspect(cause, everything)],
  ["JSON of the cause", JSON.stringify(cause)],
  ...[...Cause.failures(cause), ...Cause.defects(cause)].flatMap((error) => {
    const of = error as Partial<Error> // sound: whatever it is
    return [
      ["message", String(of.message)],
      ["toString", String(error)],
      ["stack", String(of.stack)],
      ["inspect", inspect(error, everything)],
      ["format", format("%s %o %O %j", error, error, error, error)],
      ["JSON", JSON.stringify(error)],
      ["own properties", JSON.stringify(Object.getOwnPropertyNames(error).map((name) => String(of[name as "name"])))]
    ] as const
  })
]

interface Events {
  readonly events?: ReadonlyArray<unknown>
}

/** A span as an exporter sees it, without its parents and links. */
const spanText = (span: Tracer.Span): string => {
  const { attributes, links, name, status, traceId } = span
  const { events } = span as Events // sound: of the native tracer
  const exit = status._tag === "Ended" ? status.exit : Exit.void
  const outcome = Exit.match(exit, {
    onFailure: (cause) => printed(cause).map(([, text]) => text).join("\n"),
    onSuccess: (value) => inspect(value, everything)
  })
  return [
    name,
    traceId,
    inspect(attributes, everything),
    inspect(events, everything),
    inspect(links.map(({ attributes }) => attributes), everything),
    outcome,
    inspect(span, { ...everything, depth: 8 })
  ].join("\n")
}

/** The name of a metric with its tags. */
const nameOf = ({ name, tags }: MetricReading): string => [name, ...Object.entries(tags).flat()].join(" ")

/** Runs an effect and returns, as named texts, everything that is visible of it except its value. */
export const seen = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = new Set((yield* metricReadings).map(nameOf))
    const native = yield* Effect.tracer
    const spans: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      context: (run) => run(),
      span: (...of) => {
        const span = native.span(...of)
        spans.push(span)
        return span
      }
    })
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>((options) => {
      for (const one of [Logger.logfmtLogger, Logger.jsonLogger, Logger.stringLogger]) lines.push(one.log(options))
      lines.push(inspect(Logger.structuredLogger.log(options), everything))
    })
    const exit = yield* self.pipe(
      Effect.asVoid, // the value is the program's own
      Effect.withSpan("program"),
      Effect.exit,
      Effect.withTracer(tracer),
      Logger.withMinimumLogLevel(LogLevel.All),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
    const metrics = (yield* metricReadings).flatMap((metric) => {
      const name = nameOf(metric)
      // Earlier tests of this process have left many. The values of the others are numbers.
      const isOld = before.has(name) && metric.kind !== "another"
      return isOld ? [] : [`${name} ${inspect(metric.state, everything)}`]
    })
    const texts: ReadonlyArray<readonly [string, string]> = [
      ["log", lines.join("\n")],
      ...spans.map((span) => [`span ${span.name}`, spanText(span)] as const),
      ["metrics", metrics.join("\n")],
      ...Exit.match(exit, { onFailure: printed, onSuccess: () => [] })
    ]
    return { exit, lines, spans, texts }
  })
