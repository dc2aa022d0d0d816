/** The parts that the limiter is made of, each on its own: they are plain functions of what they are told, and of the time. */
import * as Headers from "@effect/platform/Headers"
import { assert, describe, it } from "vitest"
import * as Adaptive from "../../src/internal/limiter/adaptive.js"
import { bucketIdsOf } from "../../src/internal/limiter/adaptiveState.js"
import type { Bucket } from "../../src/internal/limiter/bucket.js"
import * as Estimator from "../../src/internal/limiter/estimator.js"
import * as Fixed from "../../src/internal/limiter/fixed.js"
import { FixedWindow } from "../../src/internal/limiter/fixedWindow.js"
import * as RateLimitHeaders from "../../src/internal/limiter/rateLimitHeaders.js"
import * as Learned from "../support/adaptiveSnapshot.js"
import * as BucketServer from "../support/bucketServer.js"

/** What an answer tells of a bucket that holds 10 and fills in as many seconds. */
const told = (
  remaining: number | undefined,
  more: Partial<RateLimitHeaders.RateLimitReading> = {}
): RateLimitHeaders.RateLimitReading => ({
  isRateLimited: false,
  isServed: true,
  limit: remaining === undefined ? undefined : 10,
  remaining,
  untilFull: remaining === undefined ? undefined : 10 - remaining,
  date: undefined,
  pause: undefined,
  ...more
})

const tenant = "https://t.example.com/api/v2"

const refused = (more: Partial<RateLimitHeaders.RateLimitReading> = {}) => told(0, { isRateLimited: true, ...more })

describe("a limit that is known", () => {
  it("is waited for after those ahead, and with what is left to others", () => {
    const source = Fixed.make(10, 1 / 100, 0)
    const lane = source.stateOf({ tenant, operation: "a" })
    const wait = (share: number, ahead: number) => source.wait(lane, 0, share, ahead, 0)
    assert.deepStrictEqual([wait(0, 9), wait(0, 10), wait(0.2, 7), wait(0.2, 8)], [0, 100, 0, 100])
    source.start(lane, 0, false)
    assert.deepStrictEqual([wait(0, 8), wait(0, 12), wait(0.2, 8)], [0, 400, 200])
  })
})

describe("an answer", () => {
  const read = (status: number, reset: number) =>
    RateLimitHeaders.readRateLimit({
      status,
      headers: Headers.fromInput({
        "x-ratelimit-limit": "10",
        "x-ratelimit-remaining": "4",
        "x-ratelimit-reset": String(reset)
      })
    }, 0)

  it("is none of a service that is down from 500 on", () => {
    assert.deepStrictEqual([499, 500, 503].map((status) => read(status, 1).isServed), [true, false, false])
  })

  it("is believed to tell of a reset that is a day away, and not more", () => {
    assert.deepStrictEqual([86_400, 86_401].map((reset) => read(200, reset).untilFull), [86_400, undefined])
  })
})

describe("windows", () => {
  const at = 1_000_000
  /** Ten calls were taken of a hundred, and the reset stays where it was. */
  const found = () => {
    const windows = new FixedWindow()
    windows.note({ reset: 1060, ahead: 60, limit: 100, left: 99 }, false, at)
    windows.note({ reset: 1060, ahead: 50, limit: 100, left: 30 }, false, at + 10_000)
    return windows
  }

  it("are found where calls are taken and the reset stays, and end with it", () => {
    assert.isTrue(found().state.isFound)
    assert.strictEqual(found().state.endsAt, at + 61_000)
  })

  it("are a bucket after all if the reset moves and nothing has come back", () => {
    const windows = found()
    windows.note({ reset: 1070, ahead: 55, limit: 100, left: 30 }, false, at + 15_000)
    assert.isFalse(windows.state.isFound)
    // Nothing of what was learned before is left: this could be a bucket.
    windows.note({ reset: 1073, ahead: 55, limit: 100, left: 28 }, false, at + 20_000)
    assert.isFalse(windows.state.isFound)
  })

  it("are looked at later after each refusal, until one is served, and never before they are over", () => {
    const windows = found()
    windows.refuse(at)
    assert.strictEqual(windows.state.endsAt, at + 61_000)
    const later = at + 61_000
    const waits = Array.from({ length: 6 }, () => {
      windows.refuse(later)
      return windows.state.endsAt - later
    })
    assert.deepStrictEqual(waits, [2000, 4000, 8000, 16_000, 32_000, 32_000])
    windows.note({ reset: 1120, ahead: 59, limit: 100, left: 99 }, false, later)
    windows.refuse(later + 60_000)
    assert.strictEqual(windows.state.endsAt, later + 61_000)
  })

  /** What was told: when, of which reset, and what was left. The server's clock is ours. */
  const note = (windows: FixedWindow, after: number, reset: number, left: number, isRefused = false) =>
    windows.note({ reset, ahead: reset - 1000 - after, limit: 100, left }, isRefused, at + after * 1000)

  it("say which answer is the first of a new one, and hold by what was told of it before", () => {
    const windows = found()
    assert.deepStrictEqual([new FixedWindow().state.isNew, windows.state.isNew], [false, false])
    note(windows, 60, 1120, 98)
    assert.deepStrictEqual([windows.state.isFound, windows.state.isNew, windows.state.endsAt], [
      true,
      true,
      at + 120_000
    ])
    note(windows, 61, 1120, 97)
    assert.isFalse(windows.state.isNew)
    // An answer that is late by a second, or a clock.
    note(windows, 62, 1119, 96)
    assert.deepStrictEqual([windows.state.isFound, windows.state.isNew, windows.state.endsAt], [
      true,
      false,
      at + 120_000
    ])
  })

  it("last as long as the shortest step between two resets, and else until the end", () => {
    const windows = found()
    assert.strictEqual(windows.length, 61_000)
    note(windows, 90, 1150, 99)
    assert.deepStrictEqual([windows.length, windows.state.endsAt], [90_000, at + 151_000])
    note(windows, 91, 1150, 30)
    note(windows, 150, 1210, 99)
    assert.deepStrictEqual([windows.length, windows.state.endsAt], [60_000, at + 210_000])
    note(windows, 151, 1210, 30)
    note(windows, 250, 1310, 99)
    assert.deepStrictEqual([windows.length, windows.state.endsAt], [60_000, at + 310_000])
  })

  it("are a bucket after all if the reset goes back", () => {
    const windows = found()
    note(windows, 10, 1040, 80)
    assert.isFalse(windows.state.isFound)
  })

  it("learn from a refusal when they end, no more", () => {
    const windows = found()
    for (const reset of [1070, 1075]) {
      note(windows, 20, reset, 0, true)
      assert.deepStrictEqual([windows.state.isFound, windows.state.endsAt], [true, at + (reset - 1000 + 1) * 1000])
      assert.strictEqual(windows.length, (reset - 1000 + 1 - 20) * 1000)
    }
    for (const _ of [1, 2, 3]) windows.refuse(at + 76_000)
    note(windows, 76, 1075, 0, true)
    assert.strictEqual(windows.state.endsAt, at + 80_000)
    const other = new FixedWindow()
    note(other, 0, 1060, 99)
    note(other, 10, 1060, 0, true)
    assert.isFalse(other.state.isFound)
  })

  it("are not found where a bucket could tell the same", () => {
    const windows = new FixedWindow()
    note(windows, 0, 1012, 90) // at least a second for a call
    note(windows, 3, 1012, 89) // at least a call in a second
    assert.isFalse(windows.state.isFound)
    note(windows, 4, 1012, 89)
    assert.isTrue(windows.state.isFound)
  })

  it("go back with the clock", () => {
    const [windows, other] = [found(), found()]
    const back = 3_600_000
    windows.shift(back)
    assert.strictEqual(windows.state.endsAt, other.state.endsAt - back)
    assert.strictEqual(windows.length, other.length)
  })
})

