/** Makes real clients over scripted or real networks, with a token that no output may contain. */
import { HttpClient, type HttpClientError, type HttpClientRequest } from "@effect/platform"
import { type Clock, Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { IdentityClient, RateLimiter, Retry, TokenProvider } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import type { Subject } from "./operations.js"

export const baseUrl = "https://tenant.example.com/api/v2"

/** A JSON Web Token, as the service issues them. */
export const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjbGllbnRAY2xpZW50cyJ9.c2lnbmF0dXJlLW9mLWEtdGVzdA"

export const bearer = TokenProvider.layerBearer(Redacted.make(token))

/** Provides a client over a network, and the network itself. */
export const over = <Out, E, R>(network: Layer.Layer<HttpClient.HttpClient | Out, E, R>, url = baseUrl) =>
  IdentityClient.layer({ baseUrl: url }).pipe(
    Layer.provide([RateLimiter.layerUnlimited, bearer]),
    Layer.provideMerge(network)
  )

/** Provides a client over these replies, in their order. */
export const scripted = (...replies: ReadonlyArray<Testing.Reply>) => over(Testing.layerHttp(...replies))

/** Makes a call without retries. */
export const call = (operation: Subject, input: unknown) => Retry.withoutRetries(operation(input as never))

/** A client that stays, and the network that it has for now. */
interface Reusable {
  readonly client: Context.Tag.Service<IdentityClient.IdentityClient>
  network: HttpClient.HttpClient
}

/** The clients that no call uses, by the test clock of their test. */
const idle = new WeakMap<Clock.Clock, Array<Reusable>>()

/** Each test with a test clock has one of its own, and so clients of its own. Others share the real clock, but no clients. */
const idleOf = (clock: Clock.Clock): Array<Reusable> => {
  const clients = idle.get(clock) ?? []
  if ("adjust" in clock) idle.set(clock, clients)
  return clients
}

const makeReusable = Effect.gen(function*() {
  const unused = HttpClient.make(() => Effect.dieMessage("no network"))
  // Unlike `HttpClient.make`, this adds nothing around the requests of the network.
  const http = HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap((request) => found.network.execute(request)),
    Effect.succeed
  )
  const context = yield* Layer.buildWithScope(over(Layer.succeed(HttpClient.HttpClient, http)), yield* Scope.make())
  const found: Reusable = { client: Context.get(context, IdentityClient.IdentityClient), network: unused }
  return found
})

/** Provides a client over one reply: one that is there, if it is idle, because a new one costs twice as much as a call. */
const overOne = <A, E>(
  self: Effect.Effect<A, E, IdentityClient.IdentityClient | Testing.Requests>,
  reply: Testing.Reply
) =>
  Effect.gen(function*() {
    const clients = idleOf(yield* Effect.clock)
    const reusable = clients.pop() ?? (yield* makeReusable)
    reusable.network = yield* HttpClient.HttpClient
    return yield* Effect.provideService(self, IdentityClient.IdentityClient, reusable.client).pipe(
      // A call that was interrupted may still use it.
      Effect.onExit((exit) => Effect.sync(() => Exit.isInterrupted(exit) || clients.push(reusable)))
    )
  }).pipe(Effect.provide(Testing.layerHttp(reply)))

/** Makes a call that receives this reply. */
export const resultOf = (operation: Subject, input: unknown, reply: Testing.Reply) =>
  overOne(call(operation, input), reply)

/** Makes a call that receives this reply, and gives its failure; a success is a defect. */
export const failed = (operation: Subject, input: unknown, reply: Testing.Reply) =>
  Effect.orDieWith(Effect.flip(resultOf(operation, input, reply)), (value) => new Error(`a success: ${String(value)}`))

/** Gives the requests that a call makes, whether it succeeds or fails. */
export const sent = (operation: Subject, input: unknown) =>
  overOne(Effect.zipRight(Effect.exit(call(operation, input)), Testing.requests), Testing.reply({}))

/** Gives the only request that a call makes. */
export const sentOne = (operation: Subject, input: unknown) =>
  Effect.flatMap(
    sent(operation, input),
    ([request, ...more]) =>
      request === undefined || more.length > 0
        ? Effect.dieMessage(`${more.length} more requests`)
        : Effect.succeed(request)
  )

/** Gives the text of a request's body, if it has one. */
export const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): string | undefined =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : undefined

/** A network that never responds. */
export const silent: Layer.Layer<HttpClient.HttpClient> = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make(() => Effect.never)
)
