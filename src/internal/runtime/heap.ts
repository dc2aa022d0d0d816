/** A heap with the earliest entry on top. Adding and removing any entry takes O(log n). */

/** An entry of a heap. */
export interface HeapEntry {
  /** The key of the order. */
  readonly at: number
  /** The position in the heap; -1 if it is not in it. Only the heap changes it. */
  index: number
}

export class Heap<A extends HeapEntry> {
  private readonly entries: Array<A> = []

  /** The earliest entry. */
  get first(): A | undefined {
    return this.entries[0]
  }

  add(entry: A): void {
    entry.index = this.entries.push(entry) - 1
    this.rise(entry)
  }

  /** Removes an entry, if it is in the heap. */
  remove(entry: A): void {
    const { index } = entry
    if (index < 0) return
    entry.index = -1
    const last = this.entries.pop()
    if (last === undefined || last === entry) return
    this.put(last, index)
    this.rise(last)
    this.sink(last)
  }

  private put(entry: A, index: number): void {
    this.entries[index] = entry
    entry.index = index
  }

  private rise(entry: A): void {
    for (;;) {
      const { index } = entry
      const parent = index === 0 ? undefined : this.entries[(index - 1) >> 1]
      if (parent === undefined || parent.at <= entry.at) return
      this.put(entry, parent.index)
      this.put(parent, index)
    }
  }

  private sink(entry: A): void {
    for (;;) {
      const { index } = entry
      const [left, right] = [this.entries[index * 2 + 1], this.entries[index * 2 + 2]]
      const child = left !== undefined && right !== undefined && right.at < left.at ? right : left
      if (child === undefined || child.at >= entry.at) return
      this.put(entry, child.index)
      this.put(child, index)
    }
  }
}
