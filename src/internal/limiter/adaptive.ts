/**
 * Which operations draw on one bucket. The headers name none: operations of a tenant that are told the same limit are held
 * to one bucket until one is told more than can be left in it. Then they part, and come together again when what each is
 * told shows the calls of the other.
 */
import * as Belief from "./estimator.js"
import type { Source } from "./queue.js"
import * as Supply from "./rateLimitHeaders.js"

/** The calls of one operation. */
export interface Lane {
  readonly call: Supply.Call
  readonly tenant: Tenant
  inFlight: number
  /** When its last call started. */
  startedAt: number
  /** Unknown until an answer tells a limit. */
  bucket: Bucket | undefined
  /** Whether its last answer told nothing: of interest while its bucket is unknown. */
  isSilent: boolean
  /** What its last answers showed, the newest last. */
  readonly seen: Array<Sighting>
  /** How often it was told more than can be left in its bucket. */
  doubts: number
}

/** What is taken for one bucket. */
interface Bucket {
  /** No other of its tenant has or had it. */
  readonly id: string
  readonly limit: number
  readonly supply: Belief.Belief
  readonly lanes: Set<Lane>
  /** How often the calls of another bucket have shown in this one. */
  readonly likeness: WeakMap<Bucket, number>
}

export interface Tenant {
  /** For calls of which nothing is known. */
  readonly unknown: Belief.Belief
  readonly buckets: Set<Bucket>
  /** How many buckets there have been. */
  made: number
  /** When its last call started. */
  startedAt: number
}

/** A call that was carried out, and what it was told. Times are local milliseconds. */
interface Sighting {
  readonly sentAt: number
  readonly endedAt: number
  readonly remaining: number
  /** From when on the bucket may be full again. */
  readonly fullAt: number
}

/** A call under way: what it has taken, and from where. */
export interface Permit {
  readonly lane: Lane
  readonly sentAt: number
  readonly taken: ReadonlyArray<readonly [from: Supply.Supply, taken: Supply.Taken]>
}

/**
 * What others are told says nothing certain: a call of which nothing is known waits for them no longer if no call of its
 * tenant has started for so long, in milliseconds.
 */
const patience = 2000

/** More sightings than this say no more. */
const memory = 32

/** So many doubts part a lane from its bucket; as many likenesses, each way, make two buckets one. */
const proof = 2

const makeTenant = (): Tenant => ({ unknown: Belief.make(), buckets: new Set(), made: 0, startedAt: -Infinity })

export const makeBucket = (id: string, limit: number): Bucket => ({
  id,
  limit,
  supply: Belief.make(),
  lanes: new Set(),
  likeness: new WeakMap()
})

const makeLane = (call: Supply.Call, tenant: Tenant): Lane => ({
  call,
  tenant,
  inFlight: 0,
  startedAt: -Infinity,
  bucket: undefined,
  isSilent: false,
  seen: [],
  doubts: 0
})

/** Learns from every answer. */
export interface Learning extends Source<Lane, Permit> {
  readonly tenantOf: (name: string) => Tenant
}

/** Grants calls by what the service tells, and learns from every answer. */
export const learning = (): Learning => {
  const tenants = new Map<string, Tenant>()
  const lanes = new Map<string, Lane>()
  const tenantOf = (name: string): Tenant => {
    const tenant = tenants.get(name) ?? makeTenant()
    tenants.set(name, tenant)
    return tenant
  }
  return {
    tenantOf,
    laneOf: ({ operation, tenant }) => {
      const key = `${operation} ${tenant}`
      let lane = lanes.get(key)
      if (lane === undefined) {
        lane = makeLane({ tenant, operation }, tenantOf(tenant))
        lanes.set(key, lane)
      }
      return lane
    },
    lanes: () => lanes.values(),
    supplyOf: ({ bucket }) => bucket?.supply,
    isFirst,
    wait,
    start,
    giveBack,
    answered
  }
}

