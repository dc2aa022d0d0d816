/** How often: holds calls back so that the service need not turn them away. */
import type * as HttpHeaders from "@effect/platform/Headers"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import { InvalidInput, type Quota, RateLimited } from "./Errors.js"
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
  /** Until when the service has asked to send nothing at all, in local milliseconds. */
  blockedUntil: number
  inFlight: number
  readonly queue: Queue
  readonly backgroundQueue: Queue
}

/** Who waits, the first one in front; it is its turn when its place is done. */
type Queue = Set<Deferred.Deferred<void>>

const makeLane = (call: Call, bucket: Bucket.Bucket | undefined): Lane => ({
  call,
  bucket,
  blockedUntil: 0,
  inFlight: 0,
  queue: new Set(),
  backgroundQueue: new Set()
})

/** Runs an effect when all who came before are through or gone. A place is left however it ends (a semaphore's may not be). */
const inTurn = (queue: Queue) => <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.suspend(() => {
      const place = Deferred.unsafeMake<void>(FiberId.none)
      const next = () => {
        for (const first of queue) return Deferred.unsafeDone(first, Effect.void)
      }
      queue.add(place)
      next()
      return Effect.ensuring(
        restore(Effect.zipRight(Deferred.await(place), self)),
        Effect.sync(() => {
          queue.delete(place)
          next()
        })
      )
    })
  )

/** No wait is shorter, so that a mistaken estimate cannot make a call spin; and none longer without looking again. */
const [floor, ceiling] = [20, 3_600_000]

/** How long a call would wait now that comes after so many others. */
const waitOf = ({ blockedUntil, bucket }: Lane, now: number, share: number, ahead: number): number =>
  Math.max(
    blockedUntil - now,
    bucket === undefined ? 0 : Bucket.wait(bucket, now, Math.ceil(share * bucket.limit), ahead),
    0
  )

const tooLong = (lane: Lane, operation: string, wait: number, now: number): RateLimited => {
  const { limit, remaining, resetAt } = status(lane, now)
  const message = "our own limiter would hold the call back longer than it may wait"
  return new RateLimited({
    operation,
    message,
    source: "limiter",
    retryAfter: Duration.millis(wait),
    limit,
    remaining,
    resetAt
  })
}

/** Waits at the head of the queue until the bucket gives a call. It fails at once if that takes too long. */
const acquire = (lane: Lane, operation: string, options: Options): Effect.Effect<void, RateLimited> =>
  Effect.flatMap(FiberRef.get(isBackground), (isBackground) => {
    const share = isBackground ? options.reserve ?? 0.2 : 0
    const queue = isBackground ? lane.backgroundQueue : lane.queue
    const maxWait = options.maxWait === undefined ? Infinity : Duration.toMillis(options.maxWait)
    let taken = false
    const turn: Effect.Effect<void, RateLimited> = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const wait = waitOf(lane, now, share, 0)
      if (wait > maxWait) return tooLong(lane, operation, wait, now)
      if (wait > 0) return Effect.zipRight(sleep(wait), turn)
      if (lane.bucket !== undefined) Bucket.take(lane.bucket, now)
      lane.inFlight++
      taken = true
      return Effect.void
    })
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const wait = waitOf(lane, now, share, queue.size)
      return wait > maxWait
        ? tooLong(lane, operation, wait, now)
        : Effect.onInterrupt(inTurn(queue)(turn), () => Effect.sync(() => taken && release(lane)))
    })
  })

/** Sleeps so many milliseconds and a little longer, so that callers of several processes do not come back at once. */
const sleep = (millis: number): Effect.Effect<void> =>
  Effect.flatMap(Random.next, (jitter) => Effect.sleep(Math.min(Math.max(millis, floor), ceiling) + jitter * floor))

/** Gives back what a call has taken and not used. */
const release = (lane: Lane): void => {
  lane.inFlight--
  if (lane.bucket !== undefined) Bucket.giveBack(lane.bucket)
}

