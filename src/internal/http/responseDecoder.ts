/** Decodes a response to the operation's value, unknown fields included, or to one of its declared errors, or to `UnexpectedResponse`. */
import type * as Clock from "effect/Clock"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Any, Endpoint } from "../../Endpoint.js"
import { type Issue, TransportError, UnexpectedResponse } from "../../Errors.js"
import { defined } from "../runtime/defined.js"
import { memoizeByEndpoint } from "../runtime/memoize.js"
import { parseJson } from "../runtime/parseJson.js"
import * as Decode from "../schema/decode.js"
import * as Issues from "../schema/issues.js"
import { isUndescribed } from "../schema/schemaTree.js"
import { hostOf } from "./baseUrl.js"
import * as ErrorBody from "./errorBody.js"
import * as EventStream from "./media/eventStream.js"
import type { BodyLimit, RawBody, RawResponse } from "./rawExchange.js"
import { bodyLimits } from "./responseBody.js"

export const isSuccess = (status: number): boolean => status >= 200 && status < 300

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Decodes a body without its byte order mark. Returns `undefined` if it is not UTF-8. */
const decodeText = (body: RawBody["body"]): string | undefined =>
  typeof body === "string" ? body : Either.getOrUndefined(Either.try(() => utf8.decode(body)))

/** Checks that the success of an operation needs the body of a response with this status. */
export const isDecoded = ({ success }: Pick<Any, "success">, status: number): boolean =>
  isSuccess(status) && success !== undefined && !isUndescribed(success)

/** Limits a body that may be decoded to `max` bytes, any other to the size of an error. */
export const bodyLimit = ({ success }: Pick<Any, "success">, max: number): BodyLimit => (status) =>
  isSuccess(status) && success !== undefined ? max : bodyLimits.drained

/** Fails with an `UnexpectedResponse` whose message this library writes. */
type Refuse = (
  reason: UnexpectedResponse["reason"],
  message: string,
  path?: string
) => Either.Either<never, UnexpectedResponse>

const decoderOf = memoizeByEndpoint(({ items, responses, success = Schema.Unknown }) =>
  responses === "lenient" ? Decode.makeLenient(success, items) : Decode.make(success)
)

/** Decodes JSON. Nothing, `null` and `""` are an absent value where it may be absent. */
const decodeJson = (endpoint: Any, value: unknown): Either.Either<unknown, Issue> => {
  const decode = decoderOf(endpoint)
  if (value !== "" && value !== null) return decode(value)
  const absent = decode(undefined)
  return Either.orElse(absent, () => Either.orElse(decode(value), () => absent))
}

