/**
 * Every way a call can fail: one class per meaning. A class that stands for an answer of the service carries the status
 * it answers to, so that the list an operation declares is at once its error type and what the runtime searches.
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"

/** What every answer of the service that is a failure carries. */
export interface ServiceFailure {
  /** The operation that failed, for example `deleteEventStream`. */
  readonly operation: string
  /** The service's own words, at most 500 characters; secrets and the call's own strings are replaced by `…`. */
  readonly message: string
  /** The service's machine-readable code, for example `invalid_body`. */
  readonly errorCode?: string | undefined
  /** The identifier under which the service has logged the call. */
  readonly requestId?: string | undefined
  /** How long the service asks to wait (`Retry-After`, seconds or a date). */
  readonly retryAfter?: Duration.Duration | undefined
  /** The body as text, at most 64 KiB of one that is not decoded. It may hold personal data, so it prints as `<redacted>`. */
  readonly raw?: Redacted.Redacted<string> | undefined
}

/** Where the caller stands in the service's rate limit (`X-RateLimit-*`, contract: Limits). */
export interface Quota {
  /** How many calls the bucket holds. */
  readonly limit?: number | undefined
  /** How many were left. */
  readonly remaining?: number | undefined
  /** When the bucket is full again, on the service's clock, to the second. */
  readonly resetAt?: DateTime.Utc | undefined
}

/** An answer that is a failure, with all that any error class may want to know of it. */
export interface ErrorResponse extends ServiceFailure, Quota {
  readonly status: number
  /** Whether the service says that a scope is missing. */
  readonly scopeMissing: boolean
  /** The scopes of which one would have been enough. */
  readonly required: ReadonlyArray<string>
}

/** A class that an operation may list: it is built from answers of its status which it accepts. */
export interface ErrorClass<A = unknown> {
  new(answer: ErrorResponse): A
  /** Of the answers that it is built from. */
  readonly status: number
  /** Whether it is meant for this answer of its status: the first class of a list that accepts one is built. */
  readonly accepts: (answer: ErrorResponse) => boolean
}

const serviceFailure = (failure: ServiceFailure): ServiceFailure => ({
  operation: failure.operation,
  message: failure.message,
  ...(failure.errorCode !== undefined && { errorCode: failure.errorCode }),
  ...(failure.requestId !== undefined && { requestId: failure.requestId }),
  ...(failure.retryAfter !== undefined && { retryAfter: failure.retryAfter }),
  ...(failure.raw !== undefined && { raw: failure.raw })
})

/** What `statusError` gives back. It is written out because the inferred one has no name in a declaration file. */
export interface StatusErrorClass<Tag extends string, Status extends number> {
  new(failure: ServiceFailure): Cause.YieldableError & ServiceFailure & {
    readonly _tag: Tag
    readonly status: Status
  }
  readonly status: Status
  /** Whether it is meant for this answer; a class may override it, to share a status with another. */
  accepts(answer: ErrorResponse): boolean
}

/**
 * Makes the base of an error class for one status: `class Gone extends Errors.statusError("Gone", 410) {}` can be listed
 * by an operation.
 */
export const statusError = <const Tag extends string, const Status extends number>(
  tag: Tag,
  status: Status
): StatusErrorClass<Tag, Status> =>
  class extends Data.TaggedError(tag)<ServiceFailure> {
    static readonly status: Status = status
    static accepts(_answer: ErrorResponse): boolean {
      return true
    }
    readonly status: Status = status
    constructor(failure: ServiceFailure) {
      super(serviceFailure(failure) as never) // sound: TypeScript cannot see through `TaggedError`'s conditional argument
    }
  }

// The marks here and elsewhere let a bundler drop what nobody uses: it cannot know by itself that a call has no effects.

/** 400: the request is not valid, or names something that does not exist. The message says which. */
export class BadRequest extends /* @__PURE__ */ statusError("BadRequest", 400) {}

/** 401: the token is not accepted, also after a fresh one was tried; or the client is not global. */
export class Unauthorized extends /* @__PURE__ */ statusError("Unauthorized", 401) {}

