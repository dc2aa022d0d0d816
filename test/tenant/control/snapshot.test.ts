/** Tests of what a snapshot shows of jobs and streams, and how much of it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { emptyState, type Job, type StreamEvent } from "../../../src/tenant/api/state.js"
import { timestamp } from "../../../src/tenant/api/timestamp.js"
import { stateViews } from "../../../src/tenant/control/snapshot.js"
import { itControlled, snapshot } from "../support/control.js"

const deliveryMillis = 30_000

const viewOf = (events: ReadonlyArray<StreamEvent>) =>
  stateViews({ ...emptyState, streams: [{ id: "est_1", events }] }, deliveryMillis).streams.items[0]!

const eventsOf = (state: StreamEvent["state"], count: number): ReadonlyArray<StreamEvent> =>
  Array.from({ length: count }, (_, nth) => ({ id: `${state}_${nth}`, state }))

describe("a snapshot", () => {
  itControlled(
    "lists each operation that faults can be for, with its path and its scopes",
    () =>
      Effect.gen(function*() {
        const { operations } = yield* snapshot
        assert.deepInclude(operations, {
          name: "listActionVersions",
          method: "GET",
          path: "/api/v2/actions/actions/:actionId/versions",
          scopes: ["read:actions"]
        })
        assert.deepStrictEqual(operations.slice(-2), [
          { name: "token", method: "POST", path: "/oauth/token", scopes: [] },
          { name: "exportFile", method: "GET", path: "/exports/:job/:file", scopes: [] }
        ])
      })
  )

  it("shows the newest job first, each with the end that it had", () => {
    const job: Job = { id: "", type: "users_export", status: "completed", created_at: timestamp(1000), ended_at: 2000 }
    const shown = {
      type: "users_export",
      createdAt: 1000,
      percentageDone: 0,
      timeLeftSeconds: null,
      connection: null,
      format: null,
      details: null
    }
    const { items, total } = stateViews({
      ...emptyState,
      jobs: [
        { ...job, id: "done" },
        { ...job, id: "failed", status: "failed", status_details: "no space" },
        { ...job, id: "running", status: "processing", percentage_done: 40, time_left_seconds: 3, format: "csv" }
      ]
    }, deliveryMillis).jobs
    assert.deepStrictEqual([items, total], [[
      {
        ...shown,
        id: "running",
        status: "processing",
        percentageDone: 40,
        timeLeftSeconds: 3,
        endedAt: null,
        format: "csv"
      },
      { ...shown, id: "failed", status: "failed", endedAt: 2000, details: "no space" },
      { ...shown, id: "done", status: "completed", percentageDone: 100, endedAt: 2000 }
    ], 3])
  })

  it("shows a hundred events of a stream: failed ones, then queued ones, then delivered ones", () => {
    const { delivered, events: { items, total }, failed, queued } = viewOf([
      ...eventsOf("delivered", 90),
      ...eventsOf("queued", 30),
      ...eventsOf("failed", 20)
    ])
    assert.deepStrictEqual([failed, queued, delivered, total], [20, 30, 90, 140])
    assert.deepStrictEqual(
      items.map(({ id }) => id),
      [...eventsOf("failed", 20), ...eventsOf("queued", 30), ...eventsOf("delivered", 50)].map(({ id }) => id)
    )
  })

  it("shows the newest twenty attempts of an event", () => {
    const attempts = Array.from({ length: 25 }, (_, nth) => ({ timestamp: timestamp(nth), error_message: `${nth}` }))
    const { items: [event] } = viewOf([{ id: "evt_1", state: "failed", attempts, event_type: "user.deleted" }]).events
    assert.deepStrictEqual(event, {
      id: "evt_1",
      type: "user.deleted",
      state: "failed",
      queuedAt: null,
      dueAt: null,
      failsAgain: 0,
      attempts: Array.from({ length: 20 }, (_, nth) => ({ time: nth + 5, error: `${nth + 5}` }))
    })
  })
})
