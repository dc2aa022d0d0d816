/** The most of these times, in milliseconds, that lie in one window of this length. */
export const mostWithin = (times: ReadonlyArray<number>, millis: number): number =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + millis).length))
