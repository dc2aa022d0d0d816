/** The parts that the limiter is made of, each on its own: they are plain functions of what they are told, and of the time. */
import * as Headers from "@effect/platform/Headers"
import { assert, describe, it } from "vitest"
import * as Belief from "../src/internal/belief.js"
import { Queue } from "../src/internal/queue.js"
import * as Sharing from "../src/internal/sharing.js"
import * as Supply from "../src/internal/supply.js"
import * as Windows from "../src/internal/windows.js"
import * as BucketServer from "./support/bucketServer.js"

/** What an answer tells of a bucket that holds 10 and fills in as many seconds. */
const told = (remaining: number | undefined, more: Partial<Supply.Told> = {}): Supply.Told => ({
  isRefused: false,
  isServed: true,
  limit: remaining === undefined ? undefined : 10,
  remaining,
  untilFull: remaining === undefined ? undefined : 10 - remaining,
  date: undefined,
  pause: undefined,
  ...more
})

const refused = (more: Partial<Supply.Told> = {}) => told(0, { isRefused: true, ...more })

/** Written down and read again, as it is kept elsewhere. */
const kept = (saved: object) => JSON.parse(JSON.stringify(saved))

describe("a line", () => {
  it("keeps the order, and whoever leaves does so once", () => {
    const queue = new Queue<string>()
    const [, second, third] = ["a", "b", "c", "d"].map((name) => queue.add(name))
    assert.deepStrictEqual([...queue], ["a", "b", "c", "d"])
    assert.deepStrictEqual([queue.remove(second!), queue.remove(third!), queue.remove(second!)], [true, true, false])
    assert.deepStrictEqual([...queue], ["a", "d"])
    assert.strictEqual(queue.size, 2)
  })
})

describe("windows", () => {
  const at = 1_000_000
  /** Ten calls were taken of a hundred, and the reset stays where it was. */
  const found = () => {
    const windows = Windows.make()
    windows.note({ reset: 1060, ahead: 60, limit: 100, left: 99 }, false, at)
    windows.note({ reset: 1060, ahead: 50, limit: 100, left: 30 }, false, at + 10_000)
    return windows
  }

  it("are found where calls are taken and the reset stays, and end with it", () => {
    assert.isTrue(found().isFound)
    assert.strictEqual(found().endsAt, at + 61_000)
  })

  it("are a bucket after all if the reset moves and nothing has come back", () => {
    const windows = found()
    windows.note({ reset: 1070, ahead: 55, limit: 100, left: 30 }, false, at + 15_000)
    assert.isFalse(windows.isFound)
    // Nothing of what was learned before is left: this could be a bucket.
    windows.note({ reset: 1073, ahead: 55, limit: 100, left: 28 }, false, at + 20_000)
    assert.isFalse(windows.isFound)
  })

  it("are looked at later after each refusal, until one is served, and never before they are over", () => {
    const windows = found()
    windows.refuse(at)
    assert.strictEqual(windows.endsAt, at + 61_000)
    const later = at + 61_000
    const waits = Array.from({ length: 6 }, () => {
      windows.refuse(later)
      return windows.endsAt - later
    })
    assert.deepStrictEqual(waits, [2000, 4000, 8000, 16_000, 32_000, 32_000])
    windows.note({ reset: 1120, ahead: 59, limit: 100, left: 99 }, false, later)
    windows.refuse(later + 60_000)
    assert.strictEqual(windows.endsAt, later + 61_000)
  })

  it("go back with the clock", () => {
    const [windows, other] = [found(), found()]
    const back = 3_600_000
    windows.shift(back)
    assert.strictEqual(windows.endsAt, other.endsAt - back)
    assert.strictEqual(windows.length, other.length)
  })
})

/** A call that takes so long. */
const exchange = (belief: Supply.Supply, answer: Supply.Told | undefined, now: number, millis = 0, held = false) =>
  belief.start(now - millis, held).answered(answer, now)

/** How many calls may start at once. */
const startable = (belief: Supply.Supply, now: number): number => {
  let count = 0
  for (; count < 100 && belief.wait(now, 0, 0) <= 0; count++) belief.start(now, false)
  return count
}

/** A belief that has been told this at these seconds. */
const believing = (...answers: ReadonlyArray<readonly [second: number, answer: Supply.Told | undefined]>) => {
  const belief = Belief.make()
  for (const [second, answer] of answers) exchange(belief, answer, second * 1000)
  return belief
}

/** One that shares a bucket that fills with a call in a second: it has been refused. */
const shared = () => believing([0, told(5)], [10, told(9)], [10, refused()])

