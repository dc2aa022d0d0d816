/** From a caller's input to what goes over the wire: checked, split into its parts, encoded. Nothing is sent before. */
import type * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import type { Any, ContentType, Endpoint, Fields } from "../Endpoint.js"
import { InvalidInput, type Issue } from "../Errors.js"
import * as Form from "./form.js"
import * as Issues from "./issues.js"
import { version } from "./version.js"

type Members = Readonly<Record<string, unknown>>

/** What one call may set besides its input. */
export interface Settings {
  readonly contentType: ContentType
  readonly headers: Headers.Headers
}

const defaultHeaders = { accept: "application/json", "user-agent": `effect-identity-client/${version}` }

/** Checks an input. What it gives is a copy, so that later changes of the caller's object have no effect. */
export const validate = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  input: unknown
): Either.Either<Input, InvalidInput> => {
  const invalid = (issues: ReadonlyArray<Issue>) => new InvalidInput({ operation: endpoint.name, issues })
  const checked = ParseResult.validateEither(endpoint.input, { errors: "all", onExcessProperty: "error" })(input)
  if (Either.isLeft(checked)) return Either.left(invalid(Issues.of(checked.left)))
  const names = Object.keys(endpoint.payload ?? {})
  const set = names.filter((name) => (checked.right as Members)[name] !== undefined) // sound: inputs are structs
  return set.length < (endpoint.minProperties ?? 0)
    ? Either.left(invalid([{ path: names.join(", "), message: `at least ${endpoint.minProperties} must be set` }]))
    : Either.mapBoth(path(endpoint.path, checked.right as Members), {
      onLeft: (issue) => invalid([issue]),
      onRight: () => checked.right
    })
}

const pick = (members: Members, fields: Fields): Members =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, members[name]]))

/**
 * Puts the parameters into the path, percent-encoded. Refused is what a URL cannot carry or a URL parser would take for
 * another route: an empty parameter, a dot segment, a lone surrogate.
 */
const path = (template: string, params: Members): Either.Either<string, Issue> => {
  const segments: Array<string> = []
  for (const segment of template.split("/")) {
    if (!segment.startsWith(":")) {
      segments.push(segment)
      continue
    }
    const name = segment.slice(1)
    const value = String(params[name])
    const encoded = value === "" || value === "." || value === ".." ? undefined : Form.component(value)
    if (encoded === undefined) {
      return Either.left({ path: name, message: "expected well-formed Unicode that is not empty, \".\" or \"..\"" })
    }
    segments.push(encoded)
  }
  return Either.right(segments.join("/"))
}

const body = (payload: Members, contentType: ContentType): Either.Either<HttpBody.HttpBody, Issue> =>
  Either.map(
    contentType === "application/json" ? Either.right(JSON.stringify(payload)) : Form.encode(payload),
    (text) => HttpBody.text(text, contentType)
  )

/** Headers that say how the message travels; they are the transport's. */
const transportHeaders = new Set(
  ["connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"]
)

/** The first header that a call may not set. */
const badHeader = (headers: Headers.Headers): Issue | undefined => {
  for (const [name, value] of Object.entries(headers)) {
    const path = `headers.${name}`
    if (transportHeaders.has(name)) return { path, message: "this header is the transport's" }
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(String(value))) {
      return { path, message: "expected a valid HTTP header" }
    }
  }
  return undefined
}

/** A call that may be sent. */
export interface Prepared {
  /** The request, but for its token. */
  readonly request: HttpClientRequest.HttpClientRequest
  /** Every string of the input, at any depth: what a printed message must not repeat. */
  readonly strings: () => ReadonlyArray<string>
}

/** Checks an input and makes the request of it. */
export const make = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  baseUrl: string,
  input: Input,
  settings: Settings
): Either.Either<Prepared, InvalidInput> =>
  Either.flatMap(validate(endpoint, input), (input) =>
    Either.map(
      encode(endpoint, baseUrl, input as Members, settings), // sound: inputs are structs
      (request) => ({ request, strings: () => strings(input) })
    ))

const encode = (
  endpoint: Any,
  baseUrl: string,
  members: Members,
  settings: Settings
): Either.Either<HttpClientRequest.HttpClientRequest, InvalidInput> =>
  Either.gen(function*() {
    const bad = badHeader(settings.headers)
    if (bad !== undefined) return yield* Either.left(bad)
    const route = yield* path(endpoint.path, members)
    const query = endpoint.query === undefined ? "" : yield* Form.encode(pick(members, endpoint.query))
    const request = HttpClientRequest.make(endpoint.method as "POST")( // sound: all methods build alike
      `${baseUrl}${route}${query === "" ? "" : `?${query}`}`,
      { headers: { ...defaultHeaders, ...settings.headers } }
    )
    return endpoint.payload === undefined ? request : HttpClientRequest.setBody(
      request,
      yield* body(pick(members, endpoint.payload), settings.contentType)
    )
  }).pipe(Either.mapLeft((issue) => new InvalidInput({ operation: endpoint.name, issues: [issue] })))

/** Puts the token on; nothing that a caller sets replaces it. */
export const authorize = (
  request: HttpClientRequest.HttpClientRequest,
  token: Redacted.Redacted
): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.setHeader(request, "authorization", `Bearer ${Redacted.value(token)}`)

const strings = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" ?
    [value]
    : typeof value === "object" && value !== null ?
    Object.values(value).flatMap(strings)
    : []
