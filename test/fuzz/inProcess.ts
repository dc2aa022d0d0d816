/** Gives the client arbitrary responses in virtual time, over a platform's client and over the lean transport. */
import { Headers, HttpClient, type HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import type * as Undici from "@effect/platform-node/Undici"
import { Cause, Effect, Exit, FastCheck, Logger, LogLevel, Option, Redacted, Schema, Stream } from "effect"
import assert from "node:assert/strict"
import { inspect } from "node:util"
import * as Errors from "../../src/Errors.js"
import { IdentityClient, RateLimiter, Retry, TokenProvider } from "../../src/index.js"
import * as Collecting from "../../src/internal/http/collecting.js"
import { collect } from "../../src/node/undiciDispatcher.js"
import { baseUrl, bearer } from "../support/client.js"
import { responseError } from "../support/httpErrors.js"
import { sample } from "../support/operations.js"
import { cycle } from "../support/random.js"
import * as VirtualTime from "../support/virtualTime.js"
import { type Case, type FakeResponse, piecesOf } from "./responses.js"

const origin = new URL(baseUrl).origin

/** Returns the responses in order, and repeats the last. */
const inTurn = (responses: Case["responses"]) => {
  let nth = 0
  return (): FakeResponse => responses[Math.min(nth++, responses.length - 1)]!
}

const lost = (request: HttpClientRequest.HttpClientRequest, response: HttpClientResponse.HttpClientResponse) =>
  responseError(request, "Decode", { response, cause: new Error("the connection broke") })

/** A platform's client with as much of a response as the library reads. */
const asPlatform = (next: () => FakeResponse): HttpClient.HttpClient =>
  HttpClient.make((request) =>
    Effect.sync(() => {
      const fake = next()
      const headers: Record<string, string> = Object.create(null)
      for (const [name, value] of fake.headers) {
        headers[name] = name in headers
          ? `${headers[name]}, ${value}`
          : value
      }
      const broken = Effect.suspend(() => Effect.fail(lost(request, response)))
      const whole = Stream.fromIterable(piecesOf(fake))
      // Sound: the library reads nothing else of a response.
      const response = {
        request,
        status: fake.status,
        headers: Headers.unsafeFromRecord(headers),
        stream: fake.end === "whole" ? whole : Stream.concat(whole, Stream.fromEffect(broken)),
        arrayBuffer: fake.end === "whole" ? Effect.sync(() => new Uint8Array(fake.body).buffer) : broken
      } as unknown as HttpClientResponse.HttpClientResponse
      return response
    })
  )

/** A dispatcher of undici that calls its handler as a socket would. */
const asDispatcher = (next: () => FakeResponse): HttpClient.HttpClient => {
  const dispatch = (_: unknown, handler: Undici.Dispatcher.DispatchHandler): boolean => {
    queueMicrotask(() => {
      const response = next()
      let isAborted = false
      const abort = () => void (isAborted = true)
      const controller = { abort, pause: () => {}, resume: () => {}, aborted: false, paused: false, reason: null }
      const headers: Record<string, string | Array<string>> = {}
      for (const [name, value] of response.headers) {
        const before = Object.hasOwn(headers, name) ? headers[name]! : []
        const both = [before, value].flat()
        Object.defineProperty(headers, name, {
          value: both.length === 1 ? value : both,
          enumerable: true,
          configurable: true,
          writable: true
        })
      }
      handler.onRequestStart?.(controller, {})
      if (response.status < 200) return handler.onResponseError?.(controller, new Error("no response came"))
      handler.onResponseStart?.(controller, response.status, headers, "Reason")
      for (const piece of piecesOf(response)) if (!isAborted) handler.onResponseData?.(controller, Buffer.from(piece))
      if (isAborted) return
      if (response.end === "whole") handler.onResponseEnd?.(controller, {})
      else {handler.onResponseError?.(
          controller,
          Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" })
        )}
    })
    return true
  }
  // Sound: only `dispatch` is used `dispatch`.
  return Collecting.over(asPlatform(next), collect({ dispatch } as unknown as Undici.Dispatcher))
}

const seams = { platform: asPlatform, dispatcher: asDispatcher }

type Seam = keyof typeof seams

const limiters = {
  none: RateLimiter.layerUnlimited,
  learning: RateLimiter.layerAdaptive({ maxWait: "1 minute" })
}

/** The way in which a call is made. */
export interface How {
  readonly seam: Seam
  readonly limiter: keyof typeof limiters
  readonly isTraced: boolean
}

export const hows: FastCheck.Arbitrary<How> = FastCheck.record({
  seam: FastCheck.constantFrom<Seam>("platform", "dispatcher"),
  limiter: FastCheck.constantFrom<How["limiter"]>("none", "learning"),
  isTraced: FastCheck.boolean()
})

/** Makes the call of a case, with all that it needs besides the network. */
export const call = (
  { target }: Case,
  url: { readonly baseUrl: string; readonly authUrl: string },
  limiter: How["limiter"] = "none"
): Effect.Effect<unknown, unknown, HttpClient.HttpClient> =>
  target === "token"
    ? Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get).pipe(
      Effect.provide(TokenProvider.layerClientCredentials({
        authUrl: url.authUrl,
        clientId: "a-client",
        clientSecret: Redacted.make("a-secret")
      }))
    )
    : Effect.flatMap(IdentityClient.make({ baseUrl: url.baseUrl, maxBodySize: 150_000 }), (client) =>
      Effect.provideService(target(sample(target) as never), IdentityClient.IdentityClient, client)).pipe(
        Effect.scoped,
        Effect.provide([limiters[limiter], bearer])
      )

