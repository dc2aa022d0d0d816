/** The fault matrix: everything that goes wrong between a client and its tenant, and the result that a caller gets. */
import { Schema } from "effect"
import { gzipSync } from "node:zlib"
import type * as Endpoint from "../../src/Endpoint.js"
import type { UnexpectedResponse } from "../../src/Errors.js"
import type { Exchange, Fault } from "./faultServer.js"
import { responseBytes } from "./rawServer.js"

/** The maximum number of attempts of a call. */
export const attempts = 3

/** The time-out of an attempt where the server stalls, in milliseconds. */
export const limit = 80

/** The `maxBodySize` of the client, in bytes. */
export const maxBodySize = 100_000

/** The result of a call. */
export type Outcome =
  | { readonly tag: "success" }
  | { readonly tag: "TransportError"; readonly outcome: "not-sent" | "unknown" | "done"; readonly code?: string }
  | { readonly tag: "UnexpectedResponse"; readonly status: number; readonly reason: UnexpectedResponse["reason"] }
  | { readonly tag: "declared"; readonly status: number }

/** One row of the matrix. */
export interface Row {
  readonly name: string
  /** The fault of each request, from 1 on; or no server, or a server that reads nothing. */
  readonly fault: ((nth: number) => Fault) | "nobody" | "resetting"
  /** The result of the call. */
  readonly gives: Outcome | ((endpoint: Endpoint.Any) => Outcome)
  /** The calls that are retried: all, only idempotent ones, or none. */
  readonly again: "always" | "safe" | "safe, decoded" | "no"
  /** The number of requests that reach the server if the call is retried (default: all attempts). */
  readonly requests?: number
  /** True if a good call precedes it on the same connection. */
  readonly warm?: boolean
  /** True if the time-out ends it. */
  readonly stalls?: boolean
}

/** Applies a row to an operation. */
export const expected = ({ again, fault, gives, requests }: Row, endpoint: Endpoint.Any) => {
  const isRepeated = again === "always" ||
    (again !== "no" && endpoint.idempotent && (again === "safe" || endpoint.success !== undefined))
  return {
    outcome: typeof gives === "function" ? gives(endpoint) : gives,
    requests: typeof fault === "string" ? 0 : isRepeated ? requests ?? attempts : 1
  }
}

/** Canaries in responses, which no output may show: in headers, bodies, names of fields and redirects. */
export const planted = {
  header: "kq7zv3.header.4811",
  body: "kq7zv3.body.4822",
  field: "jane.4833@kq7zv3.example"
}

const json = { "content-type": "application/json", "x-account": planted.header }
const page = `<!doctype html><html><head><title>Bad gateway</title></head><body>${planted.body}</body></html>`
const failure = (status: number) =>
  JSON.stringify({
    statusCode: status,
    error: "Error",
    message: "No.",
    [planted.field]: planted.body,
    attributes: { [planted.field]: planted.body }
  })

/** The bytes of a good response. */
const whole = ({ json: body }: Exchange): Buffer => responseBytes(200, json, body)

const good: Fault = (exchange) => void exchange.socket.write(whole(exchange))

/** Responds with these bytes. */
const bytes = (make: (exchange: Exchange) => Uint8Array | string): Fault => (exchange) =>
  void exchange.socket.write(make(exchange))

/** Responds with this status, these headers and this body. */
const reply = (
  status: number,
  headers: Readonly<Record<string, string>> = json,
  body: string | Uint8Array | ((exchange: Exchange) => string | Uint8Array) = failure(status)
) => bytes((exchange) => responseBytes(status, headers, typeof body === "function" ? body(exchange) : body))

/** Writes these bytes, and then ends the connection in this way. */
const part = (make: (exchange: Exchange) => Uint8Array, end: "reset" | "close" | "stall"): Fault => (exchange) => {
  exchange.socket.write(make(exchange), () => {
    // A reset discards bytes that the client has not read yet.
    if (end === "reset") setTimeout(() => exchange.socket.resetAndDestroy(), 10)
    if (end === "close") exchange.socket.end()
    if (end === "stall") setTimeout(exchange.stalled, 10)
  })
}

