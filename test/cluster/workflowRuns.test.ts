/** Tests of the runs of jobs on one runner of a cluster: how many there are, and when they stop by themselves. */
import { Sharding } from "@effect/cluster/Sharding"
import { assert, it } from "@effect/vitest"
import { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import { Context, Effect, Exit, Fiber, Layer, Option, Scope, TestClock } from "effect"
import { layerWorkflow, RunningJobs, Store } from "../../src/cluster/workflow.js"
import { keepNothing, make } from "../../src/jobs/memoryStore.js"
import { Tenants } from "../../src/jobs/tenants.js"
import { newJob, seen } from "../support/jobStores.js"

/** A runner with jobs `a` and `b` that wait for their client, an engine that lets a test execute them, and the scope of the runner. */
const setUp = Effect.gen(function*() {
  const store = yield* Effect.flatMap(keepNothing, make)
  for (const id of ["a", "b"]) {
    yield* store.create(newJob(id))
    yield* store.update(seen(id), ["loading"], { state: "waiting", isLoaded: true })
  }
  const scope = yield* Scope.make()
  const moved = new Set<string>()
  const executions: Array<(payload: { readonly id: string }, executionId: string) => Effect.Effect<void>> = []
  const context = yield* Layer.build(layerWorkflow({ pollInterval: "1 second" })).pipe(
    Scope.extend(scope),
    Effect.provideService(Store, store),
    Effect.provideService(Tenants, { client: () => Effect.never }),
    Effect.provideService(
      WorkflowEngine,
      {
        register: (_: unknown, execute: (typeof executions)[number]) => Effect.sync(() => void executions.push(execute))
      } as never // nothing else is called
    ),
    Effect.provideService(
      Sharding,
      {
        getShardId: (entityId: string, group: string) => `${group} ${entityId}`,
        hasShardId: (shard: string) => !moved.has(shard)
      } as never // nothing else is called
    )
  )
  const execute = (id: string) =>
    Effect.forkDaemon(
      Effect.exit(Effect.flatMap(Effect.fromNullable(executions[0]), (run) => run({ id }, `run of ${id}`)))
    )
  const close = Effect.fork(Scope.close(scope, Exit.void))
  return { close, count: Context.get(context, RunningJobs).count, execute, moved, store }
})

const hasEnded = <A, E>(fiber: Fiber.Fiber<A, E>) => Effect.map(Fiber.poll(fiber), Option.isSome)

it.effect("the runs of a runner are counted", () =>
  Effect.gen(function*() {
    const { count, execute, moved } = yield* setUp
    assert.strictEqual(yield* count, 0)
    yield* execute("a")
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* count, 1)
    yield* execute("b")
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* count, 2)
    moved.add("default run of a")
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* count, 1)
  }))

it.effect("a run stops within 200 ms of the move of its shard, and leaves its job running", () =>
  Effect.gen(function*() {
    const { execute, moved, store } = yield* setUp
    const run = yield* execute("a")
    yield* TestClock.adjust("5 seconds")
    assert.isFalse(yield* hasEnded(run))
    moved.add("default run of b")
    yield* TestClock.adjust("200 millis")
    assert.isFalse(yield* hasEnded(run))
    moved.add("default run of a")
    yield* TestClock.adjust("200 millis")
    assert.isTrue(yield* hasEnded(run))
    assert.isTrue(Exit.isInterrupted(yield* Fiber.join(run)))
    assert.deepInclude(Option.getOrThrow(yield* store.get("a")), { state: "running" })
  }))

it.effect("the end of a job ends its run, which is not interrupted", () =>
  Effect.gen(function*() {
    const { count, execute, store } = yield* setUp
    const run = yield* execute("a")
    yield* TestClock.adjust("1 second")
    yield* store.update(seen("a"), ["running"], { state: "cancelled", endedAt: 0 })
    yield* TestClock.adjust("2 seconds")
    assert.isTrue(yield* hasEnded(run))
    assert.isTrue(Exit.isSuccess(yield* Fiber.join(run)))
    assert.strictEqual(yield* count, 0)
  }))

it.effect("a runner that shuts down stops its runs, and waits for the last of them", () =>
  Effect.gen(function*() {
    const { close, execute } = yield* setUp
    const first = yield* execute("a")
    yield* TestClock.adjust("100 millis")
    const last = yield* execute("b")
    yield* TestClock.adjust("950 millis") // they look at 1100 and 1200 ms
    const closing = yield* close
    const ended = Effect.all([hasEnded(first), hasEnded(last), hasEnded(closing)])
    assert.deepStrictEqual(yield* ended, [false, false, false])
    yield* TestClock.adjust("100 millis")
    assert.deepStrictEqual(yield* ended, [false, true, false])
    yield* TestClock.adjust("100 millis")
    assert.deepStrictEqual(yield* ended, [true, true, true])
  }))

it.effect("a runner without runs shuts down at once", () =>
  Effect.gen(function*() {
    const { close, execute, moved } = yield* setUp
    yield* execute("a")
    moved.add("default run of a")
    yield* TestClock.adjust("1 second")
    const closing = yield* close
    yield* TestClock.adjust("1 millis")
    assert.isTrue(yield* hasEnded(closing))
    const { close: closeOther } = yield* setUp
    const other = yield* closeOther
    yield* TestClock.adjust("1 millis")
    assert.isTrue(yield* hasEnded(other))
  }))
