/** Sends one request over an HTTP client, and reads its response: no redirect is followed, no span is made, nothing stays in the fiber. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { bodyFailed } from "../runtime/failures.js"
import { updateContext, withoutFailureLogs, withSetting } from "../runtime/fiber.js"
import * as Timeouts from "../runtime/timeouts.js"
import * as Collecting from "./collecting.js"
import * as HttpClients from "./httpClients.js"
import { watched } from "./media/requestStream.js"
import * as PlatformErrors from "./platformErrors.js"
import { type BodyLimit, type Exchange, NoResponse, type RawRequest, type RawResponse } from "./rawExchange.js"
import * as Body from "./responseBody.js"
import { isSuccess } from "./responseDecoder.js"

/** Adds to the user's own options: fetch follows no redirect, and `room` bytes of a body may wait to be read. */
const withStrictOptions = (context: Context.Context<never>, room: number): Context.Context<never> => {
  const given = context as Context.Context<FetchHttpClient.RequestInit> // sound: it need not be there
  const init = Context.getOrElse(given, FetchHttpClient.RequestInit, () => ({}))
  return HttpClients.withRoom(Context.add(context, FetchHttpClient.RequestInit, { ...init, redirect: "manual" }), room)
}

const requestOf = (
  { headers, method, url }: RawRequest,
  body: HttpBody.HttpBody
): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.make(method as "POST")(url).pipe( // sound: all methods build alike
    HttpClientRequest.setBody(body),
    HttpClientRequest.setHeaders(headers) // one without a body may have a `content-type` nevertheless
  )

/** Checks that `fetch` followed a redirect: only its own response tells, which the platform wraps once or twice. */
const isRedirected = (response: object): boolean => {
  if ("redirected" in response && response.redirected === true) return true
  const inner = "original" in response ? response.original : "source" in response ? response.source : undefined
  return typeof inner === "object" && inner !== null && isRedirected(inner)
}

/** The whole URL of a request: its query and fragment may stand beside `url`. */
const urlOf = (request: HttpClientRequest.HttpClientRequest | undefined): string | undefined =>
  request && Option.getOrUndefined(HttpClientRequest.toUrl(request))?.href

/** Runs a request over a client, with its options as they are when it leaves. */
const execute = <A, E>(
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  withOptions: (context: Context.Context<never>) => Context.Context<never>,
  read: (response: HttpClientResponse.HttpClientResponse, redirected: boolean) => Effect.Effect<A, E>
): Effect.Effect<A, E | HttpClients.HttpError> => {
  let sent: HttpClientRequest.HttpClientRequest | undefined
  // The options are set where the request begins, which lies within everything that was provided to the client itself.
  const prepared = HttpClient.mapRequestEffect(client, (request) => {
    sent = request // the client may have changed its URL, which is no redirect
    return Effect.as(updateContext(withOptions), request)
  })
  return Effect.flatMap(prepared.execute(request), (response) => {
    // A chain of redirects that comes back to the URL cannot be seen.
    const isOther = response.request !== sent && urlOf(response.request) !== urlOf(sent)
    return read(response, isOther || isRedirected(response))
  })
}

/** Leaves the whole URL and the token out of spans and logs: the platform makes a span, and the runtime logs how its fibers fail. */
const quietly = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  withSetting(withoutFailureLogs(self), HttpClient.currentTracerDisabledWhen, () => () => true)

/** Gives a stream in a request that fails a failure of its own. */
const sendingStreams = (send: Exchange): Exchange => (request, bodyLimit, time) => {
  if (typeof request.body === "string" || request.body._tag !== "Stream") return send(request, bodyLimit, time)
  const { body, end, hasBegun, hasFailed } = watched(request.body)
  return send({ ...request, body }, bodyLimit, time).pipe(
    Effect.catchAllCause((cause) =>
      hasFailed() && !Cause.isInterruptedOnly(cause)
        ? new NoResponse({ outcome: hasBegun() ? "unknown" : "not-sent", code: bodyFailed })
        : Effect.failCause(cause)
    ),
    Effect.ensuring(end)
  )
}

