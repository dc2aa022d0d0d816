/** Collects requests while a statement is under way, and lets them go together in the next one. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"

export interface BatchOptions<Request, Response, E> {
  /** Runs the requests of a batch, and returns their responses in the same order. */
  readonly run: (requests: ReadonlyArray<Request>) => Effect.Effect<ReadonlyArray<Response>, E>
  /** Two requests with the same key do not go in one batch, unless both only read. */
  readonly keyOf: (request: Request) => string
  readonly isRead: (request: Request) => boolean
  /** The batch failed without any effect, because of one of its requests: then they are run one by one, and only that one fails. */
  readonly isOfOneRequest: (error: E) => boolean
  /** The most requests of a batch. */
  readonly limit: number
  /** The failure of requests after the scope is closed, or without a response. */
  readonly closed: E
}

interface Waiting<Request, Response, E> {
  readonly request: Request
  readonly response: Deferred.Deferred<Response, E>
}

/**
 * Makes a function that gives the response to a request. One batch is under way at a time, and they go in the order of the requests. A
 * caller that is interrupted drops its request if its batch has not begun.
 */
export const makeBatch = <Request, Response, E>(
  { closed, isOfOneRequest, isRead, keyOf, limit, run }: BatchOptions<Request, Response, E>
): Effect.Effect<(request: Request) => Effect.Effect<Response, E>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const waiting: Array<Waiting<Request, Response, E>> = []
    const hasWaiting = yield* Effect.makeLatch(false)
    let isClosed = false

    const take = (): ReadonlyArray<Waiting<Request, Response, E>> => {
      const onlyRead = new Map<string, boolean>()
      let count = 0
      for (const { request } of waiting) {
        const key = keyOf(request)
        const before = onlyRead.get(key)
        if (count === limit || before === false || (before === true && !isRead(request))) break
        onlyRead.set(key, isRead(request))
        count++
      }
      return waiting.splice(0, count)
    }

    const failAll = (all: ReadonlyArray<Waiting<Request, Response, E>>) =>
      Effect.forEach(all, ({ response }) => Deferred.fail(response, closed), { discard: true })

    const runAll = (batch: ReadonlyArray<Waiting<Request, Response, E>>): Effect.Effect<void> =>
      Effect.flatMap(Effect.exit(run(batch.map(({ request }) => request))), (exit) => {
        if (
          batch.length > 1 && Exit.isFailure(exit) && Option.exists(Cause.failureOption(exit.cause), isOfOneRequest)
        ) {
          return Effect.forEach(batch, (item) => runAll([item]), { discard: true })
        }
        return Effect.forEach(
          batch,
          ({ response }, nth) => {
            if (Exit.isFailure(exit)) return Deferred.failCause(response, exit.cause)
            const value = exit.value[nth]
            return value === undefined ? Deferred.fail(response, closed) : Deferred.succeed(response, value)
          },
          { discard: true }
        )
      })

    const runNext = Effect.suspend(() => {
      const batch = take()
      return Effect.onInterrupt(runAll(batch), () => failAll(batch))
    })

    const work = hasWaiting.await.pipe(
      Effect.zipRight(Effect.yieldNow()), // requests that are made at the same time go together
      Effect.zipRight(Effect.suspend(() => {
        if (waiting.length > 0) return runNext
        hasWaiting.unsafeClose()
        return Effect.void
      })),
      Effect.forever
    )

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isClosed = true
        return failAll(waiting.splice(0))
      })
    )
    yield* Effect.forkScoped(Effect.interruptible(work))

    return (request) =>
      Effect.flatMap(Deferred.make<Response, E>(), (response) => {
        if (isClosed) return Effect.fail(closed)
        const item = { request, response }
        waiting.push(item)
        hasWaiting.unsafeOpen()
        return Effect.onInterrupt(Deferred.await(response), () =>
          Effect.sync(() => {
            const index = waiting.indexOf(item)
            if (index >= 0) waiting.splice(index, 1)
          }))
      })
  })
