/** A redelivery run with a journal and its progress, and a test that resumes it. */
import { KeyValueStore } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Console, Effect, Layer, Stream } from "effect"
import { IdentityClient, RateLimiter, Redelivery, TokenProvider } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"

const { streams: [stream] } = Tenant.demo
const { id: clientId, secret: clientSecret } = Tenant.demoClients.full
const domain = "tenant.example.com"

// A run that can be resumed. On Node, `Node.journal("journal-of-this-stream")` makes a journal in files.
const redeliver = (ids: ReadonlyArray<string>, journal: Redelivery.Journal) =>
  Effect.gen(function*() {
    const progress = yield* Redelivery.makeProgress
    const report = progress.changes.pipe(
      Stream.debounce("1 second"),
      Stream.runForEach(({ done, outcomes, total = done }) =>
        Console.log(`${done} of ${total}, ${outcomes.failed} failed, ${outcomes.unknown} unknown`)
      )
    )
    yield* Effect.forkScoped(report)
    yield* Stream.runDrain(Redelivery.run(ids, { stream: stream.id, journal, progress }))
    return yield* progress
  }).pipe(Effect.scoped)

// Its test.
const TenantClient = IdentityClient.layer({ domain }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerClientCredentials({ domain, clientId, clientSecret })),
  Layer.provide(Tenant.layerHttpClient),
  Layer.provideMerge(Tenant.layer())
)

it.live("sends no event again that has a result", () =>
  Effect.gen(function*() {
    const journal = yield* Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerMemory)
    const [first, second] = stream.events.map(({ id }) => id)
    yield* redeliver([first!], journal)
    const { done, outcomes, recalled } = yield* redeliver([first!, second!], journal)
    assert.deepInclude({ done, recalled, accepted: outcomes.accepted }, { done: 2, recalled: 1, accepted: 2 })
    const { requests } = yield* Tenant.Tenant
    assert.deepStrictEqual((yield* requests).map(({ status }) => status), [200, 202, 202])
  }).pipe(Effect.provide(TenantClient)))
