/** A real client over a scripted or a real network, with a token that no output may show. */
import { HttpClient, type HttpClientRequest } from "@effect/platform"
import { Effect, Layer, Redacted } from "effect"
import { IdentityClient, RateLimiter, Retry, TokenProvider } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import type { Subject } from "./operations.js"

export const baseUrl = "https://tenant.example.com/api/v2"

/** Shaped as the service's own: a JSON Web Token. */
export const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjbGllbnRAY2xpZW50cyJ9.c2lnbmF0dXJlLW9mLWEtdGVzdA"

export const bearer = TokenProvider.layerBearer(Redacted.make(token))

/** The client of a tenant over this network, which stays visible. */
export const over = <Out, E, R>(network: Layer.Layer<HttpClient.HttpClient | Out, E, R>, url = baseUrl) =>
  IdentityClient.layer({ baseUrl: url }).pipe(
    Layer.provide([RateLimiter.layerUnlimited, bearer]),
    Layer.provideMerge(network)
  )

/** The client over these replies, in their order. */
export const scripted = (...replies: ReadonlyArray<Testing.Reply>) => over(Testing.layerHttp(...replies))

/** Calls once, whatever comes back. */
export const call = (operation: Subject, input: unknown) => Retry.withoutRetries(operation(input as never))

/** What one call gives for a reply. */
export const answered = (operation: Subject, input: unknown, reply: Testing.Reply) =>
  Effect.provide(call(operation, input), scripted(reply))

/** What one call fails with for a reply; a success is a defect. */
export const failed = (operation: Subject, input: unknown, reply: Testing.Reply) =>
  Effect.orDieWith(Effect.flip(answered(operation, input, reply)), (value) => new Error(`a success: ${String(value)}`))

/** The requests that a call makes, whatever becomes of it. */
export const sent = (operation: Subject, input: unknown) =>
  Effect.zipRight(Effect.exit(call(operation, input)), Testing.requests).pipe(
    Effect.provide(scripted(Testing.reply({})))
  )

/** The one request that a call makes. */
export const sentOne = (operation: Subject, input: unknown) =>
  Effect.flatMap(
    sent(operation, input),
    ([request, ...more]) =>
      request === undefined || more.length > 0
        ? Effect.dieMessage(`${more.length} more requests`)
        : Effect.succeed(request)
  )

/** The text of a request's body; none if it has no body. */
export const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): string | undefined =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : undefined

/** A network that gives no answer, ever. */
export const silent: Layer.Layer<HttpClient.HttpClient> = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make(() => Effect.never)
)
