/** A heap that gives its least entry first, and from which any entry can be taken back: each in O(log n). */

/** An entry of a heap. */
export interface Entry {
  /** What the heap is ordered by. */
  readonly at: number
  /** Where in the heap it is; -1: nowhere. Only the heap changes it. */
  index: number
}

export class Heap<A extends Entry> {
  private readonly entries: Array<A> = []

  /** The least entry. */
  get first(): A | undefined {
    return this.entries[0]
  }

  add(entry: A): void {
    entry.index = this.entries.push(entry) - 1
    this.rise(entry)
  }

  /** Takes an entry out, if it is there. */
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
