/** A planned outage in virtual time: many callers, and what became of each of their calls. */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Clock, Effect, Exit, Layer, Random } from "effect"
import { deleteEventStream, IdentityClient, RateLimiter } from "../../src/index.js"
import { baseUrl, bearer } from "./client.js"
import * as VirtualTime from "./virtualTime.js"

/** How calls are made: each caller begins one in every second, whatever became of the one before, or the next when one has ended. */
type Pace = "steady" | "eager"

export interface Setting {
  readonly options?: IdentityClient.Defaults
  readonly pace: Pace
  readonly seed?: number
  readonly callers?: number
  /** The time of the outage, in milliseconds from the start, and of the whole run. */
  readonly outage?: readonly [from: number, to: number]
  readonly end?: number
  /** The response of the service while it is unavailable. */
  readonly status?: number
}

export interface Outcome {
  /** The requests in all, and those sent while the service was unavailable. */
  readonly requests: number
  readonly duringOutage: number
  /** The calls that began while the service was unavailable. */
  readonly callsDuringOutage: number
  /** By the number of the call: how it ended, and after which time. Only for the steady pace, where the calls are the same. */
  readonly calls: ReadonlyMap<string, { readonly succeeded: boolean; readonly began: number; readonly millis: number }>
}

const id = "est_0123456789012345678901"

/** Runs callers against a service that is unavailable for a minute. */
export const run = (
  { callers = 50, end = 90_000, options = {}, outage: [from, to] = [10_000, 70_000], pace, seed = 1, status = 503 }:
    Setting
): Effect.Effect<Outcome> => {
  const origin = Date.UTC(2030, 0, 1)
  const at: Array<number> = []
  const calls = new Map<string, { readonly succeeded: boolean; readonly began: number; readonly millis: number }>()
  const isDown = (time: number) => time >= from && time < to
  const elapsed = Effect.map(Clock.currentTimeMillis, (now) => now - origin)
  const service = HttpClient.make((request) =>
    Effect.gen(function*() {
      const now = yield* elapsed
      at.push(now)
      yield* Effect.sleep(20)
      return HttpClientResponse.fromWeb(request, new Response(null, { status: isDown(now) ? status : 204 }))
    })
  )
  const client = IdentityClient.layer({ baseUrl, ...options }).pipe(
    Layer.provide([RateLimiter.layerUnlimited, bearer, Layer.succeed(HttpClient.HttpClient, service)]),
    Layer.orDie
  )
  /** Each call has random numbers of its own, so that a call waits as long with a budget as without. */
  const call = (caller: number, nth: number) =>
    Effect.gen(function*() {
      const began = yield* elapsed
      const exit = yield* Effect.exit(deleteEventStream({ id }))
      calls.set(`${caller}/${nth}`, {
        succeeded: Exit.isSuccess(exit),
        began,
        millis: (yield* elapsed) - began
      })
    }).pipe(Effect.withRandom(Random.make(`${seed}/${caller}/${nth}`)))
  const caller = (which: number) =>
    Effect.gen(function*() {
      yield* Effect.sleep(which * 1000 / callers)
      for (let nth = 0; (yield* elapsed) < end; nth++) {
        if (pace === "eager") {
          yield* call(which, nth)
          yield* Effect.sleep(100)
        } else {
          yield* Effect.fork(call(which, nth))
          yield* Effect.sleep(1000)
        }
      }
      yield* Effect.sleep(30_000) // those that were forked end
    })
  const all = Effect.forEach(Array.from({ length: callers }), (_, which) => caller(which), {
    concurrency: "unbounded",
    discard: true
  })
  return Effect.map(VirtualTime.run(Effect.provide(all, client), { most: "1 hour" }), () => ({
    requests: at.length,
    duringOutage: at.filter(isDown).length,
    callsDuringOutage: Array.from(calls.values()).filter(({ began }) => isDown(began)).length,
    calls
  }))
}
