/** The calls in flight of an estimator: their start, their wait for each other, and a clock that is set back meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import { constants } from "../../src/internal/limiter/estimator/constants.js"
import { Estimator } from "../../src/internal/limiter/estimator/estimator.js"
import { FixedWindowState } from "../../src/internal/limiter/estimator/fixedWindow.js"
import { changesOf, estimatorWith } from "../support/estimator.js"
import { reading } from "../support/readings.js"

describe("the start of a call", () => {
  it("is counted, and changes nothing else, while nothing is known", () => {
    const estimator = new Estimator()
    const before = estimator.state
    assert.deepStrictEqual(estimator.start(500, true), {
      sentAt: 500,
      setBack: 0,
      endedBefore: 0,
      waited: true,
      isTest: false
    })
    assert.deepStrictEqual(changesOf(before, estimator.state), { started: 1, latest: 500, reportedAt: 500 })
    assert.strictEqual(estimator.inFlight, 1)
  })

  for (const [inFlight, changes] of [[0, { reportedAt: 900 }], [2, {}]] as const) {
    it(`takes a call, and refill counts from ${inFlight === 0 ? "then on" : "the last response on"} with ${inFlight} in flight`, () => {
      const estimator = estimatorWith({
        limit: 100,
        level: 40,
        levelAt: 400,
        netRate: 0.01,
        reported: 40,
        reportedAt: 400,
        started: 7
      }, inFlight)
      const before = estimator.state
      assert.deepStrictEqual(estimator.start(900, false, 800), {
        sentAt: 800,
        setBack: 0,
        endedBefore: 7 - inFlight,
        waited: false,
        isTest: false
      })
      assert.deepStrictEqual(changesOf(before, estimator.state), {
        latest: 900,
        level: 44,
        levelAt: 900,
        reported: 39,
        started: 8,
        ...changes
      })
      assert.strictEqual(estimator.inFlight, inFlight + 1)
    })
  }

  it("counts as a wait for the bucket only some time after a pause that the service asked for", () => {
    const waited = [999, 1000, 1000 + constants.sampleGap, 1001 + constants.sampleGap].map((now) =>
      estimatorWith({ pausedUntil: 1000 }).start(now, true).waited
    )
    assert.deepStrictEqual(waited, [false, false, false, true])
  })
})

describe("the wait for room in flight", () => {
  const state = {
    limit: 1000,
    level: 900,
    levelAt: 2000,
    netRate: 0.02,
    provenRate: 0.05,
    reportedAt: 2000,
    callMillis: 200,
    started: 12,
    latest: 2000
  }

  // Ten calls come back while one is in flight; more are counted only with what is left.
  for (
    const [title, more, inFlight, wait] of [
      ["is over while a call may start", { isShared: true }, 9, 0],
      ["lasts until enough have come back by the lower of both rates", { isShared: true }, 10, 125],
      ["has that rate from the net rate or the proven one", { isShared: true, netRate: 0.08 }, 10, 50],
      ["ends at the latest when a call has had its time", { isShared: true }, 12, 200],
      ["counts what was left by the last response", { isShared: true, reported: 2 }, 10, 25],
      ["counts what has come back since then", { isShared: true, reportedAt: 1900 }, 10, 25],
      ["counts the own calls in flight where nobody else uses the bucket", {}, 12, 0]
    ] as const
  ) {
    it(title, () => {
      assert.closeTo(estimatorWith({ ...state, ...more }, inFlight).wait(2000, 0, 0), wait, 1e-9)
    })
  }
})

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
    assert.deepInclude(estimator.state, { callMillis: 250, lastSentAt: 9_001_000 - back, samples: [] })
    estimator.settle(later, response, 9_001_350 - back)
    assert.deepInclude(estimator.state, { callMillis: 250, lastSentAt: 9_001_100 - back })
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
