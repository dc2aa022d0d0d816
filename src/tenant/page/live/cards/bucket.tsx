/** A bucket: its level now, and its last minute. Calls left are a line, the calls of each half second are columns. */
import type { BucketView } from "../../../control/http/schemas.js"
import type { Act } from "../act.js"
import { columnsOf, columnWidth, levelNow, type Point, span } from "../data/history.js"
import { count, level, rate } from "../format.js"

const [width, height, columnsHeight] = [600, 70, 44]

/** The time before a reading that its calls may have taken, in milliseconds. */
const readingStep = 100

const names: Readonly<Record<BucketView["name"], readonly [title: string, id: string]>> = {
  tenant: ["All calls", "bucket-tenant"],
  profileUpdates: ["Profile updates", "bucket-profile-updates"]
}

/** The line of the calls left. Between two readings the bucket has refilled until just before the second. */
const linePath = (points: ReadonlyArray<Point>, bucket: BucketView, now: number): string => {
  const x = (at: number) => Math.max(-2, width * (1 - (now - at) / span))
  const y = (left: number) => 2 + (height - 4) * (1 - Math.min(1, left / bucket.burst))
  const corners: Array<readonly [number, number]> = []
  let before: Point | undefined
  for (const point of points) {
    if (before !== undefined && point.at - before.at > 2 * readingStep) {
      const at = point.at - readingStep
      const full = before.at + (bucket.burst - before.left) / bucket.refillPerSecond * 1000
      if (full < at) corners.push([x(full), y(bucket.burst)])
      corners.push([x(at), y(levelNow([before], bucket, at))])
    }
    corners.push([x(point.at), y(point.low)])
    if (point.left !== point.low) corners.push([x(point.at), y(point.left)])
    before = point
  }
  if (before === undefined) corners.push([0, y(bucket.burst)])
  else {
    const full = before.at + (bucket.burst - before.left) / bucket.refillPerSecond * 1000
    if (full < now) corners.push([x(full), y(bucket.burst)])
  }
  corners.push([width, y(levelNow(points, bucket, now))])
  return corners.map(([x, y], index) => `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("")
}

/** Rectangles of a row of columns; each begins at the height where the one below ends. */
const columnPath = (heights: ReadonlyArray<readonly [from: number, to: number]>, shift: number): string => {
  const step = width / heights.length
  const scale = (value: number) => (columnsHeight * (1 - value)).toFixed(1)
  return heights.map(([from, to], index) =>
    to <= from
      ? ""
      : `M${(index * step + 0.6 - shift).toFixed(1)} ${scale(from)}V${scale(to)}h${(step - 1.2).toFixed(1)}V${
        scale(from)
      }z`
  ).join("")
}

const Chart = ({ bucket, now, points }: {
  readonly bucket: BucketView
  readonly now: number
  readonly points: ReadonlyArray<Point>
}) => {
  const columns = columnsOf(points, now)
  const most = Math.max(...columns.map(({ allowed, refused }) => allowed + refused))
  const top = Math.max(4, bucket.refillPerSecond * columnWidth / 1000, most)
  const shift = (now % columnWidth) / columnWidth * (width / columns.length) - width / columns.length
  const line = linePath(points, bucket, now)
  const [allowed, refused] = [
    columns.reduce((sum, { allowed }) => sum + allowed, 0),
    columns.reduce((sum, { refused }) => sum + refused, 0)
  ]
  const summary = `${count(allowed, "call")} taken, ${refused.toLocaleString("en")} refused in the last minute`
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        class="level"
        role="img"
        aria-label={`Calls left over the last minute: ${summary}`}
      >
        <path class="area" d={`${line}V${height}H0z`} />
        <path class="line" d={line} />
      </svg>
      <svg viewBox={`0 0 ${width} ${columnsHeight}`} preserveAspectRatio="none" class="columns" aria-hidden="true">
        <path class="allowed" d={columnPath(columns.map(({ allowed }) => [0, allowed / top]), shift)} />
        <path
          class="refused"
          d={columnPath(columns.map(({ allowed, refused }) => [allowed / top, (allowed + refused) / top]), shift)}
        />
      </svg>
      <figcaption class="row soft">
        <span>60 s ago</span>
        <span class="legend">
          <i class="swatch allowed" />
          {` ${allowed.toLocaleString("en")} taken`}
        </span>
        <span class="legend">
          <i class="swatch refused" />
          {` ${refused.toLocaleString("en")} refused`}
        </span>
        <span>{most === 0 ? "" : `at most ${most} in ½ s`}</span>
        <span class="push">now</span>
      </figcaption>
    </figure>
  )
}

export const Bucket = ({ act, bucket, now, points }: {
  readonly act: Act
  readonly bucket: BucketView
  readonly now: number
  readonly points: ReadonlyArray<Point>
}) => {
  const { burst, name, refillPerSecond } = bucket
  const [title, id] = names[name]
  const left = levelNow(points, bucket, now)
  const set = (calls: number) =>
    act(
      "setBucket",
      { parameter: name, body: { left: calls } },
      ({ left }) => `${title}: ${count(Math.floor(left), "call")} left`
    )
  const refill = refillPerSecond > 2 ? `${rate(refillPerSecond)} a second` : `${rate(refillPerSecond * 60)} a minute`
  return (
    <section class="card bucket" aria-labelledby={id}>
      <div class="row head">
        <h2 id={id}>{title}</h2>
        <span class={`amount ${left < 1 ? "bad" : ""}`} data-left={left.toFixed(2)}>
          {level(left)} <span class="soft">of {burst} left</span>
        </span>
        <span class="soft">refills {refill}</span>
        <span class="row push">
          <button type="button" onClick={() => set(0)}>Empty</button>
          <button type="button" onClick={() => set(burst)}>Fill</button>
        </span>
      </div>
      <div
        class="meter"
        role="meter"
        aria-labelledby={id}
        aria-valuemin={0}
        aria-valuemax={burst}
        aria-valuenow={Math.floor(left)}
      >
        <div class={left < 1 ? "empty" : ""} style={{ width: `${Math.min(100, left / burst * 100).toFixed(1)}%` }} />
      </div>
      <Chart bucket={bucket} now={now} points={points} />
    </section>
  )
}
