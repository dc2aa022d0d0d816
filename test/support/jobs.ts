/** Jobs in memory over services of handlers, one for each tenant, and what their tests share. */
import { Chunk, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import type { IdentityClient } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import { stream } from "./redelivery.js"

/** Provides jobs whose tenants have these services. Other tenants have none. */
export const over = (
  tenants: Readonly<Record<string, { readonly layer: Layer.Layer<IdentityClient.IdentityClient> }>>,
  options: Jobs.RunOptions = {}
) =>
  Jobs.layerMemoryWith(options).pipe(
    Layer.provide(Jobs.layerTenants((tenant) => {
      const service = tenants[tenant]
      return service === undefined ? Layer.fail({ _tag: "NoTenant", message: `no tenant ${tenant}` }) : service.layer
    }))
  )

/** The identity and the stream of a redelivery. */
export const night = { tenant: "acme", key: "night", stream }

/** All elements of a stream. */
export const collected = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

/** Waits for the end of a job, in virtual time. */
export const ended = (id: string) =>
  Effect.gen(function*() {
    const { awaitEnd } = yield* Jobs.Jobs
    const fiber = yield* Effect.fork(awaitEnd(id))
    for (let step = 0; step < 500 && (yield* Fiber.poll(fiber))._tag === "None"; step++) {
      yield* TestClock.adjust("1 second")
    }
    return yield* Fiber.join(fiber)
  })
