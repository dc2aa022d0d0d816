/** Runs jobs in this process. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import * as MemoryStore from "./memoryStore.js"
import { activeStates, type RunOptions } from "./model.js"
import { makeRunner } from "./runner.js"
import { makeService } from "./service.js"
import type { JobStore } from "./store.js"
import { Tenants } from "./tenants.js"

export interface LocalOptions extends RunOptions {
  /** The time after which jobs are removed (default: never). */
  readonly pruneAfter?: Duration.DurationInput | undefined
}

/** Runs jobs by their ids, each once at a time. */
const makeRuns = (run: (id: string) => Effect.Effect<void>) =>
  Effect.map(FiberMap.make<string>(), (fibers) => {
    const running = new Set<string>()
    const startAgain = new Set<string>()

    const ended = (id: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        running.delete(id)
        return startAgain.delete(id) ? start(id) : Effect.void
      })

    /** Starts a job. One that runs, or whose run is ending, runs once more after that: it may have been resumed meanwhile. */
    const start = (id: string): Effect.Effect<void> =>
      Effect.uninterruptible(Effect.suspend(() => {
        if (running.has(id)) {
          startAgain.add(id)
          return Effect.void
        }
        running.add(id)
        return Effect.asVoid(FiberMap.run(fibers, id, Effect.ensuring(Effect.interruptible(run(id)), ended(id))))
      }))

    /** Ends a run. Its running calls may end; another run then looks at whether there is something left to do. */
    const stop = (id: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (!running.has(id)) return Effect.void
        startAgain.add(id)
        return Option.match(FiberMap.unsafeGet(fibers, id), {
          onNone: () => Effect.void,
          onSome: (fiber) => Fiber.interruptFork(fiber)
        })
      })

    return { start, stop }
  })

/** Removes old jobs now, and each hour. */
const pruneHourly = (store: JobStore, pruneAfter: Duration.DurationInput) => {
  const prune = Effect.flatMap(
    Effect.clock,
    (clock) => store.prune(clock.unsafeCurrentTimeMillis() - Duration.toMillis(pruneAfter))
  )
  const hourly = prune.pipe(
    Effect.catchAll(({ message }) => Effect.logWarning(`could not remove old jobs: ${message}`)),
    Effect.delay("1 hour"),
    Effect.forever
  )
  return Effect.zipRight(prune, Effect.forkScoped(hourly))
}

/** Makes jobs that run in this process until the scope closes. Those that an earlier process has left go on. */
export const make = (keeper: MemoryStore.Keeper, { pruneAfter, ...options }: LocalOptions) =>
  Effect.gen(function*() {
    const store = yield* MemoryStore.make(keeper)
    const tenants = yield* Tenants
    const { start, stop } = yield* makeRuns(makeRunner({ ...options, store, tenants }))
    if (pruneAfter !== undefined) yield* pruneHourly(store, pruneAfter)
    const left = yield* store.list({ states: activeStates }, { after: undefined, limit: Infinity })
    yield* Effect.forEach(left, ({ id }) => start(id), { discard: true })

    /** A job that is cancelled stops at once. */
    const update: JobStore["update"] = (seen, from, change) =>
      Effect.tap(store.update(seen, from, change), (isChanged) =>
        isChanged && change.state === "cancelled" ? stop(seen.id) : Effect.void)
    return makeService({
      store: { ...store, update },
      tenants,
      start: ({ id }) =>
        start(id),
      pollInterval: options.pollInterval
    })
  })
