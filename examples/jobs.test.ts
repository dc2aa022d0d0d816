/** Jobs: a redelivery and an export that are submitted, watched, cancelled and resumed by their ids. */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Fiber, Layer, Schedule, Stream, TestClock } from "effect"
import { IdentityClient, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Jobs from "effect-identity-client/Jobs"
import * as Tenant from "effect-identity-client/Tenant"

const { demoClients: { full } } = Tenant
const { streams: [demo] } = Tenant.demo

// A client for each tenant, made when a job needs it.
const TenantsLive = Jobs.layerTenants((domain) =>
  IdentityClient.layer({ domain }).pipe(
    Layer.provide(RateLimiter.layer),
    Layer.provide(TokenProvider.layerClientCredentials({ domain, clientId: full.id, clientSecret: full.secret }))
  )
)

// The layers. `Node.layerJobs("jobs")` in place of `layerMemory` keeps the jobs in a directory.
const JobsLive = Jobs.layerMemory.pipe(
  Layer.provide(TenantsLive),
  Layer.provideMerge(Tenant.layerHttpClient), // for a real tenant: Node.layerHttpClient
  Layer.provideMerge(Tenant.layer)
)

// Two jobs. The second `submit` of a key is the same job: nothing starts twice.
const night = Jobs.redelivery({
  tenant: "tenant.example.com",
  key: "night of 16 January",
  stream: demo.id,
  events: demo.events.map(({ id }) => id) // or a stream of ids, or none and a `filter`
})

const users = Jobs.export({ tenant: "tenant.example.com", key: "users of Monday", input: { format: "json" } })

// Submits a job, and prints how far it is until it has ended.
const watched = (job: Jobs.Job) =>
  Effect.gen(function*() {
    const { awaitEnd, status, submit } = yield* Jobs.Jobs
    const id = yield* submit(job)
    const print = Effect.flatMap(
      status(id),
      ({ events: { left, total }, state }) => Console.log(`${id} is ${state}: ${total - left} of ${total} events`)
    )
    yield* Effect.fork(Effect.repeat(print, Schedule.spaced("5 seconds")))
    return yield* awaitEnd(id)
  })

// What became of each event. Read why a job failed before you resume it: `resume` may start an export twice.
const report = (id: string) =>
  Effect.gen(function*() {
    const { results, status } = yield* Jobs.Jobs
    yield* Stream.runForEach(results(id), ({ id, outcome }) => Console.log(`${id}: ${outcome}`))
    const { error, state } = yield* status(id)
    if (state === "failed") {
      yield* Console.error(`the job has failed: ${error?.message}; once the cause is gone, resume ${id}`)
    }
  })

// Tests.
const inVirtualTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    // Checking a token takes real time.
    const pause = Effect.promise(() => new Promise((resume) => setTimeout(resume, 10)))
    yield* TestClock.adjust("1 second").pipe(
      Effect.zipRight(pause),
      Effect.repeat({ until: () => fiber.unsafePoll() !== null })
    )
    return yield* Fiber.join(fiber)
  })

describe("jobs", () => {
  it.effect("redeliver each event once, however often they are submitted", () =>
    Effect.gen(function*() {
      const { id } = yield* inVirtualTime(watched(night))
      const status = yield* inVirtualTime(watched(night))
      assert.deepInclude(status, { id, state: "done" })
      assert.strictEqual(status.events.left, 0)
      yield* report(id)
      const { requests } = yield* Tenant.Tenant
      const sent = (yield* requests).filter(({ operation }) => operation === "redeliverEvent")
      assert.lengthOf(sent, demo.events.length)
    }).pipe(Effect.provide(JobsLive)))

  it.effect("are not resumed by a report of their failure", () =>
    Effect.gen(function*() {
      const { injectFault, requests } = yield* Tenant.Tenant
      // The request arrives, but its response is lost: whether there is an export is unknown.
      yield* injectFault({ operation: "createUsersExport", cut: "before", carriedOut: true })
      const { error, id, state } = yield* inVirtualTime(watched(users))
      assert.deepStrictEqual([state, error?._tag === "ExportError" && error.reason], ["failed", "unknown-start"])
      yield* inVirtualTime(report(id))
      const { status } = yield* Jobs.Jobs
      assert.strictEqual((yield* status(id)).state, "failed")
      assert.lengthOf((yield* requests).filter(({ operation }) => operation === "createUsersExport"), 1)
    }).pipe(Effect.provide(JobsLive)))

  it.effect("export the users once, and give their rows", () =>
    Effect.gen(function*() {
      const { rows } = yield* Jobs.Jobs
      const { id } = yield* inVirtualTime(watched(users))
      yield* inVirtualTime(watched(users))
      const all = yield* inVirtualTime(Stream.runCollect(rows(id)))
      assert.isAbove(all.length, 0)
      const { requests } = yield* Tenant.Tenant
      assert.lengthOf((yield* requests).filter(({ operation }) => operation === "createUsersExport"), 1)
    }).pipe(Effect.provide(JobsLive)))
})
