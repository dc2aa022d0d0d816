/** Redelivers many failed events of a stream: what came of each, exactly once, even if the process dies in between. */
import type { KeyValueStore } from "@effect/platform/KeyValueStore"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Mailbox from "effect/Mailbox"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { InvalidInput } from "./Errors.js"
import { IdentityClient } from "./IdentityClient.js"
import * as Request from "./internal/http/requestEncoder.js"
import * as Feed from "./internal/redelivery/input.js"
import type { JournalError } from "./internal/redelivery/journal.js"
import * as Journal_ from "./internal/redelivery/journal.js"
import type { Result } from "./internal/redelivery/outcome.js"
import type { Progress } from "./internal/redelivery/progress.js"
import * as Tally from "./internal/redelivery/progress.js"
import * as Course from "./internal/redelivery/run.js"
import { redeliverEvent } from "./operations/redeliverEvent.js"

export { JournalError } from "./internal/redelivery/journal.js"
export { type Outcome, outcomes, type Reason, type Result } from "./internal/redelivery/outcome.js"
export type { Progress } from "./internal/redelivery/progress.js"

/**
 * Where a run writes down what it does: any `KeyValueStore`. It has an entry `journal`, which names the stream, an entry `lock`
 * while a run holds it, and an entry for each event, under the hexadecimal digits of its id: JSON with `id`, `run`,
 * `outcome` (`sending` until there is one) and `error`. What knows better how to hold it brings a `lock` of its own.
 */
export interface Journal extends KeyValueStore {
  /** Holds the journal as long as the scope is open, or fails if another run does. */
  readonly lock?: Effect.Effect<void, JournalError, Scope.Scope>
}

/** How to run. */
export interface Options {
  /** The id of the event stream. */
  readonly stream: string
  /** How many ids are worked on at the same time (default 10). The client's limiter holds as it always does. */
  readonly concurrency?: number | undefined
  /** Makes the run resumable: run the same ids again with the same journal (default: none, kept in memory). */
  readonly journal?: Journal | undefined
  /**
   * Which outcomes of earlier runs are not taken from the journal but tried again (default: `failed`, which certainly was
   * not accepted). With `unknown`, an event may be delivered twice.
   */
  readonly repeat?: ReadonlyArray<"failed" | "unknown"> | undefined
  /** Sends nothing and writes nothing: what would be sent is `due` (default: false). */
  readonly dryRun?: boolean | undefined
  /** Asked after each result: whether to take no more ids. Those being worked on come to their end. */
  readonly stopWhen?: ((progress: Progress) => boolean) | undefined
  /** How many ids there are; known by itself of lists and sets. */
  readonly total?: number | undefined
  /** Is told of each result; `Redelivery.makeProgress` makes one. */
  readonly progress?: SubscriptionRef.SubscriptionRef<Progress> | undefined
  /** How long, when the run is interrupted, those being worked on may take to end (default 5 s); then they are `unknown`. */
  readonly grace?: Duration.DurationInput | undefined
}

/** What `Options.progress` takes: to be read at any time, or followed by its `changes`. */
export const makeProgress: Effect.Effect<SubscriptionRef.SubscriptionRef<Progress>> = SubscriptionRef.make(Tally.begun)

/** Ids as they come: a stream, or anything that can be iterated. */
export type Ids<E, R> = Stream.Stream<string, E, R> | Iterable<string>

/**
 * Redelivers the events with these ids, each once, and gives one result for each id, in the order in which they come to be
 * known. An id that comes again takes the result of the first. Ids are taken as fast as results are, no faster.
 *
 * With a journal, what is about to be sent is written down before, and what came of it after. Run the same ids again after
 * a crash, and no event is sent twice: those that have a result keep it, and those that were being sent are `unknown`. An
 * entry that cannot be read counts as one that was being sent. Interrupted, a run takes no more ids and gives those being
 * worked on their `grace`; what they come to is in the journal and in `progress`, but no result of the stream.
 *
 * It fails with `InvalidInput` if an option is against the contract, with `JournalError` if the journal cannot be used, and as
 * the ids fail: in both cases after the results of those being worked on. Failures of calls are results.
 */
