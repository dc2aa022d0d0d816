/** A line: first come, first served, and who gives up leaves it at once. Each costs the same however long the line is. */

/**
 * Who can stand in a line knows its place. Only the line changes it.
 *
 * Of classes, and no object literals, is what is remembered of calls under way: where most literals of one place have
 * survived a garbage collection, as they do while many calls are under way, V8 makes all later ones there among the old
 * objects, and in those it finds whatever they refer to in use, for long after the call.
 */
export abstract class Place<A> {
  before: A | undefined = undefined
  after: A | undefined = undefined
  isTaken = false
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
