/** A clock that is set back while calls of an estimator are in flight. */
import { assert, describe, it } from "@effect/vitest"
import { FixedWindowState } from "../../src/internal/limiter/estimator/fixedWindow.js"
import { changesOf, estimatorWith } from "../support/estimator.js"
import { reading } from "../support/readings.js"

describe("a clock that is set back while calls are in flight", () => {
  const back = 3_600_000
  const sample = { sentAt: 9_000_000, endedAt: 9_000_100, low: 1000, high: 1000 }
  const state = {
    limit: 100,
    level: 60,
    levelAt: 9_000_900,
    netRate: 0.01,
    provenRate: 0.01,
    reported: 60,
    reportedAt: 9_000_800,
    started: 10,
    pausedUntil: 9_000_700,
    latest: 9_001_000,
    lastSentAt: 9_000_600,
    loweredAt: 9_000_500,
    samples: [sample],
    window: { ...new FixedWindowState(), endsAt: 9_000_400, beganAt: 9_000_300 }
  }
  const setBack = () => {
    const estimator = estimatorWith(state)
    const call = estimator.start(9_001_000, false)
    estimator.wait(9_001_000 - back, 0, 0)
    return { estimator, call }
  }

  it("moves all times with it, and forgets the samples", () => {
    const estimator = estimatorWith(state)
    const before = estimator.state
    estimator.wait(9_001_000 - back, 0, 0)
    assert.deepStrictEqual(changesOf(before, estimator.state), {
      levelAt: 9_000_900 - back,
      reportedAt: 9_000_800 - back,
      pausedUntil: 9_000_700 - back,
      latest: 9_001_000 - back,
      lastSentAt: 9_000_600 - back,
      loweredAt: 9_000_500 - back,
      samples: [],
      window: { ...state.window, endsAt: 9_000_400 - back, beganAt: 9_000_300 - back }
    })
  })

  it("does not change how long they took, and only the later ones add a sample", () => {
    const { call, estimator } = setBack()
    const later = estimator.start(9_001_100 - back, false)
    assert.deepStrictEqual(later, {
      sentAt: 9_001_100 - back,
      setBack: back,
      endedBefore: 10,
      waited: false,
      isTest: false
    })
    const response = reading(50, { limit: 100, untilFull: undefined })
    estimator.settle(call, response, 9_001_250 - back)
    assert.deepInclude(estimator.state, { lastSentAt: 9_001_000 - back, samples: [] })
    estimator.settle(later, response, 9_001_350 - back)
    assert.deepInclude(estimator.state, { lastSentAt: 9_001_100 - back })
    assert.deepStrictEqual(
      estimator.state.samples.map(({ endedAt, sentAt }) => ({ endedAt, sentAt })),
      [{ endedAt: 9_001_350 - back, sentAt: 9_001_100 - back }]
    )
  })

  it("goes on from there when it is set back again", () => {
    const { estimator } = setBack()
    estimator.wait(9_000_000 - 2 * back, 0, 0)
    assert.strictEqual(estimator.start(9_000_000 - 2 * back, false).setBack, 2 * back + 1000)
  })
})
