/** What one fiber gives, another takes, one thing at a time. It does less than `Deferred`, `Latch` or `Queue`, and costs less. */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"

export interface Handover<A, E> {
  /** Gives it to the fiber that waits, or keeps it for the one that comes. What was given before must have been taken. */
  readonly give: (exit: Exit.Exit<A, E>) => void
  /** Waits for what is given. One fiber may wait at a time; one that is interrupted must be the last. */
  readonly take: Effect.Effect<A, E>
}

export const make = <A, E = never>(): Handover<A, E> => {
  let given: Exit.Exit<A, E> | undefined
  let taker: ((exit: Exit.Exit<A, E>) => void) | undefined
  return {
    give: (exit) => {
      if (taker === undefined) given = exit
      else taker(exit)
      taker = undefined
    },
    take: Effect.async<A, E>((resume) => {
      if (given === undefined) taker = resume
      else resume(given)
      given = undefined
    })
  }
}