/** The part of a good response before the end of its status line, headers or body. */
const head = (until: "status line" | "headers" | "head" | "body") => (exchange: Exchange): Uint8Array => {
  const response = whole(exchange)
  const body = response.indexOf("\r\n\r\n") + 4
  const end = { "status line": 10, headers: body - 10, head: body, body: (body + response.length) >> 1 }[until]
  return response.subarray(0, end)
}

/** Writes one byte at a time. */
const trickle: Fault = (exchange) => {
  const response = whole(exchange)
  let at = 0
  const timer = setInterval(() => {
    if (at === response.length - 1 || exchange.socket.destroyed) clearInterval(timer)
    else exchange.socket.write(response.subarray(at, ++at))
    if (at === 5) exchange.stalled()
  }, 10)
}

const always = (fault: Fault) => () => fault
const once = (fault: Fault) => (nth: number) => nth === 1 ? fault : good
/** The fault comes second, after a good response. */
const second = (fault: Fault) => (nth: number) => nth === 1 ? good : fault

const success: Outcome = { tag: "success" }
const unknown: Outcome = { tag: "TransportError", outcome: "unknown" }
const timedOut: Outcome = { tag: "TransportError", outcome: "unknown", code: "TIMEOUT" }
const unexpected = (status: number, reason: UnexpectedResponse["reason"]): Outcome => (
  { tag: "UnexpectedResponse", status, reason }
)
const status = (status: number): Outcome => ({ tag: "declared", status })
/** This result for operations with a schema, and success for others, whose responses are not decoded. */
const decoded = (outcome: Outcome) => ({ method, success: schema }: Endpoint.Any): Outcome =>
  schema === undefined
    ? success
    : outcome === unknown && method !== "GET"
    ? { tag: "TransportError", outcome: "done" } // the status said so
    : outcome

/** Ends the connection at this point of the response. */
const broken = (name: string, fault: Fault, warm = false): Row => ({
  name,
  fault: warm ? second(fault) : always(fault),
  gives: unknown,
  again: "safe",
  warm
})

const stalled = (name: string, fault: Fault): Row => ({
  name,
  fault: second(fault),
  gives: timedOut,
  again: "safe",
  warm: true,
  stalls: true
})

const failing = (name: string, code: number, fault: Fault, again: Row["again"] = "no"): Row => (
  { name, fault: always(fault), gives: status(code), again }
)

const garbled = (name: string, reason: UnexpectedResponse["reason"], fault: Fault): Row => (
  { name, fault: always(fault), gives: decoded(unexpected(200, reason)), again: "no" }
)

const fine = (name: string, fault: Fault): Row => ({ name, fault: always(fault), gives: success, again: "no" })

const redirect = (name: string, code: number, to: (exchange: Exchange) => string): Row => ({
  name,
  fault: always(bytes((exchange) => responseBytes(code, { location: `${to(exchange)}?${planted.body}` }))),
  gives: unexpected(code, "redirect"),
  again: "no"
})

