/** Requests and responses as they travel, and the failure of a request that gets no response. */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { TimeLimit } from "../runtime/timeouts.js"
import type { ByteStream } from "./media/eventStream.js"

/** A request as it is sent: an `HttpClientRequest` without URL parameters is one. */
export type RawRequest = Pick<HttpClientRequest.HttpClientRequest, "method" | "url"> & {
  readonly headers: Readonly<Record<string, string>>
  /** A text stays one until its bytes are needed: undici makes them without an allocation for each. */
  readonly body: string | HttpBody.HttpBody
}

/** A response body, read up to a limit. */
export interface RawBody {
  /** A complete body that is all ASCII may be its text. */
  readonly body: Uint8Array | string
  /** `interrupted` if the connection broke, `truncated` if the body is larger than the limit, `corrupt` if its gzip is. */
  readonly completeness: "complete" | "interrupted" | "truncated" | "corrupt"
}

/** A response whose body has been read. */
export interface RawResponse extends RawBody {
  readonly status: number
  readonly headers: Headers.Headers
  /** The headers `set-cookie`, if there are several: `headers` joins them. */
  readonly cookies?: ReadonlyArray<string> | undefined
  /** True if the response comes from another URL than the request was sent to. */
  readonly redirected: boolean
  /** The body of server-sent events, if it is left unread. */
  readonly events?: ByteStream | undefined
}

/** The number of bytes to read from the body of a response with this status. */
export type BodyLimit = (status: number) => number

/** Sends a request once, within a time limit. */
export type Exchange = (
  request: RawRequest,
  bodyLimit: BodyLimit,
  time: TimeLimit
) => Effect.Effect<RawResponse, NoResponse>

/** The request failed before a response arrived. `outcome` is `not-sent` only if no byte of the request has left. */
export class NoResponse extends Data.TaggedError("NoResponse")<{
  readonly outcome: "not-sent" | "unknown"
  /** For example `ECONNRESET`, `TIMEOUT` or `CLOSED`. */
  readonly code: string | undefined
}> {}

/** Writes a code as the end of a message. */
export const inParentheses = (code: string | undefined): string => code === undefined ? "" : ` (${code})`
