/** The responses that a test has set for operations, in place of their own. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Endpoint from "../../Endpoint.js"
import {
  emptyResponse,
  eventsResponse,
  failure,
  isStatus,
  jsonResponse,
  type PlainResponse
} from "../server/response.js"
import { routeKey, type ServedOperation } from "./routes.js"

/**
 * A failure that a test sets: its status, or also the message and the code in its body. A status that is no integer from 200 to 599 is a
 * defect.
 * @since 0.1.0 @category models
 */
export type FailureResponse = number | {
  readonly status: number
  /** Default: `A failure that the test has set`. */
  readonly message?: string | undefined
  /** For example `insufficient_scope`, which tells `InsufficientScope` from `Forbidden`. */
  readonly errorCode?: string | undefined
}

/** Makes the body of a response, or fails. */
export type Responder = (input: never) => Effect.Effect<unknown, FailureResponse>

export interface Responders {
  /** Sets the responses of an operation. One that the tenant does not serve is a defect. */
  readonly set: (endpoint: Endpoint.Any, respond: Responder) => Effect.Effect<void>
  /** Responds to a valid input; `undefined` if no response is set. */
  readonly respond: (served: ServedOperation, input: never) => Effect.Effect<PlainResponse> | undefined
}

const failed = (operation: string, response: FailureResponse): Effect.Effect<PlainResponse> => {
  const { errorCode, message = "A failure that the test has set", status } = typeof response === "number"
    ? { status: response }
    : response
  return isStatus(status)
    ? Effect.succeed(failure(status, message, errorCode === undefined ? {} : { errorCode }))
    : Effect.dieMessage(
      `Invalid status ${status} set by \`respond\` for ${operation}: it must be an integer from 200 to 599`
    )
}

export const make = (served: ReadonlyArray<ServedOperation>): Responders => {
  const routes = new Set(served.map(({ endpoint }) => routeKey(endpoint)))
  const responders = new Map<string, Responder>()
  return {
    set: (endpoint, respond) =>
      routes.has(routeKey(endpoint))
        ? Effect.sync(() => {
          responders.set(routeKey(endpoint), respond)
        })
        : Effect.dieMessage(`The tenant does not serve ${endpoint.name}: list it in the option \`operations\``),
    respond: ({ endpoint, handler: { status } }, input) => {
      const respond = responders.get(routeKey(endpoint))
      return respond && Effect.matchEffect(respond(input), {
        onFailure: (response) => failed(endpoint.name, response),
        onSuccess: (value) => {
          if (endpoint.events === undefined) {
            return Effect.succeed(value === undefined ? emptyResponse(status) : jsonResponse(status, value))
          }
          return Effect.succeed(eventsResponse(Predicate.isIterable(value) ? value : [value]))
        }
      })
    }
  }
}
