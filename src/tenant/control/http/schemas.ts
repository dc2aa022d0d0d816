/** What the control interface receives and sends, as JSON: its types, its validation and its document are made from these schemas. */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { integer, number, omittable, string } from "../../../Schemas.js"
import { headerName, headerValue, isFraming } from "../../server/faults.js"

const { Array: list, Boolean, NullOr, Number, String, Unknown, optional } = Schema

/** Describes a schema, for the document. */
const describe = <A>(schema: Schema.Schema<A>, description: string): Schema.Schema<A> =>
  schema.annotations({ description })

/** The greatest time that a date can have. */
const maxTime = 8_640_000_000_000_000

export const time: Schema.Schema<number> = number({ min: -maxTime, max: maxTime }).annotations({
  description: "milliseconds since 1970 on the tenant's clock"
})

/** The newest of many, and the number of all. */
const some = <A>(items: Schema.Schema<A>) => Schema.Struct({ items: list(items), total: Number })

/** The type of the above. */
export interface Some<Item> {
  readonly items: ReadonlyArray<Item>
  readonly total: number
}

/** The greatest number of calls that a fault applies to, and its longest delay in milliseconds. */
export const faultLimits = { times: 1_000_000, delay: 3_600_000 }

const times = (min: number) => integer({ min, max: faultLimits.times })

export type Refusal = typeof Refusal.Type
export const Refusal = Schema.Struct({
  status: Number,
  message: String,
  field: optional(describe(String, "the field that is invalid"))
}).annotations({ identifier: "Refusal" })

export type Done = typeof Done.Type
export const Done = Schema.Struct({
  changed: describe(Number, "the number of things that it has changed")
}).annotations({ identifier: "Done" })

const clockFields = { time, clockOffset: describe(Number, "how far the clock is ahead, in milliseconds") }

export type ClockView = typeof ClockView.Type
export const ClockView = Schema.Struct(clockFields).annotations({ identifier: "Clock" })

const OperationView = Schema.Struct({ name: String, method: String, path: String, scopes: list(String) })
export type OperationView = typeof OperationView.Type

export type BucketName = typeof BucketName.Type
export const BucketName = Schema.Literal("tenant", "profileUpdates")

const BucketSample = Schema.Struct({
  left: describe(Number, "the fewest calls left within the step"),
  allowed: Number,
  refused: Number
})
export type BucketSample = typeof BucketSample.Type

export type BucketView = typeof BucketView.Type
export const BucketView = Schema.Struct({
  name: BucketName,
  burst: Number,
  refillPerSecond: Number,
  left: describe(Number, "the calls left now, not rounded"),
  history: describe(
    Schema.Struct({ step: describe(Number, "milliseconds"), samples: list(BucketSample) }),
    "the last minute by the wall clock, the oldest first; the step of the last sample is not over yet"
  )
}).annotations({ identifier: "Bucket" })

export type TokenView = typeof TokenView.Type
export const TokenView = Schema.Struct({
  id: describe(String, "its `jti`, not the token"),
  client: String,
  scopes: list(String),
  issuedAt: time,
  expiresAt: time,
  revoked: Boolean
}).annotations({ identifier: "Token" })

export type JobView = typeof JobView.Type
export const JobView = Schema.Struct({
  id: String,
  type: String,
  status: String,
  percentageDone: Number,
  timeLeftSeconds: NullOr(Number),
  createdAt: time,
  endedAt: NullOr(time),
  connection: NullOr(String),
  format: NullOr(String),
  details: describe(NullOr(String), "why it has failed")
}).annotations({ identifier: "Job" })

export type EventView = typeof EventView.Type
export const EventView = Schema.Struct({
  id: String,
  type: String,
  state: Schema.Literal("failed", "queued", "delivered"),
  queuedAt: NullOr(time),
  dueAt: describe(NullOr(time), "the time of the next attempt to deliver it"),
  failsAgain: describe(Number, "the attempts that will fail before it is delivered; 1,000,000 stands for more"),
  attempts: describe(
    list(Schema.Struct({ time, error: NullOr(String) })),
    "the attempts that have failed, the oldest first, at most the last 20"
  )
}).annotations({ identifier: "Event" })

export type StreamView = typeof StreamView.Type
export const StreamView = Schema.Struct({
  id: String,
  name: NullOr(String),
  enabled: Boolean,
  destination: NullOr(String),
  failed: Number,
  queued: Number,
  delivered: Number,
  events: describe(some(EventView), "at most 100: those that have failed, then those that are queued, then the others")
}).annotations({ identifier: "Stream" })

const cut = Schema.Literal("before", "within")

const headers = Schema.Record({
  key: String.pipe(
    Schema.pattern(headerName),
    Schema.filter((name) => !isFraming(name), {
      description: "a name of a header that says nothing about the length of the body"
    })
  ),
  value: NullOr(String.pipe(Schema.pattern(headerValue, { description: "a value of a header" })))
})

export type FaultInput = typeof FaultInput.Type
export const FaultInput = Schema.Struct({
  operation: optional(describe(String, "an operation of the snapshot; default: any")),
  times: optional(times(1)),
  status: optional(integer({ min: 200, max: 599 })),
  headers: optional(headers),
  body: optional(Unknown),
  delay: optional(number({ min: 0, max: faultLimits.delay })),
  cut: optional(cut),
  carriedOut: optional(Boolean)
}).annotations({ identifier: "FaultInput" })

export type FaultView = typeof FaultView.Type
export const FaultView = Schema.Struct({
  id: Number,
  operation: NullOr(String),
  times: Number,
  left: describe(Number, "the number of calls that it still applies to"),
  status: NullOr(Number),
  delay: describe(Number, "milliseconds"),
  cut: NullOr(cut),
  carriedOut: Boolean
}).annotations({ identifier: "Fault" })

