/** Stores what the processes of a fleet share: a few small values and a clock. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { InvalidInput } from "./Errors.js"
import * as StoreTimeout from "./internal/fleet/storeTimeout.js"
import { monotonicMillis } from "./internal/runtime/monotonicClock.js"
import { disconnect } from "./internal/runtime/runner.js"

/** A value with its version. @since 0.1.0 @category models */
export interface Entry {
  readonly value: string
  /** Changes with each write and never comes back, even if the store loses everything in between. */
  readonly version: string
}

/** The entry of a key at a moment. @since 0.1.0 @category models */
export interface Snapshot {
  /** `undefined` if the key has no value. */
  readonly entry: Entry | undefined
  /** The time by the store's own clock, in milliseconds since 1970. */
  readonly now: number
}

/** The result of a `swap`; `entry` is the entry after it. @since 0.1.0 @category models */
export interface SwapResult extends Snapshot {
  /** `false` if the version did not match: nothing was changed. */
  readonly swapped: boolean
}

/** A value to be written. @since 0.1.0 @category models */
export interface Write {
  readonly value: string
  /** The store removes the value after this time, unless it is written again. */
  readonly timeToLive: Duration.Duration
}

/** The operations of a store. Each must be atomic. @since 0.1.0 @category models */
export interface Backend<E = unknown> {
  /** Reads a key. */
  readonly get: (key: string) => Effect.Effect<Snapshot, E>
  /** Writes (or with `next: undefined` removes) a value if the key's version is `version`; `undefined` stands for no value. */
  readonly swap: (key: string, version: string | undefined, next: Write | undefined) => Effect.Effect<SwapResult, E>
}

/**
 * The store failed or did not respond in time. A write may have happened all the same.
 * @since 0.1.0 @category errors
 */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable") {}

/**
 * The service that a fleet's limiter and token provider use. It responds within a time limit or fails.
 * @since 0.1.0 @category tags
 */
export class SharedStore extends Context.Tag("effect-identity-client/SharedStore")<
  SharedStore,
  Backend<StoreUnavailable> & {
    /** The longest that the store may delay a permit or a token in all. */
    readonly timeout: Duration.Duration
  }
>() {}

/** Settings of every store. @since 0.1.0 @category models */
export interface Options {
  /**
   * The longest that a slow or unavailable store may delay a permit or a token in all (default: 200 ms). If it is zero or infinite, the
   * layer fails with `InvalidInput`.
   */
  readonly timeout?: Duration.DurationInput | undefined
}

/** The pauses after failures, in milliseconds: the first one, doubled with each further failure, and the longest. */
const [firstPause, longestPause] = [100, 1000]

/** The code of a failure, such as `WRONGPASS` or `ECONNREFUSED`, in parentheses. The rest may hold secrets and is not shown. */
const codeOf = (failure: unknown, depth = 0): string => {
  if (!(failure instanceof Error) || depth > 3) return ""
  const { cause, code, error }: { cause?: unknown; code?: unknown; error?: unknown } = failure
  const found = /^[A-Z][A-Z0-9_]+\b/.exec(String(code))?.[0]
  return found === undefined ? codeOf(cause ?? error, depth + 1) : ` (${found})`
}

/** A key that is not tried again for this time after its pause, in milliseconds, is not needed any more. */
const abandonedAfter = 60_000

/** The most keys whose failures are remembered. */
const maxFailing = 1000

/**
 * Makes the service of a backend. A request takes at most a quarter of `timeout`. After a failure the backend gets no request
 * for this key for 100 ms, doubled with each further failure up to a second. The first failure is logged as a warning, also that of
 * another key after a response, and the recovery of all keys as info.
 * Fails with `InvalidInput` if `timeout` is zero or infinite.
 * @since 0.1.0 @category constructors
 */
export const make = (
  backend: Backend,
  { timeout = StoreTimeout.byDefault }: Options = {}
): Effect.Effect<Context.Tag.Service<SharedStore>, InvalidInput> =>
  Effect.zipRight(StoreTimeout.validate("SharedStore.make", timeout), makeValid(backend, timeout))

