/**
 * A fleet's knowledge of one tenant in the shared store: under the key `limit:1:TENANT`, JSON of the schema below.
 *
 * Compatibility: a change of the schema, or of the meaning of a field, needs another version. The version is part of the
 * value and of the key, so processes of two versions keep separate state and adapt to one another as two clients do. A value of
 * another version or shape is ignored.
 */
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { JsonNumber } from "./versionedJson.js"

/** An optional value; JSON has no `undefined`. */
const optional = <A, I>(schema: Schema.Schema<A, I>): Schema.Schema<A | undefined, I | null> =>
  Schema.transform(Schema.NullOr(schema), Schema.UndefinedOr(Schema.typeSchema(schema)), {
    strict: true,
    decode: (value) => value ?? undefined,
    encode: (value) => value ?? null
  })

const byName = <A, I>(schema: Schema.Schema<A, I>) => Schema.Record({ key: Schema.String, value: schema })

const makeSchema = (version: number) => {
  const time = JsonNumber // milliseconds on the store's clock
  const count = JsonNumber
  const rate = JsonNumber // calls per millisecond
  // There are hundreds of these: without a check for infinity a value is decoded twice as fast.
  const finite = Schema.Number

  const Window = Schema.Struct({
    isFound: Schema.Boolean,
    isNew: Schema.Boolean,
    endsAt: time,
    lastReset: JsonNumber,
    lastLeft: count,
    beganAt: time,
    length: JsonNumber,
    minSecondsPerCall: JsonNumber,
    minCallsPerSecond: JsonNumber,
    refusals: count
  })

  const Estimator = Schema.Struct({
    limit: optional(count),
    level: JsonNumber,
    levelAt: time,
    netRate: rate,
    provenRate: rate,
    isShared: Schema.Boolean,
    reported: JsonNumber,
    reportedAt: time,
    callMillis: JsonNumber,
    started: count,
    ended: count,
    served: count,
    rateLimited: count,
    pausedUntil: time,
    latest: time,
    lastSentAt: time,
    loweredAt: time,
    fullResponses: count,
    isRecovering: Schema.Boolean,
    maxInFlight: count,
    refusalsInRow: count,
    samples: Schema.Array(Schema.Struct({ sentAt: finite, endedAt: finite, low: finite, high: finite })),
    window: Window
  })

  const Limits = Schema.Struct({
    bucketCount: count,
    startedAt: time,
    unknown: Estimator,
    buckets: Schema.Array(Schema.Struct({
      id: Schema.String,
      limit: count,
      estimator: Estimator,
      similarity: byName(count)
    })),
    operations: byName(Schema.Struct({
      startedAt: time,
      bucket: optional(Schema.String),
      isSilent: Schema.Boolean,
      observations: Schema.Array(
        Schema.Struct({ sentAt: finite, endedAt: finite, remaining: finite, fullAt: finite })
      ),
      contradictions: count
    }))
  })

  const Member = Schema.Struct({
    seenAt: time,
    waiting: count,
    waitingSince: time,
    inFlight: Schema.Struct({ operations: byName(count), buckets: byName(count) })
  })

  return Schema.parseJson(Schema.Struct({
    version: Schema.Literal(version),
    writtenAt: time,
    members: byName(Member),
    limits: Limits
  }))
}

type Stored = Schema.Schema.Type<ReturnType<typeof makeSchema>>

/** The value of one tenant. */
export type FleetSnapshot = Omit<Stored, "version">

/** Reads and writes snapshots of one version. */
export interface Format {
  readonly keyOf: (tenant: string) => string
  readonly encode: (snapshot: FleetSnapshot) => string
  readonly decode: (text: string) => Option.Option<FleetSnapshot>
}

export const makeFormat = (version = 1): Format => {
  const schema = makeSchema(version)
  const encode = Schema.encodeSync(schema)
  return {
    keyOf: (tenant) => `limit:${version}:${tenant}`,
    encode: (snapshot) => encode({ version, ...snapshot }),
    decode: Schema.decodeOption(schema)
  }
}