const summaryFields = {
  id: describe(Number, "counts up from 1, also over resets"),
  time,
  method: String,
  path: describe(String, "as received, with its query; the signatures of links are masked"),
  operation: NullOr(String),
  outcome: describe(
    Schema.Literal("pending", "responded", "cut", "aborted"),
    "cut: by a fault; aborted: the program has given up, or the tenant has a defect"
  ),
  status: NullOr(Number),
  duration: describe(NullOr(Number), "milliseconds until the response was handed to the server"),
  client: describe(NullOr(String), "the client that the request or its token names"),
  token: describe(NullOr(String), "the `jti` of its token, which need not be valid"),
  bucket: NullOr(BucketName),
  left: describe(NullOr(Number), "the calls left in the bucket after it, rounded down"),
  retry: describe(Number, "1 for the first retry; 0 if it seems to be none"),
  retryOf: describe(
    NullOr(Number),
    "the request that it seems to retry: the same, by the same client, that had failed"
  ),
  fault: NullOr(Number)
}

const RequestSummary = Schema.Struct(summaryFields).annotations({ identifier: "Request" })
export type RequestSummary = typeof RequestSummary.Type

const RecordedMessage = Schema.Struct({
  headers: Schema.Record({ key: String, value: String }),
  body: describe(NullOr(String), "the text; null if it is binary, too large, or no longer kept"),
  size: describe(Number, "the bytes of the body")
}).annotations({ identifier: "RecordedMessage" })
export type RecordedMessage = typeof RecordedMessage.Type

export type RequestDetails = typeof RequestDetails.Type
export const RequestDetails = Schema.Struct({
  ...summaryFields,
  host: String,
  request: RecordedMessage,
  response: NullOr(RecordedMessage)
}).annotations({ identifier: "RequestDetails" })

export const RequestsPage = Schema.Struct({
  items: list(RequestSummary),
  total: Number,
  oldest: describe(NullOr(Number), "the id of the oldest request that is kept")
}).annotations({ identifier: "RequestsPage" })

/** What a state message has of a snapshot. */
const parts = {
  tokens: some(TokenView),
  jobs: some(JobView),
  streams: some(StreamView),
  faults: list(FaultView),
  counts: Schema.Struct({
    connections: Number,
    actions: Number,
    profiles: Number,
    users: describe(NullOr(Number), "null: a function makes them")
  })
}

export type Snapshot = typeof Snapshot.Type
export const Snapshot = Schema.Struct({
  ...clockFields,
  instance: describe(String, "another one after each start"),
  version: String,
  operations: list(OperationView),
  clients: list(Schema.Struct({ id: String, scopes: list(String), global: Boolean, secret: optional(String) })),
  buckets: list(BucketView),
  requests: some(RequestSummary),
  ...parts
}).annotations({ identifier: "Snapshot" })

const BucketReading = Schema.Struct({ name: BucketName, now: Number, ...BucketSample.fields })
export type BucketReading = typeof BucketReading.Type

export type StreamMessage = typeof message.Type
const message = Schema.Union(
  describe(
    Schema.Struct({ type: Schema.Literal("snapshot"), snapshot: Snapshot }),
    "the first message, and after a reset or a load: what was shown before no longer counts"
  ),
  describe(
    Schema.Struct({ type: Schema.Literal("requests"), requests: list(RequestSummary), leftOut: Number, total: Number }),
    "new requests, and new facts about those that were pending, the oldest first"
  ),
  describe(
    Schema.Struct({ type: Schema.Literal("buckets"), ...clockFields, buckets: list(BucketReading) }),
    "while a bucket is used or not full"
  ),
  describe(
    Schema.Struct({
      type: Schema.Literal("state"),
      ...clockFields,
      tokens: omittable(parts.tokens),
      jobs: omittable(parts.jobs),
      streams: omittable(parts.streams),
      faults: omittable(parts.faults),
      counts: omittable(parts.counts)
    }),
    "the parts that have changed, at least every 5 seconds: none is a sign of life"
  )
)
export const StreamMessage = HttpApiSchema.withEncoding(message, { kind: "Json", contentType: "text/event-stream" })
  .annotations({ identifier: "StreamMessage" })

export const BucketInput = Schema.Struct({
  left: optional(number({ min: 0 }))
}).annotations({ identifier: "BucketInput" })

export const TokenInput = Schema.Struct({ client: String }).annotations({ identifier: "TokenInput" })

export const IssuedToken = Schema.Struct({ token: String, view: TokenView }).annotations({ identifier: "IssuedToken" })

export const RevokeInput = Schema.Struct({
  id: optional(String),
  client: optional(String)
}).annotations({ identifier: "RevokeInput" })

export type FailDeliveriesInput = typeof FailDeliveriesInput.Type
export const FailDeliveriesInput = Schema.Struct({
  stream: optional(describe(String, "default: the events of all streams")),
  events: optional(describe(list(String), "ids, whatever the state of the event is; default: all that are queued")),
  times: optional(times(0)),
  error: optional(string({ max: 500 }))
}).annotations({ identifier: "FailDeliveriesInput" })

/** The greatest offset of the clock: a thousand years, in milliseconds. */
export const maxOffset = 1000 * 366 * 24 * 60 * 60 * 1000

const tenYears = 10 * 366 * 24 * 60 * 60 * 1000

export const ClockInput = Schema.Struct({
  forward: number({ above: 0, max: tenYears })
}).annotations({ identifier: "ClockInput" })
