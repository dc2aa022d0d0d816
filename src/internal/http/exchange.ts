/** One exchange with a server: the request goes out once, its answer is read to the end, and nothing of the platform's leaks. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as Headers from "@effect/platform/Headers"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpMethod from "@effect/platform/HttpMethod"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { globalValue } from "effect/GlobalValue"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as CallbackTask from "../runtime/callbackTask.js"
import * as Fiber from "../runtime/fiber.js"
import * as Timeouts from "../runtime/timeouts.js"

/** An answer, read. */
export interface RawResponse {
  readonly status: number
  readonly headers: Headers.Headers
  /** At most as much of the body as was asked for: a whole one that is all ASCII may be its text, where that is faster. */
  readonly body: Uint8Array | string
  /** How it ended: `whole`; the connection is `broken`; it was `cut` because it is larger than asked for; its gzip is `garbled`. */
  readonly completeness: "complete" | "interrupted" | "truncated" | "corrupt"
  /** Whether it comes from elsewhere than it was asked of. */
  readonly redirected: boolean
}

/** A request as it is sent. A `HttpClientRequest` without URL parameters is one. */
export interface RawRequest {
  readonly method: HttpMethod.HttpMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: HttpBody.HttpBody
}

/** No answer came. */
export class NoResponse extends Data.TaggedError("NoAnswer")<{
  readonly outcome: "not-sent" | "unknown"
  readonly code: string | undefined
}> {}

/** How much of a body is read: 64 MiB of one that is decoded, 64 KiB of one that is not. */
export const bodyLimits = { decoded: 64 * 1024 * 1024, drained: 64 * 1024 }

/** No larger body is read at once: of one that comes in many pieces, platforms copy with each all that has come before. */
const atOnce = 1024 * 1024

/** System calls that precede the first byte of a request, and codes that nothing but these and the TLS handshake gives. */
const beforeSending = {
  syscalls: new Set(["connect", "getaddrinfo"]),
  codes: new RegExp(`^(${
    [
      "ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_(?:CONNECT_TIMEOUT|INVALID_ARG|NOT_SUPPORTED)|ERR_INVALID_URL",
      "CERT_\\w+|UNABLE_TO_\\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|HOSTNAME_MISMATCH",
      "ERR_TLS_CERT_\\w+|ERR_TLS_HANDSHAKE_TIMEOUT|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_UNSUPPORTED_PROTOCOL",
      "ERR_SSL_NO_PROTOCOLS_AVAILABLE|ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION|ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE"
    ].join("|")
  })$`),
  /** Node has no code of its own for a connection that ends within the handshake, Deno none for any that cannot be made. */
  words: /before secure TLS connection was established|client error \(Connect\)/
}

/** The chain of causes of a failure, the outermost first; platforms wrap the system's errors, one for each address tried. */
const causes = (error: unknown, depth = 0): ReadonlyArray<object> => {
  if (!Predicate.isObject(error) || depth >= 8) return []
  const inner = "cause" in error ?
    error.cause
    : "errors" in error && Array.isArray(error.errors) ?
    error.errors[0] as unknown
    : undefined
  return [error, ...causes(inner, depth + 1)]
}

const message = (error: object): string => "message" in error ? String(error.message) : ""

const text = (error: object, name: "code" | "syscall"): string | undefined => {
  const value = name in error ? (error as Record<string, unknown>)[name] : undefined // sound: it is in there
  return typeof value === "string" && /^\w{1,64}$/.test(value) ? value : undefined
}

const innermost = (chain: ReadonlyArray<object>): string | undefined =>
  chain.map((error) => text(error, "code")).findLast(Predicate.isNotUndefined)

/** The innermost code of a failure: what the system says, not what was made of it. */
export const codeOf = (error: unknown): string | undefined => innermost(causes(error))

/** Whether it is certain that no byte of the request has left. */
const isBeforeSending = (error: HttpClientError.HttpClientError, chain: ReadonlyArray<object>): boolean =>
  error._tag === "RequestError" && (
    error.reason !== "Transport" ||
    chain.some((error) =>
      beforeSending.syscalls.has(text(error, "syscall") ?? "") ||
      beforeSending.words.test(message(error))
    ) ||
    beforeSending.codes.test(innermost(chain) ?? "")
  )

// What the platform's own error says holds the URL, in which any word may be: only its causes are asked, here and below.
const noResponse = (error: HttpClientError.HttpClientError): NoResponse => {
  const chain = causes(error.cause)
  return new NoResponse({ outcome: isBeforeSending(error, chain) ? "not-sent" : "unknown", code: innermost(chain) })
}

/**
 * How a body ended that could not be read to its end. `fetch` unzips by itself, and says if it cannot: in a code of zlib's,
 * or, where there are no codes, in words. undici may have a size limit of its own.
 */
export const completenessOf = (error: unknown): RawResponse["completeness"] => {
  const chain = causes(error)
  const code = innermost(chain) ?? ""
  if (/^Z_|^ZlibError$/.test(code) || chain.some((error) => /decompress/i.test(message(error)))) return "corrupt"
  return code === "UND_ERR_RES_EXCEEDED_MAX_SIZE" ? "truncated" : "interrupted"
}

