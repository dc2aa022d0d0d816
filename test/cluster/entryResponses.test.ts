/** Tests of the responses to requests about entries: what is done, and why something is not. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type EntryRequest, type EntryResponse, runEntries } from "../../src/cluster/entryStatement.js"
import type { State } from "../../src/jobs/model.js"

interface Row {
  readonly nth: number
  readonly value: string | null
  readonly changed: boolean
  readonly state: State | null
}

/** The responses if the database gives these rows. */
const responses = (requests: ReadonlyArray<EntryRequest>, rows: ReadonlyArray<Row>) =>
  runEntries({ query: () => Effect.succeed(rows as ReadonlyArray<never>) }, requests) // sound: they are what it selects

const request = (kind: EntryRequest["kind"], event?: string): EntryRequest => ({
  kind,
  job: "j",
  key: "65",
  event,
  expected: []
})

const row = (change: Partial<Row> = {}): Row => ({ nth: 0, value: null, changed: false, state: "running", ...change })

const done = (value?: string): EntryResponse => ({ value, isDone: true, refusal: undefined })
const refused = (refusal?: EntryResponse["refusal"], value?: string): EntryResponse => ({
  value,
  isDone: false,
  refusal
})

describe("a request about an entry", () => {
  it.effect.each<readonly [string, EntryRequest, Row, EntryResponse]>([
    ["reads a value", request("get"), row({ value: "1", state: null }), done("1")],
    ["reads that there is none", request("get"), row({ state: null }), done()],
    ["writes the first value", request("insert", "e"), row({ changed: true }), done()],
    ["writes another value, also after the end", request("update", "e"), row({ changed: true, state: "done" }), done()],
    ["writes no first value over another one", request("insert", "e"), row(), refused()],
    ["writes no value over another one", request("update", "e"), row(), refused()],
    ["writes no value over another one after the end", request("update", "e"), row({ state: "done" }), refused()],
    ["claims no event after the end", request("insert", "e"), row({ state: "cancelled" }), refused("notRunning")],
    ["claims no event before the start", request("insert", "e"), row({ state: "waiting" }), refused("notRunning")],
    ["takes no lock of another run after the end", request("insert"), row({ state: "cancelled" }), refused()],
    ["writes no first value of a removed job", request("insert", "e"), row({ state: null }), refused("removed")],
    ["writes no lock of a removed job", request("insert"), row({ state: null }), refused("removed")],
    ["writes no value of a removed job", request("update"), row({ state: null }), refused("removed")],
    ["removes a value", request("delete"), row({ changed: true, value: "1" }), done("1")],
    ["removes what is not there", request("delete"), row(), done()],
    ["removes what is not there of a removed job", request("delete"), row({ state: null }), done()],
    ["removes no other value", request("delete"), row({ value: "2" }), refused(undefined, "2")],
    [
      "removes no other value of a removed job",
      request("delete"),
      row({ value: "2", state: null }),
      refused("removed", "2")
    ],
    ["drops any value", request("drop"), row({ changed: true, value: "2" }), done("2")],
    ["drops what is not there", request("drop"), row({ state: null }), done()]
  ])("%s", ([, request, row, response]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* responses([request], [row]), [response])
    }))

  it.effect("gets the response to it, in whatever order the rows come, and also if one does not", () =>
    Effect.gen(function*() {
      const requests = [request("get"), request("update"), request("get"), request("get"), request("delete")]
      const rows = [
        row({ nth: 3, value: "3" }),
        row({ nth: 0, value: "0" }),
        row({ nth: 4, value: "4", state: null })
      ]
      assert.deepStrictEqual(yield* responses(requests, rows), [
        done("0"),
        refused("removed"),
        done(),
        done("3"),
        refused("removed", "4")
      ])
    }))
})
