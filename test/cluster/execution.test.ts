/** Tests of the executions of jobs: which one is begun, when another follows, and what failures of the engine's storage become. */
import { assert, describe, it } from "@effect/vitest"
import { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import { Cause, Effect, Exit, Option } from "effect"
import { makeStart } from "../../src/cluster/execution.js"
import { JobStoreError } from "../../src/jobs/model.js"
import type { JobRecord, JobStore } from "../../src/jobs/store.js"
import { newJob } from "../support/jobStores.js"

const job: JobRecord = { ...newJob("a"), state: "waiting", isLoaded: true, resumed: 0 }

/** What the engine knows of an execution: nothing, that it goes on later, or that it has ended. */
const unknown = Effect.succeed(undefined)
const suspended = Effect.succeed({ _tag: "Suspended" })
const completed = Effect.succeed({ _tag: "Complete" })

const broken = (cause?: unknown) => Effect.die({ _tag: "PersistenceError", ...(cause !== undefined && { cause }) })

interface Engine {
  /** What it knows of the executions, in turn. */
  readonly known?: ReadonlyArray<Effect.Effect<unknown>>
  readonly execute?: Effect.Effect<unknown>
  readonly get?: JobStore["get"]
}

interface Execution {
  readonly executionId: string
  readonly payload: object
  readonly discard?: boolean
}

/** Starts jobs one after the other, and gives the executions that were begun, and how the last start ended. */
const starting = (
  jobs: ReadonlyArray<JobRecord>,
  { execute = Effect.void, get = () => Effect.succeedSome(job), known = [] }: Engine = {}
) =>
  Effect.gen(function*() {
    const executions: Array<Execution> = []
    let looks = 0
    const start = yield* Effect.provideService(
      makeStart({ get }),
      WorkflowEngine,
      {
        poll: () => Effect.suspend(() => known[looks++] ?? unknown),
        execute: (_: unknown, execution: Execution) =>
          Effect.suspend(() => {
            executions.push(execution)
            return execute
          })
      } as never // nothing else is called
    )
    const exit = yield* Effect.exit(Effect.forEach(jobs, start, { discard: true }))
    const end = Exit.match(exit, {
      onSuccess: () => "started",
      onFailure: (cause) =>
        Option.match(Cause.failureOption(cause), {
          onNone: () => "defect",
          onSome: ({ message }) => message
        })
    })
    return { end, executions, looks }
  })

/** Executions of the job for these runs: the starter does not wait for their ends. */
const begun = (runs: ReadonlyArray<string>) => runs.map((run) => ({ payload: { id: "a", run }, discard: true }))

const found = (change: Partial<JobRecord>) => () => Effect.succeedSome({ ...job, ...change })

describe("the start of a job", () => {
  it.effect.each<readonly [string, Engine, string, ReadonlyArray<string>]>([
    ["begins an execution that the engine does not know", {}, "started", ["1000-0"]],
    ["begins one that goes on later", { known: [suspended] }, "started", ["1000-0"]],
    ["begins the second one after the end of the first", { known: [completed] }, "started", ["1000-0-1"]],
    [
      "begins the third one after the ends of two",
      {
        known: [completed, completed],
        get: found({ state: "running" })
      },
      "started",
      ["1000-0-2"]
    ],
    ["takes one that has failed with a defect as ended", { known: [Effect.die("broken")] }, "started", ["1000-0-1"]],
    ...(["loading", "done", "failed", "cancelled"] as const).map((state) =>
      [
        `begins no other one of a job that is ${state}`,
        { known: [completed], get: found({ state }) },
        "started",
        []
      ] as const
    ),
    [
      "begins no other one of a job that was removed",
      {
        known: [completed],
        get: () => Effect.succeedNone
      },
      "started",
      []
    ],
    [
      "begins no other one of a job that was resumed",
      { known: [completed], get: found({ resumed: 1 }) },
      "started",
      []
    ],
    [
      "begins no other one of a job that was submitted anew",
      {
        known: [completed],
        get: found({ submittedAt: 1001 })
      },
      "started",
      []
    ],
    [
      "fails if the job cannot be read",
      {
        known: [completed],
        get: () => Effect.fail(new JobStoreError({ message: "no database" }))
      },
      "no database",
      []
    ],
    [
      "fails if the engine cannot read",
      { known: [broken(new Error("no connection"))] },
      "the cluster's storage cannot be used: no connection",
      []
    ],
    [
      "fails if the engine cannot read, without a reason",
      { known: [broken({})] },
      "the cluster's storage cannot be used: unknown failure",
      []
    ],
    [
      "fails if the engine cannot write",
      { execute: broken(new Error("no connection")) },
      "the cluster's storage cannot be used: no connection",
      ["1000-0"]
    ],
    [
      "fails if the engine cannot write, without a cause",
      { execute: broken() },
      "the cluster's storage cannot be used: unknown failure",
      ["1000-0"]
    ],
    ["does not hide other defects", { execute: Effect.die(new TypeError("broken")) }, "defect", ["1000-0"]]
  ])("%s", ([, engine, end, runs]) =>
    Effect.gen(function*() {
      const result = yield* starting([job], engine)
      assert.strictEqual(result.end, end)
      assert.deepStrictEqual(
        result.executions.map(({ discard, payload }) => ({ payload: { ...payload }, discard })),
        begun(runs)
      )
    }))

  it.effect("gives up after the hundredth execution that follows the first", () =>
    Effect.gen(function*() {
      const { end, executions, looks } = yield* starting([job], { known: Array.from({ length: 200 }, () => completed) })
      assert.strictEqual(end, "the job a does not end, however often it is executed")
      assert.lengthOf(executions, 0)
      assert.strictEqual(looks, 101)
    }))

  it.effect("begins one execution for each run of each job", () =>
    Effect.gen(function*() {
      const { executions } = yield* starting([
        job,
        { ...job, state: "running" },
        { ...job, id: "b" },
        { ...job, resumed: 1 },
        { ...job, submittedAt: 1001 }
      ])
      const ids = executions.map(({ executionId }) => executionId)
      assert.strictEqual(ids[0], ids[1])
      assert.lengthOf(new Set(ids), 4)
      const { executions: [next] } = yield* starting([job], { known: [completed] })
      assert.notInclude(ids, next?.executionId)
    }))
})
