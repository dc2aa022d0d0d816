import * as Headers from "@effect/platform/Headers"
import { assert, describe, it } from "vitest"
import { type BucketReading, readRateLimit } from "../../src/internal/limiter/bucketReading.js"
import { Estimator } from "../../src/internal/limiter/estimator/estimator.js"
import * as BucketServer from "../support/bucketServer.js"
import { rateLimited, reading } from "../support/readings.js"

/** A reading with the server's time, unless it has one. */
const dated = (response: BucketReading, now: number): BucketReading =>
  response.date === 0 ? { ...response, date: Math.floor(now / 1000) } : response

/** Makes a call that ends at `now` after `millis` milliseconds. */
const exchange = (
  estimator: Estimator,
  response: BucketReading | undefined,
  now: number,
  millis = 0,
  waited = false
) => estimator.settle(estimator.start(now - millis, waited), response && dated(response, now), now)

/** Starts as many calls as may start at once, and counts them. */
const startAll = (estimator: Estimator, now: number): number => {
  let count = 0
  for (; count < 100 && estimator.wait(now, 0, 0) <= 0; count++) estimator.start(now, false)
  return count
}

/** The rate at which an estimator expects calls to come back, in calls per second, as its waits show. */
const rateOf = (estimator: Estimator, now: number): number =>
  10_000 / (estimator.wait(now, 0, 1010) - estimator.wait(now, 0, 1000))

/** An estimator that got these responses at these seconds. */
const after = (...responses: ReadonlyArray<readonly [second: number, response: BucketReading | undefined]>) => {
  const estimator = new Estimator()
  for (const [second, response] of responses) exchange(estimator, response, second * 1000)
  return estimator
}

/** An estimator of a shared bucket that refills with one call in a second: it was refused. */
const shared = () => after([0, reading(5)], [10, reading(9)], [10, rateLimited()])

/** The rate of an estimator, in calls per second, once calls that wait find the bucket full for long: nobody else uses it. */
const rateWhenAlone = (estimator: Estimator): number => {
  const day = 86_400_000 // one call in so long a time proves next to nothing
  for (let nth = 1; nth <= 12; nth++) exchange(estimator, reading(9, { untilFull: 60 }), nth * day, 10, true)
  return rateOf(estimator, 13 * day)
}

/** A response of a bucket of a hundred calls. */
const ofHundred = (left: number) => reading(left, { limit: 100, untilFull: 100 - left })

/** An estimator of a bucket of a hundred calls that nobody else uses. */
const unshared = (left: number) =>
  after(...Array.from({ length: 100 - left }, (_, nth) => [0, ofHundred(99 - nth)] as const))

/** An estimator of a shared bucket of a hundred calls: it was refused. */
const sharedHundred = () => after([0, ofHundred(50)], [60, ofHundred(99)], [60, rateLimited({ limit: 100 })])

const random = (seed: number) => {
  let state = seed
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
}

