/** The members of a fleet by their entries: those present, those that wait, and their calls in flight. Times are milliseconds on the store's clock. */
import { type AdaptiveGrant, bucketIdsOf, type InFlight } from "../limiter/adaptiveState.js"

/** A call of an operation that waits, and the time since which the operation waits for a permit. */
export interface BlockedCall {
  readonly operation: string
  readonly since: number
  readonly isBackground: boolean
}

/**
 * The entry of a process: when it last wrote it, how many of its calls waited and since when, some of these calls, and its calls in
 * flight.
 */
export interface Member {
  readonly seenAt: number
  readonly waiting: number
  readonly waitingSince: number
  readonly blocked: ReadonlyArray<BlockedCall>
  readonly inFlight: {
    readonly operations: Readonly<Record<string, number>>
    readonly buckets: Readonly<Record<string, number>>
  }
}

/** Members by their ids. */
export type Members = ReadonlyMap<string, Member>

/** A member that has not written for this time is gone, with its calls in flight. */
export const goneAfter = 10_000

/** A member that has not written for this time does not wait any more. */
const waitsFor = 2000

/** The members that are not gone. */
export const present = (members: Members, now: number): Members =>
  new Map(Array.from(members).filter(([, { seenAt }]) => seenAt > now - goneAfter))

/** The members whose calls wait. */
export const rivals = (members: Members, now: number): ReadonlyArray<Member> =>
  Array.from(members.values()).filter(({ seenAt, waiting }) => waiting > 0 && seenAt > now - waitsFor)

/** The calls of members that wait: the oldest of each operation, and of its background work. */
export const blockedCalls = (members: ReadonlyArray<Member>): ReadonlyArray<BlockedCall> => {
  const oldest = new Map<string, BlockedCall>()
  for (const one of members.flatMap(({ blocked }) => blocked)) {
    const key = `${one.operation} ${one.isBackground}`
    if (one.since < (oldest.get(key)?.since ?? Infinity)) oldest.set(key, one)
  }
  return Array.from(oldest.values())
}

/** The number of members that have waited at least as long as a process that waits since `since`. */
export const countBefore = (members: Members, now: number, since: number): number =>
  rivals(members, now).filter(({ waitingSince }) => waitingSince <= since).length

const sum = (counts: ReadonlyArray<readonly [name: string, calls: number]>): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const [name, calls] of counts) sums.set(name, (sums.get(name) ?? 0) + calls)
  return sums
}

const count = (names: ReadonlyArray<string>) => Object.fromEntries(sum(names.map((name) => [name, 1])))

/** Counts a process's calls in flight by operation and by bucket. */
export const countInFlight = (grants: ReadonlyArray<AdaptiveGrant>): Member["inFlight"] => ({
  operations: count(grants.map(({ state }) => state.call.operation)),
  buckets: count(grants.flatMap(bucketIdsOf))
})

/** Adds up the calls in flight of several processes. */
export const totalInFlight = (counts: ReadonlyArray<Member["inFlight"]>): InFlight => ({
  operations: sum(counts.flatMap(({ operations }) => Object.entries(operations))),
  buckets: sum(counts.flatMap(({ buckets }) => Object.entries(buckets)))
})
