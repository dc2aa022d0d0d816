/** How good a limiter is: what it makes of a server's limit, with many callers and nothing known in advance. */
import { Clock, Effect, Exit, Layer, Random } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  IdentityClient,
  listActionVersions,
  type RateLimiter,
  redeliverEvent,
  updateTokenExchangeProfile
} from "../../src/index.js"
import * as BucketServer from "./bucketServer.js"
import { baseUrl, bearer } from "./client.js"
import * as VirtualTime from "./virtualTime.js"

const id = "est_1234567890123456789012"

/** Calls to spread over the operations of a bucket, whatever they give. */
const [general, updates] = [
  [
    Effect.asVoid(createUsersExport({ format: "csv" })),
    Effect.asVoid(listActionVersions({ actionId: "910b1053-577f-4d81-a8c8-020e7319a38a" })),
    redeliverEvent({ id, event_id: "evt_1234567890123456789012" }),
    deleteEventStream({ id })
  ],
  [Effect.asVoid(updateTokenExchangeProfile({ id: "tep_1234567890123456", name: "renamed" }))]
] as const

/** A limit, and how many calls are to be made. */
interface Work {
  readonly size: BucketServer.Size
  readonly calls: number
}

/**
 * A bucket that refills, and a window for the same operations. Windows are a minute long, because the headers tell whole
 * seconds: of a window of one second they tell nothing.
 */
export interface Scenario {
  readonly name: string
  readonly refill: Work
  readonly window: Work
  readonly operations: typeof general | typeof updates
}

/** What is to be done on a server that counts so. */
const workOf = ({ refill, window }: Scenario, { kind }: Pick<BucketServer.Profile, "kind">): Work =>
  kind === "refill" ? refill : window

const perMinute = (burst: number): BucketServer.Size => ({ burst, interval: 60_000 / burst })

/** The buckets of the service: of a free tenant, of one in production, and of profile updates. */
export const scenarios: readonly [Scenario, Scenario, Scenario] = [
  {
    name: "2, 2/s",
    refill: { size: { burst: 2, interval: 500 }, calls: 60 },
    window: { size: perMinute(20), calls: 50 },
    operations: general
  },
  {
    name: "50, 16/s",
    refill: { size: { burst: 50, interval: 62.5 }, calls: 300 },
    window: { size: perMinute(200), calls: 500 },
    operations: general
  },
  {
    name: "5, 100/min",
    refill: { size: { burst: 5, interval: 600 }, calls: 60 },
    window: { size: perMinute(100), calls: 250 },
    operations: updates
  }
]

export const seeds: ReadonlyArray<number> = Array.from({ length: 20 }, (_, index) => index + 1)

/** How many fibers call at the same time. */
const callers = 50

/** What came of it. */
export interface Result {
  /** How many milliseconds it took until all calls were through. */
  readonly elapsed: number
  /** How many the bucket alone would have taken, from the first request on. */
  readonly needed: number
  /** The second as a share of the first; 0 if a call has failed, because then all of them never were. */
  readonly goodput: number
  readonly requests: number
  /** How many requests the server has turned away. */
  readonly refused: number
  /** How many calls have failed. */
  readonly failed: number
}

/** Runs a scenario in virtual time, on a server of its own, with one or more clients that do not know of each other. */
export const measure = <E>(
  scenario: Scenario,
  seed: number,
  limiter: (server: BucketServer.BucketServer) => Layer.Layer<RateLimiter.RateLimiter, E>,
  clients = 1
): Effect.Effect<Result> =>
  Effect.suspend(() => {
    const { operations } = scenario
    const profile = BucketServer.profileOf(seed)
    const { calls, size } = workOf(scenario, profile)
    const server = BucketServer.make(profile, size)
    const client = IdentityClient.layer({ baseUrl }).pipe(
      Layer.provide([Layer.fresh(limiter(server)), bearer, BucketServer.layer(server, seed)]),
      Layer.orDie
    )
    const share = Effect.forEach(
      Array.from({ length: calls / clients }),
      (_, nth) => Effect.exit(operations[nth % operations.length]!),
      { concurrency: callers }
    ).pipe(Effect.provide(client))
    const work = Effect.gen(function*() {
      const from = yield* Clock.currentTimeMillis
      const exits = yield* Effect.all(Array.from({ length: clients }, () => share), { concurrency: "unbounded" })
      return { elapsed: (yield* Clock.currentTimeMillis) - from, failed: exits.flat().filter(Exit.isFailure).length }
    }).pipe(Effect.withRandom(Random.make(seed)))
    return Effect.map(VirtualTime.run(work, { most: "1 hour" }), ({ elapsed, failed }) => {
      const needed = BucketServer.timeNeeded(profile, size, calls, server.seen[0]?.at ?? 0)
      return {
        elapsed,
        needed,
        goodput: failed === 0 ? needed / elapsed : 0,
        requests: server.seen.length,
        refused: server.seen.filter(({ status }) => status === 429).length,
        failed
      }
    })
  })

/** The least goodput and the largest share of 429 responses that a limiter may have. */
export const bounds = { goodput: 0.95, refusedShare: 0.01 }

/** The number of requests that may get a 429: a share of all, and at least one. */
export const refusalsAllowed = (requests: number): number => Math.max(1, Math.floor(requests * bounds.refusedShare))

/** Is true if a result keeps the bounds. */
export const isGood = ({ failed, goodput, refused, requests }: Result): boolean =>
  failed === 0 && goodput >= bounds.goodput && refused <= refusalsAllowed(requests)