const endOf = ({ cause, reason }: HttpClientError.ResponseError): RawResponse["completeness"] =>
  reason === "EmptyBody" ? "complete" : completenessOf(cause)

/** Reads at most `limit` bytes. To stop reading early closes the connection. */
const read = (
  stream: Stream.Stream<Uint8Array, HttpClientError.ResponseError>,
  limit: number
): Effect.Effect<Pick<RawResponse, "body" | "completeness">> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const result = (completeness: RawResponse["completeness"]) => ({
      body: concat(chunks, Math.min(size, limit)),
      completeness
    })
    return Stream.runForEachWhile(stream, (chunk) =>
      Effect.sync(() => {
        chunks.push(chunk)
        size += chunk.length
        return size <= limit
      })).pipe(Effect.match({
        onSuccess: () => result(size <= limit ? "complete" : "truncated"),
        onFailure: (error) => result(endOf(error))
      }))
  })

/**
 * Whether a body is small, by the length that is told, and what there is to read. Of a page instead of JSON that breaks off
 * the beginning is wanted.
 */
const isSmall = (headers: Headers.Headers, limit: number): boolean =>
  /^\d{1,15}$/.test(headers["content-length"] ?? "") && Number(headers["content-length"]) <= Math.min(limit, atOnce) &&
  headers["content-type"]?.includes("json") === true &&
  headers["content-encoding"] === undefined && headers["transfer-encoding"] === undefined

/** Reads all at once, which for a small body costs far less than a stream. Of one that breaks off nothing is left. */
const readWhole = (
  body: Effect.Effect<ArrayBuffer, HttpClientError.ResponseError>,
  limit: number
): Effect.Effect<Pick<RawResponse, "body" | "completeness">> =>
  Effect.match(body, {
    onSuccess: (buffer): Pick<RawResponse, "body" | "completeness"> => ({
      body: new Uint8Array(buffer).subarray(0, limit),
      completeness: buffer.byteLength <= limit ? "complete" : "truncated"
    }),
    onFailure: (error) => ({
      body: new Uint8Array(),
      completeness: endOf(error)
    })
  })

/** The first `size` bytes of these pieces in one, which may be the only piece, or lie in `whole` if that is given. */
export const concat = (
  chunks: ReadonlyArray<Uint8Array>,
  size: number,
  whole: Uint8Array = new Uint8Array(size)
): Uint8Array => {
  const [first] = chunks
  if (first?.length === size) return first
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk.subarray(0, size - at), at)
    at += Math.min(chunk.length, size - at)
  }
  return whole.subarray(0, size)
}

/** Gunzips at most `limit` bytes. */
const gunzip = (bytes: Uint8Array, limit: number): Effect.Effect<Pick<RawResponse, "body" | "completeness">> => {
  const compressed = new Blob([bytes as Uint8Array<ArrayBuffer>]) // sound: `concat` made it, on a plain buffer
  return read(
    Stream.fromReadableStream(
      () => compressed.stream().pipeThrough(new DecompressionStream("gzip")),
      () => ({ reason: "Decode" }) as HttpClientError.ResponseError // sound: `read` looks at nothing else
    ),
    limit
  ).pipe(Effect.map((read) => read.completeness === "interrupted" ? { ...read, completeness: "corrupt" } : read))
}

/** Whether the bytes are gzip. JSON never begins so; the header alone would not tell, `fetch` keeps it when it has unzipped. */
const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/** Whether `fetch` followed a redirect: only its own response tells, which the platform wraps once or twice. */
const isRedirected = (response: object): boolean => {
  if ("redirected" in response && response.redirected === true) return true
  const inner = "original" in response ? response.original : "source" in response ? response.source : undefined
  return Predicate.isObject(inner) && isRedirected(inner)
}

/** What is read of a body may be gzip, of a server that was not asked for it; at most `limit` bytes come of it. */
export const unzipped = (received: RawResponse, limit: number): Effect.Effect<RawResponse> =>
  received.completeness === "complete" && !Predicate.isString(received.body) && isGzip(received.body)
    ? Effect.map(gunzip(received.body, limit), (read) => ({ ...received, ...read }))
    : Effect.succeed(received)

/** A time limit, in milliseconds, for what is run where nobody can interrupt but within `restore`. */
export interface TimeLimit {
  readonly timeouts: Timeouts.Timeouts
  readonly millis: number
  readonly restore: Fiber.Restore
}

/** One exchange of a transport of ours: it needs no fiber and no objects of the platform's, follows no redirect and makes no span. */
export type LeanTransport = (
  message: RawRequest,
  limit: (status: number) => number
) => CallbackTask.CallbackTask<RawResponse, NoResponse>

/** Sends a request once, in its time if it has a limit. */
type Send = (
  message: RawRequest,
  limit: (status: number) => number,
  time?: TimeLimit
) => Effect.Effect<RawResponse, NoResponse>

