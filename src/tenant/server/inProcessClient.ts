/** An HTTP client that hands each request straight to the application, without a socket. */
import * as Headers from "@effect/platform/Headers"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { ConnectionReset } from "./sendResponse.js"

const transportError = (request: HttpClientRequest.HttpClientRequest) => (cause: unknown) =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause })

/** Converts the body for a web `Request`. */
const toWebBody = (request: HttpClientRequest.HttpClientRequest): Effect.Effect<BodyInit | null> => {
  const { body } = request
  switch (body._tag) {
    case "Empty":
      return Effect.succeed(null)
    case "FormData":
      return Effect.succeed(body.formData)
    case "Stream":
      return Stream.toReadableStreamEffect(body.stream)
    default:
      // Sound as far as a transport can know: `Raw` holds whatever the caller set, and `Request` checks it.
      return Effect.succeed(body.body as BodyInit)
  }
}

const toWebRequest = (request: HttpClientRequest.HttpClientRequest, url: URL) =>
  Effect.flatMap(toWebBody(request), (body) =>
    Effect.try({
      try: () => {
        const target = new URL(url)
        target.hash = "" // fragments are never sent
        const init = {
          method: request.method,
          headers: Headers.set(request.headers, "host", url.host),
          body,
          duplex: "half" // required for streams, and missing in TypeScript's `RequestInit`
        }
        return new Request(target, init)
      },
      catch: transportError(request)
    }))

/** Runs the server's side in its own fiber, and interrupts it with the caller, as if the client had closed its socket. */
const runDetached = <A>(serve: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.forkDaemon(Effect.interruptible(serve)),
      (fiber) => restore(Effect.flatten(Fiber.await(fiber))).pipe(Effect.onInterrupt(() => Fiber.interruptFork(fiber)))
    )
  )

/** Makes the client. It sends every request to this application, whatever the host. */
export const make = (app: HttpApp.Default): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    toWebRequest(request, url).pipe(
      Effect.flatMap((web) =>
        runDetached(Effect.provideService(app, HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(web)))
      ),
      Effect.map((response) => {
        const withoutBody = request.method === "HEAD"
        return HttpClientResponse.fromWeb(request, HttpServerResponse.toWeb(response, { withoutBody }))
      }),
      Effect.catchAllCause((cause) => {
        const reset = Chunk.findFirst(Cause.defects(cause), (defect) => defect instanceof ConnectionReset)
        return reset._tag === "Some" ? Effect.fail(transportError(request)(reset.value)) : Effect.failCause(cause)
      })
    )
  )
