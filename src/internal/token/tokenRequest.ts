/** Requests tokens with OAuth 2.0 client credentials (contract: Authentication). */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type InvalidInput, TokenError } from "../../Errors.js"
import * as BaseUrl from "../http/baseUrl.js"
import * as Exchange from "../http/exchange.js"
import { inParentheses, NoResponse } from "../http/rawExchange.js"
import { bodyLimits } from "../http/responseBody.js"
import * as Headers from "../http/responseHeaders.js"
import { backoff } from "../runtime/backoff.js"
import { tokenVerdict } from "../runtime/failures.js"
import * as Timeouts from "../runtime/timeouts.js"
import { invalidSetting } from "../schema/issues.js"
import * as TokenTelemetry from "../telemetry/tokenTelemetry.js"
import { type ClientAuthentication, type ClientProof, hasSpaceAround } from "./clientProof.js"
import type { IssuedToken } from "./issuedToken.js"
import * as TokenQuota from "./tokenQuota.js"
import * as TokenResponse from "./tokenResponse.js"

/** The client, and the token endpoint that it asks. @since 0.1.0 @category models */
export type TokenClient =
  & {
    /** The identifier of the client. */
    readonly clientId: string
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

/** Checks that a retry may succeed: it is transient, without too long a `Retry-After`. */
const canRetry = ({ code, retryAfter, status }: TokenError): boolean => {
  const [, isTransient] = tokenVerdict({ code, status })
  return isTransient && (retryAfter === undefined || Duration.lessThanOrEqualTo(retryAfter, policy.maxRetryAfter))
}

/** Checks that the token endpoint refused the client, rather than what it asked for. */
const isClientRefused = ({ error = "invalid_client", status }: TokenError): boolean =>
  status === 401 || status === 400 && ["invalid_client", "invalid_request", "unauthorized_client"].includes(error)

/** A failed attempt. */
interface FailedAttempt {
  readonly error: TokenError
  /** The proof of another attempt at once, if one may be accepted. */
  readonly next?: ClientAuthentication | undefined
}

/** Gives the URL of the tenant and of its token endpoint. `caller` names the layer in `InvalidInput`. */
const endpoint = (caller: string, { allowInsecure, authUrl, domain, tokenPath }: TokenClient) =>
  Effect.gen(function*() {
    const tenant = yield* domain === undefined
      ? BaseUrl.parse(caller, "authUrl", authUrl, allowInsecure)
      : BaseUrl.ofDomain(caller, domain)
    const path = tokenPath ?? (domain === undefined ? "/oauth/token/" : "/oauth/token")
    if (!/^\/(?!\/)[^?#\\\s]*$/.test(path)) {
      const message = "expected a path that starts with one slash and has no query"
      return yield* invalidSetting(caller, "tokenPath", message)
    }
    return { tenant, path, url: new URL(`${tenant}${path}`).href }
  })

/**
 * Makes the token request of one client, which fails with `TokenError`. `tenant` and `identity` together identify the
 * tokens that it issues. `caller` names the layer in `InvalidInput`.
 */
export const make = (
  caller: string,
  client: TokenClient,
  authenticate: (tenant: string) => Effect.Effect<ClientAuthentication, InvalidInput>
) =>
  Effect.gen(function*() {
    const exchange = Exchange.make(yield* HttpClient.HttpClient, bodyLimits.drained)
    const timeouts = yield* Timeouts.make
    const { path, tenant, url } = yield* endpoint(caller, client)
    for (const setting of ["clientId", "audience"] as const) {
      if (hasSpaceAround(client[setting] ?? "")) {
        return yield* invalidSetting(caller, setting, "expected no white space around it")
      }
    }
    const audience = client.audience ?? (client.domain === undefined ? "/api/v2/" : `${tenant}/api/v2/`)
    const authentication = yield* authenticate(tenant)
    const post = HttpClientRequest.acceptJson(HttpClientRequest.post(url))
    const pickLow = TokenQuota.makeWarner()

    const attempt = (proof: ClientProof, nth: number): Effect.Effect<IssuedToken, FailedAttempt> =>
      Effect.gen(function*() {
        const parameters = { grant_type: "client_credentials", ...proof.parameters, audience }
        const request = HttpClientRequest.bodyUrlParams(post, parameters)
        const sentAt = yield* Clock.currentTimeMillis
        const send = exchange(request, () => bodyLimits.drained, { timeouts, millis: policy.timeout })
        const response = yield* TokenTelemetry.tokenAttempt(url, nth, send)
        if (response.completeness === "interrupted") {
          return yield* new NoResponse({ outcome: "unknown", code: undefined })
        }
        const receivedAt = yield* Clock.currentTimeMillis
        const quotas = TokenQuota.parse(response.headers)
        yield* TokenTelemetry.tokenQuotas(url, client.clientId, quotas, pickLow(quotas))
        const issued = TokenResponse.parse(url, response, receivedAt, proof.secrets, quotas)
        if (issued._tag === "Right") {
          yield* proof.onAccepted ?? Effect.void
          return { ...issued.right, requestedAt: sentAt }
        }
        const error = issued.left
        const date = Headers.date(response.headers)
        const refusal = { sentAt, receivedAt, date: date === undefined ? undefined : date * 1000 }
        return yield* Effect.fail({ error, next: isClientRefused(error) ? proof.afterRefusal?.(refusal) : undefined })
      }).pipe(
        Effect.catchTag("NoResponse", ({ code }) => {
          const message = `${TokenResponse.nameOf(url)} did not respond${inParentheses(code)}`
          return Effect.fail({ error: new TokenError({ operation: "token", message, code: code ?? "no-response" }) })
        })
      )

    /** Makes the attempts from the `nth` on. A refusal that is followed by another proof at once does not count as a try. */
    const attempts = (
      authentication: ClientAuthentication,
      nth: number,
      tries: number
    ): Effect.Effect<IssuedToken, TokenError> =>
      Effect.flatMap(authentication, (proof) =>
        Effect.catchAll(attempt(proof, nth), ({ error, next }) => {
          // Without another proof the refusal is the failure.
          if (next !== undefined) return attempts(Effect.mapError(next, () => error), nth + 1, tries)
          if (tries >= policy.attempts || !canRetry(error)) return Effect.fail(error)
          const wait = Effect.flatMap(backoff(policy, tries, error.retryAfter), Effect.sleep)
          return Effect.zipRight(wait, attempts(authentication, nth + 1, tries + 1))
        }))

    return { request: attempts(authentication, 1, 1), tenant, identity: [path, client.clientId, audience] }
  })
