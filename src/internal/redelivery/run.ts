/** A run of redeliveries under way: what is being sent, what has been asked for twice, and how it comes to its end. */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { InvalidInput } from "../../Errors.js"
import type { Restore } from "../runtime/fiber.js"
import * as Journal from "./journal.js"
import * as Outcome from "./outcome.js"

export interface Course {
  /** What becomes of an id, once in a run. It can be interrupted where it waits, and must not be elsewhere. */
  readonly settle: (id: string, restore: Restore) => Effect.Effect<Outcome.Result, Journal.JournalError>
}

export interface Parts {
  /** What names the run in its journal. */
  readonly run: string
  readonly store: Journal.Store
  /** Fails if another run has got hold of the journal. */
  readonly isHeld: Effect.Effect<void, Journal.JournalError>
  /** Says what is wrong with an id. */
  readonly refuse: (id: string) => InvalidInput | undefined
  readonly redeliver: (id: string) => Effect.Effect<void, Outcome.Failure>
  /** The outcomes of earlier runs that are not taken for results. */
  readonly repeat: ReadonlyArray<Outcome.Outcome>
  readonly dryRun: boolean
  readonly grace: Duration.DurationInput
}

/** Begins a run. When the scope is closed, nothing is being sent any more. */
export const make = (parts: Parts): Effect.Effect<Course, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { dryRun, isHeld, redeliver, refuse, repeat, run, store } = parts
    /** The ids that are being worked on, for those that come again meanwhile. */
    const working = new Map<string, Deferred.Deferred<Outcome.Result, Journal.JournalError>>()
    const sending = new Set<Fiber.Fiber<void, Outcome.Failure>>()
    /** The ids that a dry run has come by and would have sent. */
    const due = new Set<string>()
    let isEnding = false
    let graceTime: Fiber.Fiber<unknown> | undefined
    let isCutOff = false

    /** Whoever is interrupted first begins the time that all have to end. */
    const beginGrace = Effect.suspend(() => {
      if (isEnding) return Effect.void
      isEnding = true
      return Effect.sleep(parts.grace).pipe(
        Effect.zipRight(Effect.suspend(() => {
          isCutOff = true
          return Fiber.interruptAll(sending)
        })),
        Effect.interruptible,
        Effect.forkDaemon,
        Effect.map((fiber) => void (graceTime = fiber))
      )
    })
    yield* Effect.addFinalizer(() => graceTime === undefined ? Effect.void : Fiber.interrupt(graceTime))

    /** The result of an entry, unless it is one of an earlier run that is to be repeated. */
    const recall = (entry: Journal.Entry): Option.Option<Outcome.Result> => {
      const { error, outcome } = entry.outcome === "sending"
        ? Outcome.lost
        : { error: entry.error, outcome: entry.outcome }
      return entry.run !== run && repeat.includes(outcome)
        ? Option.none()
        : Option.some({ id: entry.id, outcome, recalled: true, ...(error !== undefined && { error }) })
    }

    /** A call runs in a fiber of its own, so that it may end when the run is interrupted. */
    const call = (id: string, restore: Restore) =>
      Effect.gen(function*() {
        const fiber = yield* Effect.forkDaemon(Effect.interruptible(redeliver(id)))
        sending.add(fiber)
        if (isCutOff) yield* Fiber.interruptFork(fiber)
        const awaited = yield* Effect.exit(restore(Fiber.await(fiber)))
        const exit = Exit.isSuccess(awaited) ? awaited.value : yield* Effect.zipRight(beginGrace, Fiber.await(fiber))
        sending.delete(fiber)
        return exit
      })

    const send = (id: string, restore: Restore): Effect.Effect<Outcome.Result, Journal.JournalError> =>
      Effect.gen(function*() {
        yield* Journal.write(store, { id, run, outcome: "sending" })
        yield* isHeld
        const exit = yield* call(id, restore)
        const verdict = yield* Outcome.of(exit)
        yield* Journal.write(store, { id, run, ...verdict })
        return { id, recalled: false, ...verdict }
      })

    const rehearse = (id: string): Outcome.Result => {
      const recalled = due.has(id)
      due.add(id)
      return { id, outcome: "due", recalled }
    }

    const decide = (id: string, restore: Restore): Effect.Effect<Outcome.Result, Journal.JournalError> => {
      const refused = refuse(id)
      if (refused !== undefined) {
        return Effect.succeed({ id, outcome: "invalid", recalled: false, error: Outcome.reason(refused) })
      }
      return Effect.flatMap(restore(Journal.read(store, id)), (entry) =>
        Option.match(Option.flatMap(entry, recall), {
          onNone: () => dryRun ? Effect.sync(() => rehearse(id)) : send(id, restore),
          onSome: Effect.succeed
        }))
    }

    return {
      settle: (id, restore) =>
        Effect.suspend(() => {
          const before = working.get(id)
          if (before !== undefined) {
            return Effect.map(restore(Deferred.await(before)), (result) => ({ ...result, recalled: true }))
          }
          const mine = Deferred.unsafeMake<Outcome.Result, Journal.JournalError>(FiberId.none)
          working.set(id, mine)
          return Effect.onExit(decide(id, restore), (exit) => {
            working.delete(id)
            return Deferred.done(mine, exit)
          })
        })
    }
  })