const status = ({ backgroundQueue, bucket, call, queue }: Lane, now: number): Status => ({
  ...call,
  waiting: queue.size + backgroundQueue.size,
  ...(bucket !== undefined && {
    limit: bucket.limit,
    remaining: Bucket.whole(bucket, now),
    resetAt: Option.getOrUndefined(DateTime.make(Bucket.fullAt(bucket))) // it may lie beyond all dates
  })
})

/** How calls are held back. */
export interface Options {
  /** A call that would be held back longer fails at once with `RateLimited`, whose `source` is `limiter` (default: none is). */
  readonly maxWait?: Duration.DurationInput | undefined
  /** How much of the limit calls marked as background leave to the others, from 0 to 1 (default 0.2). */
  readonly reserve?: number | undefined
}

/**
 * A limit that is known: so many calls at once, and as many again in each interval, evenly. One for all calls. It fails
 * with `InvalidInput` if `limit` is no integer of at least 1 or `interval` is no time.
 */
export const layerFixed = (
  options: Options & { readonly limit: number; readonly interval: Duration.DurationInput }
): Layer.Layer<RateLimiter, InvalidInput> =>
  Layer.effect(
    RateLimiter,
    Effect.gen(function*() {
      const { interval, limit } = options
      const millis = Duration.toMillis(interval)
      const issues = [
        ...(Number.isSafeInteger(limit) && limit >= 1
          ? []
          : [{ path: "limit", message: "expected an integer of at least 1" }]),
        ...(millis > 0 && millis < Infinity ? [] : [{ path: "interval", message: "expected a time above zero" }])
      ]
      if (issues.length > 0) return yield* new InvalidInput({ operation: "RateLimiter.layerFixed", issues })
      const now = yield* Clock.currentTimeMillis
      const lane = makeLane({ tenant: "*", operation: "*" }, Bucket.full(limit, limit / millis, now))
      return {
        acquire: ({ operation }) => acquire(lane, operation, options),
        observe: () =>
          Effect.sync(() => {
            lane.inFlight--
          }),
        status: Effect.map(Clock.currentTimeMillis, (now) => [status(lane, now)])
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
      acquire: (call) => Effect.suspend(() => acquire(laneOf(call), call.operation, options)),
      observe: (call, answer) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const lane = laneOf(call)
          lane.inFlight--
          if (answer !== undefined) learn(lane, answer, now)
        }),
      status: Effect.map(Clock.currentTimeMillis, (now) => [...lanes.values()].map((lane) => status(lane, now)))
    }
  })

/** `layerAdaptive` with its defaults. */
export const layer: Layer.Layer<RateLimiter> = layerAdaptive()

const day = Duration.toMillis("1 day")

/** What an answer changes. Calls in flight may not be counted in it, so they are taken off. */
const learn = (lane: Lane, answer: Answer, now: number): void => {
  const refused = answer.status === 429
  const pause = refused ? Headers.retryAfter(answer.headers, now) : undefined
  // More than a day is a mistake, a point in time perhaps.
  if (pause !== undefined) lane.blockedUntil = now + Math.min(Duration.toMillis(pause), day)
  const { limit, remaining, reset } = Headers.rateLimit(answer.headers)
  const told = refused ? 0 : remaining
  if (limit === undefined || limit === 0 || told === undefined) return
  const left = Math.min(told, limit)
  // The reset is told in whole seconds and may lie in the past: it is taken to be a second off. One that is more than a
  // day ahead is none, milliseconds perhaps.
  const ahead = reset === undefined ? 0 : reset * 1000 - (Headers.date(answer.headers) ?? now / 1000) * 1000
  const untilFull = ahead > day ? 1000 : Math.max(1000, ahead)
  lane.bucket = {
    limit,
    tokens: left - lane.inFlight,
    at: now,
    rate: left < limit ? (limit - left) / untilFull : lane.bucket?.rate ?? limit / untilFull
  }
}
