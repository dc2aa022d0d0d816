/** A call on its way, and the stages that it passes: each wraps the next, and never calls its caller. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { Any } from "../../Endpoint.js"
import type { RawResponse } from "../http/rawExchange.js"
import type { EncodedRequest } from "../http/requestEncoder.js"
import type { AnyFiber, Restore } from "../runtime/fiber.js"
import { monotonicMillis } from "../runtime/monotonicClock.js"
import type { Timeouts } from "../runtime/timeouts.js"
import type { CallTelemetry } from "../telemetry/callTelemetry.js"
import type { AccessToken } from "../token/issuedToken.js"
import type { AttemptFailure, Policy } from "./retryPolicy.js"
import type { CallSettings } from "./settings.js"

/** A call that is about to be sent. @since 0.1.0 @category models */
export interface Call {
  /** The base URL of its tenant. */
  readonly tenant: string
  /** The name of its operation. */
  readonly operation: string
  /** The number of the attempt; the first is 1. It is the same for a request that is sent again because its token was refused. */
  readonly attempt: number
  readonly method: string
  readonly url: string
  /** Its headers, in lower case, without the token. A stage may pass others on. */
  readonly headers: Readonly<Record<string, string>>
}

/** Sends one attempt of a call, and gives its response, of whatever status. @since 0.1.0 @category models */
export type Send<C = Call, A = RawResponse> = (call: C) => Effect.Effect<A, AttemptFailure>

/** Wraps a `Send`: does something before it, after it, or in its place. @since 0.1.0 @category models */
export type Stage<C = Call, A = RawResponse, B = A> = (next: Send<C, A>) => Send<C, B>

/** A call as the client's own stages see it. */
export interface RunningCall extends Call {
  readonly endpoint: Any
  readonly request: EncodedRequest
  readonly settings: CallSettings
  readonly policy: Policy
  readonly fiber: AnyFiber
  readonly clock: Clock.Clock
  readonly telemetry: CallTelemetry
  /** Makes a wait interruptible, if the program is; all else is uninterruptible. */
  readonly restore: Restore
  /** The time limits of the client's calls. All end when it closes. */
  readonly timeouts: Timeouts
  readonly notes: Notes
}

/** What the stages of a call note down for each other. Times are milliseconds of the monotonic clock. */
export interface Notes {
  /** The start of the call, moved forward by all waits that do not count towards its total time. */
  startedAt: number
  /** The start of the wait for the limiter, while the attempt waits. */
  waitsSince: number | undefined
  /** The wait of the attempt for the limiter. */
  waited: number
  /** True once the request of the attempt has begun. */
  hasBegun: boolean
  /** The token of the attempt, and its header. */
  token: AccessToken | undefined
  authorization: string
  /** The header by which the service can continue the trace of the attempt. */
  trace: Readonly<Record<string, string>> | undefined
  /** The number of the attempt in the circuit. */
  entered: number | undefined
}

export const makeNotes = (now: number): Notes => ({
  startedAt: now,
  waitsSince: undefined,
  waited: 0,
  hasBegun: false,
  token: undefined,
  authorization: "",
  trace: undefined,
  entered: undefined
})

/** A response, and the token of its request, which errors must not repeat. */
export interface AuthorizedResponse extends RawResponse {
  readonly token: Redacted.Redacted
}

export const now = ({ clock }: Pick<RunningCall, "clock">): number => monotonicMillis(clock) // the time of day may be set back

/** The milliseconds that are left of the total time of a call. */
export const timeLeft = (call: RunningCall): number =>
  Duration.toMillis(call.policy.totalTime) - (now(call) - call.notes.startedAt)
