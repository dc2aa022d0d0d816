/** The goodput of the limiter against twenty simulated servers, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { RateLimiter } from "../../src/index.js"
import { type Profile, profileOf } from "../support/bucketServer.js"
import { bounds, isGood, measure, refusalsAllowed, scenarios, seeds } from "../support/goodput.js"
import * as KnowingLimiter from "../support/knowingLimiter.js"

const [small] = scenarios

/** The first seed whose server is of this kind. */
const seedOf = (kind: Profile["kind"]): number => seeds.find((seed) => profileOf(seed).kind === kind)!

describe("measure", () => {
  it.effect("is the same for the same seed", () =>
    Effect.gen(function*() {
      const again = measure(small, 1, () => RateLimiter.layer)
      assert.deepStrictEqual(yield* again, yield* again)
    }))

  it.effect("accepts a limiter that knows the server, for each kind of server", () =>
    Effect.gen(function*() {
      for (const kind of ["refill", "aligned", "opened"] as const) {
        for (const scenario of scenarios) {
          const result = yield* measure(scenario, seedOf(kind), KnowingLimiter.layer)
          assert(isGood(result) && result.goodput <= 1, `${kind}: ${JSON.stringify(result)}`)
        }
      }
    }))

  it.effect("accepts a fixed limiter with the true limit of a bucket that refills", () =>
    Effect.gen(function*() {
      for (const scenario of scenarios) {
        const { burst, interval } = scenario.refill.size
        const fixed = () => RateLimiter.layerFixed({ limit: burst, interval: burst * interval })
        const result = yield* measure(scenario, seedOf("refill"), fixed)
        assert(isGood(result) && result.goodput > 0.98, JSON.stringify(result))
      }
    }))

  it.effect("shows refused requests and failed calls without a limiter", () =>
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
          assert.isAtMost(result.refused, refusalsAllowed(result.requests), `refused requests: ${found}`)
          assert.isAtLeast(result.goodput, bounds.goodput, `goodput: ${found}`)
        }))
    }
  }
})

describe("two clients without a shared store", () => {
  // Where the reset always lies in the past, the headers do not show how fast a bucket refills.
  const informative = seeds.filter((seed) => profileOf(seed).kind === "refill" && profileOf(seed).reset !== "past")
  for (const scenario of scenarios) {
    it.effect(`share a bucket of ${scenario.name}`, () =>
      Effect.forEach(
        informative,
        (seed) =>
          Effect.map(measure(scenario, seed, () => RateLimiter.layer, 2), ({ failed, goodput, refused, requests }) => {
            const found = JSON.stringify({ goodput, refused, requests, ...profileOf(seed) })
            assert.strictEqual(failed, 0, `failed calls: ${found}`)
            assert.isAtMost(refused, requests * 0.05, `refused requests: ${found}`)
            assert.isAtLeast(goodput, bounds.goodput, `goodput: ${found}`)
          })
      ))
  }
})
