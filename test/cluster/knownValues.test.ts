/** Tests of what a journal remembers of its entries: the values that they may have, and which of them it forgets. */
import { assert, describe, it } from "@effect/vitest"
import { type KnownValues, makeKnownValues } from "../../src/cluster/knownValues.js"
import { keyOf } from "../support/jobStores.js"

type Step = readonly ["saw", string | undefined] | readonly ["begins" | "refused", string] | readonly ["mayBeGone"]

const take = (known: KnownValues, key: string, [name, value]: Step): void =>
  name === "mayBeGone" ? known.mayBeGone(key) : name === "saw" ? known.saw(key, value) : known[name](key, value)

/** Keys of more events than are remembered. */
const eventKeys = Array.from({ length: 10_001 }, (_, nth) => nth.toString(16).padStart(6, "0"))

const missing = { values: [], isMissing: true }

describe("the known values of an entry", () => {
  it.each<readonly [string, ReadonlyArray<Step>, ReturnType<KnownValues["expected"]>]>([
    ["that was never read", [], missing],
    ["that was not there", [["saw", undefined]], missing],
    ["that was read", [["saw", "a"]], { values: ["a"], isMissing: false }],
    ["that was removed", [["saw", "a"], ["saw", undefined]], missing],
    ["whose write has no response", [["saw", "a"], ["begins", "b"]], { values: ["a", "b"], isMissing: false }],
    ["whose first writes have no response", [["begins", "a"], ["begins", "b"]], {
      values: ["a", "b"],
      isMissing: true
    }],
    ["that was written again", [["saw", "a"], ["begins", "a"]], { values: ["a"], isMissing: false }],
    ["whose write was refused", [["saw", "a"], ["begins", "b"], ["refused", "b"]], {
      values: ["a"],
      isMissing: false
    }],
    ["whose first write was refused", [["begins", "a"], ["refused", "a"]], missing],
    ["with several writes, one of them refused", [["saw", "a"], ["begins", "b"], ["begins", "c"], ["refused", "b"]], {
      values: ["a", "c"],
      isMissing: false
    }],
    ["whose removal has no response", [["saw", "a"], ["begins", "b"], ["mayBeGone"]], {
      values: ["a", "b"],
      isMissing: true
    }],
    ["whose removal has no response, and that was never read", [["mayBeGone"]], missing],
    ["that was read after its removal", [["saw", "a"], ["mayBeGone"], ["saw", "a"]], {
      values: ["a"],
      isMissing: false
    }],
    ["that was read after writes", [["begins", "a"], ["begins", "b"], ["saw", "b"]], {
      values: ["b"],
      isMissing: false
    }],
    ["with more than eight writes without a response", [
      ["saw", "0"],
      ...Array.from("123456789", (value) => ["begins", value] as const)
    ], {
      values: ["0", ...Array.from("23456789")],
      isMissing: false
    }]
  ])("are those of one %s", (_, steps, expected) => {
    for (const key of ["lock", keyOf("e")]) {
      const known = makeKnownValues()
      for (const step of steps) take(known, key, step)
      assert.deepStrictEqual(known.expected(key), expected)
      assert.deepStrictEqual(known.expected(`${key}00`), missing, "each entry has its own")
    }
  })

  it("of the event that was used longest ago are forgotten, and no others", () => {
    const known = makeKnownValues()
    const others = ["lock", "renewal", "abcde", "lock-ab", "ab-lock"]
    for (const key of others) known.saw(key, key)
    const [first = "", second = "", third = "", ...events] = eventKeys
    for (const key of [first, second, third, ...events.slice(1), first]) known.saw(key, "a")
    assert.deepStrictEqual(known.expected(second), { values: ["a"], isMissing: false })
    known.begins(events[0] ?? "", "b")
    assert.deepStrictEqual(known.expected(second), missing)
    for (const key of [first, third]) assert.deepStrictEqual(known.expected(key), { values: ["a"], isMissing: false })
    for (const key of others) assert.deepStrictEqual(known.expected(key), { values: [key], isMissing: false })
  })

  it("are not forgotten because of events that have no entry", () => {
    const known = makeKnownValues()
    known.saw(keyOf("e"), "a")
    for (const key of eventKeys) known.saw(key, undefined)
    assert.deepStrictEqual(known.expected(keyOf("e")), { values: ["a"], isMissing: false })
  })
})
