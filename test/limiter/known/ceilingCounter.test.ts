/** The calls that a ceiling counts, as plain data: in groups, taken back, used up, and by a clock that is set back. */
import { assert, describe, it } from "@effect/vitest"
import { CeilingCounter } from "../../../src/internal/limiter/known/ceiling.js"

const make = (limit: number, operations?: ReadonlyArray<string>) =>
  new CeilingCounter({ limit, interval: 1000, operations })

/** A ceiling that counts groups of three calls: seven calls have started. */
const grouped = () => {
  const ceiling = make(300)
  ceiling.start(10)
  ceiling.start(20)
  ceiling.start(30, 4)
  assert.strictEqual(ceiling.start(40), 7)
  return ceiling
}

describe("a ceiling's key and calls", () => {
  for (
    const [title, operations, key, isCounted] of [
      ["of all operations", undefined, "1000", true],
      ["of two operations", ["b", "a"], "1000 a b", false]
    ] as const
  ) {
    it(`are those ${title}`, () => {
      const ceiling = make(5, operations)
      assert.strictEqual(ceiling.key, key)
      assert.deepStrictEqual([ceiling.counts("a"), ceiling.counts("c")], [true, isCounted])
    })
  }
})

describe("the state of a ceiling", () => {
  it("is empty at first", () => {
    assert.deepStrictEqual(make(3).snapshot, { started: 0, latest: -Infinity, groups: [] })
  })

  it("has each call by its own time up to a limit of 128", () => {
    const ceiling = make(128)
    ceiling.start(10, 2)
    ceiling.start(20)
    assert.deepStrictEqual(ceiling.snapshot, {
      started: 3,
      latest: 20,
      groups: [{ first: 1, calls: 1, at: 10 }, { first: 2, calls: 1, at: 10 }, { first: 3, calls: 1, at: 20 }]
    })
  })

  it("has groups of calls above that, each with the time of its last call", () => {
    assert.deepStrictEqual(grouped().snapshot, {
      started: 7,
      latest: 40,
      groups: [{ first: 1, calls: 3, at: 30 }, { first: 4, calls: 3, at: 30 }, { first: 7, calls: 1, at: 40 }]
    })
  })

  for (const [nth, calls] of [[1, [2, 3, 1]], [4, [3, 2, 1]], [6, [3, 2, 1]], [7, [3, 3, 0]]] as const) {
    it(`loses call ${nth} in its own group when that was not sent`, () => {
      const ceiling = grouped()
      ceiling.giveBack(nth)
      const { groups, ...others } = grouped().snapshot
      assert.deepStrictEqual(ceiling.snapshot, {
        ...others,
        groups: groups.map((group, index) => ({ ...group, calls: calls[index]! }))
      })
    })
  }

  it("counts as many calls as its limit from the moment at which others may use all of it", () => {
    const ceiling = make(2)
    ceiling.start(100)
    ceiling.exhaust(400)
    assert.deepStrictEqual(ceiling.snapshot, {
      started: 3,
      latest: 400,
      groups: [{ first: 2, calls: 1, at: 400 }, { first: 3, calls: 1, at: 400 }]
    })
    assert.deepStrictEqual([400, 1399, 1400].map((now) => ceiling.wait(now, 0, 0)), [1000, 1, 0])
  })

  it("makes another ceiling go on as the first", () => {
    const [one, other] = [grouped(), make(300)]
    other.restore(one.snapshot)
    assert.deepStrictEqual(other.snapshot, one.snapshot)
    assert.deepStrictEqual([other.start(50, 2), other.snapshot], [one.start(50, 2), one.snapshot])
  })

  it("loses the calls of before the last interval, and no others", () => {
    const ceiling = grouped()
    assert.isFalse(ceiling.isIdle(1029))
    assert.deepStrictEqual(ceiling.snapshot, { ...grouped().snapshot, latest: 1029 })
    assert.isFalse(ceiling.isIdle(1030))
    assert.deepStrictEqual(ceiling.snapshot, { started: 7, latest: 1030, groups: [{ first: 7, calls: 1, at: 40 }] })
    assert.isTrue(ceiling.isIdle(1040))
    assert.deepStrictEqual(ceiling.snapshot, { started: 7, latest: 1040, groups: [] })
  })

  it("moves with a clock that is set back", () => {
    const ceiling = make(2)
    ceiling.start(5000)
    ceiling.start(5400)
    // The last call counts as one that starts now, and the first as one 400 ms before.
    assert.strictEqual(ceiling.wait(3400, 0, 0), 600)
    assert.deepStrictEqual(ceiling.snapshot, {
      started: 2,
      latest: 3400,
      groups: [{ first: 1, calls: 1, at: 3000 }, { first: 2, calls: 1, at: 3400 }]
    })
  })

  it("keeps its times where the latest time is one that no clock can have shown", () => {
    const ceiling = make(1)
    const groups = [{ first: 1, calls: 1, at: 100 }]
    ceiling.restore({ started: 1, latest: Infinity, groups })
    assert.strictEqual(ceiling.wait(400, 0, 0), 700)
    assert.deepStrictEqual(ceiling.snapshot, { started: 1, latest: 400, groups })
  })
})
