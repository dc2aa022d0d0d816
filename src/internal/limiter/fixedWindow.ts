/** Tells fixed windows, all of whose calls come back at once, from a bucket that refills, and says when one is over. */

const second = 1000

/** All that it knows is plain values. */
export class Windows {
  /** Whether the answers can only be those of windows. */
  isFound = false
  /** Whether the last answer was the first of a new window. */
  isNew = false
  /** When the window that was told last is over for sure. */
  endsAt = 0
  private lastReset = NaN
  private lastLeft = 0
  /** When the first answer came that told this reset. */
  private beganAt = 0
  /** The shortest step between two resets, in milliseconds. */
  private length = Infinity
  // What a bucket's rate would have to be: so many seconds for a call at the least, and so many calls in a second. Where
  // both cannot be, calls were taken and the reset did not move, as that of a bucket would.
  private slowest = 0
  private quickest = 0
  private refusals = 0

  /** How long a window lasts, in milliseconds, as far as it is known. */
  get lasts(): number {
    return this.length < Infinity ? this.length : Math.max(second, this.endsAt - this.beganAt)
  }

  /** The service has refused a call: the window is not over yet. It looks again later each time. */
  refuse(now: number): void {
    this.endsAt = Math.max(this.endsAt, now + second * 2 ** Math.min(5, this.refusals++))
  }

  /** The clock was set back by so many milliseconds. */
  shift(back: number): void {
    this.endsAt -= back
    this.beganAt -= back
  }

  /** An answer that told the time of a reset, and in how many seconds it comes, both in whole seconds. */
  note(
    { ahead, left, limit, reset }: {
      readonly reset: number
      readonly ahead: number
      readonly limit: number
      readonly left: number
    },
    isRefused: boolean,
    now: number
  ): void {
    this.isNew = false
    if (this.isFound && reset === this.lastReset - 1) return // told late
    if (reset !== this.lastReset) {
      // Within a window the reset stays: if it moves and nothing has come back, it is a bucket after all.
      if (this.isFound && !isRefused && (left <= this.lastLeft || reset < this.lastReset)) this.forget()
      if (this.isFound && left > this.lastLeft) {
        this.length = Math.min((reset - this.lastReset) * second, this.length)
      }
      this.isNew = true
      this.lastReset = reset
      this.beganAt = now
      this.endsAt = isRefused ? now + (ahead + 1) * second : Infinity
    }
    if (!isRefused) {
      this.refusals = 0
      this.slowest = Math.max(this.slowest, (ahead - 2) / (limit - left))
      this.quickest = Math.max(this.quickest, (limit - left - 1) / (ahead + 1))
      if (this.slowest * this.quickest > 1) this.isFound = true
    }
    this.lastLeft = left
    if (!isRefused) this.endsAt = Math.min(this.endsAt, now + (ahead + 1) * second, this.beganAt + this.length)
  }

  private forget(): void {
    this.isFound = false
    this.length = Infinity
    this.slowest = this.quickest = 0
  }
}