export const run = <E = never, R = never>(
  ids: Ids<E, R>,
  options: Options
): Stream.Stream<Result, E | InvalidInput | JournalError, R | IdentityClient> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const { concurrency = 10, dryRun = false, grace = "5 seconds", repeat = ["failed"], stream } = options
    yield* check(options)
    const client = yield* IdentityClient
    const begin = yield* Clock.currentTimeMillis
    const run = `${begin.toString(36)}-${(yield* Random.nextIntBetween(0, 2 ** 31)).toString(36)}`
    const { isHeld, store } = yield* open(options, run, begin)
    const course = yield* Course.make({
      run,
      store,
      isHeld,
      repeat,
      dryRun,
      grace,
      redeliver: (event_id) => client.execute(redeliverEvent.endpoint, { id: stream, event_id }),
      refuse: (event_id) => refusal(stream, event_id)
    })

    const results = yield* Mailbox.make<Result, E | JournalError>(concurrency)
    let failure: Cause.Cause<E | JournalError> | undefined
    const feed = yield* Feed.make(
      Predicate.hasProperty(ids, Stream.StreamTypeId) ? ids : Stream.fromIterable(ids),
      (cause) => void (failure ??= cause)
    )

    let progress: Progress = { ...Tally.begun, total: options.total ?? sizeOf(ids) }
    const tell = options.progress === undefined ? Effect.void : SubscriptionRef.update(options.progress, () => progress)
    const count = (result: Result) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        progress = Tally.add(progress, result, now - begin)
        if (!progress.stopped && options.stopWhen?.(progress) === true) {
          progress = { ...progress, stopped: true }
          feed.stop()
        }
        return tell
      })

    const work: Effect.Effect<void, JournalError> = Effect.flatMap(
      feed.next,
      Option.match({
        onNone: () => Effect.void,
        onSome: (id) =>
          Effect.zipRight(
            Effect.uninterruptibleMask((restore) =>
              course.settle(id, restore).pipe(
                Effect.tap(count),
                Effect.flatMap((result) => restore(results.offer(result)))
              )
            ),
            work
          )
      })
    )
    // If one cannot go on, be it that the ids or the journal interrupt it, the others end what they are at.
    const guarded = Effect.catchAllCause(work, (cause) => {
      failure ??= cause
      feed.stop()
      return Effect.void
    })
    yield* tell
    yield* Effect.replicateEffect(guarded, concurrency, { concurrency: "unbounded", discard: true }).pipe(
      Effect.zipRight(Effect.suspend(() => failure === undefined ? results.end : results.failCause(failure))),
      Effect.forkScoped
    )
    return Mailbox.toStream(results)
  }))

/** Opens the journal for this run alone, with what fails if it is not so any more. A dry run only reads it. */
const open = (
  { dryRun = false, journal, stream }: Options,
  run: string,
  now: number
): Effect.Effect<Pick<Course.Parts, "store" | "isHeld">, JournalError, Scope.Scope> =>
  Effect.gen(function*() {
    if (journal === undefined) return { store: Journal_.inMemory(), isHeld: Effect.void }
    let isHeld: Course.Parts["isHeld"] = Effect.void
    if (!dryRun) {
      if (journal.lock !== undefined) yield* journal.lock
      else isHeld = yield* Journal_.lock(journal, run, DateTime.formatIso(DateTime.unsafeMake(now)))
    }
    yield* Journal_.claim(journal, stream, dryRun)
    return { store: journal, isHeld }
  })

const refusal = (stream: string, event_id: string): InvalidInput | undefined =>
  Option.getOrUndefined(Either.getLeft(Request.validate(redeliverEvent.endpoint, { id: stream, event_id })))

/** Names the options that no run can have. */
const check = (options: Options): Effect.Effect<void, InvalidInput> => {
  const { concurrency = 1, stream, total = 0 } = options
  const issues = [
    ...(refusal(stream, stream)?.issues ?? []).flatMap(({ message, path }) =>
      path === "id" ? [{ path: "stream", message }] : []
    ),
    ...(Number.isSafeInteger(concurrency) && concurrency >= 1
      ? []
      : [{ path: "concurrency", message: "expected an integer of at least 1" }]),
    ...(Number.isSafeInteger(total) && total >= 0
      ? []
      : [{ path: "total", message: "expected an integer of at least 0" }])
  ]
  return issues.length === 0 ? Effect.void : new InvalidInput({ operation: "Redelivery.run", issues })
}

const sizeOf = (ids: object): number | undefined =>
  Array.isArray(ids) ? ids.length : ids instanceof Set ? ids.size : undefined