const makeValid = (
  backend: Backend,
  timeout: Duration.DurationInput
): Effect.Effect<Context.Tag.Service<SharedStore>> =>
  Effect.map(Effect.clock, (clock) => {
    const limit = StoreTimeout.requestMillis(timeout)
    /** The keys that failed last, in the order of their failures: one of another type says nothing about the others. */
    const failing = new Map<string, { readonly failures: number; readonly pausedUntil: number }>()
    /** Nothing has succeeded since a warning. */
    let hasWarned = false

    const forgetOld = () => {
      const abandoned = monotonicMillis(clock) - abandonedAfter
      for (const [key, { pausedUntil }] of failing) {
        if (pausedUntil >= abandoned && failing.size <= maxFailing) return
        failing.delete(key)
      }
    }

    const failed = (key: string, cause: Cause.Cause<unknown>) =>
      Effect.suspend(() => {
        const failures = failing.get(key)?.failures ?? 0
        const warn = hasWarned || failures > 0 ? Effect.void : Effect.logWarning(
          "the shared store is unavailable: until it is back, this process keeps rate limits and tokens of its own" +
            codeOf(Cause.squash(cause))
        )
        hasWarned ||= failures === 0
        const pausedUntil = monotonicMillis(clock) + Math.min(longestPause, firstPause * 2 ** failures)
        failing.delete(key)
        failing.set(key, { failures: failures + 1, pausedUntil })
        forgetOld()
        return Effect.zipRight(warn, new StoreUnavailable())
      })

    const succeeded = (key: string) =>
      Effect.suspend(() => {
        hasWarned = false
        if (failing.size === 0) return Effect.void
        failing.delete(key)
        forgetOld()
        return failing.size > 0 ? Effect.void : Effect.logInfo("the shared store is available again")
      })

    const guarded = <A extends Snapshot>(
      key: string,
      request: () => Effect.Effect<A, unknown>
    ): Effect.Effect<A, StoreUnavailable> =>
      Effect.suspend(() => {
        if (monotonicMillis(clock) < (failing.get(key)?.pausedUntil ?? -Infinity)) return new StoreUnavailable()
        return Effect.suspend(request).pipe(
          Effect.filterOrFail(({ now }) => Number.isFinite(now), () => "no time"),
          disconnect, // does not wait for a request that cannot be interrupted
          Effect.raceFirst(Effect.zipRight(sleepInSteps(limit), Effect.fail("timeout"))),
          Effect.exit,
          Effect.interruptible,
          Effect.matchCauseEffect({
            onFailure: () => Effect.fail(new StoreUnavailable()), // its caller was interrupted, which says nothing about the store
            onSuccess: Exit.match({
              onFailure: (cause) => failed(key, cause),
              onSuccess: (result) => Effect.as(succeeded(key), result)
            })
          })
        )
      })

    return {
      get: (key) => guarded(key, () => backend.get(key)),
      swap: (key, version, next) => guarded(key, () => backend.swap(key, version, next)),
      timeout: Duration.decode(timeout)
    }
  })

const steps = 5

/** Sleeps in several steps. A blocked process skips at most one step, so its own pause does not count as a slow store. */
const sleepInSteps = (millis: number) => Effect.repeatN(Effect.sleep(millis / steps), steps - 1)

/**
 * Makes the layer of a store of your own.
 * @since 0.1.0 @category layers @example `SharedStore.layer(Effect.succeed({ get, swap }), { timeout: "100 millis" })`
 */
export const layer = <E, R>(
  backend: Effect.Effect<Backend, E, R>,
  options?: Options
): Layer.Layer<SharedStore, E | InvalidInput, Exclude<R, Scope.Scope>> =>
  Layer.scoped(SharedStore, Effect.flatMap(backend, (backend) => make(backend, options)))

/** The store in memory removes expired values at most once in this time, in milliseconds. */
const sweepInterval = 60_000

/**
 * A store in the memory of this process, by its `Clock`: for tests, and for several clients within one process.
 * @since 0.1.0 @category constructors
 */
export const memory: Effect.Effect<Backend> = /* @__PURE__ */ Effect.map(Effect.clock, (clock) => {
  const entries = new Map<string, Entry & { readonly until: number }>()
  let writes = 0
  let sweptAt = -Infinity
  /** Removes values that nobody reads any more, such as the limits of tenants that are gone. */
  const sweep = (now: number): void => {
    if (Math.abs(now - sweptAt) < sweepInterval) return // the clock may be set back
    sweptAt = now
    for (const [key, { until }] of entries) if (until <= now) entries.delete(key)
  }
  const snapshot = (key: string): Snapshot => {
    const now = clock.unsafeCurrentTimeMillis()
    const entry = entries.get(key)
    if (entry === undefined || entry.until > now) return { entry, now }
    entries.delete(key)
    return { entry: undefined, now }
  }
  return {
    get: (key) => Effect.sync(() => snapshot(key)),
    swap: (key, version, next) =>
      Effect.sync(() => {
        const before = snapshot(key)
        sweep(before.now)
        if (before.entry?.version !== version) return { ...before, swapped: false }
        if (next === undefined) entries.delete(key)
        else {
          const until = before.now + Duration.toMillis(next.timeToLive)
          entries.set(key, { value: next.value, version: String(++writes), until })
        }
        return { ...snapshot(key), swapped: true }
      })
  }
})

/** The layer of `memory`. Provide one to all clients that are to share. @since 0.1.0 @category layers */
export const layerMemory: Layer.Layer<SharedStore> = /* @__PURE__ */ Layer.effect(
  SharedStore,
  /* @__PURE__ */ Effect.flatMap(memory, (backend) => makeValid(backend, StoreTimeout.byDefault))
)
