/** The errors of the platform's HTTP clients. */
import { HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"

export type Reason = "Decode" | "EmptyBody" | "Encode" | "InvalidUrl" | "StatusCode" | "Transport"

interface More {
  readonly cause?: unknown
  readonly description?: string
}

/** Makes the error of a request that got no response. */
export const requestError = (
  request: HttpClientRequest.HttpClientRequest,
  reason: "Encode" | "InvalidUrl" | "Transport",
  more: More = {}
): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError[`${reason}Error` as const]({ request, ...more }) })

/** Makes the error of a response. What it is of may be left out where nothing looks at it. */
export const responseError = (
  request: HttpClientRequest.HttpClientRequest,
  reason: "Decode" | "EmptyBody" | "StatusCode",
  more: More & { readonly response?: HttpClientResponse.HttpClientResponse } = {}
): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError[`${reason}Error` as const]({ request, response: {} as never, ...more }) // sound: see above
  })

/** Gives the reason of an error: `Transport`, `Encode` and `InvalidUrl` are those of requests without a response. */
export const reasonOf = (error: unknown): Reason | undefined =>
  HttpClientError.isHttpClientError(error)
    ? error.reason._tag.replace(/Error$/, "") as Reason // sound: the tags are these names
    : undefined

/** Gives the error beneath. */
export const causeOf = (error: unknown): unknown =>
  HttpClientError.isHttpClientError(error) ? error.reason.cause : undefined
