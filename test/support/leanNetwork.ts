/**
 * A network in one process. The library reaches it by a lean transport, as it does undici: many calls in virtual time take a third of the
 * processor time that requests and responses of the platform would cost.
 */
import { Headers, HttpClient, HttpClientResponse } from "@effect/platform"
import { Effect, Layer } from "effect"
import { withLeanTransport } from "../../src/internal/http/exchange.js"
import { interruptInBackground } from "../../src/internal/runtime/fiber.js"
import { makeRunner, onExit } from "../../src/internal/runtime/runner.js"

/** A request, as far as the tests look at it. */
export interface LeanRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface LeanResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** Provides a client that gets these responses, by the clock of the fiber that builds it. */
export const layer = (
  respond: (request: LeanRequest) => Effect.Effect<LeanResponse>
): Layer.Layer<HttpClient.HttpClient> => {
  const client = HttpClient.make((request) =>
    Effect.map(respond(request), ({ body, ...init }) => HttpClientResponse.fromWeb(request, new Response(body, init)))
  )
  const lean = Effect.map(makeRunner(), ({ fork }) =>
    withLeanTransport(client, (request) => (done) => {
      const response = Effect.map(respond(request), ({ body, headers, status }) => ({
        status,
        headers: Headers.fromInput(headers),
        body: body ?? "",
        completeness: "complete" as const,
        redirected: false
      }))
      const fiber = fork(response)
      const forget = onExit(fiber, done)
      return () => {
        forget()
        interruptInBackground(fiber)
        return true
      }
    }))
  return Layer.effect(HttpClient.HttpClient, lean)
}
