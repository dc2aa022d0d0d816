/** Records exchanges for the live page: the newest ones, with bodies as far as they fit. Secrets are hidden when it is read. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Struct from "effect/Struct"
import { text as bodyText } from "../../../internal/http/errorBody.js"
import type { RawBody } from "../../../internal/http/rawExchange.js"
import { steadyMillis } from "../clock.js"
import type { BucketName, BucketSample, RecordedMessage, RequestDetails, RequestSummary } from "../http/schemas.js"
import type { Ending, ObservedRequest, Observer } from "../observer.js"
import * as Callers from "./callers.js"
import * as History from "./history.js"
import { maskBody, maskHeaders, maskTarget } from "./masking.js"
import * as Retries from "./retries.js"
import * as Subscription from "./subscription.js"

/** The number of requests, the size of the largest body, and of all bodies together, in bytes, that are kept. */
const limits = { requests: 2000, body: 262_144, bodies: 16_777_216 }

type Mutable<A> = { -readonly [Name in keyof A]: A[Name] }

interface Kept {
  readonly headers: Readonly<Record<string, string>>
  body: RawBody["body"] | null
  /** The size of a body that is no longer kept. */
  size: number
}

interface Recorded extends Mutable<RequestSummary> {
  /** The time of arrival on the clock that only runs. */
  readonly started: number
  readonly request: Kept
  response: Kept | null
}

/** Reads what has changed since it last did. */
export interface Reader extends Pick<Subscription.Subscription<unknown>, "takeReadings"> {
  readonly takeRequests: () => Subscription.Batch<RequestSummary>
  /** Begins anew, just before the reader gets this many of the newest requests by other means. */
  readonly begin: (limit: number) => void
}

export interface Recorder extends Observer {
  /** The newest requests, the newest first, or those before one. */
  readonly newest: (limit: number, before?: number) => ReadonlyArray<RequestSummary>
  readonly details: (id: number, withSecrets: boolean) => RequestDetails | undefined
  /** The number of requests since the start or since they were cleared. */
  readonly total: () => number
  readonly oldest: () => number | null
  /** Forgets all requests, and gives the number of those that were kept. */
  readonly clear: () => number
  readonly subscribe: Effect.Effect<Reader, never, Scope.Scope>
  readonly history: (bucket: BucketName) => Effect.Effect<ReadonlyArray<BucketSample>>
  /** Records that the level of a bucket was changed by hand. */
  readonly setLevel: (bucket: BucketName, left: number) => Effect.Effect<void>
}

const sizeOf = (body: RawBody["body"]): number =>
  typeof body === "string" ? new TextEncoder().encode(body).length : body.length

/** Keeps a body, if it is a text that is not too large. Only the size of other ones is kept. */
const keep = (headers: Readonly<Record<string, string>>, body: RawBody["body"] | undefined, size = 0): Kept => {
  if (body === undefined) return { headers, body: null, size }
  const isText = typeof body === "string" || /json|text|urlencoded|xml/i.test(headers["content-type"] ?? "json")
  return isText && body.length <= limits.body ? { headers, body, size: 0 } : { headers, body: null, size: sizeOf(body) }
}

/** The id of the trace that a request is part of. */
const traceOf = ({ headers }: ObservedRequest): string | undefined =>
  /^[^-]*-([^-]+)/.exec(headers["traceparent"] ?? "")?.[1]

/**
 * Makes a recorder. `secrets` are hidden wherever they occur; buckets are given with their size.
 */
