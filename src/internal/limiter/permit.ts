/** A call, and the response that settles its permit. */
import type * as HttpHeaders from "@effect/platform/Headers"

/** The identity of a call, as far as rate limits depend on it. */
export interface Call {
  /** The base URL: the limits of one tenant say nothing about another. */
  readonly tenant: string
  readonly operation: string
}

/** The part of a response that says something about rate limits. */
export interface LimitedResponse {
  readonly status: number
  readonly headers: HttpHeaders.Headers
}
