/** The progress of an export. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { stopwatch } from "../runtime/monotonicClock.js"

/** The progress of an export. @since 0.1.0 @category models */
export interface Progress {
  /** `starting` the job, `waiting` for its end, `downloading` the file, or `done`. */
  readonly phase: "starting" | "waiting" | "downloading" | "done"
  /** The id of the job, once it is known. */
  readonly job: string | undefined
  /** The part of the job that is done, in per cent, if the service tells it. */
  readonly percentage: number | undefined
  /** The number of compressed bytes received. */
  readonly bytes: number
  /** The size of the compressed file in bytes, if the storage tells it. */
  readonly totalBytes: number | undefined
  /** The number of rows so far, with bad ones. */
  readonly rows: number
  /** The number of rows that could not be decoded. `toFile` decodes none. */
  readonly badRows: number
  /** The time since the export began. */
  readonly elapsed: Duration.Duration
  /** The time left in this phase, if it can be estimated. */
  readonly remaining: Duration.Duration | undefined
}

/** The progress of an export that has not begun. */
export const initial: Progress = {
  phase: "starting",
  job: undefined,
  percentage: undefined,
  bytes: 0,
  totalBytes: undefined,
  rows: 0,
  badRows: 0,
  elapsed: Duration.zero,
  remaining: undefined
}

/** Changes to the progress; `secondsLeft` is the service's own estimate. */
interface Change extends Partial<Omit<Progress, "elapsed" | "remaining">> {
  readonly secondsLeft?: number | undefined
}

/** Publishes changes. */
export type Track = (change: Change) => Effect.Effect<void>

const remainingOf = (
  { bytes, phase, totalBytes }: Progress,
  secondsLeft: number | undefined,
  downloadMillis: number
): Duration.Duration | undefined => {
  switch (phase) {
    case "done":
      return Duration.zero
    case "waiting":
      return secondsLeft === undefined ? undefined : Duration.seconds(Math.max(0, secondsLeft))
    case "downloading":
      return totalBytes === undefined || bytes === 0
        ? undefined
        : Duration.millis(Math.max(0, (totalBytes - bytes) * downloadMillis / bytes))
    default:
      return undefined
  }
}

/** Makes a function that publishes changes of an export that begins now. */
export const make = (ref: SubscriptionRef.SubscriptionRef<Progress> | undefined): Effect.Effect<Track> => {
  if (ref === undefined) return Effect.succeed(() => Effect.void)
  let progress = initial
  let downloadStart = 0
  return Effect.flatMap(stopwatch, (elapsed) => {
    const track: Track = ({ secondsLeft, ...change }) =>
      Effect.flatMap(elapsed, (now) => {
        if (change.phase === "downloading") downloadStart = now
        const next = { ...progress, ...change, elapsed: Duration.millis(now) }
        progress = { ...next, remaining: remainingOf(next, secondsLeft, now - downloadStart) }
        return SubscriptionRef.set(ref, progress)
      })
    return Effect.as(track({}), track)
  })
}
