/** From an answer to what the operation promises: its value, one of its declared failures, or `UnexpectedResponse`. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { Any, Endpoint } from "../Endpoint.js"
import { type Answer, TransportError, UnexpectedResponse } from "../Errors.js"
import * as Headers from "./headers.js"
import * as Http from "./http.js"
import * as Issues from "./issues.js"
import { withoutNulls } from "./nulls.js"
import { redact } from "./redact.js"

/** What is known when an answer is judged. */
export interface Context {
  /** The local time in milliseconds. */
  readonly now: number
  /** The strings that must not appear in anything printable. */
  readonly secrets: () => ReadonlyArray<string>
}

export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** The text of a body, a byte order mark removed; none if it is not UTF-8 and must be. */
export const decodeText = (body: Uint8Array, fatal: boolean): string | undefined =>
  Either.getOrUndefined(Either.try(() => new TextDecoder("utf-8", { fatal }).decode(body)))

/** The text of a body, whatever is not UTF-8 in it replaced. */
const lenient = (body: Uint8Array): string => new TextDecoder().decode(body)

export const parseJson = (text: string): Either.Either<unknown, unknown> => Either.try((): unknown => JSON.parse(text))

/** Whether the body of an answer with this status is decoded. */
export const isDecoded = (endpoint: Pick<Any, "success">, status: number): boolean =>
  isSuccess(status) && endpoint.success !== undefined

/** How much of a body is read: all of one that is decoded, but no more than `max`, else as much as a failure may say. */
export const bodyLimit = (endpoint: Pick<Any, "success">, max: number) => (status: number): number =>
  isDecoded(endpoint, status) ? max : Http.limits.drained

const isHtml = (text: string): boolean => /^\s*</.test(text)

/** What a body looks like without what it says. */
const shape = (received: Http.Received, text: string): string => {
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1]?.trim()
  const json = Either.getOrUndefined(parseJson(text))
  const size = received.end === "cut" ? `more than ${received.body.length}` : String(received.body.length)
  return [
    `${received.headers["content-type"] ?? "no content type"}, ${size} bytes`,
    isHtml(text) && title !== undefined && `a web page titled "${title}"`,
    Predicate.isRecord(json) && `an object of ${Object.keys(json).slice(0, 20).join(", ")}`,
    Array.isArray(json) && `a list of ${json.length}`,
    received.end === "broken" && "broken off",
    received.end === "garbled" && "broken gzip"
  ].filter(Predicate.isString).join(", ")
}

const string = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined

/** The scopes named in a text. */
const scopes = (text: string): ReadonlyArray<string> => text.match(/\b[a-z]+:[a-z_]+\b/g) ?? []

/** All that a failure says, from whatever it has for a body. */
const read = (
  endpoint: Pick<Any, "name" | "scope">,
  received: Http.Received,
  context: Context
): Answer => {
  const text = lenient(received.body)
  const json = Either.getOrUndefined(parseJson(text))
  const body: Readonly<Record<string, unknown>> = Predicate.isReadonlyRecord(json) ? json : {}
  const clean = (text: string) => redact(text, context.secrets())
  const message = string(body.message) ?? string(body.error_description) ?? string(body.description)
  // `error` is the reason phrase, but a code where the body has the OAuth shape.
  const errorCode = string(body.errorCode) ?? string(body.code) ??
    (body.statusCode === undefined ? string(body.error) : undefined)
  const scopeMissing = received.status === 403 &&
    (errorCode === "insufficient_scope" || /^insufficient scope/i.test(message ?? ""))
  const quota = Headers.rateLimit(received.headers)
  const requestId = Headers.requestId(received.headers)
  const challenge = /scope="([^"]*)"/.exec(received.headers["www-authenticate"] ?? "")?.[1] ?? ""
  // A string of the caller's own may look like a scope.
  const [named = []] = [message ?? "", challenge]
    .map((text) => scopes(text).filter((scope) => clean(scope) === scope))
    .filter((list) => list.length > 0)
  return {
    operation: endpoint.name,
    status: received.status,
    message: clean(message ?? string(body.error) ?? `status ${received.status}: ${shape(received, text)}`),
    errorCode: errorCode === undefined ? undefined : clean(errorCode),
    requestId: requestId === undefined ? undefined : clean(requestId),
    retryAfter: Headers.retryAfter(received.headers, context.now),
    raw: Redacted.make(text),
    scopeMissing,
    required: named.length > 0 ? named : [endpoint.scope],
    limit: quota.limit,
    remaining: quota.remaining,
    resetAt: Headers.resetAt(quota.reset)
  }
}

