/** Tells fixed windows, all of whose calls come back at once, from a bucket that refills, and says when one is over. */

const second = 1000

export interface Windows {
  /** Whether the answers can only be those of windows. */
  readonly isFound: boolean
  /** Whether the last answer was the first of a new window. */
  readonly isNew: boolean
  /** When the window that was told last is over for sure. */
  readonly endsAt: number
  /** How long a window lasts, in milliseconds, as far as it is known. */
  readonly length: number
  /** The service has refused a call: the window is not over yet. It looks again later each time. */
  readonly refuse: (now: number) => void
  /** The clock was set back by so many milliseconds. */
  readonly shift: (back: number) => void
  /** An answer that told the time of a reset, and in how many seconds it comes, both in whole seconds. */
  readonly note: (
    answer: { readonly reset: number; readonly ahead: number; readonly limit: number; readonly left: number },
    isRefused: boolean,
    now: number
  ) => void
}

export const make = (): Windows => {
  let isFound = false
  let isNew = false
  let endsAt = 0
  let lastReset = NaN
  let lastLeft = 0
  /** When the first answer came that told this reset. */
  let beganAt = 0
  /** The shortest step between two resets, in milliseconds: how long a window lasts. */
  let length = Infinity
  // What a bucket's rate would have to be: so many seconds for a call at the least, and so many calls in a second. Where
  // both cannot be, calls were taken and the reset did not move, as that of a bucket would.
  let [slowest, quickest] = [0, 0]
  let refusals = 0

  const forget = (): void => {
    isFound = false
    length = Infinity
    slowest = quickest = 0
  }

  return {
    get isFound() {
      return isFound
    },
    get isNew() {
      return isNew
    },
    get endsAt() {
      return endsAt
    },
    get length() {
      return length < Infinity ? length : Math.max(second, endsAt - beganAt)
    },
    refuse: (now) => {
      endsAt = Math.max(endsAt, now + second * 2 ** Math.min(5, refusals++))
    },
    shift: (back) => {
      endsAt -= back
      beganAt -= back
    },
    note: ({ ahead, left, limit, reset }, isRefused, now) => {
      isNew = false
      if (isFound && reset === lastReset - 1) return // told late
      if (reset !== lastReset) {
        // Within a window the reset stays: if it moves and nothing has come back, it is a bucket after all.
        if (isFound && !isRefused && (left <= lastLeft || reset < lastReset)) forget()
        if (isFound && left > lastLeft) length = Math.min((reset - lastReset) * second, length)
        isNew = true
        lastReset = reset
        beganAt = now
        endsAt = isRefused ? now + (ahead + 1) * second : Infinity
      }
      if (!isRefused) {
        refusals = 0
        slowest = Math.max(slowest, (ahead - 2) / (limit - left))
        quickest = Math.max(quickest, (limit - left - 1) / (ahead + 1))
        if (slowest * quickest > 1) isFound = true
      }
      lastLeft = left
      if (!isRefused) endsAt = Math.min(endsAt, now + (ahead + 1) * second, beganAt + length)
    }
  }
}
