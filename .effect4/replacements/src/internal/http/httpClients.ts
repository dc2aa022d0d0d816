/** The HTTP clients of the platform: the only module that knows the shapes of their errors, and the options that undici needs. */
import type * as Context from "effect/Context"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"

export type HttpError = HttpClientError.HttpClientError

/** Checks that the platform did not even try to send the request: it could not encode it, or its URL is not valid. */
export const isInvalidRequest = ({ reason }: HttpError): boolean =>
  reason._tag === "EncodeError" || reason._tag === "InvalidUrlError"

/** Checks that the request got no response. */
export const isTransport = ({ reason }: HttpError): boolean => reason._tag === "TransportError"

export const isEmptyBody = ({ reason }: HttpError): boolean => reason._tag === "EmptyBodyError"

/** The error of the platform beneath. */
export const causeOf = ({ reason }: HttpError): unknown => reason.cause

/** Makes the error of a request that got no response. */
export const makeError = (request: HttpClientRequest.HttpClientRequest, cause: unknown): HttpError =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })

/** Undici 8 may pause while bytes of a body wait to be read. */
export const withRoom = (context: Context.Context<never>, _room: number): Context.Context<never> => context