describe("the level", () => {
  it("is unknown before the first rate-limit headers", () => {
    assert.isUndefined(new Estimator().status(0))
  })

  it("counts the calls in flight as taken", () => {
    const estimator = new Estimator()
    const [first] = [estimator.start(0, false), estimator.start(0, false)]
    estimator.settle(first!, reading(5), 0)
    assert.strictEqual(estimator.status(0)?.remaining, 4)
  })

  it("is never above what the own call leaves", () => {
    assert.strictEqual(after([0, reading(10, { untilFull: 0 })]).status(0)?.remaining, 9)
  })

  it("stays where a response has the limit alone", () => {
    const estimator = after([0, reading(4)])
    exchange(estimator, reading(undefined, { limit: 10, untilFull: 3 }), 0)
    assert.strictEqual(estimator.status(0)?.remaining, 3)
  })

  it("stays where a response has no rate-limit headers", () => {
    const estimator = after([0, reading(4)], [1, reading(undefined)])
    const count = startAll(estimator, 1000)
    assert.isAtLeast(count, 1)
    assert.isAtMost(count, 4)
    assert.isTrue(Number.isFinite(estimator.wait(1000, 0, 20)))
  })

  it("is what it was before when a call was not sent", () => {
    const estimator = after([0, reading(4)])
    const before = estimator.status(0)
    estimator.start(0, false)
    assert.strictEqual(estimator.status(0)?.remaining, 3)
    estimator.giveBack(0)
    assert.deepStrictEqual(estimator.status(0), before)
  })

  it("is less than one call after a refusal, whichever of two calls it came to", () => {
    const estimator = after([0, reading(1, { untilFull: 9 })])
    const [one, other] = [estimator.start(0, false), estimator.start(0, false)]
    estimator.settle(one, rateLimited({ untilFull: 10 }), 0)
    estimator.settle(other, rateLimited({ untilFull: 10 }), 0)
    assert.strictEqual(estimator.status(0)?.remaining, 0)
    assert.strictEqual(startAll(estimator, 0), 0)
  })

  it("grows with time also where only some responses have a reset", () => {
    const estimator = after([0, reading(1, { untilFull: 9 })], [0, reading(5, { untilFull: undefined })])
    assert.isAbove(estimator.status(60_000)?.remaining ?? 0, estimator.status(0)?.remaining ?? 0)
  })

  it("can be capped", () => {
    const estimator = after([0, reading(9)])
    const uncapped = startAll(after([0, reading(9)]), 0)
    estimator.cap(6, 0)
    assert.isAtMost(estimator.status(0)?.remaining ?? NaN, 6)
    const count = startAll(estimator, 0)
    assert.isAtLeast(count, 1)
    assert.isBelow(count, uncapped)
  })

  it("reaches the limit at the time that the reset allows", () => {
    const { fullAt } = after([0, reading(6, { untilFull: 9 })]).status(0)!
    assert.isAtLeast(fullAt, 8000)
    assert.isAtMost(fullAt, 20_000)
  })
})