/** A call that takes so long. */
const exchange = (
  belief: Bucket,
  answer: RateLimitHeaders.RateLimitReading | undefined,
  now: number,
  millis = 0,
  held = false
) => belief.start(now - millis, held).settle(answer, now)

/** How many calls may start at once. */
const startable = (belief: Bucket, now: number): number => {
  let count = 0
  for (; count < 100 && belief.wait(now, 0, 0) <= 0; count++) belief.start(now, false)
  return count
}

/** A belief that has been told this at these seconds. */
const believing = (
  ...answers: ReadonlyArray<readonly [second: number, answer: RateLimitHeaders.RateLimitReading | undefined]>
) => {
  const belief = Estimator.make()
  for (const [second, answer] of answers) exchange(belief, answer, second * 1000)
  return belief
}

/** One that shares a bucket that fills with a call in a second: it has been refused. */
const shared = () => believing([0, told(5)], [10, told(9)], [10, refused()])

describe("a belief", () => {
  it("does not take a call in flight for one that was counted", () => {
    const belief = Estimator.make()
    const [first] = [belief.start(0, false), belief.start(0, false)]
    first!.settle(told(5), 0)
    assert.strictEqual(belief.status(0)?.remaining, 4)
  })

  it("knows nothing before it was told anything", () => {
    assert.isUndefined(Estimator.make().status(0))
  })

  it("never believes more to be left than its own call leaves", () => {
    assert.strictEqual(believing([0, told(10, { untilFull: 0 })]).status(0)?.remaining, 9)
  })

  it("learns nothing of what is left from an answer that tells the limit alone", () => {
    const belief = believing([0, told(4)])
    const { window: windows } = belief.state
    exchange(belief, told(undefined, { limit: 10, untilFull: 3 }), 0)
    assert.strictEqual(belief.status(0)?.remaining, 3)
    assert.deepStrictEqual(belief.state.window, windows)
  })

  it("takes two fifths of the growth at the most for what one answer shows that others have taken", () => {
    const belief = believing([0, told(9)])
    const before = belief.state.netRate
    exchange(belief, told(2), 60)
    assert.closeTo(belief.state.netRate / before, 0.6, 1e-9)
  })

  it("proves no rate by calls that were under way together", () => {
    const belief = Estimator.make()
    const [one, other] = [belief.start(0, false), belief.start(50, false)]
    one.settle(told(2), 100)
    const before = belief.state.provenRate
    other.settle(told(8), 3000)
    assert.strictEqual(belief.state.provenRate, before)
  })

  it("takes as much for certain as comes back until the reset, also where a refusal tells it first", () => {
    const belief = believing([0, refused({ untilFull: 9 })])
    assert.closeTo(belief.state.provenRate, 0.9 * 10 / 10 / 1000, 1e-9) // a refusal: less a tenth
  })

  it("believes nobody else to be there while answers tell what was expected", () => {
    const belief = believing([0, told(9)], [0, told(8)], [0, told(7)])
    assert.isFalse(belief.state.isShared)
    exchange(belief, told(3), 0)
    assert.isTrue(belief.state.isShared)
  })

  it("stays finite where answers take no time", () => {
    const belief = believing(...Array.from({ length: 8 }, (_, nth) => [0, told(9 - nth)] as const))
    assert.isAbove(belief.state.provenRate, 0)
    assert.isTrue(Number.isFinite(belief.wait(0, 0, 20)))
  })

  it("takes a bucket whose reset is not always told for no window", () => {
    const belief = believing([0, told(1, { untilFull: 9 })], [0, told(5, { untilFull: undefined })])
    assert.isAbove(belief.status(60_000)?.remaining ?? 0, belief.status(0)?.remaining ?? 0)
  })

  it("keeps what it knows when an answer does not tell what is left", () => {
    const belief = believing([0, told(4)], [1, told(undefined)])
    const startedAt = startable(belief, 1000)
    assert.isAtLeast(startedAt, 1)
    assert.isAtMost(startedAt, 4)
    assert.isTrue(Number.isFinite(belief.wait(1000, 0, 20)))
  })

  it("believes a first refusal to have found half a call, and its own call back", () => {
    const belief = believing([0, told(1, { untilFull: 9 })])
    const [one, other] = [belief.start(0, false), belief.start(0, false)]
    one.settle(refused({ untilFull: 10 }), 0)
    other.settle(refused({ untilFull: 10 }), 0)
    assert.strictEqual(belief.status(0)?.remaining, 0)
    assert.strictEqual(belief.state.level, 0.5)
    assert.strictEqual(startable(belief, 0), 0)
  })

  it("sends no burst after a refusal for what was left before", () => {
    const belief = believing([0, told(9)])
    exchange(belief, refused(), 0)
    assert.isAtMost(belief.state.reported, 0)
  })

  it("leaves the measured rate as it is at the first refusal, and takes a tenth off at each further one", () => {
    const belief = believing([0, told(9)], [10, told(5)])
    const fresh = believing([0, told(9)])
    const rates = [0, 1, 2].map((nth) => {
      exchange(fresh, refused({ untilFull: 60 }), 20_000 + nth * 10_000, 10)
      return fresh.state.provenRate
    })
    const [first, second, third] = rates
    assert.strictEqual(first, 1 / 2 / 1000)
    assert.closeTo(second!, first! * 0.9, 1e-9)
    assert.closeTo(third!, first! * 0.81, 1e-9)
    assert.isTrue(belief.state.isShared)
  })

  it("finds after two calls that waited for a full bucket that it is alone, and then goes faster", () => {
    const belief = shared()
    assert.isTrue(belief.state.isShared)
    const full = (nth: number, held = true) => {
      exchange(belief, told(9), 100_000 + nth * 20_000, 10, held)
      const { isShared, netRate: growth, provenRate: rate } = belief.state
      return { isShared, pace: Number(growth) / Number(rate) }
    }
    assert.isTrue(full(0).isShared) // after a refusal it says nothing yet
    assert.isTrue(full(1).isShared)
    assert.isTrue(full(2, false).isShared) // nor does one that has not waited
    assert.deepStrictEqual(full(3), { isShared: false, pace: 1 })
    for (const nth of [4, 5]) {
      const { isShared, pace } = full(nth)
      assert.isFalse(isShared)
      assert.closeTo(pace, 1.14 ** (nth - 3), 1e-9)
    }
  })

  it("counts the very first answer among those that found the bucket full", () => {
    const belief = Estimator.make()
    const growths = [1, 2, 3].map((nth) => {
      exchange(belief, told(9), nth * 20_000, 10, true)
      return belief.state.netRate
    })
    assert.closeTo(growths[2]! / growths[1]!, 1.14, 1e-9)
  })

  it("does not go faster for a pause that the service asked for", () => {
    const belief = shared()
    exchange(belief, told(9), 100_000)
    for (const nth of [0, 1, 2]) {
      const at = 200_000 + nth * 100_000
      exchange(belief, told(undefined, { isRateLimited: false, pause: 50_000 }), at)
      exchange(belief, told(9), at + 50_010, 10, true)
    }
    assert.isTrue(belief.state.isShared)
  })

  it("does not go ever faster where the limit is one, which is always told as full", () => {
    const belief = Estimator.make()
    for (let nth = 0; nth < 20; nth++) {
      exchange(belief, told(0, { limit: 1, untilFull: 1 }), nth * 5000, 10, true)
      assert.closeTo(belief.state.netRate, 1 / 1000, 1e-9)
    }
  })

  it("goes on as before when the clock is set back", () => {
    const back = 3_600_000
    const at = 10 * back
    const start = () => {
      const belief = Estimator.make()
      exchange(belief, told(5, { untilFull: 10 }), at)
      exchange(belief, told(4, { untilFull: 10 }), at + 2000)
      exchange(belief, refused({ untilFull: 20, pause: 1000 }), at + 3000)
      belief.wait(at + 3000, 0, 0)
      return belief
    }
    const [belief, other] = [start(), start()]
    const later = at + 3000
    assert.closeTo(belief.wait(later - back, 0, 2), other.wait(later, 0, 2), 1e-6)
    assert.strictEqual(belief.pausedFor(later - back), 1000)
    for (const by of [500, 1000, 5000]) {
      for (const ahead of [0, 2]) {
        assert.closeTo(belief.wait(later - back + by, 0, ahead), other.wait(later + by, 0, ahead), 1e-6)
      }
      assert.strictEqual(belief.status(later - back + by)?.remaining, other.status(later + by)?.remaining)
    }
    for (const answer of [told(7, { untilFull: 10 }), refused({ untilFull: 20 })]) {
      exchange(belief, answer, later - back + 10_000, 10, true)
      exchange(other, answer, later + 10_000, 10, true)
      assert.closeTo(belief.state.netRate, other.state.netRate, 1e-12)
    }
  })

  it("lets as many go at once as somebody else has left, and no more for a pause", () => {
    const belief = believing([0, told(9)])
    belief.cap(6, 0)
    assert.strictEqual(startable(belief, 0), 2)
    assert.strictEqual(startable(believing([0, told(2)]), 100_000), 1)
  })

  it("lets more go while one hangs, as they come back", () => {
    const belief = believing([0, told(2)])
    belief.start(0, false)
    const counts = [30_000, 60_000].map((at) => startable(belief, at))
    assert.deepStrictEqual(counts, [4, 5])
  })

  it("waits for room until so much has come back, yet never longer than a call takes", () => {
    const quick = believing([0, told(100, { limit: 200, untilFull: 0 })])
    assert.strictEqual(startable(quick, 0), 28)
    assert.closeTo(quick.wait(0, 0, 0), 10, 1e-6)
    const slow = believing([0, told(9)])
    assert.strictEqual(startable(slow, 0), 3)
    assert.closeTo(slow.wait(0, 0, 0), 100, 1e-6)
    const late = believing([0, told(9)])
    exchange(late, told(9), 11_000, 1000)
    exchange(late, told(9), 22_000, 500)
    startable(late, 22_000)
    assert.closeTo(late.wait(22_000, 0, 0), 900, 1e-6)
  })

  it("lets as many more go as come back while one is under way", () => {
    const slow = Estimator.make()
    exchange(slow, told(9), 20_000, 10_000)
    assert.strictEqual(startable(slow, 20_000), 8)
  })

  it("does not count the calls that were sent before anything was told among those that have taken what came back", () => {
    const belief = believing(...[1, 2, 3].map(() => [0, told(undefined)] as const))
    const [first] = [1, 2, 3, 4].map(() => belief.start(1000, false))
    first!.settle(refused({ untilFull: 9 }), 1000)
    assert.isAbove(belief.wait(20_000, 0, 0), 0)
    assert.strictEqual(belief.wait(24_000, 0, 0), 0)
  })

  it("has what a call has taken back when it was not sent", () => {
    const belief = believing([0, told(4)])
    const before = belief.status(0)
    const taken = belief.start(0, false)
    assert.strictEqual(belief.status(0)?.remaining, 3)
    taken.giveBack(0)
    assert.deepStrictEqual(belief.status(0), before)
  })

  it("tells when the bucket will be full", () => {
    assert.strictEqual(believing([0, told(6, { untilFull: 9 })]).status(0)?.fullAt, 16_000)
  })

  describe("of windows", () => {
    const at = 1_000_000
    const windows = (left = 30) => {
      const belief = Estimator.make()
      exchange(belief, told(99, { limit: 100, untilFull: 60 }), at)
      exchange(belief, told(left, { limit: 100, untilFull: 50 }), at + 10_000)
      return belief
    }

    for (
      const [ahead, wait] of [[0, 0], [29, 0], [30, 51_000], [129, 51_000], [130, 112_000], [230, 173_000]] as const
    ) {
      it(`waits for the next where those left are spoken for, and for one more for each hundred: ${ahead}`, () => {
        assert.strictEqual(windows().wait(at + 10_000, 0, ahead), wait)
      })
    }

    it("lets the last call of a window go", () => {
      assert.strictEqual(windows(1).wait(at + 10_000, 0, 0), 0)
    })

    it("believes what it is told, and learns no rate from it", () => {
      const belief = windows()
      const { isShared, netRate } = belief.state
      exchange(belief, told(12, { limit: 100, untilFull: 49 }), at + 11_000)
      assert.strictEqual(belief.status(at + 11_000)?.remaining, 12)
      assert.deepInclude(belief.state, { netRate, isShared })
    })

    it("has nothing left after a refusal, and looks again later each time", () => {
      const belief = windows()
      const waits = [10_000, 61_000, 62_000, 64_000].map((from) => {
        exchange(belief, refused({ limit: 100, untilFull: 0, date: 1060 }), at + from)
        assert.strictEqual(belief.status(at + from)?.remaining, 0)
        return belief.wait(at + from, 0, 0)
      })
      assert.deepStrictEqual(waits, [51_000, 2000, 4000, 8000])
    })
  })

  it("counts a refusal once for all calls that were in flight", () => {
    const [one, many] = [1, 3].map((count) => {
      const belief = believing([0, told(9)], [10, refused()])
      const taken = Array.from({ length: count }, () => belief.start(20_000, false))
      for (const each of taken) each.settle(refused(), 20_100)
      return belief.state
    })
    assert.deepStrictEqual([many!.netRate, many!.provenRate], [one!.netRate, one!.provenRate])
  })

  it("counts no refusal among the calls that have taken from the bucket", () => {
    const belief = believing([0, told(9, { untilFull: 60 })], [10, refused({ untilFull: 120 })])
    exchange(belief, told(8, { untilFull: 120 }), 20_000)
    assert.isAtMost(belief.state.provenRate * 1000, 1 / 60)
    exchange(belief, told(9, { untilFull: 120 }), 30_000)
    assert.closeTo(belief.state.provenRate * 1000, 1 / 10, 1e-9)
  })

  it("proves no rate by calls that were under way together when the clock was set back", () => {
    const belief = Estimator.make()
    const [one, other] = [belief.start(1000, false), belief.start(1000, false)]
    other.settle(told(20, { limit: 100, untilFull: 80, date: 100 }), 2000)
    const before = belief.state.provenRate
    belief.wait(2000 - 3_600_000, 0, 0)
    one.settle(told(49, { limit: 100, untilFull: 51, date: 100 }), 2500 - 3_600_000)
    assert.strictEqual(belief.state.provenRate, before)
    assert.closeTo(belief.state.callMillis, 1100, 1e-9)
  })

  it("takes no time that was kept elsewhere for one that the clock was set back from, if there is none", () => {
    const belief = Estimator.make()
    belief.restore({ ...belief.state, limit: 10, netRate: 1 / 1000, latest: Infinity }, 0)
    belief.wait(1000, 0, 0)
    assert.strictEqual(belief.status(1000)?.remaining, 1)
  })

  it("goes on as before whatever it has been told when the clock is set back", () => {
    const back = 3_600_000
    for (let seed = 1; seed <= 40; seed++) {
      let state = seed
      const random = () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
      const [belief, other] = [Estimator.make(), Estimator.make()]
      const at = 10 * back
      for (const each of [belief, other]) {
        each.start(at, false) // hangs
        exchange(each, told(5), at)
      }
      let [now, offset] = [at, 0]
      for (let nth = 0; nth < 30; nth++) {
        if (nth === 15) {
          offset = back
          belief.wait(now + 30 - back, 0, 0)
        }
        now += 100 + Math.floor(random() * 20_000)
        const left = Math.floor(random() * 10)
        const isRefused = random() < 0.2
        const answer = told(isRefused ? 0 : left, {
          isRateLimited: isRefused,
          untilFull: 30 - left,
          date: Math.floor(now / 1000)
        })
        const pairs = [[belief, now - offset], [other, now]] as const
        const [here, there] = pairs.map(([each, now]) => {
          const before = each.wait(now, 0, 0)
          const taken = [1, 2, 3].map(() => each.start(now, true))
          const seen = [before, each.wait(now + 10, 0, 0)]
          for (const one of taken) one.settle(answer, now + 20)
          return [
            ...seen,
            each.wait(now + 30, 0, 0),
            each.wait(now + 30, 0, 3),
            each.state.netRate
          ]
        })
        for (const [which, value] of here!.entries()) {
          const expected = there![which]!
          assert.closeTo(value, expected, expected * 1e-6, `seed ${seed}, step ${nth}, ${which}`)
        }
      }
    }
  })

  /** A bucket that many calls at once draw on, in steps of a few milliseconds; `seen` looks at it after each. */
  const drive = (
    belief: Estimator.Estimator,
    { others = 0, perSecond, seed }: { readonly others?: number; readonly perSecond: number; readonly seed: number },
    seen: () => void
  ) => {
    const profile = { ...BucketServer.profileOf(seed), kind: "refill", toldWhenRefused: true } as const
    const server = BucketServer.make(profile, { burst: 10, interval: 1000 / perSecond })
    let state = seed
    const random = () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
    const under: Array<{ at: number; readonly run: (now: number) => void }> = []
    let held = false
    for (let now = 1_000_000; now < 1_020_000; now += 5) {
      for (const next of under.splice(0).sort((one, other) => one.at - other.at)) {
        if (next.at > now) under.push(next)
        else next.run(now)
      }
      if (random() < others * perSecond * 0.005) server.answer("deleteEventStream", now)
      if (belief.wait(now, 0, 0) > 0) held = true
      else {
        const taken = belief.start(now, held)
        held = false
        under.push({
          at: now + 5 + random() * 40,
          run: (arrived) => {
            const { headers, status } = server.answer("deleteEventStream", arrived)
            const answer = { status, headers: Headers.fromInput(headers) }
            under.push({
              at: arrived + 5 + random() * 40,
              run: (ended) => {
                taken.settle(RateLimitHeaders.readRateLimit(answer, ended), ended)
                seen()
              }
            })
          }
        })
      }
    }
  }

  for (const others of [0, 0.3, 0.6]) {
    it(`never takes a rate for proved that is above the bucket's, while others take ${others} of it`, () => {
      for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
        for (const perSecond of [2, 16]) {
          const belief = Estimator.make()
          drive(belief, { others, perSecond, seed }, () => {
            assert.isAtMost(belief.state.provenRate * 1000, perSecond * 1.000001, `seed ${seed}`)
          })
          // It keeps so many answers, so far apart.
          const ends = belief.state.samples.map(({ endedAt }) => endedAt)
          assert.isAtMost(ends.length, 32)
          for (const [nth, end] of ends.slice(1).entries()) assert.isAtLeast(end - ends[nth]!, 50)
          if (others === 0) {
            assert.isAtLeast(belief.state.provenRate * 1000, perSecond * 0.8, `seed ${seed}`)
          }
        }
      }
    })
  }
})

