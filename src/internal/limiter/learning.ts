/** What a limiter learns from the end of a call: its response, that none came, or that it was not sent. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { ClientCall, LimitedResponse } from "./limiter.js"

/** Checks that a call failed before it was sent. */
const wasNotSent = (cause: Cause.Cause<unknown>): boolean => {
  const [error] = Cause.failures(cause)
  return Predicate.isReadonlyRecord(error) && (error["outcome"] === "not-sent" || error["_tag"] === "TokenError")
}

/** Sends a call whose turn it is, and then settles it, or gives its place back. Must run in an uninterruptible region. */
export const learning = <A extends LimitedResponse, E, R>(
  send: Effect.Effect<A, E, R>,
  notes: ClientCall["notes"],
  settle: (response?: LimitedResponse) => void,
  giveBack: () => void
): Effect.Effect<A, E, R> =>
  Effect.matchCauseEffect(send, {
    onFailure: (cause) => {
      if (notes.hasBegun && !wasNotSent(cause)) settle()
      else giveBack()
      return Effect.failCause(cause)
    },
    onSuccess: (response) => {
      settle(response.redirected === true ? undefined : response)
      return Effect.succeed(response)
    }
  })
