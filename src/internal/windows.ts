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
  /** All that it knows: plain values, which may be set. */
  readonly state: State
}

/** What has been told so far. */
interface State {
  isFound: boolean
  isNew: boolean
  endsAt: number
  lastReset: number
  lastLeft: number
  /** When the first answer came that told this reset. */
  beganAt: number
  /** The shortest step between two resets, in milliseconds: how long a window lasts. */
  length: number
  // What a bucket's rate would have to be: so many seconds for a call at the least, and so many calls in a second. Where
  // both cannot be, calls were taken and the reset did not move, as that of a bucket would.
  slowest: number
  quickest: number
  refusals: number
}

export const make = (): Windows => {
  const state: State = {
    isFound: false,
    isNew: false,
    endsAt: 0,
    lastReset: NaN,
    lastLeft: 0,
    beganAt: 0,
    length: Infinity,
    slowest: 0,
    quickest: 0,
    refusals: 0
  }

  const forget = (): void => {
    state.isFound = false
    state.length = Infinity
    state.slowest = state.quickest = 0
  }

  return {
    state,
    get isFound() {
      return state.isFound
    },
    get isNew() {
      return state.isNew
    },
    get endsAt() {
      return state.endsAt
    },
    get length() {
      return state.length < Infinity ? state.length : Math.max(second, state.endsAt - state.beganAt)
    },
    refuse: (now) => {
      state.endsAt = Math.max(state.endsAt, now + second * 2 ** Math.min(5, state.refusals++))
    },
    shift: (back) => {
      state.endsAt -= back
      state.beganAt -= back
    },
    note: ({ ahead, left, limit, reset }, isRefused, now) => {
      state.isNew = false
      if (state.isFound && reset === state.lastReset - 1) return // told late
      if (reset !== state.lastReset) {
        // Within a window the reset stays: if it moves and nothing has come back, it is a bucket after all.
        if (state.isFound && !isRefused && (left <= state.lastLeft || reset < state.lastReset)) forget()
        if (state.isFound && left > state.lastLeft) {
          state.length = Math.min((reset - state.lastReset) * second, state.length)
        }
        state.isNew = true
        state.lastReset = reset
        state.beganAt = now
        state.endsAt = isRefused ? now + (ahead + 1) * second : Infinity
      }
      if (!isRefused) {
        state.refusals = 0
        state.slowest = Math.max(state.slowest, (ahead - 2) / (limit - left))
        state.quickest = Math.max(state.quickest, (limit - left - 1) / (ahead + 1))
        if (state.slowest * state.quickest > 1) state.isFound = true
      }
      state.lastLeft = left
      if (!isRefused) state.endsAt = Math.min(state.endsAt, now + (ahead + 1) * second, state.beganAt + state.length)
    }
  }
}
