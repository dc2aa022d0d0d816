/** Validates a call's input and encodes it as a request, with the headers of every request; users add theirs by `IdentityClient.withHeaders`. */
import * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { Any, ContentType, Endpoint } from "../../Endpoint.js"
import { InvalidInput, type Issue } from "../../Errors.js"
import { memoizeByEndpoint } from "../runtime/memoize.js"
import { issuesOf } from "../schema/parseIssues.js"
import * as Validator from "../schema/validator.js"
import * as ExtraFields from "./extraFields.js"
import * as Json from "./media/json.js"
import * as Multipart from "./media/multipart.js"
import * as UrlEncoding from "./media/urlEncoding.js"
import { partLength } from "./redact.js"

type InputFields = Readonly<Record<string, unknown>>

/** The settings of one call that its request depends on. */
interface RequestSettings {
  readonly contentType: ContentType
  readonly headers: Headers.Headers
  readonly fields?: ExtraFields.ExtraFields
}

/** The version in `User-Agent`. A test compares it with package.json. */
export const version = "0.1.0"

const defaultHeaders = { accept: "application/json", "user-agent": `effect-identity-client/${version}` }

const eventHeaders = { ...defaultHeaders, accept: "text/event-stream" }

const anyOrigin = "http://localhost"

/** Writes a path segment as URL parsers do, because a transport may send it as it is. */
const normalized = (segment: string): string => new URL(`${anyOrigin}/${segment}`).href.slice(anyOrigin.length + 1)

/** A part of a path: fixed text, or the name of a parameter. */
type Segment = { readonly text: string } | { readonly parameter: string }

/** Derives from an operation's declaration, once, all that its calls need. */
const planOf = memoizeByEndpoint(({ body, headers, input, multipart, path, payload, query }) => ({
  isValid: Validator.strict(input),
  explain: ParseResult.validateEither(input, { errors: "all", onExcessProperty: "error" }),
  segments: path.split("/").map((segment): Segment =>
    segment.startsWith(":") ? { parameter: segment.slice(1) } : { text: normalized(segment) }
  ),
  query: query && Object.keys(query),
  headers: headers && Object.keys(headers),
  payload: payload && Object.keys(payload),
  multipart: multipart && Object.keys(multipart),
  hasWholeBody: body !== undefined
}))

type Plan = ReturnType<typeof planOf>

/**
 * Puts the parameters into the path, percent-encoded. Refuses an empty parameter, a dot segment and a lone surrogate: URL
 * parsers would make another route of them, or fail. One is missing only if the path's type hid its placeholders.
 */
const encodePath = (segments: ReadonlyArray<Segment>, params: InputFields): Either.Either<string, Issue> => {
  const parts: Array<string> = []
  for (const segment of segments) {
    if ("text" in segment) {
      parts.push(segment.text)
      continue
    }
    const { parameter } = segment
    if (params[parameter] === undefined) return Either.left({ path: parameter, message: "is missing" })
    const value = String(params[parameter])
    const encoded = value === "" || value === "." || value === ".." ? undefined : UrlEncoding.component(value)
    if (encoded === undefined) {
      return Either.left({
        path: parameter,
        message: "expected well-formed Unicode that is not empty, \".\" or \"..\""
      })
    }
    parts.push(encoded)
  }
  return Either.right(parts.join("/"))
}

/** Headers that only the transport may set. */
const transportHeaders =
  /^(?:connection|content-length|expect|host|keep-alive|proxy-authorization|te|trailer|transfer-encoding|upgrade)$/

/** Finds the first header that a call may not set. Its path begins with `prefix`. */
const checkHeaders = (headers: Headers.Headers, prefix: string): Issue | undefined => {
  for (const [name, value] of Object.entries(headers)) {
    const path = `${prefix}${name}`
    if (transportHeaders.test(name)) return { path, message: "only the transport sets this header" }
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return { path, message: "expected a valid HTTP header" }
    }
  }
  return undefined
}

/** The body of a request, in the same words for each attempt. */
interface Content {
  readonly contentType: string
  /** Makes the body of one attempt. */
  readonly body: () => string | HttpBody.HttpBody
}

