/** What the stage is asked for: plain data, so that a test may run where nothing of Node is. */
import type * as Tenant from "effect-identity-client/Tenant"

/** The server that a test needs. */
export type Scene =
  /** An embedded tenant; orders: `requests`, `state`, `revoke`, `injectFault`. */
  | { readonly scene: "tenant"; readonly options?: Tenant.Options }
  /** A row of the fault matrix, as an operation meets it; orders: `arrived`. */
  | { readonly scene: "fault"; readonly row: string; readonly operation: string }
  /** Answers in turn, the last one again and again; orders: `requests`. */
  | { readonly scene: "answers"; readonly answers: ReadonlyArray<Answer> }
  /** No answer, or none to the end; orders: `arrived` and `closed` wait for it, `requests`. */
  | { readonly scene: "stalls"; readonly within: "answer" | "body" }

/** An answer; a body that is no string is sent as JSON. */
export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A server that stands. */
export interface Opened {
  readonly id: string
  /** For example `http://127.0.0.1:1234`; `url` has the prefix of the interface, too. */
  readonly origin: string
  readonly url: string
}

/** A cell of the fault matrix. */
export interface FaultCase {
  readonly row: string
  readonly operation: string
  /** The failure: one of these classes, with these members at least; `undefined`: none. */
  readonly gives: { readonly tags: ReadonlyArray<string>; readonly members: object } | undefined
  /** How many requests of the call reach the server. */
  readonly requests: number
  /** Whether a good call goes before it. */
  readonly isWarm: boolean
  /** Whether the time limit ends each attempt. */
  readonly stalls: boolean
}

/** The fault matrix as data, for those who cannot load what acts it out. */
export interface Matrix {
  readonly cases: ReadonlyArray<FaultCase>
  /** How often a call is sent at the most. */
  readonly attempts: number
  /** How large an answer may be, in bytes. */
  readonly maxBodySize: number
  /** The header that tells which call a request belongs to. */
  readonly callHeader: string
  /** What stands in answers where no output may show it. */
  readonly planted: Readonly<Record<string, string>>
}
