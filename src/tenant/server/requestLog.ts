/** Remembers every request that arrived, for tests to read, without a secret in plain sight. */
import * as Headers from "@effect/platform/Headers"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"

/** A request as the tenant received it, and the status it answered. */
export interface ReceivedRequest {
  /** When it arrived, in milliseconds since 1970. */
  readonly at: number
  readonly method: string
  /** As it was received, undecoded, without the query. */
  readonly path: string
  /** The decoded parameters, in their order. */
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  /** By lower-case name; `authorization` and cookies are redacted. */
  readonly headers: Readonly<Record<string, string | Redacted.Redacted<string>>>
  readonly contentType: string | undefined
  /** The parsed body, form or JSON; the text if it cannot be parsed; client secrets are redacted. */
  readonly body: unknown
  /** The operation's name; `token` for the token endpoint; `undefined` for what the tenant does not serve. */
  readonly operation: string | undefined
  /** `undefined` while there is no answer, and for good if the connection was cut before it. */
  readonly status: number | undefined
}

export interface Log {
  readonly all: Effect.Effect<ReadonlyArray<ReceivedRequest>>
  /** Notes a request; gives what notes the status of its answer. */
  readonly add: (request: Omit<ReceivedRequest, "status">) => Effect.Effect<(status: number) => Effect.Effect<void>>
}

export const make = (): Log => {
  const requests: Array<ReceivedRequest> = []
  return {
    all: Effect.sync(() => [...requests]),
    add: (request) =>
      Effect.sync(() => {
        const index = requests.push({ ...request, status: undefined }) - 1
        return (status) => Effect.sync(() => void (requests[index] = { ...request, status }))
      })
  }
}

export const redactHeaders = (headers: Headers.Headers): ReceivedRequest["headers"] =>
  Headers.redact(headers, ["authorization", "proxy-authorization", "cookie"])

/** What a token request may show of its body: parameters of the grant; all of anything else may be a secret. */
export const redactSecret = (body: unknown): unknown => {
  if (body === undefined) return undefined
  const known = ["grant_type", "client_id", "client_secret", "audience", "scope"]
  if (!Predicate.isRecord(body) || !Object.keys(body).every((name) => known.includes(name))) return Redacted.make(body)
  return "client_secret" in body ? { ...body, client_secret: Redacted.make(body["client_secret"]) } : body
}
