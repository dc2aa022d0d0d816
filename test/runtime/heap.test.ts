import { FastCheck } from "effect"
import { assert, describe, it } from "vitest"
import { Heap, type HeapEntry } from "../../src/internal/runtime/heap.js"

const heapOf = (...times: ReadonlyArray<number>) => {
  const heap = new Heap<HeapEntry>()
  const entries = times.map((at) => {
    const entry = { at, index: -1 }
    heap.add(entry)
    return entry
  })
  return { heap, entries }
}

/** Takes the first entry out until none is left. */
const drain = (heap: Heap<HeapEntry>) => {
  const times: Array<number> = []
  for (let { first } = heap; first !== undefined; first = heap.first) {
    times.push(first.at)
    heap.remove(first)
  }
  return times
}

describe("Heap", () => {
  it("has no first entry while it is empty", () => {
    assert.isUndefined(new Heap().first)
  })

  it("gives its entries in order, whatever was removed before", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.array(FastCheck.record({ at: FastCheck.integer({ min: 0, max: 20 }), isRemoved: FastCheck.boolean() })),
      (items) => {
        const { entries, heap } = heapOf(...items.map(({ at }) => at))
        items.forEach(({ isRemoved }, nth) => {
          if (isRemoved) heap.remove(entries[nth]!)
        })
        const rest = items.filter(({ isRemoved }) => !isRemoved).map(({ at }) => at)
        assert.deepStrictEqual(drain(heap), rest.sort((one, other) => one - other))
      }
    ))
  })

  it("ignores the removal of an entry that it does not hold", () => {
    const { entries: [entry], heap } = heapOf(1, 2)
    heap.remove(entry!)
    heap.remove(entry!)
    assert.deepStrictEqual(drain(heap), [2])
  })
})
