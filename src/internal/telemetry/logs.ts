/** The log lines of calls: debug lines, and warnings of long waits and of a rate limit that is nearly used up. */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import type { RawResponse } from "../http/rawExchange.js"
import * as FiberAccess from "../runtime/fiber.js"
import { monotonicMillis } from "../runtime/monotonicClock.js"
import { isLongWait, warningInterval } from "../runtime/warnings.js"
import * as Spans from "./spans.js"

/** The shares of the rate limit that must be left: at `low` a warning is logged, above `recovered` it may be logged again. */
const quotaShare = { low: 0.2, recovered: 0.5 }

/** The number of limits of one tenant that are told apart. A service has a few. */
const mostLimits = 100

/** Formats a duration, for example `20 ms` or `1.5 s`. */
export const formatMillis = (millis: number): string =>
  millis < 1000 ? `${Math.round(millis)} ms` : `${Math.round(millis / 100) / 10} s`

/** Finds the warnings about a limit. No header names the bucket, so operations with the same limit count as one. */
export const makeQuotaWarnings = () => {
  const byLimit = new Map<number, { nextAt: number; isLow: boolean }>()
  return (limit: number) => {
    const warnings = byLimit.get(limit) ?? { nextAt: -Infinity, isLow: false }
    if (byLimit.size >= mostLimits) byLimit.clear()
    byLimit.set(limit, warnings)
    return warnings
  }
}

/** The state that the log lines of all calls of one operation share. */
export interface SharedLogs {
  readonly operation: string
  readonly quotaWarnings: ReturnType<typeof makeQuotaWarnings>
  nextWaitWarningAt: number
}

/** Collects the log lines of one call. `before` writes them before the next step of the call. */
export class CallLogs {
  /** The number of the last request of the call, which each line names; 0 before the first. */
  attempt = 0
  private readonly shared: SharedLogs
  private readonly clock: Clock.Clock
  private readonly isDebugEnabled: boolean
  private pending: Effect.Effect<void> | undefined

  constructor(shared: SharedLogs, fiber: FiberAccess.AnyFiber, clock: Clock.Clock) {
    this.shared = shared
    this.clock = clock
    this.isDebugEnabled = FiberAccess.minimumLogLevelOf(fiber).ordinal <= LogLevel.Debug.ordinal
  }

  debug(message: string): void {
    if (this.isDebugEnabled) this.add(Effect.logDebug(message))
  }

  info(message: string): void {
    this.add(Effect.logInfo(message))
  }

  warn(message: string): void {
    this.add(Effect.logWarning(message))
  }

  /** Adds the line of a wait before a retry: a warning if it is long, but not for each call. */
  backoff(millis: number): void {
    const message = `retrying in ${formatMillis(millis)}`
    const now = monotonicMillis(this.clock)
    if (!isLongWait(millis) || now < this.shared.nextWaitWarningAt) return this.debug(message)
    this.shared.nextWaitWarningAt = now + warningInterval
    this.warn(message)
  }

  /** Adds a warning if the rate limit is nearly used up. */
  quota(remaining: number, limit: number): void {
    const warnings = this.shared.quotaWarnings(limit)
    const share = remaining / limit
    if (share > quotaShare.recovered) warnings.isLow = false
    if (share > quotaShare.low || warnings.isLow) return
    const now = monotonicMillis(this.clock)
    if (now < warnings.nextAt) return
    warnings.isLow = true
    warnings.nextAt = now + warningInterval
    const nearly = remaining === 0 ? "" : "nearly "
    this.warn(`the rate limit is ${nearly}used up: ${remaining} of ${limit} calls left`)
  }

  /** Adds a debug line when a request ends, and writes it. */
  withOutcome<A extends RawResponse, E>(request: Effect.Effect<A, E>): Effect.Effect<A, E> {
    if (!this.isDebugEnabled) return request
    const sentAt = monotonicMillis(this.clock)
    const log = (outcome: string) => {
      this.debug(`${outcome} after ${formatMillis(monotonicMillis(this.clock) - sentAt)}`)
      return this.before(Effect.void)
    }
    return request.pipe(
      Effect.tap(({ status }) => log(`response with status ${status}`)),
      Effect.tapErrorCause((cause) => log(`no response (${Spans.errorCodeOrTag(cause)})`))
    )
  }

  /** Writes the lines before `next`. */
  before<A, E>(next: Effect.Effect<A, E>): Effect.Effect<A, E> {
    if (this.pending === undefined) return next
    const lines = this.pending
    this.pending = undefined
    return Effect.zipRight(lines, next)
  }

  private add(log: Effect.Effect<void>): void {
    const line = Effect.annotateLogs(log, { operation: this.shared.operation, attempt: this.attempt })
    this.pending = this.pending === undefined ? line : Effect.zipRight(this.pending, line)
  }
}