/** The errors of a call. */
const isDeclared = ({ target }: Case, error: unknown): boolean =>
  error instanceof Errors.TokenError || (target !== "token" && (
    error instanceof Errors.UnexpectedResponse || error instanceof Errors.TransportError ||
    target.endpoint.error.some((Declared) => error instanceof Declared)
  ))

/** Tells if a value satisfies the operation's schema. */
const satisfiesSchema = ({ target }: Case, value: unknown): boolean =>
  target === "token"
    ? Redacted.isRedacted(value) && /^[\x21-\x7e]+$/.test(String(Redacted.value(value)))
    : target.endpoint.success === undefined
    ? value === undefined
    : Schema.is(target.endpoint.success)(value)

/** Prints a failure in every way; none may throw. */
const print = (error: unknown): string =>
  [
    String(error),
    JSON.stringify(error),
    inspect(error, { depth: Infinity }),
    Cause.pretty(Cause.fail(error), { renderErrorCause: true })
  ].join("\n")

/** Checks that a call ended with a value of its schema or one of its errors. */
export const check = (one: Case, exit: Exit.Exit<unknown, unknown>): void => {
  if (Exit.isSuccess(exit)) return assert(satisfiesSchema(one, exit.value), "a value that the schema refuses")
  const failure = Cause.failureOption(exit.cause)
  assert(Option.isSome(failure), `no failure, but ${Cause.pretty(exit.cause)}`)
  const error = failure.value
  assert(isDeclared(one, error), `a failure that is not declared: ${inspect(error)}`)
  assert(print(error).length < 20_000, "a failure that is printed without end")
}

const isGzip = ({ body }: FakeResponse): boolean => body[0] === 0x1f && body[1] === 0x8b

/** Removes these headers, given in lower case, from a case. */
export const without = ({ responses, target }: Case, ...names: ReadonlyArray<string>): Case => {
  const [first, ...rest] = responses.map((response) => (
    { ...response, headers: response.headers.filter(([name]) => !names.includes(name.toLowerCase())) }
  ))
  return { target, responses: [first!, ...rest] }
}

/** Runs a case to its end. */
const run = (one: Case, { isTraced, limiter, seam }: How): Promise<Exit.Exit<unknown, unknown>> => {
  const isReal = one.responses.some(isGzip)
  const { responses, target } = isReal ? without(one, "retry-after") : one // nobody is asked to wait
  const effect = call({ target, responses }, { baseUrl, authUrl: origin }, isReal ? "none" : limiter).pipe(
    Effect.provideService(HttpClient.HttpClient, seams[seam](inTurn(responses))),
    Effect.withTracerEnabled(isTraced),
    Logger.withMinimumLogLevel(LogLevel.None),
    Effect.withRandom(cycle(isReal ? 0 : 0.5)),
    Effect.exit
  )
  // Decompression takes real time, while no other time passes.
  return Effect.runPromise(
    isReal
      ? Retry.withPolicy(effect, { delay: 0, maxDelay: 0 })
      : VirtualTime.run(effect, { most: "10 minutes" })
  )
}

/** The property: whatever a service responds, a call ends without a defect. */
export const law = async (one: Case, how: How): Promise<void> => check(one, await run(one, how))
