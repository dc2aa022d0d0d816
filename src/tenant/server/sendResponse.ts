/** Hands a response to the HTTP server: whole, or with the connection cut before or within the body. */
import * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { PlainResponse } from "./response.js"

/** A cut connection where no socket can be destroyed: in process, or on a server that does not expose its sockets. */
export class ConnectionReset extends Data.TaggedError("ConnectionReset")<{ readonly message: string }> {
  readonly code = "ECONNRESET"
}

/**
 * Destroys the socket of the request after the bytes written so far; fails if there is none. `source` is the platform's own
 * request object: only Node's `IncomingMessage` has a `socket`.
 */
const cutConnection = (source: unknown): Effect.Effect<void, ConnectionReset> =>
  Effect.suspend(() => {
    const socket = Predicate.hasProperty(source, "socket") ? source.socket : undefined
    if (!Predicate.hasProperty(socket, "destroySoon") || !Predicate.isFunction(socket.destroySoon)) {
      return Effect.fail(new ConnectionReset({ message: "An injected fault cut the connection" }))
    }
    socket.destroySoon()
    return Effect.void
  })

/**
 * Keeps Node from adding a `date` of its own in place of one that was removed. Only the request of Node's server has the response that
 * is sent for it.
 */
const withoutOwnDate = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> =>
  Effect.sync(() => {
    const response = Predicate.hasProperty(request, "resolvedResponse") ? request.resolvedResponse : undefined
    if (Predicate.hasProperty(response, "sendDate")) response.sendDate = false
  })

/** The statuses that HTTP allows no body. */
const bodiless = [204, 205, 304]

/** Records the status, or `undefined` if no response is sent, and sends the response. A body of less than two bytes cannot be cut within, so it is cut before. */
export const sendResponse = (
  { body, headers, status }: PlainResponse,
  cut: "before" | "within" | undefined,
  request: HttpServerRequest.HttpServerRequest,
  record: (status: number | undefined) => Effect.Effect<void>
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const content = bodiless.includes(status) ? "" : body
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
  if (cut === "before" || (cut === "within" && bytes.length < 2)) {
    return Effect.as(
      Effect.zipRight(record(undefined), Effect.orDie(cutConnection(request.source))),
      HttpServerResponse.empty()
    )
  }
  const options = { status, headers }
  const firstHalf = Stream.succeed(bytes.subarray(0, bytes.length >> 1))
  // Only these ways of making a response add no content type where there is none.
  const response = bytes.length === 0
    ? HttpServerResponse.empty(options)
    : cut === undefined
    ? HttpServerResponse.raw(bytes, { ...options, contentLength: bytes.length })
    : HttpServerResponse.setBody(
      HttpServerResponse.empty(options),
      HttpBody.stream(
        Stream.concat(firstHalf, Stream.execute(cutConnection(request.source))),
        headers["content-type"] ?? "",
        bytes.length
      )
    )
  const prepared = headers["date"] === undefined ? withoutOwnDate(request) : Effect.void
  return Effect.as(Effect.zipRight(prepared, record(status)), response)
}
