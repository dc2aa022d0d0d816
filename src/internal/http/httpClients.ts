/** The HTTP clients of the platform: the only module that knows the shapes of their errors, and the options that undici needs. */
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Context from "effect/Context"

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
export const makeError = (request: HttpClientRequest.HttpClientRequest, cause: unknown): HttpError =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause })

interface UndiciOptions {
  readonly highWaterMark?: number
}

/** The options that `NodeHttpClient` passes to undici; named here by its key because the core does not import Node's module. */
const UndiciOptions = Context.GenericTag<UndiciOptions>("@effect/platform-node/NodeHttpClient/undiciOptions")

/**
 * Lets undici not pause before `room` bytes of a body wait to be read. If a connection ends while undici 7 pauses, it throws where nothing
 * can catch it, and the process ends (nodejs/undici#5360).
 */
export const withRoom = (context: Context.Context<never>, room: number): Context.Context<never> => {
  const given = context as Context.Context<object> // sound: it need not be there
  const options = Context.getOrElse(given, UndiciOptions, (): UndiciOptions => ({}))
  const highWaterMark = (Math.min(Math.floor(room), Number.MAX_SAFE_INTEGER - 1) || 0) + 1 // it pauses there
  return Context.add(context, UndiciOptions, {
    ...options,
    highWaterMark: Math.max(options.highWaterMark ?? 0, highWaterMark)
  })
}
