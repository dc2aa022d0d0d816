/** What the estimator of a bucket learns from one call: each row has every part of the state that changes, and no other does. */
import { assert, describe, it } from "@effect/vitest"
import type { BucketReading } from "../../src/internal/limiter/bucketReading.js"
import { constants } from "../../src/internal/limiter/estimator/constants.js"
import { FixedWindowState } from "../../src/internal/limiter/estimator/fixedWindow.js"
import type { Reservation } from "../../src/internal/limiter/estimator/state.js"
import type { EstimatorState } from "../../src/internal/limiter/estimator/state.js"
import { changesOf, estimatorWith } from "../support/estimator.js"
import { rateLimited, reading } from "../support/readings.js"

type State = Partial<EstimatorState>

/** One call is in flight, which was sent at 1990; it is 2000. */
const before = {
  limit: 100,
  level: 60,
  levelAt: 2000,
  netRate: 0.2,
  provenRate: 0.1,
  reported: 55,
  reportedAt: 1500,
  callMillis: 10,
  started: 40,
  served: 45,
  rateLimited: 2,
  latest: 2000,
  lastSentAt: 1000,
  loweredAt: 1500
} as const

/** What changes whenever the service responds to that call. */
const ended = { ended: 40, served: 46, lastSentAt: 1990 }
const refused = { ended: 40, rateLimited: 3, lastSentAt: 1990, reported: 0, isRecovering: true }

/** A response without a reset. */
const left = (remaining: number | undefined) => reading(remaining, { limit: 100, untilFull: undefined })
const refusal = rateLimited({ limit: 100, untilFull: undefined })
const silent = reading(undefined)

/** Ends the call in flight, and tells what changes. */
const learn = (state: State, response: BucketReading, call: Partial<Reservation> = {}, prior?: number) => {
  const estimator = estimatorWith({ ...before, ...state }, 1, prior)
  const known = estimator.state
  estimator.settle({ sentAt: 1990, setBack: 0, endedBefore: 39, waited: false, isTest: false, ...call }, response, 2000)
  return changesOf(known, estimator.state)
}

/** What a response adds to the samples. */
const sample = (remaining: number) => ({
  sentAt: 1990,
  endedAt: 2000,
  low: remaining + 38,
  high: remaining + (remaining < 99 ? 39 : 38)
})

/** Settles a call that left `remaining` calls, and checks what changes besides the level that was reported. */
const assertChanges = (state: State, remaining: number, waited: boolean, changes: State) =>
  assert.deepStrictEqual(learn(state, left(remaining), { waited }), {
    ...ended,
    reported: remaining,
    reportedAt: 2000,
    ...changes
  })

describe("a response", () => {
  const full = { level: 99, fullResponses: 1 }
  const lowered = { level: 22, isShared: true }
  const faster = 0.2 + constants.lastingChange * 10 / 990

  for (
    const [title, state, remaining, waited, changes] of [
      ["as expected changes no level", {}, 60, false, {}],
      ["with fewer calls left than expected lowers level and rate: the bucket is shared", {}, 20, false, {
        ...lowered,
        netRate: 0.2 - constants.lastingChange * 37 / 990
      }],
      ["soon after another lowers the rate by a part at most", { lastSentAt: 1985 }, 20, false, {
        ...lowered,
        netRate: 0.2 - 0.2 * constants.maxRateLoss
      }],
      ["with more calls left raises the level", {}, 70, false, { level: 70 }],
      ["with more calls left after a wait raises the rate, too", { fullResponses: 1 }, 70, true, {
        level: 70,
        netRate: faster,
        fullResponses: 0
      }],
      ["of a full shared bucket after a wait raises the level by a part", { isShared: true }, 99, true, {
        level: 60 + 39 * constants.surplusSpent,
        fullResponses: 1
      }],
      ["of a full shared bucket without a wait raises the level to all", { isShared: true }, 99, false, { level: 99 }],
      ["of a bucket that is full again shows that nobody else uses it", { ...full, isShared: true }, 99, true, {
        fullResponses: 2,
        isShared: false,
        netRate: 0.1
      }],
      ["of a bucket that is full for the third time raises the rate", { ...full, fullResponses: 2 }, 99, true, {
        fullResponses: 3,
        netRate: 0.2 * constants.rateIncrease
      }],
      ["of a full bucket after a refusal does not count", { ...full, isRecovering: true }, 99, true, {
        fullResponses: 0,
        isRecovering: false
      }]
    ] as ReadonlyArray<
      readonly [title: string, state: State, remaining: number, waited: boolean, changes: State]
    >
  ) {
    it(title, () => {
      assertChanges(state, remaining, waited, { ...changes, samples: [sample(remaining)] })
    })
  }

  it("in a fixed window changes the level alone", () => {
    assertChanges({ window: { ...new FixedWindowState(), isFound: true } }, 30, false, { level: 30 })
  })

  it("without headers changes nothing that the others taught", () => {
    assert.deepStrictEqual(learn({}, silent), ended)
  })
})

describe("the samples", () => {
  const before = { sentAt: 1900, endedAt: 1990, low: 10, high: 10 }
  const [late, short] = [{ ...before, endedAt: 1991 }, { ...before, sentAt: 1950, endedAt: 1950 }]
  const many = Array.from({ length: constants.maxSamples }, (_, nth) => ({ ...before, endedAt: nth, high: 1000 }))

  for (
    const [title, samples, changes] of [
      ["prove a rate since a call that had ended when another was sent", [before], { provenRate: 0.88, netRate: 0.88 }],
      ["prove no rate since a call that ended after that", [late], {}],
      ["prove no rate in their least distance", [short], { samples: [short, sample(60)] }],
      ["are the newest", many, { samples: [...many.slice(1), sample(60)] }]
    ] as const
  ) {
    it(title, () => {
      assertChanges({ samples }, 60, false, changes)
    })
  }
})

