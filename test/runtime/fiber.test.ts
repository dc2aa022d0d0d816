import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Scope, Stream, TestClock } from "effect"
import { runUntil, spanOf, spanTimeOf, withFiber, withoutFailureLogs } from "../../src/internal/runtime/fiber.js"
import { makeRunner, onExit } from "../../src/internal/runtime/runner.js"
import { allLines } from "../support/telemetry.js"

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

describe("the log", () => {
  const fail = Effect.fail("a text of the service")
  const rows: ReadonlyArray<readonly [string, Effect.Effect<unknown, string>]> = [
    ["a fiber that is joined", Effect.flatMap(withoutFailureLogs(Effect.fork(fail)), Fiber.join)],
    ["a stream", withoutFailureLogs(Stream.runDrain(Stream.fail("a text of the service")))],
    ["an effect that runs until another one ends", runUntil(fail, Effect.never)]
  ]
  it.effect.each(rows)(
    "has no line about the failure of %s, and is as before for the program's next fiber",
    ([, self]) =>
      Effect.gen(function*() {
        const own = Effect.flatMap(Effect.fork(Effect.fail("of the program")), Fiber.await)
        const { lines } = yield* allLines(Effect.zipRight(Effect.exit(self), own))
        assert.deepStrictEqual(lines, (yield* allLines(own)).lines)
      })
  )
})

describe("an effect that runs until another one ends", () => {
  /** An effect that ends after a second, or when it is interrupted, and then cleans up for a second. */
  const tracked = <E>(outcome: Effect.Effect<void, E>) => {
    const seen: Array<string> = []
    const log = (text: string) => Effect.sync(() => void seen.push(text))
    const self = Effect.zipRight(Effect.sleep("1 second"), outcome).pipe(
      Effect.onInterrupt(() => log("interrupted")),
      Effect.ensuring(Effect.zipRight(Effect.sleep("1 second"), log("cleaned up")))
    )
    return { seen, self }
  }
  const run = <A, E>(self: Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(self)
      yield* TestClock.adjust("10 seconds")
      return yield* Fiber.await(fiber)
    })

  it.effect("is interrupted then, and has cleaned up", () =>
    Effect.gen(function*() {
      const { seen, self } = tracked(Effect.void)
      assert.deepStrictEqual(yield* run(runUntil(self, Effect.sleep(500))), Exit.succeed(true))
      assert.deepStrictEqual(seen, ["interrupted", "cleaned up"])
    }))

  it.effect("ends by itself before, and the other one is interrupted", () =>
    Effect.gen(function*() {
      let stops = 0
      const stop = Effect.zipRight(Effect.sleep("5 seconds"), Effect.sync(() => void stops++))
      assert.deepStrictEqual(yield* run(runUntil(tracked(Effect.void).self, stop)), Exit.succeed(false))
      assert.deepStrictEqual(yield* run(runUntil(tracked(Effect.fail("no")).self, stop)), Exit.fail("no"))
      assert.strictEqual(stops, 0)
    }))

  it.effect("ends with its own failure, though it was stopped while it cleaned up", () =>
    Effect.gen(function*() {
      const failing = tracked(Effect.fail("no"))
      const exit = yield* run(runUntil(failing.self, Effect.sleep(1500)))
      assert.deepStrictEqual(Exit.isFailure(exit) && [...Cause.failures(exit.cause)], ["no"])
    }))

  it.effect("counts as stopped if it was stopped while it cleaned up", () =>
    Effect.gen(function*() {
      const succeeding = tracked(Effect.void)
      assert.deepStrictEqual(yield* run(runUntil(succeeding.self, Effect.sleep(1500))), Exit.succeed(true))
      assert.deepStrictEqual(succeeding.seen, ["cleaned up"])
    }))

  it.effect("has cleaned up when the whole is interrupted", () =>
    Effect.gen(function*() {
      const { seen, self } = tracked(Effect.void)
      const fiber = yield* Effect.fork(runUntil(self, Effect.never))
      yield* TestClock.adjust(500)
      const interruption = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust(500)
      assert.isNull(interruption.unsafePoll())
      yield* TestClock.adjust(500)
      yield* Fiber.join(interruption)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fiber)))
      assert.deepStrictEqual(seen, ["interrupted", "cleaned up"])
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