describe("the rate", () => {
  it("is at first at least what must come back until the reset, also where a refusal comes first", () => {
    const rate = rateOf(after([0, reading(0, { untilFull: 9 })]), 0)
    assert.isAbove(rate, 0.3)
    assert.isBelow(rate, 1.3)
    assert.isAbove(rateOf(after([0, rateLimited({ untilFull: 9 })]), 0), 0.3)
  })

  it("is finite where responses take no time", () => {
    const estimator = after(...Array.from({ length: 8 }, (_, nth) => [0, reading(9 - nth)] as const))
    assert.isTrue(Number.isFinite(estimator.wait(0, 0, 20)))
  })

  it("sinks when other clients take calls, but one response cannot stop all calls", () => {
    const estimator = after([0, reading(9)])
    const before = rateOf(estimator, 60)
    exchange(estimator, reading(2), 60)
    assert.isBelow(rateOf(estimator, 60), before)
    assert.isAbove(rateOf(estimator, 60), before / 4)
  })

  it("sinks with each refusal, and stays above zero", () => {
    const estimator = after([0, reading(9)])
    const rates = Array.from({ length: 60 }, (_, nth) => {
      exchange(estimator, rateLimited({ untilFull: 60 }), 20_000 + nth * 10_000, 10)
      return rateOf(estimator, 20_000 + nth * 10_000)
    })
    for (const [nth, rate] of rates.slice(1, 6).entries()) assert.isBelow(rate, rates[nth]!)
    assert.isAbove(rates.at(-1)!, 0)
  })

  it("sinks once for all calls that were in flight together", () => {
    const [one, many] = [1, 3].map((count) => {
      const estimator = after([0, reading(9)], [10, rateLimited()])
      const calls = Array.from({ length: count }, () => estimator.start(20_000, false))
      for (const call of calls) estimator.settle(call, rateLimited(), 20_100)
      return rateOf(estimator, 20_100)
    })
    assert.closeTo(many!, one!, 1e-9)
  })

  it("rises again when calls that waited find the bucket full", () => {
    const estimator = shared()
    const before = rateOf(estimator, 20_000)
    for (let nth = 0; nth < 12; nth++) exchange(estimator, reading(9), 100_000 + nth * 20_000, 10, true)
    assert.isAbove(rateOf(estimator, 400_000), before)
  })

  it("does not rise where the limit is 1, which is always reported as full", () => {
    const estimator = new Estimator()
    const rates = Array.from({ length: 20 }, (_, nth) => {
      exchange(estimator, reading(0, { limit: 1, untilFull: 1 }), nth * 5000, 10, true)
      return rateOf(estimator, nth * 5000)
    })
    for (const rate of rates) assert.closeTo(rate, rates[0]!, 1e-6)
  })

  it("is proved by calls one after the other, and not by calls that were in flight together", () => {
    const rateAfter = (second: { readonly sentAt: number; readonly response: BucketReading | undefined }) => {
      const estimator = new Estimator()
      const first = estimator.start(0, false)
      const early = second.sentAt < 100 ? estimator.start(second.sentAt, false) : undefined
      estimator.settle(first, reading(2), 100)
      estimator.settle(early ?? estimator.start(second.sentAt, false), second.response, 3000)
      return rateWhenAlone(estimator)
    }
    const together = rateAfter({ sentAt: 50, response: reading(8) })
    assert.closeTo(together, rateAfter({ sentAt: 50, response: undefined }), 1e-6)
    assert.isAbove(rateAfter({ sentAt: 200, response: reading(8) }), together * 1.5)
  })

  it("is not proved by calls that were in flight together when the clock was set back", () => {
    const back = 3_600_000
    const estimatorAfter = (last: BucketReading | undefined) => {
      const estimator = new Estimator()
      const [one, other] = [estimator.start(1000, false), estimator.start(1000, false)]
      estimator.settle(other, reading(2, { untilFull: 80, date: 100 }), 2000)
      estimator.wait(2000 - back, 0, 0)
      estimator.settle(one, last, 2500 - back)
      return estimator
    }
    const last = reading(8, { untilFull: 51, date: 100 })
    assert.closeTo(rateWhenAlone(estimatorAfter(last)), rateWhenAlone(estimatorAfter(undefined)), 1e-6)
  })

  it("is not proved by a call that another clock sent: a fleet's state has replaced the estimate meanwhile", () => {
    const ahead = 12_000
    const rateAfter = (sentAt: number) => {
      const estimator = new Estimator()
      const call = estimator.start(sentAt, false)
      estimator.restore(new Estimator().state, 0)
      estimator.settle(call, reading(1, { limit: 2, untilFull: 1 }), 0)
      for (let nth = 1; nth <= 26; nth++) {
        exchange(
          estimator,
          reading(0, { limit: 2, untilFull: 1 + nth % 2, date: Math.floor(nth / 2) }),
          nth * 500,
          15,
          true
        )
      }
      return rateWhenAlone(estimator)
    }
    assert.closeTo(rateAfter(ahead), rateAfter(0), 1e-6)
  })

  it("counts no refusal as a call that took from the bucket", () => {
    const estimatorAfter = (...more: ReadonlyArray<readonly [second: number, response: BucketReading]>) =>
      after(
        [0, reading(9, { untilFull: 60 })],
        [10, rateLimited({ untilFull: 120 })],
        [20, reading(8, { untilFull: 120 })],
        ...more
      )
    // Nothing came back in the first 20 s, and one call in 10 s after that.
    const before = rateWhenAlone(estimatorAfter())
    assert.isAtLeast(rateWhenAlone(estimatorAfter([30, reading(9, { untilFull: 120 })])) / before, 6)
  })

  /** Lets calls draw on a simulated bucket for 60 s; counts those that it served and refused, after 20 s. */
  const simulate = (
    estimator: Estimator,
    { others, perSecond, seed }: { readonly others: number; readonly perSecond: number; readonly seed: number }
  ) => {
    const counts = { served: 0, refused: 0 }
    const profile = { ...BucketServer.profileOf(seed), kind: "refill", hasHeadersWhenRefused: true } as const
    const server = BucketServer.make(profile, { burst: 10, interval: 1000 / perSecond })
    const next = random(seed)
    const due: Array<{ readonly at: number; readonly run: (now: number) => void }> = []
    let waited = false
    for (let now = 1_000_000; now < 1_060_000; now += 5) {
      for (const task of due.splice(0).sort((one, other) => one.at - other.at)) {
        if (task.at > now) due.push(task)
        else task.run(now)
      }
      if (next() < others * perSecond * 0.005) server.respond("deleteEventStream", now)
      if (estimator.wait(now, 0, 0) > 0) waited = true
      else {
        const reservation = estimator.start(now, waited)
        waited = false
        due.push({
          at: now + 5 + next() * 40,
          run: (arrived) => {
            const { headers, status } = server.respond("deleteEventStream", arrived)
            const response = { status, headers: Headers.fromInput(headers) }
            if (arrived >= 1_020_000) counts[status === 429 ? "refused" : "served"]++
            due.push({
              at: arrived + 5 + next() * 40,
              run: (ended) => estimator.settle(reservation, readRateLimit(response, ended, Infinity), ended)
            })
          }
        })
      }
    }
    return counts
  }

  for (const others of [0, 0.3, 0.6]) {
    it(`follows a simulated bucket, while others take ${others} of it, and its state stays small`, () => {
      for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
        for (const perSecond of [2, 16]) {
          const estimator = new Estimator()
          const { refused, served } = simulate(estimator, { others, perSecond, seed })
          const message = `seed ${seed}, ${perSecond} in a second: ${served} served, ${refused} refused`
          assert.isAtLeast(served, (1 - others) * perSecond * 40 * 0.7, message)
          assert.isAtMost(refused, 1 + served * (others === 0 ? 0.02 : 0.2), message)
          assert.isBelow(JSON.stringify(estimator.state).length, 5000)
        }
      }
    })
  }
})