/** Decodes a success. The value is the very object that was parsed, unless nulls had to be removed from a copy. */
const decode = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  { body, completeness, headers: { "content-type": contentType = "" } }: RawResponse,
  refuse: Refuse
): Either.Either<Success, UnexpectedResponse> => {
  const { success } = endpoint
  const isNeeded = success !== undefined && !isUndescribed(success)
  if (completeness === "truncated" && isNeeded) {
    return refuse("size", "the response body is larger than maxBodySize")
  }
  const text = decodeText(body)
  // A web page comes from a proxy. Old pages are not UTF-8, and a truncated page may end within a character.
  if (ErrorBody.isHtml(text ?? ErrorBody.text(body))) return refuse("html", "the response is a web page")
  if (endpoint.events !== undefined && !/^text\/event-stream\b/i.test(contentType)) {
    return refuse("schema", "expected server-sent events")
  }
  // Sound: without a schema `Success` is `void`, and without a description `unknown`.
  if (!isNeeded) return Either.right((success && undescribed(text, completeness)) as Success)
  if (text === undefined || completeness === "corrupt") {
    return refuse("encoding", "the response body is not valid UTF-8 or gzip")
  }
  const json = parseJson(text.trim() === "" ? "null" : text)
  const decoded = Either.flatMap(Either.mapLeft(json, () => undefined), (value) => decodeJson(endpoint, value))
  if (Either.isRight(decoded)) return Either.right(decoded.right as Success) // sound: it matches the schema of `Success`
  // Where a value is optional, a text such as `OK` or `true` is a success without it. An object may be cut off.
  const isText = /^text\/plain\b/i.test(contentType) && !/^\s*[[{]/.test(text)
  const nothing = isText ? decoderOf(endpoint)(undefined) : decoded
  if (Either.isRight(nothing)) return Either.right(nothing.right as Success) // sound: likewise
  return decoded.left === undefined
    ? refuse("json", "the response body is not JSON")
    : refuse("schema", decoded.left.message, decoded.left.path)
}

/** The JSON of a body that the operation does not describe; `undefined` for anything else. */
const undescribed = (text: string | undefined, completeness: RawBody["completeness"]): unknown =>
  completeness === "complete" ? Either.getOrUndefined(parseJson(text ?? "")) : undefined

/** What an unusable response says about the call, and the value of a success. */
const outcomeOf = (
  { method }: Any,
  { body, headers, redirected, status }: RawResponse,
  reason: UnexpectedResponse["reason"]
): Pick<UnexpectedResponse, "outcome" | "value"> => {
  if (redirected || reason === "redirect" || reason === "html") {
    return { outcome: method === "GET" ? "not-done" : "unknown" }
  }
  const json = isSuccess(status) ? Either.getOrUndefined(parseJson(ErrorBody.text(body))) : undefined
  const value = json === undefined ? {} : { value: Redacted.make(json) }
  if (method === "GET") return { outcome: "not-done", ...value }
  // Text on a success may come from a proxy.
  if (isSuccess(status)) return { outcome: json !== undefined || isJson(headers) ? "done" : "unknown", ...value }
  return { outcome: status >= 400 && status < 500 && status !== 408 ? "not-done" : "unknown" }
}

const isJson = ({ "content-type": contentType = "" }: RawResponse["headers"]): boolean => /\bjson\b/i.test(contentType)

/** The prefix of all paths of the contract. A base URL without it is the most frequent reason for a 404 of every call. */
const pathPrefix = "/api/v2"

/**
 * Turns a response of a tenant into the operation's value or error. `strings` gives those of the call's input, which errors
 * hide.
 */
export const interpret = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  tenant: string,
  response: RawResponse & { readonly token: Redacted.Redacted },
  strings: () => ReadonlyArray<string>,
  clock: Clock.Clock
): Either.Either<Success, Failure | TransportError | UnexpectedResponse> => {
  const { headers, status, token } = response
  const redactor = ErrorBody.makeRedactor(token, strings)
  const read = () => ErrorBody.read(endpoint, response, clock.unsafeCurrentTimeMillis(), redactor)
  const refuse: Refuse = (reason, problem, at = "") => {
    const { errorCode, operation, raw, requestId, retryAfter } = read()
    const source = response.redirected ? "another URL" : hostOf(tenant)
    const path = at === "" ? undefined : redactor.code(at)
    const what = reason === "schema" ? Issues.mismatch({ path: path ?? "", message: problem }) : problem
    const known = outcomeOf(endpoint, response, reason)
    const done = known.outcome === "done" ? "the change was carried out, but its response cannot be used: " : ""
    const message = `status ${status} from ${source}: ${done}${what}`
    const contentType = headers["content-type"] && redactor.code(headers["content-type"])
    const shape = ErrorBody.shape(response, redactor)
    const details = { operation, status, errorCode, requestId, retryAfter, raw, ...known }
    return Either.left(new UnexpectedResponse(defined({ ...details, reason, message, contentType, path, shape })))
  }
  // 304 is no redirect, but few services send it: an operation that declares it gets its error.
  const isDeclared304 = status === 304 && endpoint.error.some((error) => error.status === status)
  if (response.redirected || status === 0 || (status >= 300 && status < 400 && !isDeclared304)) {
    return refuse(
      "redirect",
      response.redirected
        ? "the HTTP client followed a redirect, so the response may be another service's"
        : "the response is a redirect, which the client does not follow"
    )
  }
  if (isSuccess(status)) {
    const isCut = response.completeness === "interrupted" && isDecoded(endpoint, status)
    if (!isCut) {
      const decoded = decode(endpoint, response, refuse)
      const { events } = response
      if (events === undefined) return decoded
      // Sound: the success of an operation with events is the stream of them.
      return Either.map(decoded, () => EventStream.decode(endpoint, tenant, events, redactor.code) as Success)
    }
    const what = `the connection to ${hostOf(tenant)} broke while the response was read (status ${status})`
    // Other content may come from a proxy.
    const isDone = endpoint.method !== "GET" && isJson(headers)
    const message = `${isDone ? "the change was carried out, but " : ""}${what}`
    return Either.left(new TransportError({ operation: endpoint.name, outcome: isDone ? "done" : "unknown", message }))
  }
  const found = read()
  // The bare reason phrase comes from a router: no handler of the service has seen the request.
  const mayLackPrefix = status === 404 && !tenant.endsWith(pathPrefix) && /^not found\.?$/i.test(found.message)
  const hint = mayLackPrefix ? ` (does the base URL lack ${pathPrefix}?)` : ""
  const details = { ...found, message: found.message + hint }
  const Declared = endpoint.error.find((error) => error.status === status && error.matches(details))
  return Declared === undefined ? refuse("status", details.message) : Either.left(new Declared(details))
}
