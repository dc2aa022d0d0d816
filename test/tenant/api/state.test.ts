/** Tests of seeding the tenant's state. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as Tenant from "../../../src/Tenant.js"
import { failedRound, refused } from "../../../src/tenant/api/attempts.js"
import { action, connection, itInProcess, profile } from "../support/calls.js"

const { demo } = Tenant

describe("seeds", () => {
  itInProcess("add items at any time, and replace those with the same id", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      assert.deepStrictEqual(yield* tenant.state, {
        connections: [],
        jobs: [],
        profiles: [],
        actions: [],
        streams: [],
        users: []
      })
      yield* tenant.seed({ connections: [connection], profiles: [profile] })
      yield* tenant.seed({
        connections: [{ ...connection, name: "other" }],
        actions: [action],
        streams: [demo.streams[1]]
      })
      assert.deepStrictEqual(yield* tenant.state, {
        connections: [{ ...connection, name: "other" }],
        jobs: [],
        profiles: [profile],
        actions: [action],
        streams: [demo.streams[1]],
        users: []
      })
    }), { seed: {} })

  itInProcess("add users to a list, and replace a function that makes them", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const users = Effect.map(tenant.state, ({ users }) => users)
      yield* tenant.seed({ users: [{ user_id: "1" }, { user_id: "2" }] })
      yield* tenant.seed({ users: [{ user_id: "2", name: "two" }, { user_id: "3" }] })
      assert.deepStrictEqual(yield* users, [{ user_id: "1" }, { user_id: "2", name: "two" }, { user_id: "3" }])
      const made = Tenant.makeUsers(3)
      yield* tenant.seed({ users: made })
      assert.strictEqual(yield* users, made)
      yield* tenant.seed({})
      assert.strictEqual(yield* users, made)
      yield* tenant.seed({ users: [{ user_id: "4" }] })
      assert.deepStrictEqual(yield* users, [{ user_id: "4" }])
    }), { seed: {} })

  itInProcess("have defaults for the times of failed and queued events", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      yield* TestClock.setTime(5000)
      const id = "est_0000000000000000000001"
      const [failed, queued, delivered] = [
        { id: "evt_1", state: "failed" },
        { id: "evt_2", state: "queued" },
        { id: "evt_3", state: "delivered" }
      ] as const
      yield* tenant.seed({ streams: [{ id, events: [failed, queued, delivered] }] })
      assert.deepStrictEqual((yield* tenant.state).streams, [{
        id,
        events: [
          { ...failed, attempts: failedRound(5000, { error: refused }) },
          { ...queued, queued_at: 5000 },
          delivered
        ]
      }])
    }), { seed: {} })
})