describe("a shared bucket", () => {
  it("is recognized by responses that show fewer calls than expected", () => {
    const estimator = after([0, ofHundred(99)], [0, ofHundred(98)], [0, ofHundred(60)])
    assert.isBelow(startAll(estimator, 0), startAll(unshared(60), 0))
  })

  it("is recognized by a refusal", () => {
    const estimator = after([0, ofHundred(99)], [0, rateLimited({ limit: 100 })], [0, ofHundred(60)])
    assert.isBelow(startAll(estimator, 0), startAll(unshared(60), 0))
  })

  /** The number of calls that start at once after full responses, to calls that the estimator made wait or not. */
  const startedAfter = (...waited: ReadonlyArray<boolean>): number => {
    const estimator = sharedHundred()
    for (const [nth, each] of waited.entries()) exchange(estimator, ofHundred(99), 200_000 + nth * 200_000, 10, each)
    return startAll(estimator, waited.length * 200_000)
  }

  it("counts as unshared when calls that waited find it full again and again", () => {
    const times = Array.from({ length: 9 }, () => true)
    assert.isAbove(startedAfter(...times), startedAfter(true))
  })

  it("stays so for calls that did not wait, and for the first full response after a refusal", () => {
    const times = Array.from({ length: 8 }, () => false)
    assert.strictEqual(startedAfter(true, ...times), startedAfter(true))
  })

  it("lets fewer calls start at once than an unshared one", () => {
    assert.isBelow(startAll(after([0, ofHundred(60)]), 0), startAll(unshared(60), 0))
  })
})

