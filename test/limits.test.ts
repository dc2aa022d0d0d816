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
          // It keeps so many answers, so far apart.
          const ends = kept(belief.save()).marks.map(({ endedAt }: { readonly endedAt: number }) => endedAt)
          assert.isAtMost(ends.length, 32)
          for (const [nth, end] of ends.slice(1).entries()) assert.isAtLeast(end - ends[nth], 50)
          if (others === 0) assert.isAtLeast(Number(belief.save()["rate"]) * 1000, perSecond * 0.8, `seed ${seed}`)
        }
      }
    })
  }
})

const tenant = "https://t.example.com/api/v2"
const nobody = { lanes: new Map<string, number>(), supplies: new Map<string, number>() }

/** A learner, and calls of its operations, each of which takes 10 ms. */
const learner = (learning = Sharing.learning()) => {
  const lane = (operation: string) => learning.laneOf({ tenant, operation })
  const start = (operation: string, at: number) => learning.start(lane(operation), at, false)
  const call = (operation: string, at: number, answer: Supply.Told | undefined) =>
    learning.answered(start(operation, at), answer, at + 10)
  const wait = (operation: string, at: number, waited = 0) => learning.wait(lane(operation), at, 0, 0, waited)
  const areTogether = (one: string, other: string) => learning.supplyOf(lane(one)) === learning.supplyOf(lane(other))
  return { learning, lane, start, call, wait, areTogether, save: () => kept(learning.save(tenant)) }
}

/** What is told of a bucket of 100 that fills with so many calls in a second. */
const large = (remaining: number, perSecond = 0.1) =>
  told(remaining, { limit: 100, untilFull: Math.round((100 - remaining) / perSecond) })

