/** The schemas of the control interface: requests are validated with them, and its OpenAPI document is made from them. */
import * as Schema from "effect/Schema"
import { integer, number, string } from "../../../Schemas.js"
import { headerName, headerValue, isFraming } from "../../server/faults.js"
import * as Messages from "../messages.js"

const { Array: list, Boolean, NullOr, Number, String, Unknown, optional } = Schema

/** Describes a schema, for the document. */
const describe = <A>(schema: Schema.Schema<A>, description: string): Schema.Schema<A> =>
  schema.annotations({ description })

/** The greatest time that a date can have. */
const maxTime = 8_640_000_000_000_000

export const time: Schema.Schema<number> = number({ min: -maxTime, max: maxTime }).annotations({
  description: "milliseconds since 1970 on the tenant's clock"
})

/** Some of many, and the number of all. */
const some = <A>(items: Schema.Schema<A>) => Schema.Struct({ items: list(items), total: Number })

const times = (min: number) => integer({ min, max: Messages.faultLimits.times })

export const Refusal: Schema.Schema<Messages.Refusal> = Schema.Struct({
  status: Number,
  message: String,
  field: optional(String.annotations({ description: "the field that is invalid" }))
}).annotations({ identifier: "Refusal" })

export const Done: Schema.Schema<Messages.Done> = Schema.Struct({
  changed: describe(Number, "the number of things that it has changed")
}).annotations({ identifier: "Done" })

const clockFields = { time, clockOffset: describe(Number, "how far the clock is ahead, in milliseconds") }

export const ClockView: Schema.Schema<Messages.ClockView> = Schema.Struct(clockFields).annotations({
  identifier: "Clock"
})

const bucketName = Schema.Literal("tenant", "profileUpdates")

const BucketSample = Schema.Struct({
  left: describe(Number, "the fewest calls left within the step"),
  allowed: Number,
  refused: Number
})

export const BucketView: Schema.Schema<Messages.BucketView> = Schema.Struct({
  name: bucketName,
  burst: Number,
  refillPerSecond: Number,
  left: Number,
  history: Schema.Struct({ step: describe(Number, "milliseconds"), samples: list(BucketSample) })
}).annotations({ identifier: "Bucket" })

export const TokenView: Schema.Schema<Messages.TokenView> = Schema.Struct({
  id: describe(String, "its `jti`, not the token"),
  client: String,
  scopes: list(String),
  issuedAt: time,
  expiresAt: time,
  revoked: Boolean
}).annotations({ identifier: "Token" })

const JobView: Schema.Schema<Messages.JobView> = Schema.Struct({
  id: String,
  type: String,
  status: String,
  percentageDone: Number,
  timeLeftSeconds: NullOr(Number),
  createdAt: time,
  endedAt: NullOr(time),
  connection: NullOr(String),
  format: NullOr(String),
  details: NullOr(String)
}).annotations({ identifier: "Job" })

const EventView: Schema.Schema<Messages.EventView> = Schema.Struct({
  id: String,
  type: String,
  state: Schema.Literal("failed", "queued", "delivered"),
  queuedAt: NullOr(time),
  dueAt: NullOr(time),
  failsAgain: Number,
  attempts: list(Schema.Struct({ time, error: NullOr(String) }))
}).annotations({ identifier: "Event" })