const gzip = { ...json, "content-encoding": "gzip" }
const quota = { "x-ratelimit-limit": "2", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" }
const chunked = { ...json, "transfer-encoding": "chunked" }
const chunk = (body: string) => `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`

const corrupted = (body: string): Uint8Array => {
  const zipped = gzipSync(body)
  zipped.fill(0xff, 10, zipped.length - 4)
  return zipped
}

/** The matrix. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "refused connection",
    fault: "nobody",
    gives: { tag: "TransportError", outcome: "not-sent", code: "ECONNREFUSED" },
    again: "always"
  },
  { name: "reset before the request is read", fault: "resetting", gives: unknown, again: "safe" },
  broken("reset before the response", ({ socket }) => void socket.resetAndDestroy()),
  broken("close before the response", ({ socket }) => void socket.end()),
  broken("reset within the status line", part(head("status line"), "reset")),
  broken("reset within the headers", part(head("headers"), "reset")),
  broken("close within the headers", part(head("headers"), "close")),
  {
    ...broken("reset after the headers", part(head("head"), "reset")),
    gives: decoded(unknown),
    again: "safe, decoded"
  },
  { ...broken("reset within the body", part(head("body"), "reset")), gives: decoded(unknown), again: "safe, decoded" },
  {
    ...broken("close within the body (Content-Length too long)", part(head("body"), "close")),
    gives: decoded(unknown),
    again: "safe, decoded"
  },
  fine("reset after the body", part(whole, "reset")),
  broken("kept-alive connection closed on the next request", ({ socket }) => void socket.end(), true),
  broken("kept-alive connection reset on the next request", ({ socket }) => void socket.resetAndDestroy(), true),

  stalled("stall before the response", ({ stalled }) => stalled()),
  stalled("stall within the headers", part(head("headers"), "stall")),
  stalled("stall after the headers", part(head("head"), "stall")),
  stalled("stall within the body", part(head("body"), "stall")),
  stalled("trickle", trickle),

  garbled("JSON cut off", "json", reply(200, json, ({ json }) => json.slice(0, json.length >> 1))),
  garbled(
    "JSON cut off by a Content-Length too short",
    "json",
    bytes(({ json: body }) =>
      responseBytes(200, { ...json, "content-length": String(body.length >> 1), connection: "close" }, body)
    )
  ),
  garbled(
    "JSON cut off where the end of the connection ends the body",
    "json",
    ({ json: body, socket }) =>
      void socket.end(responseBytes(200, { ...json, connection: "close" }, body.slice(0, body.length >> 1)))
  ),
  garbled("invalid JSON", "json", reply(200, json, `{nope ${planted.body}}`)),
  garbled("JSON of another shape", "schema", reply(200, json, JSON.stringify([planted.body]))),
  {
    name: "text 200",
    fault: always(reply(200, { "content-type": "text/plain" }, planted.body)),
    gives: ({ success: schema }) =>
      schema === undefined || Schema.is(schema)(undefined) ? success : unexpected(200, "json"),
    again: "no"
  },
  garbled(
    "Latin-1 200",
    "encoding",
    reply(
      200,
      { "content-type": "application/json; charset=iso-8859-1" },
      Buffer.from(`{"${planted.field}":"${planted.body} é"}`, "latin1")
    )
  ),
  garbled(
    "UTF-16 200",
    "encoding",
    reply(
      200,
      { "content-type": "application/json; charset=utf-16" },
      Buffer.from(`\uFEFF{"${planted.field}":"${planted.body} é"}`, "utf16le")
    )
  ),
  garbled("broken gzip", "encoding", reply(200, gzip, ({ json }) => corrupted(json))),
  {
    name: "empty 200",
    fault: always(reply(200, json, "")),
    gives: ({ success: schema }) =>
      schema === undefined || Schema.is(schema)(undefined) ? success : unexpected(200, "schema"),
    again: "no"
  },
  garbled("body above the limit", "size", reply(200, json, JSON.stringify(planted.body + "x".repeat(maxBodySize)))),
  garbled(
    "gzip above the limit once unzipped",
    "size",
    reply(200, gzip, gzipSync(JSON.stringify(planted.body + "x".repeat(maxBodySize))))
  ),
  {
    name: "web page 200",
    fault: always(reply(200, { "content-type": "text/html" }, page)),
    gives: unexpected(200, "html"),
    again: "no"
  },
  {
    name: "web page 200 labelled JSON",
    fault: always(reply(200, json, page)),
    gives: unexpected(200, "html"),
    again: "no"
  },
  fine("gzip", reply(200, gzip, ({ json }) => gzipSync(json))),
  fine("chunks", reply(200, chunked, ({ json }) => `${[...json].map(chunk).join("")}0\r\n\r\n`)),
  fine("no content type", reply(200, {}, ({ json }) => json)),
  fine(
    "an early hint (103) before the response",
    bytes((exchange) => Buffer.concat([Buffer.from("HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n"), whole(exchange)]))
  ),

  redirect("redirect to the same origin (302)", 302, ({ path }) => `${path}/moved`),
  redirect("redirect to another origin (301)", 301, ({ elsewhere }) => `${elsewhere}/moved`),
  redirect("redirect to another origin (307)", 307, ({ elsewhere }) => `${elsewhere}/moved`),
  redirect("redirect to another origin (308)", 308, ({ elsewhere }) => `${elsewhere}/moved`),
  redirect("redirect to https (303)", 303, ({ elsewhere }) => elsewhere.replace("http:", "https:")),

  failing("400 without a body", 400, reply(400, json, "")),
  failing("400 with a web page", 400, reply(400, { "content-type": "text/html" }, page)),
  failing("403 with JSON cut off", 403, reply(403, json, failure(403).slice(0, 20))),
  failing(
    "404 with a body that breaks off",
    404,
    part(() => responseBytes(404, { ...json, "content-length": "500" }, failure(404)), "reset")
  ),
  failing("409 with broken gzip", 409, reply(409, gzip, corrupted(failure(409)))),
  failing(
    "418 in Latin-1",
    418,
    reply(418, { "content-type": "text/plain; charset=iso-8859-1" }, Buffer.from(`${planted.body} théière`, "latin1"))
  ),
  failing("400 with a body above the limit", 400, reply(400, json, failure(400).padEnd(2 * maxBodySize))),

  { name: "401 once", fault: once(reply(401)), gives: success, again: "always", requests: 2 },
  { name: "401 with every token", fault: always(reply(401)), gives: status(401), again: "always", requests: 2 },
  { name: "429 once", fault: once(reply(429, { ...json, ...quota })), gives: success, again: "always", requests: 2 },
  failing("429 with X-RateLimit headers", 429, reply(429, { ...json, ...quota }), "always"),
  failing("429 without headers", 429, reply(429, {}, ""), "always"),
  failing("429 with a Retry-After beyond the time left", 429, reply(429, { ...json, "retry-after": "3600" })),
  failing("408", 408, reply(408), "safe"),
  failing("500", 500, reply(500), "safe"),
  failing(
    "500 with a body that breaks off",
    500,
    part(() => responseBytes(500, { ...json, "content-length": "500" }, failure(500)), "reset"),
    "safe"
  ),
  failing("502 with a web page", 502, reply(502, { "content-type": "text/html" }, page), "safe"),
  {
    name: "503 once, with Retry-After",
    fault: once(reply(503, { ...json, "retry-after": "0" })),
    gives: ({ idempotent }) => idempotent ? success : status(503),
    again: "safe",
    requests: 2
  },
  failing("503 with a Retry-After beyond the time left", 503, reply(503, { ...json, "retry-after": "3600" })),
  failing("504", 504, reply(504, {}, ""), "safe"),

  broken("garbage instead of a status line", bytes(() => `SSH-2.0-${planted.body}\r\n\r\n`)),
  broken("headers of 1 MB", reply(200, { ...json, "x-long": "x".repeat(1_000_000) })),
  broken("header without a colon", bytes(() => `HTTP/1.1 200 OK\r\n${planted.header}\r\n\r\n`)),
  broken("100 that nobody asked for", bytes(() => "HTTP/1.1 100 Continue\r\n\r\n")),
  broken("two lengths that differ", bytes(() => "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}")),
  broken("length that is no number", bytes(() => "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n{}")),
  {
    ...broken("malformed chunk", reply(200, chunked, ({ json }) => `${chunk(json)}${planted.body}\r\n`)),
    gives: decoded(unknown),
    again: "safe, decoded"
  },
  {
    ...broken(
      "chunks that break off",
      part(() => responseBytes(200, chunked, chunk(`{"${planted.field}":`)), "close")
    ),
    gives: decoded(unknown),
    again: "safe, decoded"
  }
]

/** The fault of a row, unless it has no server that responds. */
export const faultOf = ({ fault, warm }: Row): Fault | undefined =>
  typeof fault === "string" ? undefined : fault(warm === true ? 2 : 1)

/** Tells if the service reported that it did not carry the call out. */
export const isTurnedAway = ({ name }: Row): boolean => /^(401|429)/.test(name)
