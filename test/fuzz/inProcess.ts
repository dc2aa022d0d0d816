/** The client above answers that no server should give, at both seams where platforms meet it, in virtual time. */
import { Headers, HttpClient, HttpClientError, type HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import type * as Undici from "@effect/platform-node/Undici"
import { Cause, Effect, Exit, FastCheck, Logger, LogLevel, Random, Redacted, Schema, Stream } from "effect"
import assert from "node:assert/strict"
import { inspect } from "node:util"
import * as Errors from "../../src/Errors.js"
import { IdentityClient, RateLimiter, Retry, TokenProvider } from "../../src/index.js"
import * as Http from "../../src/internal/http/exchange.js"
import * as Exchange from "../../src/node/undiciDispatcher.js"
import { baseUrl, bearer } from "../support/client.js"
import { sample } from "../support/operations.js"
import * as VirtualTime from "../support/virtualTime.js"
import { type Answer, type Case, piecesOf } from "./answers.js"

const origin = new URL(baseUrl).origin

/** The answers in their order; the last is given again and again. */
const inTurn = (answers: Case["answers"]) => {
  let nth = 0
  return (): Answer => answers[Math.min(nth++, answers.length - 1)]!
}

const lost = (request: HttpClientRequest.HttpClientRequest, response: HttpClientResponse.HttpClientResponse) =>
  new HttpClientError.ResponseError({ request, response, reason: "Decode", cause: new Error("the connection broke") })

/** A platform's client, which gives as much of a response as the library looks at. */
const asPlatform = (next: () => Answer): HttpClient.HttpClient =>
  HttpClient.make((request) =>
    Effect.sync(() => {
      const answer = next()
      const headers: Record<string, string> = Object.create(null)
      for (const [name, value] of answer.headers) headers[name] = name in headers ? `${headers[name]}, ${value}` : value
      const broken = Effect.suspend(() => Effect.fail(lost(request, response)))
      const whole = Stream.fromIterable(piecesOf(answer))
      // Sound: the library asks a response for nothing else.
      const response = {
        request,
        status: answer.status,
        headers: Headers.unsafeFromRecord(headers),
        stream: answer.end === "whole" ? whole : Stream.concat(whole, Stream.fromEffect(broken)),
        arrayBuffer: answer.end === "whole" ? Effect.sync(() => new Uint8Array(answer.body).buffer) : broken
      } as unknown as HttpClientResponse.HttpClientResponse
      return response
    })
  )

/** A dispatcher of undici's that tells its handler of answers as a socket would. */
const asDispatcher = (next: () => Answer): HttpClient.HttpClient => {
  const dispatch = (_: unknown, handler: Undici.Dispatcher.DispatchHandler): boolean => {
    queueMicrotask(() => {
      const answer = next()
      let isAborted = false
      const abort = () => void (isAborted = true)
      const controller = { abort, pause: () => {}, resume: () => {}, aborted: false, paused: false, reason: null }
      const headers: Record<string, string | Array<string>> = {}
      for (const [name, value] of answer.headers) {
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
      if (answer.status < 200) return handler.onResponseError?.(controller, new Error("no answer came"))
      handler.onResponseStart?.(controller, answer.status, headers, "Reason")
      for (const piece of piecesOf(answer)) if (!isAborted) handler.onResponseData?.(controller, Buffer.from(piece))
      if (isAborted) return
      if (answer.end === "whole") handler.onResponseEnd?.(controller, {})
      else {handler.onResponseError?.(
          controller,
          Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" })
        )}
    })
    return true
  }
  // Sound: the way over a dispatcher uses `dispatch` alone.
  return Http.withLeanTransport(asPlatform(next), Exchange.over({ dispatch } as unknown as Undici.Dispatcher))
}

const seams = { platform: asPlatform, dispatcher: asDispatcher }

type Seam = keyof typeof seams

const limiters = {
  none: RateLimiter.layerUnlimited,
  learning: RateLimiter.layerAdaptive({ maxWait: "1 minute" })
}

/** How a call is made. */
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

/** Makes the call of a case; what it may need besides the network comes from here. */
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

/** What a call may fail with. */
const isDeclared = ({ target }: Case, error: unknown): boolean =>
  error instanceof Errors.TokenError || (target !== "token" && (
    error instanceof Errors.UnexpectedResponse || error instanceof Errors.TransportError ||
    target.endpoint.error.some((Declared) => error instanceof Declared)
  ))

/** What a call may give. */
const isPromised = ({ target }: Case, value: unknown): boolean =>
  target === "token"
    ? Redacted.isRedacted(value) && /^[\x21-\x7e]+$/.test(String(Redacted.value(value)))
    : target.endpoint.success === undefined
    ? value === undefined
    : Schema.is(target.endpoint.success)(value)

/** Every way in which a program may come to print a failure; none of them may throw. */
const print = (error: unknown): string =>
  [
    String(error),
    JSON.stringify(error),
    inspect(error, { depth: Infinity }),
    Cause.pretty(Cause.fail(error), { renderErrorCause: true })
  ].join("\n")

/** A call ended as it may end: with what is promised, or with a failure of its own. */
export const check = (one: Case, exit: Exit.Exit<unknown, unknown>): void => {
  if (Exit.isSuccess(exit)) return assert(isPromised(one, exit.value), "a value that is not as promised")
  const { cause } = exit
  assert(Cause.isFailType(cause), `no failure, but ${Cause.pretty(cause)}`)
  assert(isDeclared(one, cause.error), `a failure that is not declared: ${inspect(cause.error)}`)
  assert(print(cause.error).length < 20_000, "a failure that is printed without end")
}

const isGzip = ({ body }: Answer): boolean => body[0] === 0x1f && body[1] === 0x8b

/** The case without these headers, whose names are in lower case. */
export const without = ({ answers, target }: Case, ...names: ReadonlyArray<string>): Case => {
  const [first, ...rest] = answers.map((answer) => (
    { ...answer, headers: answer.headers.filter(([name]) => !names.includes(name.toLowerCase())) }
  ))
  return { target, answers: [first!, ...rest] }
}

/** Runs a case to its end, whatever comes. */
const run = (one: Case, { isTraced, limiter, seam }: How): Promise<Exit.Exit<unknown, unknown>> => {
  const isReal = one.answers.some(isGzip)
  const { answers, target } = isReal ? without(one, "retry-after") : one // nobody is asked to wait
  const effect = call({ target, answers }, { baseUrl, authUrl: origin }, isReal ? "none" : limiter).pipe(
    Effect.provideService(HttpClient.HttpClient, seams[seam](inTurn(answers))),
    Effect.withTracerEnabled(isTraced),
    Logger.withMinimumLogLevel(LogLevel.None),
    Effect.withRandom(Random.fixed([isReal ? 0 : 0.5])),
    Effect.exit
  )
  // What is unzipped takes real time: then nothing else takes any.
  return Effect.runPromise(
    isReal
      ? Retry.withPolicy(effect, { delay: 0, maxDelay: 0 })
      : VirtualTime.run(effect, { most: "10 minutes" })
  )
}

/** Whatever a service answers, a call ends, and never as a defect. */
export const law = async (one: Case, how: How): Promise<void> => check(one, await run(one, how))