const unexpected = (
  answer: Answer,
  received: Http.Received,
  context: Context,
  reason: UnexpectedResponse["reason"],
  detail: { readonly message: string; readonly path?: string }
): UnexpectedResponse => {
  const { errorCode, operation, raw, requestId, retryAfter, status } = answer
  const clean = (text: string) => redact(text, context.secrets())
  const contentType = received.headers["content-type"]
  return new UnexpectedResponse({
    operation,
    status,
    reason,
    message: clean(detail.message),
    shape: clean(shape(received, lenient(received.body))),
    raw,
    ...(contentType !== undefined && { contentType: clean(contentType) }),
    ...(detail.path !== undefined && { path: clean(detail.path) }),
    ...(errorCode !== undefined && { errorCode }),
    ...(requestId !== undefined && { requestId }),
    ...(retryAfter !== undefined && { retryAfter })
  })
}

/** The value of a success: the very object that was parsed, unless nulls had to be removed from a copy of it. */
const decode = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  received: Http.Received,
  refuse: (reason: UnexpectedResponse["reason"], message: string, path?: string) => UnexpectedResponse
): Either.Either<Success, UnexpectedResponse> => {
  const text = decodeText(received.body, true)
  // Old pages are not UTF-8, and one that was cut may end within a character.
  const isPage = () => isHtml(text ?? lenient(received.body))
  // Whatever carries no value is fine where none is promised. A web page is not: it comes from something in between.
  if (endpoint.success === undefined) {
    return isPage()
      ? Either.left(refuse("html", "a web page instead of an answer"))
      : Either.right(undefined as Success) // sound: without a schema, `Success` is `void`
  }
  if (received.end === "cut") return Either.left(refuse("size", "the answer is larger than what is accepted"))
  const parsed = text === undefined || received.end === "garbled"
    ? Either.left("encoding" as const)
    : text.trim() === "" ?
    Either.right(undefined)
    : parseJson(text)
  if (Either.isLeft(parsed)) {
    return Either.left(
      isPage() ?
        refuse("html", "a web page instead of an answer")
        : parsed.left === "encoding" ?
        refuse("encoding", "the answer is not UTF-8")
        : refuse("json", "the answer is not JSON")
    )
  }
  const is = ParseResult.is(endpoint.success)
  const value = parsed.right === "" || parsed.right === null ? undefined : parsed.right
  if (is(value)) return Either.right(value)
  const cleaned = withoutNulls(endpoint.success.ast, value)
  const checked = ParseResult.validateEither(endpoint.success)(cleaned)
  if (Either.isRight(checked)) return Either.right(cleaned as Success) // sound: it was just checked
  const [issue] = Issues.of(checked.left)
  const path = issue?.path === "" ? undefined : issue?.path
  return Either.left(
    refuse("schema", `not as promised${path === undefined ? "" : ` at ${path}`}: ${issue?.message}`, path)
  )
}

/** Turns an answer into the operation's value or failure. */
export const interpret = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  received: Http.Received,
  context: Context
): Either.Either<Success, Failure | TransportError | UnexpectedResponse> => {
  const refuse = (reason: UnexpectedResponse["reason"], message: string, path?: string) =>
    unexpected(read(endpoint, received, context), received, context, reason, {
      message,
      ...(path !== undefined && { path })
    })
  const { status } = received
  if (received.redirected || status === 0 || (status >= 300 && status < 400)) {
    return Either.left(refuse("redirect", "a redirect, which is never followed"))
  }
  if (isSuccess(status)) {
    return received.end === "broken" && isDecoded(endpoint, status)
      ? Either.left(new TransportError({
        operation: endpoint.name,
        outcome: "unknown",
        message: `the connection broke within the answer (status ${status})`
      }))
      : decode(endpoint, received, refuse)
  }
  const answer = read(endpoint, received, context)
  const Declared = endpoint.error.find((error) => error.status === status && error.accepts(answer))
  return Either.left(Declared === undefined ? refuse("status", answer.message) : new Declared(answer))
}
