/** Tests of what is removed with a job: what the engine has stored about each execution that the job may have had. */
import { MessageStorage } from "@effect/cluster/MessageStorage"
import { Sharding } from "@effect/cluster/Sharding"
import { assert, describe, it } from "@effect/vitest"
import { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import { Effect } from "effect"
import { JobWorkflow, makeClear } from "../../src/cluster/execution.js"
import { allLines } from "../support/telemetry.js"

/** What the engine knows of an execution: nothing, that it goes on later, or that it has ended. */
const unknown = Effect.succeed(undefined)
const suspended = Effect.succeed({ _tag: "Suspended" })
const completed = Effect.succeed({ _tag: "Complete" })

const lost = { _tag: "PersistenceError", cause: new Error("no connection") }

/** The id of a shard, with the marks by which Effect 3 and Effect 4 know one. */
const shardId = {
  group: "default",
  id: 7,
  [Symbol.for("effect/Schema/Class/@effect/cluster/ShardId")]: true,
  "~effect/cluster/ShardId": true
}

interface Address {
  readonly shardId: unknown
  readonly entityType: string
  readonly entityId: string
}

interface Engine {
  /** The number of times that the job was resumed. */
  readonly resumed?: number
  /** What it knows of the executions, in turn. */
  readonly known?: ReadonlyArray<Effect.Effect<unknown, object>>
  readonly clearAddress?: Effect.Effect<void, object>
}

/** Clears the executions of a job, and gives the addresses, and the groups in which their shards were looked up. */
const clearing = ({ clearAddress = Effect.void, known = [], resumed = 0 }: Engine) =>
  Effect.gen(function*() {
    const addresses: Array<Address> = []
    const groups: Array<string> = []
    let looks = 0
    const clear = yield* makeClear.pipe(
      // Nothing else of these services is called.
      Effect.provideService(
        WorkflowEngine,
        { poll: () => Effect.suspend(() => known[looks++] ?? unknown) } as never
      ),
      Effect.provideService(
        Sharding,
        { getShardId: (_: string, group: string) => (groups.push(group), shardId) } as never
      ),
      Effect.provideService(
        MessageStorage,
        {
          clearAddress: (address: Address) =>
            Effect.suspend(() => {
              addresses.push(address)
              return clearAddress
            })
        } as never
      )
    )
    const { lines, value } = yield* allLines(clear({ id: "a", submittedAt: 1000, resumed }))
    assert.isUndefined(value)
    return { addresses, groups, lines: lines.filter((line) => line.startsWith("messages of")) }
  })

describe("the removal of a job", () => {
  it.effect.each<readonly [string, Engine, ReadonlyArray<string>]>([
    ["clears an execution that may be going on", {}, ["1000-0"]],
    ["clears one that goes on later", { known: [suspended] }, ["1000-0"]],
    ["clears one for each run", { resumed: 2 }, ["1000-0", "1000-1", "1000-2"]],
    ["clears each one that follows another, also one that has failed", {
      resumed: 1,
      known: [completed, Effect.die("broken"), unknown, completed, unknown]
    }, ["1000-0", "1000-0-1", "1000-0-2", "1000-1", "1000-1-1"]]
  ])("%s", ([, engine, runs]) =>
    Effect.gen(function*() {
      const { addresses, groups, lines } = yield* clearing(engine)
      const ids = yield* Effect.forEach(runs, (run) => JobWorkflow.executionId({ id: "a", run }))
      assert.deepStrictEqual(
        addresses.map(({ entityId, entityType, shardId }) => ({ entityId: String(entityId), entityType, shardId })),
        ids.map((id) => ({ entityId: id, entityType: "Workflow/effect-identity-client-job", shardId }))
      )
      assert.deepStrictEqual(groups, runs.map(() => "default"))
      assert.deepStrictEqual(lines, [])
    }))

  it.effect("clears no more than hundred executions that follow the first one of a run", () =>
    Effect.gen(function*() {
      const { addresses } = yield* clearing({ known: Array.from({ length: 200 }, () => completed) })
      assert.lengthOf(new Set(addresses.map(({ entityId }) => entityId)), 101)
      assert.lengthOf(addresses, 101)
    }))

  it.effect.each<readonly [string, Engine, number]>([
    ["removed", { clearAddress: Effect.fail(lost) }, 1],
    ["removed, as a defect", { clearAddress: Effect.die(lost) }, 1],
    ["read", { known: [Effect.die(lost)] }, 0]
  ])("logs that messages are left if they cannot be %s", ([, engine, tried]) =>
    Effect.gen(function*() {
      const { addresses, lines } = yield* clearing({ resumed: 2, ...engine })
      assert.lengthOf(addresses, tried)
      assert.deepStrictEqual(lines, [
        "messages of the job a, which was removed, are left: the cluster's storage cannot be used: no connection"
      ])
    }))
})
