/** Effect's queues, pulls and channels; the only module that knows them. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Pull from "effect/Pull"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Makes a queue that is read as a stream; to offer waits while it is full. */
export const makeQueue = <A, E>(capacity: number) =>
  Effect.map(Queue.bounded<A, E | Cause.Done>(capacity), (queue) => ({
    offer: (value: A) => Queue.offer(queue, value),
    /** Ends the stream, with a failure if there is one. */
    end: (failure: Cause.Cause<E> | undefined) =>
      failure === undefined ? Queue.end(queue) : Queue.failCause(queue, failure),
    stream: Stream.fromQueue(queue)
  }))

/**
 * Makes a signal. A stream that follows it gives a value now and after each signal; a slow reader gets the latest value only. It has
 * a queue of its own: a `PubSub` would add 5 kB to every bundle.
 */
export const makeSignal = /* @__PURE__ */ Effect.sync(() => {
  const followers = new Set<Queue.Queue<void>>()
  const follower = Effect.acquireRelease(
    Effect.tap(Queue.sliding<void>(1), (queue) => Effect.sync(() => followers.add(queue))),
    (queue) => Effect.sync(() => followers.delete(queue))
  )
  return {
    signal: (): void => followers.forEach((queue) => void Queue.offerUnsafe(queue, undefined)),
    follow: <A>(read: Effect.Effect<A>): Stream.Stream<A> =>
      Stream.unwrap(
        Effect.map(follower, (queue) => {
          Queue.offerUnsafe(queue, undefined)
          return Stream.mapEffect(Stream.fromQueue(queue), () => read)
        })
      )
  }
})

/** Pulls a stream part by part; fails with `Option.none()` at its end. */
export const pull = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.map(
    Stream.toPull(stream),
    Effect.mapError((error): Option.Option<E> => Cause.isDone(error) ? Option.none() : Option.some(error))
  )

/** Makes a stream of what gives its next part, and fails with `Option.none()` at the end. */
export const fromPull = <A, E, R>(
  next: Effect.Effect<ReadonlyArray<A>, Option.Option<E>, R>
): Stream.Stream<A, E, R> => {
  const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<A>, E, void, R> = next.pipe(
    Effect.catch((error): Effect.Effect<never, E | Cause.Done> =>
      Option.isNone(error) ? Cause.done() : Effect.fail(error.value)
    ),
    Effect.flatMap((items) => Arr.isReadonlyArrayNonEmpty(items) ? Effect.succeed(items) : pull)
  )
  return Stream.fromPull(Effect.succeed(pull))
}

/** The failure of a pull; none at the end. */
export const failureOf = <E>(cause: Cause.Cause<Option.Option<E>>): Cause.Cause<E> | undefined => {
  const reasons = cause.reasons.flatMap((reason): ReadonlyArray<Cause.Reason<E>> =>
    Cause.isFailReason(reason) ? Option.toArray(Option.map(reason.error, Cause.makeFailReason)) : [reason]
  )
  return reasons.length === 0 && cause.reasons.length > 0 ? undefined : Cause.fromReasons(reasons)
}

/** Transforms a stream part by part. */
export const mapParts = <A, E, R, B, E2, R2>(
  self: Stream.Stream<A, E, R>,
  f: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E2, R2>
): Stream.Stream<B, E | E2, R | R2> =>
  Stream.transformPull(self, (pull) => {
    const next: Pull.Pull<Arr.NonEmptyReadonlyArray<B>, E | E2, void, R2> = pull.pipe(
      Effect.flatMap(f),
      Effect.flatMap((items) => Arr.isReadonlyArrayNonEmpty(items) ? Effect.succeed(items) : next)
    )
    return Effect.succeed(next)
  })

/** Makes a stream readable outside of fibers. */
export const toIterable = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<AsyncIterable<A>> =>
  Stream.toAsyncIterableEffect(stream)

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

/** Makes an emitter drop what it emitted last: this one holds nothing. */
export const dropping = <A, E>(self: Emitter<A, E>): Emitter<A, E> => self

/** Makes a stream of an emitter that has a service, and a scope for its fibers. */
export const fromEmitter = <A, E, I, S>(
  service: Effect.Effect<S, never, I>,
  use: (service: S, scope: Scope.Scope) => Emitter<A, E>
): Stream.Stream<A, E, Exclude<I, Scope.Scope>> =>
  Stream.unwrap(
    Effect.map(
      Effect.zip(service, Effect.scope),
      ([service, scope]) => Stream.fromPull(Effect.sync(() => pullOf(use(service, scope))))
    )
  )

const pullOf = <A, E>(emitter: Emitter<A, E>): Pull.Pull<Arr.NonEmptyReadonlyArray<A>, E> => {
  let next: Emitter<A, E> | undefined = emitter
  const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<A>, E> = Effect.suspend(() =>
    next === undefined ? Cause.done() : Effect.flatMap(next, (part) => {
      next = part.next
      return Arr.isReadonlyArrayNonEmpty(part.items) ? Effect.succeed(part.items) : pull
    })
  )
  return pull
}
