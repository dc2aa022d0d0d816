/** Tests of the rows of the tables: which jobs, events, results and numbers they stand for. */
import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { type CountRow, toCounts } from "../../src/cluster/counts.js"
import {
  changeParameters,
  type EventRow,
  type JobRow,
  type ResultRow,
  toEvents,
  toJob,
  toResults
} from "../../src/cluster/jobRows.js"
import { Errors } from "../../src/index.js"
import type { Change, ListedResult } from "../../src/jobs/store.js"
import { entry, newJob } from "../support/jobStores.js"

const { submittedAt, ...job } = newJob("a")

const row: JobRow = {
  ...job,
  state: "loading",
  is_loaded: false,
  resumed: 0,
  export_job: null,
  error: null,
  submitted_at: submittedAt,
  ended_at: null
}

describe("the row of a job", () => {
  it("has no fields that the job has not", () => {
    assert.deepStrictEqual(toJob(row), { ...job, state: "loading", isLoaded: false, resumed: 0, submittedAt })
  })

  it("has all fields of a job that has failed", () => {
    const failed = toJob({
      ...row,
      state: "failed",
      is_loaded: true,
      resumed: 2,
      export_job: "",
      error:
        "{\"tag\":\"NotFound\",\"message\":\"getJob: It is \\u0000 gone.\",\"operation\":\"getJob\",\"retryAfter\":5}",
      ended_at: 0
    })
    assert.deepStrictEqual<unknown>(failed, {
      ...job,
      state: "failed",
      isLoaded: true,
      resumed: 2,
      exportJob: "",
      error: failed.error,
      submittedAt,
      endedAt: 0
    })
    assert.deepStrictEqual({ ...failed.error }, {
      _tag: "NotFound",
      status: 404,
      operation: "getJob",
      retryAfter: Duration.millis(5)
    })
    assert.strictEqual(failed.error?.message, "getJob: It is \u0000 gone.")
  })

  it("has the tag and the message of an error that an earlier version has written", () => {
    const { error } = toJob({ ...row, error: "{\"tag\":\"JobLost\",\"message\":\"It is gone.\"}" })
    assert.deepStrictEqual([error?._tag, error?._tag === "OtherError" && error.tag, error?.message], [
      "OtherError",
      "JobLost",
      "It is gone."
    ])
  })

  it.each<readonly [string, Change, ReadonlyArray<unknown>]>([
    ["keeps what a change does not name", {}, [null, null, null, false, null, false, null, false, null]],
    [
      "gets what it names",
      {
        state: "failed",
        isLoaded: false,
        resumed: 0,
        exportJob: "",
        error: new Errors.TokenError({ operation: "o", message: "a", status: 401 }),
        endedAt: 0
      },
      [
        "failed",
        false,
        0,
        true,
        "",
        true,
        "{\"operation\":\"o\",\"status\":401,\"tag\":\"TokenError\",\"message\":\"o: a\"}",
        true,
        0
      ]
    ],
    [
      "loses what it removes",
      { exportJob: undefined, error: undefined, endedAt: undefined },
      [null, null, null, true, null, true, null, true, null]
    ],
    ["gets one field, and keeps the others", { resumed: 3 }, [null, null, 3, false, null, false, null, false, null]]
  ])("%s", (_, change, parameters) => {
    assert.deepStrictEqual(changeParameters(change), parameters)
  })
})

describe("the rows of events", () => {
  const none: EventRow = { position: null, event: null }

  it.each<readonly [string, ReadonlyArray<EventRow>, ReturnType<typeof toEvents>]>([
    ["are none of a job that was removed", [], []],
    ["are one without an event of a job that has none", [none], []],
    ["need a position and an id", [{ position: 1, event: null }, { position: null, event: "a" }], []],
    ["keep their order", [{ position: 2, event: "b" }, { position: 7, event: "" }], [
      { position: 2, id: "b" },
      { position: 7, id: "" }
    ]]
  ])("%s", (_, rows, events) => {
    assert.deepStrictEqual(toEvents(rows), events)
    assert.deepStrictEqual(toResults(rows.map((row) => ({ ...row, state: "running", value: null }))), [])
  })

  /** The row of an event, with the value of its entry. */
  const ofEvent = (state: ResultRow["state"], value: string | null): ResultRow => ({
    position: 3,
    event: "e",
    state,
    value
  })
  const result = (outcome: ListedResult["outcome"]): ListedResult => ({ position: 3, id: "e", outcome })

  it.each<readonly [string, ResultRow, ReadonlyArray<ListedResult>]>([
    ["have no result without an entry", ofEvent("running", null), []],
    ["have none without an entry after the job's end, too", ofEvent("done", null), []],
    ["have none while they are being sent", ofEvent("running", entry("e", "sending")), []],
    ["have an unknown one if the job has ended", ofEvent("cancelled", entry("e", "sending")), [result("unknown")]],
    ["have the one of their entry", ofEvent("running", entry("e", "accepted")), [result("accepted")]],
    ["have the reason of their entry", ofEvent("done", entry("e", "failed", "r", "No.")), [{
      ...result("failed"),
      error: new Errors.OtherError({ tag: "Error", message: "No." })
    }]],
    ["have an unknown one by an entry of another event", ofEvent("failed", entry("f", "accepted")), [
      result("unknown")
    ]],
    ["have an unknown one by an entry that is none", ofEvent("done", ""), [result("unknown")]]
  ])("%s", (_, row, results) => {
    assert.deepStrictEqual(toResults([{ ...row, ...none }, row, { ...row, position: 4 }]), [
      ...results,
      ...results.map((result) => ({ ...result, position: 4 }))
    ])
  })
})

describe("the rows of counts", () => {
  const zero = { accepted: 0, notFailed: 0, gone: 0, unknown: 0, failed: 0 }
  const numbers = (state: CountRow["state"]): ReadonlyArray<CountRow> => [
    { state, outcome: "accepted", count: 3 },
    { state, outcome: "sending", count: 4 },
    { state, outcome: "unknown", count: 1 },
    { state, outcome: "listed", count: 20 },
    { state, outcome: "failed", count: null },
    { state, outcome: "gone", count: 2 }
  ]

  it.each<readonly [string, ReadonlyArray<CountRow>, ReturnType<typeof toCounts>]>([
    ["of a job without events are zero", [{ state: "loading", outcome: null, count: null }], {
      total: 0,
      left: 0,
      outcomes: zero
    }],
    ["of events without an outcome leave all of them", [{ state: "running", outcome: "listed", count: 5 }], {
      total: 5,
      left: 5,
      outcomes: zero
    }],
    ["leave events that are being sent", numbers("running"), {
      total: 20,
      left: 14,
      outcomes: { ...zero, accepted: 3, unknown: 1, gone: 2 }
    }],
    ["know nothing of events that were being sent when the job has ended", numbers("failed"), {
      total: 20,
      left: 10,
      outcomes: { ...zero, accepted: 3, unknown: 5, gone: 2 }
    }]
  ])("%s", (_, rows, counts) => {
    assert.deepStrictEqual(toCounts(rows), counts)
  })
})
