/** Sends requests over any `HttpClient` of the platform: no redirect is followed, no span is made, nothing stays in the fiber. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as FiberAccess from "../runtime/fiber.js"
import * as Timeouts from "../runtime/timeouts.js"
import * as HttpClients from "./httpClients.js"
import type { ByteStream } from "./media/eventStream.js"
import * as PlatformErrors from "./platformErrors.js"
import type { BodyLimit, NoResponse, RawRequest, RawResponse } from "./rawExchange.js"
import * as Body from "./responseBody.js"
import { isSuccess } from "./responseDecoder.js"

/** Adds to the user's own options: fetch follows no redirect, and `room` bytes of a body may wait to be read. */
const withStrictOptions = (room: number) => (context: Context.Context<never>): Context.Context<never> => {
  const given = context as Context.Context<FetchHttpClient.RequestInit> // sound: it need not be there
  const init = Context.getOrElse(given, FetchHttpClient.RequestInit, () => ({}))
  return HttpClients.withRoom(Context.add(context, FetchHttpClient.RequestInit, { ...init, redirect: "manual" }), room)
}

const requestOf = ({ body, headers, method, url }: RawRequest): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.make(method as "POST")(url, { headers }) // sound: all methods build alike
  const given = typeof body === "string" ? HttpBody.text(body, headers["content-type"]) : body
  return given._tag === "Empty" ? request : HttpClientRequest.setBody(request, given)
}

/** Checks that `fetch` followed a redirect: only its own response tells, which the platform wraps once or twice. */
const isRedirected = (response: object): boolean => {
  if ("redirected" in response && response.redirected === true) return true
  const inner = "original" in response ? response.original : "source" in response ? response.source : undefined
  return typeof inner === "object" && inner !== null && isRedirected(inner)
}

/** The whole URL of a request: its query and fragment may stand beside `url`. */
const urlOf = (request: HttpClientRequest.HttpClientRequest | undefined): string | undefined =>
  request && Option.getOrUndefined(HttpClientRequest.toUrl(request))?.href

/** Checks that a response is to another URL than the request. A chain of redirects that comes back to it cannot be seen. */
const wasRedirected = (
  response: HttpClientResponse.HttpClientResponse,
  sent: HttpClientRequest.HttpClientRequest | undefined
): boolean => isRedirected(response) || (response.request !== sent && urlOf(response.request) !== urlOf(sent))

/** Sends a request. `prepare` runs last before it leaves: the client may have changed its URL, which is no redirect. */
const execute = (
  client: HttpClient.HttpClient,
  request: RawRequest,
  bodyLimit: BodyLimit,
  prepare: Effect.Effect<void>,
  leavesEvents: boolean
): Effect.Effect<RawResponse, NoResponse> => {
  let sent: HttpClientRequest.HttpClientRequest | undefined
  const prepared = HttpClient.mapRequestEffect(client, (request) => {
    sent = request
    return Effect.as(prepare, request)
  })
  return prepared.execute(requestOf(request)).pipe(
    Effect.mapError(PlatformErrors.noResponse),
    Effect.flatMap((response) => {
      const { headers, status } = response
      const limit = bodyLimit(status)
      const redirected = wasRedirected(response, sent)
      const isEvents = isSuccess(status) && !redirected && /^text\/event-stream\b/i.test(headers["content-type"] ?? "")
      if (leavesEvents && isEvents) {
        const events: ByteStream = response.stream
        return Effect.succeed<RawResponse>({ status, headers, redirected, body: "", completeness: "complete", events })
      }
      // An error response is streamed: if it is interrupted, the part that came may say something.
      const isSinglePiece = isSuccess(status) && Body.isSmallJson(headers, limit)
      const body = isSinglePiece
        ? Body.readSinglePiece(response.arrayBuffer, limit, PlatformErrors.completenessOfResponse)
        : Body.readStream(response.stream, limit, PlatformErrors.completenessOfResponse)
      return Effect.flatMap(body, (read) => Body.decompressed({ status, headers, redirected, ...read }, limit))
    })
  )
}

/**
 * Makes a function that sends a request over the client. At most `maxBodySize` bytes of any body are going to be read. `leavesEvents`: a
 * success that is server-sent events is left unread.
 */
export const over = (client: HttpClient.HttpClient, maxBodySize: number) => {
  // The options are set where the request begins, which lies within everything that was provided to the client itself.
  const setOptions = FiberAccess.updateContext(withStrictOptions(maxBodySize))
  return (
    request: RawRequest,
    bodyLimit: BodyLimit,
    leavesEvents = false
  ): Effect.Effect<Timeouts.CallbackTask<RawResponse, NoResponse>> =>
    Timeouts.taskOf(execute(client, request, bodyLimit, setOptions, leavesEvents)).pipe(
      // The platform's span would hold the whole URL.
      (self) => FiberAccess.withSetting(self, HttpClient.currentTracerDisabledWhen, () => () => true),
      // The runtime would log how the platform's fibers fail, with the URL and the token.
      Effect.withUnhandledErrorLogLevel(Option.none())
    )
}

/** A response whose body is not yet read. `redirected`: the client has followed a redirect by itself. */
export interface OpenResponse {
  readonly status: number
  readonly headers: RawResponse["headers"]
  readonly redirected: boolean
  readonly body: HttpClientResponse.HttpClientResponse["stream"]
}

/** Gets a URL without a token, a span or a trace, and leaves the body to be read. undici buffers up to `room` bytes of it. */
export const open = (
  client: HttpClient.HttpClient,
  url: URL,
  headers: Readonly<Record<string, string>>,
  room: number
): Effect.Effect<OpenResponse, NoResponse> => {
  let sent: HttpClientRequest.HttpClientRequest | undefined
  const prepared = HttpClient.mapRequestEffect(client, (request) => {
    sent = request
    return Effect.as(FiberAccess.updateContext(withStrictOptions(room)), request)
  })
  // As a text: the platform would encode the query of a `URL` anew, and the signature of a link covers its bytes.
  return prepared.execute(HttpClientRequest.get(url.href, { headers })).pipe(
    Effect.mapBoth({
      onFailure: PlatformErrors.noResponse,
      onSuccess: (response) => ({
        status: response.status,
        headers: response.headers,
        redirected: wasRedirected(response, sent),
        body: response.stream
      })
    }),
    (self) => FiberAccess.withSetting(self, HttpClient.currentTracerDisabledWhen, () => () => true),
    Effect.withUnhandledErrorLogLevel(Option.none()),
    Effect.mapInputContext((context: Context.Context<never>) => context) // restores the services afterwards
  )
}
