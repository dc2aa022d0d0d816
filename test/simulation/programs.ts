/** What simulated programs do: they build a client as a real program does, and make the calls of their plan. */
import { HttpClient } from "@effect/platform"
import { Cause, Context, Duration, Effect, type Exit, Fiber, Layer, Redacted, Stream } from "effect"
import * as Fleet from "../../src/Fleet.js"
import {
  createUsersExport,
  deleteEventStream,
  IdentityClient,
  listActionVersions,
  Pagination,
  RateLimiter,
  redeliverEvent,
  Redelivery,
  Retry,
  TokenProvider,
  updateTokenExchangeProfile
} from "../../src/index.js"
import type { Account } from "./account.js"
import type { Bounds } from "./bounds.js"
import { callJob, type JobSite } from "./jobs/programs.js"
import type { Life } from "./machine.js"
import { callHeader, journalHeader, type Network } from "./network.js"
import type { Permits } from "./permits.js"
import { type Call, countTenants, isJobCall, keyOfCall, type RedeliveryCall } from "./plan.js"
import { action, client, eventOf, looseStream, origins, profile, streamOf, versions } from "./service.js"
import type { Storage } from "./storage.js"
import { callAttribute } from "./telemetry.js"
import type { World } from "./world.js"

/**
 * Runs effects at once. Effect's concurrent functions, also `Fiber.joinAll`, hang if they are interrupted before their own first fiber
 * runs: a permuted order of fibers lets that happen, Effect's scheduler does not.
 */
export const together = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>): Effect.Effect<void, E, R> =>
  Effect.flatMap(Effect.forEach(effects, Effect.fork), Effect.forEach(Fiber.join, { discard: true }))

/** The parts of a simulation that all processes share. */
export interface Site {
  readonly world: World
  readonly network: Network
  readonly storage: Storage
  readonly account: Account
  readonly permits: Permits
  readonly bounds: Bounds
  /** Only if the processes run jobs. */
  readonly jobs: JobSite | undefined
}

/** An AES key for tokens in the shared store. */
const encryptionKey = Redacted.make(Buffer.alloc(32, 7).toString("base64"))

/** The client of the second tenant. */
class OtherClient extends Context.Tag("OtherClient")<OtherClient, IdentityClient.IdentityClient["Type"]>() {}

/** The clients of a process in one of its lives: one for each tenant, with one limiter and one store. */
export const clientLayer = ({ network, permits, storage, world }: Site, process: number, life: Life) => {
  const { ceilings, isFleet } = world.plan
  const http = Layer.succeed(HttpClient.HttpClient, network.clientOf(process, life))
  const store = storage.storeOf(process, life)
  const limits = { ceiling: ceilings }
  const limiter = Layer.map(
    isFleet ? Layer.provide(Fleet.layerRateLimiterWith(limits), store) : RateLimiter.layerAdaptive(limits),
    (context) =>
      Context.make(
        RateLimiter.RateLimiter,
        permits.counted(process, life, Context.get(context, RateLimiter.RateLimiter))
      )
  )
  const clientOf = (origin: string) => {
    const credentials = { authUrl: origin, clientId: client.id, clientSecret: client.secret }
    const own = TokenProvider.layerClientCredentials(credentials)
    const tokens = isFleet
      ? own.pipe(Layer.provide(Fleet.layerTokensWith({ encryptionKey })), Layer.provide(store))
      : own
    return IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
      Layer.provide(Layer.merge(tokens, limiter)),
      Layer.provide(http)
    )
  }
  const first = clientOf(origins[0])
  const other = countTenants(world.plan) > 1 ? clientOf(origins[1]) : first
  return Layer.merge(
    first,
    Layer.map(other, (context) => Context.make(OtherClient, Context.get(context, IdentityClient.IdentityClient)))
  )
}

const redeliver = ({ account, storage }: Site, key: string, process: number, life: Life, call: RedeliveryCall) => {
  const results = Redelivery.run(call.events.map(eventOf), {
    stream: streamOf(call.journal),
    journal: storage.journalOf(call.journal, process, life),
    concurrency: call.concurrency,
    lockExpiry: Duration.millis(call.lockExpiry)
  })
  return results.pipe(
    Stream.tap((result) => Effect.sync(() => account.result(key, call.journal, result))),
    Stream.runCount,
    Effect.tap((count) => account.counted(key, count, call.events.length)),
    IdentityClient.withHeaders({ [journalHeader]: String(call.journal) })
  )
}

const exchange = (
  site: Site,
  key: string,
  process: number,
  life: Life,
  call: Call
): Effect.Effect<unknown, { readonly _tag: string }, IdentityClient.IdentityClient> => {
  if (isJobCall(call)) {
    return site.jobs === undefined
      ? Effect.dieMessage("the plan has no jobs")
      : callJob(site.jobs, call)
  }
  switch (call.kind) {
    case "export":
      return createUsersExport({ format: "csv" })
    case "redeliver":
      return redeliverEvent({ id: streamOf(looseStream), event_id: eventOf(0) })
    case "update":
      return updateTokenExchangeProfile({ id: profile, name: key })
    case "list":
      return listActionVersions({ actionId: action })
    case "burst": {
      const { every = 0, of: kind = "list", times } = call
      const one = exchange(site, key, process, life, { ...call, kind })
      return together(Array.from({ length: times }, (_, nth) => every === 0 ? one : Effect.delay(one, nth * every)))
    }
    case "delete":
      return deleteEventStream({ id: streamOf(7) })
    case "pages":
      return Effect.tap(
        Stream.runCount(Pagination.stream(listActionVersions, { actionId: action })),
        (count) => site.account.counted(key, count, versions.length)
      )
    case "redelivery":
      return redeliver(site, key, process, life, call)
  }
}

interface Observer {
  readonly began: () => void
  readonly ended: (exit: Exit.Exit<unknown, unknown>) => void
}

/** Makes a call as its plan says. Its end, however it ends, goes to the account. */
export const makeCall = (site: Site, process: number, life: Life, call: Call, { began, ended }: Observer) => {
  const { account } = site
  const key = keyOfCall(process, call.id)
  const { after, background, interruptAfter, tenant, timeout, withoutRetries } = call
  const made = Effect.suspend(() => {
    began()
    return exchange(site, key, process, life, call)
  }).pipe(
    Effect.provideServiceEffect(
      IdentityClient.IdentityClient,
      Effect.flatMap(
        OtherClient,
        (other) => tenant === undefined ? IdentityClient.IdentityClient : Effect.succeed(other)
      )
    ),
    background === undefined ? (self) => self : RateLimiter.withBackground,
    withoutRetries === undefined ? (self) => self : Retry.withoutRetries,
    timeout === undefined ? (self) => self : IdentityClient.withTimeout(Duration.millis(timeout)),
    IdentityClient.withHeaders({ [callHeader]: key }),
    Effect.withSpan("program", { attributes: { [callAttribute]: key } }),
    Effect.onExit((exit) =>
      Effect.sync(() => {
        ended(exit)
        account.end(key, exit)
      })
    )
  )
  const limited = interruptAfter === undefined ? made : Effect.timeoutOption(made, Duration.millis(interruptAfter))
  return Effect.sleep(after).pipe(
    Effect.zipRight(Effect.when(limited, () => account.begin(key, call))),
    // Its program goes on with the next call, unless it is interrupted itself.
    Effect.catchAllCause((cause) => Cause.isInterruptedOnly(cause) ? Effect.interrupt : Effect.void)
  )
}