/** What the transports of ours can do besides being a client of the platform's. What is put around such a client hides it. */
const leanTransports = globalValue(
  "effect-identity-client/internal/http/directs",
  () => new WeakMap<HttpClient.HttpClient, Send>()
)

/** Makes a client known as one that has a direct way. */
export const withLeanTransport = (client: HttpClient.HttpClient, direct: LeanTransport): HttpClient.HttpClient => {
  leanTransports.set(client, (message, limit, time) => {
    const task = direct(message, limit)
    return time === undefined
      ? CallbackTask.run(task)
      : Timeouts.bound(time.timeouts, task, time.millis, time.restore, ended)
  })
  return client
}

interface UndiciOptions {
  readonly highWaterMark?: number
}

/** Where `NodeHttpClient` finds options of undici's for a request: by its name, as the core has no use for Node. */
const UndiciOptions = Context.GenericTag<UndiciOptions>("@effect/platform-node/NodeHttpClient/undiciOptions")

/**
 * The context of a request with options of ours added to those of the user's own: a redirect is not followed, and undici does
 * not pause while less waits to be read than is going to be read. If a connection ends while undici 7 pauses, it throws
 * where nobody can catch it, and the process ends (nodejs/undici#5360).
 */
const withOptions = (limit: number) => {
  const room = (Math.min(Math.floor(limit), Number.MAX_SAFE_INTEGER - 1) || 0) + 1 // it pauses when that much is there
  return (context: Context.Context<never>): Context.Context<never> => {
    const given = context as Context.Context<FetchHttpClient.RequestInit | object> // sound: they need not be there
    const init = Context.getOrElse(given, FetchHttpClient.RequestInit, () => ({}))
    const { highWaterMark = 0, ...undici } = Context.getOrElse(given, UndiciOptions, (): UndiciOptions => ({}))
    return context.pipe(
      Context.add(FetchHttpClient.RequestInit, { ...init, redirect: "manual" }),
      Context.add(UndiciOptions, { ...undici, highWaterMark: Math.max(highWaterMark, room) })
    )
  }
}

/**
 * The client, for bodies of which at most `limit` bytes are read. Its options are set where a request begins, which lies within
 * all that was provided to the client itself, and stay in the fiber's context.
 */
export const strict = (client: HttpClient.HttpClient, limit: number): HttpClient.HttpClient => {
  if (leanTransports.has(client)) return client
  const prepare = Fiber.updateContext(withOptions(limit))
  return HttpClient.mapRequestEffect(client, (request) => Effect.as(prepare, request))
}

const requestOf = ({ body, headers, method, url }: RawRequest): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.make(method as "POST")(url, { headers }) // sound: all methods build alike
  return body._tag === "Empty" ? request : HttpClientRequest.setBody(request, body)
}

/** Sends a request once, by whatever way the platform has. */
const execute = (
  client: HttpClient.HttpClient,
  message: RawRequest,
  limit: (status: number) => number
): Effect.Effect<RawResponse, NoResponse> =>
  client.execute(requestOf(message)).pipe(
    Effect.mapError(noResponse),
    Effect.flatMap((response) => {
      const { headers, status } = response
      const most = limit(status)
      // Of a failure that breaks off, what has come may tell something.
      const isAtOnce = status >= 200 && status < 300 && isSmall(headers, most)
      const body = isAtOnce ? readWhole(response.arrayBuffer, most) : read(response.stream, most)
      const redirected = isRedirected(response) || response.request.url !== message.url
      return Effect.flatMap(body, (read) => unzipped({ status, headers, redirected, ...read }, most))
    })
  )

/** The platform's span would hold the whole URL. */
const makesNoSpan = () => true

/** Runs a request in a fiber of its own. */
const inOwnFiber = <A, E>(executed: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.zipRight(Fiber.setForFiber(HttpClient.currentTracerDisabledWhen, makesNoSpan), executed)

/** Runs a request in its caller's fiber, in which nothing of it stays. */
const inCallersFiber = <A, E>(executed: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  executed.pipe(
    (self) => Fiber.withSetting(self, HttpClient.currentTracerDisabledWhen, () => makesNoSpan),
    Effect.mapInputContext((context: Context.Context<never>) => context)
  )

/** Sends a request once, in its time if it has a limit. How much of the body is read may depend on the status. */
export const exchange = (
  client: HttpClient.HttpClient,
  message: RawRequest,
  limit: (status: number) => number,
  time?: TimeLimit
): Effect.Effect<RawResponse, NoResponse> => {
  const direct = leanTransports.get(client)
  if (direct !== undefined) return direct(message, limit, time)
  const executed = execute(client, message, limit)
  return time === undefined
    ? inCallersFiber(executed)
    : time.restore(time.timeouts.within(inOwnFiber(executed), time.millis, ended))
}

const ended = (code: string, hasBegun: boolean) => new NoResponse({ outcome: hasBegun ? "unknown" : "not-sent", code })
