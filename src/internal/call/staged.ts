/** Staged: the user's own stages run right before each request, after all waits. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { TransportError } from "../../Errors.js"
import type { RawResponse } from "../http/rawExchange.js"
import { makeSetting, settingOf, withSetting } from "../runtime/fiber.js"
import type { RunningCall, Send, Stage } from "./call.js"
import type { AttemptFailure } from "./retryPolicy.js"
import { wait } from "./wait.js"

const none: ReadonlyArray<Stage> = []

/** The stages of the calls in an effect, the outermost first. */
export const currentStages = /* @__PURE__ */ makeSetting("call/stages", () => none)

/** Adds a stage to the calls in an effect, within those that they have already. */
export const withStage = <A, E, R>(self: Effect.Effect<A, E, R>, stage: Stage): Effect.Effect<A, E, R> =>
  withSetting(self, currentStages, (stages) => [...stages, stage])

/** Runs an effect without the stages around it. */
export const withoutStages = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  withSetting(self, currentStages, () => none)

/** A client that runs the stages of its calls: a client that users made themselves may not. */
export class StagedClient<Execute> {
  readonly execute: Execute
  constructor(execute: Execute) {
    this.execute = execute
  }
}

/**
 * Runs what is wrapped around a request. It can be interrupted, but the request that it `keep`s takes care of itself: once that has ended,
 * its end is that of the call.
 */
export const around = <A, E, E2>(
  call: RunningCall,
  wrap: (keep: (send: () => Effect.Effect<A, E>) => Effect.Effect<A, E>) => Effect.Effect<A, E | E2>
): Effect.Effect<A, E | E2 | TransportError> => {
  let ended: Exit.Exit<A, E> | undefined
  const keep = (send: () => Effect.Effect<A, E>) =>
    Effect.uninterruptible(Effect.matchCauseEffect(Effect.suspend(send), {
      onFailure: (cause) => ended = Exit.failCause(cause),
      onSuccess: (response) => ended = Exit.succeed(response)
    }))
  return wait<A, E | E2>(call, Effect.suspend(() => wrap(keep)), () => ended)
}

export const staged = (stages: ReadonlyArray<Stage> = none): Stage<RunningCall> => (next) => (call) => {
  const own = settingOf(call.fiber, currentStages)
  if (own.length + stages.length === 0) return next(call)
  const last: Send = ({ headers }) => next({ ...call, headers })
  const wrapped = (inner: Send, stage: Stage): Send => (one) =>
    around<RawResponse, AttemptFailure, never>(
      call,
      (keep) => withoutStages(stage((changed) => keep(() => inner(changed)))(one))
    )
  const { attempt, headers, method, operation, tenant, url } = call // not its token: a stage may log what it sees
  return [...stages, ...own].reduceRight(wrapped, last)({ tenant, operation, attempt, method, url, headers })
}
