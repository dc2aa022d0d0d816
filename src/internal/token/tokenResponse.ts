/** Reads the responses of the token endpoint: a token and its lifetime, or a failure without secrets. */
import type * as Headers from "@effect/platform/Headers"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { TokenError, type TokenQuota } from "../../Errors.js"
import * as BaseUrl from "../http/baseUrl.js"
import * as ErrorBody from "../http/errorBody.js"
import { inParentheses, type RawResponse } from "../http/rawExchange.js"
import { redact } from "../http/redact.js"
import * as Response from "../http/responseDecoder.js"
import * as ResponseHeaders from "../http/responseHeaders.js"
import { defined } from "../runtime/defined.js"
import type { IssuedToken } from "./issuedToken.js"

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
const lifetimeInClaims = (token: string, headers: Headers.Headers): number | undefined => {
  const claims = ErrorBody.parseFields(
    Either.getOrElse(Encoding.decodeBase64UrlString(token.split(".")[1] ?? ""), () => "")
  )
  const [from, until] = [parseSeconds(claims.iat) ?? ResponseHeaders.date(headers), parseSeconds(claims.exp)]
  return from === undefined || until === undefined ? undefined : Math.max(0, until - from)
}

/** Checks that a token can stand in an `Authorization` header. */
export const isValidToken = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)

/** The name of the token endpoint in messages. */
export const nameOf = (url: string): string => `the token endpoint of ${BaseUrl.hostOf(url)}`

/** The setting to check, where a refusal speaks of one. */
const settingOf = (status: number, error: string | undefined, description: string | undefined): string | undefined =>
  status === 404
    ? "is `tokenPath`, `IDENTITY_TOKEN_PATH` in the environment, right? Tenants of Auth0 have /oauth/token"
    : error === "access_denied" || /\baudience\b|service not found/i.test(description ?? "")
    ? "is `audience`, `IDENTITY_AUDIENCE` in the environment, that of the tenant's API, and the client authorized for it?"
    : undefined

/** Turns a response without a usable token into an error that contains none of the secrets. */
const failureOf = (
  endpoint: string,
  { headers, redirected, status }: RawResponse,
  body: Readonly<Record<string, unknown>>,
  now: number,
  secrets: ReadonlyArray<string>,
  quotas: ReadonlyArray<TokenQuota>
): TokenError => {
  const clean = (text: string | undefined) => text === undefined ? undefined : redact(text, secrets)
  const error = clean(ErrorBody.nonEmpty(body.error) ?? ErrorBody.nonEmpty(body.code))
  const description = clean(
    ErrorBody.nonEmpty(body.error_description) ?? parseDescription(body.description) ?? ErrorBody.nonEmpty(body.message)
  )
  const retryAfter = ResponseHeaders.retryAfter(headers, now)
  const hint = settingOf(status, error, description)
  const message = redirected
    ? `the HTTP client followed a redirect of ${endpoint}, so the response may be another service's`
    : Response.isSuccess(status)
    ? `the response of ${endpoint} contains no usable access_token`
    : `${endpoint} responded with status ${status}${inParentheses(error)}${
      description === undefined ? "" : `: ${description}`
    }${hint === undefined ? "" : ` (${hint})`}`
  return new TokenError(defined({
    operation: "token", // the client replaces it with the operation that needed the token
    message,
    status,
    error,
    description,
    retryAfter,
    quotas: quotas.length === 0 ? undefined : quotas
  }))
}

/** Reads a response that arrived at `now`, in milliseconds since 1970. */
export const parse = (
  url: string,
  response: RawResponse,
  now: number,
  secrets: ReadonlyArray<string>,
  quotas: ReadonlyArray<TokenQuota>
): Either.Either<IssuedToken, TokenError> => {
  const body = ErrorBody.parseFields(ErrorBody.text(response.body))
  const token = ErrorBody.nonEmpty(body.access_token)
  if (!Response.isSuccess(response.status) || response.redirected || token === undefined || !isValidToken(token)) {
    return Either.left(
      failureOf(nameOf(url), response, body, now, token === undefined ? secrets : [...secrets, token], quotas)
    )
  }
  const lifetime = parseSeconds(body.expires_in) ?? lifetimeInClaims(token, response.headers)
  return Either.right({
    token: Redacted.make(token),
    tokenType: ErrorBody.nonEmpty(body.token_type),
    lifetime: lifetime === undefined ? undefined : Duration.seconds(lifetime)
  })
}
