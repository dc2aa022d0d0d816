/** Validates a call's input and encodes it as a request. */
import type * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type { Any, ContentType, Endpoint } from "../../Endpoint.js"
import { InvalidInput, type Issue } from "../../Errors.js"
import { memoizeByEndpoint } from "../runtime/memoizeByEndpoint.js"
import * as Issues from "../schema/issues.js"
import * as Validator from "../schema/validator.js"
import * as Form from "./formEncoding.js"
import type { RawRequest } from "./rawMessages.js"

type InputFields = Readonly<Record<string, unknown>>

/** The settings of one call that its request depends on. */
export interface RequestSettings {
  readonly contentType: ContentType
  readonly headers: Headers.Headers
}

/** The version in `User-Agent`. A test compares it with package.json. */
export const version = "0.1.0"

const defaultHeaders = { accept: "application/json", "user-agent": `effect-identity-client/${version}` }

const anyOrigin = "http://localhost"

/** Writes a path segment as URL parsers do, because a transport may send it as it is. */
const normalized = (segment: string): string => new URL(`${anyOrigin}/${segment}`).href.slice(anyOrigin.length + 1)

/** A segment of a declared path: literal text, or the name of a parameter. */
type Segment = { readonly text: string; readonly name?: undefined } | { readonly name: string }

/** Derives from an operation's declaration, once, all that its calls need. */
const planOf = memoizeByEndpoint((endpoint) => {
  const { minProperties = 0, path, payload, query } = endpoint
  return {
    isValid: Validator.strict(endpoint.input),
    explain: ParseResult.validateEither(endpoint.input, { errors: "all", onExcessProperty: "error" }),
    segments: path.split("/").map((segment): Segment =>
      segment.startsWith(":") ? { name: segment.slice(1) } : { text: normalized(segment) }
    ),
    minProperties,
    query: query && Object.keys(query),
    payload: payload && Object.keys(payload)
  }
})

/** A valid input, and the path that its parameters make. */
interface Checked {
  readonly fields: InputFields
  readonly route: string
}

const check = (endpoint: Any, input: unknown): Either.Either<Checked, InvalidInput> => {
  const plan = planOf(endpoint)
  const checked = plan.isValid(input) ? Either.right(Validator.copy(input)) : plan.explain(input)
  if (Either.isLeft(checked)) return Either.left(invalid(endpoint, Issues.of(checked.left)))
  const fields = checked.right as InputFields // sound: inputs are structs
  const { minProperties, payload = [] } = plan
  if (payload.filter((name) => fields[name] !== undefined).length < minProperties) {
    return Either.left(
      invalid(endpoint, [{ path: payload.join(", "), message: `at least ${minProperties} must be set` }])
    )
  }
  const route = path(plan.segments, fields)
  return Either.isLeft(route)
    ? Either.left(invalid(endpoint, [route.left]))
    : Either.right({ fields, route: route.right })
}

const invalid = ({ name }: Any, issues: ReadonlyArray<Issue>) => new InvalidInput({ operation: name, issues })

/** Validates an input and copies it, so that later changes to the caller's object have no effect. */
export const validate = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  input: unknown
): Either.Either<Input, InvalidInput> => Either.map(check(endpoint, input), ({ fields }) => fields as Input) // sound: the operation's own schema accepts it

const pick = (fields: InputFields, names: ReadonlyArray<string>): InputFields => {
  const picked: Record<string, unknown> = {}
  for (const name of names) picked[name] = fields[name]
  return picked
}

/**
 * Puts the parameters into the path, percent-encoded. Refuses an empty parameter, a dot segment and a lone surrogate: URL
 * parsers would make another route of them, or fail.
 */
const path = (
  segments: ReadonlyArray<Segment>,
  params: InputFields
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

const textOf = (payload: InputFields, contentType: ContentType): Either.Either<string, Issue> =>
  contentType === "application/json" ? Either.right(JSON.stringify(payload)) : Form.encode(payload)

/** Headers that only the transport may set. */
const transportHeaders = new Set(
  ["connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"]
)

/** Finds the first header that a call may not set. */
const badHeader = (headers: Headers.Headers): Issue | undefined => {
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    const path = `headers.${name}`
    if (transportHeaders.has(name)) return { path, message: "only the transport sets this header" }
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(String(value))) {
      return { path, message: "expected a valid HTTP header" }
    }
  }
  return undefined
}

/** A valid request without the headers that differ from attempt to attempt. */
export interface EncodedRequest {
  readonly method: RawRequest["method"]
  /** The path and query that follow the base URL. */
  readonly target: string
  /** The body. */
  readonly text: string | undefined
  readonly settings: RequestSettings
  readonly fields: InputFields
}

/** Validates an input and encodes it. */
export const make = (
  endpoint: Any,
  input: unknown,
  settings: RequestSettings
): Either.Either<EncodedRequest, InvalidInput> => {
  const checked = check(endpoint, input)
  if (Either.isLeft(checked)) return Either.left(checked.left)
  const { fields, route } = checked.right
  return Either.mapLeft(
    encode(endpoint, route, fields, settings),
    (issue) => invalid(endpoint, [issue])
  )
}

const encode = (
  endpoint: Any,
  route: string,
  fields: InputFields,
  settings: RequestSettings
): Either.Either<EncodedRequest, Issue> => {
  const { payload, query } = planOf(endpoint)
  const bad = badHeader(settings.headers)
  if (bad !== undefined) return Either.left(bad)
  const search = query === undefined ? Either.right("") : Form.encode(pick(fields, query))
  if (Either.isLeft(search)) return Either.left(search.left)
  const text = payload === undefined ? none : textOf(pick(fields, payload), settings.contentType)
  if (Either.isLeft(text)) return Either.left(text.left)
  return Either.right({
    method: endpoint.method,
    target: search.right === "" ? route : `${route}?${search.right}`,
    text: text.right,
    settings,
    fields
  })
}

const none = Either.right(undefined)

/** Adds the headers of one attempt. A caller's headers replace the defaults and `trace`, but never `authorization`. */
export const authorize = (
  { method, settings: { contentType, headers }, target, text }: EncodedRequest,
  baseUrl: string,
  authorization: string,
  trace?: Readonly<Record<string, string>>
): RawRequest => ({
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

/** Collects the strings of an input, at any depth: printed messages must not repeat them. */
export const strings = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" ?
    [value]
    : typeof value === "object" && value !== null ?
    Object.values(value).flatMap(strings)
    : []
