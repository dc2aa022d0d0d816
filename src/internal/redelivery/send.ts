/** Sends an event: its entry in the journal, the call, and what its outcome means for the run. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { CheckFailure, StreamCheck } from "../deliveries/streamCheck.js"
import type { Restore } from "../runtime/fiber.js"
import type { ClaimedCall, ClaimState } from "./claim.js"
import { RunError, type Stopped, subjectOf } from "./ending.js"
import * as Journal from "./journal.js"
import type { Outage } from "./outage.js"
import * as Outcome from "./outcome.js"

export type EventFailure = Outcome.CallFailure | Journal.JournalError

type EventCall = ClaimedCall<void, EventFailure>

export interface SendOptions {
  readonly store: Journal.EntryStore
  /** Fails if another run has taken the journal over. */
  readonly checkLock: Effect.Effect<void, Journal.JournalError>
  /** Identifies the run in its journal. */
  readonly runId: string
  /** Prepares the call of an event, with what must be written down before it is sent. */
  readonly redeliver: (id: string, claim: Effect.Effect<void, Journal.JournalError>) => EventCall
  /** Makes a call in a fiber of its own, and gives its exit. */
  readonly call: (call: EventCall, restore: Restore) => Effect.Effect<Exit.Exit<void, EventFailure>>
  readonly streamCheck: StreamCheck
  readonly outage: Outage
  /** The attempts of one event that are certainly not accepted, while the service responds to others. */
  readonly attempts: number
}

/** Sends an event that has this entry of an earlier run, in an uninterruptible region. */
export type Send = (
  id: string,
  before: Option.Option<Journal.JournalEntry>,
  restore: Restore
) => Effect.Effect<Outcome.Result, Journal.JournalError | RunError | Stopped>

/** The result of an attempt; none if the event was certainly not accepted and is to be tried again. */
type Attempted = Option.Option<Outcome.SendResult>

/** The outcome of an earlier run that may have delivered the event. */
const mayBeAccepted = ({ outcome }: Journal.JournalEntry): boolean => outcome === "sending" || outcome === "unknown"

export const make = (
  { attempts, call, checkLock, outage, redeliver, runId, store, streamCheck }: SendOptions
): Send => {
  const refused = (error: Outcome.CallFailure) =>
    outage.end(
      new RunError({
        reason: "refused",
        message: `the service accepts no call of this run: ${error.message}`,
        error
      })
    )

  const noStream = (error: Outcome.CallFailure) =>
    outage.end(
      new RunError({
        reason: "streamNotFound",
        message: `the event stream does not exist: ${error.message}`,
        error
      })
    )

  /** Judges a failure that says that the event was not accepted, `failed` times in a row. */
  const notAccepted = (error: Outcome.CallFailure | CheckFailure, failed: number) =>
    subjectOf(error) === "run"
      ? refused(error)
      : Effect.map(outage.down(error), (isPaused): Attempted =>
        isPaused || failed < attempts
          ? Option.none()
          : Option.some({ outcome: "failed", error }))

  /** Judges a 404: of the event, or of the stream. */
  const notFound = (error: Outcome.CallFailure, failed: number, restore: Restore) =>
    Effect.matchEffect(streamCheck.exists(restore), {
      onFailure: (unclear) => notAccepted(unclear, failed),
      onSuccess: (exists) =>
        exists
          ? Effect.succeedSome<Outcome.SendResult>({ outcome: "gone", error })
          : noStream(error)
    })

  const judge = (error: Outcome.CallFailure, failed: number, restore: Restore) => {
    const outcome = Outcome.outcomeOf(error)
    const result: Attempted = Option.some({ outcome, error })
    if (subjectOf(error) === "event") {
      return Effect.zipRight(outage.up, outcome === "gone" ? notFound(error, failed, restore) : Effect.succeed(result))
    }
    return outcome === "failed"
      ? notAccepted(error, failed)
      : Effect.as(outage.down(error), result)
  }

  /** Judges the exit of a call. The outcome of an interrupted call is unknown, if it was sent; a defect stays a defect. */
  const judgeExit = (
    exit: Exit.Exit<void, EventFailure>,
    state: ClaimState,
    failed: number,
    restore: Restore
  ): Effect.Effect<Attempted, Journal.JournalError | RunError | Stopped> => {
    if (Exit.isSuccess(exit)) {
      streamCheck.seen()
      return Effect.as(outage.up, Option.some<Outcome.SendResult>({ outcome: "accepted" }))
    }
    const error = Cause.failureOption(exit.cause)
    if (Option.isSome(error)) {
      return error.value._tag === "JournalError" ? Effect.fail(error.value) : judge(error.value, failed, restore)
    }
    return Cause.isInterruptedOnly(exit.cause) && state === "claimed"
      ? Effect.succeedSome(Outcome.interrupted())
      : Effect.failCause(exit.cause as Cause.Cause<never>) // sound: it holds no failure
  }

  return (id, before, restore) => {
    /** An event that was certainly not accepted keeps the entry that it had. */
    const restoreEntry = Effect.zipRight(checkLock, Journal.restoreEntry(store, id, before))

    /** The entry was written before another run could take over. One that may not have been stays: by now it may be another run's. */
    let isWritten = false

    const claim = Effect.gen(function*() {
      yield* checkLock // a run that lost the lock must not overwrite the results of its successor
      yield* Journal.writeEntry(store, { id, run: runId, outcome: "sending" })
      isWritten = true
      yield* checkLock
    })

    const attempt = (failed: number) =>
      Effect.gen(function*() {
        const prepared = redeliver(id, claim)
        isWritten = false
        const exit = yield* call(prepared, restore)
        const undo = isWritten ? restoreEntry : Effect.void
        // Without a result, the event was certainly not accepted, also if it ends the run or is interrupted while the stream is read.
        const judged = yield* Effect.exit(judgeExit(exit, prepared.state(), failed, restore))
        if (Exit.isFailure(judged)) {
          const isOfJournal = Option.exists(Cause.failureOption(judged.cause), ({ _tag }) => _tag === "JournalError")
          if (!Cause.isDie(judged.cause) && !isOfJournal) yield* undo
          return yield* judged
        }
        if (Option.isNone(judged.value)) {
          yield* undo
          return judged.value
        }
        const own = judged.value.value
        // What an earlier run may have delivered has not certainly failed.
        const outcome = own.outcome === "failed" && Option.exists(before, mayBeAccepted) ? "unknown" : own.outcome
        const result = { ...own, outcome }
        yield* Journal.writeEntry(store, { id, run: runId, ...result })
        return Option.some(result)
      })

    const tryAgain = (failed: number): ReturnType<Send> =>
      Effect.flatMap(
        outage.attempt(attempt(failed), restore),
        Option.match({
          onNone: () => Effect.zipRight(restore(Effect.yieldNow()), tryAgain(failed + 1)), // an interrupted run ends here
          onSome: (result) => Effect.succeed({ id, recalled: false, ...result })
        })
      )
    return tryAgain(1)
  }
}
