/** From an answer to what the operation promises: its value, one of its declared failures, or `UnexpectedResponse`. */
import type * as Clock from "effect/Clock"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import type { Any, Endpoint } from "../../Endpoint.js"
import { type Issue, TransportError, UnexpectedResponse } from "../../Errors.js"
import { memoizeByEndpoint } from "../runtime/memoizeByEndpoint.js"
import * as Decode from "../schema/decode.js"
import * as Failure from "./errorBody.js"
import * as Http from "./exchange.js"

export const isSuccess = (status: number): boolean => status >= 200 && status < 300

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The text of a body, a byte order mark removed; none if it is not UTF-8. */
const decodeText = (body: Http.RawResponse["body"]): string | undefined =>
  Predicate.isString(body) ? body : Either.getOrUndefined(Either.try(() => utf8.decode(body)))

/** Whether the body of an answer with this status is decoded. */
export const isDecoded = (endpoint: Pick<Any, "success">, status: number): boolean =>
  isSuccess(status) && endpoint.success !== undefined

/** How much of a body is read: all of one that is decoded, but no more than `max`, else as much as a failure may say. */
export const bodyLimit = (endpoint: Pick<Any, "success">, max: number) => (status: number): number =>
  isDecoded(endpoint, status) ? max : Http.bodyLimits.drained

/** Makes an `UnexpectedResponse` in our own words. */
type Refuse = (reason: UnexpectedResponse["reason"], message: string, path?: string) => UnexpectedResponse

const refusal = (
  endpoint: Pick<Any, "name" | "scope">,
  received: Http.RawResponse,
  now: number,
  words: Failure.Redactor,
  ...[reason, message, path]: Parameters<Refuse>
): UnexpectedResponse => {
  const { errorCode, operation, raw, requestId, retryAfter, status } = Failure.read(endpoint, received, now, words)
  const contentType = received.headers["content-type"]
  return new UnexpectedResponse({
    operation,
    status,
    reason,
    message,
    shape: Failure.shape(received, words),
    raw,
    ...(contentType !== undefined && { contentType: words.code(contentType) }),
    ...(path !== undefined && { path }),
    ...(errorCode !== undefined && { errorCode }),
    ...(requestId !== undefined && { requestId }),
    ...(retryAfter !== undefined && { retryAfter })
  })
}

/** Checks the value of an operation. */
const promisedBy = memoizeByEndpoint(({ success }): Decode.Decoder =>
  success === undefined ? Either.right : Decode.make(success)
)

/** The value of a success: the very object that was parsed, unless nulls had to be removed from a copy of it. */
const decode = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  received: Http.RawResponse,
  refuse: Refuse
): Either.Either<Success, UnexpectedResponse> => {
  const text = decodeText(received.body)
  // Old pages are not UTF-8, and one that was cut may end within a character.
  const isPage = () => Failure.isHtml(text ?? Failure.text(received.body))
  // Whatever carries no value is fine where none is promised. A web page is not: it comes from something in between.
  if (endpoint.success === undefined) {
    return isPage()
      ? Either.left(refuse("html", "a web page instead of an answer"))
      : Either.right(undefined as Success) // sound: without a schema, `Success` is `void`
  }
  if (received.completeness === "truncated") {
    return Either.left(refuse("size", "the answer is larger than what is accepted"))
  }
  const parsed = text === undefined || received.completeness === "corrupt"
    ? Either.left("encoding" as const)
    : text.trim() === "" ?
    Either.right(undefined)
    : Failure.parseJson(text)
  if (Either.isLeft(parsed)) {
    return Either.left(
      isPage() ?
        refuse("html", "a web page instead of an answer")
        : parsed.left === "encoding" ?
        refuse("encoding", "the answer is not UTF-8")
        : refuse("json", "the answer is not JSON")
    )
  }
  const value = parsed.right === "" || parsed.right === null ? undefined : parsed.right
  // Sound: what comes back was just checked.
  return Either.mapLeft(promisedBy(endpoint)(value) as Either.Either<Success, Issue>, ({ message, path }) =>
    path === ""
      ? refuse("schema", `not as promised: ${message}`)
      : refuse("schema", `not as promised at ${path}: ${message}`, path))
}

/** Turns an answer into the operation's value or failure. `strings` are those of the call's input. */
export const interpret = <Input, Success, Failed>(
  endpoint: Endpoint<Input, Success, Failed>,
  received: Http.RawResponse & { readonly token: Redacted.Redacted },
  strings: () => ReadonlyArray<string>,
  clock: Clock.Clock
): Either.Either<Success, Failed | TransportError | UnexpectedResponse> => {
  const { status, token } = received
  const refuse: Refuse = (...why) =>
    refusal(endpoint, received, clock.unsafeCurrentTimeMillis(), Failure.makeRedactor(token, strings), ...why)
  if (received.redirected || status === 0 || (status >= 300 && status < 400)) {
    return Either.left(refuse("redirect", "a redirect, which is never followed"))
  }
  if (isSuccess(status)) {
    return received.completeness === "interrupted" && isDecoded(endpoint, status)
      ? Either.left(
        new TransportError({
          operation: endpoint.name,
          outcome: "unknown",
          message: `the connection broke within the answer (status ${status})`
        })
      )
      : decode(endpoint, received, refuse)
  }
  const answer = Failure.read(endpoint, received, clock.unsafeCurrentTimeMillis(), Failure.makeRedactor(token, strings))
  const Declared = endpoint.error.find((error) => error.status === status && error.matches(answer))
  return Either.left(Declared === undefined ? refuse("status", answer.message) : new Declared(answer))
}
