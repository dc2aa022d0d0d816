/** A call that comes while others use the limits that it needs all the time. */
import { Headers } from "@effect/platform"
import { Clock, type Context, Effect, Random, type Scope } from "effect"
import type * as RateLimiter from "../../src/RateLimiter.js"
import * as Permits from "./permits.js"
import * as VirtualTime from "./virtualTime.js"

const tenant = "https://t.example.com/api/v2"

/** A bucket of the service: `burst` calls at once, and one more in each `interval` milliseconds. */
export const makeBucket = (burst: number, interval: number) => {
  let fullAt = 0
  return (now: number): RateLimiter.LimitedResponse => {
    const missing = Math.max(0, fullAt - now) / interval
    const isServed = missing <= burst - 1
    if (isServed) fullAt = Math.max(fullAt, now) + interval
    const left = Math.floor(burst - Math.max(0, fullAt - now) / interval)
    return {
      status: isServed ? 200 : 429,
      headers: Headers.fromInput({
        "x-ratelimit-limit": String(burst),
        "x-ratelimit-remaining": String(left),
        "x-ratelimit-reset": String(Math.ceil(Math.max(now, fullAt) / 1000)),
        date: new Date(Math.floor(now / 1000) * 1000).toUTCString()
      })
    }
  }
}

type Limiter = Context.Tag.Service<typeof RateLimiter.RateLimiter>

/** The time in which calls are counted, in milliseconds. */
const period = 20_000

/**
 * Keeps each operation in use by the first limiters, and returns the wait of a call by the last limiter that comes after a minute. Also
 * returns how many other calls start while it waits, and in a `period` before and after it comes.
 */
export const waitBeside = <E>(
  limiters: Effect.Effect<ReadonlyArray<Limiter>, E, Scope.Scope>,
  operations: Readonly<Record<string, (now: number) => RateLimiter.LimitedResponse>>,
  respond: (now: number) => RateLimiter.LimitedResponse = makeBucket(100, 10)
) =>
  VirtualTime.run(
    Effect.scoped(Effect.gen(function*() {
      const all = yield* limiters
      let started = 0
      let refused = 0
      const exchange = (limiter: Limiter, operation: string, ask: (now: number) => RateLimiter.LimitedResponse) =>
        Effect.gen(function*() {
          const { settle } = yield* Permits.start(limiter, { tenant, operation })
          yield* Effect.sleep(20)
          const response = ask(yield* Clock.currentTimeMillis)
          started++
          if (response.status === 429) refused++
          yield* settle(response)
        })
      for (const [nth, [operation, ask]] of Object.entries(operations).entries()) {
        const limiter = all[nth % Math.max(1, all.length - 1)]!
        yield* Effect.forkScoped(
          Effect.forEach([1, 2, 3], () => Effect.forever(exchange(limiter, operation, ask)), {
            concurrency: "unbounded"
          })
        )
      }
      yield* Effect.sleep(60_000 - period)
      const begun = started
      yield* Effect.sleep(period)
      const [before, since] = [started, yield* Clock.currentTimeMillis]
      const waited = Effect.gen(function*() {
        yield* Effect.timeoutOption(exchange(all.at(-1)!, "late", respond), "1 minute")
        return { waited: (yield* Clock.currentTimeMillis) - since - 20, passed: started - before }
      })
      const [late, after] = yield* Effect.all([waited, Effect.delay(Effect.sync(() => started - before), period)], {
        concurrency: 2
      })
      return { ...late, refused, goodput: { before: before - begun, after } }
    })).pipe(Effect.withRandom(Random.make(1))),
    { most: "1 hour" }
  )