const notEnded = (code: Timeouts.EndReason, hasBegun: boolean) =>
  new NoResponse({ code, outcome: hasBegun ? "unknown" : "not-sent" })

/**
 * Makes an exchange over a client. No body limit may exceed `maxBodySize` bytes. With `leavesEvents`, a success that is server-sent events is
 * left unread: the response has their bytes.
 */
export const make = (client: HttpClient.HttpClient, maxBodySize: number, leavesEvents = false): Exchange => {
  const collect = leavesEvents ? undefined : Collecting.collectOf(client)
  if (collect !== undefined) {
    return sendingStreams((request, bodyLimit, time) =>
      Effect.flatMap(collect(request, bodyLimit), (task) => Timeouts.runWithin(time, task, notEnded))
    )
  }

  const read = (
    response: HttpClientResponse.HttpClientResponse,
    redirected: boolean,
    bodyLimit: BodyLimit
  ): Effect.Effect<RawResponse> => {
    const { headers, status } = response
    const limit = bodyLimit(status)
    const isEvents = isSuccess(status) && !redirected && /^text\/event-stream\b/i.test(headers["content-type"] ?? "")
    if (leavesEvents && isEvents) {
      return Effect.succeed({
        status,
        headers,
        redirected,
        body: "",
        completeness: "complete",
        events: response.stream
      })
    }
    // An error response is streamed: if it is interrupted, the part that came may say something.
    const isSinglePiece = isSuccess(status) && Body.isSmallJson(headers, limit)
    const body = isSinglePiece
      ? Body.readSinglePiece(response.arrayBuffer, limit, PlatformErrors.completenessOfResponse)
      : Body.readStream(response.stream, limit, PlatformErrors.completenessOfResponse)
    return Effect.flatMap(body, (read) => Body.decompressed({ status, headers, redirected, ...read }, limit))
  }

  const withOptions = (context: Context.Context<never>) => withStrictOptions(context, maxBodySize)

  return sendingStreams((request, bodyLimit, time) => {
    let hasBegun = false
    let last: { readonly response: HttpClientResponse.HttpClientResponse; readonly raw: RawResponse } | undefined
    const content = typeof request.body === "string"
      ? HttpBody.text(request.body, request.headers["content-type"])
      : request.body
    const body = leavesEvents ? content : Collecting.ask(content, {
      bodyLimit,
      begun: () => void (hasBegun = true),
      collected: (response, raw) => void (last = { response, raw })
    })
    const sent = execute(
      client,
      requestOf(request, body),
      withOptions,
      (response, redirected) =>
        response === last?.response
          ? Effect.succeed({ ...last.raw, redirected })
          : read(response, redirected, bodyLimit)
    )
    const failed = (error: HttpClients.HttpError) => {
      const { code, outcome } = PlatformErrors.noResponse(error)
      return new NoResponse({ code, outcome: hasBegun ? "unknown" : outcome }) // a wrapper may have sent it before
    }
    return Effect.flatMap(
      quietly(Timeouts.taskOf(Effect.mapError(sent, failed))),
      (task) => Timeouts.runWithin(time, task, notEnded)
    )
  })
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
): Effect.Effect<OpenResponse, NoResponse> =>
  // As a text: the platform would encode the query of a `URL` anew, and the signature of a link covers its bytes.
  execute(
    client,
    HttpClientRequest.get(url.href, { headers }),
    (context) => withStrictOptions(context, room),
    ({ headers, status, stream }, redirected) => Effect.succeed({ status, headers, redirected, body: stream })
  ).pipe(
    quietly,
    Effect.mapError(PlatformErrors.noResponse),
    Effect.mapInputContext((context: Context.Context<never>) => context) // restores the services afterwards
  )
