/** Requests tokens with OAuth 2.0 client credentials (contract: Authentication). */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { TokenError } from "../../Errors.js"
import * as BaseUrl from "../http/baseUrl.js"
import { bodyLimits } from "../http/body.js"
import * as ErrorBody from "../http/errorBody.js"
import * as Exchange from "../http/exchange.js"
import { inParentheses, NoResponse, type RawResponse } from "../http/rawExchange.js"
import { redact } from "../http/redact.js"
import * as Response from "../http/responseDecoder.js"
import * as Headers from "../http/responseHeaders.js"
import { backoff } from "../runtime/backoff.js"
import { defined } from "../runtime/defined.js"
import type { Restore } from "../runtime/fiber.js"
import * as Timeouts from "../runtime/timeouts.js"
import * as TokenTelemetry from "../telemetry/tokenTelemetry.js"
import type { IssuedToken } from "./issuedToken.js"

/** Settings for OAuth 2.0 client credentials (contract: Authentication). @since 0.1.0 @category models */
export type ClientCredentials =
  & {
    /** The identifier of the client. */
    readonly clientId: string
    /** The client's secret. It is sent only to the token endpoint, in the request body. */
    readonly clientSecret: Redacted.Redacted
    /** The API that the token is for. Default: `/api/v2/`, or with `domain` `https://{domain}/api/v2/`. */
    readonly audience?: string | undefined
    /** The path of the token endpoint. Default: `/oauth/token/`, or with `domain` `/oauth/token`. */
    readonly tokenPath?: string | undefined
    /** Allows plain http to hosts other than this machine. Default: false. */
    readonly allowInsecure?: boolean | undefined
  }
  & (
    /** The base URL of the authentication host, for example `https://login.example.com`. */
    | { readonly authUrl: string; readonly domain?: undefined }
    /** The tenant's domain, for example `tenant.eu.example.com`. The token endpoint and the audience follow from it. */
    | { readonly domain: string; readonly authUrl?: undefined }
  )

/** The retry policy of token requests. An attempt ends after `timeout` milliseconds; a longer `Retry-After` is not waited for. */
const policy = {
  attempts: 3,
  timeout: 10_000,
  delay: "250 millis",
  maxDelay: "10 seconds",
  maxRetryAfter: "1 minute"
} as const

/** The `operation` of token errors. The client replaces it with the operation that needed the token. */
const operation = "token"

/** Reads a number of seconds. Some servers send it as a string. */
const parseSeconds = (value: unknown): number | undefined => {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : undefined
}

/** Reads an error description. Some servers send an object. */
const parseDescription = (value: unknown): string | undefined =>
  Predicate.isReadonlyRecord(value) || Array.isArray(value)
    ? Either.getOrUndefined(Either.try(() => JSON.stringify(value))) // throws if nested too deep
    : ErrorBody.nonEmpty(value)

/** Reads the lifetime of a JSON Web Token, in seconds: from `iat`, or else the response's `Date`, to `exp`. */
const lifetimeInClaims = (token: string, respondedAt: number | undefined): number | undefined => {
  const claims = ErrorBody.parseFields(
    Either.getOrElse(Encoding.decodeBase64UrlString(token.split(".")[1] ?? ""), () => "")
  )
  const [from, until] = [parseSeconds(claims.iat) ?? respondedAt, parseSeconds(claims.exp)]
  return from === undefined || until === undefined ? undefined : Math.max(0, until - from)
}

/** Checks that a token can stand in an `Authorization` header. */
export const isValidToken = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)

/** The name of the token endpoint in messages. */
const nameOf = (url: string): string => `the token endpoint of ${BaseUrl.hostOf(url)}`

/** Turns a response without a usable token into an error that contains none of the secrets. */
const failureOf = (
  endpoint: string,
  response: RawResponse,
  now: number,
  secrets: ReadonlyArray<string>
): TokenError => {
  const { status } = response
  const body = ErrorBody.parseFields(ErrorBody.text(response.body))
  const clean = (text: string | undefined) => text === undefined ? undefined : redact(text, secrets)
  const error = clean(ErrorBody.nonEmpty(body.error) ?? ErrorBody.nonEmpty(body.code))
  const description = clean(
    ErrorBody.nonEmpty(body.error_description) ?? parseDescription(body.description) ?? ErrorBody.nonEmpty(body.message)
  )
  const retryAfter = Headers.retryAfter(response.headers, now)
  const message = Response.isSuccess(status)
    ? `the response of ${endpoint} contains no usable access_token`
    : `${endpoint} responded with status ${status}${inParentheses(error)}${
      description === undefined ? "" : `: ${description}`
    }`
  return new TokenError(defined({ operation, message, status, error, description, retryAfter }))
}

