/**
 * A fleet's knowledge of one tenant in the shared store: under the key `limit:4:TENANT`, JSON of the schema below. Each visit reads and
 * writes all of it, so operations and buckets are named once, and only the latest responses are kept: up to 20 kB for 400 operations of ten
 * processes, and 0.2 kB for each further process that has calls.
 *
 * Compatibility: a change of the schema, or of the meaning of a field, needs another version. The version is part of the
 * value and of the key, so processes of two versions keep separate state and adapt to one another as two clients do. A value of
 * another version or shape is ignored.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Observation, TenantSnapshot } from "../limiter/adaptiveState.js"
import { flag, list, number, optional, rate, time } from "./compactList.js"
import type { BlockedCall, Member } from "./membership.js"

/** The value of one tenant. */
export interface FleetSnapshot {
  readonly writtenAt: number
  readonly members: Readonly<Record<string, Member>>
  readonly limits: TenantSnapshot
}

type EstimatorState = TenantSnapshot["unknown"]
type CeilingSnapshot = TenantSnapshot["ceilings"][string]

/** The observations that are kept of a tenant: those of a second or two, in which calls overlap. */
const maxObservations = 64

/** The samples that are kept of a tenant, in equal parts for its buckets. */
const maxSamples = 64

/**
 * Written in place of a bucket's place in the list: the operation's bucket is unknown, its responses have no headers, or no call of it
 * has started.
 */
const [unknown, silent, uncalled] = [-1, -2, -3]

const never = optional(time, -Infinity)

/** The meaning of the fields stands in `limiter/estimator`, `limiter/known` and `limiter/adaptiveState.ts`. */
const estimator = list<Omit<EstimatorState, "samples" | "window">>({
  limit: optional(number, undefined),
  isPrior: flag,
  level: number,
  levelAt: time,
  netRate: rate,
  provenRate: rate,
  isShared: flag,
  reported: number,
  reportedAt: time,
  started: number,
  ended: number,
  served: number,
  rateLimited: number,
  pausedUntil: never,
  isProbing: flag,
  latest: never,
  lastSentAt: time,
  loweredAt: never,
  fullResponses: number,
  maxInFlight: number
})

const window = list<EstimatorState["window"]>({
  isFound: flag,
  endsAt: optional(time, Infinity),
  lastReset: optional(number, -Infinity),
  lastLeft: number,
  beganAt: time,
  minSecondsPerCall: rate,
  minCallsPerSecond: rate
})

const sample = list<EstimatorState["samples"][number]>({ sentAt: time, endedAt: time, low: number, high: number })

/** `nth` is the place of the operation, or of the bucket, in the list of all. */
interface Nth {
  readonly nth: number
}

const observation = list<Observation & Nth>({
  nth: number,
  sentAt: time,
  endedAt: time,
  remaining: number,
  fullAt: time
})
const calls = list<Nth & { readonly calls: number }>({ nth: number, calls: number })
const group = list<CeilingSnapshot["groups"][number]>({ first: number, calls: number, at: time })
const ceiling = list<Omit<CeilingSnapshot, "groups">>({ started: number, latest: never })
const member = list<Omit<Member, "blocked" | "inFlight">>({ seenAt: time, waiting: number, waitingSince: time })
const blocked = list<Omit<BlockedCall, "operation"> & Nth>({ nth: number, since: time, isBackground: flag })
const tenant = list<Pick<TenantSnapshot, "bucketCount" | "startedAt">>({ bucketCount: number, startedAt: never })

const byName = <A, I>(schema: Schema.Schema<A, I>) => Schema.Record({ key: Schema.String, value: schema })

const makeSchema = (version: number) => {
  const Estimator = Schema.Tuple(estimator.schema, window.schema, Schema.Array(sample.schema))
  return Schema.parseJson(Schema.Struct({
    version: Schema.Literal(version),
    writtenAt: Schema.Finite,
    /** With calls that wait, and the calls in flight by operation and by bucket. */
    members: byName(Schema.Tuple(
      member.schema,
      Schema.Array(blocked.schema),
      Schema.Array(calls.schema),
      Schema.Array(calls.schema)
    )),
    tenant: tenant.schema,
    unknown: Estimator,
    /** Each with its id, limit and estimator. */
    buckets: Schema.Array(Schema.Tuple(Schema.String, Schema.Finite, Estimator)),
    operations: Schema.Array(Schema.String),
    /** The place of each operation's bucket. */
    drawOn: Schema.Array(Schema.Finite),
    contradictions: Schema.Array(calls.schema),
    observations: Schema.Array(observation.schema),
    ceilings: byName(Schema.Tuple(ceiling.schema, Schema.Array(group.schema)))
  }))
}

type Stored = Omit<Schema.Schema.Type<ReturnType<typeof makeSchema>>, "version">

const mapValues = <A, B>(record: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))

/** Writes counts by name as counts by place. A name without a place is left out. */
const byPlace = (counts: Readonly<Record<string, number>>, places: ReadonlyMap<string, number>) =>
  Object.entries(counts).flatMap(([name, count]) => {
    const nth = places.get(name)
    return nth === undefined ? [] : [calls.encode({ nth, calls: count }, 0)]
  })

const byNameOf = (written: ReadonlyArray<ReadonlyArray<number | null>>, nameOf: (nth: number) => string | undefined) =>
  Object.fromEntries(written.flatMap((one) => {
    const { calls: count, nth } = calls.decode(one, 0)
    const name = nameOf(nth)
    return name === undefined ? [] : [[name, count]]
  }))

const unknownId = "?"

