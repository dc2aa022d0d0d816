/** A line: first come, first served, and who gives up leaves it at once. Each costs the same however long the line is. */

/** Who can stand in a line knows its place. Only the line changes it. */
export interface Place<A> {
  before: A | undefined
  after: A | undefined
  isTaken: boolean
}

export class Queue<A extends Place<A>> {
  size = 0
  private tail: A | undefined
  /** Who is next. */
  first: A | undefined;

  /** All, in their order. */
  *[Symbol.iterator](): Iterator<A> {
    for (let one = this.first; one !== undefined; one = one.after) yield one
  }

  /** Goes to the end. */
  add(one: A): void {
    one.before = this.tail
    one.after = undefined
    one.isTaken = true
    if (this.tail === undefined) this.first = one
    else this.tail.after = one
    this.tail = one
    this.size++
  }

  /** Leaves; `false` if it has left before. */
  remove(one: A): boolean {
    if (!one.isTaken) return false
    one.isTaken = false
    this.size--
    if (one.before === undefined) this.first = one.after
    else one.before.after = one.after
    if (one.after === undefined) this.tail = one.before
    else one.after.before = one.before
    return true
  }
}