const StreamView: Schema.Schema<Messages.StreamView> = Schema.Struct({
  id: String,
  name: NullOr(String),
  enabled: Boolean,
  destination: NullOr(String),
  failed: Number,
  queued: Number,
  delivered: Number,
  events: some(EventView)
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

export const FaultInput: Schema.Schema<Messages.FaultInput> = Schema.Struct({
  operation: optional(describe(String, "an operation of the snapshot; default: any")),
  times: optional(times(1)),
  status: optional(integer({ min: 200, max: 599 })),
  headers: optional(headers),
  body: optional(Unknown),
  delay: optional(number({ min: 0, max: Messages.faultLimits.delay })),
  cut: optional(cut),
  carriedOut: optional(Boolean)
}).annotations({ identifier: "FaultInput" })

export const FaultView: Schema.Schema<Messages.FaultView> = Schema.Struct({
  id: Number,
  operation: NullOr(String),
  times: Number,
  left: Number,
  status: NullOr(Number),
  delay: Number,
  cut: NullOr(cut),
  carriedOut: Boolean
}).annotations({ identifier: "Fault" })

const summaryFields = {
  id: Number,
  time,
  method: String,
  path: String,
  operation: NullOr(String),
  outcome: Schema.Literal("pending", "responded", "cut", "aborted"),
  status: NullOr(Number),
  duration: NullOr(Number),
  client: NullOr(String),
  token: NullOr(String),
  bucket: NullOr(bucketName),
  left: NullOr(Number),
  retry: Number,
  retryOf: NullOr(Number),
  fault: NullOr(Number)
}

const RequestSummary: Schema.Schema<Messages.RequestSummary> = Schema.Struct(summaryFields).annotations({
  identifier: "Request"
})

const RecordedMessage: Schema.Schema<Messages.RecordedMessage> = Schema.Struct({
  headers: Schema.Record({ key: String, value: String }),
  body: NullOr(String),
  size: Number
}).annotations({ identifier: "RecordedMessage" })

export const RequestDetails: Schema.Schema<Messages.RequestDetails> = Schema.Struct({
  ...summaryFields,
  host: String,
  request: RecordedMessage,
  response: NullOr(RecordedMessage)
}).annotations({ identifier: "RequestDetails" })

export const RequestsPage: Schema.Schema<Messages.RequestsPage> = Schema.Struct({
  items: list(RequestSummary),
  total: Number,
  oldest: NullOr(Number)
}).annotations({ identifier: "RequestsPage" })

const tokens = some(TokenView)
const jobs = some(JobView)
const streams = some(StreamView)
const faults = list(FaultView)
const counts = Schema.Struct({ connections: Number, actions: Number, profiles: Number, users: NullOr(Number) })

export const Snapshot: Schema.Schema<Messages.Snapshot> = Schema.Struct({
  ...clockFields,
  instance: describe(String, "another one after each start"),
  version: String,
  operations: list(Schema.Struct({ name: String, method: String, path: String, scopes: list(String) })),
  clients: list(Schema.Struct({ id: String, scopes: list(String), global: Boolean, secret: optional(String) })),
  buckets: list(BucketView),
  tokens,
  jobs,
  streams,
  faults,
  requests: some(RequestSummary),
  counts
}).annotations({ identifier: "Snapshot" })

export const StreamMessage: Schema.Schema<Messages.StreamMessage> = Schema.Union(
  Schema.Struct({ type: Schema.Literal("snapshot"), snapshot: Snapshot }),
  Schema.Struct({ type: Schema.Literal("requests"), requests: list(RequestSummary), leftOut: Number, total: Number }),
  Schema.Struct({
    type: Schema.Literal("buckets"),
    ...clockFields,
    buckets: list(Schema.Struct({ name: bucketName, now: Number, ...BucketSample.fields }))
  }),
  Schema.Struct({
    type: Schema.Literal("state"),
    ...clockFields,
    tokens: Schema.optionalWith(tokens, { exact: true }),
    jobs: Schema.optionalWith(jobs, { exact: true }),
    streams: Schema.optionalWith(streams, { exact: true }),
    faults: Schema.optionalWith(faults, { exact: true }),
    counts: Schema.optionalWith(counts, { exact: true })
  })
).annotations({ identifier: "StreamMessage" })

export const BucketInput: Schema.Schema<Messages.BucketInput> = Schema.Struct({
  left: optional(number({ min: 0 }))
}).annotations({ identifier: "BucketInput" })

export const TokenInput: Schema.Schema<Messages.TokenInput> = Schema.Struct({ client: String }).annotations({
  identifier: "TokenInput"
})

export const IssuedToken: Schema.Schema<Messages.IssuedToken> = Schema.Struct({ token: String, view: TokenView })
  .annotations({ identifier: "IssuedToken" })

export const RevokeInput: Schema.Schema<Messages.RevokeInput> = Schema.Struct({
  id: optional(String),
  client: optional(String)
}).annotations({ identifier: "RevokeInput" })

export const FailDeliveriesInput: Schema.Schema<Messages.FailDeliveriesInput> = Schema.Struct({
  stream: optional(String),
  events: optional(list(String)),
  times: optional(times(0)),
  error: optional(string({ max: 500 }))
}).annotations({ identifier: "FailDeliveriesInput" })

/** The greatest offset of the clock: a thousand years, in milliseconds. */
export const maxOffset = 1000 * 366 * 24 * 60 * 60 * 1000

const tenYears = 10 * 366 * 24 * 60 * 60 * 1000

export const ClockInput: Schema.Schema<Messages.ClockInput> = Schema.Struct({
  forward: number({ above: 0, max: tenYears })
}).annotations({ identifier: "ClockInput" })

/** The fields of queries and paths. */
export const secretsQuery = { secrets: optional(Schema.Literal("include")) }
export const requestsQuery = { before: optional(integer({ min: 1 })), limit: optional(integer({ min: 1, max: 500 })) }
export const idPath = { id: String.pipe(Schema.pattern(/^\d{1,15}$/, { description: "a number" })) }
export const bucketPath = { name: bucketName }
