/** The errors of the platform's HTTP clients: the only module that knows their shapes. */
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"

export type HttpError = HttpClientError.HttpClientError

/** Checks that the platform did not even try to send the request: it could not encode it, or its URL is not valid. */
export const isInvalidRequest = (error: HttpError): boolean =>
  error._tag === "RequestError" && error.reason !== "Transport"

/** Checks that the request got no response. */
export const isTransport = (error: HttpError): boolean => error._tag === "RequestError" && error.reason === "Transport"

export const isEmptyBody = (error: HttpError): boolean => error.reason === "EmptyBody"

/** The error of the platform beneath. */
export const causeOf = (error: HttpError): unknown => error.cause

/** Makes the error of a request that got no response. */
export const make = (request: HttpClientRequest.HttpClientRequest, cause: unknown): HttpError =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause })
