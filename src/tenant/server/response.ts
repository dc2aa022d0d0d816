/** An answer as plain data, in the service's shapes, so that handlers stay pure and faults can change what they gave. */
import * as Headers from "@effect/platform/Headers"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Schema from "effect/Schema"
import { omittable } from "../../operations/schemas.js"

export interface Answer {
  readonly status: number
  readonly headers: Headers.Headers
  readonly body: string
}

/** The body of a failure of the management interface. */
export const Failure = Schema.Struct({
  statusCode: Schema.Number,
  error: Schema.String.annotations({ description: "the status in words" }),
  message: Schema.String,
  errorCode: omittable(Schema.String),
  attributes: omittable(Schema.Struct({ error: Schema.String }))
}).annotations({ identifier: "Failure" })

/** The body of a failure of the token endpoint. */
export const OAuthFailure = Schema.Struct({ error: Schema.String, error_description: Schema.String }).annotations({
  identifier: "OAuthFailure"
})

const phrases: Readonly<Record<number, string>> = {
  200: "OK",
  202: "Accepted",
  204: "No Content",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout"
}

/** What a status says in words. */
export const phraseOf = (status: number): string => phrases[status] ?? "Error"

/** JSON under the service's content type. */
export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: Headers.fromInput({ "content-type": "application/json; charset=utf-8", ...headers }),
  body: JSON.stringify(body)
})

export const text = (status: number, body: string): Answer => ({
  status,
  headers: Headers.fromInput({ "content-type": "text/plain; charset=utf-8" }),
  body
})

/** Nothing, yet labelled as JSON, as the service does. */
export const nothing = (status: number): Answer => ({
  status,
  headers: Headers.fromInput({ "content-type": "application/json" }),
  body: ""
})

/** A failure of the management interface. */
export const failure = (
  status: number,
  message: string,
  more: Partial<typeof Failure.Type> = {}
): Answer => {
  const body: typeof Failure.Type = { statusCode: status, error: phraseOf(status), message, ...more }
  return json(status, body)
}

/** A failure of the token endpoint. */
export const oauthFailure = (status: number, error: string, error_description: string): Answer => {
  const body: typeof OAuthFailure.Type = { error, error_description }
  return json(status, body, { "cache-control": "no-store" })
}

/** The answer with more headers; `undefined` takes one away. */
export const withHeaders = (answer: Answer, headers: Readonly<Record<string, string | undefined>>): Answer => {
  const replaced = Headers.remove(answer.headers, Object.keys(headers))
  return { ...answer, headers: Headers.setAll(replaced, Headers.fromInput(headers)) }
}

/** What may be sent of the body: HTTP allows none with some statuses. */
export const bytes = (answer: Answer): Uint8Array =>
  [204, 205, 304].includes(answer.status) ? new Uint8Array() : new TextEncoder().encode(answer.body)

export const toResponse = (answer: Answer): HttpServerResponse.HttpServerResponse => {
  const { headers, status } = answer
  const body = bytes(answer)
  return body.length === 0
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.uint8Array(body, { status, headers })
}
