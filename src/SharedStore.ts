/** Where the processes of a fleet keep what they share: a few small values, and a clock. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** A value, and the mark by which its writer is told from every other. */
export interface Entry {
  readonly value: string
  /** No other value that the key has, had or will have bears it, even if the store has lost all in between. */
  readonly version: string
}

/** What the store holds, and the time there. */
export interface Snapshot {
  readonly entry: Entry | undefined
  /** Milliseconds since 1970 on the store's own clock. */
  readonly now: number
}

/** What became of a change. */
export interface SwapResult extends Snapshot {
  /** Whether it was made. `entry` is what is there now, in either case. */
  readonly swapped: boolean
}

/** What is to be there from now on. */
export interface Write {
  readonly value: string
  /** After so long it is gone, unless it is written again. */
  readonly timeToLive: Duration.Duration
}

/** What a store must be able to do; each at once or not at all. */
export interface Backend {
  /** What is there. */
  readonly get: (key: string) => Effect.Effect<Snapshot, unknown>
  /** Sets (or with `undefined` removes) a value if what is there bears that version still (`undefined`: is nothing). */
  readonly swap: (
    key: string,
    version: string | undefined,
    next: Write | undefined
  ) => Effect.Effect<SwapResult, unknown>
}

/** The store has not answered in time, or only with a failure; a change may have been made all the same. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable") {}

/** The store as the library uses it: it answers within a set time, or fails. */
export class SharedStore extends Context.Tag("effect-identity-client/SharedStore")<SharedStore, {
  /** What is there. */
  readonly get: (key: string) => Effect.Effect<Snapshot, StoreUnavailable>
  /** Sets or removes a value if what is there bears that version still. */
  readonly swap: (
    key: string,
    version: string | undefined,
    next: Write | undefined
  ) => Effect.Effect<SwapResult, StoreUnavailable>
  /** How long one answer is waited for, and how long a call waits for all of them at the most, in milliseconds. */
  readonly patience: number
  readonly delay: number
}>() {}

/** How long the store is waited for. */
export interface Options {
  /** The most that a store which answers slowly, or not at all, delays a permit or a token (default: 200 ms). */
  readonly patience?: Duration.DurationInput | undefined
}

/** For so long a store that has failed is left alone, in milliseconds; doubled each time, up to the second. */
const [pause, longestPause] = [100, 1000]

/** No call waits for more than so many answers in a row: two, twice if the first visit had begun without it. */
const answers = 4

/**
 * Makes a store of what can do the two things: it waits for no answer longer than a quarter of `patience`, leaves alone for a while what has failed,
 * and warns once, until the store is back.
 */
export const make = (
  backend: Backend,
  { patience = "200 millis" }: Options = {}
): Effect.Effect<Context.Tag.Service<SharedStore>> =>
  Effect.map(Clock.clockWith(Effect.succeed), (clock) => {
    const millis = Duration.toMillis(patience) / answers
    let failures = 0
    let isWarned = false
    let restUntil = -Infinity
    const time = () => Number(clock.unsafeCurrentTimeNanos() / 1000n) / 1000

    const failed = Effect.suspend(() => {
      restUntil = time() + Math.min(longestPause, pause * 2 ** failures++)
      const warn = isWarned ? Effect.void : Effect.logWarning(
        "the shared store does not answer: limits and tokens are this process's own until it does"
      )
      isWarned = true
      return Effect.zipRight(warn, new StoreUnavailable())
    })

    const answered = Effect.suspend(() => {
      failures = 0
      restUntil = -Infinity
      if (!isWarned) return Effect.void
      isWarned = false
      return Effect.logInfo("the shared store answers again")
    })

    const guarded = <A extends Snapshot>(
      request: () => Effect.Effect<A, unknown>
    ): Effect.Effect<A, StoreUnavailable> =>
      Effect.suspend(() => {
        if (time() < restUntil) return new StoreUnavailable()
        return Effect.suspend(request).pipe(
          Effect.filterOrFail(({ now }) => Number.isFinite(now), () => "no time"),
          Effect.disconnect, // whoever cannot be interrupted is not waited for either
          Effect.raceFirst(Effect.zipRight(late(millis), Effect.fail("late"))),
          Effect.interruptible,
          Effect.matchCauseEffect({
            onFailure: () => failed,
            onSuccess: (answer) => Effect.as(answered, answer)
          })
        )
      })

    return {
      get: (key) => guarded(() => backend.get(key)),
      swap: (key, version, next) => guarded(() => backend.swap(key, version, next)),
      patience: millis,
      delay: Duration.toMillis(patience)
    }
  })

/** The time is up when this process has waited for it in so many parts: standing still, it lets only one of them go by. */
const parts = 5

const late = (millis: number) => Effect.repeatN(Effect.sleep(millis / parts), parts - 1)

/** The layer of a store of your own. */
export const layer = <E, R>(
  backend: Effect.Effect<Backend, E, R>,
  options?: Options
): Layer.Layer<SharedStore, E, Exclude<R, Scope.Scope>> =>
  Layer.scoped(SharedStore, Effect.flatMap(backend, (backend) => make(backend, options)))

/** A store in this process, by the `Clock` of where it is made: for tests, and for several clients within one process. */
export const memory: Effect.Effect<Backend> = /* @__PURE__ */ Clock.clockWith((clock) =>
  Effect.sync(() => {
    const entries = new Map<string, Entry & { readonly until: number }>()
    let written = 0
    const seen = (key: string): Snapshot => {
      const now = clock.unsafeCurrentTimeMillis()
      const entry = entries.get(key)
      if (entry === undefined || entry.until > now) return { entry, now }
      entries.delete(key)
      return { entry: undefined, now }
    }
    return {
      get: (key) => Effect.sync(() => seen(key)),
      swap: (key, version, next) =>
        Effect.sync(() => {
          const before = seen(key)
          if (before.entry?.version !== version) return { ...before, swapped: false }
          if (next === undefined) entries.delete(key)
          else {
            const until = before.now + Duration.toMillis(next.timeToLive)
            entries.set(key, { value: next.value, version: String(++written), until })
          }
          return { ...seen(key), swapped: true }
        })
    }
  })
)

/** `memory` as a layer. Provide one to all clients that are to share. */
export const layerMemory: Layer.Layer<SharedStore> = /* @__PURE__ */ layer(memory)
