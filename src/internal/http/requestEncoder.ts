/** From a caller's input to what goes over the wire: checked, split into its parts, encoded. Nothing is sent before. */
import type * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type { Any, ContentType, Endpoint } from "../../Endpoint.js"
import { InvalidInput, type Issue } from "../../Errors.js"
import { memoizeByEndpoint } from "../runtime/memoizeByEndpoint.js"
import * as Issues from "../schema/issues.js"
import * as Validator from "../schema/validator.js"
import type * as Http from "./exchange.js"
import * as Form from "./formEncoding.js"
import { version } from "./version.js"

type Members = Readonly<Record<string, unknown>>

/** What one call may set besides its input. */
export interface Settings {
  readonly contentType: ContentType
  readonly headers: Headers.Headers
}

const defaultHeaders = { accept: "application/json", "user-agent": `effect-identity-client/${version}` }

const anywhere = "http://localhost"

/** A segment of a path as parsers of URLs write it: a transport may send it as it is. */
const normalized = (segment: string): string => new URL(`${anywhere}/${segment}`).href.slice(anywhere.length + 1)

/** Of a declared path: literal text, or a parameter's name. */
type Segment = { readonly text: string; readonly name?: undefined } | { readonly name: string }

/** What of an operation's declaration a call needs, made ready. */
const planOf = memoizeByEndpoint((endpoint) => {
  const { minProperties = 0, path, payload, query } = endpoint
  return {
    accepts: Validator.strict(endpoint.input),
    check: ParseResult.validateEither(endpoint.input, { errors: "all", onExcessProperty: "error" }),
    segments: path.split("/").map((segment): Segment =>
      segment.startsWith(":") ? { name: segment.slice(1) } : { text: normalized(segment) }
    ),
    minProperties,
    query: query && Object.keys(query),
    payload: payload && Object.keys(payload)
  }
})

/** An input that was checked, and the path that its parameters make. */
interface Checked {
  readonly members: Members
  readonly route: string
}

const check = (endpoint: Any, input: unknown): Either.Either<Checked, InvalidInput> => {
  const plan = planOf(endpoint)
  const checked = plan.accepts(input) ? Either.right(Validator.copy(input)) : plan.check(input)
  if (Either.isLeft(checked)) return Either.left(invalid(endpoint, Issues.of(checked.left)))
  const members = checked.right as Members // sound: inputs are structs
  const { minProperties, payload = [] } = plan
  if (payload.filter((name) => members[name] !== undefined).length < minProperties) {
    return Either.left(
      invalid(endpoint, [{ path: payload.join(", "), message: `at least ${minProperties} must be set` }])
    )
  }
  const route = path(plan.segments, members)
  return Either.isLeft(route)
    ? Either.left(invalid(endpoint, [route.left]))
    : Either.right({ members, route: route.right })
}

const invalid = ({ name }: Any, issues: ReadonlyArray<Issue>) => new InvalidInput({ operation: name, issues })

/** Checks an input. What it gives is a copy, so that later changes of the caller's object have no effect. */
export const validate = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  input: unknown
): Either.Either<Input, InvalidInput> => Either.map(check(endpoint, input), ({ members }) => members as Input) // sound: the operation's own schema accepts it

const pick = (members: Members, names: ReadonlyArray<string>): Members => {
  const picked: Record<string, unknown> = {}
  for (const name of names) picked[name] = members[name]
  return picked
}

/**
 * Puts the parameters into the path, percent-encoded. Refused is what a URL cannot carry or a URL parser would take for
 * another route: an empty parameter, a dot segment, a lone surrogate.
 */
const path = (
  segments: ReadonlyArray<Segment>,
  params: Members
): Either.Either<string, Issue> => {
  const parts: Array<string> = []
  for (const segment of segments) {
    if (segment.name === undefined) {
      parts.push(segment.text)
      continue
    }
    const { name } = segment
    const value = String(params[name])
    const encoded = value === "" || value === "." || value === ".." ? undefined : Form.component(value)
    if (encoded === undefined) {
      return Either.left({ path: name, message: "expected well-formed Unicode that is not empty, \".\" or \"..\"" })
    }
    parts.push(encoded)
  }
  return Either.right(parts.join("/"))
}

const textOf = (payload: Members, contentType: ContentType): Either.Either<string, Issue> =>
  contentType === "application/json" ? Either.right(JSON.stringify(payload)) : Form.encode(payload)

/** Headers that say how the message travels; they are the transport's. */
const transportHeaders = new Set(
  ["connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"]
)

/** The first header that a call may not set. */
const badHeader = (headers: Headers.Headers): Issue | undefined => {
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    const path = `headers.${name}`
    if (transportHeaders.has(name)) return { path, message: "this header is the transport's" }
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(String(value))) {
      return { path, message: "expected a valid HTTP header" }
    }
  }
  return undefined
}

/** A call that may be sent: as much of its request as had to be checked. The rest is made when it is sent. */
export interface EncodedRequest {
  readonly method: Http.RawRequest["method"]
  /** What follows the base URL. */
  readonly target: string
  /** The text of the body. */
  readonly text: string | undefined
  readonly settings: Settings
  readonly members: Members
}

/** Checks an input and makes ready what is sent of it. */
export const make = (
  endpoint: Any,
  input: unknown,
  settings: Settings
): Either.Either<EncodedRequest, InvalidInput> => {
  const checked = check(endpoint, input)
  if (Either.isLeft(checked)) return Either.left(checked.left)
  const { members, route } = checked.right
  return Either.mapLeft(
    encode(endpoint, route, members, settings),
    (issue) => invalid(endpoint, [issue])
  )
}

const encode = (
  endpoint: Any,
  route: string,
  members: Members,
  settings: Settings
): Either.Either<EncodedRequest, Issue> => {
  const { payload, query } = planOf(endpoint)
  const bad = badHeader(settings.headers)
  if (bad !== undefined) return Either.left(bad)
  const search = query === undefined ? Either.right("") : Form.encode(pick(members, query))
  if (Either.isLeft(search)) return Either.left(search.left)
  const text = payload === undefined ? none : textOf(pick(members, payload), settings.contentType)
  if (Either.isLeft(text)) return Either.left(text.left)
  return Either.right({
    method: endpoint.method,
    target: search.right === "" ? route : `${route}?${search.right}`,
    text: text.right,
    settings,
    members
  })
}

const none = Either.right(undefined)

/** The request, with its authorization, which nothing that a caller sets replaces, and what continues a trace, which a caller may set. */
export const authorize = (
  { method, settings: { contentType, headers }, target, text }: EncodedRequest,
  baseUrl: string,
  authorization: string,
  trace?: Readonly<Record<string, string>>
): Http.RawRequest => ({
  method,
  url: `${baseUrl}${target}`,
  headers: {
    ...trace,
    ...defaultHeaders,
    ...headers,
    ...(text !== undefined && { "content-type": contentType }),
    authorization
  },
  body: text === undefined ? HttpBody.empty : HttpBody.text(text, contentType)
})

/** Every string of an input, at any depth: what a printed message must not repeat. */
export const strings = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" ?
    [value]
    : typeof value === "object" && value !== null ?
    Object.values(value).flatMap(strings)
    : []
