/** The whole state is saved as JSON, and loaded into the same tenant or another one. */
import type * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import * as Tenant from "../../../src/Tenant.js"
import type { SavedState } from "../../../src/tenant/control/savedState.js"
import {
  action,
  createUsersExport,
  deleteEventStream,
  listActionVersions,
  send,
  stream,
  tokenOf
} from "../support/calls.js"
import { act, control, itControlled, key, loops, snapshot } from "../support/control.js"

const statusOf = (token: string) =>
  Effect.map(send(listActionVersions, { params: { actionId: action.id }, token }), ({ status }) => status)

/** Runs against another tenant. */
const elsewhere = <A, E>(
  run: Effect.Effect<A, E, HttpClient.HttpClient | Tenant.Tenant>,
  options: Tenant.Options = {}
) =>
  Effect.provide(
    run,
    Layer.provideMerge(
      Layer.fresh(Tenant.layerHttpClient),
      Tenant.layerWith({ control: { key: Redacted.make(key) }, ...options })
    )
  )

const job = { id: "a", type: "b", status: "completed", created_at: "2026-01-01" }

const brokenEvents: ReadonlyArray<readonly [fields: object, field: string]> = [
  [{ attempts: {} }, "attempts"],
  [{ attempts: [{ timestamp: "no" }] }, "attempts[0].timestamp"],
  [{ queued_at: -1e300 }, "queued_at"],
  [{ failsAgain: "x" }, "failsAgain"],
  [{ event_type: 1 }, "event_type"]
]

/** Items that the tenant could not work with, and their bad field. */
const brokenItems: ReadonlyArray<readonly [list: string, item: object, field: string]> = [
  ["jobs", { ...job, links: "x" }, "links"],
  ["jobs", { ...job, links: [{ signature: "x" }] }, "links[0].expires_at"],
  ["jobs", { ...job, ended_at: "x" }, "ended_at"],
  ["jobs", { ...job, fields: {} }, "fields"],
  ["jobs", { ...job, percentage_done: "x" }, "percentage_done"],
  ["actions", { id: "a", versions: [], deployments: {} }, "deployments"],
  [
    "actions",
    { id: "a", versions: [], deployments: [{ version_id: "a", started_at: -1e300 }] },
    "deployments[0].started_at"
  ],
  ["actions", { id: "a", versions: [], supported_triggers: "x" }, "supported_triggers"],
  ...brokenEvents.map(([fields, field]) =>
    ["streams", { id: "a", events: [{ id: "b", state: "queued", ...fields }] }, `events[0].${field}`] as const
  ),
  ["users", { user_id: "a", identities: "x" }, "identities"]
]

