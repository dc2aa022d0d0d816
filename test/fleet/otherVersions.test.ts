/** A fleet whose stored values another version of the library writes, too: what it costs in calls that are refused. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Layer, type Scope } from "effect"
import { make as makeFleet } from "../../src/internal/fleet/limiter.js"
import { makeFormat } from "../../src/internal/fleet/snapshotFormat.js"
import { none } from "../../src/internal/limiter/known/options.js"
import { make as makeLimiter } from "../../src/internal/limiter/queue.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import { flakyStore } from "../support/fleet.js"
import {
  bucket,
  exchange,
  ignoredWarning,
  key,
  type Limiter,
  limitsOf,
  makeProcess,
  many,
  warnings
} from "../support/fleetStore.js"
import * as VirtualTime from "../support/virtualTime.js"

describe("a stored value of another version or shape", () => {
  const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
    VirtualTime.run(Effect.scoped(effect), { most: "2 hours" })

  /** Lets the processes make calls for half a minute, and counts what the service did. */
  const work = (fleet: ReadonlyArray<Limiter>) =>
    Effect.gen(function*() {
      const { ask, refused, served } = bucket(20, 10)
      const until = (yield* Clock.currentTimeMillis) + 30_000
      const worker = (limiter: Limiter) =>
        Effect.repeat(exchange(limiter, ask), {
          while: () => Effect.map(Clock.currentTimeMillis, (now) => now < until)
        })
      const workers = fleet.flatMap((limiter) => Array.from({ length: 5 }, () => worker(limiter)))
      yield* Effect.all(workers, { concurrency: "unbounded", discard: true })
      return { refused: refused(), served: served() }
    })

  /** What ten runs of `one` come to: a single run is refused between no and four calls by chance. */
  const tenTimes = <E, R>(one: Effect.Effect<{ readonly refused: number; readonly served: number }, E, R>) =>
    Effect.map(Effect.replicateEffect(one, 10), (runs) => ({
      refused: runs.reduce((sum, run) => sum + run.refused, 0),
      served: runs.reduce((sum, run) => sum + run.served, 0)
    }))

  /** The number of refused calls, of some 3,300, by which ten runs may differ by chance. A process that does not pace its calls adds 24,000. */
  const byChance = 10

  const independent = Effect.forEach(
    [1, 2],
    () => Effect.map(Layer.build(Layer.fresh(RateLimiter.layer)), Context.get(RateLimiter.RateLimiter))
  )

  /** Run once for all tests. */
  const twoClients = Effect.runSync(Effect.cached(tenTimes(Effect.scoped(Effect.flatMap(independent, work)))))

  it.effect("keeps no process from pacing its calls and is logged once, even if it comes back again and again", () =>
    run(Effect.gen(function*() {
      const bound = yield* twoClients
      // The processes read the store every 50 ms while they cannot know when a call may start.
      for (
        const [value, every] of [
          ["damaged", 10],
          [makeFormat(5).encode({ writtenAt: 1, members: {}, limits: limitsOf(0, many) }), 50]
        ] as const
      ) {
        const result = yield* tenTimes(Effect.scoped(Effect.gen(function*() {
          const store = yield* flakyStore
          const { lines, logger } = warnings()
          const foreign = Effect.flatMap(
            store.backend.get(key),
            ({ entry }) => store.backend.swap(key, entry?.version, { value, timeToLive: Duration.hours(1) })
          )
          yield* Effect.forkScoped(Effect.forever(Effect.zipRight(foreign, Effect.sleep(every))))
          const result = yield* Effect.gen(function*() {
            return yield* work([yield* makeProcess(store), yield* makeProcess(store)])
          }).pipe(Effect.provide(logger))
          assert.deepStrictEqual(lines, [ignoredWarning, ignoredWarning], "one for each process")
          return result
        })))
        assert.isAtMost(result.refused, bound.refused + byChance, JSON.stringify({ result, bound }))
        assert.isAtLeast(result.served, 0.8 * bound.served, JSON.stringify({ result, bound }))
      }
    })))

  it.effect("does not meet another version: fleets of two versions adapt as two clients do", () =>
    run(Effect.gen(function*() {
      const bound = yield* twoClients
      const result = yield* tenTimes(Effect.scoped(Effect.gen(function*() {
        const store = yield* flakyStore
        const { lines, logger } = warnings()
        const later = Effect.gen(function*() {
          const { serve, strategy } = yield* makeFleet(yield* SharedStore.make(store.backend), 0.2, none, makeFormat(5))
          const limiter = yield* makeLimiter(strategy, {})
          yield* serve(limiter)
          return limiter
        })
        const result = yield* Effect.gen(function*() {
          return yield* work([yield* makeProcess(store), yield* makeProcess(store), yield* later, yield* later])
        }).pipe(Effect.provide(logger))
        assert.deepStrictEqual(lines, [])
        assert.strictEqual(store.values().length, 2, "each version has its own key")
        return result
      })))
      assert.isAtMost(result.refused, bound.refused + byChance, JSON.stringify({ result, bound }))
      assert.isAtLeast(result.served, 0.8 * bound.served, JSON.stringify({ result, bound }))
    })))
})
