/** Effect's queues, pulls and channels; the only module that knows them. */
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { makeRunner } from "./runner.js"

/**
 * Makes a queue that is read as a stream; to offer waits while it is full. Not a `Mailbox`: if its reader yields between a look
 * and its wait (Effect 3.22), it may miss the last value, and wait for ever.
 */
export const makeQueue = <A, E>(capacity: number) =>
  Effect.map(Queue.bounded<Exit.Exit<A, Option.Option<E>>>(capacity), (queue) => ({
    offer: (value: A) => queue.offer(Exit.succeed(value)),
    /** Ends the stream, with a failure if there is one. */
    end: (failure: Cause.Cause<E> | undefined) =>
      queue.offer(failure === undefined ? Exit.fail(Option.none()) : Exit.failCause(Cause.map(failure, Option.some))),
    stream: Stream.flattenExitOption(Stream.fromQueue(queue))
  }))

/** Makes a signal. A stream that follows it gives a value now and after each signal; a slow reader gets the latest value only. */
export const makeSignal = /* @__PURE__ */ Effect.map(/* @__PURE__ */ PubSub.sliding<void>(1), (signals) => ({
  signal: (): void => {
    // The offer fails only if a slow subscriber has filled the buffer.
    if (!signals.unsafeOffer(undefined)) Effect.runSync(PubSub.publish(signals, undefined))
  },
  follow: <A>(read: Effect.Effect<A>): Stream.Stream<A> =>
    Stream.unwrapScoped(
      Effect.map(
        Stream.fromPubSub(signals, { scoped: true }),
        (events) => Stream.mapEffect(Stream.concat(Stream.make(undefined), events), () => read)
      )
    )
}))

/** Pulls a stream part by part; fails with `Option.none()` at its end. */
export const pull = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.map(Stream.toPull(stream), Effect.map(Chunk.toReadonlyArray))

/** Makes a stream of what gives its next part, and fails with `Option.none()` at the end. */
export const fromPull = <A, E, R>(pull: Effect.Effect<ReadonlyArray<A>, Option.Option<E>, R>): Stream.Stream<A, E, R> =>
  Stream.repeatEffectChunkOption(Effect.map(pull, Chunk.unsafeFromArray))

/** The failure of a pull; none at the end. */
export const failureOf = <E>(cause: Cause.Cause<Option.Option<E>>): Cause.Cause<E> | undefined =>
  Option.getOrUndefined(Cause.flipCauseOption(cause))

/** Transforms a stream part by part. */
export const mapParts = <A, E, R, B, E2, R2>(
  self: Stream.Stream<A, E, R>,
  f: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E2, R2>
): Stream.Stream<B, E | E2, R | R2> =>
  Stream.mapChunksEffect(self, (items) => Effect.map(f(Chunk.toReadonlyArray(items)), Chunk.unsafeFromArray))

/** Makes a stream readable outside of fibers. */
export const toIterable = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<AsyncIterable<A>> =>
  Effect.map(makeRunner(), ({ runtime }) => Stream.toAsyncIterableRuntime(stream, runtime))

/** Emits parts of a stream. */
export type Emitter<A, E> = Channel.Channel<Chunk.Chunk<A>, unknown, E, unknown, unknown, unknown>

export const emit = <A>(items: ReadonlyArray<A>): Emitter<A, never> => Channel.write(Chunk.unsafeFromArray(items))

/** Runs an effect, and goes on with its value. */
export const after = <A, B, E>(effect: Effect.Effect<B, E>, next: (value: B) => Emitter<A, E>): Emitter<A, E> =>
  Channel.flatMap(Channel.fromEffect(effect), next)

export const andThen = <A, E>(first: Emitter<A, E>, next: () => Emitter<A, E>): Emitter<A, E> =>
  Channel.flatMap(first, next)

/** Makes an emitter drop what it emitted last, which it would hold until it emits again. */
export const dropping = <A, E>(self: Emitter<A, E>): Emitter<A, E> => Channel.zipRight(self, emitNothing)

const emitNothing = /* @__PURE__ */ Channel.write(/* @__PURE__ */ Chunk.empty<never>())

/** Makes a stream of an emitter that has a service, and a scope for its fibers. */
export const fromEmitter = <A, E, I, S>(
  service: Effect.Effect<S, never, I>,
  use: (service: S, scope: Scope.Scope) => Emitter<A, E>
): Stream.Stream<A, E, I> =>
  Stream.fromChannel(Channel.acquireUseRelease(
    Effect.zip(service, Scope.make()),
    ([service, scope]) => use(service, scope),
    ([, scope], exit) => Scope.close(scope, exit)
  ))
