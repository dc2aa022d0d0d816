/** A fleet's store under full control of a test, and snapshots as another process might have written them. */
import { Headers } from "@effect/platform"
import { Clock, Context, Duration, Effect, Layer, Logger, Option, type Scope } from "effect"
import type { InvalidInput, RateLimited } from "../../src/Errors.js"
import * as Fleet from "../../src/Fleet.js"
import type { Member } from "../../src/internal/fleet/membership.js"
import { type FleetSnapshot, makeFormat } from "../../src/internal/fleet/snapshotFormat.js"
import * as Adaptive from "../../src/internal/limiter/adaptive.js"
import { exportTenant, type TenantSnapshot } from "../../src/internal/limiter/adaptiveState.js"
import type { EstimatorState } from "../../src/internal/limiter/estimator/state.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import * as Permits from "./permits.js"
import * as VirtualTime from "./virtualTime.js"

export const virtually = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  VirtualTime.run(Effect.scoped(Effect.provide(effect, Logger.remove(Logger.defaultLogger))), { most: "1 hour" })

export const tenant = "https://t.example.com/api/v2"
export const callOf = (operation: string): RateLimiter.Call => ({ tenant, operation })
export const call = callOf("a")

export const format = makeFormat()
export const key = format.keyOf(tenant)

export interface Store {
  readonly backend: SharedStore.Backend
  /** The milliseconds that a request takes before and after its effect. */
  before: number
  after: number
  /** The milliseconds by which its clock is ahead. */
  ahead: number
  isDown: boolean
  /** Whether another process wins each swap. */
  isContended: boolean
  /** The number of times that it was read. */
  reads: number
  readonly writes: Array<{ readonly at: number; readonly snapshot: FleetSnapshot }>
  /** Writes as another process does. */
  readonly put: (value: FleetSnapshot | string) => Effect.Effect<unknown>
  readonly lose: Effect.Effect<void>
  /** The current value. */
  readonly snapshot: Effect.Effect<FleetSnapshot>
}

const decode = (text: string): FleetSnapshot => Option.getOrThrow(format.decode(text))

/** Makes a store that can be slow, fail, lose each swap and show another time, and that remembers its writes. */
export const makeStore: Effect.Effect<Store> = Effect.gen(function*() {
  const clock = yield* Effect.clock
  let memory = yield* SharedStore.memory
  const request = <A extends SharedStore.Snapshot>(run: () => Effect.Effect<A, unknown>): Effect.Effect<A, unknown> =>
    Effect.suspend(() => store.isDown ? Effect.fail("down") : Effect.suspend(run)).pipe(
      Effect.delay(store.before),
      Effect.map((result) => ({ ...result, now: result.now + store.ahead })),
      (result) => Effect.zipLeft(result, Effect.sleep(store.after))
    )
  const store: Store = {
    before: 0,
    after: 0,
    ahead: 0,
    isDown: false,
    isContended: false,
    reads: 0,
    writes: [],
    backend: {
      get: (key) => {
        store.reads++
        return request(() => memory.get(key))
      },
      swap: (key, version, next) =>
        request(() =>
          store.isContended
            ? Effect.map(memory.get(key), (seen) => ({ ...seen, swapped: false }))
            : Effect.tap(memory.swap(key, version, next), ({ swapped }) => {
              if (!swapped || next === undefined) return
              store.writes.push({ at: clock.unsafeCurrentTimeMillis(), snapshot: decode(next.value) })
            })
        )
    },
    put: (value) =>
      Effect.orDie(Effect.flatMap(memory.get(key), ({ entry }) =>
        memory.swap(key, entry?.version, {
          value: typeof value === "string" ? value : format.encode(value),
          timeToLive: Duration.hours(1)
        }))),
    lose: Effect.map(SharedStore.memory, (empty) => void (memory = empty)),
    snapshot: Effect.orDie(
      Effect.suspend(() => Effect.map(memory.get(key), ({ entry }) => decode(entry?.value ?? "")))
    )
  }
  return store
})

/** A process of a fleet, which ends with the scope. */
export const makeProcess = (
  { backend }: Pick<Store, "backend">,
  options: RateLimiter.Options & RateLimiter.KnownLimits = {}
) =>
  Effect.map(
    Layer.build(Layer.fresh(
      Fleet.layerRateLimiterWith(options).pipe(
        Layer.orDie,
        Layer.provide(Layer.fresh(SharedStore.layer(Effect.succeed(backend))))
      )
    )),
    Context.get(RateLimiter.RateLimiter)
  )

export type Limiter = Effect.Effect.Success<ReturnType<typeof makeProcess>>

/** A bucket as a process knows it: its size, the calls left, and the calls that come back in a second. */
export interface Known {
  readonly limit: number
  readonly left: number
  readonly perSecond: number
  /** The operations that draw on it. */
  readonly operations?: ReadonlyArray<string>
  /** Whether other clients use it. */
  readonly isShared?: boolean
}

export const withEstimate = (limits: TenantSnapshot, change: Partial<EstimatorState>): TenantSnapshot => ({
  ...limits,
  buckets: limits.buckets.map((bucket, nth) =>
    nth > 0 ? bucket : { ...bucket, estimator: { ...bucket.estimator, ...change } }
  )
})

