/** A line: first come, first served, and who gives up leaves it at once. Each costs the same however long the line is. */

/** A place in a line. Only the line changes it. */
export interface Place<A> {
  readonly value: A
  before: Place<A> | undefined
  after: Place<A> | undefined
  isTaken: boolean
}

export class Queue<A> {
  size = 0
  private head: Place<A> | undefined
  private tail: Place<A> | undefined

  /** Who is next. */
  get first(): A | undefined {
    return this.head?.value
  }

  /** All, in their order. */
  *[Symbol.iterator](): Iterator<A> {
    for (let place = this.head; place !== undefined; place = place.after) yield place.value
  }

  /** Goes to the end. */
  add(value: A): Place<A> {
    const place: Place<A> = { value, before: this.tail, after: undefined, isTaken: true }
    if (this.tail === undefined) this.head = place
    else this.tail.after = place
    this.tail = place
    this.size++
    return place
  }

  /** Leaves; `false` if it has left before. */
  remove(place: Place<A>): boolean {
    if (!place.isTaken) return false
    place.isTaken = false
    this.size--
    if (place.before === undefined) this.head = place.after
    else place.before.after = place.after
    if (place.after === undefined) this.tail = place.before
    else place.after.before = place.before
    return true
  }
}
