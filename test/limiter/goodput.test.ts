/** What the limiter makes of limits that nobody has told it of: against a second server, for twenty seeds, in virtual time. */
import { assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { RateLimiter } from "../../src/index.js"
import { type Profile, profileOf } from "../support/bucketServer.js"
import { bounds, isGood, measure, refusalsAllowed, scenarios, seeds } from "../support/goodput.js"
import * as KnowingLimiter from "../support/knowingLimiter.js"

const [small] = scenarios

// Virtual time leaves no room for anything else: the runner must hear of each test before the next.
beforeEach(() => new Promise((resolve) => setImmediate(resolve)))

/** The first seed whose server counts so. */
const seedOf = (kind: Profile["kind"]): number => seeds.find((seed) => profileOf(seed).kind === kind)!

describe("the measure", () => {
  it.effect("is the same for the same seed", () =>
    Effect.gen(function*() {
      const again = measure(small, 1, () => RateLimiter.layer)
      assert.deepStrictEqual(yield* again, yield* again)
    }))

  it.effect("finds nothing amiss with a limiter that knows the server, whatever its kind", () =>
    Effect.gen(function*() {
      for (const kind of ["refill", "aligned", "opened"] as const) {
        for (const scenario of scenarios) {
          const result = yield* measure(scenario, seedOf(kind), KnowingLimiter.layer)
          assert(isGood(result) && result.goodput <= 1, `${kind}: ${JSON.stringify(result)}`)
        }
      }
    }))

  it.effect("finds a limiter good that is told the truth of a bucket that refills", () =>
    Effect.gen(function*() {
      for (const scenario of scenarios) {
        const { burst, interval } = scenario.refill.size
        const told = () => RateLimiter.layerFixed({ limit: burst, interval: burst * interval })
        const result = yield* measure(scenario, seedOf("refill"), told)
        assert(isGood(result) && result.goodput > 0.98, JSON.stringify(result))
      }
    }))

  it.effect("finds that without a limiter requests are turned away and calls fail", () =>
    Effect.gen(function*() {
      for (const scenario of scenarios) {
        const result = yield* measure(scenario, seedOf("refill"), () => RateLimiter.layerUnlimited)
        assert(result.refused > scenario.refill.calls / 2 && result.failed > 0, JSON.stringify(result))
        assert.strictEqual(result.goodput, 0)
      }
    }))
})

describe("layer", () => {
  for (const scenario of scenarios) {
    for (const seed of seeds) {
      it.effect(`keeps the bounds on a bucket of ${scenario.name}: seed ${seed}, ${profileOf(seed).kind}`, () =>
        Effect.gen(function*() {
          const result = yield* measure(scenario, seed, () => RateLimiter.layer)
          const found = JSON.stringify({ ...result, ...profileOf(seed) })
          assert.strictEqual(result.failed, 0, `failed calls: ${found}`)
          assert.isAtMost(result.refused, refusalsAllowed(result.requests), `requests turned away: ${found}`)
          assert.isAtLeast(result.goodput, bounds.goodput, `goodput: ${found}`)
        }))
    }
  }
})

describe("two clients that know nothing of one another", () => {
  // Where the reset always lies in the past, nobody is told how fast a bucket fills.
  const told = seeds.filter((seed) => profileOf(seed).kind === "refill" && profileOf(seed).reset !== "past")
  for (const scenario of scenarios) {
    it.effect(`share a bucket of ${scenario.name}`, () =>
      Effect.forEach(
        told,
        (seed) =>
          Effect.map(measure(scenario, seed, () => RateLimiter.layer, 2), ({ failed, goodput, refused, requests }) => {
            const found = JSON.stringify({ goodput, refused, requests, ...profileOf(seed) })
            assert.strictEqual(failed, 0, `failed calls: ${found}`)
            assert.isAtMost(refused, requests * 0.05, `requests turned away: ${found}`)
            assert.isAtLeast(goodput, bounds.goodput, `goodput: ${found}`)
          })
      ))
  }
})
