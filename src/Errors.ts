/**
 * All failures of a call: one class per meaning. A class for an error response carries its status, so the list that an
 * operation declares is both its error type and what the client searches at run time.
 */
import type * as Cause from "effect/Cause"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { defined } from "./internal/runtime/defined.js"
import { OperationError } from "./internal/runtime/operationError.js"
import { type EncodedError, ofClasses, ofOther, omittable, type OtherError } from "./internal/schema/errorSchema.js"

export { type EncodedError, OtherError } from "./internal/schema/errorSchema.js"
export { concerns, isTransient, outcome } from "./internal/runtime/failures.js"

/** The fields that all failures reported by the service share. @since 0.1.0 @category models */
export interface ErrorDetails {
  /** The operation that failed, for example `deleteEventStream`. */
  readonly operation: string
  /**
   * The operation, and the service's message, at most 500 characters on one line; in an `UnexpectedResponse` after status and host. `…` replaces
   * secrets, headers and strings of the call's input.
   */
  readonly message: string
  /** The service's machine-readable code, for example `invalid_body`. */
  readonly errorCode?: string | undefined
  /** The identifier of the call in the service's log. */
  readonly requestId?: string | undefined
  /** The wait that the service asks for (`Retry-After`, in seconds or as a date). */
  readonly retryAfter?: Duration.Duration | undefined
  /** The body as text; at most 64 KiB if it is not decoded. It may hold personal data, so it prints as `<redacted>`. */
  readonly raw?: Redacted.Redacted<string> | undefined
}

/** The state of the service's rate limit, from the `X-RateLimit-*` headers (contract: Limits). @since 0.1.0 @category models */
export interface Quota {
  /** The number of calls that the bucket holds when it is full. */
  readonly limit?: number | undefined
  /** The number of calls that were left. */
  readonly remaining?: number | undefined
  /** The time at which the bucket is full again: on the service's clock, to the second, or as the rate limiter expects it, on this machine's. */
  readonly resetAt?: DateTime.Utc | undefined
}

/** An error response with every field that an error class can use. @since 0.1.0 @category models */
export interface ErrorResponse extends ErrorDetails, Quota {
  readonly status: number
  /** True if the service reports that the token lacks a scope. */
  readonly insufficientScope: boolean
  /** Scopes that would each be enough. */
  readonly required: ReadonlyArray<string>
}

/**
 * An error class that an operation can list. It is built from the error responses of its status that it matches.
 * @since 0.1.0 @category models
 */
export interface ErrorClass<A = unknown> {
  new(response: ErrorResponse): A
  /** The HTTP status of the class. */
  readonly status: number
  /** Checks that the class is meant for this response of its status. The first class of a list that matches is built. */
  readonly matches: (response: ErrorResponse) => boolean
}

/** The class that `statusError` returns. Declaration files need a name for it. @since 0.1.0 @category models */
export interface StatusErrorClass<Tag extends string, Status extends number> {
  new(details: ErrorDetails): Cause.YieldableError & ErrorDetails & {
    readonly _tag: Tag
    readonly status: Status
  }
  readonly status: Status
  /** Checks that the class is meant for this response. Override it in classes that share a status. */
  matches(response: ErrorResponse): boolean
}

/**
 * Makes the base of an error class for one status, which an operation can list. Of 3xx that can only be 304: a redirect is always an
 * `UnexpectedResponse`.
 * @since 0.1.0 @category constructors @example `class Locked extends Errors.statusError("Locked", 423) {}`
 */
export const statusError = <const Tag extends string, const Status extends number>(
  tag: Tag,
  status: Status
): StatusErrorClass<Tag, Status> =>
  class extends OperationError(tag)<ErrorDetails> {
    static readonly status: Status = status
    static matches(_response: ErrorResponse): boolean {
      return true
    }
    readonly status: Status = status
    constructor({ errorCode, message, operation, raw, requestId, retryAfter }: ErrorDetails) {
      super(defined({ operation, message, errorCode, requestId, retryAfter, raw }) as never) // sound: TypeScript cannot resolve `OperationError`'s conditional argument type
    }
  }

// The `@__PURE__` marks here and elsewhere let bundlers drop unused classes: a call may have side effects without them.

/** 400: the request is invalid or names something unknown. The message says which. @since 0.1.0 @category errors */
export class BadRequest extends /* @__PURE__ */ statusError("BadRequest", 400) {}

/** 401: the token is refused, even a fresh one. @since 0.1.0 @category errors */
export class Unauthorized extends /* @__PURE__ */ statusError("Unauthorized", 401) {}

/** 403: the token lacks a scope, and the response names it. Each scope in `required` would be enough. @since 0.1.0 @category errors */
export class InsufficientScope extends /* @__PURE__ */ statusError("InsufficientScope", 403) {
  /** Matches responses that report a missing scope. */
  static override matches(response: ErrorResponse): boolean {
    return response.insufficientScope
  }
  /** Scopes that would each be enough, for example `read:users`. */
  readonly required: ReadonlyArray<string>
  constructor(details: ErrorDetails & Pick<ErrorResponse, "required">) {
    super(details)
    this.required = details.required
  }
}

