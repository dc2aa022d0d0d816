/** What an answer says that is no success, from whatever it has for a body: nothing in it is trusted. */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { Any } from "../../Endpoint.js"
import type { ErrorResponse } from "../../Errors.js"
import { isIdentifier } from "../schema/drift.js"
import * as Http from "./exchange.js"
import * as Headers from "./headers.js"
import { redact } from "./redact.js"

/** Makes a server's words printable. */
export interface Redactor {
  /** For what people read: hides every string that the call holds. */
  readonly clean: (text: string) => string
  /** For what programs read, such as a code: hides the token and long strings. A short one may be part of a code by chance. */
  readonly code: (text: string) => string
}

/** What programs read. */
const machine = /^[\w./:;=+ -]{1,128}$/

/** `strings` are those of the call's input; they are asked for once, and only if there is something to print. */
export const makeRedactor = (token: Redacted.Redacted, strings: () => ReadonlyArray<string>): Redactor => {
  let all: ReadonlyArray<string> | undefined
  const hidden = () => all ??= [Redacted.value(token), ...strings()]
  return {
    clean: (text) => redact(text, hidden()),
    code: (text) => redact(text, machine.test(text) ? hidden().filter((secret) => secret.length >= 8) : hidden())
  }
}

/** The text of a body, whatever is not UTF-8 in it replaced. */
export const text = (body: Http.RawResponse["body"]): string =>
  Predicate.isString(body) ? body : new TextDecoder().decode(body)

export const parseJson = (text: string): Either.Either<unknown, unknown> => Either.try((): unknown => JSON.parse(text))

export const isHtml = (text: string): boolean => /^\s*</.test(text)

/** The title of a web page; it stands near the beginning. */
const title = (text: string): string | undefined =>
  isHtml(text) ? /<title[^<>]*>([^<]*)/i.exec(text.slice(0, 16_384))?.[1]?.trim() : undefined

/** What a body looks like without what it says. */
export const shape = ({ body, completeness, headers }: Http.RawResponse, { clean, code }: Redactor): string => {
  const content = text(body)
  const page = title(content)
  const json = Either.getOrUndefined(parseJson(content))
  const contentType = headers["content-type"]
  return [
    contentType === undefined ? "no content type" : code(contentType),
    `${completeness === "truncated" ? "more than " : ""}${body.length} bytes`,
    page !== undefined && `a web page titled "${clean(page)}"`,
    Predicate.isRecord(json) &&
    `an object of ${clean(Object.keys(json).slice(0, 20).map((name) => isIdentifier(name) ? name : "*").join(", "))}`,
    Array.isArray(json) && `a list of ${json.length}`,
    completeness === "interrupted" && "broken off",
    completeness === "corrupt" && "broken gzip"
  ].filter(Predicate.isString).join(", ")
}

const string = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined

/** At most 20 scopes that a text names. A string of the caller's own may look like one. */
const scopes = (text: string | undefined, { code }: Redactor): ReadonlyArray<string> =>
  (text?.match(/(?<![\w:-])(?:create|read|update|delete):[\w-]+/g) ?? [])
    .slice(0, 20)
    .filter((scope) => code(scope) === scope)

/** All that a failure says. */
export const read = (
  endpoint: Pick<Any, "name" | "scope">,
  received: Http.RawResponse,
  now: number,
  words: Redactor
): ErrorResponse => {
  const { headers, status } = received
  const content = text(received.body)
  const json = Either.getOrUndefined(parseJson(content))
  const body: Readonly<Record<string, unknown>> = Predicate.isReadonlyRecord(json) ? json : {}
  const message = string(body.message) ?? string(body.error_description) ?? string(body.description)
  // `error` is the reason phrase, but a code where the body has the OAuth shape.
  const errorCode = string(body.errorCode) ?? string(body.code) ??
    (body.statusCode === undefined ? string(body.error) : undefined)
  // Failures are read no further than this; of a success, which may be longer, the message is not used.
  const said = (message ?? string(body.error))?.slice(0, Http.bodyLimits.drained)
  const insufficientScope = status === 403 &&
    (errorCode === "insufficient_scope" || /^insufficient scope/i.test(message ?? ""))
  const challenge = /scope="([^"]*)"/.exec(headers["www-authenticate"] ?? "")?.[1]
  const named = insufficientScope ? [message, challenge].map((text) => scopes(text, words)) : []
  const quota = Headers.rateLimit(headers)
  const requestId = Headers.requestId(headers)
  return {
    operation: endpoint.name,
    status,
    message: said === undefined ? `status ${status}: ${shape(received, words)}` : words.clean(said),
    errorCode: errorCode === undefined ? undefined : words.code(errorCode),
    requestId: requestId === undefined ? undefined : words.code(requestId),
    retryAfter: Headers.retryAfter(headers, now),
    raw: Redacted.make(content),
    insufficientScope,
    required: named.find((list) => list.length > 0) ?? [endpoint.scope],
    limit: quota.limit,
    remaining: quota.remaining,
    resetAt: Headers.resetAt(quota.reset)
  }
}
