/** Hands an answer to the server: whole, or with the connection cut before or within it. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { Answer } from "./response.js"
import * as Respond from "./response.js"

/** The way a connection ends that is cut while no socket can be reached: in process, or on a server without one. */
export class ConnectionReset extends Data.TaggedError("ConnectionReset")<{ readonly message: string }> {
  readonly code = "ECONNRESET"
}

/**
 * Destroys the socket below the request once what was written has left; fails if there is none. `source` is whatever the
 * platform's server builds on: with Node an `IncomingMessage`, which has a `socket`, so it is asked before it is used.
 */
const cutConnection = (source: unknown): Effect.Effect<void, ConnectionReset> =>
  Effect.suspend(() => {
    const socket = Predicate.hasProperty(source, "socket") ? source.socket : undefined
    if (!Predicate.hasProperty(socket, "destroySoon") || !Predicate.isFunction(socket.destroySoon)) {
      return Effect.fail(new ConnectionReset({ message: "The tenant was told to cut the connection" }))
    }
    socket.destroySoon()
    return Effect.void
  })

/** The response, after its status was noted. A body too short to be cut within is cut before. */
export const reply = (
  answer: Answer,
  cut: "before" | "within" | undefined,
  source: unknown,
  answered: (status: number) => Effect.Effect<void>
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const body = Respond.bytes(answer)
  if (cut === undefined) return Effect.as(answered(answer.status), Respond.toResponse(answer))
  if (cut === "before" || body.length < 2) {
    return Effect.as(Effect.orDie(cutConnection(source)), HttpServerResponse.empty())
  }
  const half = Stream.concat(
    Stream.succeed(body.subarray(0, body.length >> 1)),
    Stream.execute(cutConnection(source))
  )
  const { headers, status } = answer
  return Effect.as(
    answered(status),
    HttpServerResponse.stream(half, { status, headers, contentLength: body.length })
  )
}