describe("a belief", () => {
  it("does not take a call in flight for one that was counted", () => {
    const belief = Belief.make()
    const [first] = [belief.start(0, false), belief.start(0, false)]
    first!.answered(told(5), 0)
    assert.strictEqual(belief.known(0)?.remaining, 4)
  })

  it("takes as much for certain as comes back until the reset, also where a refusal tells it first", () => {
    const belief = believing([0, refused({ untilFull: 9 })])
    assert.closeTo(Number(belief.save()["rate"]), 0.9 * 10 / 10 / 1000, 1e-9) // a refusal: less a tenth
  })

  it("believes nobody else to be there while answers tell what was expected", () => {
    const belief = believing([0, told(9)], [0, told(8)], [0, told(7)])
    assert.isFalse(belief.save()["isShared"])
    exchange(belief, told(3), 0)
    assert.isTrue(belief.save()["isShared"])
  })

  it("stays finite where answers take no time", () => {
    const belief = believing(...Array.from({ length: 8 }, (_, nth) => [0, told(9 - nth)] as const))
    assert.isAbove(Number(belief.save()["rate"]), 0)
    assert.isTrue(Number.isFinite(belief.wait(0, 0, 20)))
  })

  it("takes a bucket whose reset is not always told for no window", () => {
    const belief = believing([0, told(1, { untilFull: 9 })], [0, told(5, { untilFull: undefined })])
    assert.isAbove(belief.known(60_000)?.remaining ?? 0, belief.known(0)?.remaining ?? 0)
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
    one.answered(refused({ untilFull: 10 }), 0)
    other.answered(refused({ untilFull: 10 }), 0)
    assert.strictEqual(belief.known(0)?.remaining, 0)
    assert.strictEqual(Number(belief.save()["level"]), 0.5)
    assert.strictEqual(startable(belief, 0), 0)
  })

  it("sends no burst after a refusal for what was left before", () => {
    const belief = believing([0, told(9)])
    exchange(belief, refused(), 0)
    assert.isAtMost(Number(belief.save()["stock"]), 0)
  })

  it("leaves the measured rate as it is at the first refusal, and takes a tenth off at each further one", () => {
    const belief = believing([0, told(9)], [10, told(5)])
    const fresh = believing([0, told(9)])
    const rates = [0, 1, 2].map((nth) => {
      exchange(fresh, refused({ untilFull: 60 }), 20_000 + nth * 10_000, 10)
      return Number(fresh.save()["rate"])
    })
    const [first, second, third] = rates
    assert.strictEqual(first, 1 / 2 / 1000)
    assert.closeTo(second!, first! * 0.9, 1e-9)
    assert.closeTo(third!, first! * 0.81, 1e-9)
    assert.isTrue(belief.save()["isShared"])
  })

  it("finds after two calls that waited for a full bucket that it is alone, and then goes faster", () => {
    const belief = shared()
    assert.isTrue(belief.save()["isShared"])
    const full = (nth: number, held = true) => {
      exchange(belief, told(9), 100_000 + nth * 20_000, 10, held)
      const { growth, isShared, rate } = belief.save()
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

  it("does not go faster for a pause that the service asked for", () => {
    const belief = shared()
    exchange(belief, told(9), 100_000)
    for (const nth of [0, 1, 2]) {
      const at = 200_000 + nth * 100_000
      exchange(belief, told(undefined, { isRefused: false, pause: 50_000 }), at)
      exchange(belief, told(9), at + 50_010, 10, true)
    }
    assert.isTrue(belief.save()["isShared"])
  })

  it("does not go ever faster where the limit is one, which is always told as full", () => {
    const belief = Belief.make()
    for (let nth = 0; nth < 20; nth++) {
      exchange(belief, told(0, { limit: 1, untilFull: 1 }), nth * 5000, 10, true)
      assert.closeTo(Number(belief.save()["growth"]), 1 / 1000, 1e-9)
    }
  })

  it("goes on as before when the clock is set back", () => {
    const back = 3_600_000
    const at = 10 * back
    const start = () => {
      const belief = Belief.make()
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
      assert.strictEqual(belief.known(later - back + by)?.remaining, other.known(later + by)?.remaining)
    }
    for (const answer of [told(7, { untilFull: 10 }), refused({ untilFull: 20 })]) {
      exchange(belief, answer, later - back + 10_000, 10, true)
      exchange(other, answer, later + 10_000, 10, true)
      assert.closeTo(Number(belief.save()["growth"]), Number(other.save()["growth"]), 1e-12)
    }
  })

  /** A bucket that many calls at once draw on, in steps of a few milliseconds; `seen` looks at it after each. */
  const drive = (
    belief: Belief.Belief,
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
                taken.answered(Supply.told(answer, ended), ended)
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
          const belief = Belief.make()
          drive(belief, { others, perSecond, seed }, () => {
            assert.isAtMost(Number(belief.save()["rate"]) * 1000, perSecond * 1.000001, `seed ${seed}`)
          })
          if (others === 0) assert.isAtLeast(Number(belief.save()["rate"]) * 1000, perSecond * 0.8, `seed ${seed}`)
        }
      }
    })
  }
})