/** 403 for want of a scope. `required` lists the scopes of which any would have been enough. */
export class InsufficientScope extends /* @__PURE__ */ statusError("InsufficientScope", 403) {
  /** Whether the service says that a scope is missing. */
  static override accepts(answer: ErrorResponse): boolean {
    return answer.scopeMissing
  }
  /** The scopes of which any would have been enough, for example `read:users`. */
  readonly required: ReadonlyArray<string>
  constructor(failure: ServiceFailure & Pick<ErrorResponse, "required">) {
    super(failure)
    this.required = failure.required
  }
}

/** 403 for any other reason, for example a feature the tenant does not have. */
export class Forbidden extends /* @__PURE__ */ statusError("Forbidden", 403) {
  /** Whether it is not for want of a scope. */
  static override accepts(answer: ErrorResponse): boolean {
    return !answer.scopeMissing
  }
}

/** 404: there is no such thing. */
export class NotFound extends /* @__PURE__ */ statusError("NotFound", 404) {}

/** 409: it is not in a state that allows this. */
export class Conflict extends /* @__PURE__ */ statusError("Conflict", 409) {}

/**
 * 429: too many calls. `source` tells who said so: the `service`, or our own `limiter`, and then nothing was sent.
 * Carries what is known of the bucket (contract: Limits).
 */
export class RateLimited extends /* @__PURE__ */ statusError("RateLimited", 429) implements Quota {
  /** Who said so: with `limiter` nothing was sent. */
  readonly source: "service" | "limiter"
  declare readonly limit?: number
  declare readonly remaining?: number
  declare readonly resetAt?: DateTime.Utc
  constructor(failure: ServiceFailure & Quota & { readonly source?: "service" | "limiter" }) {
    super(failure)
    this.source = failure.source ?? "service"
    if (failure.limit !== undefined) this.limit = failure.limit
    if (failure.remaining !== undefined) this.remaining = failure.remaining
    if (failure.resetAt !== undefined) this.resetAt = failure.resetAt
  }
}

/** One thing that is wrong with an input. */
export interface Issue {
  /** Where, for example `fields[0].name`. */
  readonly path: string
  /** What is expected there. Never the value that was given. */
  readonly message: string
}

/** The input breaks the contract's patterns, lengths or names. Nothing was sent. */
export class InvalidInput extends Data.TaggedError("InvalidInput")<{
  readonly operation: string
  /** Each thing that is wrong, at any depth. */
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

/** No token could be had, so nothing was sent to the service. */
export class TokenError extends Data.TaggedError("TokenError")<{
  /** The operation that needed the token. */
  readonly operation: string
  readonly message: string
  /** The status of the token endpoint's answer, if there was one. */
  readonly status?: number
  /** The OAuth 2.0 error code, for example `invalid_client`. */
  readonly error?: string
  /** The OAuth 2.0 `error_description`. */
  readonly description?: string
  /** How long the token endpoint asks to wait. */
  readonly retryAfter?: Duration.Duration
  /** The system's or transport's code if no answer came, for example `ECONNREFUSED`. */
  readonly code?: string
}> {}

/** No whole answer came. `outcome` says whether the service may have acted. */
export class TransportError extends Data.TaggedError("TransportError")<{
  readonly operation: string
  readonly message: string
  /** `not-sent`: it is certain that the service has not seen the call. `unknown`: it may have carried it out. */
  readonly outcome: "not-sent" | "unknown"
  /** The system's or transport's code, for example `ECONNRESET`; `TIMEOUT` if our own time limit ran out. */
  readonly code?: string
}> {}

/** The service, or something before it, answered what the operation does not declare or what cannot be decoded. */
export class UnexpectedResponse extends Data.TaggedError("UnexpectedResponse")<
  ServiceFailure & {
    readonly status: number
    /**
     * `status`: the operation does not declare it. `redirect`: never followed. `html`: a web page instead of an answer.
     * `encoding`: broken gzip or not UTF-8. `json`: not JSON. `schema`: not what the operation promises. `size`: too large.
     * `endless`: pages that do not come to an end; the status is then that of any success, 200.
     */
    readonly reason: "status" | "redirect" | "html" | "encoding" | "json" | "schema" | "size" | "endless"
    readonly contentType?: string
    /** The first member that is not as promised, for example `versions[3].number`. */
    readonly path?: string
    /** What the body looks like, never what it says: its length, an HTML title, the names of JSON members. */
    readonly shape: string
  }
> {}

/** What any operation may fail with besides the answers that it declares. */
export type ClientError = InvalidInput | TokenError | TransportError | UnexpectedResponse
