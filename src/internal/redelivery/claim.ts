/**
 * Claims: what must be written down before a request that must not be sent twice. A call carries its claim out as its last
 * stage, right before its first request. So a call that only waits leaves nothing behind when its process dies.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Stage } from "../call/call.js"
import { StagedClient, withStage } from "../call/staged.js"
import { transportError } from "../http/transportError.js"
import { unclaimedCode } from "../runtime/failures.js"

/** `waiting`: nothing was written yet, and nothing sent. `claiming`: the claim is under way. `claimed`: the request may be sent. */
export type ClaimState = "waiting" | "claiming" | "claimed"

/** A call with a claim. */
export interface ClaimedCall<A, E> {
  /** Makes the call, at most once. If the claim fails, nothing is sent, and this fails like the claim. */
  readonly run: Effect.Effect<A, E>
  readonly state: () => ClaimState
}

/** Gives a call a claim, as a stage. If the client runs no stages, the claim comes before the whole call. */
export const claimed = <A, E, E2>(
  client: object,
  call: Effect.Effect<A, E>,
  claim: Effect.Effect<void, E2>
): ClaimedCall<A, E | E2> => {
  let state: ClaimState = "waiting"
  let outcome: Exit.Exit<void, E2> | undefined
  /** Only the first attempt of the call claims. */
  const once = Effect.suspend(() => {
    if (outcome !== undefined) return Effect.succeed(Exit.isSuccess(outcome))
    state = "claiming"
    return Effect.map(Effect.exit(claim), (exit) => {
      outcome = exit
      if (Exit.isSuccess(exit)) state = "claimed"
      return Exit.isSuccess(exit)
    })
  })
  const stage: Stage = (next) => (sent) =>
    Effect.flatMap(
      once,
      (isClaimed) => isClaimed ? next(sent) : transportError(sent.operation, sent.tenant, "not-sent", unclaimedCode)
    )
  return {
    run: client instanceof StagedClient
      ? Effect.catchAllCause(
        withStage(call, stage),
        (cause): Effect.Effect<never, E | E2> =>
          Effect.failCause<E | E2>(outcome !== undefined && Exit.isFailure(outcome) ? outcome.cause : cause)
      )
      : Effect.zipRight(Effect.flatMap(once, () => outcome ?? Effect.void), call),
    state: () => state
  }
}
