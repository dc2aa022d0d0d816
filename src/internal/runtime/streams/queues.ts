/** Queues that are read as streams. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { fromPull, type Pull } from "./pulls.js"

/**
 * Makes a queue that is read as a stream; to offer waits while it is full. Not a `Mailbox`: if its reader yields between a look
 * and its wait (Effect 3.22), it may miss the last value, and wait for ever.
 */
export const makeQueue = <A, E>(capacity: number) =>
  Effect.map(Queue.bounded<Pull<A, E>>(capacity), (queue) => ({
    offer: (value: A) => Queue.offer(queue, Effect.succeed([value])),
    /** Ends the stream, with a failure if there is one. */
    end: (failure: Cause.Cause<E> | undefined) =>
      Queue.offer(
        queue,
        failure === undefined ? Effect.fail(Option.none()) : Effect.failCause(Cause.map(failure, Option.some))
      ),
    stream: fromPull(Effect.flatten(Queue.take(queue)))
  }))

/**
 * Makes a signal. A stream that follows it gives a value now and after each signal; a slow reader gets the latest value only. Each has
 * a queue of its own, which is smaller in a bundle than a `PubSub`.
 */
export const makeSignal = /* @__PURE__ */ Effect.sync(() => {
  const followers = new Set<Queue.Queue<void>>()
  const follower = Effect.acquireRelease(
    Effect.tap(Queue.sliding<void>(1), (queue) => Effect.sync(() => followers.add(queue))),
    (queue) => Effect.sync(() => followers.delete(queue))
  )
  return {
    signal: (): void => followers.forEach((queue) => void queue.unsafeOffer(undefined)),
    follow: <A>(read: Effect.Effect<A>): Stream.Stream<A> =>
      Stream.unwrapScoped(
        Effect.map(follower, (queue) => {
          queue.unsafeOffer(undefined)
          return Stream.mapEffect(Stream.fromQueue(queue), () => read)
        })
      )
  }
})
