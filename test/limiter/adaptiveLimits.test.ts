/** Tests of the adaptive strategy where several limits hold for a call. */
import { assert, describe, it } from "vitest"
import type { BucketReading } from "../../src/internal/limiter/bucketReading.js"
import { idleTime } from "../../src/internal/limiter/strategy.js"
import { makeStrategy, tenant } from "../support/adaptive.js"
import { largeReading, rateLimited, reading } from "../support/readings.js"

const ceiling = (interval: number, limit: number, ...operations: ReadonlyArray<string>) => ({
  interval,
  limit,
  operations: operations.length === 0 ? undefined : operations
})

describe("an idle tenant", () => {
  for (
    const [title, ceilings, calls, forgottenAfter] of [
      ["is forgotten though an operation was never called", [], [["a", largeReading(60)]], idleTime],
      ["is kept while one of its calls is in flight", [], [["a", largeReading(60)], ["a"]], Infinity],
      [
        "is kept while one of its operations has to wait",
        [],
        [["a", largeReading(60)], ["b", rateLimited({ limit: 20, pause: 3 * idleTime })]],
        3 * idleTime + 10
      ],
      ["is kept while a call counts for a ceiling", [ceiling(2 * idleTime, 2)], [["a", largeReading(60)]], 2 * idleTime]
    ] as const satisfies ReadonlyArray<
      readonly [
        string,
        ReadonlyArray<object>,
        ReadonlyArray<readonly [operation: string, response?: BucketReading]>,
        number
      ]
    >
  ) {
    it(title, () => {
      const { call, start, stateOf, strategy } = makeStrategy({ ceilings, maxPause: Infinity })
      stateOf("unused")
      for (const [operation, response] of calls) {
        if (response === undefined) start(operation, 0)
        else call(operation, 0, response)
      }
      const before = strategy.tenantOf(tenant)
      const isKept = (now: number) => {
        strategy.forgetIdle(now, () => false)
        return strategy.tenantOf(tenant) === before
      }
      const times = [idleTime, 2 * idleTime, 3 * idleTime, 4 * idleTime].flatMap((time) => [time - 1, time, time + 10])
      const kept = times.filter((now) => isKept(now))
      assert.deepStrictEqual(kept, times.filter((now) => now < forgottenAfter))
    })
  }
})

describe("a call that began without a reservation in the bucket of its response", () => {
  it("counts there as one that did not wait", () => {
    const { call, save } = makeStrategy()
    call("a", 0, reading(9))
    call("a", 1000, reading(9))
    assert.deepStrictEqual(
      save().buckets.map(({ estimator: { ended, fullResponses, served, started } }) => ({
        ended,
        fullResponses,
        served,
        started
      })),
      [{ ended: 2, fullResponses: 0, served: 2, started: 2 }]
    )
  })
})
