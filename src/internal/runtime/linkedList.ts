/** A line: first come, first served, and who gives up leaves it at once. Each costs the same however long the line is. */

/**
 * Who can stand in a line knows its place. Only the line changes it.
 *
 * A class, for calls under way to be of classes, too: where most object literals of one place in the program survive the
 * garbage collector, V8 makes later ones there among the old objects, which keep what they refer to for long after a call.
 */
export abstract class LinkedNode<A> {
  before: A | undefined = undefined
  after: A | undefined = undefined
  isTaken = false
}

export class LinkedList<A extends LinkedNode<A>> {
  size = 0
  private tail: A | undefined
  /** Who is next. */
  first: A | undefined;

  /** All, in their order. */
  *[Symbol.iterator](): Iterator<A> {
    for (let one = this.first; one !== undefined;) {
      const { after } = one
      yield one // it may leave meanwhile
      one = after
    }
  }

  /** Goes to the end. */
  add(one: A): void {
    one.before = this.tail
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
    // Left as they are, who is gone would keep all who came after.
    one.before = one.after = undefined
    return true
  }
}
