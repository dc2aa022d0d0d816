/** Decodes a response to the operation's value, one of its declared errors, or `UnexpectedResponse`. */
import type * as Clock from "effect/Clock"
import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import type { Any, Endpoint } from "../../Endpoint.js"
import { type Issue, TransportError, UnexpectedResponse } from "../../Errors.js"
import { memoizeByEndpoint } from "../runtime/memoizeByEndpoint.js"
import * as Decode from "../schema/decode.js"
import { bodyLimits } from "./body.js"
import * as ErrorBody from "./errorBody.js"
import type { BodyLimit, RawBody, RawResponse } from "./rawMessages.js"

export const isSuccess = (status: number): boolean => status >= 200 && status < 300

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Decodes a body without its byte order mark. Returns `undefined` if it is not UTF-8. */
const decodeText = (body: RawBody["body"]): string | undefined =>
  typeof body === "string" ? body : Either.getOrUndefined(Either.try(() => utf8.decode(body)))

/** Tells if the body of a response with this status is decoded. */
export const isDecoded = (endpoint: Pick<Any, "success">, status: number): boolean =>
  isSuccess(status) && endpoint.success !== undefined

/** Limits a body that is decoded to `max` bytes, any other to the size of an error. */
export const bodyLimit = (endpoint: Pick<Any, "success">, max: number): BodyLimit => (status) =>
  isDecoded(endpoint, status) ? max : bodyLimits.drained

/** Makes an `UnexpectedResponse` with a message of ours. */
type Refuse = (reason: UnexpectedResponse["reason"], message: string, path?: string) => UnexpectedResponse

const refusal = (
  endpoint: Pick<Any, "name" | "scope">,
  response: RawResponse,
  now: number,
  redactor: ErrorBody.Redactor,
  ...[reason, message, path]: Parameters<Refuse>
): UnexpectedResponse => {
  const { errorCode, operation, raw, requestId, retryAfter, status } = ErrorBody.read(endpoint, response, now, redactor)
  const contentType = response.headers["content-type"]
  return new UnexpectedResponse({
    operation,
    status,
    reason,
    message,
    shape: ErrorBody.shape(response, redactor),
    raw,
    ...(contentType !== undefined && { contentType: redactor.code(contentType) }),
    ...(path !== undefined && { path }),
    ...(errorCode !== undefined && { errorCode }),
    ...(requestId !== undefined && { requestId }),
    ...(retryAfter !== undefined && { retryAfter })
  })
}

const decoderOf = memoizeByEndpoint(({ success }): Decode.Decoder =>
  success === undefined ? Either.right : Decode.make(success)
)

/** Decodes a success. The value is the very object that was parsed, unless nulls had to be removed from a copy. */
const decode = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  response: RawResponse,
  refuse: Refuse
): Either.Either<Success, UnexpectedResponse> => {
  const text = decodeText(response.body)
  // Old pages are not UTF-8, and a truncated page may end within a character.
  const isPage = () => ErrorBody.isHtml(text ?? ErrorBody.text(response.body))
  // Without a schema any body will do, except a web page: that comes from a proxy.
  if (endpoint.success === undefined) {
    return isPage()
      ? Either.left(refuse("html", "the response is a web page"))
      : Either.right(undefined as Success) // sound: without a schema, `Success` is `void`
  }
  if (response.completeness === "truncated") {
    return Either.left(refuse("size", "the response body is larger than maxBodySize"))
  }
  const parsed = text === undefined || response.completeness === "corrupt"
    ? Either.left("encoding" as const)
    : text.trim() === "" ?
    Either.right(undefined)
    : ErrorBody.parseJson(text)
  if (Either.isLeft(parsed)) {
    return Either.left(
      isPage() ?
        refuse("html", "the response is a web page")
        : parsed.left === "encoding" ?
        refuse("encoding", "the response body is not valid UTF-8 or gzip")
        : refuse("json", "the response body is not JSON")
    )
  }
  const value = parsed.right === "" || parsed.right === null ? undefined : parsed.right
  // Sound: the decoder has checked the value against the schema of `Success`.
  return Either.mapLeft(decoderOf(endpoint)(value) as Either.Either<Success, Issue>, ({ message, path }) =>
    path === ""
      ? refuse("schema", `unexpected response body: ${message}`)
      : refuse("schema", `unexpected response body at ${path}: ${message}`, path))
}

/** Turns a response into the operation's value or error. `strings` gives those of the call's input, which errors hide. */
export const interpret = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  response: RawResponse & { readonly token: Redacted.Redacted },
  strings: () => ReadonlyArray<string>,
  clock: Clock.Clock
): Either.Either<Success, Failure | TransportError | UnexpectedResponse> => {
  const { status, token } = response
  const redactor = ErrorBody.makeRedactor(token, strings)
  const refuse: Refuse = (...details) =>
    refusal(endpoint, response, clock.unsafeCurrentTimeMillis(), redactor, ...details)
  if (response.redirected || status === 0 || (status >= 300 && status < 400)) {
    return Either.left(refuse("redirect", "the response is a redirect, which the client does not follow"))
  }
  if (isSuccess(status)) {
    return response.completeness === "interrupted" && isDecoded(endpoint, status)
      ? Either.left(
        new TransportError({
          operation: endpoint.name,
          outcome: "unknown",
          message: `the connection broke while the response was read (status ${status})`
        })
      )
      : decode(endpoint, response, refuse)
  }
  const details = ErrorBody.read(endpoint, response, clock.unsafeCurrentTimeMillis(), redactor)
  const Declared = endpoint.error.find((error) => error.status === status && error.matches(details))
  return Either.left(Declared === undefined ? refuse("status", details.message) : new Declared(details))
}
