/** Redelivers many failed events of a stream: one result per id, and no event sent twice, even if the process dies in between. */
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as Deliveries from "./Deliveries.js"
import { InvalidInput, outcome } from "./Errors.js"
import { IdentityClient } from "./IdentityClient.js"
import { failures } from "./internal/deliveries/failures.js"
import { encode, type Filter } from "./internal/deliveries/filter.js"
import * as StreamCheck from "./internal/deliveries/streamCheck.js"
import { streamIssues } from "./internal/deliveries/streamId.js"
import * as Request from "./internal/http/requestEncoder.js"
import { claimed } from "./internal/redelivery/claim.js"
import type { RunError } from "./internal/redelivery/ending.js"
import * as Filtered from "./internal/redelivery/filtered.js"
import { bindToStream, inMemory, type Journal, type JournalError, unbind } from "./internal/redelivery/journal.js"
import * as Lock from "./internal/redelivery/lock.js"
import * as Outage from "./internal/redelivery/outage.js"
import type { Result } from "./internal/redelivery/outcome.js"
import { initial, type Progress, track } from "./internal/redelivery/progress.js"
import * as Run from "./internal/redelivery/run.js"
import * as Workers from "./internal/redelivery/workers.js"
import { failureName, passesWithTime } from "./internal/runtime/failures.js"
import { withoutFailureLogs } from "./internal/runtime/fiber.js"
import { stopwatch } from "./internal/runtime/monotonicClock.js"
import { integerIssues } from "./internal/schema/issues.js"
import type { Failure } from "./Operation.js"
import { getEventStream } from "./operations/getEventStream.js"
import { type Delivery, listDeliveries } from "./operations/listDeliveries.js"
import { redeliverEvent } from "./operations/redeliverEvent.js"
import { redeliverEvents } from "./operations/redeliverEvents.js"
import * as Timestamp from "./Timestamp.js"

export { RunError } from "./internal/redelivery/ending.js"
export {
  type FilteredOutcome,
  filteredOutcomes,
  type FilteredProgress,
  type FilteredResult
} from "./internal/redelivery/filtered.js"
export { type Journal, JournalError } from "./internal/redelivery/journal.js"
export { type Outcome, outcomes, type Result } from "./internal/redelivery/outcome.js"
export type { Progress } from "./internal/redelivery/progress.js"

/** The options of a run. @since 0.1.0 @category models */
export interface Options {
  /** The id of the event stream. */
  readonly stream: string
  /** The number of ids that are processed at the same time (default 10). The client's rate limiter applies as well. */
  readonly concurrency?: number | undefined
  /** Makes the run resumable: run the same ids again with the same journal (default: kept in memory for this run). */
  readonly journal?: Journal | undefined
  /**
   * The time after which another run takes over the journal of a run that died (default 15 s, at least 100 ms, at most 1 h).
   * While a run lives, it renews its lock on the journal three times as often.
   */
  readonly lockExpiry?: Duration.DurationInput | undefined
  /**
   * The outcomes of earlier runs that this run retries (default: `failed`, because such an event was certainly not
   * accepted). With `unknown`, an event may be delivered twice.
   */
  readonly repeat?: ReadonlyArray<"failed" | "unknown"> | undefined
  /** Sends and writes nothing. Events that would be sent have the outcome `due` (default: false). */
  readonly dryRun?: boolean | undefined
  /**
   * The failures of this run, of events that were certainly not accepted, after which it takes no more ids and finishes those in
   * progress (default 50; `Infinity`: it goes on).
   */
  readonly stopAfter?: number | undefined
  /** Called after each result. Once it returns true, the run takes no more ids, as after `stopAfter` failures. */
  readonly stopWhen?: ((progress: Progress) => boolean) | undefined
  /**
   * The calls in a row in which the service is unavailable after which the run pauses (default 5; `Infinity`: it never pauses):
   * no response, 408, 5xx, a redirect or a web page, 429 after all retries, or no response to the request for a token. In a pause it sends one
   * event at a time, after waits of 1 s to 30 s, and goes on when the service responds.
   */
  readonly pauseAfter?: number | undefined
  /** The time of a pause after which the run ends with `RunError` (default 5 min). Run the same ids again to resume it. */
  readonly giveUpAfter?: Duration.DurationInput | undefined
  /** The number of ids (default: the size of an array or a set, otherwise unknown). */
  readonly total?: number | undefined
  /** Updated after each result, and when the run pauses; make one with `Redelivery.makeProgress`. */
  readonly progress?: SubscriptionRef.SubscriptionRef<Progress> | undefined
  /** The time that sent calls get to end when the run is interrupted (default 5 s). After that they are `unknown`. */
  readonly grace?: Duration.DurationInput | undefined
}