const nobody = { operations: new Map<string, number>(), buckets: new Map<string, number>() }

/** A learner, and calls of its operations, each of which takes 10 ms. */
const learner = (learning = Adaptive.make()) => {
  const lane = (operation: string) => learning.stateOf({ tenant, operation })
  const start = (operation: string, at: number) => learning.start(lane(operation), at, false)
  const call = (operation: string, at: number, answer: RateLimitHeaders.RateLimitReading | undefined) =>
    learning.settle(start(operation, at), answer, at + 10)
  const wait = (operation: string, at: number, waited = 0) => learning.wait(lane(operation), at, 0, 0, waited)
  const areTogether = (one: string, other: string) => learning.bucketOf(lane(one)) === learning.bucketOf(lane(other))
  return { learning, lane, start, call, wait, areTogether, save: () => Learned.save(learning, tenant) }
}

/** What is told of a bucket of 100 that fills with so many calls in a second. */
const large = (remaining: number, perSecond = 0.1) =>
  told(remaining, { limit: 100, untilFull: Math.round((100 - remaining) / perSecond) })

describe("operations", () => {
  for (
    const [what, seen, together, every = 100] of [
      ["what can be left", "a49", true],
      ["one call more than that", "a51", true],
      ["one call more, twice", "a51 b49 a50", false],
      ["one call more, and again after what can be left", "a51 b49 a49 b47 a48", true],
      ["one call more, twice in a row", "a51 a51", false],
      ["more than its own last call has left", "a49 a51", false, 10],
      ["much more", "a52", false],
      ["much more, as soon as the last call is over", "a52", false, 10],
      ["much more than its newest call", "c49 b30 a32", false],
      ["what may have come back", "a52", true, 30_000],
      ["more than may have come back", "a58", false, 30_000],
      ["that it is full when it can be", "a99", true, 1_000_000]
    ] as ReadonlyArray<readonly [what: string, seen: string, together: boolean, every?: number]>
  ) {
    it(`${together ? "stay with" : "leave"} a bucket when they are told ${what}`, () => {
      const { areTogether, call, learning } = learner()
      call("a", 0, large(60))
      call("b", 100, large(50))
      assert.isTrue(areTogether("a", "b"))
      seen.split(" ").forEach((step, nth) => {
        call(step.slice(0, 1), 100 + (nth + 1) * every, large(Number(step.slice(1))))
      })
      assert.strictEqual(areTogether("a", "b"), together)
      assert.strictEqual(Learned.levels(learning, tenant, 2_000_000).size, together ? 1 : 2)
    })
  }

  it("leave nothing behind when they are told of another limit", () => {
    const { call, learning } = learner()
    call("a", 0, large(60))
    call("a", 100, told(5))
    assert.deepStrictEqual([...Learned.levels(learning, tenant, 200).values()], [5])
  })

  it("leave those they were with when they are told of another limit", () => {
    const { areTogether, call, learning } = learner()
    call("a", 0, large(60))
    call("b", 100, large(50))
    call("a", 200, told(5))
    assert.isFalse(areTogether("a", "b"))
    assert.deepStrictEqual([...Learned.levels(learning, tenant, 210).values()], [50, 5])
  })

  it("stay with a bucket whatever a refusal tells", () => {
    const { areTogether, call } = learner()
    call("a", 0, large(60))
    call("b", 100, large(50))
    call("b", 200, { ...large(0), isRateLimited: true })
    call("a", 300, large(48))
    assert.isTrue(areTogether("a", "b"))
  })

  it("stay with a bucket when its window is over", () => {
    const { areTogether, call } = learner()
    const window = (left: number, untilFull: number) => told(left, { limit: 100, untilFull })
    call("a", 0, window(99, 60))
    call("b", 10_000, window(30, 50))
    call("a", 60_200, window(99, 60))
    call("b", 70_000, window(30, 50))
    assert.isTrue(areTogether("a", "b"))
    call("a", 120_500, window(99, 60))
    assert.isTrue(areTogether("a", "b"))
  })

  it("go to the bucket that explains best what they are told", () => {
    const { areTogether, call } = learner()
    call("a", 0, large(30))
    call("b", 100, large(89))
    assert.isFalse(areTogether("a", "b"))
    call("c", 200, large(29))
    assert.isTrue(areTogether("c", "a"))
    call("b", 300, large(20))
    call("d", 400, large(19))
    assert.isTrue(areTogether("d", "b"))
  })

  it("go before others with their first call, where that tells which bucket they draw on", () => {
    const { call, lane, learning, start } = learner()
    const isFirst = (operation: string) => learning.isFirst(lane(operation))
    assert.isFalse(isFirst("b")) // nothing is known of any
    call("a", 0, large(60))
    assert.deepStrictEqual([isFirst("a"), isFirst("b")], [false, true])
    start("b", 100)
    assert.isFalse(isFirst("b"))
  })

  it("are told apart from those that are answered without a word, which draw on nothing that is known", () => {
    const { call, learning, start } = learner()
    const drawn = (operation: string) => bucketIdsOf(start(operation, 1000))
    call("a", 0, large(60))
    const known = [...Learned.levels(learning, tenant, 10).keys()]
    call("b", 100, told(undefined))
    call("c", 200, told(undefined, { isServed: false }))
    assert.deepStrictEqual([drawn("b"), drawn("c")], [["?"], known])
  })

  it("do not wait for an answer that tells nothing, as long as none has told anything", () => {
    const { call, start, wait } = learner()
    for (const at of [0, 100, 200]) call("a", at, told(undefined))
    start("b", 300)
    assert.strictEqual(wait("b", 310), 0)
  })

  it("count each call once, in the bucket that it tells of", () => {
    const { call, learning, save } = learner()
    const limits = [50, 60, 70]
    limits.forEach((limit, nth) => call("abc"[nth]!, nth * 100, told(limit - 1, { limit, untilFull: 1 })))
    assert.deepStrictEqual([...Learned.levels(learning, tenant, 300).values()], [49, 59, 69])
    call("d", 2300, told(65, { limit: 70, untilFull: 5 }))
    const supplies = save().buckets.map(({ estimator }) => estimator)
    assert.deepStrictEqual(supplies.map(({ served }) => served), [1, 1, 2])
    // None of them had waited.
    assert.deepStrictEqual(supplies.map(({ fullResponses }) => fullResponses), [0, 0, 0])
  })

  it("remember their last calls, no more", () => {
    const { call, save } = learner()
    for (let nth = 0; nth < 40; nth++) call("a", nth * 100, large(90 - nth))
    const ends = save().operations["a"]?.observations.map(({ endedAt }) => endedAt)
    assert.deepStrictEqual(ends, Array.from({ length: 32 }, (_, nth) => (nth + 8) * 100 + 10))
  })

  it("that were given no answer may go again as before", () => {
    const { call, learning, start, wait } = learner()
    call("a", 0, large(60))
    call("b", 100, undefined)
    assert.isBelow(wait("b", 200), 3000)
    learning.giveBack(start("b", 200), 200)
    assert.isBelow(wait("b", 300), 3000)
    start("b", 300)
    assert.strictEqual(wait("b", 400), Infinity)
  })

  /**
   * Two that have parted make calls in this order, 300 ms apart. What is left counts the calls of both, or only its own, for
   * those that `blind` names; at an `x` somebody else takes one of each. Whether they have come together at any time.
   */
  const meet = (order: string, blind = "", perSecond = 0.1) => {
    const [here, there] = [learner(), learner()]
    const { areTogether, call } = here
    call("b", 0, large(30, perSecond))
    call("a", 20, large(89, perSecond))
    call("c", 40, told(9))
    assert.strictEqual(areTogether("a", "b"), [...order].length === 0)
    const left = { a: 89, b: 30, c: 9 } as Record<string, number>
    const level = (at: number) => Math.floor(perSecond * at / 1000)
    let met = false
    for (const name of ["a", "b"]) if (!blind.includes(name)) left[name] = 25
    ;[..."abab", ...order].forEach((name, nth) => {
      const at = 1000 + nth * 300
      if (name === "x") {
        for (const each of ["a", "b"]) left[each]!--
        return
      }
      const isLast = nth === order.length + 3
      if (isLast) Learned.load(there.learning, tenant, here.save(), nobody)
      if (isLast) assert.deepStrictEqual(there.save(), here.save())
      if (isLast) there.call(name, at, large(left[name]! - 1 + level(at), perSecond))
      for (const each of name === "c" ? ["c"] : ["a", "b"]) {
        if (each === name || !blind.includes(each)) left[each]!--
      }
      call(name, at, name === "c" ? told(Math.max(0, left["c"]!)) : large(left[name]! + level(at), perSecond))
      met ||= areTogether("a", "b")
    })
    if (areTogether("a", "b")) {
      const levels = [...Learned.levels(here.learning, tenant, 1000 + (order.length + 3) * 300 + 10).values()]
      assert.include(levels, left["a"]! + level(1000 + (order.length + 3) * 300))
    }
    if (!order.endsWith("c")) assert.strictEqual(there.areTogether("a", "b"), areTogether("a", "b"))
    return met
  }

  for (
    const [what, order, blind, together] of [
      ["when each has seen the other's calls twice", "aabbaabba", "", true],
      ["whoever comes first", "bbaabbaab", "", true],
      ["but not sooner", "aabbaab", "", false],
      ["but not for single calls", "ababababababab", "", false],
      ["but not when neither sees the other's", "aabbaabbaabb", "ab", false],
      ["but not when only one sees the other's", "aabbaabbaabb", "a", false],
      ["but not when only the other does", "aabbaabbaabb", "b", false],
      ["but not for fewer calls than the other's", "xaaaaxbbbbxaaaaxbbbbxaaaaxbbbb", "ab", false],
      ["but not for the calls of a bucket with another limit", "accaccaccbccbcc", "ab", false]
    ] as const
  ) {
    it(`come together again, ${what}`, () => {
      assert.strictEqual(meet(order, blind), together)
    })
  }

  it("do not come together where fewer calls are missing than the other's, however late it is", () => {
    assert.isFalse(meet("xaaaaxbbbbxaaaaxbbbbxaaaaxbbbb", "ab", 0.3))
  })

  /** Two that have parted make calls; whether they are together after any of them. */
  const meetEver = (
    gap: number,
    answer: (name: string, nth: number) => RateLimitHeaders.RateLimitReading,
    limitOf: (name: string) => number = () => 100
  ) => {
    const { areTogether, call, learning, start } = learner()
    for (const [name, at, left] of [["b", 0, 30], ["a", 20, 89]] as const) {
      call(name, at, told(left, { limit: limitOf(name), untilFull: 900 }))
    }
    assert.isFalse(areTogether("a", "b"))
    return [..."ababaabbaabbaabb"].some((name, nth) => {
      const at = 1000 + nth * gap
      learning.settle(start(name, at), { ...answer(name, nth), limit: limitOf(name) }, at + gap / 2)
      return areTogether("a", "b")
    })
  }

  it("come together only where their limits are the same", () => {
    const answer = (_: string, nth: number) => told(25 - nth, { untilFull: 900 })
    assert.isTrue(meetEver(300, answer))
    assert.isFalse(meetEver(300, answer, (name) => name === "a" ? 100 : 90))
  })

  it("come together also in a bucket that should have been full", () => {
    assert.isTrue(meetEver(20_000, (_, nth) => told(25 - nth, { untilFull: 1 })))
  })

  it("do not come together where nothing is missing, however much may have come back", () => {
    const left: Record<string, number> = { a: 50, b: 25 }
    assert.isFalse(meetEver(60_000, (name) => told(left[name]!--, { untilFull: 900 })))
  })

  it("do not come together for what has come back", () => {
    for (const perSecond of [0.5, 1, 2, 4]) assert.isFalse(meet("aabbaabbaabb", "ab", perSecond), `${perSecond}`)
  })
})