/** A valid request without the headers that differ from attempt to attempt. */
export interface EncodedRequest {
  readonly method: Any["method"]
  /** The path and query that follow the base URL. */
  readonly target: string
  readonly content: Content | undefined
  /** The caller's headers. */
  readonly headers: Headers.Headers
  /** `true` if the response is going to be server-sent events. */
  readonly events: boolean
  readonly fields: InputFields
  /** The fields that the operation does not declare. */
  readonly extra: ExtraFields.ExtraFields | undefined
}

type Encode = (endpoint: Any, input: unknown, settings: RequestSettings) => Either.Either<EncodedRequest, InvalidInput>

/** Validates and encodes an input. Copies it and the bytes of its files, so that later changes to them have no effect. */
export const make: Encode = (endpoint, input, settings) =>
  Either.getOrElse(Either.try(() => encode(endpoint, input, settings)), (thrown) => {
    const field = Object.entries(Object(input)).find(([name, value]) => !isSendable(name, value, settings.contentType))
    if (field === undefined) throw thrown // by a filter of the schema
    const message = "expected a value that JSON or a form can express, neither cyclic nor nested too deep"
    return Either.left(new InvalidInput({ operation: endpoint.name, issues: [{ path: field[0], message }] }))
  })

/** Checks that a field cannot be the reason that encoding threw. No value of less than 100 levels exhausts the stack. */
const isSendable = (name: string, value: unknown, contentType: ContentType): boolean =>
  isShallow(value, 100) && Either.isRight(Either.try(() => encodeFields({ [name]: value }, contentType)))

const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== "object" || value === null || isBinary(value) ||
  (levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1)))

/** Throws if the stack does not suffice, or JSON cannot express a value. */
const encode: Encode = (endpoint, input, settings) => {
  const { method, minProperties = 0, name } = endpoint
  const { fields: extra } = settings
  const plan = planOf(endpoint)
  const { payload } = plan
  const invalid = (issues: ReadonlyArray<Issue>) => new InvalidInput({ operation: name, issues })
  const checked = plan.isValid(input) ? Either.right(Validator.copy(input)) : plan.explain(input)
  if (Either.isLeft(checked)) return Either.left(invalid(issuesOf(checked.left)))
  const fields = checked.right as InputFields // sound: inputs are structs
  const faults = endpoint.check?.(fields as never) ?? [] // sound: they are of the declared types, which it accepts
  if (faults.length > 0) return Either.left(invalid(faults))
  const extraIssue = extra && ExtraFields.issueIn(extra)
  if (extraIssue !== undefined) return Either.left(invalid([extraIssue]))
  const extraCount = Object.keys(extra?.body ?? {}).length
  if (minProperties > 0 && payload !== undefined && countSet(fields, payload) + extraCount < minProperties) {
    return Either.left(invalid([{ path: payload.join(", "), message: `at least ${minProperties} must be set` }]))
  }
  const parameters = plan.headers && headersOf(fields, plan.headers)
  const refused = checkHeaders(settings.headers, "headers.") ?? (parameters && checkHeaders(parameters, ""))
  if (refused !== undefined) return Either.left(invalid([refused]))
  const path = encodePath(plan.segments, fields)
  if (Either.isLeft(path)) return Either.left(invalid([path.left]))
  const query = plan.query || extra?.query
    ? UrlEncoding.encodeQuery(ExtraFields.merge(pick(fields, plan.query ?? []), extra?.query))
    : noQuery
  if (Either.isLeft(query)) return Either.left(invalid([query.left]))
  if (method === "GET" && extra?.body !== undefined) {
    return Either.left(invalid([{ path: "withFields.body", message: "a GET has no body" }]))
  }
  const content = encodeContent(plan, fields, settings.contentType, extra?.body)
  if (Either.isLeft(content)) return Either.left(invalid([content.left]))
  const target = query.right === "" ? path.right : `${path.right}?${query.right}`
  return Either.right({
    method,
    target,
    content: content.right,
    headers: parameters ? Headers.merge(settings.headers, parameters) : settings.headers,
    events: endpoint.events !== undefined,
    fields,
    extra
  })
}

/** Each object inherits fields, such as `constructor`: they are not set. */
const isSet = (fields: InputFields, name: string): boolean => Object.hasOwn(fields, name) && fields[name] !== undefined

const countSet = (fields: InputFields, names: ReadonlyArray<string>): number =>
  names.filter((name) => isSet(fields, name)).length

