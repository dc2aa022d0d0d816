/** Keeps the runners of a cluster running: one that has ended is started anew with the same port. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { freePort } from "../../../examples/support/freePort.js"
import type { bundle } from "../processes.js"
import type { Health, RunnerSettings } from "./runner.js"
import { concurrency } from "./settings.js"

export type Start = Effect.Effect.Success<
  ReturnType<typeof bundle<"durable/runner" | "durable/service" | "durable/single">>
>

export interface Runner {
  /** Kills it, and returns the number of events that it may have had in flight. */
  readonly kill: Effect.Effect<number>
  /** Ends it with SIGTERM, and waits until it runs anew. */
  readonly restart: Effect.Effect<void>
  /** Stops it for some time, and returns the number of events that it may have had in flight. */
  readonly pause: (millis: number) => Effect.Effect<number>
  readonly awaitReady: Effect.Effect<void>
  /** The number of events that may be in flight. */
  readonly inFlight: Effect.Effect<number>
  /** How often it has ended although nobody wanted it to. */
  readonly crashes: () => number
}

export const makeRunner = (
  start: Start,
  settings: Omit<RunnerSettings, "port">
): Effect.Effect<Runner, never, Scope.Scope> =>
  Effect.gen(function*() {
    const port = yield* freePort
    const launch = start<Health, Record<string, never>, Health>({
      program: "durable/runner",
      argument: JSON.stringify({ ...settings, port } satisfies RunnerSettings),
      execArgv: ["--no-deprecation"] // the cluster's lock connection runs two queries at once, which `pg` warns of
    })
    const ready = yield* Effect.makeLatch(false)
    let process: Effect.Effect.Success<typeof launch> | undefined
    let isToEnd = false
    let crashes = 0

    const life = Effect.gen(function*() {
      const launched = yield* launch
      yield* Effect.addFinalizer(() => launched.kill) // a stopped process heeds no other signal
      process = launched
      yield* ready.open
      yield* launched.ended
    }).pipe(Effect.scoped, Effect.ignore)

    yield* life.pipe(
      Effect.zipRight(ready.close),
      Effect.zipRight(Effect.sync(() => {
        if (!isToEnd) crashes++
        isToEnd = false
      })),
      Effect.zipRight(Effect.sleep("100 millis")),
      Effect.forever,
      Effect.interruptible,
      Effect.forkScoped
    )

    const current = Effect.zipRight(ready.await, Effect.suspend(() => Effect.orDie(Effect.fromNullable(process))))

    const inFlight = (runner: Effect.Effect.Success<typeof launch>) =>
      runner.ask({}).pipe(
        Effect.map(({ jobs }) => jobs * concurrency),
        Effect.timeoutTo({ duration: "1 second", onSuccess: (count) => count, onTimeout: () => Infinity }),
        Effect.orElseSucceed(() => 0)
      )

    return {
      awaitReady: Effect.asVoid(current),
      inFlight: Effect.flatMap(current, inFlight),
      crashes: () => crashes,
      kill: Effect.gen(function*() {
        const runner = yield* current
        const count = yield* inFlight(runner)
        isToEnd = true
        yield* runner.kill
        yield* runner.ended
        return count
      }),
      restart: Effect.gen(function*() {
        const runner = yield* current
        isToEnd = true
        yield* runner.signal("SIGTERM")
        yield* runner.ended
        yield* Effect.sleep("50 millis") // the latch is closed by now
        yield* current
      }),
      pause: (millis) =>
        Effect.gen(function*() {
          const runner = yield* current
          const count = yield* inFlight(runner)
          yield* Effect.acquireUseRelease(
            runner.signal("SIGSTOP"),
            () => Effect.sleep(millis),
            () => runner.signal("SIGCONT")
          )
          return count
        })
    }
  })
