/** The JSON that the control interface and the live page exchange: types and addresses only, so that both sides can import it. */

import type { Issue } from "../../Errors.js"
import type {
  BucketName,
  BucketSample,
  BucketView,
  ClockView,
  FaultView,
  RequestDetails,
  RequestSummary,
  Snapshot,
  Some,
  TokenView
} from "./views.js"

export type * from "./views.js"

/** The header that carries the key. Every request below `/_tenant/` needs it, the stream of events, too. */
export const keyHeader = "x-tenant-key"

/** A key that is hard to guess, and may stand in an address as it is. */
export const keyPattern = /^[\w.~-]{16,}$/

/** Names a key that is chosen, and easy to guess. */
export const keyIssuesOf = (key: string | undefined): ReadonlyArray<Issue> =>
  key === undefined || keyPattern.test(key)
    ? []
    : [{ path: "control.key", message: "expected at least 16 letters, digits or any of . _ ~ -" }]

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

interface SecretsQuery {
  /** Gives secrets in full. */
  readonly secrets?: "include" | undefined
}

/** The greatest number of calls that a fault applies to, and its longest delay in milliseconds. */
export const faultLimits = { times: 1_000_000, delay: 3_600_000 }

/** A fault for the next calls. At least one of `status`, `delay` and `cut` is set. */
export interface FaultInput {
  /** The operation that it is for, `token` for tokens, `exportFile` for files of exports. Default: any. */
  readonly operation?: string | undefined
  /** The number of calls, 1 to 1,000,000 (default 1). */
  readonly times?: number | undefined
  /** The status of the response, 200 to 599. */
  readonly status?: number | undefined
  /** Headers to add or replace; `null` removes one. None of those that say how long the body is. */
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

interface RequestsQuery {
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