/**
 * An empty prototype. V8 keeps the fields of an object that has it in a fast layout, and those of `Object.create(null)` in a hash
 * table: with such objects a call costs 5 to 10 % more (`npm run bench`, with each of them).
 */
const nothing: object = Object.create(null)

/** An object of the fields of these names that are set. It inherits nothing, so a field named `__proto__` is one like others. */
const pick = (fields: InputFields, names: ReadonlyArray<string>): InputFields => {
  const picked: Record<string, unknown> = Object.create(nothing)
  for (const name of names) if (isSet(fields, name)) picked[name] = fields[name]
  return picked
}

const headersOf = (fields: InputFields, names: ReadonlyArray<string>): Headers.Headers =>
  Headers.fromInput(Object.entries(pick(fields, names)).map(([name, value]) => [name, String(value)] as const))

const noQuery = Either.right("")

const noContent = Either.right(undefined)

const encodeContent = (
  { hasWholeBody, multipart, payload }: Plan,
  fields: InputFields,
  contentType: ContentType,
  extra: ExtraFields.ExtraFields["body"]
): Either.Either<Content | undefined, Issue> => {
  if (multipart !== undefined) return Multipart.encode(ExtraFields.merge(pick(fields, multipart), extra))
  const { body = extra && {} } = fields
  if (payload === undefined && !(hasWholeBody && body !== undefined) && extra === undefined) return noContent
  if (extra !== undefined && payload === undefined && !Predicate.isReadonlyRecord(body)) {
    return Either.left({ path: "withFields.body", message: "only a body that is an object can have other fields" })
  }
  const text = payload === undefined
    ? encodeBody(Predicate.isReadonlyRecord(body) ? ExtraFields.merge(body, extra) : body, contentType)
    : encodeFields(ExtraFields.merge(pick(fields, payload), extra), contentType)
  return Either.map(text, (text) => ({ contentType, body: () => text }))
}

const encodeFields = (fields: InputFields, contentType: ContentType): Either.Either<string, Issue> =>
  contentType === "application/json" ? Json.encode(fields, "") : UrlEncoding.encodeForm(fields)

const encodeBody = (body: unknown, contentType: ContentType): Either.Either<string, Issue> =>
  contentType === "application/json"
    ? Json.encode(body, "body")
    : Predicate.isRecord(body)
    ? UrlEncoding.encodeObject(body)
    : Either.left({ path: "body", message: "a form can express only an object" })

/** Validates an input as a call with default settings does. */
export const validate = <Input, Success, Failure>(
  endpoint: Endpoint<Input, Success, Failure>,
  input: unknown
): Either.Either<Input, InvalidInput> =>
  Either.map(
    make(endpoint, input, { contentType: "application/json", headers: Headers.empty }),
    ({ fields }) => fields as Input // sound: the operation's own schema accepts it
  )

/** The headers of a request, without a token. */
export const requestHeaders = (
  { content, events, headers }: EncodedRequest
): Readonly<Record<string, string>> => ({
  ...(events ? eventHeaders : defaultHeaders),
  ...headers,
  ...(content !== undefined && { "content-type": content.contentType })
})

/** The body of a request, for one attempt. */
export const requestBody = ({ content }: EncodedRequest): string | HttpBody.HttpBody =>
  content === undefined ? HttpBody.empty : content.body()

/** Recognizes contents of files that have no strings. */
const isBinary = (value: object): boolean => ArrayBuffer.isView(value) || Stream.StreamTypeId in value

/** Collects what printed messages must not repeat: the strings of a call's input, at any depth, and its longer headers. */
export const strings = (
  { extra, fields, headers }: Pick<EncodedRequest, "fields" | "headers"> & Partial<Pick<EncodedRequest, "extra">>
): ReadonlyArray<string> => {
  const found = new Set<unknown>([fields, extra]) // it grows while it is visited; a cycle ends here
  for (const each of found) {
    const inner = typeof each === "object" && each !== null && !isBinary(each) ? Object.values(each) : []
    inner.forEach((value) => found.add(value))
  }
  for (const [name, value] of Object.entries(headers)) {
    if (value.length >= partLength && !name.startsWith("accept")) found.add(value)
  }
  return [...found].filter(Predicate.isString)
}
