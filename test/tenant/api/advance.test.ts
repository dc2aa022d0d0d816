/** Tests of what the tenant's state becomes with the time. */
import { assert, describe, it } from "@effect/vitest"
import * as Advance from "../../../src/tenant/api/advance.js"
import { type Action, emptyState, type Job, type StreamEvent } from "../../../src/tenant/api/state.js"

const advance = Advance.make({ delivery: "30 seconds", export: "2 seconds", deployment: "2 seconds" })

describe("with the time, an event", () => {
  const attempts = ["24", "25", "27", "31"].map((second) => ({
    status: "failed" as const,
    timestamp: `1970-01-01T00:00:${second}.000Z`,
    duration: 20.25,
    error_message: "The destination has refused the event"
  }))

  const rows: ReadonlyArray<readonly [title: string, event: StreamEvent, later: StreamEvent]> = [
    ["is delivered", { id: "1", state: "queued", queued_at: 1000 }, { id: "1", state: "delivered" }],
    [
      "fails for the first time",
      { id: "1", state: "queued", queued_at: 1000, failsAgain: 2 },
      { id: "1", state: "failed", attempts, failsAgain: 1 }
    ],
    [
      "stays failed, although it has been queued before",
      { id: "1", state: "failed", queued_at: 1000 },
      { id: "1", state: "failed", queued_at: 1000 }
    ],
    ["stays queued, if nobody knows since when", { id: "1", state: "queued" }, { id: "1", state: "queued" }]
  ]

  for (const [title, event, later] of rows) {
    it(title, () => {
      const { streams } = advance({ ...emptyState, streams: [{ id: "est", events: [event] }] }, 31_000)
      assert.deepStrictEqual(streams, [{ id: "est", events: [later] }])
    })
  }
})

describe("with the time, a job", () => {
  const job = { id: "job_1", type: "users_export", created_at: "1970-01-01T00:00:01.000Z" }

  const rows: ReadonlyArray<readonly [title: string, job: Job, now: number, later: Job]> = [
    [
      "stays completed, even before its time",
      { ...job, status: "completed" },
      1000,
      { ...job, status: "completed", ended_at: 3000 }
    ],
    [
      "keeps the time of its end",
      { ...job, status: "completed", ended_at: 2000 },
      9000,
      { ...job, status: "completed", ended_at: 2000 }
    ],
    [
      "loses its progress when it fails",
      { ...job, status: "processing", percentage_done: 50, time_left_seconds: 1, failure: "no" },
      3000,
      { ...job, status: "failed", failure: "no", status_details: "no", ended_at: 3000 }
    ]
  ]

  for (const [title, job, now, later] of rows) {
    it(title, () => assert.deepStrictEqual(advance({ ...emptyState, jobs: [job] }, now).jobs, [later]))
  }
})

describe("with the time, an action", () => {
  it("has the version deployed that is due, and no longer the one before", () => {
    const action: Action = {
      id: "1",
      versions: [{ id: "v4" }, { id: "v3" }, { id: "v2", deployed: true }, { id: "v1" }],
      deployments: [{ version_id: "v3", started_at: 1000 }, { version_id: "v4", started_at: 1001 }]
    }
    const at = "1970-01-01T00:00:03.000000000Z"
    const { actions } = advance({ ...emptyState, actions: [action] }, 3000)
    assert.deepStrictEqual(actions, [{
      id: "1",
      versions: [
        { id: "v4" },
        { id: "v3", status: "built", deployed: true, built_at: at, updated_at: at },
        { id: "v2", deployed: false },
        { id: "v1" }
      ],
      deployments: [{ version_id: "v4", started_at: 1001 }]
    }])
  })
})
