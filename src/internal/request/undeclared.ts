/** The declaration of a call for which there is none: of any method and path, with all failures that a status can have. */
import * as Schema from "effect/Schema"
import type { Any, Endpoint } from "../../Endpoint.js"
import * as Errors from "../../Errors.js"
import type { ExtraFields, Json } from "../http/extraFields.js"

/** A call without a declaration. @since 0.1.0 @category models */
export interface Request<A = unknown> {
  readonly method: Any["method"]
  /** The path below the base URL; `:name` is the placeholder of a field of `params`. Other segments are sent as they are. */
  readonly path: `/${string}`
  /** The fields that fill the placeholders of the path. They are sent percent-encoded. */
  readonly params?: Readonly<Record<string, string>> | undefined
  /** The query. A list repeats its name; what is `undefined` is not sent. */
  readonly query?: Readonly<Record<string, Json | undefined>> | undefined
  /** The body, sent as JSON. */
  readonly body?: unknown
  /** Decodes the response, and must not transform (default: its JSON, or `undefined` if it is not JSON). */
  readonly response?: Schema.Schema<A> | undefined
  /** The scope that the token needs, or a list of scopes that are each enough, for an `InsufficientScope` that names none. */
  readonly scope?: Any["scope"] | undefined
  /** `true` if sending the request twice is harmless, so that it may be retried (default: all but POST and PATCH). */
  readonly idempotent?: boolean | undefined
}

const failures = [
  Errors.BadRequest,
  Errors.Unauthorized,
  Errors.PaymentRequired,
  Errors.InsufficientScope,
  Errors.Forbidden,
  Errors.NotFound,
  Errors.Conflict,
  Errors.Gone,
  Errors.PreconditionFailed,
  Errors.ContentTooLarge,
  Errors.RateLimited,
  Errors.InternalServerError,
  Errors.ServiceUnavailable
] as const

/** A failure that a status of a response has. @since 0.1.0 @category models */
export type RequestFailure = InstanceType<typeof failures[number]>

/** A word of the interface; other segments are ids. */
const word = /^[a-z][a-z-]*$/

/** Names a call by its method and path, without ids: metrics, and what the limiter learns, go by names. */
const nameOf = (method: string, segments: ReadonlyArray<string>): string =>
  `${method} /${segments.map((segment) => segment.startsWith(":") || word.test(segment) ? segment : ":id").join("/")}`

/** What a segment of a path may have that no URL parser changes. */
const segmentPattern = /^(?!\.{1,2}$)(?:[\w.~!$&'()*+,;=:@-]|%(?!2[eE])[\dA-Fa-f]{2})+$/

const issuesOf = (
  { body, method }: Pick<Request, "body" | "method">,
  segments: ReadonlyArray<string>
): ReadonlyArray<Errors.Issue> => [
  ...(segments.every((segment) => segmentPattern.test(segment)) && !segments.includes(":body")
    ? []
    : [{ path: "path", message: "expected a path such as /users/:id, with ids in `params` or percent-encoded" }]),
  ...(method === "GET" && body !== undefined ? [{ path: "body", message: "a GET has no body" }] : [])
]

/** The query of a call, whose fields nobody has declared. */
export const queryOf = ({ query = {} }: Pick<Request, "query">): ExtraFields => ({
  query: Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, value]])
  )
})

/** Declares a call, and gives its input. */
export const declare = <A>(
  request: Request<A>
): readonly [endpoint: Endpoint<unknown, A, RequestFailure>, input: unknown] => {
  const { body, method, params, path, response, scope = [], idempotent = method !== "POST" && method !== "PATCH" } =
    request
  const segments = path.slice(1).split("/")
  const placeholders = segments.filter((segment) => segment.startsWith(":")).map((segment) => segment.slice(1))
  const fields = Object.fromEntries(placeholders.map((name) => [name, Schema.String]))
  const whole = { body: Schema.optional(Schema.Unknown) }
  const issues = issuesOf(request, segments)
  const endpoint = {
    name: nameOf(method, segments),
    method,
    path,
    params: fields,
    body: Schema.Unknown,
    input: Schema.Struct({ ...fields, ...whole }),
    success: response ?? Schema.Unknown,
    check: () => issues,
    scope,
    idempotent,
    error: failures
  }
  // Sound: the input is what the schema of its fields accepts, and without a schema of the response `A` is `unknown`.
  return [endpoint as unknown as Endpoint<unknown, A, RequestFailure>, { ...params, body }]
}
