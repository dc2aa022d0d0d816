/** An HTTP client that hands each request straight to the application, without a socket. */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as HttpClients from "../../internal/http/httpClients.js"
import { disconnect } from "../../internal/runtime/runner.js"
import type * as Router from "./router.js"
import { ConnectionReset } from "./sendResponse.js"

const toWebBody = ({ body }: HttpClientRequest.HttpClientRequest): Effect.Effect<BodyInit | null> => {
  if (body._tag === "Stream") return Stream.toReadableStreamEffect(body.stream)
  if (body._tag === "FormData") return Effect.succeed(body.formData)
  // Sound as far as a transport can know: `Raw` holds whatever the caller set, and `Request` checks it.
  return Effect.succeed(body._tag === "Empty" ? null : body.body as BodyInit)
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
      catch: (cause) => HttpClients.makeError(request, cause)
    }))

/** Makes the client. It sends every request to this application, whatever the host. */
export const make = (app: Router.App): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    toWebRequest(request, url).pipe(
      Effect.flatMap((web) =>
        Effect.provideService(app, HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(web)).pipe(
          Effect.interruptible, // the server's side runs in its own fiber, as if a socket were between
          disconnect
        )
      ),
      Effect.map((response) => {
        const withoutBody = request.method === "HEAD"
        return HttpClientResponse.fromWeb(request, HttpServerResponse.toWeb(response, { withoutBody }))
      }),
      Effect.catchSomeDefect((defect) =>
        defect instanceof ConnectionReset
          ? Option.some(Effect.fail(HttpClients.makeError(request, defect)))
          : Option.none()
      )
    )
  )