const toStored = ({ limits, members, writtenAt: at }: FleetSnapshot): Stored => {
  const { buckets, ceilings, operations } = limits
  const most = Math.floor(maxSamples / Math.max(1, buckets.length))
  const encodeEstimator = ({ samples, window: windows, ...state }: EstimatorState) =>
    [
      estimator.encode(state, at),
      window.encode(windows, at),
      samples.slice(Math.max(0, samples.length - most)).map((one) => sample.encode(one, at))
    ] as const
  // Nothing is known of an operation without a call.
  const started = Object.keys(operations).filter((name) => (operations[name]?.startedAt ?? -Infinity) > -Infinity)
  const inFlight = Object.values(members).flatMap((one) => Object.keys(one.inFlight.operations))
  const called = new Set([...started, ...inFlight])
  const waiting = Object.values(members).flatMap((one) => one.blocked.map(({ operation }) => operation))
  const names = Array.from(new Set([...called, ...waiting]))
  const known = names.map((name) => Object.hasOwn(operations, name) ? operations[name] : undefined)
  const bucketPlaces = new Map([[unknownId, unknown], ...buckets.map(({ id }, nth) => [id, nth] as const)])
  const places = new Map(names.map((name, nth) => [name, nth]))
  const ends = known.flatMap((one) => one?.observations.map(({ endedAt }) => endedAt) ?? [])
  const since = Float64Array.from(ends).sort().at(-maxObservations) ?? -Infinity
  return {
    writtenAt: at,
    members: mapValues(members, ({ blocked: heads, inFlight, ...one }) =>
      [
        member.encode(one, at),
        heads.map(({ operation, ...head }) => blocked.encode({ nth: places.get(operation) ?? -1, ...head }, at)),
        byPlace(inFlight.operations, places),
        byPlace(inFlight.buckets, bucketPlaces)
      ] as const),
    tenant: tenant.encode(limits, at),
    unknown: encodeEstimator(limits.unknown),
    buckets: buckets.map(({ estimator, id, limit }) => [id, limit, encodeEstimator(estimator)]),
    operations: names,
    drawOn: known.map((one, nth) =>
      bucketPlaces.get(one?.bucket ?? "") ??
        (one?.isSilent === true ? silent : called.has(names[nth] ?? "") ? unknown : uncalled)
    ),
    contradictions: known.flatMap((one, nth) =>
      one === undefined || one.contradictions === 0 ? [] : [calls.encode({ nth, calls: one.contradictions }, at)]
    ),
    observations: known.flatMap((one, nth) =>
      (one?.observations ?? []).filter(({ endedAt }) => endedAt >= since).map((seen) =>
        observation.encode({ ...seen, nth }, at)
      )
    ).slice(-maxObservations),
    ceilings: mapValues(
      ceilings,
      ({ groups, ...counts }) => [ceiling.encode(counts, at), groups.map((one) => group.encode(one, at))] as const
    )
  }
}

const fromStored = (stored: Stored): FleetSnapshot => {
  const { drawOn, operations, writtenAt: at } = stored
  const limits = tenant.decode(stored.tenant, at)
  const decodeEstimator = ([state, windows, samples]: Stored["unknown"]): EstimatorState => ({
    ...estimator.decode(state, at),
    samples: samples.map((one) => sample.decode(one, at)),
    window: window.decode(windows, at)
  })
  const idOf = (nth: number) => nth === unknown ? unknownId : stored.buckets[nth]?.[0]
  const observations = operations.map((): Array<Observation> => [])
  for (const one of stored.observations) {
    const { nth, ...seen } = observation.decode(one, at)
    observations[nth]?.push(seen)
  }
  const contradictions = new Map(
    stored.contradictions.map((one) => {
      const { calls: count, nth } = calls.decode(one, at)
      return [nth, count]
    })
  )
  return {
    writtenAt: at,
    members: mapValues(stored.members, ([one, heads, ofOperations, ofBuckets]) => ({
      ...member.decode(one, at),
      blocked: heads.flatMap((head) => {
        const { nth, ...more } = blocked.decode(head, at)
        const operation = operations[nth]
        return operation === undefined ? [] : [{ operation, ...more }]
      }),
      inFlight: {
        operations: byNameOf(ofOperations, (nth) => operations[nth]),
        buckets: byNameOf(ofBuckets, idOf)
      }
    })),
    limits: {
      ...limits,
      unknown: decodeEstimator(stored.unknown),
      buckets: stored.buckets.map(([id, limit, estimator]) => ({ id, limit, estimator: decodeEstimator(estimator) })),
      operations: Object.fromEntries(operations.map((name, nth) => [name, {
        startedAt: drawOn[nth] === uncalled ? -Infinity : limits.startedAt,
        bucket: stored.buckets[drawOn[nth] ?? unknown]?.[0],
        isSilent: drawOn[nth] === silent,
        observations: observations[nth] ?? [],
        contradictions: contradictions.get(nth) ?? 0
      }])),
      ceilings: mapValues(stored.ceilings, ([counts, groups]) => ({
        ...ceiling.decode(counts, at),
        groups: groups.map((one) => group.decode(one, at))
      }))
    }
  }
}

/** Reads and writes snapshots of one version. */
export interface Format {
  readonly keyOf: (tenant: string) => string
  readonly encode: (snapshot: FleetSnapshot) => string
  readonly decode: (text: string) => Option.Option<FleetSnapshot>
}

export const makeFormat = (version = 4): Format => {
  const decode = Schema.decodeOption(makeSchema(version))
  return {
    keyOf: (tenant) => `limit:${version}:${tenant}`,
    encode: (snapshot) => JSON.stringify({ version, ...toStored(snapshot) }),
    decode: (text) => Option.map(decode(text), fromStored)
  }
}

let current: Format | undefined

/** The format that this version stores. It is made once: that takes 2 ms. */
export const currentFormat = (): Format => current ??= makeFormat()
