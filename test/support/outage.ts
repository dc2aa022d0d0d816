/** A planned outage in virtual time: many callers, and what became of each of their calls. */
import { HttpClient } from "@effect/platform"
import { Clock, Effect, Exit, Layer, Logger, LogLevel, Random } from "effect"
import { deleteEventStream, IdentityClient, RateLimiter } from "../../src/index.js"
import * as Collecting from "../../src/internal/http/collecting.js"
import { baseUrl, bearer } from "./client.js"
import * as LeanNetwork from "./leanNetwork.js"
import * as VirtualTime from "./virtualTime.js"

/** How calls are made: each caller begins one in every second, whatever became of the one before, or the next when one has ended. */
type Pace = "steady" | "eager"

/** A request that arrives during the outage. */
interface Attempt {
  /** The number of its call: that of the caller, and the caller's number of the call. */
  readonly call: string
  /** Its number in the call; the first is 1. */
  readonly nth: number
  readonly method: string
}

export interface Setting {
  readonly options?: IdentityClient.Defaults
  readonly limiter?: Layer.Layer<RateLimiter.RateLimiter>
  readonly pace: Pace
  readonly seed?: number
  readonly callers?: number
  /** The time of the outage, in milliseconds from the start, and of the whole run. */
  readonly outage?: readonly [from: number, to: number]
  readonly end?: number
  /** Decides which requests fail during the outage (default: all). */
  readonly fails?: (attempt: Attempt) => boolean
  /** The response to them (default: 503), and its headers. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The time until the response to them, in milliseconds (default: 20). */
  readonly responseTime?: (attempt: Attempt) => number
  /** Makes the calls of a caller (default: each deletes an event stream). */
  readonly call?: (caller: number) => Effect.Effect<unknown, unknown, IdentityClient.IdentityClient>
}

export interface Call {
  readonly succeeded: boolean
  readonly began: number
  readonly millis: number
}

export interface Outcome {
  /** The requests in all, and those sent while the service was unavailable. */
  readonly requests: number
  readonly duringOutage: number
  /** The calls that began while the service was unavailable. */
  readonly callsDuringOutage: number
  /** By the number of the call: how it ended, and after which time. Only for the steady pace, where the calls are the same. */
  readonly calls: ReadonlyMap<string, Call>
  /** The warnings that were logged. */
  readonly warnings: number
}

/** Lets this share of the requests fail, the same ones in each run with a seed. */
export const failing = (share: number, seed: number) => ({ call, nth }: Attempt): boolean =>
  Effect.runSync(Random.next.pipe(Effect.withRandom(Random.make(`${seed} ${call} ${nth}`)))) < share

/** The calls that failed in one run only. */
export const failedOnlyIn = ({ calls }: Outcome, other: Outcome): ReadonlyArray<readonly [nth: string, call: Call]> =>
  Array.from(calls).filter(([nth, { succeeded }]) => !succeeded && other.calls.get(nth)?.succeeded !== false)

/** A call that may be retried. */
export const deletion = deleteEventStream({ id: "est_0123456789012345678901" })

/** Runs callers against a service that is unavailable for a minute. */
export const run = ({
  call: operation = () => deletion,
  callers = 50,
  end = 90_000,
  fails = () => true,
  headers = {},
  limiter = RateLimiter.layerUnlimited,
  options = {},
  outage: [from, to] = [10_000, 70_000],
  pace,
  responseTime = () => 20,
  seed = 1,
  status = 503
}: Setting): Effect.Effect<Outcome> => {
  const origin = Date.UTC(2030, 0, 1)
  const at: Array<number> = []
  let warnings = 0
  const logger = Logger.make<unknown, void>(({ logLevel }) => void (logLevel === LogLevel.Warning && warnings++))
  const attempts = new Map<string, number>()
  const calls = new Map<string, Call>()
  const isDown = (time: number) => time >= from && time < to
  const elapsed = Effect.map(Clock.currentTimeMillis, (now) => now - origin)
  const service = LeanNetwork.layer((request) =>
    Effect.gen(function*() {
      const now = yield* elapsed
      at.push(now)
      const call = request.headers["x-call"] ?? ""
      const nth = (attempts.get(call) ?? 0) + 1
      attempts.set(call, nth)
      const attempt = { call, nth, method: request.method }
      const isFailure = isDown(now) && fails(attempt)
      yield* Effect.sleep(isFailure ? responseTime(attempt) : 20)
      return { ...isFailure ? { status, headers } : { status: 204, headers: {} }, body: null }
    })
  )
  const client = IdentityClient.layer({ baseUrl, ...options }).pipe(
    Layer.provide([limiter, bearer, service]),
    Layer.orDie
  )
  /** Each call has random numbers of its own, so that a call waits as long with a budget as without. */
  const call = (caller: number, nth: number) =>
    Effect.gen(function*() {
      const began = yield* elapsed
      const exit = yield* Effect.exit(operation(caller))
      calls.set(`${caller}/${nth}`, {
        succeeded: Exit.isSuccess(exit),
        began,
        millis: (yield* elapsed) - began
      })
    }).pipe(
      Effect.withRandom(Random.make(`${seed}/${caller}/${nth}`)),
      IdentityClient.withHeaders({ "x-call": `${caller}/${nth}` })
    )
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
      yield* Effect.sleep("10 minutes") // those that were forked end
    })
  const all = Effect.forEach(Array.from({ length: callers }), (_, which) => caller(which), {
    concurrency: "unbounded",
    discard: true
  })
  const logged = Effect.provide(all, [client, Logger.replace(Logger.defaultLogger, logger)])
  return Effect.map(VirtualTime.run(logged, { most: "1 hour" }), () => ({
    requests: at.length,
    duringOutage: at.filter(isDown).length,
    callsDuringOutage: Array.from(calls.values()).filter(({ began }) => isDown(began)).length,
    calls,
    warnings
  }))
}

/** A client whose attempts wait for a connection until their time is up: nothing is sent. */
export const unsent = (options: IdentityClient.Defaults, onAttempt: () => void) => {
  const transport = Collecting.over(HttpClient.make(() => Effect.never), () =>
    Effect.succeed(() => {
      onAttempt()
      return () => false
    }))
  return IdentityClient.layer({ baseUrl, ...options }).pipe(
    Layer.provide([RateLimiter.layerUnlimited, bearer, Layer.succeed(HttpClient.HttpClient, transport)])
  )
}
