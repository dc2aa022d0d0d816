/**
 * Pauses a run while the service is unavailable. After some failures in a row no event is sent; then one at a time, after waits that
 * grow, until one gets a response. After a time limit the run ends.
 */
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { failureName } from "../runtime/failures.js"
import { makeDeferred, type Restore } from "../runtime/fiber.js"
import { monotonicMillis } from "../runtime/monotonicClock.js"
import { RunError, Stopped } from "./ending.js"
import type { CallFailure } from "./outcome.js"

/** The wait before the first event that is tried in a pause, and the longest one, in milliseconds. Each is twice the one before. */
const firstWait = 1000
const longestWait = 30_000

export interface OutageOptions {
  /** The number of failures in a row. */
  readonly pauseAfter: number
  /** The time from the start of a pause to the end of the run. */
  readonly giveUpAfter: Duration.DurationInput
}

interface Pause {
  /** In milliseconds of the monotonic clock, as `nextAt`: the time at which an event is tried. */
  readonly since: number
  nextAt: number
  wait: number
  /** Ends the waits, whatever ends the pause. */
  readonly over: Deferred.Deferred<void>
}

/** The pauses of one run, and its end before that of its ids. */
export interface Outage {
  /** Makes an attempt to send, in an uninterruptible region; in a pause it waits, interruptibly, until one may be made. */
  readonly attempt: <A, E, R>(
    self: Effect.Effect<A, E, R>,
    restore: Restore
  ) => Effect.Effect<A, E | RunError | Stopped, R>
  /** Reports that the service has responded. */
  readonly up: Effect.Effect<void>
  /** Reports a failure of the service, with the wait that it may ask for. Returns true if the run is paused now. */
  readonly down: (error: CallFailure) => Effect.Effect<boolean>
  /** Ends the run: no further attempt is made, and this effect fails. */
  readonly end: (error: RunError) => Effect.Effect<never, RunError>
  /** Drops the events that wait, now and later. Those that need not wait are still sent. */
  readonly stop: () => void
  /** The error that has ended the run. */
  readonly endedBy: () => RunError | undefined
}

/**
 * Makes the pauses of a run. `onChange` gets the last failure when a pause begins and goes on, and `undefined` when it ends, at the latest
 * with the scope.
 */
export const make = (
  { giveUpAfter, pauseAfter }: OutageOptions,
  onChange: (error: CallFailure | undefined) => Effect.Effect<void>
): Effect.Effect<Outage, never, Scope.Scope> =>
  Effect.flatMap(Effect.makeSemaphore(1), (oneAtATime) => {
    const limit = Duration.toMillis(giveUpAfter)
    const now = Effect.clockWith((clock: Clock.Clock) => Effect.sync(() => monotonicMillis(clock)))
    let failures = 0
    let pause: Pause | undefined
    let ended: RunError | undefined
    let isStopped = false

    const endPause = Effect.suspend(() => {
      if (pause === undefined) return Effect.void
      Deferred.unsafeDone(pause.over, Effect.void)
      pause = undefined
      return onChange(undefined)
    })

    const end = (error: RunError) =>
      Effect.suspend(() => {
        ended ??= error
        return Effect.zipRight(endPause, Effect.fail(ended))
      })

    const endUnavailable = (error: CallFailure) =>
      Effect.ignore(end(
        new RunError({
          reason: "unavailable",
          message: `the service is unavailable, for ${
            Duration.format(giveUpAfter)
          } since the run paused: ${error.message}`,
          error
        })
      ))

    /** Waits for the time of the next attempt. */
    const awaitAttempt = (own: Pause) =>
      Effect.flatMap(
        now,
        (at) => Effect.raceFirst(Effect.sleep(Math.max(0, own.nextAt - at)), Deferred.await(own.over))
      )

    const attempt: Outage["attempt"] = <A, E, R>(self: Effect.Effect<A, E, R>, restore: Restore) =>
      Effect.suspend((): Effect.Effect<A, E | RunError | Stopped, R> => {
        if (ended !== undefined) return Effect.fail(ended)
        if (pause === undefined) return self
        return Effect.acquireUseRelease(
          restore(oneAtATime.take(1)),
          () => Effect.suspend(() => pause === undefined ? Effect.succeedNone : attemptIn(pause, self, restore)),
          () => oneAtATime.release(1)
        ).pipe(Effect.flatMap(Option.match({ onNone: () => attempt(self, restore), onSome: Effect.succeed })))
      })

    /** Makes the one attempt of a pause; none if the pause ends before. */
    const attemptIn = <A, E, R>(own: Pause, self: Effect.Effect<A, E, R>, restore: Restore) =>
      Effect.zipRight(
        isStopped ? Effect.void : restore(awaitAttempt(own)),
        Effect.suspend((): Effect.Effect<Option.Option<A>, E | Stopped, R> =>
          isStopped ? Effect.fail(new Stopped()) : pause === own ? Effect.asSome(self) : Effect.succeedNone
        )
      )

    const begin = (since: number, error: CallFailure) => {
      pause = { since, nextAt: since, wait: firstWait / 2, over: makeDeferred() }
      return Effect.logWarning(`the service is unavailable; the run pauses: ${failureName(error)}`)
    }

    /** Sets the time of the next attempt of a pause, or ends the run. */
    const goOn = (own: Pause, at: number, error: CallFailure) => {
      if (at - own.since >= limit) return endUnavailable(error)
      const retryAfter = ("retryAfter" in error ? error.retryAfter : undefined) ?? Duration.zero
      own.wait = Math.min(own.wait * 2, longestWait)
      own.nextAt = Math.min(at + Math.max(own.wait, Duration.toMillis(retryAfter)), own.since + limit)
      return onChange(error)
    }

    return Effect.as(Effect.addFinalizer(() => endPause), {
      attempt,
      end,
      endedBy: () => ended,
      up: Effect.suspend(() => {
        failures = 0
        return pause === undefined
          ? Effect.void
          : Effect.zipRight(endPause, Effect.logInfo("the service is available again; the run goes on"))
      }),
      down: (error) =>
        Effect.gen(function*() {
          failures++
          if (ended !== undefined) return true
          const at = yield* now
          if (pause === undefined && failures >= pauseAfter) yield* begin(at, error)
          // A call that began before the pause says nothing about the time since then.
          if (pause !== undefined && at >= pause.nextAt) yield* goOn(pause, at, error)
          return pause !== undefined || ended !== undefined
        }),
      stop: () => {
        isStopped = true
        if (pause !== undefined) Deferred.unsafeDone(pause.over, Effect.void)
      }
    })
  })
