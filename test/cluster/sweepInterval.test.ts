/** Tests of the times at which a cluster looks after its jobs: by a singleton, every 30 s, also after a failure. */
import { Sharding } from "@effect/cluster/Sharding"
import { assert, it } from "@effect/vitest"
import { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import { Effect, Fiber, Layer, TestClock } from "effect"
import { layerSweep, Store } from "../../src/cluster/workflow.js"
import { keepNothing, make } from "../../src/jobs/memoryStore.js"
import { JobStoreError } from "../../src/jobs/model.js"
import { allLines } from "../support/telemetry.js"

it.scoped("the singleton of a cluster removes old jobs every 30 s, also after a failure", () =>
  Effect.gen(function*() {
    const store = yield* Effect.flatMap(keepNothing, make)
    const removals: Array<number> = []
    const singletons: Array<{ readonly name: string; readonly run: Effect.Effect<void> }> = []
    yield* Layer.build(layerSweep("1 hour")).pipe(
      Effect.provideService(Store, {
        ...store,
        prune: (before) =>
          Effect.suspend(() =>
            removals.push(before) === 2
              ? Effect.fail(new JobStoreError({ message: "the disk is broken" }))
              : Effect.succeed(0)
          )
      }),
      Effect.provideService(WorkflowEngine, {} as never), // there is no job that would be started
      Effect.provideService(
        Sharding,
        {
          registerSingleton: (name: string, run: Effect.Effect<void>) =>
            Effect.sync(() => void singletons.push({ name, run }))
        } as never // nothing else is called
      )
    )
    assert.deepStrictEqual(singletons.map(({ name }) => name), ["effect-identity-client-sweep"])
    const { lines } = yield* allLines(Effect.gen(function*() {
      const fiber = yield* Effect.fork(singletons[0]?.run ?? Effect.dieMessage("nothing runs"))
      yield* TestClock.adjust("29999 millis")
      assert.deepStrictEqual(removals, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(removals, [30_000 - 3_600_000])
      yield* TestClock.adjust("1 minute")
      yield* Fiber.interrupt(fiber)
    }))
    assert.deepStrictEqual(removals, [-3_570_000, -3_540_000, -3_510_000])
    assert.deepStrictEqual(lines.filter((line) => line.startsWith("could not")), [
      "could not look after the jobs: the disk is broken"
    ])
  }))
