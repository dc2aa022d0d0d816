/** Collects for one reader of the stream what has changed since it last read. It stays small, however slow the reader is. */
import type { BucketName, BucketReading } from "../http/schemas.js"

/** The greatest number of requests in one batch. */
const maxRequests = 100

/** The number of pending requests whose end the reader still has to get. */
const maxPending = 1000

/** The part of a recorded request that counts here. */
interface Subject {
  readonly id: number
  readonly outcome: string
}

export interface Batch<Request> {
  readonly requests: ReadonlyArray<Request>
  /** The number of new requests that are not in this batch, and in no other. */
  readonly leftOut: number
}

type Reading = Omit<BucketReading, "now">

export interface Subscription<Request> {
  readonly changed: (request: Request) => void
  readonly took: (bucket: BucketName, allowed: boolean, left: number) => void
  /** Gives the requests since the last batch, the oldest first. */
  readonly takeRequests: () => Batch<Request>
  /** Gives what happened to the buckets since the last time; none of a bucket that was not used. */
  readonly takeReadings: () => ReadonlyArray<Reading>
  readonly clear: () => void
  /** Begins anew for a reader that has all requests up to `last`, these of them as pending. */
  readonly begin: (pending: ReadonlyArray<number>, last: number) => void
}

export const make = <Request extends Subject>(): Subscription<Request> => {
  /** The newest requests that are new to the reader. */
  const fresh = new Map<number, Request>()
  let leftOut = 0
  /** Requests that the reader got as pending, and those of them that have ended. */
  const pending = new Set<number>()
  const ended = new Map<number, Request>()
  const readings = new Map<BucketName, Reading>()
  let lastId = 0

  const deleteOldest = (collection: Map<number, unknown> | Set<number>): void => {
    const [oldest] = collection.keys()
    if (oldest !== undefined) collection.delete(oldest)
  }

  const clear = () => {
    fresh.clear()
    pending.clear()
    ended.clear()
    readings.clear()
    leftOut = 0
  }

  return {
    changed: (request) => {
      if (pending.delete(request.id)) {
        ended.set(request.id, request)
        if (ended.size > maxPending) deleteOldest(ended)
        return
      }
      if (request.id <= lastId) return // the object of a fresh one has changed itself; another was left out
      lastId = request.id
      fresh.set(request.id, request)
      if (fresh.size <= maxRequests) return
      deleteOldest(fresh)
      leftOut++
    },
    took: (name, allowed, left) => {
      const { allowed: before = 0, left: lowest = Infinity, refused = 0 } = readings.get(name) ?? {}
      readings.set(name, {
        name,
        left: Math.min(lowest, left),
        allowed: before + (allowed ? 1 : 0),
        refused: refused + (allowed ? 0 : 1)
      })
    },
    takeRequests: () => {
      // Under load both kinds get half of a batch at least.
      const room = maxRequests - Math.min(fresh.size, maxRequests / 2)
      const endedOnes = [...ended.values()].slice(0, room)
      for (const { id } of endedOnes) ended.delete(id)
      const newest = [...fresh.values()].slice(-(maxRequests - endedOnes.length))
      const batch = { requests: [...endedOnes, ...newest], leftOut: leftOut + fresh.size - newest.length }
      for (const { id, outcome } of newest) {
        if (outcome === "pending") pending.add(id)
        if (pending.size > maxPending) deleteOldest(pending)
      }
      fresh.clear()
      leftOut = 0
      return batch
    },
    takeReadings: () => {
      const all = [...readings.values()]
      readings.clear()
      return all
    },
    clear,
    begin: (ids, last) => {
      clear()
      for (const id of ids) pending.add(id)
      lastId = last
    }
  }
}
