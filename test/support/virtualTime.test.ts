import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Deferred, Effect, Exit, Fiber } from "effect"
import * as VirtualTime from "./virtualTime.js"

const from = 1_900_000_000_000
const run = <A, E>(effect: Effect.Effect<A, E>) => VirtualTime.run(effect, { from, most: "1 hour" })

/** The first line of the error that ends an effect. */
const defect = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.exit(run(effect)), (exit) => Exit.isFailure(exit) ? Cause.pretty(exit.cause).split("\n")[0] : exit)

describe("virtual time", () => {
  it.effect("jumps from one wake-up to the next", () =>
    Effect.gen(function*() {
      const times: Array<readonly [nth: number, at: number]> = []
      const nap = (nth: number, millis: number) =>
        Effect.zipRight(Effect.sleep(millis), Clock.currentTimeMillis).pipe(
          Effect.map((now) => times.push([nth, now - from]))
        )
      const all = Effect.all([nap(0, 3_000_000), nap(1, 5), nap(2, 0.1), nap(3, 5)], { concurrency: "unbounded" })
      yield* run(all)
      assert.deepStrictEqual(times, [[2, 1], [1, 5], [3, 5], [0, 3_000_000]])
    }))

  it.effect("goes on while promises settle one after the other", () =>
    Effect.gen(function*() {
      const steps = Effect.promise(async () => {
        for (let step = 0; step < 50; step++) await Promise.resolve()
      })
      const late = Effect.zipRight(Effect.repeatN(steps, 20), Clock.currentTimeMillis)
      const [time] = yield* run(Effect.all([late, Effect.sleep(1)], { concurrency: "unbounded" }))
      assert.strictEqual(time, from)
    }))

  it.effect("forgets an interrupted sleep", () =>
    Effect.gen(function*() {
      const sleeper = Effect.flatMap(Effect.fork(Effect.sleep("59 minutes")), (fiber) =>
        Effect.zipRight(Effect.sleep(10), Fiber.interrupt(fiber)))
      const deadlock = Effect.zipRight(sleeper, Effect.never)
      assert.strictEqual(yield* defect(deadlock), "Error: deadlock: all fibers wait, and none sleeps")
    }))

  it.effect("fails as the effect does", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Effect.flip(run(Effect.zipRight(Effect.sleep(10), Effect.fail("mine")))), "mine")
    }))

  it.effect("reports a deadlock, an effect that takes too long and an endless loop", () =>
    Effect.gen(function*() {
      const deadlock = Effect.flatMap(Deferred.make<void>(), Deferred.await)
      assert.strictEqual(yield* defect(deadlock), "Error: deadlock: all fibers wait, and none sleeps")
      assert.strictEqual(yield* defect(Effect.sleep("61 minutes")), "Error: not over after 1h of virtual time")
      assert.match(String(yield* defect(Effect.forever(Effect.yieldNow()))), /^Error: endless loop/)
    }))
})