describe("what is learned", () => {
  /** The same calls for all, as a seed has it; what each waits, and what it knows, after each. */
  const play = (seed: number, from: number, count: number, ...all: ReadonlyArray<ReturnType<typeof learner>>) => {
    let state = seed
    const random = () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
    const seen = all.map((): Array<unknown> => [])
    for (let nth = 0; nth < count; nth++) {
      const at = from + nth * 400
      const operation = "abcde"[Math.floor(random() * 5)]!
      const limit = "cd".includes(operation) ? 100 : 50
      const remaining = Math.floor(random() * 40)
      const answer = [
        undefined,
        told(undefined),
        told(undefined, { isRateLimited: true, pause: 300 }),
        told(0, { limit, isRateLimited: true, untilFull: 30 })
      ][Math.floor(random() * 20)] ??
        told(operation === "e" ? undefined : remaining, { limit, untilFull: 50 - remaining })
      all.forEach(({ call, learning, save, wait }, which) => {
        seen[which]!.push([wait(operation, at, 100), wait("abcde"[nth % 5]!, at + 1)])
        call(operation, at, answer)
        seen[which]!.push([...Learned.levels(learning, tenant, at + 10)], save())
      })
    }
    return seen
  }

  it("goes on elsewhere as it would have gone on here", () => {
    for (let seed = 1; seed <= 30; seed++) {
      const [here, there] = [learner(), learner()]
      for (const operation of "abcde") here.lane(operation)
      play(seed, 1_000_000, seed, here)
      play(seed + 100, 900_000, 5, there) // what it knew is forgotten
      const under = here.start("a", 1_100_000)
      Learned.load(there.learning, tenant, here.save(), {
        operations: new Map([["a", 1]]),
        buckets: new Map(bucketIdsOf(under).map((name) => [name, 1]))
      })
      assert.deepStrictEqual(there.save(), here.save())
      const [one, other] = play(seed + 50, 1_200_000, 12, here, there)
      assert.deepStrictEqual(other, one, `seed ${seed}`)
    }
  })

  it("is kept for each tenant on its own", () => {
    const { call, learning, save } = learner()
    call("a", 0, told(5))
    const before = save()
    const elsewhere = "https://u.example.com/api/v2"
    learning.settle(learning.start(learning.stateOf({ tenant: elsewhere, operation: "z" }), 0, false), told(3), 0)
    assert.deepStrictEqual(save(), before)
    Learned.load(learning, elsewhere, Learned.nothing, nobody)
    assert.deepStrictEqual(save(), before)
    assert.deepStrictEqual(Object.keys(Learned.save(learning, elsewhere).operations), ["z"])
    assert.strictEqual(Learned.levels(learning, elsewhere, 0).size, 0)
  })

  it("keeps the buckets of calls under way, which are named by what they have taken from", () => {
    const { call, learning, save, start } = learner()
    const blind = start("a", 0)
    assert.deepStrictEqual(bucketIdsOf(blind), ["?"])
    learning.settle(blind, told(9), 10)
    const under = start("a", 20)
    const [name, ...more] = bucketIdsOf(under)
    assert.deepStrictEqual([...Learned.levels(learning, tenant, 30).keys(), ...more], [name])
    const saved = save()
    call("b", 25, large(50))
    assert.deepStrictEqual(bucketIdsOf(start("c", 26)).length, 2)
    Learned.load(learning, tenant, saved, { operations: new Map([["a", 1]]), buckets: new Map([[name!, 1]]) })
    learning.settle(under, told(3), 40)
    assert.deepStrictEqual([...Learned.levels(learning, tenant, 40)], [[name, 3]])
  })

  it("is no more than what somebody else has left", () => {
    const { call, learning, wait } = learner()
    call("a", 0, large(60))
    call("b", 100, told(9))
    const [[one], [other, left]] = [...Learned.levels(learning, tenant, 200)] as [[string, number], [string, number]]
    Learned.cap(learning, tenant, new Map([[one, 2]]), 200)
    assert.deepStrictEqual([...Learned.levels(learning, tenant, 200)], [[one, 2], [other, left]])
    Learned.cap(learning, tenant, new Map([[one, 50]]), 200)
    assert.deepStrictEqual([...Learned.levels(learning, tenant, 200)], [[one, 2], [other, left]])
    Learned.cap(learning, tenant, new Map([[one, 0]]), 200)
    assert.isAbove(wait("a", 200), 0)
    assert.strictEqual(wait("b", 200), 0)
  })

  it("is nothing any more after nothing was put there", () => {
    const { call, learning, lane, save } = learner()
    for (const operation of ["a", "b"]) lane(operation)
    const before = save()
    call("a", 0, told(5))
    call("b", 20, told(undefined))
    Learned.load(learning, tenant, Learned.nothing, nobody)
    assert.deepStrictEqual(save().operations, before.operations)
  })
})
