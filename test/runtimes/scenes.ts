/** Messages between a test and the stage: plain data, since the tests may run without Node. */
import type * as Tenant from "effect-identity-client/Tenant"

/** Server that a test needs. */
export type Scene =
  /** An embedded tenant; orders: `requests`, `state`, `revoke`, `injectFault`. */
  | { readonly scene: "tenant"; readonly options?: Tenant.Options }
  /** A row of the fault matrix for an operation; orders: `arrived`. */
  | { readonly scene: "fault"; readonly row: string; readonly operation: string }
  /** Sends these responses one after the other, and then always the last one; orders: `requests`. */
  | { readonly scene: "responses"; readonly responses: ReadonlyArray<CannedResponse> }
  /** Sends no response, or only the beginning of one; orders: `requests`; `arrived` and `closed` wait for it. */
  | { readonly scene: "stalls"; readonly within: "response" | "body" }

/** Response of a server. A body that is not a string is sent as JSON. */
export interface CannedResponse {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Running server. */
export interface OpenedServer {
  readonly id: string
  /** For example `http://127.0.0.1:1234`. `url` also has the path prefix of the interface. */
  readonly origin: string
  readonly url: string
}

/** Cell of the fault matrix. */
export interface FaultCase {
  readonly row: string
  readonly operation: string
  /** The failure: one of these classes, with at least these fields. `undefined` is a success. */
  readonly gives: { readonly tags: ReadonlyArray<string>; readonly fields: object } | undefined
  /** Number of the call's requests that reach the server. */
  readonly requests: number
  /** True if a successful call precedes it. */
  readonly isWarm: boolean
  /** True if a time-out ends each attempt. */
  readonly stalls: boolean
}

/** The fault matrix as data, for runtimes that cannot load its servers. */
export interface Matrix {
  readonly cases: ReadonlyArray<FaultCase>
  /** Maximum number of attempts. */
  readonly attempts: number
  /** Maximum size of a response body, in bytes. */
  readonly maxBodySize: number
  /** Header that names the call of a request. */
  readonly callHeader: string
  /** Texts in responses that no output may show. */
  readonly planted: Readonly<Record<string, string>>
}
