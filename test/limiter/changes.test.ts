import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Queue, Stream, TestClock } from "effect"
import * as Fixed from "../../src/internal/limiter/fixed.js"
import { make } from "../../src/internal/limiter/queue.js"
import * as Permits from "../support/permits.js"

const call = { tenant: "https://t.example.com/api/v2", operation: "deleteEventStream" }

const makeLimiter = Effect.suspend(() => make(Fixed.make(100, 1e-9), {}))

describe("changes", () => {
  it.scoped("begins with the state now, and goes on for one reader when another has read enough", () =>
    Effect.gen(function*() {
      const { changes, ...limiter } = yield* makeLimiter
      const read = (count: number) =>
        Effect.fork(Stream.runCollect(Stream.take(Stream.map(changes, ([status]) => status?.remaining), count)))
      const [one, other] = [yield* read(1), yield* read(2)]
      yield* TestClock.adjust(0) // both read
      assert.deepStrictEqual([...yield* Fiber.join(one)], [100])
      yield* Permits.start(limiter, call)
      assert.deepStrictEqual([...yield* Fiber.join(other)], [100, 99])
    }))

  it.scoped("gives a slow reader the latest state, though a quick one has read those before", () =>
    Effect.gen(function*() {
      const { changes, ...limiter } = yield* makeLimiter
      const [slow, quick] = [yield* Queue.unbounded<number | undefined>(), yield* Queue.unbounded<number | undefined>()]
      const read = (into: Queue.Queue<number | undefined>, millis: number) =>
        Effect.forkScoped(
          Stream.runForEach(changes, ([status]) => Effect.delay(Queue.offer(into, status?.remaining), millis))
        )
      yield* read(slow, 1000)
      yield* read(quick, 0)
      yield* TestClock.adjust(0)
      for (let nth = 0; nth < 20; nth++) {
        yield* Permits.start(limiter, call)
        yield* TestClock.adjust(0)
      }
      yield* TestClock.adjust("1 minute")
      const [late, all] = [
        Chunk.toReadonlyArray(yield* Queue.takeAll(slow)),
        Chunk.toReadonlyArray(yield* Queue.takeAll(quick))
      ]
      assert.strictEqual(all.length, 21)
      assert.isAtMost(late.length, 4)
      assert.strictEqual(late.at(-1), 80)
    }))

  it.scoped("goes on after many changes without a reader", () =>
    Effect.gen(function*() {
      const { changes, ...limiter } = yield* makeLimiter
      for (let nth = 0; nth < 50; nth++) yield* Permits.start(limiter, call)
      const reader = yield* Effect.fork(Stream.runCollect(Stream.take(changes, 2)))
      yield* TestClock.adjust(0)
      yield* Permits.start(limiter, call)
      const states = Chunk.toReadonlyArray(yield* Fiber.join(reader))
      assert.deepStrictEqual(states.map(([status]) => status?.remaining), [50, 49])
    }))
})
