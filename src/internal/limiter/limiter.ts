/** A limiter, its options, and its permits for calls. */
import type * as HttpHeaders from "@effect/platform/Headers"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Quota, RateLimited } from "../../Errors.js"

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
  /**
   * Ends the call at once, before anything was sent: another may have its permit. Without it, the client settles the permit
   * with `undefined`.
   */
  readonly giveBack?: Effect.Effect<void> | undefined
}

/** Options that all limiters share. @since 0.1.0 @category models */
export interface Options {
  /**
   * The longest wait for a permit. A call that would wait longer fails at once with `RateLimited`, whose `source` is
   * `limiter` (default: no call fails).
   */
  readonly maxWait?: Duration.DurationInput | undefined
  /**
   * The longest pause that responses may cause (default 15 min), by `Retry-After` or by rate-limit headers. After that, one call at a
   * time tests whether the service responds again, however long the pause was to be. Only for limiters that learn from responses.
   */
  readonly maxPause?: Duration.DurationInput | undefined
  /** The share of the limit that background calls leave to the others, from 0 to 1 (default 0.2). */
  readonly reserve?: number | undefined
}

/** The reason of a wait for a permit. @since 0.1.0 @category models */
export type WaitReason = "limit" | "ceiling" | "pause" | "pace" | "inFlight"

/** The known limit of one operation. @since 0.1.0 @category models */
export interface Status extends Call, Quota {
  /** The number of calls that wait for a permit. */
  readonly waiting: number
  /** The reason of their wait, if calls wait: nothing left, the user's own ceiling, a pause that the service asked for, a pace after 429s without headers, or another call in flight. */
  readonly reason?: WaitReason
}

/** The operations of a rate limiter. */
export interface Limiter {
  /**
   * Waits for a permit, which the caller settles exactly once, with the response or with `undefined`. Interruption of the
   * wait consumes no permit.
   */
  readonly acquire: (call: Call) => Effect.Effect<Permit, RateLimited>
  /** The state now, an entry for each operation that was called. A later call forgets tenants without calls for an hour. */
  readonly status: Effect.Effect<ReadonlyArray<Status>>
  /** The state, now and whenever it changes. A slow reader gets the latest state and misses those before. */
  readonly changes: Stream.Stream<ReadonlyArray<Status>>
}
