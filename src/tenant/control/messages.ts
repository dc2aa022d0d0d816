/** The JSON that the control interface and the live page exchange: types and addresses only, so that both sides can import it. */

/** The header that carries the key. Every request below `/_tenant/` needs it, the stream of events, too. */
export const keyHeader = "x-tenant-key"

/** The fragment of the page's address that holds the key: `/#key=…`. No browser sends a fragment to a server. */
export const keyFragment = "key"

/** Stands in place of a secret, unless secrets are asked for by `?secrets=include`. */
export const masked = "<masked>"

/** The addresses, and the types below that travel. `:name` stands for a parameter. All bodies are JSON. */
export const addresses = {
  openapi: { method: "GET", path: "/_tenant/openapi.json" },
  snapshot: { method: "GET", path: "/_tenant/state" },
  events: { method: "GET", path: "/_tenant/events" },
  requests: { method: "GET", path: "/_tenant/requests" },
  request: { method: "GET", path: "/_tenant/requests/:id" },
  clearRequests: { method: "DELETE", path: "/_tenant/requests" },
  addFault: { method: "POST", path: "/_tenant/faults" },
  removeFaults: { method: "DELETE", path: "/_tenant/faults" },
  removeFault: { method: "DELETE", path: "/_tenant/faults/:id" },
  setBucket: { method: "POST", path: "/_tenant/buckets/:name" },
  issueToken: { method: "POST", path: "/_tenant/tokens" },
  revokeTokens: { method: "POST", path: "/_tenant/tokens/revoke" },
  failDeliveries: { method: "POST", path: "/_tenant/deliveries/fail" },
  moveClock: { method: "POST", path: "/_tenant/clock" },
  reset: { method: "POST", path: "/_tenant/reset" },
  save: { method: "GET", path: "/_tenant/save" },
  load: { method: "POST", path: "/_tenant/load" }
} as const

/** The input and the response of each address. `query` and `body` may be left out where all their fields are optional. */
export interface Exchanges {
  readonly openapi: { readonly response: object }
  readonly snapshot: { readonly query: SecretsQuery; readonly response: Snapshot }
  /** Server-sent events: the `data` of each is a `StreamMessage`, its `event` the message's `type`. The first is a snapshot. */
  readonly events: { readonly response: StreamMessage }
  readonly requests: { readonly query: RequestsQuery; readonly response: RequestsPage }
  readonly request: { readonly query: SecretsQuery; readonly response: RequestDetails }
  readonly clearRequests: { readonly response: Done }
  readonly addFault: { readonly body: FaultInput; readonly response: FaultView }
  readonly removeFaults: { readonly response: Done }
  readonly removeFault: { readonly response: Done }
  readonly setBucket: { readonly body: BucketInput; readonly response: BucketView }
  readonly issueToken: { readonly body: TokenInput; readonly response: IssuedToken }
  readonly revokeTokens: { readonly body: RevokeInput; readonly response: Done }
  readonly failDeliveries: { readonly body: FailDeliveriesInput; readonly response: Done }
  readonly moveClock: { readonly body: ClockInput; readonly response: ClockView }
  readonly reset: { readonly response: Done }
  readonly save: { readonly query: SecretsQuery; readonly response: SavedState }
  readonly load: { readonly body: SavedState; readonly response: Done }
}

/** The body of a refusal: 400 for bad input, 403 without key or from elsewhere, 404, 413. */
export interface Refusal {
  readonly status: number
  readonly message: string
  /** The field that is invalid, for example `status` or `headers.retry-after`. */
  readonly field?: string | undefined
}

/** An action is carried out. */
export interface Done {
  /** The number of things that it has changed. */
  readonly changed: number
}

export interface SecretsQuery {
  /** Gives secrets in full. */
  readonly secrets?: "include" | undefined
}

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

export interface ClientView {
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
  /** The number of attempts that will fail before it is delivered. */
  readonly failsAgain: number
  /** The attempts that have failed, the oldest first, at most the last 20. */
  readonly attempts: ReadonlyArray<{ readonly time: number; readonly error: string | null }>
}

