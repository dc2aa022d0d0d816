/** Tests of a process that is frozen during a visit to its store: for it the response is late by that time. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, type Duration, Effect, Layer } from "effect"
import * as Fleet from "../../src/Fleet.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import { assertKept } from "../support/ceilings.js"
import { call, respond, virtually } from "../support/fleetStore.js"
import * as Permits from "../support/permits.js"

interface Settings {
  readonly interval: Duration.DurationInput
  readonly timeout: Duration.DurationInput
}

/** A process, and the milliseconds by which each response to its writes is late. */
const makeFreezable = (memory: SharedStore.Backend, { interval, timeout }: Settings) =>
  Effect.gen(function*() {
    const store = yield* SharedStore.make(memory, { timeout })
    const frozen = { millis: 0 }
    const swap: typeof store.swap = (...request) =>
      Effect.flatMap(store.swap(...request), (result) => Effect.delay(Effect.succeed(result), frozen.millis))
    const layer = Layer.provide(
      Layer.fresh(Fleet.layerRateLimiterWith({ ceiling: { limit: 4, interval } })),
      Layer.succeed(SharedStore.SharedStore, { ...store, swap })
    )
    const limiter = yield* Effect.provide(RateLimiter.RateLimiter, yield* Layer.build(Layer.orDie(layer)))
    return { frozen, limiter }
  })

/** Makes calls, and records the time at which each gets its permit. */
const send = ({ limiter }: Pick<Effect.Effect.Success<ReturnType<typeof makeFreezable>>, "limiter">, calls: number) =>
  Effect.gen(function*() {
    const times: Array<number> = []
    const one = Effect.flatMap(Permits.start(limiter, call), ({ settle }) =>
      Effect.zipRight(
        Effect.map(Clock.currentTimeMillis, (now) => times.push(now)),
        Effect.flatMap(Effect.delay(respond(100_000, 99_999, 1), 5), settle)
      ))
    yield* Effect.forEach(Array.from({ length: calls }), () => Effect.forkScoped(one), { discard: true })
    return times
  })

/** Both know the limits, and the ceiling is free. */
const begin = (settings: Settings) =>
  Effect.gen(function*() {
    const memory = yield* SharedStore.memory
    const one = yield* makeFreezable(memory, settings)
    yield* send(one, 1)
    yield* Effect.sleep("2 minutes")
    return { one, other: yield* makeFreezable(memory, settings) }
  })

const minute = { interval: "1 minute", timeout: "200 millis" } as const

describe("a process that was frozen for longer than a ceiling's interval", () => {
  it.effect("does not use the grants from before, however patient it is with its store", () =>
    virtually(Effect.gen(function*() {
      const { one, other } = yield* begin({ interval: "3 seconds", timeout: "10 seconds" })
      one.frozen.millis = 3100
      const late = yield* send(one, 4)
      yield* Effect.sleep(3050)
      one.frozen.millis = 0
      const early = yield* send(other, 4)
      yield* Effect.sleep(20_000)
      assertKept([...late, ...early].sort((one, other) => one - other), 4, 2900)
      assert.deepStrictEqual([late.length, early.length], [4, 4])
    })))

  it.effect("does not use the grants from before, which others have used again", () =>
    virtually(Effect.gen(function*() {
      const { one, other } = yield* begin(minute)
      one.frozen.millis = 61_000
      const late = yield* send(one, 4)
      yield* Effect.sleep(60_500)
      one.frozen.millis = 0
      const early = yield* send(other, 4)
      yield* Effect.sleep(70_000)
      assertKept([...late, ...early].sort((one, other) => one - other), 4, 59_000)
      assert.deepStrictEqual([late.length, early.length], [4, 4])
    })))

  it.effect("counts its next calls from the time at which they start", () =>
    virtually(Effect.gen(function*() {
      const { one } = yield* begin(minute)
      one.frozen.millis = 61_000
      const first = yield* send(one, 2)
      yield* Effect.sleep(60_500)
      one.frozen.millis = 0
      const more = yield* send(one, 6)
      yield* Effect.sleep(70_000)
      assertKept([...first, ...more].sort((one, other) => one - other), 4, 59_000)
      assert.deepStrictEqual([first.length, more.length], [2, 6])
    })))

  it.effect("is not built where a permit may arrive later than its interval", () =>
    Effect.gen(function*() {
      const store = yield* SharedStore.make(yield* SharedStore.memory, { timeout: "10 seconds" })
      const layer = Layer.provide(
        Fleet.layerRateLimiterWith({ ceiling: { limit: 4, interval: "2400 millis" } }),
        Layer.succeed(SharedStore.SharedStore, store)
      )
      const error = yield* Effect.flip(Layer.build(layer))
      assert.deepStrictEqual(error.issues.map(({ path }) => path), ["ceiling.interval"])
    }).pipe(Effect.scoped))
})
