/** How often: holds calls back so that the service need not turn them away. */
import type * as HttpHeaders from "@effect/platform/Headers"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type { Quota, RateLimited } from "./Errors.js"
import * as Bucket from "./internal/bucket.js"
import * as Headers from "./internal/headers.js"

/** What a limiter knows of a call. */
export interface Call {
  /** The base URL: limits of one tenant say nothing about another. */
  readonly tenant: string
  readonly operation: string
}

/** What a limiter learns of an answer. */
export interface Answer {
  readonly status: number
  readonly headers: HttpHeaders.Headers
}

/** What is known of the limit of one operation. */
export interface Status extends Call, Quota {
  /** How many calls are being held back. */
  readonly waiting: number
}

/** The service that paces calls (contract: Limits). */
export class RateLimiter extends Context.Tag("effect-identity-client/RateLimiter")<RateLimiter, {
  /** Gives way to a call when it may be sent. Interrupted, it has taken nothing. */
  readonly acquire: (call: Call) => Effect.Effect<void, RateLimited>
  /** Is told of the answer, or that none came: exactly once for each `acquire` that succeeded. */
  readonly observe: (call: Call, answer: Answer | undefined) => Effect.Effect<void>
  /** What is known now, an entry for each operation that was called. */
  readonly status: Effect.Effect<ReadonlyArray<Status>>
}>() {}

const isBackground: FiberRef.FiberRef<boolean> = globalValue(
  "effect-identity-client/RateLimiter/isBackground",
  () => FiberRef.unsafeMake(false)
)

/** Marks the calls in an effect as background work: they leave the limiter's `reserve` to the others. */
export const background: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.locally(
  isBackground,
  true
)

/** Holds nothing back. */
export const layerUnlimited: Layer.Layer<RateLimiter> = Layer.succeed(RateLimiter, {
  acquire: () => Effect.void,
  observe: () => Effect.void,
  status: Effect.succeed([])
})

/** The calls that share a limit: the bucket as far as it is known, and two queues, first come, first served. */
interface Lane {
  readonly call: Call
  bucket: Bucket.Bucket | undefined
  inFlight: number
  waiting: number
  readonly queue: Effect.Semaphore
  readonly backgroundQueue: Effect.Semaphore
}

const makeLane = (call: Call, bucket: Bucket.Bucket | undefined): Lane => ({
  call,
  bucket,
  inFlight: 0,
  waiting: 0,
  queue: Effect.unsafeMakeSemaphore(1),
  backgroundQueue: Effect.unsafeMakeSemaphore(1)
})

/** No wait is shorter, so that a mistaken estimate cannot make a call spin. */
const floor = 20

/** Waits at the head of the queue until the bucket gives a call. */
const acquire = (lane: Lane, share: number): Effect.Effect<void> =>
  Effect.flatMap(FiberRef.get(isBackground), (isBackground) => {
    const reserve = () => isBackground ? Math.ceil(share * (lane.bucket?.limit ?? 0)) : 0
    let taken = false
    const turn: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const wait = lane.bucket === undefined ? 0 : Bucket.wait(lane.bucket, now, reserve())
      if (wait > 0) return Effect.zipRight(sleep(wait), turn)
      if (lane.bucket !== undefined) Bucket.take(lane.bucket, now)
      lane.inFlight++
      taken = true
      return Effect.void
    })
    const queue = isBackground ? lane.backgroundQueue : lane.queue
    lane.waiting++
    return queue.withPermits(1)(turn).pipe(
      Effect.onInterrupt(() => Effect.sync(() => taken && release(lane))),
      Effect.ensuring(Effect.sync(() => lane.waiting--))
    )
  })

/** Sleeps so many milliseconds and a little longer, so that callers of several processes do not come back at once. */
const sleep = (millis: number): Effect.Effect<void> =>
  Effect.flatMap(Random.next, (jitter) => Effect.sleep(Math.max(millis, floor) + jitter * floor))

/** Gives back what a call has taken and not used. */
const release = (lane: Lane): void => {
  lane.inFlight--
  if (lane.bucket !== undefined) Bucket.giveBack(lane.bucket)
}

const status = (lane: Lane): Status => ({
  ...lane.call,
  waiting: lane.waiting,
  ...(lane.bucket !== undefined && {
    limit: lane.bucket.limit,
    remaining: Math.max(0, Math.floor(lane.bucket.tokens)),
    resetAt: DateTime.unsafeMake(Bucket.fullAt(lane.bucket))
  })
})

/** How much of the limit calls marked as background leave to the others, from 0 to 1 (default 0.2). */
export interface Options {
  readonly reserve?: number | undefined
}

/** A limit that is known: so many calls at once, and as many again in each interval, evenly. One for all calls. */
export const layerFixed = (
  options: Options & { readonly limit: number; readonly interval: Duration.DurationInput }
): Layer.Layer<RateLimiter> =>
  Layer.effect(
    RateLimiter,
    Effect.map(Clock.currentTimeMillis, (now) => {
      const rate = options.limit / Duration.toMillis(options.interval)
      const lane = makeLane({ tenant: "*", operation: "*" }, Bucket.full(options.limit, rate, now))
      return {
        acquire: () => acquire(lane, options.reserve ?? 0.2),
        observe: () => Effect.sync(() => {
          lane.inFlight--
        }),
        status: Effect.sync(() => [status(lane)])
      }
    })
  )

/**
 * Learns the limit from the headers of every answer and holds calls back when nothing remains, each operation for itself.
 * Until the first answer it holds nothing back. Times count from the answer's own `Date`, never by comparing clocks.
 */
export const layerAdaptive = (options: Options = {}): Layer.Layer<RateLimiter> =>
  Layer.sync(RateLimiter, () => {
    const lanes = new Map<string, Lane>()
    const laneOf = (call: Call): Lane => {
      const key = `${call.operation} ${call.tenant}`
      const lane = lanes.get(key) ?? makeLane(call, undefined)
      lanes.set(key, lane)
      return lane
    }
    return {
      acquire: (call) => Effect.suspend(() => acquire(laneOf(call), options.reserve ?? 0.2)),
      observe: (call, answer) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const lane = laneOf(call)
          lane.inFlight--
          if (answer !== undefined) lane.bucket = learn(lane, answer, now)
        }),
      status: Effect.sync(() => [...lanes.values()].map(status))
    }
  })

/** `layerAdaptive` with its defaults. */
export const layer: Layer.Layer<RateLimiter> = layerAdaptive()

/** What an answer changes. Calls in flight may not be counted in it, so they are taken off. */
const learn = (lane: Lane, answer: Answer, now: number): Bucket.Bucket | undefined => {
  const { limit, remaining = 0, reset } = Headers.rateLimit(answer.headers)
  const pause = answer.status === 429 ? Headers.retryAfter(answer.headers, now) : undefined
  const blockedUntil = pause === undefined ? lane.bucket?.blockedUntil ?? 0 : now + Duration.toMillis(pause)
  if (limit === undefined || limit === 0) return lane.bucket === undefined ? undefined : { ...lane.bucket, blockedUntil }
  const left = answer.status === 429 ? 0 : Math.min(remaining, limit)
  // The reset is told in whole seconds and may lie in the past: it is taken to be a second off.
  const untilFull = Math.max(1000, reset === undefined ? 0 : reset * 1000 - (Headers.date(answer.headers) ?? now / 1000) * 1000)
  return {
    limit,
    tokens: left - lane.inFlight,
    at: now,
    rate: left < limit ? (limit - left) / untilFull : lane.bucket?.rate ?? limit / untilFull,
    blockedUntil
  }
}