/** 403 for any other reason, for example a feature that the plan of the tenant lacks. @since 0.1.0 @category errors */
export class Forbidden extends /* @__PURE__ */ statusError("Forbidden", 403) {
  /** Matches responses that report no missing scope. */
  static override matches(response: ErrorResponse): boolean {
    return !response.insufficientScope
  }
}

/** 402: the tenant's plan does not include the call. @since 0.1.0 @category errors */
export class PaymentRequired extends /* @__PURE__ */ statusError("PaymentRequired", 402) {}

/** 404: the resource does not exist. @since 0.1.0 @category errors */
export class NotFound extends /* @__PURE__ */ statusError("NotFound", 404) {}

/** 409: the resource is in a state that does not allow the call. @since 0.1.0 @category errors */
export class Conflict extends /* @__PURE__ */ statusError("Conflict", 409) {}

/** 410: the resource existed, or what it needs has expired. @since 0.1.0 @category errors */
export class Gone extends /* @__PURE__ */ statusError("Gone", 410) {}

/** 412: the resource has changed, or lacks what the call requires. @since 0.1.0 @category errors */
export class PreconditionFailed extends /* @__PURE__ */ statusError("PreconditionFailed", 412) {}

/** 413: the body is larger than the service accepts. @since 0.1.0 @category errors */
export class ContentTooLarge extends /* @__PURE__ */ statusError("ContentTooLarge", 413) {}

/** 500: the service failed. Idempotent calls have been retried, as after any 5xx. @since 0.1.0 @category errors */
export class InternalServerError extends /* @__PURE__ */ statusError("InternalServerError", 500) {}

/** 503: the service is unavailable. Idempotent calls have been retried, as after any 5xx. @since 0.1.0 @category errors */
export class ServiceUnavailable extends /* @__PURE__ */ statusError("ServiceUnavailable", 503) {}

/**
 * 429: too many calls. `source` is `service` if the service refused the call, and `limiter` if the client's own rate
 * limiter did, before anything was sent. Carries the known state of the bucket (contract: Limits).
 * @since 0.1.0 @category errors
 */
export class RateLimited extends /* @__PURE__ */ statusError("RateLimited", 429) implements Quota {
  /** The side that refused the call. With `limiter` nothing was sent. */
  readonly source: "service" | "limiter"
  declare readonly limit?: number
  declare readonly remaining?: number
  declare readonly resetAt?: DateTime.Utc
  constructor(details: ErrorDetails & Quota & { readonly source?: "service" | "limiter" }) {
    super(details)
    this.source = details.source ?? "service"
    const { limit, remaining, resetAt } = details
    Object.assign(this, defined({ limit, remaining, resetAt }))
  }
}

/** One problem of an input. @since 0.1.0 @category models */
export interface Issue {
  /** The path of the field, for example `fields[0].name`. */
  readonly path: string
  /** What is wrong, for example `expected an integer of at least 1`. Never the given value. */
  readonly message: string
}

/** The input breaks the contract's patterns, lengths or names. Nothing was sent. @since 0.1.0 @category errors */
export class InvalidInput extends OperationError("InvalidInput")<{
  readonly operation: string
  /** Every problem of the input, at any depth. */
  readonly issues: ReadonlyArray<Issue>
  readonly message: string
}> {
  constructor(props: { readonly operation: string; readonly issues: ReadonlyArray<Issue> }) {
    super({
      ...props,
      message: props.issues.map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join("; ")
    })
  }
}

/** A limit on the tokens that a client or an organization may be issued. @since 0.1.0 @category models */
export interface TokenQuota {
  /** The holder of the quota: the client (`Auth0-Client-Quota-Limit`), or its organization (`Auth0-Organization-Quota-Limit`). */
  readonly of: "client" | "organization"
  /** The name of the quota, for example `per_hour`. */
  readonly bucket: string
  /** The number of tokens that it allows. */
  readonly limit: number
  /** The number of tokens that are left. */
  readonly remaining: number
  /** The time until it is full again. */
  readonly resetAfter: Duration.Duration
}

/**
 * No token could be obtained (contract: Authentication). Nothing was sent, or the service refused the token of an earlier
 * request with 401 and carried nothing out.
 * @since 0.1.0 @category errors
 */
export class TokenError extends OperationError("TokenError")<{
  /** The operation that needed the token. */
  readonly operation: string
  readonly message: string
  /** The status of the token endpoint's response, if there was one. */
  readonly status?: number
  /** The OAuth 2.0 error code, for example `invalid_client`. */
  readonly error?: string
  /** The OAuth 2.0 `error_description`. */
  readonly description?: string
  /** The wait that the token endpoint asks for. */
  readonly retryAfter?: Duration.Duration
  /** The token quotas of the token endpoint's response, if it has any. */
  readonly quotas?: ReadonlyArray<TokenQuota>
  /** The code of the system or transport if there was no response, for example `ECONNREFUSED`; `no-response` if it has none. */
  readonly code?: string
}> {}