const attempt = (
  send: (restore: Restore) => Effect.Effect<RawResponse, NoResponse>,
  url: string,
  secrets: ReadonlyArray<string>,
  nth: number
): Effect.Effect<IssuedToken, TokenError> =>
  Effect.gen(function*() {
    const requestedAt = yield* Clock.currentTimeMillis
    const response = yield* TokenTelemetry.tokenAttempt(url, nth, send)
    if (response.completeness === "interrupted") {
      return yield* new NoResponse({ outcome: "unknown", code: undefined })
    }
    const now = yield* Clock.currentTimeMillis
    const body = ErrorBody.parseFields(ErrorBody.text(response.body))
    const token = ErrorBody.nonEmpty(body.access_token)
    if (!Response.isSuccess(response.status) || response.redirected || token === undefined || !isValidToken(token)) {
      return yield* failureOf(nameOf(url), response, now, token === undefined ? secrets : [...secrets, token])
    }
    const lifetime = parseSeconds(body.expires_in) ?? lifetimeInClaims(token, Headers.date(response.headers))
    return {
      token: Redacted.make(token),
      requestedAt,
      lifetime: lifetime === undefined ? undefined : Duration.seconds(lifetime)
    }
  }).pipe(
    Effect.catchTag("NoResponse", ({ code }) =>
      new TokenError(defined({ operation, message: `${nameOf(url)} did not respond${inParentheses(code)}`, code })))
  )

/** Checks that a retry may succeed: no response, 429 or 5xx, without too long a `Retry-After`. */
const isTransient = ({ retryAfter, status }: TokenError): boolean =>
  (status === undefined || status === 429 || status >= 500) &&
  (retryAfter === undefined || Duration.lessThanOrEqualTo(retryAfter, policy.maxRetryAfter))

/**
 * Makes the token request of one client, which fails with `TokenError`. `tenant` and `identity` together identify the
 * tokens that it issues. `caller` names the layer in `InvalidInput`.
 */
export const make = (caller: string, options: ClientCredentials) =>
  Effect.gen(function*() {
    const { clientId, domain } = options
    const exchange = Exchange.make(yield* HttpClient.HttpClient, bodyLimits.drained)
    const timeouts = yield* Timeouts.make
    const tenant = yield* domain === undefined
      ? BaseUrl.parse(caller, "authUrl", options.authUrl, options.allowInsecure)
      : BaseUrl.ofDomain(caller, domain)
    const path = options.tokenPath ?? (domain === undefined ? "/oauth/token/" : "/oauth/token")
    const audience = options.audience ?? (domain === undefined ? "/api/v2/" : `${tenant}/api/v2/`)
    if (!/^\/(?!\/)[^?#\\\s]*$/.test(path)) {
      const message = "expected a path that starts with one slash and has no query"
      return yield* BaseUrl.invalidSetting(caller, "tokenPath", message)
    }
    const secret = Redacted.value(options.clientSecret)
    const request = HttpClientRequest.post(new URL(`${tenant}${path}`).href).pipe(
      HttpClientRequest.acceptJson,
      HttpClientRequest.bodyUrlParams({
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: secret,
        audience
      })
    )
    const send = (restore: Restore) =>
      exchange(request, () => bodyLimits.drained, { timeouts, millis: policy.timeout, restore })
    const secrets = [secret, Encoding.encodeBase64(`${clientId}:${secret}`)]
    const attemptFrom = (nth: number): Effect.Effect<IssuedToken, TokenError> =>
      Effect.catchAll(attempt(send, request.url, secrets, nth), (error) =>
        nth < policy.attempts && isTransient(error)
          ? Effect.zipRight(Effect.flatMap(backoff(policy, nth, error.retryAfter), Effect.sleep), attemptFrom(nth + 1))
          : Effect.fail(error))
    return { request: attemptFrom(1), tenant, identity: [path, clientId, audience] }
  })
