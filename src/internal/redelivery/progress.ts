/** Counts the results of a run, and says how far it is. */
import * as Duration from "effect/Duration"
import type { Outcome, Result } from "./outcome.js"

/** How far a run is. */
export interface Progress {
  /** How many ids have their result. */
  readonly done: number
  /** How many of these are not of this run's sending. */
  readonly recalled: number
  readonly outcomes: Readonly<Record<Outcome, number>>
  /** How many ids there are, if that is known. */
  readonly total: number | undefined
  /** How long it runs. */
  readonly elapsed: Duration.Duration
  /** How many results in a second were not recalled, since the run began. */
  readonly rate: number
  /** How long it will take at this rate; unknown without `total` and before there is a rate. */
  readonly remaining: Duration.Duration | undefined
  /** Whether `stopWhen` has ended it. */
  readonly stopped: boolean
}

export const begun: Progress = {
  done: 0,
  recalled: 0,
  outcomes: { accepted: 0, notFailed: 0, gone: 0, invalid: 0, unknown: 0, failed: 0, due: 0 },
  total: undefined,
  elapsed: Duration.zero,
  rate: 0,
  remaining: undefined,
  stopped: false
}

/** The progress after one more result, `millis` after the run began. */
export const add = (before: Progress, { outcome, recalled }: Result, millis: number): Progress => {
  const counted = {
    ...before,
    done: before.done + 1,
    recalled: before.recalled + (recalled ? 1 : 0),
    outcomes: { ...before.outcomes, [outcome]: before.outcomes[outcome] + 1 },
    elapsed: Duration.millis(millis)
  }
  const fresh = counted.done - counted.recalled
  const rate = millis > 0 ? fresh / (millis / 1000) : 0
  const left = counted.total === undefined ? undefined : Math.max(0, counted.total - counted.done)
  return {
    ...counted,
    rate,
    remaining: left === 0 ? Duration.zero : left === undefined || rate === 0 ? undefined : Duration.seconds(left / rate)
  }
}
