/** The token request of OAuth 2.0 client credentials: one exchange, and what its answer means. */
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { TokenError } from "../../Errors.js"
import * as Failure from "../http/errorBody.js"
import * as Http from "../http/exchange.js"
import * as Headers from "../http/headers.js"
import { redact } from "../http/redact.js"
import * as Response from "../http/responseDecoder.js"
import { backoff } from "../runtime/backoff.js"
import * as Watch from "../telemetry/callTelemetry.js"

/** When a token is not given any more, in milliseconds after it was asked for. */
export const goodFor = (lifetime: number): number => lifetime - Math.min(30_000, lifetime * 0.1)

type Members = Readonly<Record<string, unknown>>

const members = (text: string | undefined): Members => {
  const json = Either.getOrUndefined(Failure.parseJson(text ?? ""))
  return Predicate.isReadonlyRecord(json) ? json : {}
}

const seconds = (value: unknown): number | undefined => {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : undefined
}

/** The lifetime that a JSON Web Token states: from its `iat`, or else the time of the answer, to its `exp`. */
const statedLifetime = (token: string, answeredAt: number | undefined): number | undefined => {
  const claims = members(Either.getOrUndefined(Encoding.decodeBase64UrlString(token.split(".")[1] ?? "")))
  const [from, until] = [seconds(claims.iat) ?? answeredAt, seconds(claims.exp)]
  return from === undefined || until === undefined ? undefined : Math.max(0, until - from)
}

const string = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined

/** A description as text. Some servers send an object. */
const described = (value: unknown): string | undefined =>
  Predicate.isObject(value)
    ? Either.getOrUndefined(Either.try(() => JSON.stringify(value))) // it may be nested too deep
    : string(value)

/** What can stand in an `Authorization` header. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/** `operation` of failures that no operation has caused yet: the client names the one that needed the token. */
const operation = "token"

const failure = (received: Http.RawResponse, now: number, secrets: ReadonlyArray<string>): TokenError => {
  const body = members(Failure.text(received.body))
  const clean = (text: string | undefined) => text === undefined ? undefined : redact(text, secrets)
  const error = clean(string(body.error) ?? string(body.code))
  const description = clean(string(body.error_description) ?? described(body.description) ?? string(body.message))
  const retryAfter = Headers.retryAfter(received.headers, now)
  const accepted = Response.isSuccess(received.status)
  return new TokenError({
    operation,
    message: accepted
      ? "the token endpoint's answer holds no usable access_token"
      : `the token endpoint answered ${
        [received.status, error, description].filter(Predicate.isNotUndefined).join(" ")
      }`,
    status: received.status,
    ...(error !== undefined && { error }),
    ...(description !== undefined && { description }),
    ...(retryAfter !== undefined && { retryAfter })
  })
}

/** Asks for a token, once. `secrets` are the strings that no failure may repeat. */
const exchange = (
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  secrets: ReadonlyArray<string>,
  nth: number
) =>
  Effect.gen(function*() {
    const requestedAt = yield* Clock.currentTimeMillis
    const received = yield* Watch.tokenAttempt(
      request.url,
      nth,
      Effect.timeoutFail(Http.exchange(client, request, () => Http.bodyLimits.drained), {
        duration: policy.limit,
        onTimeout: () => new Http.NoResponse({ outcome: "unknown", code: "TIMEOUT" })
      })
    )
    if (received.completeness === "interrupted") {
      return yield* new Http.NoResponse({ outcome: "unknown", code: undefined })
    }
    const now = yield* Clock.currentTimeMillis
    const body = members(Failure.text(received.body))
    const token = string(body.access_token)
    if (!Response.isSuccess(received.status) || received.redirected || token === undefined || !isToken(token)) {
      return yield* failure(received, now, token === undefined ? secrets : [...secrets, token])
    }
    const lifetime = seconds(body.expires_in) ?? statedLifetime(token, Headers.date(received.headers))
    return {
      token: Redacted.make(token),
      requestedAt,
      lifetime: lifetime === undefined ? undefined : Duration.seconds(lifetime)
    }
  }).pipe(
    Effect.catchTag("NoAnswer", ({ code }) =>
      Effect.fail(
        new TokenError({
          operation,
          message: `the token endpoint gave no answer${code === undefined ? "" : ` (${code})`}`,
          ...(code !== undefined && { code })
        })
      )),
    // The runtime would note in the log how fibers of the platform fail, with the request.
    Effect.withUnhandledErrorLogLevel(Option.none())
  )

/** How a token is asked for: how often, how long each time, the waits between, and the longest that the server may ask for. */
const policy = {
  attempts: 3,
  limit: "10 seconds",
  delay: "250 millis",
  maxDelay: "10 seconds",
  maxRetryAfter: "1 minute"
} as const

/** Whether it may go better the next time: there was no answer, 429 or 5xx, and the server asks for no longer wait. */
const isTransient = ({ retryAfter, status }: TokenError): boolean =>
  (status === undefined || status === 429 || status >= 500) &&
  (retryAfter === undefined || Duration.lessThanOrEqualTo(retryAfter, policy.maxRetryAfter))

/** Asks for a token, up to three times. `secrets` are the strings that no failure may repeat. */
export const request = (
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  secrets: ReadonlyArray<string>
) => {
  const attempt = (nth: number): ReturnType<typeof exchange> =>
    Effect.catchAll(exchange(client, request, secrets, nth), (error) =>
      nth < policy.attempts && isTransient(error)
        ? Effect.zipRight(Effect.flatMap(backoff(policy, nth, error.retryAfter), Effect.sleep), attempt(nth + 1))
        : Effect.fail(error))
  return attempt(1)
}