describe("the calls in flight", () => {
  it("starts with one call in flight, and allows one more after each served call", () => {
    const estimator = new Estimator()
    assert.strictEqual(startAll(estimator, 0), 1)
    assert.strictEqual(startAll(after([0, reading(undefined)], [1, reading(undefined)]), 2000), 3)
  })

  it("are no more after a pause than before: the bucket may have been used meanwhile", () => {
    assert.strictEqual(startAll(after([0, reading(2)]), 100_000), 1)
  })

  it("are few after a refusal, however many calls were left before", () => {
    const estimator = after([0, reading(9)])
    exchange(estimator, rateLimited(), 0)
    assert.isAtMost(startAll(estimator, 20_000), 1)
  })

  it("grow while one hangs, as calls come back", () => {
    const estimator = after([0, reading(2)])
    estimator.start(0, false)
    const counts = [30_000, 60_000].map((at) => startAll(estimator, at))
    for (const count of counts) {
      assert.isAtLeast(count, 1)
      assert.isAtMost(count, 10)
    }
  })

  it("make a call look again soon, since enough may have come back", () => {
    const quick = after([0, reading(100, { limit: 200, untilFull: 0 })])
    assert.isAtLeast(startAll(quick, 0), 10)
    assert.strictEqual(quick.wait(0, 0, 0), 100)
  })

  it("that started before the first headers came are not counted as refilled", () => {
    const estimator = after(...[1, 2, 3].map(() => [0, reading(undefined)] as const))
    const [first] = [1, 2, 3, 4].map(() => estimator.start(1000, false))
    estimator.settle(first!, rateLimited({ untilFull: 9 }), 1000)
    assert.isAbove(estimator.wait(10_000, 0, 0), 0)
    assert.strictEqual(estimator.wait(60_000, 0, 0), 0)
  })
})

describe("fixed windows", () => {
  const start = 1_000_000
  const found = (left = 30) => {
    const estimator = new Estimator()
    exchange(estimator, reading(99, { limit: 100, untilFull: 60 }), start)
    exchange(estimator, reading(left, { limit: 100, untilFull: 50 }), start + 10_000)
    return estimator
  }

  for (
    const [ahead, wait] of [[0, 0], [29, 0], [30, 51_000], [129, 51_000], [130, 112_000], [230, 173_000]] as const
  ) {
    it(`make call ${ahead + 1} wait ${wait} ms where 30 are left of 100`, () => {
      assert.strictEqual(found().wait(start + 10_000, 0, ahead), wait)
    })
  }

  it("let their last call start", () => {
    assert.strictEqual(found(1).wait(start + 10_000, 0, 0), 0)
  })

  it("take the level from each response, and no rate", () => {
    const estimator = found()
    exchange(estimator, reading(12, { limit: 100, untilFull: 49 }), start + 11_000)
    assert.strictEqual(estimator.status(start + 11_000)?.remaining, 12)
    const waits = [11, 12, 111, 112].map((ahead) => estimator.wait(start + 11_000, 0, ahead))
    assert.deepStrictEqual(waits, [0, 50_000, 50_000, 111_000])
  })

  it("are found also where a response between has the limit alone", () => {
    const estimator = new Estimator()
    exchange(estimator, reading(99, { limit: 100, untilFull: 60 }), start)
    exchange(estimator, reading(undefined, { limit: 100, untilFull: 55 }), start + 5000)
    exchange(estimator, reading(30, { limit: 100, untilFull: 50 }), start + 10_000)
    assert.strictEqual(estimator.wait(start + 10_000, 0, 30), 51_000)
  })

  it("are empty after a refusal, and looked at again each second after their end", () => {
    const estimator = found()
    const waits = [10_000, 61_000, 62_000].map((millis) => {
      exchange(estimator, rateLimited({ limit: 100, untilFull: 0, date: 1060 }), start + millis)
      assert.strictEqual(estimator.status(start + millis)?.remaining, 0)
      return estimator.wait(start + millis, 0, 0)
    })
    assert.deepStrictEqual(waits, [51_000, 1000, 1000])
  })
})

