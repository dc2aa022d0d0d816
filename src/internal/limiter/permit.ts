/** A call, its permit, and the response that settles it. */
import type * as HttpHeaders from "@effect/platform/Headers"
import type * as Effect from "effect/Effect"

/** The identity of a call, as far as rate limits depend on it. @since 0.1.0 @category models */
export interface Call {
  /** The base URL: the limits of one tenant say nothing about another. */
  readonly tenant: string
  /** The name of the operation. */
  readonly operation: string
}

/** The part of a response that a limiter learns from. @since 0.1.0 @category models */
export interface LimitedResponse {
  readonly status: number
  readonly headers: HttpHeaders.Headers
}

/** The right to send one call. @since 0.1.0 @category models */
export interface Permit {
  /** Ends the call with its response, or with `undefined` if none came. Only the first settlement counts. */
  readonly settle: (response: LimitedResponse | undefined) => Effect.Effect<void>
}
