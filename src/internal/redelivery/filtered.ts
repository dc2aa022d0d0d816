/** Follows deliveries that the service was asked to deliver again, by listing the failed ones, until each is gone or has failed again. */
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { stopwatch } from "../runtime/monotonicClock.js"
import { estimate } from "./progress.js"

/** All outcomes of `runFiltered`. @since 0.1.0 @category constants */
export const filteredOutcomes = ["delivered", "failedAgain", "pending"] as const

/**
 * The outcome for a failed delivery.
 *
 * - `delivered`: it has not been among the failed deliveries for `deliveredAfter`. The service does not tell more.
 * - `failedAgain`: it has failed with a new attempt. The service makes up to four within seven seconds, so a later one may succeed.
 * - `pending`: neither, until `followFor` was over.
 * @since 0.1.0 @category models
 */
export type FilteredOutcome = typeof filteredOutcomes[number]

/** The result for one delivery. @since 0.1.0 @category models */
export interface FilteredResult {
  /** The id of the delivery, which is that of its event. */
  readonly id: string
  readonly outcome: FilteredOutcome
  /** The number of failed attempts that the service has listed last. */
  readonly attempts: number
  /** For `failedAgain` the message of the last attempt, if the service gives one. */
  readonly error?: string
}

/** The progress of `runFiltered`. @since 0.1.0 @category models */
export interface FilteredProgress {
  /** The number of results so far. */
  readonly done: number
  /** The number of deliveries that matched, once they are listed. */
  readonly total: number | undefined
  /** The number of results by outcome. */
  readonly outcomes: Readonly<Record<FilteredOutcome, number>>
  /** The outcome of the one call, once it has ended. `unknown`: it may have been accepted; the deliveries are followed anyway. */
  readonly request: "accepted" | "unknown" | undefined
  /** The time since the run began. */
  readonly elapsed: Duration.Duration
  /** Results per second since the run began. */
  readonly rate: number
  /** The time left at this rate. `undefined` while the rate is 0 or the total is unknown. */
  readonly remaining: Duration.Duration | undefined
}

/** The progress of a run that has no results yet. */
export const initialFiltered: FilteredProgress = {
  done: 0,
  total: undefined,
  outcomes: { delivered: 0, failedAgain: 0, pending: 0 },
  request: undefined,
  elapsed: Duration.zero,
  rate: 0,
  remaining: undefined
}

/** The failed attempts of a delivery: their number, the time of the last, and its message. */
export interface Attempts {
  readonly count: number
  readonly lastAt: string
  readonly error: string | undefined
}

/** Publishes the progress of a run; `elapsed` gives the milliseconds since it began. */
export const trackFiltered = (
  ref: SubscriptionRef.SubscriptionRef<FilteredProgress> | undefined,
  elapsed: Effect.Effect<number>
) => {
  let progress = initialFiltered
  const update = (change: (before: FilteredProgress) => Partial<FilteredProgress>) =>
    Effect.flatMap(elapsed, (millis) => {
      const changed = { ...progress, ...change(progress), elapsed: Duration.millis(millis) }
      const left = changed.total === undefined ? undefined : changed.total - changed.done
      progress = { ...changed, ...estimate(changed.done, left, millis) }
      return ref === undefined ? Effect.void : SubscriptionRef.set(ref, progress)
    })
  return {
    listed: (total: number) => update(() => ({ total })),
    requested: (request: FilteredProgress["request"]) => update(() => ({ request })),
    add: (results: ReadonlyArray<FilteredResult>) =>
      update(({ done, outcomes }) => {
        const counts: Record<FilteredOutcome, number> = { ...outcomes }
        for (const { outcome } of results) counts[outcome]++
        return { done: done + results.length, outcomes: counts }
      })
  }
}

/** The waits between lists: the first, and the longest, in milliseconds. Each is twice the one before. */
const firstWait = 2000
const longestWait = 60_000

export interface FollowOptions<E, R> {
  /** The deliveries to follow, as they were before the call. */
  readonly first: ReadonlyMap<string, Attempts>
  /** Lists the failed deliveries, and perhaps others. */
  readonly list: Effect.Effect<ReadonlyMap<string, Attempts>, E, R>
  /** Checks that one time is after another. */
  readonly isAfter: (time: string, other: string) => boolean
  /** Checks that the next list may succeed, after this failure. */
  readonly isTemporary: (error: E) => boolean
  /** The time from the end of a list that lacks a delivery to the start of a later one, after which it counts as delivered. */
  readonly deliveredAfter: Duration.DurationInput
  /** The time until the rest is `pending`. */
  readonly followFor: Duration.DurationInput
  /** Called with the results of each list, before they are emitted. */
  readonly onResults: (results: ReadonlyArray<FilteredResult>) => Effect.Effect<void>
}

/** Streams a result for each delivery, as soon as a list tells it. */
export const follow = <E, R>(
  { deliveredAfter, first, isAfter, isTemporary, list, onResults, followFor }: FollowOptions<E, R>
): Stream.Stream<FilteredResult, E, R> => {
  /** The deliveries without a result, and the time in milliseconds since which each is missing. */
  const left = new Map(
    Array.from(first, ([id, attempts]) => [id, { attempts, missingSince: undefined as number | undefined }] as const)
  )
  const longEnough = Duration.toMillis(deliveredAfter)
  const endsAt = Duration.toMillis(followFor)

  /** Compares with a list, by the times of its begin and its end. */
  const compare = (
    listed: ReadonlyMap<string, Attempts>,
    begin: number,
    end: number
  ): ReadonlyArray<FilteredResult> => {
    const results: Array<FilteredResult> = []
    for (const [id, { attempts: before, missingSince }] of left) {
      const now = listed.get(id)
      if (now === undefined) {
        if (missingSince === undefined) left.set(id, { attempts: before, missingSince: end })
        else if (begin - missingSince >= longEnough) results.push({ id, outcome: "delivered", attempts: before.count })
      } else if (now.count > before.count || isAfter(now.lastAt, before.lastAt)) {
        const { count, error } = now
        results.push({ id, outcome: "failedAgain", attempts: count, ...(error !== undefined && { error }) })
      } else left.set(id, { attempts: before, missingSince: undefined })
    }
    for (const { id } of results) left.delete(id)
    return results
  }

  const pending = (): ReadonlyArray<FilteredResult> => {
    const results = Array.from(
      left,
      ([id, { attempts }]): FilteredResult => ({ id, outcome: "pending", attempts: attempts.count })
    )
    left.clear()
    return results
  }

  /** Waits, lists and compares. A list that fails tells nothing: it is skipped if the next one may succeed. */
  const step = (wait: number, elapsed: Effect.Effect<number>) =>
    Effect.gen(function*() {
      yield* Effect.sleep(Math.max(0, Math.min(wait, endsAt - (yield* elapsed))))
      const begin = yield* elapsed
      const listed = yield* list.pipe(
        Effect.flatMap((listed) => Effect.map(elapsed, (end) => compare(listed, begin, end))),
        Effect.catchIf(isTemporary, () => Effect.succeed<ReadonlyArray<FilteredResult>>([]))
      )
      const results = (yield* elapsed) < endsAt ? listed : [...listed, ...pending()]
      yield* onResults(results)
      return results
    })

  return Stream.unwrap(Effect.map(stopwatch, (elapsed) =>
    Stream.paginateChunkEffect(firstWait, (wait) =>
      Effect.map(
        step(wait, elapsed),
        (results) => [
          Chunk.fromIterable(results),
          left.size === 0 ? Option.none<number>() : Option.some(Math.min(wait * 2, longestWait))
        ]
      ))))
}