/** Whose leave a call needs: until its bucket is known, that of all that it may be. */
const suppliesOf = ({ bucket, isSilent, tenant }: Lane): ReadonlyArray<Supply.Supply> =>
  bucket !== undefined
    ? [bucket.supply]
    : isSilent || tenant.buckets.size === 0
    ? [tenant.unknown]
    : Array.from(tenant.buckets, ({ supply }) => supply)

/** Whether nothing is known of a lane's calls. */
const isNew = ({ bucket, isSilent }: Lane): boolean => bucket === undefined && !isSilent

/** Whether the next call of a lane is its first, which tells which bucket it draws on. */
const isFirst = (lane: Lane): boolean => isNew(lane) && lane.startedAt === -Infinity && lane.tenant.buckets.size > 0

/** In how many milliseconds all that a call may draw on can give it. */
const wait = (lane: Lane, now: number, share: number, ahead: number, waited: number): number => {
  const { tenant } = lane
  if (isNew(lane) && lane.inFlight > 0 && tenant.buckets.size > 0) return Infinity
  let longest = 0
  for (const supply of suppliesOf(lane)) longest = Math.max(longest, Supply.wait(supply, now, share, ahead))
  if (!isNew(lane) || lane.inFlight > 0) return longest
  const patient = patience - Math.min(waited, now - tenant.startedAt)
  return Math.min(longest, Math.max(patient, tenant.unknown.pausedFor(now)))
}

const start = (lane: Lane, now: number, held: boolean): Permit => {
  lane.inFlight++
  lane.startedAt = lane.tenant.startedAt = now
  return { lane, sentAt: now, taken: suppliesOf(lane).map((supply) => [supply, supply.start(now, held)]) }
}

/** The call was not sent after all. */
const giveBack = ({ lane, taken }: Permit, now: number): void => {
  lane.inFlight--
  for (const [, part] of taken) part.giveBack(now)
}

/** The call is over; `undefined`: no answer came. */
const answered = (permit: Permit, told: Supply.Told | undefined, now: number): void => {
  const { lane, sentAt, taken } = permit
  lane.inFlight--
  const supply = told === undefined ? undefined : place(lane, sentAt, told, now)
  for (const [from, part] of taken) {
    if (from === supply || supply === undefined) part.answered(told, now)
    else part.giveBack(now) // it was another's
  }
  if (supply !== undefined && taken.every(([from]) => from !== supply)) {
    supply.start(now, false, sentAt).answered(told, now)
  }
}

/** Finds the bucket that an answer tells of, and remembers what it showed. */
const place = (lane: Lane, sentAt: number, told: Supply.Told, now: number): Supply.Supply => {
  const { limit, remaining } = told
  if (limit === undefined || remaining === undefined) {
    lane.isSilent = told.isServed
    return lane.bucket?.supply ?? lane.tenant.unknown
  }
  if (lane.bucket !== undefined && lane.bucket.limit !== limit) leave(lane, lane.bucket)
  const sighting = { sentAt, endedAt: now, remaining, fullAt: now + Math.max(0, (told.untilFull ?? 0) - 1) * 1000 }
  if (lane.bucket !== undefined && !told.isRefused) {
    // Much more than can be left: one look is enough. Else it may be a mistake of rounding.
    const excess = remaining - most(lane.bucket, lane, sighting)
    lane.doubts = excess > 0 ? lane.doubts + (excess > 1 ? proof : 1) : 0
    if (lane.doubts >= proof) leave(lane, lane.bucket)
  }
  const bucket = lane.bucket ?? enter(lane, limit, sighting)
  if (!told.isRefused) {
    compare(bucket, lane.tenant, sighting)
    lane.seen.push(sighting)
    if (lane.seen.length > memory) lane.seen.shift()
  }
  return (lane.bucket ?? bucket).supply
}

