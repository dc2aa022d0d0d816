/** Injects the faults of `Tenant.injectFault` and of the control interface, instead of, before or after the genuine response. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { emptyResponse, failure, isStatus, jsonResponse, type PlainResponse, textResponse } from "./response.js"

/**
 * A fault, and the calls that it applies to. Fields that are not set leave the genuine response as it is.
 * @since 0.1.0 @category models
 */
export interface Fault {
  /** Applies to calls of this operation only, for example `deleteEventStream`, `token` for the token endpoint, or `exportFile`. Default: any. */
  readonly operation?: string | undefined
  /** The number of calls that it applies to (default 1). */
  readonly times?: number | undefined
  /** The status of the response, 200 to 599; 200 if only `body` is set. */
  readonly status?: number | undefined
  /**
   * Headers to add or replace; `undefined` removes one of the genuine response. `content-length`, `transfer-encoding` and `trailer` are a
   * defect: with others than the server's own the response would break HTTP.
   */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** A string is sent as it is (`text/plain`), anything else as JSON. Default: the service's body for the status. */
  readonly body?: unknown
  /** The time to wait before the response (default 0). */
  readonly delay?: Duration.DurationInput | undefined
  /** Destroys the connection before the first byte of the response, or in the middle of its body (if it has one). */
  readonly cut?: "before" | "within" | undefined
  /** Carries the call out before the delay, whatever the response is. Default: only if the genuine response is needed. */
  readonly carriedOut?: boolean | undefined
}

/** A fault that calls still have to take. */
export interface PendingFault {
  /** Counts up from 1. */
  readonly id: number
  readonly fault: Fault
  /** The number of calls that it still applies to. */
  readonly left: number
}

export type FaultQueue = ReturnType<typeof make>

/** The fields of HTTP: a name is a token, a value has no control characters. */
export const headerName = /^[\w!#$%&'*+.^`|~-]+$/
export const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** Tells that a header says where the body ends, which only the server knows. */
export const isFraming = (name: string): boolean =>
  ["content-length", "transfer-encoding", "trailer"].includes(name.toLowerCase())

/** HTTP allows the status and the headers. */
const isSendable = ({ headers, status = 200 }: Fault): boolean =>
  isStatus(status) &&
  Object.entries(headers ?? {}).every(([name, value]) =>
    headerName.test(name) && headerValue.test(value ?? "") && !isFraming(name)
  )

/** Makes an empty queue. Adding a fault with an invalid status or header dies. */
export const make = () => {
  let queue: ReadonlyArray<PendingFault> = []
  let lastId = 0
  return {
    all: Effect.sync(() => queue),
    add: (fault: Fault): Effect.Effect<PendingFault> =>
      isSendable(fault)
        ? Effect.sync(() => {
          const added = { id: ++lastId, fault, left: fault.times ?? 1 }
          if (added.left > 0) queue = [...queue, added]
          return added
        })
        : Effect.dieMessage(
          "Invalid fault: status must be an integer from 200 to 599, and headers must be valid in HTTP and say nothing " +
            "about the length of the body"
        ),
    /** Removes the fault with this id, or all, and gives the number of those removed. */
    remove: (id?: number): Effect.Effect<number> =>
      Effect.sync(() => {
        const before = queue.length
        queue = id === undefined ? [] : queue.filter((pending) => pending.id !== id)
        return before - queue.length
      }),
    /** Takes the oldest fault that applies to this call. */
    take: (operation: string | undefined) =>
      Effect.sync(() => {
        const due = queue.find(({ fault }) => fault.operation === undefined || fault.operation === operation)
        queue = queue.flatMap((entry) =>
          entry !== due ? [entry] : entry.left > 1 ? [{ ...entry, left: entry.left - 1 }] : []
        )
        return due
      })
  }
}

/** The response that replaces the genuine one, if the fault has one. */
const replacement = ({ body, cut, status }: Fault): PlainResponse | undefined => {
  if (typeof body === "string") return textResponse(status ?? 200, body)
  if (body !== undefined) return jsonResponse(status ?? 200, body)
  if (status === undefined) return cut === "before" ? emptyResponse(204) : undefined
  return status < 400 ? emptyResponse(status) : failure(status, "An injected fault")
}

/** The response under the fault, given the effect that carries the call out. */
export const applyFault = <R>(
  fault: Fault | undefined,
  carryOut: Effect.Effect<PlainResponse, never, R>
): Effect.Effect<PlainResponse, never, R> => {
  if (fault === undefined) return carryOut
  const replaced = replacement(fault)
  const delay = Effect.sleep(fault.delay ?? 0)
  const response = fault.carriedOut === true
    ? Effect.zipLeft(carryOut, delay)
    : Effect.zipRight(delay, replaced === undefined ? carryOut : Effect.succeed(replaced))
  return Effect.map(response, (genuine) => replaced ?? genuine)
}
