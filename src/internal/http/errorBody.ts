/** Reads the body of an error response. Nothing in it is trusted. */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { type Any, scopesOf } from "../../Endpoint.js"
import type { ErrorResponse } from "../../Errors.js"
import { parseJson } from "../runtime/parseJson.js"
import { isIdentifier } from "../schema/drift.js"
import type { RawBody, RawResponse } from "./rawExchange.js"
import { partLength, redact } from "./redact.js"
import * as ResponseHeaders from "./responseHeaders.js"

/** Makes text from a server printable. */
export interface Redactor {
  /** For text that people read: hides every string of the call's input. */
  readonly clean: (text: string) => string
  /**
   * For values that programs read, such as error codes. Keeps short strings and fragments of the input: a code may contain them
   * by coincidence.
   */
  readonly code: (text: string) => string
}

const looksLikeCode = /^[\w./:;=+ [\]-]{1,128}$/

/** Makes a redactor for one response. `strings` gives those of the call's input; it is called only if text is printed. */
export const makeRedactor = (token: Redacted.Redacted, strings: () => ReadonlyArray<string>): Redactor => {
  let all: ReadonlyArray<string> | undefined
  const hidden = () => all ??= [Redacted.value(token), ...strings()]
  const clean = (text: string) => redact(text, hidden())
  const long = () => hidden().filter(({ length }) => length >= partLength)
  return { clean, code: (text) => looksLikeCode.test(text) ? redact(text, long(), false) : clean(text) }
}

/** Decodes a body as UTF-8, and replaces bytes that are not. */
export const text = (body: RawBody["body"]): string => typeof body === "string" ? body : new TextDecoder().decode(body)

export const isHtml = (text: string): boolean => /^\s*</.test(text)

const titleOf = (text: string): string | undefined =>
  isHtml(text) ? /<title[^<>]*>([^<]*)/i.exec(text.slice(0, 16_384))?.[1]?.trim() : undefined

/** Describes the shape of a body without its contents. */
export const shape = ({ body, completeness, headers }: RawResponse, { clean, code }: Redactor): string => {
  const content = text(body)
  const title = titleOf(content)
  const json = Either.getOrUndefined(parseJson(content))
  const fields = Predicate.isRecord(json) ? Object.keys(json).slice(0, 20) : []
  const names = fields.map((name) => isIdentifier(name) ? name : "*").join(", ")
  const contentType = headers["content-type"]
  return [
    contentType === undefined ? "no content type" : code(contentType),
    `${completeness === "truncated" ? "more than " : ""}${body.length} bytes`,
    title !== undefined && `a web page titled "${clean(title)}"`,
    Predicate.isRecord(json) && (names === "" ? "an empty object" : `an object of ${clean(names)}`),
    Array.isArray(json) && `a list of ${json.length}`,
    completeness === "interrupted" && "interrupted",
    completeness === "corrupt" && "corrupt gzip"
  ].filter(Predicate.isString).join(", ")
}

export const nonEmpty = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** The fields of a JSON object; none if the text is none. */
export const parseFields = (text: string): Readonly<Record<string, unknown>> => {
  const json = Either.getOrUndefined(parseJson(text))
  return Predicate.isReadonlyRecord(json) ? json : {}
}

/** The scopes in a list of them, whatever their verbs. */
const listed = /(?<![\w:-])[a-z]+:[a-z][\w-]*(?![\w:])/g

/** The scopes in other text, in which more than scopes may have a colon. */
const mentioned = /(?<![\w:-])(?:create|read|update|delete):[\w-]+/g

/** The scopes that a message names: in its list, such as `Insufficient scope, expected any of: read:users`, or anywhere. */
const scopesIn = (message = ""): ReadonlyArray<string> =>
  /\bscopes?\b[^:]{0,60}:\s([\w\s:,-]+)/i.exec(message)?.[1]?.match(listed) ?? message.match(mentioned) ?? []

/**
 * The scopes that a 403 names as missing, in its message or its challenge. A plan without the feature has the same error code and
 * names none: "Please upgrade your subscription".
 */
const missingScopes = (
  errorCode: string | undefined,
  message: string | undefined,
  challenge: string | undefined
): ReadonlyArray<string> => {
  if (errorCode !== "insufficient_scope" && !/^insufficient scope/i.test(message ?? "")) return []
  const named = scopesIn(message)
  const scopes = named.length > 0 ? named : /scope="([^"]*)"/.exec(challenge ?? "")?.[1]?.match(listed) ?? []
  return scopes.slice(0, 20)
}

/** Reads all that an error response says. `now` is in milliseconds since 1970. */
export const read = (
  endpoint: Pick<Any, "name" | "scope">,
  response: RawResponse,
  now: number,
  redactor: Redactor
): ErrorResponse => {
  const { headers, status } = response
  const content = text(response.body)
  const body = parseFields(content)
  const description = nonEmpty(body.message) ?? nonEmpty(body.error_description) ?? nonEmpty(body.description)
  // `error` is the reason phrase, but a code where the body has the OAuth shape.
  const errorCode = nonEmpty(body.errorCode) ?? nonEmpty(body.code) ??
    (body.statusCode === undefined ? nonEmpty(body.error) : undefined)
  const message = description ?? nonEmpty(body.error)
  const missing = status === 403 ? missingScopes(errorCode, description, headers["www-authenticate"]) : []
  // A name may hold a string of the call's input.
  const required = missing.filter((scope) => redactor.code(scope) === scope)
  const { limit, remaining, reset } = ResponseHeaders.rateLimit(headers)
  const requestId = ResponseHeaders.requestId(headers)
  return {
    operation: endpoint.name,
    status,
    message: message === undefined ? `no message (${shape(response, redactor)})` : redactor.clean(message),
    errorCode: errorCode && redactor.code(errorCode),
    requestId: requestId && redactor.code(requestId),
    retryAfter: ResponseHeaders.retryAfter(headers, now),
    raw: Redacted.make(content),
    insufficientScope: missing.length > 0,
    required: required.length > 0 ? required : scopesOf(endpoint),
    limit,
    remaining,
    resetAt: ResponseHeaders.resetAt(reset)
  }
}