/** No complete response came. `outcome` says whether the call was carried out. @since 0.1.0 @category errors */
export class TransportError extends OperationError("TransportError")<{
  readonly operation: string
  readonly message: string
  /**
   * `not-sent`: the service has definitely not received the call. `unknown`: it may have carried it out. `done`: it carried the change out
   * and said so with its status, but the connection broke while the body was read.
   */
  readonly outcome: "not-sent" | "unknown" | "done"
  /** The code of the system or transport, for example `ECONNRESET`; `TIMEOUT` if the client's own time limit was reached. */
  readonly code?: string
}> {}

/** The response has an undeclared status, or a body that cannot be decoded. @since 0.1.0 @category errors */
export class UnexpectedResponse extends OperationError("UnexpectedResponse")<
  ErrorDetails & {
    readonly status: number
    /**
     * `status`: the operation does not declare the status. `redirect`: the client never follows one. `html`: a web page.
     * `encoding`: corrupt gzip, or not UTF-8. `json`: not JSON. `schema`: JSON that does not match the operation's
     * schema. `size`: too large. `endless`: a list whose pages never end. `incomplete`: a list that ends before its total.
     * With these two, `status` is 200.
     */
    readonly reason: "status" | "redirect" | "html" | "encoding" | "json" | "schema" | "size" | "endless" | "incomplete"
    readonly contentType?: string
    /** The path of the first field that does not match the schema, for example `versions[3].number`. */
    readonly path?: string
    /** A description of the body without its content: the length, an HTML title, the names of JSON fields. */
    readonly shape: string
    /**
     * `done`: the service carried the change out, and only its response cannot be used; calling again would repeat the change. `not-done`: it
     * refused the call, or the call was a GET, which changes nothing. `unknown`: anything else, such as a 500 or a proxy's page. It is about the
     * last attempt.
     */
    readonly outcome?: "done" | "not-done" | "unknown"
    /** The body of a success as JSON, where it is JSON. It may hold secrets, so it prints as `<redacted>`. */
    readonly value?: Redacted.Redacted<unknown>
  }
> {}

/** The failures that every operation can have in addition to those that it declares. @since 0.1.0 @category models */
export type ClientError = InvalidInput | TokenError | TransportError | UnexpectedResponse

/** A failure of a call that may come from another process, or from an earlier run. @since 0.1.0 @category models */
export type Failure =
  | ClientError
  | BadRequest
  | Unauthorized
  | InsufficientScope
  | Forbidden
  | PaymentRequired
  | NotFound
  | Conflict
  | Gone
  | PreconditionFailed
  | ContentTooLarge
  | InternalServerError
  | ServiceUnavailable
  | RateLimited
  | OtherError

/**
 * Writes a failure of a call as JSON, and reads it as an error of the same class. Bodies (`raw`, `value`) and token quotas are not written. What
 * has another form, such as the tag of a later version, is read as an `OtherError`.
 * @since 0.1.0 @category schemas
 */
export const Failure: Schema.Schema<Failure, EncodedError> = /* @__PURE__ */ Schema.suspend(() => {
  const reasons = ["status", "redirect", "html", "encoding", "json", "schema", "size", "endless", "incomplete"] as const
  const details = {
    operation: Schema.String,
    errorCode: Schema.optional(Schema.String),
    requestId: Schema.optional(Schema.String),
    retryAfter: Schema.optional(Schema.DurationFromMillis)
  }
  return Schema.Union(
    ofClasses({ BadRequest, Unauthorized, Forbidden, PaymentRequired, NotFound, Conflict, Gone }, details),
    ofClasses({ PreconditionFailed, ContentTooLarge, InternalServerError, ServiceUnavailable }, details),
    ofClasses({ InsufficientScope }, { ...details, required: Schema.Array(Schema.String) }),
    ofClasses({ RateLimited }, {
      ...details,
      source: Schema.Literal("service", "limiter"),
      limit: omittable(Schema.Number),
      remaining: omittable(Schema.Number),
      resetAt: omittable(Schema.DateTimeUtc)
    }),
    ofClasses({ InvalidInput }, {
      operation: Schema.String,
      issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
    }),
    ofClasses({ TokenError }, {
      operation: Schema.String,
      status: omittable(Schema.Number),
      error: omittable(Schema.String),
      description: omittable(Schema.String),
      retryAfter: omittable(Schema.DurationFromMillis),
      code: omittable(Schema.String)
    }),
    ofClasses({ TransportError }, {
      operation: Schema.String,
      outcome: Schema.Literal("not-sent", "unknown", "done"),
      code: omittable(Schema.String)
    }),
    ofClasses({ UnexpectedResponse }, {
      ...details,
      status: Schema.Number,
      reason: Schema.Literal(...reasons),
      contentType: omittable(Schema.String),
      path: omittable(Schema.String),
      shape: Schema.String,
      outcome: omittable(Schema.Literal("done", "not-done", "unknown"))
    }),
    ofOther
  )
})
