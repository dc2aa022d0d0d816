/** The progress of a redelivery run: counts its results and estimates the time that is left. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { Failure } from "../../Errors.js"
import type { Outcome, Result } from "./outcome.js"

/** The progress of a run. @since 0.1.0 @category models */
export interface Progress {
  /** The number of results so far. */
  readonly done: number
  /** The number of results that were recalled. */
  readonly recalled: number
  /** The number of results by outcome. */
  readonly outcomes: Readonly<Record<Outcome, number>>
  /** The ids of events that may have been accepted, at most 100: also of those whose results an interruption kept from the stream. */
  readonly unknown: ReadonlyArray<string>
  /** The number of ids, if it is known. */
  readonly total: number | undefined
  /** The time since the run began. */
  readonly elapsed: Duration.Duration
  /** Results per second since the run began, without those that were recalled. */
  readonly rate: number
  /** The time left at this rate. `undefined` without a `total`, and while the rate is 0. */
  readonly remaining: Duration.Duration | undefined
  /** True if `stopWhen` or `stopAfter` has ended the run. */
  readonly stopped: boolean
  /** The last failure, while the run pauses because the service is unavailable. */
  readonly paused: Failure | undefined
}

/** The progress of a run that has no results yet. */
export const initial: Progress = {
  done: 0,
  recalled: 0,
  outcomes: { accepted: 0, notFailed: 0, gone: 0, invalid: 0, unknown: 0, failed: 0, due: 0 },
  unknown: [],
  total: undefined,
  elapsed: Duration.zero,
  rate: 0,
  remaining: undefined,
  stopped: false,
  paused: undefined
}

/** Estimates the rate and the time left, `millis` after the run began, from the number of results of this run. */
export const estimate = (
  results: number,
  left: number | undefined,
  millis: number
): Pick<Progress, "rate" | "remaining"> => {
  const rate = millis > 0 ? results / (millis / 1000) : 0
  return {
    rate,
    remaining: left === 0 ? Duration.zero : left === undefined || rate === 0 ? undefined : Duration.seconds(left / rate)
  }
}

/** The most ids of unknown outcome that are kept. */
const maxUnknown = 100

/** Adds a result, `millis` after the run began. */
export const add = (before: Progress, { id, outcome, recalled }: Result, millis: number): Progress => {
  const counted = {
    ...before,
    done: before.done + 1,
    recalled: before.recalled + (recalled ? 1 : 0),
    outcomes: { ...before.outcomes, [outcome]: before.outcomes[outcome] + 1 },
    unknown: outcome !== "unknown" || before.unknown.length === maxUnknown || before.unknown.includes(id)
      ? before.unknown
      : [...before.unknown, id],
    elapsed: Duration.millis(millis)
  }
  const left = counted.total === undefined ? undefined : Math.max(0, counted.total - counted.done)
  return { ...counted, ...estimate(counted.done - counted.recalled, left, millis) }
}

/** The part of a run's options that its progress needs. */
export interface TrackOptions {
  readonly progress?: SubscriptionRef.SubscriptionRef<Progress> | undefined
  readonly stopWhen?: ((progress: Progress) => boolean) | undefined
  readonly stopAfter: number
  readonly total: number | undefined
}

/** Updates the progress of a run. */
export interface Tracker {
  /** Adds a result, and calls `stop` if the run is to take no more ids. */
  readonly add: (result: Result, stop: () => void) => Effect.Effect<void>
  /** Tells the failure for which the run pauses, or that it goes on. */
  readonly pause: (error: Failure | undefined) => Effect.Effect<void>
}

/** Publishes the progress of a run; `elapsed` gives the milliseconds since it began. */
export const track = (
  { progress: ref, stopAfter, stopWhen, total }: TrackOptions,
  elapsed: Effect.Effect<number>
): Effect.Effect<Tracker> => {
  let progress: Progress = { ...initial, total }
  let failures = 0
  const publish = ref === undefined ? Effect.void : SubscriptionRef.update(ref, () => progress)
  return Effect.as(publish, {
    add: (result, stop) =>
      Effect.flatMap(elapsed, (millis) => {
        progress = add(progress, result, millis)
        if (result.outcome === "failed" && !result.recalled) failures++
        if (!progress.stopped && (failures >= stopAfter || stopWhen?.(progress) === true)) {
          progress = { ...progress, stopped: true }
          stop()
        }
        return publish
      }),
    pause: (paused) =>
      Effect.suspend(() => {
        progress = { ...progress, paused }
        return publish
      })
  })
}
