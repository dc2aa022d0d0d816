/** A binary heap of items by the times at which they are due: the first is at hand, and to move one takes a logarithmic time. */

/** An item of a heap. Only the heap changes its fields. */
export abstract class DueItem {
  due = Infinity
  /** Its index; negative if it is in no heap. */
  place = -1
}

export class DueHeap<A extends DueItem> {
  private readonly items: Array<A> = []

  /** The item that is due first. */
  get first(): A | undefined {
    return this.items[0]
  }

  /** Adds an item, or moves it. */
  set(item: A, due: number): void {
    if (item.place < 0) item.place = this.items.push(item) - 1
    item.due = due
    this.settle(item)
  }

  /** Removes an item if it is there. */
  remove(item: A): void {
    const { place } = item
    if (place < 0) return
    item.place = -1
    const last = this.items.pop()
    if (last === undefined || last === item) return
    this.put(last, place)
    this.settle(last)
  }

  private settle(item: A): void {
    const up = () => item.place === 0 ? undefined : this.items[(item.place - 1) >> 1]
    const down = () => {
      const [one, other] = [this.items[2 * item.place + 1], this.items[2 * item.place + 2]]
      return one !== undefined && other !== undefined && other.due < one.due ? other : one
    }
    for (let parent = up(); parent !== undefined && item.due < parent.due; parent = up()) this.swap(item, parent)
    for (let child = down(); child !== undefined && child.due < item.due; child = down()) this.swap(item, child)
  }

  private swap(one: A, other: A): void {
    const { place } = one
    this.put(one, other.place)
    this.put(other, place)
  }

  private put(item: A, place: number): void {
    this.items[place] = item
    item.place = place
  }
}