describe("operations", () => {
  for (
    const [what, seen, together] of [
      ["what can be left", "a49", true],
      ["one call more than that", "a51", true],
      ["one call more, twice", "a51 b49 a50", false],
      ["one call more, and again after what can be left", "a51 b49 a49 b47 a48", true],
      ["much more", "a52", false]
    ] as const
  ) {
    it(`${together ? "stay with" : "leave"} a bucket when they are told ${what}`, () => {
      const { areTogether, call, learning } = learner()
      call("a", 0, large(60))
      call("b", 100, large(50))
      assert.isTrue(areTogether("a", "b"))
      seen.split(" ").forEach((step, nth) => call(step.slice(0, 1), 200 + nth * 100, large(Number(step.slice(1)))))
      assert.strictEqual(areTogether("a", "b"), together)
      assert.strictEqual(learning.levels(tenant, 1000).size, together ? 1 : 2)
    })
  }

  it("leave nothing behind when they are told of another limit", () => {
    const { call, learning } = learner()
    call("a", 0, large(60))
    call("a", 100, told(5))
    assert.deepStrictEqual([...learning.levels(tenant, 200).values()], [5])
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
   * those that `blind` names.
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
    for (const name of ["a", "b"]) if (!blind.includes(name)) left[name] = 25
    ;[..."abab", ...order].forEach((name, nth) => {
      const at = 1000 + nth * 300
      const isLast = nth === order.length + 3
      if (isLast) there.learning.load(tenant, here.save(), nobody)
      if (isLast) assert.deepStrictEqual(there.save(), here.save())
      if (isLast) there.call(name, at, large(left[name]! - 1 + level(at), perSecond))
      for (const each of name === "c" ? ["c"] : ["a", "b"]) {
        if (each === name || !blind.includes(each)) left[each]!--
      }
      call(name, at, name === "c" ? told(Math.max(0, left["c"]!)) : large(left[name]! + level(at), perSecond))
    })
    if (!order.endsWith("c")) assert.strictEqual(there.areTogether("a", "b"), areTogether("a", "b"))
    return areTogether("a", "b")
  }

  for (
    const [what, order, blind, together] of [
      ["when each has seen the other's calls twice", "aabbaabba", "", true],
      ["but not sooner", "aabbaab", "", false],
      ["but not for single calls", "ababababababab", "", false],
      ["but not when neither sees the other's", "aabbaabbaabb", "ab", false],
      ["but not when only one sees the other's", "aabbaabbaabb", "a", false],
      ["but not when only the other does", "aabbaabbaabb", "b", false],
      ["but not for the calls of a bucket with another limit", "accaccaccbccbcc", "ab", false]
    ] as const
  ) {
    it(`come together again, ${what}`, () => {
      assert.strictEqual(meet(order, blind), together)
    })
  }

  it("do not come together for what has come back", () => {
    assert.isFalse(meet("aabbaabbaabb", "ab", 2))
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
        told(undefined, { isRefused: true, pause: 300 }),
        told(0, { limit, isRefused: true, untilFull: 30 })
      ][Math.floor(random() * 20)] ??
        told(operation === "e" ? undefined : remaining, { limit, untilFull: 50 - remaining })
      all.forEach(({ call, learning, save, wait }, which) => {
        seen[which]!.push([wait(operation, at, 100), wait("abcde"[nth % 5]!, at + 1)])
        call(operation, at, answer)
        seen[which]!.push([...learning.levels(tenant, at + 10)], save())
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
      there.learning.load(tenant, here.save(), {
        lanes: new Map([["a", 1]]),
        supplies: new Map(Sharing.namesOf(under).map((name) => [name, 1]))
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
    learning.answered(learning.start(learning.laneOf({ tenant: elsewhere, operation: "z" }), 0, false), told(3), 0)
    assert.deepStrictEqual(save(), before)
    learning.load(elsewhere, {}, nobody)
    assert.deepStrictEqual(save(), before)
    assert.deepStrictEqual(Object.keys(Object(learning.save(elsewhere)["lanes"])), ["z"])
    assert.strictEqual(learning.levels(elsewhere, 0).size, 0)
  })

  it("keeps the buckets of calls under way, which are named by what they have taken from", () => {
    const { call, learning, save, start } = learner()
    const blind = start("a", 0)
    assert.deepStrictEqual(Sharing.namesOf(blind), ["?"])
    learning.answered(blind, told(9), 10)
    const under = start("a", 20)
    const [name, ...more] = Sharing.namesOf(under)
    assert.deepStrictEqual([...learning.levels(tenant, 30).keys(), ...more], [name])
    const saved = save()
    call("b", 25, large(50))
    assert.deepStrictEqual(Sharing.namesOf(start("c", 26)).length, 2)
    learning.load(tenant, saved, { lanes: new Map([["a", 1]]), supplies: new Map([[name!, 1]]) })
    learning.answered(under, told(3), 40)
    assert.deepStrictEqual([...learning.levels(tenant, 40)], [[name, 3]])
  })

  it("is no more than what somebody else has left", () => {
    const { call, learning, wait } = learner()
    call("a", 0, large(60))
    call("b", 100, told(9))
    const [[one], [other, left]] = [...learning.levels(tenant, 200)] as [[string, number], [string, number]]
    learning.cap(tenant, new Map([[one, 2]]), 200)
    assert.deepStrictEqual([...learning.levels(tenant, 200)], [[one, 2], [other, left]])
    learning.cap(tenant, new Map([[one, 50]]), 200)
    assert.deepStrictEqual([...learning.levels(tenant, 200)], [[one, 2], [other, left]])
    learning.cap(tenant, new Map([[one, 0]]), 200)
    assert.isAbove(wait("a", 200), 0)
    assert.strictEqual(wait("b", 200), 0)
  })

  it("is nothing any more after nothing was put there", () => {
    const { call, learning, lane, save } = learner()
    for (const operation of ["a", "b"]) lane(operation)
    const before = save()
    call("a", 0, told(5))
    call("b", 20, told(undefined))
    learning.load(tenant, {}, nobody)
    assert.deepStrictEqual(save().lanes, before.lanes)
  })

  for (
    const junk of [
      {},
      { buckets: "x", lanes: 3, unknown: null },
      { buckets: [3, { id: 4 }], lanes: { a: 1, b: { bucket: {}, seen: "x" } }, unknown: [] },
      { buckets: [{ id: "1", limit: 10, likeness: { 7: 2 }, supply: { latest: "+inf", marks: "x" } }] }
    ]
  ) {
    it(`is never worse than nothing, whatever somebody has put there: ${JSON.stringify(junk)}`, () => {
      const { call, learning, wait } = learner()
      learning.load(tenant, junk, nobody)
      assert.isTrue(Number.isFinite(wait("a", 1000)))
      call("a", 1000, told(5))
      const [level] = [...learning.levels(tenant, 1010).values()].slice(-1)
      assert.strictEqual(level, 5)
      assert.isTrue(Number.isFinite(wait("a", 2000)))
    })
  }
})