/** A fault for the next calls. At least one of `status`, `delay` and `cut` is set. */
export interface FaultInput {
  /** The operation that it is for, `token` for tokens, `exportFile` for files of exports. Default: any. */
  readonly operation?: string | undefined
  /** The number of calls, 1 to 1,000,000 (default 1). */
  readonly times?: number | undefined
  /** The status of the response, 200 to 599. */
  readonly status?: number | undefined
  /** Headers to add or replace; `null` removes one. */
  readonly headers?: Readonly<Record<string, string | null>> | undefined
  /** A text is sent as it is, any other value as JSON. Default: the service's body for the status. */
  readonly body?: unknown
  /** The time to wait before the response, in milliseconds, at most an hour. */
  readonly delay?: number | undefined
  /** Breaks the connection before the response, or within its body. */
  readonly cut?: "before" | "within" | undefined
  /** Carries the call out, though the response is another one. */
  readonly carriedOut?: boolean | undefined
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

export interface BucketInput {
  /** The calls that it then holds, at most its burst (default 0: it is empty). */
  readonly left?: number | undefined
}

export interface TokenInput {
  /** The id of a client. It needs no secret: the key proves enough. */
  readonly client: string
}

/** The one response that has a token in full without `?secrets=include`: it was asked for. */
export interface IssuedToken {
  readonly token: string
  readonly view: TokenView
}

/** Which tokens to revoke. Default: all. */
export interface RevokeInput {
  /** The token with this id. */
  readonly id?: string | undefined
  /** The tokens of this client. */
  readonly client?: string | undefined
}

/** Lets deliveries fail: at once those that are queued, and later ones as often as `times` says. */
export interface FailDeliveriesInput {
  /** Default: the events of all streams. */
  readonly stream?: string | undefined
  /** The ids of events, whatever their state is (default: all that are queued). */
  readonly events?: ReadonlyArray<string> | undefined
  /** The number of redeliveries of each event that fail, too, 0 to 1,000,000 (default 0). */
  readonly times?: number | undefined
  /** The error that the attempt records. */
  readonly error?: string | undefined
}

export interface ClockInput {
  /** The milliseconds to move the clock forward, greater than 0 and at most ten years. */
  readonly forward: number
}

export interface RequestsQuery {
  /** Only requests that came before the one with this id. */
  readonly before?: number | undefined
  /** The number of requests, 1 to 500 (default 100). */
  readonly limit?: number | undefined
}

/** The newest first. */
export interface RequestsPage extends Some<RequestSummary> {
  /** The id of the oldest request that is kept; `null` if none is. */
  readonly oldest: number | null
}

/**
 * `pending`: no response yet. `responded`. `cut`: a fault has broken the connection. `aborted`: the program has given up
 * before the response.
 */
export type Outcome = "pending" | "responded" | "cut" | "aborted"

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
  /** The text. `null` if it is binary, or no longer kept. */
  readonly body: string | null
  /** The bytes of the body. */
  readonly size: number
}

/** A message of the stream. A reader that is slow gets fewer and larger steps, never an old one twice. */
export type StreamMessage =
  /** The first message, and after a reset or when a state was loaded: what was shown before no longer counts. */
  | { readonly type: "snapshot"; readonly snapshot: Snapshot }
  /**
   * New requests, and new facts about those that were sent as `pending` (the same id), the oldest first. At most every 100 ms, and at
   * most 100 at once, the newest; `leftOut` counts the others. `total` counts all.
   */
  | {
    readonly type: "requests"
    readonly requests: ReadonlyArray<RequestSummary>
    readonly leftOut: number
    readonly total: number
  }
  /** At most every 100 ms, while a bucket is used or not full. */
  | ({ readonly type: "buckets"; readonly buckets: ReadonlyArray<BucketReading> } & ClockView)
  /** Parts that have changed. At least every 5 s, with no part if none has: the connection lives. */
  | (
    & { readonly type: "state" }
    & ClockView
    & Partial<Pick<Snapshot, "tokens" | "jobs" | "streams" | "faults" | "counts">>
  )

/** A bucket since the last reading. */
export interface BucketReading extends BucketSample {
  readonly name: BucketName
  /** The calls left now; `left` is the fewest since the last reading. */
  readonly now: number
}

/** A state in a file. Without `secrets`, secrets in it are masked. */
export interface SavedState {
  readonly format: "effect-identity-client/tenant"
  readonly version: 1
  readonly savedAt: number
  readonly clockOffset: number
  /** The data, in the shape of `Tenant.State`; no `users` if a function makes them: then those that the tenant has stay. */
  readonly state: {
    readonly connections: ReadonlyArray<unknown>
    readonly jobs: ReadonlyArray<unknown>
    readonly profiles: ReadonlyArray<unknown>
    readonly actions: ReadonlyArray<unknown>
    readonly streams: ReadonlyArray<unknown>
    readonly users?: ReadonlyArray<unknown> | undefined
  }
  /** The calls left in each bucket. */
  readonly buckets: Readonly<Record<BucketName, number>>
  readonly tokens: ReadonlyArray<TokenView>
  readonly faults: ReadonlyArray<FaultInput>
  /** The key that signs tokens, as a JWK: only with secrets. It makes tokens valid in another tenant. */
  readonly signingKey?: Readonly<Record<string, unknown>> | undefined
}
