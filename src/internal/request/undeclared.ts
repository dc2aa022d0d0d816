/** The declaration of a call for which there is none: of any method and path, with all failures that a status can have. */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { Any, Endpoint } from "../../Endpoint.js"
import * as Errors from "../../Errors.js"
import type { ExtraFields, Json } from "../http/extraFields.js"
import { getOrInsert } from "../runtime/memoize.js"

/** A call without a declaration. @since 0.1.0 @category models */
export interface Request {
  readonly method: Any["method"]
  /** The path below the base URL; `:name` is the placeholder of a field of `params`. */
  readonly path: `/${string}`
  /** The fields that fill the placeholders of the path. They are sent percent-encoded. */
  readonly params?: Readonly<Record<string, string>> | undefined
  /** The query. A list repeats its name; what is `undefined` is not sent. */
  readonly query?: Readonly<Record<string, NonNullable<Json> | undefined>> | undefined
  /** The body, sent as JSON. */
  readonly body?: unknown
  /** Validates the response, and must not transform (default: any JSON, or nothing). */
  readonly response?: Schema.Schema.AnyNoContext | undefined
  /** The scope that the token needs, or a list of scopes that are each enough, for an `InsufficientScope` that names none. */
  readonly scope?: Any["scope"] | undefined
  /** `true` if sending the request twice is harmless, so that it may be retried (default: all but POST and PATCH). */
  readonly idempotent?: boolean | undefined
}

/** The type of the response of a call: that of its schema, or any JSON. @since 0.1.0 @category models */
export type ResponseOf<R extends Request> = R extends { readonly response: Schema.Schema<infer A> } ? A : unknown

/** The failures by status. @since 0.1.0 @category models */
export type RequestFailure =
  | Errors.BadRequest
  | Errors.Unauthorized
  | Errors.PaymentRequired
  | Errors.InsufficientScope
  | Errors.Forbidden
  | Errors.NotFound
  | Errors.Conflict
  | Errors.Gone
  | Errors.PreconditionFailed
  | Errors.ContentTooLarge
  | Errors.RateLimited
  | Errors.InternalServerError
  | Errors.ServiceUnavailable

const failures: ReadonlyArray<Errors.ErrorClass<RequestFailure>> = [
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
]

/** Any JSON, or nothing. */
const AnyJson = /* @__PURE__ */ Schema.UndefinedOr(Schema.Unknown)

/** The methods that a call may have. */
export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const satisfies ReadonlyArray<Any["method"]>

const placeholder = /^:(?!body$)\w+$/

/** What a segment may have that no URL parser changes. */
const literal = /^(?!:|\.{1,2}$)(?:[\w.~!$&'()*+,;=:@-]|%(?!2[eE])[\dA-Fa-f]{2})+$/

/** A word of the interface; other segments are ids. */
const word = /^[a-z][a-z-]*$/

/** A path with placeholders in place of its ids, and these. */
interface Template {
  readonly path: `/${string}`
  readonly ids: Readonly<Record<string, string>>
}

/** Finds the ids in a path; `undefined` if it is not a path, or URL parsers could make another one of it. */
export const templateOf = (path: string): Template | undefined => {
  const [root, ...segments] = path.split("/")
  if (root !== "" || !segments.every((segment) => placeholder.test(segment) || literal.test(segment))) return undefined
  const free = Array.from(segments.keys(), (nth) => nth === 0 ? "id" : `id${nth + 1}`)
    .filter((name) => !segments.includes(`:${name}`))
  const isId = (segment: string) => !placeholder.test(segment) && !word.test(segment)
  const names = new Map(segments.filter(isId).map((id, nth) => [id, free[nth] ?? ""]))
  const ids = Either.try(() => Object.fromEntries(Array.from(names, ([id, name]) => [name, decodeURIComponent(id)])))
  const template = segments.map((segment) => names.has(segment) ? `:${names.get(segment)}` : segment)
  return Either.isLeft(ids) ? undefined : { path: `/${template.join("/")}`, ids: ids.right }
}

/** Endpoints by the schema of their response, and their name: calls that are alike share what is compiled, and reported once, for an endpoint. */
const endpoints = /* @__PURE__ */ new WeakMap<object, Map<string, Any>>()

/** So many endpoints are kept for a schema. */
const maxEndpoints = 1000

const shared = (schema: object, key: string, make: () => Any): Any => {
  const known = getOrInsert(endpoints, schema, () => new Map<string, Any>())
  if (known.size >= maxEndpoints && !known.has(key)) known.clear()
  return getOrInsert(known, key, make)
}

/** The query of a call, whose fields nobody has declared. */
export const queryOf = ({ query = {} }: Pick<Request, "query">): ExtraFields => ({
  query: Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, value]])
  )
})

const pathIssue = {
  path: "path",
  message: "expected a path such as /users/:id, with ids in `params` or percent-encoded"
}

/** Declares a call, and gives its input. */
export const declare = <R extends Request>(
  request: R
): readonly [endpoint: Endpoint<unknown, ResponseOf<R>, RequestFailure>, input: unknown] => {
  const { body, method, params, path, response = AnyJson, scope = [] } = request
  const { idempotent = method !== "POST" && method !== "PATCH" } = request
  const template = templateOf(path)
  const issues = [
    ...(methods.some((known) => known === method)
      ? []
      : [{ path: "method", message: `expected ${methods.join(", ")}` }]),
    ...(template === undefined ? [pathIssue] : []),
    // A name of the input that no placeholder has: the schema, which names the others, would take it for the body or for an id of the path.
    ...Object.keys(params ?? {}).filter((name) => name === "body" || Object.hasOwn(template?.ids ?? {}, name))
      .map((name) => ({ path: `params.${name}`, message: "unknown field" })),
    ...(method === "GET" && body !== undefined ? [{ path: "body", message: "a GET has no body" }] : [])
  ]
  const make = (path: `/${string}`): Any => {
    const names = path.split("/").flatMap((segment) => segment.startsWith(":") ? [segment.slice(1)] : [])
    const fields = Object.fromEntries(names.map((name) => [name, Schema.String]))
    return {
      name: `${method} ${path}`,
      method,
      path,
      params: fields,
      body: Schema.Unknown,
      input: Schema.Struct({ ...fields, body: Schema.optional(Schema.Unknown) }),
      success: response,
      scope,
      idempotent,
      error: failures
    }
  }
  const endpoint = issues.length > 0 || template === undefined
    ? { ...make("/"), name: `${method} request`, input: Schema.Unknown, check: () => issues }
    : shared(response, JSON.stringify([method, template.path, scope, idempotent]), () => make(template.path))
  // Sound: the input is what the schema of its fields accepts, and the success what that of the response accepts.
  return [endpoint as unknown as Endpoint<unknown, ResponseOf<R>, RequestFailure>, {
    ...params,
    ...template?.ids,
    body
  }]
}
