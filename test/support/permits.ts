/** Calls of a limiter that begin in one place of a test and end in another. */
import { Cause, Deferred, Effect, Exit, Fiber, Predicate, Stream } from "effect"
import type { RateLimited } from "../../src/Errors.js"
import type { RateLimiter } from "../../src/index.js"
import { makeRunner } from "../../src/internal/runtime/runner.js"

type Limiter = RateLimiter.RateLimiter["Type"]

/** The right to send one call, which lasts until the test says how the call has ended. */
export interface Permit {
  /** Ends the call with its response, or with `undefined` if none came. */
  readonly settle: (response: RateLimiter.LimitedResponse | undefined) => Effect.Effect<void>
  /** Ends the call before anything was sent. */
  readonly giveBack?: Effect.Effect<void> | undefined
}

/** The failure of a call that was not sent. */
const notSent = { outcome: "not-sent" } as const

/** Waits until a call may be sent. It lasts until its permit is settled, or given back. */
export const start = (
  limiter: Pick<Limiter, "limit">,
  call: RateLimiter.Call
): Effect.Effect<Permit, RateLimited> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void, RateLimited>()
      const ended = yield* Deferred.make<RateLimiter.LimitedResponse, "no response" | typeof notSent>()
      const send = Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(ended))
      const sending = limiter.limit(call)(send).pipe(
        Effect.exit,
        Effect.flatMap((exit) =>
          // Only a call that never began still waits for this.
          Deferred.done(started, Exit.isFailure(exit) ? Exit.failCause(exit.cause as never) : Exit.void)
        )
      )
      const { fork } = yield* makeRunner()
      const fiber = fork(sending) // at once, without a turn of the scheduler
      yield* Effect.onInterrupt(restore(Deferred.await(started)), () => Fiber.interrupt(fiber))
      const end = (exit: Exit.Exit<RateLimiter.LimitedResponse, "no response" | typeof notSent>) =>
        Effect.zipRight(Deferred.done(ended, exit), Effect.asVoid(Fiber.await(fiber)))
      return {
        settle: (response) => end(response === undefined ? Exit.fail("no response") : Exit.succeed(response)),
        giveBack: end(Exit.fail(notSent))
      }
    })
  )

/** A call that is never sent: it holds its place until it is interrupted. */
export const hold = (limiter: Pick<Limiter, "limit">, call: RateLimiter.Call): Effect.Effect<never, RateLimited> =>
  Effect.flatMap(
    start(limiter, call),
    ({ giveBack }) => Effect.onInterrupt(Effect.never, () => giveBack ?? Effect.void)
  )

/** A limiter of permits. */
export const limiterOf = (acquire: (call: RateLimiter.Call) => Effect.Effect<Permit, RateLimited>): Limiter => ({
  limit: (call) => (send) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        restore(Effect.suspend(() => acquire(call))),
        ({ giveBack, settle }) =>
          Effect.matchCauseEffect(restore(send), {
            onFailure: (cause) => {
              const isNotSent = Array.from(Cause.failures(cause)).some((error) =>
                Predicate.hasProperty(error, "outcome") && error.outcome === "not-sent"
              )
              return Effect.zipRight((isNotSent ? giveBack : undefined) ?? settle(undefined), Effect.failCause(cause))
            },
            onSuccess: (response) => Effect.as(settle(response.redirected === true ? undefined : response), response)
          })
      )
    ),
  status: Effect.succeed([]),
  changes: Stream.empty
})

const open = new WeakMap<Limiter, Map<RateLimiter.Call, Array<Permit>>>()

const permitsOf = (limiter: Limiter, call: RateLimiter.Call): Array<Permit> => {
  const calls = open.get(limiter) ?? new Map<RateLimiter.Call, Array<Permit>>()
  const permits = calls.get(call) ?? []
  open.set(limiter, calls.set(call, permits))
  return permits
}

/** Waits for a permit, and keeps it. */
export const acquire = (limiter: Limiter, call: RateLimiter.Call) =>
  Effect.tap(start(limiter, call), (permit) => void permitsOf(limiter, call).push(permit))

/** Settles the oldest permit that was kept for this object. */
export const settleOldest = (
  limiter: Limiter,
  call: RateLimiter.Call,
  response: RateLimiter.LimitedResponse | undefined
): Effect.Effect<void> => Effect.suspend(() => permitsOf(limiter, call).shift()?.settle(response) ?? Effect.void)

/** A permit that learns nothing. */
export const permit: Permit = { settle: () => Effect.void }
