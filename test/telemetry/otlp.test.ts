/** The spans that an exporter sends over OTLP: their tree, names, attributes, events and links. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel, Redacted, TestContext } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  IdentityClient,
  listActionVersions,
  RateLimiter,
  redeliverEvent,
  Retry,
  TokenProvider
} from "../../src/index.js"
import * as Node from "../../src/Node.js"
import { receiver, type Span, valuesOf } from "../support/otlp.js"
import { rawServer, responseBytes as response } from "../support/rawServer.js"
import { outage } from "../support/telemetry.js"
import { table } from "../support/telemetryTables.js"

const json = { "content-type": "application/json" }
const streamId = "est_1234567890123456789012"
const eventId = "evt_1234567890123456789012"

const grant = (nth: number) =>
  response(200, json, JSON.stringify({ access_token: `token-${nth}`, token_type: "Bearer", expires_in: 86_400 }))

/** The responses of the server, in this order. */
const script: ReadonlyArray<readonly [path: string, response: Buffer]> = [
  // The first call requests a token, which succeeds in the second attempt.
  ["/oauth/token/", response(503, json, "{}")],
  ["/oauth/token/", grant(1)],
  ["/versions", response(200, json, JSON.stringify({ total: 0, per_page: 20, versions: [] }))],
  // The second call succeeds in the third attempt.
  [streamId, response(503, json, "{}")],
  [streamId, response(429, { ...json, "retry-after": "0" }, "{}")],
  [streamId, response(204)],
  // The service refuses the token, but not the next one.
  [eventId, response(401, json, "{}")],
  ["/oauth/token/", grant(2)],
  [eventId, response(202, json, "{}")],
  // The call fails.
  ["/jobs/users-exports", response(403, json, JSON.stringify({ message: "No, not you." }))],
  // The connection breaks.
  ["/jobs/users-exports", Buffer.from("")]
]

const program = Effect.gen(function*() {
  yield* listActionVersions({ actionId: "an-action" })
  yield* deleteEventStream({ id: streamId })
  yield* redeliverEvent({ id: streamId, event_id: eventId })
  yield* Effect.exit(createUsersExport({ fields: [{ name: "email" }] }))
  yield* Effect.exit(createUsersExport({ fields: [{ name: "email" }] }))
}).pipe(Retry.withPolicy({ attempts: 3, delay: 10 }), Effect.withSpan("program"))

/** Runs the program against the script and a receiver of OTLP. */
const exported = Effect.gen(function*() {
  const otlp = yield* receiver
  const left = [...script]
  const server = yield* rawServer(({ line }, socket) => {
    const [path = "", bytes = Buffer.from("")] = left.shift() ?? []
    if (!line.includes(path)) socket.end(response(599))
    else if (bytes.length === 0) socket.destroy()
    else socket.write(bytes)
  })
  const origin = `http://127.0.0.1:${server.port}`
  const client = (options: Partial<IdentityClient.Defaults>) =>
    IdentityClient.layer({ baseUrl: server.url, ...options }).pipe(
      // All calls but the first have to wait.
      Layer.provide(RateLimiter.layerFixed({ limit: 1, interval: 40 })),
      Layer.provide(TokenProvider.layerClientCredentials({
        authUrl: origin,
        clientId: "a-client",
        clientSecret: Redacted.make("a-secret")
      })),
      Layer.provide(Node.layerHttpClient)
    )
  const run = (options: Partial<IdentityClient.Defaults>) =>
    Effect.provide(program, Layer.provideMerge(client(options), otlp.layer))
  return { run, otlp, port: server.port, requests: server.requests }
})

const codes = { 1: "ok", 2: "failed" }
const kinds = { 1: "internal", 3: "client" }

/** Turns a span into a row: its path in the tree, its attributes, its events with the names of their attributes, its links. */
const row = (spans: ReadonlyArray<Span>) => {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const path = ({ name, parentSpanId = "" }: Span): string => {
    const parent = byId.get(parentSpanId)
    return parent === undefined ? name : `${path(parent)} > ${name}`
  }
  return (span: Span) => ({
    path: path(span),
    kind: kinds[span.kind as 1],
    status: codes[span.status.code as 1],
    attributes: valuesOf(span.attributes.filter(({ key }) => !ofExporter.has(key))),
    events: span.events.map(({ attributes, name }) => [name, ...attributes.map(({ key }) => key)].join(" ")),
    links: span.links.map(({ spanId, traceId }) => {
      const linked = byId.get(spanId)
      assert.strictEqual(traceId, linked?.traceId)
      return linked === undefined ? "nothing" : path(linked)
    })
  })
}

/** The attributes that the exporter adds to failed spans. */
const ofExporter = new Set([
  "span.label",
  "status.interrupted",
  "exception.type",
  "exception.message",
  "exception.stacktrace"
])

type Row = ReturnType<ReturnType<typeof row>>

const wait = "identity.limiter.wait identity.wait"
const backoff = "identity.backoff identity.wait"

