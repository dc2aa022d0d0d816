/** Responses as plain data in the service's shapes, so that handlers stay pure and a fault can change a response. */
import * as Headers from "@effect/platform/Headers"
import * as Schema from "effect/Schema"
import { omittable } from "../../Schemas.js"

export interface PlainResponse {
  readonly status: number
  readonly headers: Headers.Headers
  readonly body: string | Uint8Array
}

/** The error body of the management interface. */
export const FailureBody = Schema.Struct({
  statusCode: Schema.Number,
  error: Schema.String.annotations({ description: "the reason phrase of the status" }),
  message: Schema.String,
  errorCode: omittable(Schema.String),
  attributes: omittable(Schema.Struct({ error: Schema.String }))
}).annotations({ identifier: "Failure" })

/** The error body of the token endpoint. */
export const OAuthFailureBody = Schema.Struct({ error: Schema.String, error_description: Schema.String }).annotations({
  identifier: "OAuthFailure"
})

const reasonPhrases: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  206: "Partial Content",
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  410: "Gone",
  412: "Precondition Failed",
  413: "Payload Too Large",
  416: "Range Not Satisfiable",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout"
}

/** Tells that a response can have this status: HTTP knows others, but not for a final response. */
export const isStatus = (status: number): boolean => Number.isInteger(status) && status >= 200 && status <= 599

export const reasonPhrase = (status: number): string => reasonPhrases[status] ?? "Error"

const plain = (status: number, contentType: string, body: PlainResponse["body"]): PlainResponse => ({
  status,
  headers: Headers.fromInput({ "content-type": contentType }),
  body
})

export const jsonResponse = (status: number, body: unknown): PlainResponse =>
  plain(status, "application/json; charset=utf-8", JSON.stringify(body))

/** Server-sent events, and then the end of the stream. */
export const eventsResponse = (events: Iterable<unknown>): PlainResponse =>
  plain(200, "text/event-stream", Array.from(events, (event) => `data: ${JSON.stringify(event)}\n\n`).join(""))

export const textResponse = (status: number, body: string): PlainResponse =>
  plain(status, "text/plain; charset=utf-8", body)

/** An error of object storage. */
export const xmlResponse = (status: number, body: string): PlainResponse => plain(status, "application/xml", body)

export const bytesResponse = (status: number, contentType: string, body: Uint8Array): PlainResponse =>
  plain(status, contentType, body)

/** The service labels even an empty body as JSON. */
export const emptyResponse = (status: number): PlainResponse => plain(status, "application/json", "")

/** An error response of the management interface. */
export const failure = (
  status: number,
  message: string,
  more: Partial<typeof FailureBody.Type> = {}
): PlainResponse => {
  const body: typeof FailureBody.Type = { statusCode: status, error: reasonPhrase(status), message, ...more }
  return jsonResponse(status, body)
}

/** A response of the token endpoint, which no cache may store. */
export const tokenEndpointResponse = (status: number, body: unknown): PlainResponse =>
  addHeaders(jsonResponse(status, body), { "cache-control": "no-store" })

/** An error response of the token endpoint. */
export const oauthFailure = (status: number, error: string, error_description: string): PlainResponse =>
  tokenEndpointResponse(status, { error, error_description } satisfies typeof OAuthFailureBody.Type)

/** Adds or replaces headers; `undefined` removes one. */
export const addHeaders = (
  response: PlainResponse,
  headers: Readonly<Record<string, string | undefined>>
): PlainResponse => {
  const kept = Headers.remove(response.headers, Object.keys(headers))
  return { ...response, headers: Headers.setAll(kept, Headers.fromInput(headers)) }
}
