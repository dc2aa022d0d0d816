/** A queue whose nodes can be removed anywhere. Adding and removing take constant time. */

/**
 * A node of a list. Only the list changes its fields.
 *
 * A class, not a literal: V8 allocates literals that usually survive a collection in old space, where they outlive their call.
 */
export abstract class LinkedNode<A> {
  before: A | undefined = undefined
  after: A | undefined = undefined
  isTaken = false
}

export class LinkedList<A extends LinkedNode<A>> {
  size = 0
  private tail: A | undefined
  /** The oldest node. */
  first: A | undefined;

  /** Iterates over the nodes, the oldest first. */
  *[Symbol.iterator](): Iterator<A> {
    for (let one = this.first; one !== undefined;) {
      const { after } = one
      yield one // it may be removed meanwhile
      one = after
    }
  }

  /** Adds a node at the end. */
  add(one: A): void {
    one.before = this.tail
    one.isTaken = true
    if (this.tail === undefined) this.first = one
    else this.tail.after = one
    this.tail = one
    this.size++
  }

  /** Removes a node; returns `false` if it was removed before. */
  remove(one: A): boolean {
    if (!one.isTaken) return false
    one.isTaken = false
    this.size--
    if (one.before === undefined) this.first = one.after
    else one.before.after = one.after
    if (one.after === undefined) this.tail = one.before
    else one.after.before = one.before
    // Otherwise a removed node would retain all later ones.
    one.before = one.after = undefined
    return true
  }
}
