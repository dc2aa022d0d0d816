/**
 * A fleet's knowledge of one tenant in the shared store: under the key `limit:2:TENANT`, JSON of the schema below.
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
    decode: (value): A | undefined => value ?? undefined,
    encode: (value): A | null => value ?? null
  })

const byName = <A, I>(schema: Schema.Schema<A, I>) => Schema.Record({ key: Schema.String, value: schema })

/** Makes fields of one type. */
const fields = <S extends Schema.Schema.Any, Name extends string>(schema: S, ...names: ReadonlyArray<Name>) =>
  // Sound: it has each of the names.
  Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, S>

/** The meaning of the fields stands in `limiter/estimator`, `limiter/known` and `limiter/adaptiveState.ts`; times are on the store's clock. */
const makeSchema = (version: number) => {
  // There are hundreds of these, and none is infinite.
  const numbers = <Name extends string>(...names: ReadonlyArray<Name>) => Schema.Struct(fields(Schema.Number, ...names))

  const Window = Schema.Struct({
    ...fields(Schema.Boolean, "isFound", "isNew"),
    ...fields(JsonNumber, "endsAt", "lastReset", "lastLeft", "beganAt", "length", "refusals"),
    ...fields(JsonNumber, "minSecondsPerCall", "minCallsPerSecond")
  })

  const Estimator = Schema.Struct({
    limit: optional(JsonNumber),
    ...fields(JsonNumber, "level", "levelAt", "netRate", "provenRate", "reported", "reportedAt", "callMillis"),
    ...fields(JsonNumber, "started", "ended", "served", "rateLimited", "pausedUntil", "latest", "lastSentAt"),
    ...fields(JsonNumber, "loweredAt", "fullResponses", "maxInFlight", "refusalsInRow"),
    ...fields(Schema.Boolean, "isPrior", "isShared", "isRecovering", "isProbing"),
    samples: Schema.Array(numbers("sentAt", "endedAt", "low", "high")),
    window: Window
  })

  const Limits = Schema.Struct({
    ...fields(JsonNumber, "bucketCount", "startedAt"),
    unknown: Estimator,
    buckets: Schema.Array(Schema.Struct({
      id: Schema.String,
      limit: JsonNumber,
      estimator: Estimator,
      similarity: byName(JsonNumber)
    })),
    operations: byName(Schema.Struct({
      ...fields(JsonNumber, "startedAt", "contradictions"),
      bucket: optional(Schema.String),
      isSilent: Schema.Boolean,
      observations: Schema.Array(numbers("sentAt", "endedAt", "remaining", "fullAt"))
    })),
    ceilings: byName(Schema.Struct({
      ...fields(JsonNumber, "started", "latest"),
      groups: Schema.Array(numbers("first", "calls", "at"))
    }))
  })

  const Member = Schema.Struct({
    ...fields(JsonNumber, "seenAt", "waiting", "waitingSince"),
    inFlight: Schema.Struct({ operations: byName(JsonNumber), buckets: byName(JsonNumber) })
  })

  return Schema.parseJson(Schema.Struct({
    version: Schema.Literal(version),
    writtenAt: JsonNumber,
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

export const makeFormat = (version = 2): Format => {
  const schema = makeSchema(version)
  const encode = Schema.encodeSync(schema)
  return {
    keyOf: (tenant) => `limit:${version}:${tenant}`,
    encode: (snapshot) => encode({ version, ...snapshot }),
    decode: Schema.decodeOption(schema)
  }
}

let current: Format | undefined

/** The format that this version stores. It is made once: that takes 2 ms. */
export const currentFormat = (): Format => current ??= makeFormat()
