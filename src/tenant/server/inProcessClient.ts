/** An HTTP client that hands each request straight to the application, with no socket in between. */
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
import { ConnectionReset } from "./send.js"

const transportError = (request: HttpClientRequest.HttpClientRequest) => (cause: unknown) =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause })

/** The body as a web request takes it. */
const content = (request: HttpClientRequest.HttpClientRequest): Effect.Effect<BodyInit | undefined> => {
  const { body } = request
  switch (body._tag) {
    case "Empty":
      return Effect.succeed(undefined)
    case "FormData":
      return Effect.succeed(body.formData)
    case "Stream":
      return Stream.toReadableStreamEffect(body.stream)
    default:
      // Sound as far as a transport can know: `Raw` holds what the caller took for a body, and `Request` checks it.
      return Effect.succeed(body.body as BodyInit)
  }
}

const toWeb = (request: HttpClientRequest.HttpClientRequest, url: URL) =>
  Effect.flatMap(content(request), (body) =>
    Effect.try({
      try: () => {
        const location = new URL(url)
        location.hash = "" // a fragment never travels
        const init = {
          method: request.method,
          headers: Headers.set(request.headers, "host", url.host),
          body: body ?? null,
          duplex: "half" // asked for by streams, and not yet among TypeScript's options
        }
        return new Request(location, init)
      },
      catch: transportError(request)
    }))

/** Runs the server's side in a fiber of its own, which ends when the caller is interrupted: as if a socket were closed. */
const apart = <A>(serve: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.forkDaemon(Effect.interruptible(serve)),
      (fiber) =>
        restore(Effect.flatten(Fiber.await(fiber))).pipe(
          Effect.onInterrupt(() => Fiber.interruptFork(fiber))
        )
    )
  )

/** The client. Whatever the host of a request, it reaches this application. */
export const make = (app: HttpApp.Default): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    toWeb(request, url).pipe(
      Effect.flatMap((web) =>
        apart(Effect.provideService(app, HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(web)))
      ),
      Effect.map((response) => {
        const withoutBody = request.method === "HEAD"
        return HttpClientResponse.fromWeb(request, HttpServerResponse.toWeb(response, { withoutBody }))
      }),
      Effect.catchAllCause((cause) => {
        const cut = Chunk.findFirst(Cause.defects(cause), (defect) => defect instanceof ConnectionReset)
        return cut._tag === "Some" ? Effect.fail(transportError(request)(cut.value)) : Effect.failCause(cause)
      })
    )
  )
