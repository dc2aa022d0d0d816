/** The size of what a fleet keeps in its store: each visit reads and writes it whole. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Logger } from "effect"
import * as SharedStore from "../../src/SharedStore.js"
import { bucket, callOf, exchange, makeProcess } from "../support/fleetStore.js"
import * as VirtualTime from "../support/virtualTime.js"

const [processes, buckets, mostBytes] = [3, 3, 20_000]
const operations = Array.from({ length: 400 }, (_, nth) => `listOrganizationMembers${nth}`)

describe("the value of a tenant", () => {
  it.effect("stays small with 400 operations, however many calls they make", () =>
    Effect.gen(function*() {
      const memory = yield* SharedStore.memory
      let largest = 0
      const backend: SharedStore.Backend = {
        get: memory.get,
        swap: (key, version, next) => {
          largest = Math.max(largest, next?.value.length ?? 0)
          return memory.swap(key, version, next)
        }
      }
      const services = Array.from({ length: buckets }, (_, nth) => bucket(30 + nth, 100 / buckets))
      const until = (yield* Clock.currentTimeMillis) + 150_000
      const fleet = yield* Effect.replicateEffect(
        makeProcess({ backend }, {
          ceiling: { limit: 1000, interval: "10 seconds" }
        }),
        processes
      )
      let calls = 0
      const worker = (limiter: typeof fleet[number]) =>
        Effect.suspend(() => {
          const nth = calls++
          return exchange(limiter, services[nth % buckets]!.ask, callOf(operations[nth % operations.length]!), 500)
        }).pipe(Effect.repeat({
          while: () => Effect.map(Clock.currentTimeMillis, (now) => now < until && largest <= mostBytes)
        }))
      yield* Effect.all(
        fleet.flatMap((limiter) => Array.from({ length: 3 }, () => worker(limiter))),
        {
          concurrency: "unbounded",
          discard: true
        }
      )
      assert.isAtMost(largest, mostBytes)
      assert.isAbove(calls, 6 * operations.length)
    }).pipe(
      Effect.scoped,
      Effect.provide(Logger.remove(Logger.defaultLogger)),
      (test) => VirtualTime.run(test, { most: "1 hour" })
    ))
})
