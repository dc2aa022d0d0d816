/** Outages with many callers: retries, and the budget that bounds them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { IdentityClient, updateTokenExchangeProfile } from "../../src/index.js"
import {
  deletion as operation,
  failedOnlyIn,
  failing,
  type Outcome,
  run,
  type Setting,
  unsent
} from "../support/outage.js"

/** Runs with and without a budget. */
const both = (setting: Setting) =>
  Effect.all({
    without: run({ ...setting, options: { ...setting.options, retryBudget: Infinity } }),
    within: run({ ...setting, options: { ...setting.options, retryBudget: 0.2 } })
  })

/** Tests that the budget fails no call that would not have failed without it, where it is not an outage. */
const failsNoMore = (name: string, setting: Omit<Setting, "pace">) =>
  it.effect(
    `fails no call that would not have failed ${name}`,
    () =>
      Effect.map(both({ pace: "steady", ...setting }), ({ within, without }) => {
        assert.isAbove(within.calls.size, 100)
        assert.strictEqual(within.calls.size, without.calls.size)
        assert.deepStrictEqual(failedOnlyIn(within, without), [])
        assert.strictEqual(within.warnings, 0)
        assert.strictEqual(within.requests, without.requests)
      })
  )

/** An outage of half a minute, run once. */
const outage = Effect.runSync(Effect.cached(both({ pace: "steady", outage: [10_000, 40_000], end: 60_000 })))

describe("the retry budget", () => {
  it.effect(
    "keeps retries below a fifth of all requests, where there were three for each call",
    () =>
      Effect.map(outage, ({ within, without }) => {
        const retries = ({ callsDuringOutage, duringOutage }: Outcome) => duringOutage - callsDuringOutage
        assert.isAbove(retries(without) / without.duringOutage, 0.7)
        assert.isAtMost(retries(within) / within.duringOutage, 0.2)
      })
  )

  it.effect("is a fifth by default", () =>
    Effect.gen(function*() {
      const setting = { pace: "steady", outage: [1000, 5000], end: 6000 } as const
      const { within, without } = yield* both(setting)
      const { duringOutage } = yield* run(setting)
      assert.strictEqual(duringOutage, within.duringOutage)
      assert.isBelow(duringOutage, without.duringOutage)
    }))

  it.effect(
    "lets calls fail within seconds",
    () =>
      Effect.map(outage, ({ within }) => {
        assert.isAbove(Array.from(within.calls.values()).filter(({ succeeded }) => !succeeded).length, 1000)
        assert.strictEqual(within.warnings, 1)
        assert.isAtMost(Math.max(...Array.from(within.calls.values(), ({ millis }) => millis)), 5000)
      })
  )

  for (const share of [0.3, 0.5, 0.7]) {
    failsNoMore(`while ${100 * share} % of the requests fail`, {
      fails: failing(share, 1),
      outage: [0, 20_000],
      end: 20_000
    })
  }

  failsNoMore("while all calls of one operation and some of another fail", {
    call: (caller) => caller % 2 === 0 ? operation : updateTokenExchangeProfile({ id: "tep_1", name: "a name" }),
    fails: (attempt) => attempt.method === "DELETE" || failing(0.3, 1)(attempt),
    outage: [0, 20_000],
    end: 20_000
  })

  it.effect("also lets a single caller fail, whose calls nobody else makes", () =>
    Effect.gen(function*() {
      const { calls, duringOutage } = yield* run({ pace: "eager", callers: 1, options: { retryBudget: 0 } })
      assert.isAbove(calls.size, 10)
      // Its calls, the retries before it counts as an outage, and one in each second.
      assert.isAtMost(duringOutage, calls.size + 50 + 60)
    }))

  it.effect("does not bound the retries after 429", () =>
    Effect.gen(function*() {
      const result = yield* run({
        pace: "steady",
        status: 429,
        options: { retryBudget: 0 },
        outage: [1000, 5000],
        end: 8000
      })
      assert.isAtLeast(result.duringOutage, 3 * result.callsDuringOutage)
    }))

  it.effect("does not count attempts that were not sent in time, which say nothing of the service", () =>
    Effect.gen(function*() {
      let attempts = 0
      const calls = yield* Effect.fork(
        Effect.all(
          Array.from({ length: 30 }, () => Effect.flip(IdentityClient.withTimeout(operation, "1 second"))),
          { concurrency: "unbounded" }
        ).pipe(Effect.provide(unsent({ retryBudget: 0 }, () => attempts++)))
      )
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(calls)
      assert.strictEqual(attempts, 4 * 30)
    }))
})