/** The limits as a process with this knowledge writes them. */
export const limitsOf = (now: number, { isShared = false, left, limit, operations = ["a"], perSecond }: Known) => {
  const strategy = Adaptive.make()
  for (const operation of operations) {
    const reading = {
      isRateLimited: false,
      isServed: true,
      limit,
      remaining: limit - 1,
      untilFull: 1,
      date: 0,
      pause: undefined,
      isPauseCut: false
    }
    strategy.settle(strategy.start(strategy.stateOf(callOf(operation)), now - 10, false), reading, now)
  }
  return withEstimate(exportTenant(strategy.tenantOf(tenant)), {
    level: left,
    reported: left,
    netRate: perSecond / 1000,
    provenRate: perSecond / 1000,
    isShared
  })
}

/** Another member, which does nothing. */
export const member = (
  now: number,
  { buckets = {}, operations = {}, ...more }: Partial<Omit<Member, "inFlight">> & Partial<Member["inFlight"]> = {}
): Member => ({ seenAt: now, waiting: 0, waitingSince: now, blocked: [], ...more, inFlight: { operations, buckets } })

export type Members = (now: number) => Readonly<Record<string, Member>>

/** Several members that are alike. */
export const members = (ids: string, of: (now: number) => Member = member): Members => (now) =>
  Object.fromEntries(Array.from(ids, (id) => [id, of(now)]))

export const nobody: Members = () => ({})

/** Writes what another process knows now. */
export const left = (store: Store, known: Known, members: Members = nobody) =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (now) => store.put({ writtenAt: now, members: members(now), limits: limitsOf(now, known) })
  )

/** A response with rate-limit headers. */
export const respond = (limit: number, remaining: number, untilFull: number, more: Record<string, string> = {}) =>
  Effect.map(Clock.currentTimeMillis, (now): RateLimiter.LimitedResponse => ({
    status: more["retry-after"] === undefined ? 200 : 429,
    headers: Headers.fromInput({
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(remaining),
      "x-ratelimit-reset": String(Math.floor(now / 1000) + untilFull),
      "date": new Date(now).toUTCString(),
      ...more
    })
  }))

export const noResponse: Effect.Effect<RateLimiter.LimitedResponse | undefined> = Effect.succeed(undefined)

export const acquire = (limiter: Limiter, which = call): Effect.Effect<Permits.Permit, RateLimited> =>
  Permits.start(limiter, which)

/** Calls that have begun. */
export interface Calls {
  /** The milliseconds after which each got its permit. */
  readonly times: ReadonlyArray<number>
  /** Ends the first call that has not ended. */
  readonly settle: (response?: RateLimiter.LimitedResponse) => Effect.Effect<void>
}

/** Begins a number of calls. None ends by itself. */
export const begin = (limiter: Limiter, count: number, which = call): Effect.Effect<Calls, never, Scope.Scope> =>
  Effect.gen(function*() {
    const from = yield* Clock.currentTimeMillis
    const times: Array<number> = []
    const permits: Array<Permits.Permit> = []
    const one = Effect.flatMap(acquire(limiter, which), (permit) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        times.push(now - from)
        permits.push(permit)
      }))
    yield* Effect.forEach(Array.from({ length: count }), () => Effect.forkScoped(one), { discard: true })
    return {
      times,
      settle: (response) => Effect.suspend(() => permits.shift()?.settle(response) ?? Effect.dieMessage("no permit"))
    }
  })

/** Makes a call that takes `millis` milliseconds. */
export const exchange = (
  limiter: Limiter,
  response: Effect.Effect<RateLimiter.LimitedResponse | undefined>,
  which = call,
  millis = 5
) => Effect.flatMap(acquire(limiter, which), ({ settle }) => Effect.flatMap(Effect.delay(response, millis), settle))

/** The number of calls that start at once in a new process that is alone: fewer where other clients use the bucket. */
export const startsAtOnce = (store: Store): Effect.Effect<number, InvalidInput> =>
  Effect.scoped(Effect.gen(function*() {
    yield* store.put({ ...yield* store.snapshot, members: {} })
    const { times } = yield* begin(yield* makeProcess(store), 100)
    yield* Effect.sleep(20)
    return times.length
  }))

/** The same where a process has left this knowledge. */
export const startsAfter = (known: Known): Effect.Effect<number, InvalidInput> =>
  Effect.flatMap(makeStore, (store) => Effect.zipRight(left(store, known), startsAtOnce(store)))

/** The calls left in the bucket of the first operation, as a process knows it. */
export const remaining = (limiter: Limiter) => Effect.map(limiter.status, ([status]) => status?.remaining)

/** The calls in flight of each member, by operation. */
export const operationsInFlight = ({ members }: FleetSnapshot) =>
  Object.values(members).map(({ inFlight }) => inFlight.operations)

/** A bucket with many calls left, which hardly refills. */
export const many: Known = { limit: 100, left: 50, perSecond: 0.01 }

/** A service with one bucket, by the current clock. */
export const bucket = (burst: number, perSecond: number) => {
  let [level, at, refused, served] = [burst, 0, 0, 0]
  const ask = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    level = Math.min(burst, level + (at === 0 ? 0 : now - at) * perSecond / 1000)
    at = now
    const isRefused = level < 1
    if (isRefused) refused++
    else {
      served++
      level--
    }
    return respond(
      burst,
      Math.max(0, Math.floor(level)),
      Math.ceil((burst - level) / perSecond),
      isRefused ? { "retry-after": "1" } : {}
    )
  })
  return { ask, refused: () => refused, served: () => served }
}

/** A logger that keeps the messages. */
export const warnings = () => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
  return { lines, logger: Logger.replace(Logger.defaultLogger, logger) }
}

/** The warning about a stored value of another version or shape. */
export const ignoredWarning =
  `the shared store's value of ${key} was stored by another version of this library or is damaged; ignoring it`
