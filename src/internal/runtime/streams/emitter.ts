/** Streams that are written part by part. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { fromPull, type Pull } from "./pulls.js"

/** Emits parts of a stream: some items, and what emits the others. */
export type Emitter<A, E> = Effect.Effect<
  { readonly items: ReadonlyArray<A>; readonly next?: Emitter<A, E> | undefined },
  E
>

export const emit = <A>(items: ReadonlyArray<A>): Emitter<A, never> => Effect.succeed({ items })

/** Runs an effect, and goes on with its value. */
export const after = <A, B, E>(effect: Effect.Effect<B, E>, next: (value: B) => Emitter<A, E>): Emitter<A, E> =>
  Effect.flatMap(effect, next)

export const andThen = <A, E>(first: Emitter<A, E>, next: () => Emitter<A, E>): Emitter<A, E> =>
  Effect.map(first, (part) => ({
    items: part.items,
    next: part.next === undefined ? Effect.suspend(next) : andThen(part.next, next)
  }))

/** Makes an emitter drop what it emitted last, which the stream would hold until it emits again. */
export const dropping = <A, E>(self: Emitter<A, E>): Emitter<A, E> => andThen(self, () => emit([]))

/** Makes a stream of an emitter that has a service, and a scope for its fibers. */
export const fromEmitter = <A, E, I, S>(
  service: Effect.Effect<S, never, I>,
  use: (service: S, scope: Scope.Scope) => Emitter<A, E>
): Stream.Stream<A, E, Exclude<I, Scope.Scope>> =>
  Stream.unwrapScoped(
    Effect.map(Effect.zip(service, Effect.scope), ([service, scope]) => fromPull(pullOf(use(service, scope))))
  )

const pullOf = <A, E>(emitter: Emitter<A, E>): Pull<A, E> => {
  let next: Emitter<A, E> | undefined = emitter
  return Effect.suspend(() =>
    next === undefined ? Effect.fail(Option.none()) : Effect.matchCauseEffect(next, {
      onFailure: (cause) => Effect.failCause(Cause.map(cause, Option.some)),
      onSuccess: (part) => {
        next = part.next
        return Effect.succeed(part.items)
      }
    })
  )
}
