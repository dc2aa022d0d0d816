/** Tests redelivery by filter of one failed delivery: which attempt counts as its last, and what a list that fails tells. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import {
  type Delivery,
  Errors,
  listDeliveries,
  type Operation,
  redeliverEvents,
  Redelivery,
  Timestamp
} from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { idOf, stream, unexpected } from "../support/redelivery.js"
import * as VirtualTime from "../support/virtualTime.js"

/** An attempt: its time and its message. */
type Attempt = readonly [time: string, error: string]

/** What a list gives: the attempts of the delivery, no delivery, or a failure. */
type Listed = ReadonlyArray<Attempt> | "gone" | "unavailable"

const deliveryOf = (attempts: ReadonlyArray<Attempt>): Delivery => ({
  id: idOf(0),
  event_stream_id: stream,
  status: "failed",
  event_type: "user.created",
  attempts: attempts.map(([time, error_message]) => ({
    status: "failed",
    timestamp: Timestamp.make(time),
    error_message
  }))
})

const listResult = (listed: Listed): Effect.Effect<Array<Delivery>, Errors.ClientError> =>
  listed === "unavailable"
    ? Effect.fail(unexpected(503))
    : Effect.succeed(listed === "gone" ? [] : [deliveryOf(listed)])

/** Follows a delivery for 3 s: it is listed before the call, at 2 s and at 3 s. Gives the results and the calls. */
const follow = (...lists: readonly [Listed, Listed, Listed]) => {
  let count = 0
  const calls: Array<Operation.Input<typeof redeliverEvents>> = []
  const layer = Testing.layer(
    Testing.handle(listDeliveries, () => Effect.suspend(() => listResult(lists[count++] ?? "gone"))),
    Testing.handle(redeliverEvents, (input) =>
      Effect.sync(() => {
        calls.push(input)
        return { statuses: [], event_types: [] }
      }))
  )
  const results = Redelivery.runFiltered({ stream, deliveredAfter: "1 second", followFor: "3 seconds" })
  return VirtualTime.run(Effect.provide(Stream.runCollect(results), layer), { most: "3 seconds" }).pipe(
    Effect.map((found) => ({ calls, results: Chunk.toReadonlyArray(found) }))
  )
}

describe("a delivery that is followed", () => {
  const [early, late] = ["2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z"]
  const old: ReadonlyArray<Attempt> = [[early, "old"]]
  const id = idOf(0)

  const rows: ReadonlyArray<
    readonly [string, readonly [Listed, Listed, Listed], Omit<Redelivery.FilteredResult, "id">]
  > = [
    ["is delivered once it is missing from two lists", [old, "gone", "gone"], { outcome: "delivered", attempts: 1 }],
    ["is still pending after a list that failed", [old, "unavailable", "gone"], { outcome: "pending", attempts: 1 }],
    ["has failed again after a list that failed", [old, "unavailable", [[early, "old"], [late, "new"]]], {
      outcome: "failedAgain",
      attempts: 2,
      error: "new"
    }],
    ["has the message of the latest attempt, though it comes first", [old, [[late, "new"], [early, "old"]], "gone"], {
      outcome: "failedAgain",
      attempts: 2,
      error: "new"
    }],
    ["has the message of the last of two attempts at one time", [old, [[late, "a"], [late, "b"]], "gone"], {
      outcome: "failedAgain",
      attempts: 2,
      error: "b"
    }],
    ["has no new attempt if none is listed, whatever the time of the one before", [[["0", "old"]], [], []], {
      outcome: "pending",
      attempts: 1
    }]
  ]
  for (const [title, lists, expected] of rows) {
    it.effect(title, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* follow(...lists), {
          calls: [{ id: stream, statuses: ["failed"] }],
          results: [{ id, ...expected }]
        })
      }))
  }
})

describe("runFiltered", () => {
  it.effect("refuses an invalid stream, though the filter is valid", () =>
    Effect.gen(function*() {
      const results = Redelivery.runFiltered({ stream: "short", filter: { from: "2024-01-01" } })
      const error = yield* Effect.flip(Stream.runDrain(results))
      assert.instanceOf(error, Errors.InvalidInput)
      assert.deepInclude(error, {
        operation: "Redelivery.runFiltered",
        issues: [{ path: "stream", message: "expected a string of exactly 26 characters" }]
      })
    }).pipe(Effect.provide(Testing.layer())))
})