describe("a saved state", () => {
  itControlled("is plain JSON that brings everything back", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* send(createUsersExport, { body: {}, token })
      yield* send(deleteEventStream, { params: { id: stream.id }, token })
      yield* act("addFault", "POST", "/faults", {
        status: 418,
        times: 3,
        delay: 5,
        headers: { "x-a": "b", date: null }
      })
      yield* act("setBucket", "POST", "/buckets/tenant", { left: 7.5 })
      yield* act("moveClock", "POST", "/clock", { forward: 1000 })
      const saved = yield* act("save", "GET", "/save?secrets=include")
      const [state, before] = [yield* tenant.state, yield* snapshot]
      assert.deepStrictEqual(JSON.parse(JSON.stringify(saved)), saved)
      assert.deepStrictEqual(saved.faults, [{ status: 418, times: 3, delay: 5, headers: { "x-a": "b", date: null } }])
      yield* act("reset", "POST", "/reset")
      yield* act("revokeTokens", "POST", "/tokens/revoke")
      assert.strictEqual(yield* statusOf(token), 401)
      yield* act("load", "POST", "/load", saved)
      const after = yield* snapshot
      assert.deepStrictEqual(yield* tenant.state, state)
      for (const name of ["tokens", "jobs", "streams", "counts", "clockOffset", "time"] as const) {
        assert.deepStrictEqual(after[name], before[name], name)
      }
      assert.deepInclude(after.faults[0], { status: 418, left: 3, delay: 5 })
      assert.deepStrictEqual(after.buckets.map(({ left }) => left), before.buckets.map(({ left }) => left))
      yield* act("removeFaults", "DELETE", "/faults")
      assert.strictEqual(yield* statusOf(token), 200)
    }))

  itControlled("makes tokens valid in another tenant only if it has the signing key", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      const [without, withSecrets] = [
        yield* act("save", "GET", "/save"),
        yield* act("save", "GET", "/save?secrets=include")
      ]
      const loadAndTry = (saved: SavedState) =>
        elsewhere(Effect.zipRight(act("load", "POST", "/load", saved), statusOf(token)))
      assert.deepStrictEqual([yield* loadAndTry(without), yield* loadAndTry(withSecrets)], [401, 200])
      const otherClients = { clients: [Tenant.demoClients.readsActions] }
      const others = yield* elsewhere(
        Effect.zipRight(act("load", "POST", "/load", withSecrets), snapshot),
        otherClients
      )
      assert.strictEqual(others.tokens.total, 0)
    }))

  itControlled("keeps the users that a function makes, and takes others from the file", () =>
    Effect.gen(function*() {
      const saved = yield* act("save", "GET", "/save")
      assert.isFalse("users" in saved.state)
      const tenant = yield* Tenant.Tenant
      assert.deepStrictEqual(yield* act("load", "POST", "/load", saved), { changed: 1 })
      assert.isFunction((yield* tenant.state).users)
      assert.isNull((yield* snapshot).counts.users)
      const withUsers = { ...saved, state: { ...saved.state, users: [{ user_id: "a", more: 1 }, { user_id: "b" }] } }
      assert.deepStrictEqual(yield* act("load", "POST", "/load", withUsers), { changed: 3 })
      assert.deepStrictEqual((yield* tenant.state).users, [{ user_id: "a", more: 1 }, { user_id: "b" }])
    }), { seed: { users: Tenant.makeUsers(3), connections: [{ id: "con_1", name: "people" }] } })

  itControlled(
    "that is not one is refused by the field's name, and nothing of it is loaded",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const [saved, state] = [yield* act("save", "GET", "/save"), yield* tenant.state]
        const broken: ReadonlyArray<readonly [object, string]> = [
          [{ ...saved, version: 2 }, "version"],
          [{ ...saved, clockOffset: -1 }, "clockOffset"],
          [{ ...saved, clockOffset: 1e300 }, "clockOffset"],
          ...brokenItems.map(([list, item, field]) =>
            [{ ...saved, state: { ...saved.state, [list]: [item] } }, `state.${list}[0].${field}`] as const
          ),
          [{ ...saved, more: 1 }, "more"],
          [{ ...saved, buckets: { tenant: 1 } }, "buckets.profileUpdates"],
          [{ ...saved, tokens: [{ id: "x" }] }, "tokens[0].client"],
          [{ ...saved, faults: [{ status: 1 }] }, "faults[0].status"],
          [
            { ...saved, state: { ...saved.state, jobs: [{ id: "a", type: "b", status: "c", created_at: "no" }] } },
            "state.jobs[0].created_at"
          ],
          [
            { ...saved, state: { ...saved.state, streams: [{ id: "a", events: [{ id: "b", state: "x" }] }] } },
            "state.streams[0].events[0].state"
          ],
          [{ ...saved, state: { ...saved.state, actions: [{ id: "a" }] } }, "state.actions[0].versions"]
        ]
        for (const [body, field] of broken) {
          const { json, status } = yield* control("POST", "/load", { body })
          assert.deepStrictEqual([status, json.field], [400, field])
          if (/created_at|timestamp/.test(field)) {
            assert.strictEqual(json.message, `${field}: Expected a date and time`)
          }
        }
        assert.deepStrictEqual(yield* tenant.state, state)
      })
  )

  itControlled("can be loaded, whatever numbers the program has set", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      yield* tenant.injectFault({ status: 500, times: Infinity, delay: Infinity, operation: "nothing" })
      yield* tenant.injectFault({ status: 500, times: 1.5, operation: "nothing" })
      const { faults } = yield* snapshot
      assert.deepStrictEqual(faults.map(({ delay, left, times }) => [times, left, delay]), [
        [1_000_000, 1_000_000, 3_600_000],
        [2, 2, 0]
      ])
      yield* act("load", "POST", "/load", yield* act("save", "GET", "/save"))
      assert.deepStrictEqual((yield* snapshot).faults.map(({ left }) => left), [1_000_000, 2])
    }), { durations: { export: Infinity } })

  itControlled("brings back deliveries that fail forever, and jobs without a limit", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const failing = { id: "evt_1", state: "failed", failsAgain: Infinity } as const
      const waiting = { id: "evt_2", state: "queued", queued_at: Infinity } as const
      yield* tenant.seed({
        jobs: [{ ...job, limit: Infinity, ended_at: Infinity }],
        streams: [{ id: "est_1", events: [failing, waiting] }]
      })
      const before = yield* tenant.state
      yield* act("load", "POST", "/load", yield* act("save", "GET", "/save"))
      assert.deepStrictEqual(yield* tenant.state, before)
      const { events } = (yield* snapshot).streams.items[0]!
      assert.deepStrictEqual(events.items.map(({ failsAgain }) => failsAgain), [1_000_000, 0])
    }), { seed: {} })

  itControlled("with a signing key that is none is refused", () =>
    Effect.gen(function*() {
      const saved = yield* act("save", "GET", "/save")
      for (const signingKey of [{ kty: "RSA" }, { kty: "oct", k: 1 }, { kty: "oct", k: "c2hvcnQ" }]) {
        const { json, status } = yield* control("POST", "/load", { body: { ...saved, signingKey } })
        assert.strictEqual(status, 400)
        assert.match(json.field, /^signingKey\b/)
      }
    }))

  itControlled(
    "with a signing key that cannot be read is refused before anything is changed",
    () =>
      Effect.gen(function*() {
        const saved = yield* act("save", "GET", "/save?secrets=include")
        const before = yield* snapshot
        const { json, status } = yield* control("POST", "/load", {
          body: {
            ...saved,
            clockOffset: 1000,
            state: { ...saved.state, profiles: [] },
            signingKey: { ...saved.signingKey, k: "a".repeat(45) }
          }
        })
        assert.deepStrictEqual([status, json], [400, {
          status: 400,
          field: "signingKey.k",
          message: "signingKey.k: Expected a key of at least 256 bits in base64url"
        }])
        assert.deepStrictEqual(yield* snapshot, before)
      })
  )

  itControlled("is loaded as a whole or not at all if the program hangs up", () =>
    Effect.gen(function*() {
      const saved = yield* act("save", "GET", "/save?secrets=include")
      const loaded = { ...saved, clockOffset: 1000, faults: [{ status: 500, operation: "nothing" }] }
      const whole = new Set<number>()
      const step = Effect.promise(() => Promise.resolve())
      const few = Array.from({ length: 30 }, (_, nth) => Effect.repeatN(step, nth))
      const many = Array.from({ length: 20 }, (_, nth) => Effect.repeatN(loops, nth))
      for (const [nth, wait] of [...few, ...many].entries()) {
        yield* act("reset", "POST", "/reset")
        const running = yield* Effect.fork(act("load", "POST", "/load", loaded))
        yield* wait
        yield* Fiber.interrupt(running)
        yield* Effect.repeatN(loops, 5)
        const { clockOffset, faults } = yield* snapshot
        assert.strictEqual(faults.length, clockOffset / 1000, `wait ${nth}`)
        whole.add(faults.length)
      }
      assert.deepStrictEqual([...whole].toSorted(), [0, 1])
    }))

  itControlled("goes on from the time at which it was saved", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      yield* send(createUsersExport, { body: {}, token })
      const saved = yield* act("save", "GET", "/save")
      yield* TestClock.adjust("2 seconds")
      yield* act("load", "POST", "/load", saved)
      assert.strictEqual((yield* snapshot).jobs.items[0]?.status, "completed")
    }))
})
