/** A limiter, its options, and what it learns from. */
import type * as HttpHeaders from "@effect/platform/Headers"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Quota, RateLimited } from "../../Errors.js"
import { type AnyFiber, makeSetting, type Restore } from "../runtime/fiber.js"
import type { Timeouts } from "../runtime/timeouts.js"

/** Marks calls as background work. */
export const isBackgroundWork = /* @__PURE__ */ makeSetting("RateLimiter/isBackground", () => false)

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
  /** True if the response came from another URL: then it says nothing about this limit. */
  readonly redirected?: boolean | undefined
}

/**
 * Waits until a call may be sent, sends it, and learns from how that ends: with a response, or without one. A call that was not sent
 * gives its place to another: its `send` was interrupted before it began, or fails with `outcome: "not-sent"` or a `TokenError`.
 * @since 0.1.0 @category models
 */
export interface Limit {
  (call: Call): <A extends LimitedResponse, E, R>(send: Effect.Effect<A, E, R>) => Effect.Effect<A, E | RateLimited, R>
  /** Limits a client's call, whose wait is interrupted when the client closes. Without it, the call waits in a fiber of its own. */
  readonly ofClient?: <A extends LimitedResponse, E, R>(
    call: ClientCall,
    send: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | RateLimited, R>
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

/** A call of a client. Its fiber is uninterruptible, except for what `restore` wraps. */
export interface ClientCall extends Call {
  readonly fiber: AnyFiber
  readonly restore: Restore
  /** `hasBegun`: its request has begun. */
  readonly notes: { readonly hasBegun: boolean }
  /** The waits of the client, which end when it closes. */
  readonly timeouts?: Pick<Timeouts, "onClose">
}

/** The operations of a rate limiter. */
export interface Limiter {
  /** Sends a call once it may be sent. */
  readonly limit: Limit
  /** The state now, an entry for each operation that was called. A later call forgets tenants without calls for an hour. */
  readonly status: Effect.Effect<ReadonlyArray<Status>>
  /** The state, now and whenever it changes. A slow reader gets the latest state and misses those before. */
  readonly changes: Stream.Stream<ReadonlyArray<Status>>
}
