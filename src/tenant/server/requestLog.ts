/** Records every request for tests to read, with all secrets redacted. */
import * as Headers from "@effect/platform/Headers"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import { fileOperation } from "../api/routes.js"

/** A request as the tenant received it, and the status of its response. @since 0.1.0 @category models */
export interface ReceivedRequest {
  /** The time of arrival, in milliseconds since 1970. */
  readonly at: number
  readonly method: string
  /** The path as received: not decoded, without the query. */
  readonly path: string
  /**
   * The decoded query parameters, in their order. Redacted are the values of client secrets and assertions, of signatures of links
   * to files, and of any other parameter of a token request that could be a secret.
   */
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  /** Headers by lower-case name; `authorization`, `proxy-authorization` and `cookie` are redacted. */
  readonly headers: Readonly<Record<string, string | Redacted.Redacted<string>>>
  readonly contentType: string | undefined
  /** The parsed form or JSON body; the text if it cannot be parsed. Client secrets are redacted. */
  readonly body: unknown
  /** The operation's name, `token` for the token endpoint, `exportFile` for a file of an export, or `undefined` for a path that the tenant does not serve. */
  readonly operation: string | undefined
  /** `undefined` before the response, and for good if the connection was cut before it. */
  readonly status: number | undefined
}

export type RequestLog = ReturnType<typeof make>

/** Makes a log that keeps the newest requests. */
export const make = (size: number) => {
  const requests = new Map<number, ReceivedRequest>()
  let next = 0
  return {
    all: Effect.sync((): ReadonlyArray<ReceivedRequest> => [...requests.values()]),
    clear: Effect.sync(() => requests.clear()),
    /** Records a request, and returns a function that records the status of its response. */
    add: (request: Omit<ReceivedRequest, "status" | "headers"> & { readonly headers: Headers.Headers }) =>
      Effect.sync(() => {
        const recorded: ReceivedRequest = {
          ...request,
          query: request.query.map(([name, value]) => [
            name,
            isSecretParameter(request.operation, name) ? "<redacted>" : value
          ]),
          headers: Headers.redact(request.headers, ["authorization", "proxy-authorization", "cookie"]),
          body: request.operation === "token" ? redactTokenRequest(request.body) : request.body,
          status: undefined
        }
        const nth = next++
        requests.set(nth, recorded)
        requests.delete(nth - size)
        return (status: number) =>
          Effect.sync(() => {
            if (requests.has(nth)) requests.set(nth, { ...recorded, status })
          })
      })
  }
}

const secretParameters = ["client_secret", "client_assertion"]

const openParameters = ["grant_type", "client_id", "client_assertion_type", "audience", "scope"]

const grantParameters = [...openParameters, ...secretParameters]

const isSecretParameter = (operation: string | undefined, name: string): boolean =>
  secretParameters.includes(name) ||
  (operation === fileOperation && name === "signature") ||
  (operation === "token" && !openParameters.includes(name))

/** Redacts the client's secret and assertion, or the whole body if it has any other field: that could be a secret, too. */
const redactTokenRequest = (body: unknown): unknown => {
  if (body === undefined) return undefined
  if (!Predicate.isRecord(body) || !Object.keys(body).every((name) => grantParameters.includes(name))) {
    return Redacted.make(body)
  }
  return Record.map(body, (value, name) => secretParameters.includes(name) ? Redacted.make(value) : value)
}