/**
 * Makes a value for `Options.progress`. Read it at any time, or follow its `changes`.
 * @since 0.1.0 @category constructors @example `const progress = yield* Redelivery.makeProgress`
 */
export const makeProgress: Effect.Effect<SubscriptionRef.SubscriptionRef<Progress>> = SubscriptionRef.make(initial)

/** Ids of events: a stream or any iterable. @since 0.1.0 @category models */
export type Ids<E, R> = Stream.Stream<string, E, R> | Iterable<string>

/**
 * Redelivers the events with these ids, each once, and streams one result per id in the order of completion. An id that
 * comes again gets the result of its first occurrence. Ids are taken only as fast as results are consumed.
 *
 * With a journal, the run writes an entry right before it sends an event, once the call has its permit, and the outcome after it. If you
 * run the same ids again after a crash, the run sends no event twice (the `fetch` of Deno and of Chromium may): an id that has a result keeps it, and
 * an event that was being sent is `unknown`. So is an event whose entry cannot be read. One run at a time holds a journal: the
 * next one waits until the holder's `lockExpiry` has passed without a sign of life, and fails if it sees one. An interrupted
 * run takes no more ids, ends calls that wait for a permit, and gives sent ones the `grace` period; their results are in the journal and in `progress`, but
 * not in the stream.
 *
 * Fails with `InvalidInput` if an option is invalid, with `JournalError` if the journal cannot be used, with `RunError` if no event has a
 * chance, and with the failure of the ids. In the last three cases the results of ids in progress come first. Other failed calls are
 * results, not failures.
 *
 * `RunError`: the stream does not exist, the service refuses the client, or it is unavailable for longer than `giveUpAfter`. The events
 * that were not accepted then have no result, and their entries in the journal are as before. After the first 404, unless an event was
 * accepted before, the run asks once whether the stream exists: that requires `read:event_streams` or `read:event_deliveries`. Without both
 * it logs a warning, and each 404 is `gone`. An event that was certainly not accepted while the service was unavailable is tried again, at most
 * `pauseAfter` times while the service responds to others.
 * @since 0.1.0 @category streams @example `Redelivery.run(ids, { stream, journal }).pipe(Stream.runForEach(Console.log))`
 */
export const run = <E = never, R = never>(
  ids: Ids<E, R>,
  options: Options
): Stream.Stream<Result, E | InvalidInput | JournalError | RunError, R | IdentityClient> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const { concurrency = 10, dryRun = false, grace = "5 seconds", repeat = ["failed"], stream } = options
    const { giveUpAfter = "5 minutes", pauseAfter = 5, progress, stopAfter = 50, stopWhen } = options
    const { journal, lockExpiry = "15 seconds", total = sizeOf(ids) } = options
    yield* validateOptions(options)
    const client = yield* IdentityClient
    const elapsed = yield* stopwatch
    const runId = `${(yield* Clock.currentTimeMillis).toString(36)}-${
      (yield* Random.nextIntBetween(0, 2 ** 31)).toString(36)
    }`
    const store = journal ?? inMemory()
    const checkLock = journal === undefined || dryRun ? Effect.void : yield* Lock.acquire(journal, runId, lockExpiry)
    const isBound = yield* bindToStream(store, stream, dryRun, checkLock)
    const tracker = yield* track({ progress, stopAfter, stopWhen, total }, elapsed)
    const outage = yield* Outage.make({ pauseAfter, giveUpAfter }, tracker.pause)
    yield* Effect.addFinalizer(() =>
      journal !== undefined && outage.endedBy()?.reason === "streamNotFound"
        ? unbind(journal, isBound, checkLock)
        : Effect.void
    )
    const process = yield* Run.make({
      store,
      checkLock,
      runId,
      repeat,
      dryRun,
      grace,
      outage,
      streamCheck: yield* StreamCheck.make(readStream(client, stream)),
      attempts: pauseAfter === Infinity ? 1 : pauseAfter,
      redeliver: (event_id, claim) =>
        claimed(client, client.execute(redeliverEvent.endpoint, { id: stream, event_id }), claim),
      validate: (event_id) => validateIds(stream, event_id)
    })
    const onResult = (result: Result, stopInput: () => void) =>
      tracker.add(result, () => {
        stopInput()
        outage.stop()
      })
    return yield* Workers.start(isStream(ids) ? ids : Stream.fromIterable(ids), concurrency, process, onResult)
  }))