describe("the first headers", () => {
  for (
    const [title, state] of [
      ["of an unknown bucket", { limit: undefined, level: 0, reported: 0 }],
      ["of a bucket that was known beforehand", { isPrior: true, limit: 10, level: 7, reported: 7 }]
    ] as const
  ) {
    const begin = (remaining: number, endedBefore: number) => {
      const changes = learn({ ...state, lastSentAt: 0, provenRate: 0.3 }, left(remaining), { endedBefore })
      return { isPrior: false, ...changes }
    }
    const common = { ...ended, isPrior: false, limit: 100, reportedAt: 2000 }

    it(`${title} set level and rate, less the calls in flight`, () => {
      assert.deepStrictEqual(begin(97, 37), {
        ...common,
        reported: 95,
        level: 95,
        provenRate: 0.003,
        netRate: 0.003,
        samples: [{ ...sample(97), low: 133 }]
      })
    })

    it(`${title} show that it is shared where more calls are missing than the own ones: half of the rate is left`, () => {
      assert.deepStrictEqual(begin(50, 39), {
        ...common,
        reported: 50,
        level: 50,
        provenRate: 0.05,
        netRate: 0.05 * constants.firstRateShare,
        isShared: true,
        samples: [sample(50)]
      })
    })
  }
})

describe("a refusal", () => {
  const samples = [{ sentAt: 1900, endedAt: 1990, low: 10, high: 10 }]
  const shared = { isShared: true, samples, fullResponses: 1 }
  const provenRate = 0.1 * constants.provenRateAfterRefusal

  for (
    const [title, state, changes] of [
      ["lowers the rate of a bucket that seemed unshared, and keeps what was proved", { samples, fullResponses: 1 }, {
        fullResponses: 0,
        level: constants.levelAfterRefusal,
        netRate: 0.2 * constants.netRateAfterFirstRefusal,
        loweredAt: 2000,
        isShared: true
      }],
      ["lowers the rate of a shared bucket, and what was proved", shared, {
        fullResponses: 0,
        level: constants.levelAfterRefusal,
        netRate: 0.2 * constants.netRateAfterRefusal,
        provenRate,
        loweredAt: 2000,
        samples: []
      }],
      ["leaves a part of what was proved", { ...shared, netRate: 0.04 }, {
        fullResponses: 0,
        level: constants.levelAfterRefusal,
        netRate: provenRate * constants.minNetRateShare,
        provenRate,
        loweredAt: 2000,
        samples: []
      }],
      ["of a call that was sent before the last one counted lowers the level alone", { ...shared, loweredAt: 1990 }, {
        fullResponses: 0,
        level: constants.levelAfterRefusal
      }],
      ["gives the level of a call back, but the calls in flight stay taken", {
        ...shared,
        level: -3,
        loweredAt: 1990
      }, { fullResponses: 0, level: -2 }]
    ] as ReadonlyArray<readonly [title: string, state: State, changes: State]>
  ) {
    it(title, () => {
      assert.deepStrictEqual(learn(state, refusal), { ...refused, ...changes })
    })
  }
})

describe("a call without headers, where a rate of one call in 2 ms is known beforehand,", () => {
  const prior = 0.5
  const lowered = { isPrior: true, isShared: true }
  const raised = 0.2 * constants.rateIncreaseToPrior

  for (
    const [title, state, response, changes] of [
      ["raises a rate that refusals lowered", lowered, silent, { netRate: raised, provenRate: raised }],
      ["keeps a proven rate above the other", { ...lowered, provenRate: 0.3 }, silent, { netRate: raised }],
      ["ends the raise at the prior, which no other client uses then", { ...lowered, netRate: 0.4999 }, silent, {
        netRate: prior,
        provenRate: prior,
        isShared: false
      }],
      ["changes no rate that is as high", { ...lowered, netRate: prior }, silent, {}],
      ["changes no rate that is higher", { ...lowered, netRate: 0.6 }, silent, {}],
      ["changes no rate where the service failed", lowered, reading(undefined, { isServed: false }), {}],
      ["changes no rate where it was sent before the last refusal", { ...lowered, loweredAt: 1990 }, silent, {}]
    ] as ReadonlyArray<readonly [title: string, state: State, response: BucketReading, changes: State]>
  ) {
    it(title, () => {
      // `served` counts each call that was not refused.
      assert.deepStrictEqual(learn(state, response, {}, prior), { ...ended, reported: 60, ...changes })
    })
  }

  for (
    const [title, loweredAt, limit, rate, changes] of [
      ["replaces a rate that nobody lowered by another prior", -Infinity, 100, 0.6, { netRate: 0.6, provenRate: 0.6 }],
      ["keeps a lowered rate below another prior", 1500, 100, 0.6, {}],
      ["lowers all to a smaller prior", 1500, 50, 0.05, {
        limit: 50,
        level: 50,
        reported: 50,
        netRate: 0.05,
        provenRate: 0.05
      }]
    ] as const
  ) {
    it(title, () => {
      const estimator = estimatorWith({ ...before, ...lowered, loweredAt }, 1, prior)
      const known = estimator.state
      estimator.replacePrior(limit, rate)
      assert.deepStrictEqual(changesOf(known, estimator.state), changes)
    })
  }
})
