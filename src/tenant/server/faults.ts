/** Makes the tenant injectFault on demand: what to do instead of, before or after the genuine answer. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Answer } from "./response.js"
import * as Respond from "./response.js"

/** What goes wrong, and on which calls. Members that are not set leave the genuine answer as it is. */
export interface Fault {
  /** Only on calls of this operation, for example `deleteEventStream`; `token` is the token endpoint. Default: any. */
  readonly operation?: string | undefined
  /** On how many calls (default 1). */
  readonly times?: number | undefined
  /** The status to answer, 200 to 599; 200 if only `body` is set. */
  readonly status?: number | undefined
  /** Headers to add or replace; `undefined` takes a genuine one away. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** A string is sent as it is (`text/plain`), anything else as JSON. Default: what the service says for the status. */
  readonly body?: unknown
  /** How long to wait before the answer. */
  readonly delay?: Duration.DurationInput | undefined
  /** Destroys the connection before any byte of the answer, or in the middle of its body (if it has any). */
  readonly cut?: "before" | "within" | undefined
  /** Whether the call is carried out all the same, before the delay. Default: only if its genuine answer is needed. */
  readonly carriedOut?: boolean | undefined
}

export interface Faults {
  readonly add: (fault: Fault) => Effect.Effect<void>
  /** The oldest fault that is due on this call, used up by one. */
  readonly take: (operation: string | undefined) => Effect.Effect<Fault | undefined>
}

/** No server could send such a status or header. */
const impossible = ({ headers, status = 200 }: Fault): boolean =>
  !Number.isInteger(status) || status < 200 || status > 599 ||
  Object.entries(headers ?? {}).some(([name, value]) =>
    !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value ?? "")
  )

/** A queue of faults. Adding one that no server could send dies. */
export const make = (): Faults => {
  let queue: ReadonlyArray<{ readonly fault: Fault; readonly left: number }> = []
  return {
    add: (fault) =>
      impossible(fault)
        ? Effect.dieMessage("No server can answer such a status or header")
        : Effect.sync(() => {
          queue = [...queue, { fault, left: fault.times ?? 1 }].filter(({ left }) => left > 0)
        }),
    take: (operation) =>
      Effect.sync(() => {
        const due = queue.find(({ fault }) => fault.operation === undefined || fault.operation === operation)
        queue = queue.flatMap((entry) =>
          entry !== due ? [entry] : entry.left > 1 ? [{ ...entry, left: entry.left - 1 }] : []
        )
        return due?.fault
      })
  }
}

/** The answer that the fault brings along, if it does. */
const forged = ({ body, cut, status }: Fault): Answer | undefined => {
  if (typeof body === "string") return Respond.text(status ?? 200, body)
  if (body !== undefined) return Respond.json(status ?? 200, body)
  if (status === undefined) return cut === "before" ? Respond.nothing(204) : undefined
  return status < 400 ? Respond.nothing(status) : Respond.failure(status, "The tenant was told to injectFault")
}

/** The answer under the fault, given the effect that carries the call out. */
export const apply = <R>(
  fault: Fault | undefined,
  genuine: Effect.Effect<Answer, never, R>
): Effect.Effect<Answer, never, R> => {
  if (fault === undefined) return genuine
  const forgery = forged(fault)
  const delay = Effect.sleep(fault.delay ?? 0)
  const answer = fault.carriedOut === true
    ? Effect.zipLeft(genuine, delay)
    : Effect.zipRight(delay, forgery === undefined ? genuine : Effect.succeed(forgery))
  return Effect.map(answer, (given) => forgery ?? given)
}
