/** The way to look at exchanges as they happen. A tenant without an observer does nothing for it. */
import type * as Headers from "@effect/platform/Headers"
import type * as Effect from "effect/Effect"
import type { RawBody } from "../../internal/http/rawExchange.js"
import type { PlainResponse } from "../server/response.js"
import type { BucketName } from "./http/schemas.js"

/** A request as it arrived. */
export interface ObservedRequest {
  /** The time of arrival on the tenant's clock, in milliseconds since 1970. */
  readonly at: number
  readonly method: string
  /** The path as received, with its query. */
  readonly target: string
  readonly headers: Headers.Headers
  /** `undefined` if it is too large. */
  readonly body: RawBody["body"] | undefined
  /** The bytes of the body, also of one that is too large. */
  readonly size: number
  /** The parsed body of a token request. */
  readonly parsed: unknown
  readonly operation: string | undefined
}

/** The response that is handed to the server, or why there is none. */
export type Ending =
  | { readonly outcome: "responded"; readonly response: PlainResponse }
  /** A fault breaks the connection, before the response if there is none. */
  | { readonly outcome: "cut"; readonly response: PlainResponse | undefined }
  /** The program has given up, or the tenant has a defect. */
  | { readonly outcome: "aborted" }

/** Is shown what happens to one request. */
export interface Observation {
  readonly tookFault: (id: number) => void
  readonly tookCall: (bucket: BucketName, allowed: boolean, left: number) => Effect.Effect<void>
  readonly ended: (ending: Ending) => Effect.Effect<void>
}

export interface Observer {
  readonly begin: (request: ObservedRequest) => Effect.Effect<Observation>
}
