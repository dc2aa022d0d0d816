/** Configuration, spans, logs, secrets in printed failures, and the tenant in process. */
import { Config, ConfigProvider, Effect, Layer, Logger, LogLevel, Redacted, Tracer } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  IdentityClient,
  listActionVersions,
  RateLimiter,
  redeliverEvent,
  Retry,
  TokenProvider,
  updateTokenExchangeProfile
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import * as Testing from "effect-identity-client/Testing"
import {
  bareClient,
  bearer,
  calls,
  clientOf,
  equal,
  lacks,
  printedText,
  type RawRequest,
  reachableText,
  responses,
  secrets,
  tenant,
  test
} from "../kit.js"

const { actions: [action], profiles: [profile], streams: [stream] } = Tenant.demo

const canaries = {
  ...secrets,
  "of the body": "kq7zv3-body-5944",
  "of the header": "kq7zv3-header-5955",
  "of the input": "kq7zv3-input-5966"
}

/** Response that echoes secrets of the request. */
const echoingResponse = (status: number) => ({
  status,
  headers: { "x-more": canaries["of the header"], "www-authenticate": `Bearer ${secrets.token}` },
  body: {
    statusCode: status,
    message: `No ${secrets.token} ${canaries["of the input"]}`,
    more: canaries["of the body"]
  }
})

/** Returns all log lines of an effect, at any level. */
const logLines = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>((options) => {
      lines.push(Logger.logfmtLogger.log(options), Logger.jsonLogger.log(options))
    })
    yield* self.pipe(
      Effect.exit,
      Logger.withMinimumLogLevel(LogLevel.All),
      Effect.provide(Logger.add(logger))
    )
    return lines.join("\n")
  })

const rename = updateTokenExchangeProfile({ id: "p", name: canaries["of the input"] })

export const surroundings = [
  ...[400, 401, 403, 404, 409, 418, 429, 500].map((status) =>
    test(
      `a failure with status ${status} prints no token, header, body or input`,
      Effect.gen(function*() {
        const server = yield* responses(echoingResponse(status))
        const error = yield* Effect.provide(Effect.flip(Retry.withoutRetries(rename)), bareClient(server))
        yield* lacks(printedText(error), canaries)
      })
    )
  ),

  test(
    "a failure without a response prints no token, address or input",
    Effect.gen(function*() {
      const server = yield* Effect.scoped(responses())
      const error = yield* Effect.provide(Effect.flip(Retry.withoutRetries(rename)), bareClient(server))
      yield* lacks(printedText(error), { ...canaries, origin: server.origin })
    })
  ),

  test(
    "logs and spans hold no token, header, body or input",
    Effect.gen(function*() {
      const server = yield* responses(echoingResponse(500), echoingResponse(429), echoingResponse(404))
      const spans: Array<Tracer.Span> = []
      const native = yield* Effect.tracer
      const tracer = Tracer.make({
        context: (run) => run(),
        span: (...of) => {
          const span = native.span(...of)
          spans.push(span)
          return span
        }
      })
      const lines = yield* logLines(Effect.provide(Retry.withPolicy(rename, { delay: 1 }), bareClient(server))).pipe(
        Effect.withTracer(tracer)
      )
      yield* equal(spans.length, 4, "spans: one for the call, and one for each attempt")
      yield* lacks(lines + spans.map(reachableText).join("\n"), canaries)
    })
  ),

  test(
    "propagateTrace sends traceparent",
    Effect.gen(function*() {
      const server = yield* responses({ status: 204 })
      const span = yield* Effect.makeSpan("program")
      yield* Effect.provide(deleteEventStream({ id: stream.id }), bareClient(server, { propagateTrace: true })).pipe(
        Effect.withParentSpan(span)
      )
      const [request] = yield* server.order<ReadonlyArray<RawRequest>>("requests")
      yield* equal(request?.headers["traceparent"]?.split("-")[1], span.traceId)
    })
  ),

  test(
    "layerConfig reads its settings from the config provider",
    Effect.gen(function*() {
      const server = yield* tenant()
      const settings = new Map([["BASE_URL", server.url], ["AUTH_URL", server.origin], ["SECRET", secrets.client]])
      const client = IdentityClient.layerConfig({ baseUrl: Config.string("BASE_URL") }).pipe(
        Layer.provide(RateLimiter.layer),
        Layer.provide(TokenProvider.layerClientCredentialsConfig({
          authUrl: Config.string("AUTH_URL"),
          clientId: Config.succeed(Tenant.demoClients.full.id),
          clientSecret: Config.redacted("SECRET")
        })),
        Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(settings)))
      )
      yield* Effect.provide(deleteEventStream({ id: stream.id }), client)
      yield* equal((yield* calls(server)).length, 1)
    })
  ),

  test(
    "the embedded tenant runs in process, with signed tokens and five operations",
    Effect.gen(function*() {
      const client = clientOf({
        id: "",
        origin: "https://tenant.example.com",
        url: "https://tenant.example.com/api/v2"
      })
      const requests = yield* Effect.gen(function*() {
        yield* createUsersExport({})
        yield* updateTokenExchangeProfile({ id: profile.id, name: "In process" })
        yield* listActionVersions({ actionId: action.id })
        yield* redeliverEvent({ id: stream.id, event_id: stream.events[0].id })
        yield* deleteEventStream({ id: stream.id })
        return yield* Effect.flatMap(Tenant.Tenant, ({ requests }) => requests)
      }).pipe(
        Effect.provide(
          client.pipe(Layer.provide(Tenant.layerHttpClient), Layer.provideMerge(Tenant.layer))
        )
      )
      yield* equal(requests.map(({ status }) => status), [200, 200, 200, 200, 202, 204])
    })
  ),

  test(
    "Testing.layerHttp scripts replies",
    Effect.gen(function*() {
      const client = clientOf(
        { id: "", origin: "https://tenant.example.com", url: "https://tenant.example.com/api/v2" },
        { tokens: bearer }
      )
      const requests = yield* Effect.zipRight(deleteEventStream({ id: stream.id }), Testing.requests).pipe(
        Effect.provide(Layer.provideMerge(client, Testing.layerHttp(Testing.reply({ status: 204 }))))
      )
      yield* equal(requests[0]?.headers["authorization"], `Bearer ${secrets.token}`)
    })
  ),

  test(
    "plain http to another host is refused before anything is sent",
    Effect.gen(function*() {
      const client = clientOf({ id: "", origin: "http://127.0.0.1:9", url: "http://tenant.example.com/api/v2" }, {
        tokens: TokenProvider.layerBearer(Redacted.make("t"))
      })
      const error = yield* Effect.flip(Effect.provide(deleteEventStream({ id: stream.id }), client))
      yield* equal(error._tag, "InvalidInput")
    })
  )
]
