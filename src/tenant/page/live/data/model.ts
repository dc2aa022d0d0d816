/** The data that the page shows, built from the messages of the tenant. Its size is bounded. */
import type { RequestSummary, Snapshot, StreamMessage } from "../../../control/http/schemas.js"
import { addPoint, type Point, pointsOf } from "./history.js"

/** The number of requests that the page keeps. */
const keptRequests = 2000

/** The time over which the rate of requests is measured, in milliseconds. */
const rateSpan = 2000

export interface Model {
  readonly snapshot: Snapshot
  /** By id, the oldest first. */
  readonly requests: ReadonlyArray<RequestSummary>
  readonly total: number
  /** Counts of all requests and of those left out, at the times of messages, the newest last. */
  readonly counts: ReadonlyArray<{ readonly at: number; readonly total: number; readonly leftOut: number }>
  readonly leftOut: number
  readonly points: Readonly<Record<string, ReadonlyArray<Point>>>
  /** The tenant's time, and the time on the page's own clock at which it was received. */
  readonly time: number
  readonly receivedAt: number
  /** The time of the last message, on the page's own clock. */
  readonly heardAt: number
}

const start = (snapshot: Snapshot, now: number): Model => ({
  snapshot,
  requests: snapshot.requests.items.toReversed(),
  total: snapshot.requests.total,
  counts: [{ at: now, total: snapshot.requests.total, leftOut: 0 }],
  leftOut: 0,
  points: Object.fromEntries(snapshot.buckets.map((bucket) => [bucket.name, pointsOf(bucket, now)])),
  time: snapshot.time,
  receivedAt: now,
  heardAt: now
})

/** Puts new requests and new facts about known ones into a list that is ordered by id. */
export const mergeRequests = (
  known: ReadonlyArray<RequestSummary>,
  changes: ReadonlyArray<RequestSummary>
): ReadonlyArray<RequestSummary> => {
  const [oldest] = known
  const latest = known.at(-1)?.id ?? 0
  const changed = new Map(changes.map((request) => [request.id, request]))
  const replaced = known.map((request) => {
    const change = changed.get(request.id)
    if (change !== undefined) changed.delete(request.id)
    return change ?? request
  })
  // What is older than all that is kept has been dropped before.
  const added = [...changed.values()].filter(({ id }) => oldest === undefined || id > oldest.id)
  const all = [...replaced, ...added]
  if (added.some(({ id }) => id < latest)) all.sort((a, b) => a.id - b.id)
  return all.slice(-keptRequests)
}

type Change = Exclude<StreamMessage, { readonly type: "snapshot" }>

const change = (model: Model, message: Change, now: number): Model => {
  switch (message.type) {
    case "requests": {
      const leftOut = model.leftOut + message.leftOut
      const counts = [...model.counts, { at: now, total: message.total, leftOut }]
      const first = counts.findLastIndex(({ at }) => at <= now - rateSpan)
      return {
        ...model,
        requests: mergeRequests(model.requests, message.requests),
        total: message.total,
        leftOut,
        counts: counts.slice(Math.max(0, first))
      }
    }
    case "buckets": {
      const points = { ...model.points }
      for (const reading of message.buckets) points[reading.name] = addPoint(points[reading.name] ?? [], reading, now)
      return { ...model, points, time: message.time, receivedAt: now }
    }
    case "state": {
      const { type: _, ...parts } = message
      return { ...model, snapshot: { ...model.snapshot, ...parts }, time: message.time, receivedAt: now }
    }
  }
}

/** Takes in a message. `now` is a time on the page's own clock, in milliseconds. */
export const apply = (model: Model | undefined, message: StreamMessage, now: number): Model | undefined => {
  if (message.type === "snapshot") return start(message.snapshot, now)
  return model && { ...change(model, message, now), heardAt: now }
}

/** The tenant's time at a time on the page's own clock. */
export const tenantTime = ({ receivedAt, time }: Model, now: number): number => time + now - receivedAt

/** Requests a second over the last two seconds, and the part of them that is left out of the list, from 0 to 1. */
export const rateOf = ({ counts }: Model, now: number): { readonly rate: number; readonly leftOut: number } => {
  const first = counts.findLast(({ at }) => at <= now - rateSpan) ?? counts[0]
  const last = counts.at(-1)
  if (first === undefined || last === undefined || last.at < now - rateSpan) return { rate: 0, leftOut: 0 }
  const requests = last.total - first.total
  if (requests <= 0) return { rate: 0, leftOut: 0 }
  return { rate: requests * 1000 / rateSpan, leftOut: Math.min(1, (last.leftOut - first.leftOut) / requests) }
}