/** Reads the stream; a client that may not, may perhaps list its deliveries. */
const readStream = (client: Context.Tag.Service<IdentityClient>, id: string) =>
  Effect.catchTag(
    Effect.asVoid(client.execute(getEventStream.endpoint, { id })),
    "InsufficientScope",
    () => Effect.asVoid(client.execute(listDeliveries.endpoint, { id, take: 1 }))
  )

const isStream = <E, R>(ids: Ids<E, R>): ids is Stream.Stream<string, E, R> =>
  Predicate.hasProperty(ids, Stream.StreamTypeId)

const sizeOf = (ids: object): number | undefined =>
  Array.isArray(ids) ? ids.length : ids instanceof Set ? ids.size : undefined

const validateIds = (stream: string, event_id: string): InvalidInput | undefined =>
  Option.getOrUndefined(Either.getLeft(Request.validate(redeliverEvent.endpoint, { id: stream, event_id })))

/** Lists the issue of a limit that is neither an integer of at least 1 nor `Infinity`. */
const limitIssues = (path: string, value = 1) =>
  value === Infinity
    ? []
    : integerIssues(path, value, 1).map(({ message }) => ({ path, message: `${message}, or Infinity` }))

const validateOptions = (options: Options): Effect.Effect<void, InvalidInput> => {
  const { concurrency = 1, lockExpiry = "15 seconds", stream, total = 0 } = options
  const issues = [
    ...streamIssues(listDeliveries.endpoint, stream),
    ...integerIssues("concurrency", concurrency, 1),
    ...integerIssues("total", total, 0),
    ...limitIssues("stopAfter", options.stopAfter),
    ...limitIssues("pauseAfter", options.pauseAfter),
    ...(Duration.between(lockExpiry, { minimum: "100 millis", maximum: "1 hour" })
      ? []
      : [{ path: "lockExpiry", message: "expected a duration from 100 milliseconds to 1 hour" }])
  ]
  return issues.length === 0 ? Effect.void : new InvalidInput({ operation: "Redelivery.run", issues })
}

/** The options of a run by filter. @since 0.1.0 @category models */
export interface FilteredOptions {
  /** The id of the event stream. */
  readonly stream: string
  /** Selects the failed deliveries (default: all). */
  readonly filter?: Filter | undefined
  /**
   * The time for which a delivery must be missing from the failed ones to count as delivered (default 1 min, and two lists at least), from
   * the end of a list to the start of a later one. The service lists it until it has succeeded; a list may be of a moment before.
   */
  readonly deliveredAfter?: Duration.DurationInput | undefined
  /** The time after the call for which deliveries are followed (default 10 min). Those without a result are `pending` then. */
  readonly followFor?: Duration.DurationInput | undefined
  /** Updated after each list; make one with `Redelivery.makeFilteredProgress`. */
  readonly progress?: SubscriptionRef.SubscriptionRef<Filtered.FilteredProgress> | undefined
}

/** Makes a value for `FilteredOptions.progress`. @since 0.1.0 @category constructors */
export const makeFilteredProgress: Effect.Effect<SubscriptionRef.SubscriptionRef<Filtered.FilteredProgress>> =
  SubscriptionRef.make(Filtered.initialFiltered)

