/** A limit that is known, that all calls share and that nobody else uses. */
import * as Bucket from "./bucket.js"
import type { Source } from "./queue.js"
import * as Supply from "./rateLimitHeaders.js"

interface Lane {
  readonly call: Supply.Call
  readonly supply: Supply.Supply
}

const supply = (limit: number, rate: number, now: number): Supply.Supply => {
  const bucket = Bucket.full(limit, rate, now)
  const taken: Supply.Taken = { giveBack: () => Bucket.giveBack(bucket), answered: () => {} }
  return {
    wait: (now, reserve, ahead) => Bucket.wait(bucket, now, reserve + ahead),
    start: (now) => {
      Bucket.take(bucket, now)
      return taken // one call is like another
    },
    pausedFor: () => 0,
    known: (now) => ({ limit, remaining: Bucket.whole(bucket, now), fullAt: Bucket.fullAt(bucket) })
  }
}

/** Grants so many calls at once, and `rate` of them in each millisecond. */
export const source = (limit: number, rate: number, now: number): Source<Lane, Supply.Taken> => {
  const lane: Lane = { call: { tenant: "*", operation: "*" }, supply: supply(limit, rate, now) }
  return {
    laneOf: () => lane,
    lanes: () => [lane],
    supplyOf: ({ supply }) => supply,
    isFirst: () => false,
    wait: ({ supply }, now, share, ahead) => Supply.wait(supply, now, share, ahead),
    start: ({ supply }, now, held) => supply.start(now, held),
    giveBack: (taken, now) => taken.giveBack(now),
    answered: () => {}
  }
}
