/** Runs a redelivery: from its list, or from the failed deliveries that match its filter, to an outcome for each event. */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Deliveries from "../Deliveries.js"
import { type Failure, type InvalidInput, isTransient } from "../Errors.js"
import type { IdentityClient } from "../IdentityClient.js"
import { passesWithTime } from "../internal/runtime/failures.js"
import { withFiber } from "../internal/runtime/fiber.js"
import * as Metrics from "../internal/telemetry/metrics.js"
import type { Delivery } from "../operations/listDeliveries.js"
import * as Redelivery from "../Redelivery.js"
import { decodeRedelivery, isEvent } from "./definition.js"
import { failed, passing, type RunFailure, unavailable } from "./failures.js"
import type { RunOptions } from "./model.js"
import type { JobRecord, JobStore } from "./store.js"

/** The number of events that are read from the list at once. */
const pageSize = 500

/** The events of a job's list that have no outcome, in their order. */
const unfinishedOf = (store: JobStore, job: string) =>
  Stream.paginateChunkEffect(0, (after) =>
    Effect.map(store.unfinished(job, { after, limit: pageSize }), (events) => [
      Chunk.unsafeFromArray(events.map(({ id }) => id)),
      events.length < pageSize ? Option.none<number>() : Option.fromNullable(events.at(-1)?.position)
    ])).pipe(Stream.mapError(passing))

/** Leaves out deliveries that cannot be redelivered, whatever the service means by them. */
const eventsIn = (stream: string, deliveries: Iterable<Delivery>): Effect.Effect<ReadonlyArray<string>> => {
  const ids = Array.from(deliveries, ({ id }) => id)
  const events = ids.filter((id) => isEvent(stream, id))
  const leftOut = ids.length - events.length
  return leftOut === 0 ? Effect.succeed(events) : Effect.as(
    Effect.logWarning(
      `failed deliveries were left out, because their ids are not those of events (number: ${leftOut})`
    ),
    events
  )
}

/** The failed deliveries that match a filter. Each is added to the job's list before it is sent. */
const failedDeliveries = (
  store: JobStore,
  job: JobRecord,
  stream: string,
  filter: Deliveries.Filter,
  onResponse: Effect.Effect<void>
) =>
  Deliveries.failed(stream, filter).pipe(
    Stream.mapError((error) => passesWithTime(error) ? unavailable(error) : failed(error)),
    Stream.chunks,
    Stream.mapEffect((deliveries) => Effect.zipRight(onResponse, eventsIn(stream, deliveries))),
    Stream.mapEffect((events) =>
      store.addEvents(job, "running", events).pipe(
        Effect.mapError(passing),
        Effect.map((isRunning) => isRunning ? events : []) // the job was cancelled, and is stopped soon
      )
    ),
    Stream.flattenIterables
  )

const toRunFailure = (
  error: InvalidInput | Redelivery.JournalError | Redelivery.RunError | RunFailure
): RunFailure => {
  switch (error._tag) {
    case "Failed":
    case "Passing":
      return error
    case "JournalError": // another process runs the job, or the store is unavailable
      return isTransient(error) ? passing(error) : failed(error)
    default:
      return failed(error)
  }
}

/** Counts a result that this run has found out. */
const count = ({ outcome }: Redelivery.Result) =>
  withFiber((fiber) => Effect.sync(() => Metrics.update(Metrics.eventsOf(outcome), 1, Metrics.labelsOf(fiber))))

/**
 * Runs a job until each of its events has an outcome. Goes on where an earlier run has ended. `onResponse` is run after each list of
 * deliveries, and after each event to which the service has responded.
 */
export const runRedelivery = (
  store: JobStore,
  job: JobRecord,
  { concurrency, giveUpAfter = "1 day", grace, lockExpiry, stopAfter = 50 }: RunOptions,
  onResponse: Effect.Effect<void>
): Effect.Effect<void, RunFailure, IdentityClient> =>
  Effect.gen(function*() {
    const decoded = decodeRedelivery(job.definition)
    if (Option.isNone(decoded)) {
      return yield* passing({
        _tag: "LaterVersion",
        message: "a later version of this library stored the job, and can run it"
      })
    }
    const { filter, isListed, stream } = decoded.value
    const journal = yield* Effect.mapError(store.journal(job.id), passing)
    const listed = unfinishedOf(store, job.id)
    const ids = isListed ? listed : Stream.concat(listed, failedDeliveries(store, job, stream, filter, onResponse))
    const note = (result: Redelivery.Result) =>
      result.recalled
        ? Effect.void
        : Effect.zipRight(count(result), ["invalid", "unknown"].includes(result.outcome) ? Effect.void : onResponse)
    const options = { stream, journal, concurrency, giveUpAfter, grace, lockExpiry, stopAfter }
    let failures = 0
    let last: Failure | undefined
    const results = Redelivery.run(ids, options).pipe(Stream.mapError(toRunFailure), Stream.tap(note))
    yield* Stream.runForEach(results, ({ error, outcome, recalled }) =>
      Effect.sync(() => {
        if (outcome !== "failed" || recalled) return
        failures++
        last = error
      }))
    if (last !== undefined && failures >= stopAfter) {
      const message = `${failures} events were not accepted; the others were not sent`
      return yield* failed(new Redelivery.RunError({ reason: "tooManyFailures", message, error: last }))
    }
  })
