/** Tests of the clients of tenants: how long each is kept, and the failure where one cannot be made. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"
import * as Jobs from "../../src/Jobs.js"
import { service } from "../support/redelivery.js"

describe("the client of a tenant", () => {
  it.effect("is shared by jobs, and closed after 5 min without one", () => {
    const counts = { built: 0, closed: 0 }
    const layer = Layer.merge(
      service().layer,
      Layer.scopedDiscard(Effect.acquireRelease(
        Effect.sync(() => void counts.built++),
        () => Effect.sync(() => void counts.closed++)
      ))
    )
    return Effect.gen(function*() {
      const { client } = yield* Jobs.Tenants
      const use = Effect.scoped(client("acme"))
      const first = yield* use
      yield* TestClock.adjust("4 minutes")
      assert.strictEqual(yield* use, first)
      yield* TestClock.adjust("4 minutes")
      assert.deepStrictEqual(counts, { built: 1, closed: 0 })
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(counts, { built: 1, closed: 1 })
      yield* use
      assert.deepStrictEqual(counts, { built: 2, closed: 1 })
    }).pipe(Effect.provide(Jobs.layerTenants(() => layer)))
  })

  it.effect("that could not be made is a failure with the error of its layer, and is made again by the next job", () => {
    let builds = 0
    const jobs = Jobs.layerTenants(() =>
      Layer.unwrapEffect(
        Effect.suspend(() => ++builds === 1 ? Effect.fail("no network") : Effect.succeed(service().layer))
      )
    )
    return Effect.gen(function*() {
      const { client } = yield* Jobs.Tenants
      const error = yield* Effect.flip(Effect.scoped(client("acme")))
      assert.deepInclude(error, { _tag: "TenantFailure", error: "no network" })
      yield* Effect.scoped(client("acme"))
      assert.strictEqual(builds, 2)
    }).pipe(Effect.provide(jobs))
  })

  describe("that shares a layer with others", () => {
    /** Each client is made of one layer, whose first build does this. */
    const sharing = (first: Effect.Effect<void, string>) => {
      const counts = { builds: 0 }
      const shared = Layer.effectDiscard(Effect.suspend(() => ++counts.builds === 1 ? first : Effect.void))
      const layer = Layer.provideMerge(service().layer, shared)
      return { counts, jobs: Jobs.layerTenants(() => layer) }
    }

    it.effect("is made after the layer has failed, whichever tenant it is of", () => {
      const { counts, jobs } = sharing(Effect.fail("no network"))
      return Effect.gen(function*() {
        const { client } = yield* Jobs.Tenants
        const error = yield* Effect.flip(Effect.scoped(client("acme")))
        assert.deepInclude(error, { _tag: "TenantFailure", error: "no network" })
        for (const tenant of ["zeta", "acme"]) {
          const made = yield* Effect.scoped(client(tenant))
          assert.strictEqual(yield* Effect.scoped(client(tenant)), made)
        }
        yield* TestClock.adjust("10 hours")
        yield* Effect.scoped(client("other"))
        assert.isAtLeast(counts.builds, 2)
      }).pipe(Effect.provide(jobs))
    })

    it.effect("is made after the build of the layer was interrupted, whichever tenant it is of", () => {
      const { counts, jobs } = sharing(Effect.never)
      return Effect.gen(function*() {
        const { client } = yield* Jobs.Tenants
        const waiting = yield* Effect.fork(Effect.scoped(client("acme")))
        yield* TestClock.adjust("1 second")
        yield* Fiber.interrupt(waiting)
        yield* TestClock.adjust("6 minutes")
        for (const tenant of ["zeta", "acme"]) yield* Effect.scoped(client(tenant))
        assert.isAtLeast(counts.builds, 2)
      }).pipe(Effect.provide(jobs))
    })
  })
})
