/** Clients for tests of telemetry, and what they log. */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Cause, Effect, Fiber, Layer, Logger, LogLevel, TestClock, Tracer } from "effect"
import { deleteEventStream, IdentityClient, RateLimiter, type TokenProvider } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { bearer, silent } from "./client.js"

export const call = deleteEventStream({ id: "est_1234567890123456789012" })

/** Metrics outlive this module, which each test file may load anew. */
let hosts = Math.floor(Math.random() * 1e9)

interface Setting {
  readonly replies?: ReadonlyArray<Testing.Reply>
  readonly network?: Layer.Layer<HttpClient.HttpClient>
  readonly limiter?: Layer.Layer<RateLimiter.RateLimiter>
  readonly tokens?: Layer.Layer<TokenProvider.TokenProvider>
  readonly options?: IdentityClient.Defaults
}

/** Makes a client of a tenant of its own, as all tests share the metrics of the process. Without replies it gets no response. */
export const clientOf = (
  { limiter = RateLimiter.layerUnlimited, network = silent, options, replies, tokens = bearer }: Setting
) => {
  const host = `t${++hosts}.example.com`
  const layer = IdentityClient.layer({ baseUrl: `https://${host}/api/v2`, ...options }).pipe(
    Layer.provide([replies === undefined ? network : Testing.layerHttp(...replies), limiter, tokens])
  )
  return { host, layer }
}

/** Runs an effect, and gives its log lines: level, annotations, message. */
export const logged = <A, E, R>(self: Effect.Effect<A, E, R>, level: LogLevel.LogLevel = LogLevel.Info) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    // Lines without annotations are the runtime's own, for example about a fiber that fails.
    const logger = Logger.make<unknown, void>(({ annotations, logLevel, message }) => {
      const labels = [...annotations].map(([name, value]) => `${name}=${String(value)}`).sort()
      if (labels.length > 0) lines.push([logLevel.label, ...labels, String(message)].join(" "))
    })
    const exit = yield* self.pipe(
      Effect.exit,
      Logger.withMinimumLogLevel(level),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
    return { lines, exit }
  })

/** Runs an effect, and gives all its log lines with their causes, also those of the runtime. */
export const allLines = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ cause, message }) => {
      lines.push(Cause.isEmpty(cause) ? String(message) : `${String(message)} ${Cause.pretty(cause)}`)
    })
    const value = yield* self.pipe(
      Logger.withMinimumLogLevel(LogLevel.All),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
    return { lines, value }
  })

/** Runs an effect with a tracer that records the spans. */
export const recorded = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
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
    yield* Effect.exit(Effect.withTracer(self, tracer))
    return spans
  })

/** Makes rate-limit headers. */
export const quota = (remaining: number, limit = 10) => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": "1"
})

/** Makes calls during an outage in which a retry budget binds, and gives the number of the requests. */
export const outage = (callers: number) => {
  let requests = 0
  const network = HttpClient.make((request) => {
    requests++
    return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status: 503 })))
  })
  const { host, layer } = clientOf({
    options: { retryBudget: 0 },
    network: Layer.succeed(HttpClient.HttpClient, network)
  })
  const calls = Effect.all(Array.from({ length: callers }, () => Effect.exit(call)), { concurrency: "unbounded" })
  const run = Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.provide(calls, layer))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(fiber)
    return requests
  })
  return { host, run }
}
