/** Tests of the responses of a batch: each request gets its own, and fails without one. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeBatch } from "../../src/cluster/batch.js"

it.scoped("a batch gives each request its response, and fails those that have none", () =>
  Effect.gen(function*() {
    const batches: Array<ReadonlyArray<string>> = []
    const request = yield* makeBatch<string, string, string>({
      run: (requests) =>
        Effect.sync(() => {
          batches.push(requests)
          return requests.slice(0, 2).map((request) => request.toUpperCase())
        }),
      keyOf: (request) => request,
      isRead: () => false,
      isOfOneRequest: () => true,
      limit: 10,
      closed: "closed"
    })
    const responses = yield* Effect.forEach(["a", "b", "c", "d"], (key) => Effect.merge(request(key)), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(responses, ["A", "B", "closed", "closed"])
    assert.deepStrictEqual(batches, [["a", "b", "c", "d"]])
    assert.strictEqual(yield* request("e"), "E")
  }))
