/** Decides which waits are worth a warning, and how often. In milliseconds. */

/** The end of another call, for which a call may wait without an end in sight, may come at any time. */
export const isLongWait = (millis: number): boolean => millis >= 5000 && millis < Infinity

/** The time between two warnings about the same. */
export const warningInterval = 60_000
