/** A run that is interrupted while its fiber gives way ends, wherever that is. */
import { Effect, Exit, Fiber, Option } from "effect"
import { assert, describe, it } from "vitest"
import { runUntil } from "../../src/internal/runtime/fiber.js"
import { keepNothing, make } from "../../src/jobs/memoryStore.js"
import { makeRunner } from "../../src/jobs/runner.js"
import { effectMajor } from "../support/effectMajor.js"
import { makeYielding, runLater } from "../support/schedulers.js"

/** Begins later, when the fiber is known to its scheduler. */
const later = Effect.promise(() => Promise.resolve())

/** Runs an effect that gives way at its nth operation, and is interrupted then. Tells whether it has come so far, and how it ended. */
const interruptedAt = async <A, E>(nth: number, effect: Effect.Effect<A, E>) => {
  let count = 0
  const running: { fiber?: Fiber.RuntimeFiber<unknown, unknown> } = {}
  const scheduler = makeYielding((current) => {
    if (current !== running.fiber || ++count !== nth) return false
    // By another task, before this fiber goes on.
    runLater(() => current.unsafeInterruptAsFork(current.id()))
    return true
  })
  const fiber = Effect.runFork(Effect.zipRight(later, effect), { scheduler })
  running.fiber = fiber
  const exit = await Effect.runPromise(Effect.timeoutOption(Fiber.await(fiber), "20 millis"))
  return { isReached: count >= nth, isInterrupted: Option.exists(exit, Exit.isInterrupted) }
}

/** Returns the number of operations until an effect waits, and those of them at which it does not end if it is interrupted. */
const tryAll = async <A, E>(effect: Effect.Effect<A, E>) => {
  const hanging: Array<number> = []
  for (let nth = 1;; nth++) {
    const { isInterrupted, isReached } = await interruptedAt(nth, effect)
    if (!isReached) return { operations: nth - 1, hanging }
    if (!isInterrupted) hanging.push(nth)
  }
}

describe("an effect that runs until another one ends", () => {
  it("ends when it is interrupted at any operation", async () => {
    const { hanging, operations } = await tryAll(runUntil(Effect.never, Effect.never))
    assert.isAbove(operations, 3)
    assert.deepStrictEqual(hanging, [])
  })

  it.skipIf(effectMajor > 3)(
    "differs from `Effect.raceFirst`, which waits for fibers that it has not started",
    async () => {
      assert.lengthOf((await tryAll(Effect.raceFirst(Effect.never, Effect.never))).hanging, 1)
    }
  )
})

describe("a runner", () => {
  it("ends when it is interrupted at any operation", async () => {
    const store = await Effect.runPromise(Effect.flatMap(keepNothing, make))
    const { job } = await Effect.runPromise(
      store.create({ id: "j", kind: "export", tenant: "acme", key: "k", definition: "{}", submittedAt: 1 })
    )
    await Effect.runPromise(store.update(job, ["loading"], { state: "running", isLoaded: true }))
    const run = makeRunner({ store, tenants: { client: () => Effect.never } })
    const { hanging, operations } = await tryAll(run("j"))
    assert.isAbove(operations, 10)
    assert.deepStrictEqual(hanging, [])
  })
})
