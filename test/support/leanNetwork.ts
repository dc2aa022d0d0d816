/**
 * A network in one process. It collects responses, as `Node.layerHttpClient` does: many calls in virtual time take a third of the
 * processor time that streams of the platform would cost.
 */
import { Headers, HttpClient, HttpClientResponse } from "@effect/platform"
import { Effect, Layer } from "effect"
import * as Collecting from "../../src/internal/http/collecting.js"
import { taskOf } from "../../src/internal/runtime/timeouts.js"

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

/** Provides a client that gets these responses. */
export const layer = (
  respond: (request: LeanRequest) => Effect.Effect<LeanResponse>
): Layer.Layer<HttpClient.HttpClient> => {
  const client = HttpClient.make((request) =>
    Effect.map(respond(request), ({ body, ...init }) => HttpClientResponse.fromWeb(request, new Response(body, init)))
  )
  const collect: Collecting.Collect = (request) =>
    taskOf(Effect.map(respond(request), ({ body, headers, status }) => ({
      status,
      headers: Headers.fromInput(headers),
      body: body ?? "",
      completeness: "complete",
      redirected: false
    })))
  return Layer.succeed(HttpClient.HttpClient, Collecting.over(client, collect))
}
