/** Tests of seeding the tenant's state. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Tenant from "../../../src/Tenant.js"
import { action, connection, itInProcess, profile } from "../support/calls.js"

const { demo } = Tenant

describe("seeds", () => {
  itInProcess("add items at any time, and replace those with the same id", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      assert.deepStrictEqual(yield* tenant.state, { connections: [], jobs: [], profiles: [], actions: [], streams: [] })
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
        streams: [demo.streams[1]]
      })
    }), { seed: {} })
})
