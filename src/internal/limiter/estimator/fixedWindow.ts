/** Tells fixed windows, all of whose calls come back at once, from a bucket that refills, and knows when a window ends. */
import { second } from "./constants.js"

/** All that is known of the fixed windows of a bucket, as plain data. Times are milliseconds by the clock of the strategy; `-Infinity`: never. */
export class FixedWindowState {
  /** True if the responses can only be those of fixed windows. */
  isFound = false
  /** The time at which the current window has ended for sure. */
  endsAt = 0
  /** The last reset, in seconds by the server's clock. */
  lastReset = -Infinity
  /** The calls left by the last response. */
  lastLeft = 0
  /** The time of the first response with the last reset. */
  beganAt = 0
  /**
   * The bounds of the rate that a refilling bucket would need to explain the responses. If they exclude each other, the
   * reset did not move while calls were taken, so it is not such a bucket.
   */
  minSecondsPerCall = 0
  minCallsPerSecond = 0
}

/** The length of a window in milliseconds, as far as it is known. */
export const lengthOf = ({ beganAt, endsAt }: FixedWindowState): number => Math.max(second, endsAt - beganAt)

/** Learns that the service refused a call: the window goes on. */
export const refuse = (state: FixedWindowState, now: number): void => {
  state.endsAt = Math.max(state.endsAt, now + second)
}

/** Moves all times back by `back` milliseconds, as the clock was. */
export const shift = (state: FixedWindowState, back: number): void => {
  state.endsAt -= back
  state.beganAt -= back
}

/** Learns from a response with a reset, and with the seconds until then, both whole. */
export const note = (
  state: FixedWindowState,
  { ahead, left, limit, reset }: Readonly<Record<"ahead" | "left" | "limit" | "reset", number>>,
  isRateLimited: boolean,
  now: number
): void => {
  if (state.isFound && reset === state.lastReset - 1) return // a late response, or one second of rounding
  if (reset !== state.lastReset) {
    // Within a window the reset stays. If it moves and nothing has come back, this is a bucket after all.
    if (state.isFound && !isRateLimited && (left <= state.lastLeft || reset < state.lastReset)) {
      state.isFound = false
      state.minSecondsPerCall = state.minCallsPerSecond = 0
    }
    state.lastReset = reset
    state.beganAt = now
    state.endsAt = isRateLimited ? now + (ahead + 1) * second : Infinity
  }
  state.lastLeft = left
  if (isRateLimited) return
  state.minSecondsPerCall = Math.max(state.minSecondsPerCall, (ahead - 2) / (limit - left))
  state.minCallsPerSecond = Math.max(state.minCallsPerSecond, (limit - left - 1) / (ahead + 1))
  if (state.minSecondsPerCall * state.minCallsPerSecond > 1) state.isFound = true
  state.endsAt = Math.min(state.endsAt, now + (ahead + 1) * second)
}