describe("a clock that is set back", () => {
  const back = 3_600_000

  it("does not prolong a pause that the service asked for", () => {
    const estimator = after([10_000, rateLimited({ pause: 1000 })])
    assert.strictEqual(estimator.wait(10_000_000 - back, 0, 0), 1000)
  })

  it("proves no rate by calls before and after it, since nobody knows the time between them", () => {
    const estimator = new Estimator()
    for (const [nth, left] of [9, 8, 7].entries()) exchange(estimator, reading(left), 10_000_000 + nth * 100)
    const before = rateOf(estimator, 10_000_300)
    const inFlight = estimator.start(10_000_300, false)
    // The bucket fills while the clock is set back by an hour.
    for (const nth of [0, 1, 2]) exchange(estimator, reading(9 - nth), 10_000_350 - back + nth * 100)
    estimator.settle(inFlight, reading(5), 10_000_700 - back)
    assert.isAtMost(rateOf(estimator, 10_000_800 - back), before)
  })

  it("forgets the calls that could prove a rate, and changes nothing else, whatever the responses were", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const next = random(seed)
      const [estimator, other] = [new Estimator(), new Estimator()]
      const at = 10 * back
      for (const each of [estimator, other]) {
        each.start(at, false) // hangs
        exchange(each, reading(5), at)
      }
      let [now, offset] = [at, 0]
      for (let nth = 0; nth < 30; nth++) {
        if (nth === 15) {
          offset = back
          estimator.wait(now + 30 - back, 0, 0)
          other.restore({ ...other.state, samples: [] }, other.inFlight)
        }
        now += 100 + Math.floor(next() * 20_000)
        const left = Math.floor(next() * 10)
        const isRateLimited = next() < 0.2
        const response = reading(isRateLimited ? 0 : left, {
          isRateLimited,
          untilFull: 30 - left,
          date: Math.floor(now / 1000)
        })
        const pairs = [[estimator, now - offset], [other, now]] as const
        const [here, there] = pairs.map(([each, now]) => {
          const before = each.wait(now, 0, 0)
          const reservations = [1, 2, 3].map(() => each.start(now, true))
          const during = each.wait(now + 10, 0, 0)
          for (const reservation of reservations) each.settle(reservation, response, now + 20)
          return [before, during, each.wait(now + 30, 0, 0), each.wait(now + 30, 0, 3), rateOf(each, now + 30)]
        })
        for (const [which, value] of here!.entries()) {
          const expected = there![which]!
          assert.closeTo(value, expected, expected * 1e-6, `seed ${seed}, step ${nth}, ${which}`)
        }
      }
    }
  })
})

describe("the state", () => {
  it("is a copy, and makes an estimator that goes on as the first", () => {
    const one = after([0, reading(5)], [3, reading(6)], [4, rateLimited({ untilFull: 20 })])
    const { state } = one
    const other = new Estimator()
    other.restore(structuredClone(state), 0)
    for (const [nth, response] of [reading(7), rateLimited(), reading(undefined), reading(3)].entries()) {
      const at = 30_000 + nth * 5000
      assert.strictEqual(other.wait(at, 0, 3), one.wait(at, 0, 3))
      for (const each of [one, other]) exchange(each, response, at + 100, 50, true)
    }
    assert.deepStrictEqual(other.state, one.state)
    assert.notDeepEqual(state, one.state)
  })

  it("ignores a latest time that no clock can have shown", () => {
    const [estimator, other] = [after([0, reading(4)]), after([0, reading(4)])]
    estimator.restore({ ...estimator.state, latest: Infinity }, 0)
    for (const each of [estimator, other]) each.wait(1000, 0, 0)
    assert.deepStrictEqual(estimator.status(1000), other.status(1000))
  })

  it("counts the calls in flight anew when it is restored", () => {
    const estimator = unshared(60)
    const { state } = estimator
    const counts = [0, 3, 6].map((inFlight) => {
      estimator.restore(state, inFlight)
      return startAll(estimator, 0)
    })
    assert.deepStrictEqual(counts, [...counts].sort((one, other) => other - one))
    assert.isAbove(counts[0]!, counts[2]!)
  })
})