const leave = (lane: Lane, bucket: Bucket): void => {
  const { tenant } = lane
  lane.bucket = undefined
  lane.doubts = 0
  lane.seen.length = 0
  bucket.lanes.delete(lane)
  if (bucket.lanes.size === 0) tenant.buckets.delete(bucket)
}

/** Goes to the bucket that explains best what a lane was told; to a new one if none does. */
const enter = (lane: Lane, limit: number, sighting: Sighting): Bucket => {
  const { tenant } = lane
  let best: Bucket | undefined
  let least = Infinity
  for (const bucket of tenant.buckets) {
    const gap = most(bucket, lane, sighting) - sighting.remaining
    if (bucket.limit === limit && gap >= 0 && (best === undefined || gap < least)) {
      best = bucket
      least = gap
    }
  }
  best ??= makeBucket(`${++tenant.made}`, limit)
  tenant.buckets.add(best)
  best.lanes.add(lane)
  lane.bucket = best
  return best
}

/** How many calls were carried out for sure between two points in time. */
const carriedOut = (lanes: Iterable<Lane>, from: number, to: number): number => {
  let count = 0
  for (const { seen } of lanes) {
    for (const { endedAt, sentAt } of seen) if (sentAt >= from && endedAt <= to) count++
  }
  return count
}

/** The last of some lanes' sightings that was over at a point in time; one lane may be left out. */
const lastSeen = (lanes: Iterable<Lane>, before: number, except?: Lane): Sighting | undefined => {
  let last: Sighting | undefined
  for (const lane of lanes) {
    const own = lane === except ? undefined : lane.seen.findLast(({ endedAt }) => endedAt <= before)
    if (own !== undefined && own.endedAt >= (last?.endedAt ?? -Infinity)) last = own
  }
  return last
}

/** How many calls can be refilled in so many milliseconds, generously. */
const refill = ({ limit, supply }: Bucket, now: number, millis: number): number => {
  const known = supply.known(now)
  if (known === undefined || known.fullAt <= now) return 1
  const perMilli = (limit - known.remaining) / (known.fullAt - now)
  return Math.min(limit, 1 + 2 * perMilli * millis)
}

/** The most that can be left after a call, by what the bucket's other lanes have been told. */
const most = (bucket: Bucket, lane: Lane, { endedAt, sentAt }: Sighting): number => {
  const last = lastSeen(bucket.lanes, sentAt, lane)
  if (last === undefined || endedAt >= last.fullAt) return Infinity
  const since = carriedOut(bucket.lanes, last.endedAt, sentAt) + 1
  return last.remaining + refill(bucket, endedAt, endedAt - last.sentAt) - since
}

/** Looks whether the calls of other buckets with the same limit show in what a bucket's lane is told. */
const compare = (bucket: Bucket, tenant: Tenant, { endedAt, remaining, sentAt }: Sighting): void => {
  if (tenant.buckets.size === 1) return
  const last = lastSeen(bucket.lanes, sentAt)
  if (last === undefined) return
  const own = carriedOut(bucket.lanes, last.endedAt, sentAt) + 1
  const missing = last.remaining - own - remaining
  for (const other of tenant.buckets) {
    const theirs = other === bucket || other.limit !== bucket.limit ? 0 : carriedOut(other.lanes, last.endedAt, sentAt)
    if (theirs < 2) continue
    const isLike = missing > 0 && missing + refill(bucket, endedAt, endedAt - last.sentAt) >= theirs
    bucket.likeness.set(other, isLike ? (bucket.likeness.get(other) ?? 0) + 1 : 0)
    if ((bucket.likeness.get(other) ?? 0) >= proof && (other.likeness.get(bucket) ?? 0) >= proof) {
      return join(bucket, other, tenant)
    }
  }
}

/** Makes one bucket of two. */
const join = (bucket: Bucket, other: Bucket, tenant: Tenant): void => {
  for (const lane of bucket.lanes) {
    lane.bucket = other
    other.lanes.add(lane)
  }
  bucket.lanes.clear()
  tenant.buckets.delete(bucket)
}