const expected = (port: number): ReadonlyArray<Row> => {
  const at = (method: string, template: string) => ({
    "http.request.method": method,
    "url.template": template,
    "server.address": "127.0.0.1",
    "server.port": port
  })
  const operation = (
    name: string,
    about: object,
    attempts: number,
    events: ReadonlyArray<string>,
    more: object,
    failed = false
  ): Row => ({
    path: `program > identity.${name}`,
    kind: "internal",
    status: failed ? "failed" : "ok",
    attributes: { ...about, "identity.attempts": attempts, ...more },
    events: [...events, ...(failed ? ["exception exception.type exception.message exception.stacktrace"] : [])],
    links: []
  })
  const request = (
    parent: string,
    about: Record<string, unknown>,
    nth: number,
    status?: number,
    error?: string
  ): Row => {
    const type = error ?? (status !== undefined && status < 300 ? undefined : String(status))
    return {
      path: `${parent} > ${String(about["http.request.method"])} ${String(about["url.template"])}`,
      kind: "client",
      status: type === undefined ? "ok" : "failed",
      attributes: {
        ...about,
        ...(nth > 1 && { "http.request.resend_count": nth - 1 }),
        ...(status !== undefined && { "http.response.status_code": status }),
        ...(type !== undefined && { "error.type": type })
      },
      events: type === undefined ? [] : ["exception exception.type exception.message exception.stacktrace"],
      links: []
    }
  }
  const token = (link: string): Row => ({
    path: "identity.token",
    kind: "internal",
    status: "ok",
    attributes: {},
    events: [],
    links: [link]
  })
  const oauth = at("POST", "/oauth/token/")
  const list = at("GET", "/api/v2/actions/actions/{actionId}/versions")
  const remove = at("DELETE", "/api/v2/event-streams/{id}")
  const redeliver = at("POST", "/api/v2/event-streams/{id}/redeliver/{event_id}")
  const create = at("POST", "/api/v2/jobs/users-exports")
  const under = (name: string) => `program > identity.${name}`
  return [
    request("identity.token", oauth, 1, 503),
    request("identity.token", oauth, 2, 200),
    token(under("listActionVersions")),
    request(under("listActionVersions"), list, 1, 200),
    operation("listActionVersions", list, 1, [], { "http.response.status_code": 200 }),
    request(under("deleteEventStream"), remove, 1, 503),
    request(under("deleteEventStream"), remove, 2, 429),
    request(under("deleteEventStream"), remove, 3, 204),
    operation("deleteEventStream", remove, 3, [wait, backoff, wait, backoff, wait], {
      "http.response.status_code": 204
    }),
    request(under("redeliverEvent"), redeliver, 1, 401),
    request("identity.token", oauth, 1, 200),
    token(under("redeliverEvent")),
    request(under("redeliverEvent"), redeliver, 2, 202),
    operation("redeliverEvent", redeliver, 2, [wait, "identity.replay", wait], { "http.response.status_code": 202 }),
    request(under("createUsersExport"), create, 1, 403),
    operation("createUsersExport", create, 1, [wait], {
      "http.response.status_code": 403,
      "error.type": "Forbidden"
    }, true),
    request(under("createUsersExport"), create, 1, undefined, "UND_ERR_SOCKET"),
    operation("createUsersExport", create, 1, [wait], { "error.type": "TransportError" }, true),
    { path: "program", kind: "internal", status: "ok", attributes: {}, events: [], links: [] }
  ]
}

describe("an export over OTLP", () => {
  it.live("has the tree of calls, attempts and token requests, with exactly the expected attributes", () =>
    Effect.gen(function*() {
      const { otlp, port, run } = yield* exported
      yield* run({})
      const spans = otlp.spans()
      const found = spans.map(row(spans))
      const relevant = (rows: ReadonlyArray<Row>) =>
        // The backoff is random, so the call may or may not have to wait for the limiter afterwards.
        rows.map(({ attributes, events, ...rest }) => ({
          ...rest,
          attributes: Object.fromEntries(Object.entries(attributes).sort()),
          events: events.filter((event) => event !== wait)
        }))
      assert.deepStrictEqual(relevant(found), relevant(expected(port)))
      assert.isTrue(found.some(({ events }) => events.includes(wait)), "no call has waited for the limiter")
    }).pipe(Effect.scoped))

  it.live("has exactly the attributes and events that the guide lists", () =>
    Effect.gen(function*() {
      const { otlp, run } = yield* exported
      yield* run({})
      // Its warnings would be events, too.
      yield* Logger.withMinimumLogLevel(outage(30).run, LogLevel.None).pipe(
        Effect.provide(Layer.merge(otlp.layer, TestContext.TestContext))
      )
      const [attributes, events] = [table("attribute"), table("event")]
      const [seenAttributes, seenEvents] = [new Set<string>(), new Set<string>()]
      for (const span of otlp.spans()) {
        for (const { key } of [...span.attributes, ...span.links.flatMap(({ attributes }) => attributes)]) {
          seenAttributes.add(key)
        }
        for (const event of span.events) {
          seenEvents.add(event.name)
          for (const { key } of event.attributes) seenAttributes.add(key)
        }
      }
      const own = [...seenAttributes].filter((name) => !ofExporter.has(name))
      for (const name of own) assert.isTrue(attributes.has(name), `${name} is not in the guide`)
      for (const name of seenEvents) {
        assert.isTrue(name === "exception" || events.has(name), `${name} is not in the guide`)
      }
      assert.sameMembers(own, [...attributes.keys()], "the guide lists attributes that do not exist")
      assert.sameMembers(
        [...seenEvents].filter((name) => name !== "exception"),
        [...events.keys()]
      )
    }).pipe(Effect.scoped))

  it.live("is propagated to the service only if enabled, and never to the token endpoint", () =>
    Effect.gen(function*() {
      for (const propagateTrace of [false, true]) {
        const { otlp, requests, run } = yield* exported
        yield* run({ propagateTrace })
        const ids = new Map(
          otlp.spans().map(({ kind, name, spanId, traceId }) => [
            `00-${traceId}-${spanId}-01`,
            `${kind} ${name}`
          ])
        )
        for (const { headers, line } of requests) {
          const parent = headers["traceparent"]
          assert.isUndefined(headers["b3"])
          if (!propagateTrace || line.includes("/oauth/")) assert.isUndefined(parent)
          else assert.match(ids.get(parent ?? "") ?? "none", new RegExp(`^3 ${line.split(" ")[0]} `))
        }
      }
    }).pipe(Effect.scoped))
})
