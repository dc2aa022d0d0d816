/** The views of the control interface, as types of plain JSON: the snapshot and its parts, and recorded requests. */

/** Some of many. */
export interface Some<Item> {
  readonly items: ReadonlyArray<Item>
  /** The number of all. */
  readonly total: number
}

/** Times are milliseconds since 1970 on the tenant's clock, unless they are said to be something else. */
export interface ClockView {
  readonly time: number
  /** The time by which the clock has been moved forward, in milliseconds. */
  readonly clockOffset: number
}

/** All that the page shows at one moment. */
export interface Snapshot extends ClockView {
  /** Another one after each start of the tenant: then nothing that was shown before counts. */
  readonly instance: string
  /** The version of the package. */
  readonly version: string
  /** The operations that a fault can be for, `token` and `exportFile` too. */
  readonly operations: ReadonlyArray<OperationView>
  readonly clients: ReadonlyArray<ClientView>
  readonly buckets: ReadonlyArray<BucketView>
  /** The newest tokens, at most 100, the newest first. */
  readonly tokens: Some<TokenView>
  /** The newest jobs, at most 100, the newest first. */
  readonly jobs: Some<JobView>
  readonly streams: Some<StreamView>
  /** The faults that calls still have to take, in their order. */
  readonly faults: ReadonlyArray<FaultView>
  /** The newest requests, at most 200, the newest first. `total` counts all since the start or the last reset. */
  readonly requests: Some<RequestSummary>
  /** The rest of the data. */
  readonly counts: {
    readonly connections: number
    readonly actions: number
    readonly profiles: number
    /** `null`: a function makes them. */
    readonly users: number | null
  }
}

export interface OperationView {
  readonly name: string
  readonly method: string
  /** The path from the root of the host; `:name` stands for a parameter. */
  readonly path: string
  readonly scopes: ReadonlyArray<string>
}

interface ClientView {
  readonly id: string
  readonly scopes: ReadonlyArray<string>
  readonly global: boolean
  /** Only with `?secrets=include`, and if the client has one. */
  readonly secret?: string | undefined
}

export type BucketName = "tenant" | "profileUpdates"

export interface BucketView {
  readonly name: BucketName
  /** The calls that it can hold. */
  readonly burst: number
  /** The calls that are added in each second. */
  readonly refillPerSecond: number
  /** The calls left now, not rounded. */
  readonly left: number
  /** The last minute by the wall clock, the oldest first; the last sample is of the step that is not over yet. */
  readonly history: {
    /** The length of a step, in milliseconds. */
    readonly step: number
    readonly samples: ReadonlyArray<BucketSample>
  }
}

export interface BucketSample {
  /** The fewest calls left within the step. */
  readonly left: number
  /** The number of calls that took one. */
  readonly allowed: number
  /** The number of calls that were refused with 429. */
  readonly refused: number
}

export interface TokenView {
  /** Its `jti`; the token itself is never shown. */
  readonly id: string
  readonly client: string
  readonly scopes: ReadonlyArray<string>
  readonly issuedAt: number
  readonly expiresAt: number
  readonly revoked: boolean
}

export interface JobView {
  readonly id: string
  readonly type: string
  /** `pending`, `processing`, `completed` or `failed`. */
  readonly status: string
  /** From 0 to 100. */
  readonly percentageDone: number
  readonly timeLeftSeconds: number | null
  readonly createdAt: number
  readonly endedAt: number | null
  readonly connection: string | null
  readonly format: string | null
  /** Why it has failed. */
  readonly details: string | null
}

export interface StreamView {
  readonly id: string
  readonly name: string | null
  readonly enabled: boolean
  /** `webhook`, `eventbridge`, `action`. */
  readonly destination: string | null
  readonly failed: number
  readonly queued: number
  readonly delivered: number
  /** At most 100: the failed ones first, then those that are queued, then those that are delivered. */
  readonly events: Some<EventView>
}

export interface EventView {
  readonly id: string
  readonly type: string
  readonly state: "failed" | "queued" | "delivered"
  readonly queuedAt: number | null
  /** The time of the next attempt to deliver it. */
  readonly dueAt: number | null
  /** The number of attempts that will fail before it is delivered; 1,000,000 stands for more. */
  readonly failsAgain: number
  /** The attempts that have failed, the oldest first, at most the last 20. */
  readonly attempts: ReadonlyArray<{ readonly time: number; readonly error: string | null }>
}

export interface FaultView {
  readonly id: number
  readonly operation: string | null
  readonly times: number
  /** The number of calls that it still applies to. */
  readonly left: number
  readonly status: number | null
  /** In milliseconds. */
  readonly delay: number
  readonly cut: "before" | "within" | null
  readonly carriedOut: boolean
}

/**
 * `pending`: no response yet. `responded`. `cut`: a fault has broken the connection. `aborted`: the program has given up
 * before the response, or the tenant has a defect.
 */
type Outcome = "pending" | "responded" | "cut" | "aborted"

export interface RequestSummary {
  /** Counts up from 1, also over resets. */
  readonly id: number
  /** The time of arrival. */
  readonly time: number
  readonly method: string
  /** As received, with its query; the signatures of links are masked. */
  readonly path: string
  readonly operation: string | null
  readonly outcome: Outcome
  /** `null` before the response, and if there was none. */
  readonly status: number | null
  /** Until the response was handed to the server, in milliseconds; `null` as long as it is pending. */
  readonly duration: number | null
  /** The client that the token or the token request names; the token need not be valid. */
  readonly client: string | null
  /** The id (`jti`) of the token that it carries; the token need not be valid. */
  readonly token: string | null
  /** The bucket that it was counted in. */
  readonly bucket: BucketName | null
  /** The calls left in the bucket after it, rounded down. */
  readonly left: number | null
  /** 1 for the first retry; 0 if it seems to be none. */
  readonly retry: number
  /** The id of the request that it retries: the same method, path and body, by the same client, that had failed. */
  readonly retryOf: number | null
  /** The id of the fault that it took. */
  readonly fault: number | null
}

export interface RequestDetails extends RequestSummary {
  /** The name of the host that was asked, with its port. */
  readonly host: string
  readonly request: RecordedMessage
  /** `null` if there was none (yet). */
  readonly response: RecordedMessage | null
}

export interface RecordedMessage {
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** The text. `null` if it is binary, too large, or no longer kept. */
  readonly body: string | null
  /** The bytes of the body. */
  readonly size: number
}
