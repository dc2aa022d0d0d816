import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import { spanOf, spanTimeOf, withFiber } from "../../src/internal/runtime/fiber.js"
import { makeRunner, onExit } from "../../src/internal/runtime/runner.js"

describe("a fiber", () => {
  it.effect("has the span around it, and none outside of spans", () =>
    Effect.gen(function*() {
      const span = withFiber((fiber) => Effect.succeed(spanOf(fiber)))
      assert.isUndefined(yield* span)
      assert.deepInclude(yield* Effect.withSpan(span, "outer"), { name: "outer" })
    }))

  it.effect("reads the time of its spans from its clock, and 0 if they are not timed", () =>
    Effect.gen(function*() {
      const time = withFiber((fiber) => Effect.succeed(spanTimeOf(fiber)))
      yield* TestClock.setTime(7)
      assert.strictEqual(yield* time, 7_000_000n)
      assert.strictEqual(yield* Effect.withTracerTiming(time, false), 0n)
    }))

  it.effect("reports its end to its listeners, except cancelled ones", () =>
    Effect.gen(function*() {
      const reported: Array<string> = []
      const open = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(Deferred.await(open))
      onExit(fiber, ({ _tag }) => void reported.push(_tag))
      const cancel = onExit(fiber, () => void reported.push("cancelled"))
      cancel()
      yield* Deferred.succeed(open, undefined)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(reported, ["Success"])
    }))
})

describe("a runner", () => {
  it.effect("ends a fiber with the scope that it was forked in, and no other fiber", () =>
    Effect.gen(function*() {
      const { fork } = yield* makeRunner()
      const scope = yield* Scope.make()
      const [scoped, other] = [fork(Effect.never, scope), fork(Effect.never)]
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(scoped)))
      assert.isNull(other.unsafePoll())
      yield* Fiber.interrupt(other)
    }))
})