/**
 * Redelivers all failed deliveries that match with one call, and streams one result for each that was failed before: `delivered`,
 * `failedAgain` with the message of its last attempt, or `pending`.
 *
 * It lists what matches, calls `redeliverEvents` once, and then lists the failed deliveries after 2 s and after waits that double up to 1 min:
 * one request for 100 of them, however many are followed. Without a match it makes no call. The call is not idempotent: it is never repeated,
 * unless it was certainly not accepted. If its outcome is unknown, a warning and `progress` say so, and the deliveries are followed anyway. A
 * list that fails because the service is unavailable is skipped.
 *
 * The service does not report successes, so this has limits. `delivered` means that the delivery has been missing for `deliveredAfter`. A
 * delivery that fails for the first time between the first list and the call is redelivered, but has no result. While it is followed, the filter's
 * `to` is not used, because a new attempt may be later: events that failed after `to` are listed, too, and ignored. Nothing is kept: to be
 * able to resume, and for one result for each event from the service itself, use `Deliveries.failed` and `Redelivery.run`.
 *
 * Requires `update:event_deliveries`, and `read:event_streams` or `read:event_deliveries`. Fails with `InvalidInput` if an option is
 * invalid; like `listDeliveries`, before the call and after it; and like `redeliverEvents` if the call was certainly not accepted.
 * @since 0.1.0 @category streams
 * @example `Redelivery.runFiltered({ stream, filter: { from: lastNight } }).pipe(Stream.runForEach(Console.log))`
 */
export const runFiltered = (
  options: FilteredOptions
): Stream.Stream<
  Filtered.FilteredResult,
  Failure<typeof listDeliveries> | Failure<typeof redeliverEvents>,
  IdentityClient
> =>
  Stream.unwrap(Effect.gen(function*() {
    const { deliveredAfter = "1 minute", filter = {}, stream, followFor = "10 minutes" } = options
    const encoded = encode(filter)
    const issues = [
      ...streamIssues(listDeliveries.endpoint, stream),
      ...(Either.isLeft(encoded) ? encoded.left.map((issue) => ({ ...issue, path: `filter.${issue.path}` })) : [])
    ]
    if (Either.isLeft(encoded) || issues.length > 0) {
      return yield* new InvalidInput({ operation: "Redelivery.runFiltered", issues })
    }
    const tracker = Filtered.trackFiltered(options.progress, yield* stopwatch)
    const first = yield* listFailed(stream, filter)
    yield* tracker.listed(first.size)
    if (first.size === 0) return Stream.empty
    const request = yield* redeliverEvents({ id: stream, statuses: ["failed"], ...encoded.right }).pipe(
      Effect.as("accepted" as const),
      Effect.catchIf(
        (error) => outcome(error) !== "not-done",
        (error) =>
          Effect.as(
            Effect.logWarning(`the redelivery may have been accepted, and is followed: ${failureName(error)}`),
            outcome(error) === "done" ? "accepted" as const : "unknown" as const
          )
      )
    )
    yield* tracker.requested(request)
    return Filtered.follow({
      first,
      list: listFailed(stream, { ...filter, to: undefined }),
      isAfter: (time, other) => Timestamp.Order(Timestamp.make(time), Timestamp.make(other)) > 0,
      isTemporary: passesWithTime,
      deliveredAfter,
      followFor,
      onResults: tracker.add
    })
  }))

/** Lists failed deliveries with their attempts, by their ids. */
const listFailed = (stream: string, filter: Filter) =>
  Effect.suspend(() =>
    withoutFailureLogs(Stream.runFold(
      Deliveries.failed(stream, filter),
      new Map<string, Filtered.Attempts>(),
      (listed, delivery) => listed.set(delivery.id, attemptsOf(delivery))
    ))
  )

const attemptsOf = (delivery: Delivery): Filtered.Attempts => {
  const failed = failures(delivery)
  const last = failed.reduce<Delivery["attempts"][number] | undefined>(
    (last, attempt) => last === undefined || Timestamp.Order(attempt.timestamp, last.timestamp) >= 0 ? attempt : last,
    undefined
  )
  return { count: failed.length, lastAt: last?.timestamp ?? "", error: last?.error_message }
}
