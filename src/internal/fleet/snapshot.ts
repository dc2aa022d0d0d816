/** What was learned of a tenant's limits, as it is kept elsewhere: written down, and taken over again. */
import * as Predicate from "effect/Predicate"
import { type Lane, type Learning, makeBucket, type Permit, type Tenant } from "../limiter/adaptive.js"
import type { Belief } from "../limiter/estimator.js"
import { plain, restore, type Saved } from "./saved.js"

/** How many calls are under way, of each operation, and of those that draw on each supply. */
interface Open {
  readonly lanes: ReadonlyMap<string, number>
  readonly supplies: ReadonlyMap<string, number>
}

/** The name of the supply of calls of which nothing is known. */
const unknown = "?"

/** The names of what a call has taken from. */
export const namesOf = ({ lane: { tenant }, taken }: Permit): ReadonlyArray<string> =>
  taken.flatMap(([supply]) =>
    supply === tenant.unknown
      ? [unknown]
      : Array.from(tenant.buckets).filter((bucket) => bucket.supply === supply).map(({ id }) => id)
  )

const part = (saved: unknown): Saved => Predicate.isReadonlyRecord(saved) ? saved : {}

const list = (saved: unknown): ReadonlyArray<unknown> => Array.isArray(saved) ? saved : []

/** All that is believed of one bucket. */
export const saveBelief = (belief: Belief): Saved => ({
  ...plain(belief),
  marks: belief.marks.map(plain),
  windows: plain(belief.windows)
})

/** Takes over what was saved; so many calls are under way. */
export const loadBelief = (belief: Belief, saved: Saved, inFlight: number): void => {
  belief.limit = undefined
  restore(belief, saved)
  restore(belief.windows, saved["windows"])
  belief.marks.splice(
    0,
    Infinity,
    ...list(saved["marks"]).map((mark) => restore({ sentAt: 0, endedAt: 0, low: 0, high: 0 }, mark))
  )
  belief.ended = belief.started - inFlight
}

const lanesOf = (learning: Learning, tenant: Tenant): ReadonlyArray<Lane> =>
  Array.from(learning.lanes()).filter((lane) => lane.tenant === tenant)

/** All that is known of a tenant. */
export const save = (learning: Learning, name: string): Saved => {
  const tenant = learning.tenantOf(name)
  return {
    ...plain(tenant),
    unknown: saveBelief(tenant.unknown),
    buckets: Array.from(tenant.buckets, (bucket) => ({
      ...plain(bucket),
      supply: saveBelief(bucket.supply),
      likeness: Object.fromEntries(
        Array.from(tenant.buckets, (other) => [other.id, bucket.likeness.get(other) ?? 0] as const)
          .filter(([, times]) => times > 0)
      )
    })),
    lanes: Object.fromEntries(
      lanesOf(learning, tenant).map((lane) => [lane.call.operation, {
        ...plain(lane),
        bucket: lane.bucket?.id,
        seen: [...lane.seen]
      }])
    )
  }
}

/** Takes over what was saved: nothing else is known of the tenant then. Its lanes stay the same objects. */
export const load = (learning: Learning, name: string, saved: Saved, open: Open): void => {
  const tenant = learning.tenantOf(name)
  for (const operation of Object.keys(part(saved["lanes"]))) learning.laneOf({ tenant: name, operation })
  const before = new Map(Array.from(tenant.buckets, (bucket) => [bucket.id, bucket]))
  restore(tenant, saved)
  loadBelief(tenant.unknown, part(saved["unknown"]), open.supplies.get(unknown) ?? 0)
  tenant.buckets.clear()
  for (const each of list(saved["buckets"]).map(part)) {
    const { id, limit } = restore({ id: "", limit: 0 }, each)
    const known = before.get(id)
    const bucket = known?.limit === limit ? known : makeBucket(id, limit)
    loadBelief(bucket.supply, part(each["supply"]), open.supplies.get(id) ?? 0)
    bucket.lanes.clear()
    tenant.buckets.add(bucket)
  }
  const buckets = new Map(Array.from(tenant.buckets, (bucket) => [bucket.id, bucket]))
  for (const each of list(saved["buckets"]).map(part)) {
    for (const [other, times] of Object.entries(part(each["likeness"]))) {
      const [one, two] = [buckets.get(String(each["id"])), buckets.get(other)]
      if (one !== undefined && two !== undefined) one.likeness.set(two, Number(times))
    }
  }
  for (const lane of lanesOf(learning, tenant)) {
    const { operation } = lane.call
    const kept = part(part(saved["lanes"])[operation])
    Object.assign(lane, { startedAt: -Infinity, isSilent: false, doubts: 0 })
    restore(lane, kept)
    lane.inFlight = open.lanes.get(operation) ?? 0
    lane.bucket = buckets.get(String(kept["bucket"]))
    lane.bucket?.lanes.add(lane)
    lane.seen.splice(
      0,
      Infinity,
      ...list(kept["seen"]).map((sighting) => restore({ sentAt: 0, endedAt: 0, remaining: 0, fullAt: 0 }, sighting))
    )
  }
}

/** What is left, of each bucket that is known. */
export const levels = (learning: Learning, name: string, now: number): ReadonlyMap<string, number> =>
  new Map(Array.from(learning.tenantOf(name).buckets, ({ id, supply }) => [id, supply.known(now)?.remaining ?? 0]))

/** No more is left of them than that. */
export const cap = (learning: Learning, name: string, levels: ReadonlyMap<string, number>, now: number): void => {
  for (const { id, supply } of learning.tenantOf(name).buckets) supply.cap(levels.get(id) ?? Infinity, now)
}