export const make = (
  secrets: ReadonlyArray<string>,
  buckets: Readonly<Record<BucketName, { readonly burst: number; readonly refillPerSecond: number }>>
): Recorder => {
  const requests = new Map<number, Recorded>() // the oldest first
  const subscriptions = new Set<Subscription.Subscription<Recorded>>()
  const retries = Retries.make()
  const callerOf = Callers.make()
  const histories = {
    tenant: History.make(buckets.tenant.burst, buckets.tenant.refillPerSecond),
    profileUpdates: History.make(buckets.profileUpdates.burst, buckets.profileUpdates.refillPerSecond)
  }
  let [lastId, clearedAt, keptBytes, bodiesFrom] = [0, 0, 0, 1]

  const dropBodies = (recorded: Recorded): void => {
    for (const message of [recorded.request, recorded.response]) {
      if (message === null || message.body === null) continue
      keptBytes -= message.body.length
      message.size = sizeOf(message.body)
      message.body = null
    }
  }

  /** Counts a new message of a request. The bodies of the oldest requests are dropped, even if they have come late. */
  const count = (recorded: Recorded, message: Kept): void => {
    keptBytes += message.body?.length ?? 0
    if (recorded.id < bodiesFrom) dropBodies(recorded)
    for (; keptBytes > limits.bodies && bodiesFrom <= lastId; bodiesFrom++) {
      const oldest = requests.get(bodiesFrom)
      if (oldest !== undefined) dropBodies(oldest)
    }
  }

  const add = (recorded: Recorded): void => {
    requests.set(recorded.id, recorded)
    count(recorded, recorded.request)
    const evicted = requests.get(recorded.id - limits.requests)
    if (evicted === undefined) return
    dropBodies(evicted)
    requests.delete(evicted.id)
  }

  const announce = (recorded: Recorded): void => {
    for (const subscription of subscriptions) subscription.changed(recorded)
  }

  const keyOf = ({ client, method, path }: Recorded, { body }: ObservedRequest): string =>
    JSON.stringify([method, path, client, body && bodyText(body)])

  const begin = (request: ObservedRequest, started: number): Recorded => {
    const recorded: Recorded = {
      id: ++lastId,
      time: request.at,
      started,
      method: request.method,
      path: request.target,
      operation: request.operation ?? null,
      outcome: "pending",
      status: null,
      duration: null,
      ...callerOf(request.headers["authorization"], request.parsed),
      bucket: null,
      left: null,
      retry: 0,
      retryOf: null,
      fault: null,
      request: keep(request.headers, request.body, request.size),
      response: null
    }
    Object.assign(recorded, retries.begin(() => keyOf(recorded, request), traceOf(request), started))
    add(recorded)
    announce(recorded)
    return recorded
  }

  const end = (recorded: Recorded, request: ObservedRequest, ending: Ending, at: number): void => {
    const response = ending.outcome === "aborted" ? undefined : ending.response
    recorded.outcome = ending.outcome
    recorded.status = response?.status ?? null
    recorded.duration = Math.round((at - recorded.started) * 100) / 100
    if (ending.outcome !== "responded" || Retries.isRetried(recorded.status)) {
      retries.failed(keyOf(recorded, request), {
        id: recorded.id,
        retry: recorded.retry,
        at,
        trace: traceOf(request)
      })
    }
    if (!requests.has(recorded.id)) return
    if (response !== undefined) {
      recorded.response = keep(response.headers, response.body)
      count(recorded, recorded.response)
    }
    announce(recorded)
  }

  const observe: Observer["begin"] = (request) =>
    Effect.map(steadyMillis, (started) => {
      const recorded = begin(request, started)
      return {
        tookFault: (id) => {
          recorded.fault = id
        },
        tookCall: (bucket, allowed, left) =>
          Effect.map(steadyMillis, (at) => {
            recorded.bucket = bucket
            recorded.left = Math.floor(left)
            histories[bucket].took(at, left, allowed)
            for (const subscription of subscriptions) subscription.took(bucket, allowed, left)
          }),
        ended: (ending) => Effect.map(steadyMillis, (at) => end(recorded, request, ending, at))
      }
    })

  const summaryOf = (recorded: Recorded): RequestSummary => ({
    ...Struct.omit(recorded, "request", "response", "started"),
    path: maskTarget(recorded.path, secrets)
  })

  const messageOf = ({ body, headers, size }: Kept, withSecrets: boolean): RecordedMessage => {
    const text = body && bodyText(body)
    return {
      headers: withSecrets ? { ...headers } : maskHeaders(headers, secrets),
      body: text === null || withSecrets ? text : maskBody(text, secrets),
      size: body === null ? size : sizeOf(body)
    }
  }

  return {
    begin: observe,
    newest: (limit, before = Infinity) => {
      const found: Array<RequestSummary> = []
      for (let id = Math.min(lastId, before - 1); found.length < limit; id--) {
        const recorded = requests.get(id)
        if (recorded === undefined) break
        found.push(summaryOf(recorded))
      }
      return found
    },
    details: (id, withSecrets) => {
      const recorded = requests.get(id)
      return recorded && {
        ...summaryOf(recorded),
        ...(withSecrets && { path: recorded.path }),
        host: recorded.request.headers["host"] ?? "",
        request: messageOf(recorded.request, withSecrets),
        response: recorded.response && messageOf(recorded.response, withSecrets)
      }
    },
    total: () => lastId - clearedAt,
    oldest: () => {
      const [oldest] = requests.keys()
      return oldest ?? null
    },
    clear: () => {
      const { size } = requests
      requests.clear()
      retries.clear()
      for (const subscription of subscriptions) subscription.clear()
      clearedAt = lastId
      keptBytes = 0
      bodiesFrom = lastId + 1
      return size
    },
    subscribe: Effect.acquireRelease(
      Effect.sync(() => {
        const subscription = Subscription.make<Recorded>()
        subscriptions.add(subscription)
        return subscription
      }),
      (subscription) => Effect.sync(() => subscriptions.delete(subscription))
    ).pipe(Effect.map(({ begin, takeReadings, takeRequests }) => ({
      begin: (limit) => {
        const newest = [...requests.values()].slice(-limit)
        begin(newest.filter(({ outcome }) => outcome === "pending").map(({ id }) => id), lastId)
      },
      takeReadings,
      takeRequests: () => {
        const { leftOut, requests } = takeRequests()
        return { leftOut, requests: requests.map(summaryOf) }
      }
    }))),
    history: (bucket) => Effect.map(steadyMillis, histories[bucket].samples),
    setLevel: (bucket, left) => Effect.map(steadyMillis, (at) => histories[bucket].set(at, left))
  }
}
