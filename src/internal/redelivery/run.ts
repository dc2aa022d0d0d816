/** One redelivery run: processes each id once, journals what it sends, and lets running calls end when it is interrupted. */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { InvalidInput } from "../../Errors.js"
import type { StreamCheck } from "../deliveries/streamCheck.js"
import { type Restore, withoutFailureLogs } from "../runtime/fiber.js"
import type { RunError, Stopped } from "./ending.js"
import * as Journal from "./journal.js"
import type { Outage } from "./outage.js"
import * as Outcome from "./outcome.js"
import * as Send from "./send.js"

/** The failures that end a run, and of an event that is dropped. */
export type ProcessFailure = Journal.JournalError | RunError | Stopped

/** Processes an id in an uninterruptible region; it restores interruption only while it waits. */
export type Process = (id: string, restore: Restore) => Effect.Effect<Outcome.Result, ProcessFailure>

export interface RunOptions {
  readonly store: Journal.EntryStore
  /** Fails if another run has taken the journal over. */
  readonly checkLock: Effect.Effect<void, Journal.JournalError>
  /** Identifies the run in its journal. */
  readonly runId: string
  /** Returns the error of an id that cannot be an event's id. */
  readonly validate: (id: string) => InvalidInput | undefined
  /** Prepares the call of an event, with what must be written down before it is sent. */
  readonly redeliver: Send.SendOptions["redeliver"]
  readonly streamCheck: StreamCheck
  readonly outage: Outage
  /** The attempts of one event that are certainly not accepted, while the service responds to others. */
  readonly attempts: number
  /** Outcomes of earlier runs that this run retries. */
  readonly repeat: ReadonlyArray<Outcome.Outcome>
  readonly dryRun: boolean
  readonly grace: Duration.DurationInput
}

/** Starts a run: makes the function that processes its ids. */
export const make = (options: RunOptions): Effect.Effect<Process, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { dryRun, repeat, runId, store, validate } = options
    /** Ids in progress: an id that comes again meanwhile waits for the same result. */
    const inProgress = new Map<string, Deferred.Deferred<Outcome.Result, ProcessFailure>>()
    const calls = new Set<Fiber.Fiber<void, Send.EventFailure>>()
    /** Ids that have a result of this run and no entry: nothing was sent for them. */
    const unsent = new Set<string>()
    let graceTimer: Fiber.Fiber<unknown> | undefined
    let isGraceOver = false

    /** The first call whose waiting fiber is interrupted starts the grace period of all. */
    const startGrace = yield* Effect.once(
      Effect.sleep(options.grace).pipe(
        Effect.zipRight(Effect.suspend(() => {
          isGraceOver = true
          return Fiber.interruptAll(calls)
        })),
        Effect.interruptible,
        Effect.forkDaemon, // the run's scope is closing already
        Effect.map((fiber) => void (graceTimer = fiber))
      )
    )
    yield* Effect.addFinalizer(() => graceTimer === undefined ? Effect.void : Fiber.interrupt(graceTimer))

    /** The result of a journal entry; none if it is of an earlier run and is to be retried. */
    const recall = (entry: Journal.JournalEntry): Option.Option<Outcome.Result> => {
      const { error, outcome } = entry.outcome === "sending"
        ? Outcome.interrupted()
        : { error: entry.error, outcome: entry.outcome }
      return entry.run !== runId && repeat.includes(outcome)
        ? Option.none()
        : Option.some({ id: entry.id, outcome, recalled: true, ...(error !== undefined && { error }) })
    }

    /** Makes the call in a fiber of its own, so that it can end after the run is interrupted. One that only waits ends at once. */
    const call: Send.SendOptions["call"] = (call, restore) =>
      Effect.gen(function*() {
        const fiber = yield* withoutFailureLogs(Effect.forkDaemon(Effect.interruptible(call.run)))
        calls.add(fiber)
        if (isGraceOver) yield* Fiber.interruptFork(fiber)
        const awaited = yield* Effect.exit(restore(Fiber.await(fiber)))
        const end = Effect.suspend(() => call.state() === "waiting" ? Fiber.interruptFork(fiber) : startGrace)
        const exit = Exit.isSuccess(awaited) ? awaited.value : yield* Effect.zipRight(end, Fiber.await(fiber))
        calls.delete(fiber)
        return exit
      })

    const send = Send.make({ ...options, call })

    const withoutSending = ({ id, outcome, ...rest }: Omit<Outcome.Result, "recalled">) =>
      Effect.sync((): Outcome.Result => {
        const recalled = unsent.has(id)
        unsent.add(id)
        return { id, outcome, recalled, ...rest }
      })

    const recallOrSend: Process = (id, restore) => {
      const error = validate(id)
      if (error !== undefined) return withoutSending({ id, outcome: "invalid", error })
      return Effect.flatMap(restore(Journal.readEntry(store, id)), (entry) =>
        Option.match(Option.flatMap(entry, recall), {
          onNone: () =>
            dryRun ? withoutSending({ id, outcome: "due" }) : send(id, entry, restore),
          onSome: Effect.succeed
        }))
    }

    return (id, restore) =>
      Effect.flatMap(Deferred.make<Outcome.Result, ProcessFailure>(), (result) => {
        const earlier = inProgress.get(id)
        if (earlier !== undefined) {
          // Yields, so that the result of the event's own fiber comes first.
          const shared = Effect.zipLeft(restore(Deferred.await(earlier)), Effect.yieldNow())
          return Effect.map(shared, (result) => ({ ...result, recalled: true }))
        }
        inProgress.set(id, result)
        return Effect.onExit(recallOrSend(id, restore), (exit) => {
          inProgress.delete(id)
          return Deferred.done(result, exit)
        })
      })
  })
