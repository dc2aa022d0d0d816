/** The errors of the platform's HTTP clients. */
import { HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"

export type Reason = "Decode" | "EmptyBody" | "Encode" | "InvalidUrl" | "StatusCode" | "Transport"

interface More {
  readonly cause?: unknown
  readonly description?: string
}

const requestReasons = {
  Encode: HttpClientError.EncodeError,
  InvalidUrl: HttpClientError.InvalidUrlError,
  Transport: HttpClientError.TransportError
}

const responseReasons = {
  Decode: HttpClientError.DecodeError,
  EmptyBody: HttpClientError.EmptyBodyError,
  StatusCode: HttpClientError.StatusCodeError
}

/** Makes the error of a request that got no response. */
export const requestError = (
  request: HttpClientRequest.HttpClientRequest,
  reason: keyof typeof requestReasons,
  more: More = {}
): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({ reason: new requestReasons[reason]({ request, ...more }) })

/** Makes the error of a response. What it is of may be left out where nothing looks at it. */
export const responseError = (
  request: HttpClientRequest.HttpClientRequest,
  reason: keyof typeof responseReasons,
  more: More & { readonly response?: HttpClientResponse.HttpClientResponse } = {}
): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({
    reason: new responseReasons[reason]({ request, response: {} as never, ...more }) // sound: see above
  })

/** Gives the reason of an error: `Transport`, `Encode` and `InvalidUrl` are those of requests without a response. */
export const reasonOf = (error: unknown): Reason | undefined =>
  HttpClientError.isHttpClientError(error)
    ? error.reason._tag.replace(/Error$/, "") as Reason // sound: the tags are these names
    : undefined

/** Gives the error beneath. */
export const causeOf = (error: unknown): unknown =>
  HttpClientError.isHttpClientError(error) ? error.reason.cause : undefined
