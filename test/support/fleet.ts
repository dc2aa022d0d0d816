/** Stores for fleets within one process that can fail, hang, lose their values and be cut off. */
import { Clock, Effect, Layer } from "effect"
import type { InvalidInput } from "../../src/Errors.js"
import * as SharedStore from "../../src/SharedStore.js"

export interface FlakyStore {
  readonly backend: SharedStore.Backend
  /** `down`: it fails at once; `hung`: it never responds. */
  state: "up" | "down" | "hung"
  /** Removes all values, as a restart does. */
  readonly lose: Effect.Effect<void>
  /** The number of requests. */
  readonly trips: () => number
  /** All current values. */
  readonly values: () => ReadonlyArray<string>
}

/** Makes a store in memory, by the current clock. */
export const flakyStore: Effect.Effect<FlakyStore> = Effect.gen(function*() {
  let memory = yield* SharedStore.memory
  let generation = 0
  let trips = 0
  const values = new Map<string, string>()
  // A store that has lost its values never gives one of its former versions again.
  const strip = (version: string | undefined) =>
    version?.startsWith(`${generation}:`) === true
      ? version.slice(`${generation}:`.length)
      : version === undefined
      ? undefined
      : "-"
  const mark = <A extends SharedStore.Snapshot>(seen: A): A => ({
    ...seen,
    entry: seen.entry === undefined ? undefined : { ...seen.entry, version: `${generation}:${seen.entry.version}` }
  })
  const guarded = <A>(request: Effect.Effect<A, unknown>): Effect.Effect<A, unknown> =>
    Effect.suspend(() => {
      trips++
      return store.state === "up" ? request : store.state === "down" ? Effect.fail("down") : Effect.never
    })
  const store: FlakyStore = {
    state: "up",
    backend: {
      get: (key) => guarded(Effect.suspend(() => Effect.map(memory.get(key), mark))),
      swap: (key, version, next) =>
        guarded(Effect.suspend(() =>
          Effect.map(memory.swap(key, strip(version), next), (after) => {
            if (after.swapped && next !== undefined) values.set(key, next.value)
            if (after.swapped && next === undefined) values.delete(key)
            return mark(after)
          })
        ))
    },
    lose: Effect.map(SharedStore.memory, (empty) => {
      memory = empty
      generation++
      values.clear()
    }),
    trips: () => trips,
    values: () => Array.from(values.values())
  }
  return store
})

/** The layer of a client's own connection to a store. */
export const layerOf = (
  { backend }: Pick<FlakyStore, "backend">,
  options?: SharedStore.Options
): Layer.Layer<SharedStore.SharedStore, InvalidInput> =>
  Layer.fresh(SharedStore.layer(Effect.succeed(backend), options))

/** A client's own connection to a store, which can be cut for good. */
export const lineTo = ({ backend }: FlakyStore) => {
  let isCut = false
  const through = <A>(request: Effect.Effect<A, unknown>) => Effect.suspend(() => isCut ? Effect.never : request)
  return {
    backend: {
      get: (key: string) => through(backend.get(key)),
      swap: (...change: Parameters<SharedStore.Backend["swap"]>) => through(backend.swap(...change))
    },
    cut: () => {
      isCut = true
    }
  }
}

/** A clock whose time of day can be changed. */
export const skewed = (clock: Clock.Clock): { readonly clock: Clock.Clock; readonly skew: { millis: number } } => {
  const skew = { millis: 0 }
  return {
    skew,
    clock: {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() + skew.millis,
      unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + skew.millis),
      currentTimeNanos: clock.currentTimeNanos,
      sleep: (duration) => clock.sleep(duration)
    }
  }
}
