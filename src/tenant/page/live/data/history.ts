/** The last minute of a bucket, as the page has seen it. */
import type { BucketReading, BucketView } from "../../../control/http/schemas.js"

/** The length of the history, in milliseconds. */
export const span = 60_000

/** The width of a column of calls, in milliseconds. */
export const columnWidth = 500

/** A reading, and the time at which it came, in milliseconds on the page's own clock. */
export interface Point {
  readonly at: number
  /** The fewest calls left since the point before, and the calls left at this one. */
  readonly low: number
  readonly left: number
  readonly allowed: number
  readonly refused: number
}

/** The points of a bucket's history in a snapshot. */
export const pointsOf = ({ history: { samples, step }, left }: BucketView, now: number): ReadonlyArray<Point> =>
  samples.map((sample, index) => ({
    at: now - (samples.length - 1 - index) * step,
    low: sample.left,
    left: index === samples.length - 1 ? left : sample.left,
    allowed: sample.allowed,
    refused: sample.refused
  }))

/** Adds a reading, and drops points that are too old; the newest of those stays, as the start of the line. */
export const addPoint = (
  points: ReadonlyArray<Point>,
  { allowed, left, now: level, refused }: BucketReading,
  now: number
): ReadonlyArray<Point> => {
  const firstInside = points.findIndex(({ at }) => at > now - span)
  const kept = firstInside < 0 ? points.slice(-1) : points.slice(Math.max(0, firstInside - 1))
  return [...kept, { at: now, low: left, left: level, allowed, refused }]
}

export interface Column {
  readonly allowed: number
  readonly refused: number
}

/** Sums the calls of the last minute in columns, the oldest first. Columns begin at full steps of the clock, so they do not flicker. */
export const columnsOf = (points: ReadonlyArray<Point>, now: number): ReadonlyArray<Column> => {
  const last = Math.floor(now / columnWidth)
  const count = span / columnWidth
  const columns = Array.from({ length: count }, () => ({ allowed: 0, refused: 0 }))
  for (const { allowed, at, refused } of points) {
    const column = columns[count - 1 - (last - Math.floor(at / columnWidth))]
    if (column === undefined) continue
    column.allowed += allowed
    column.refused += refused
  }
  return columns
}

/** The calls left at this moment: since the last point the bucket has been refilling. */
export const levelNow = (
  points: ReadonlyArray<Point>,
  { burst, refillPerSecond }: Pick<BucketView, "burst" | "refillPerSecond">,
  now: number
): number => {
  const last = points.at(-1)
  if (last === undefined) return burst
  return Math.min(burst, last.left + Math.max(0, now - last.at) / 1000 * refillPerSecond)
}
