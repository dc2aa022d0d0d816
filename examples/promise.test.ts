/** Calls operations from code with promises: one runtime for the process, and errors that keep their class. */
import { assert, it } from "@effect/vitest"
import { Effect, Either, Layer, ManagedRuntime } from "effect"
import { deleteEventStream, Errors, type IdentityClient, redeliverEvent } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"

const IdentityLive = Layer.provide(Tenant.layerClient, Tenant.layer)

// The recipe: build the runtime once, and dispose of it at the end. `IdentityLive` is your layer.
const runtime = ManagedRuntime.make(IdentityLive)

const call = async <A, E>(effect: Effect.Effect<A, E, IdentityClient.IdentityClient>): Promise<A> => {
  const result = await runtime.runPromise(Effect.either(effect))
  if (Either.isLeft(result)) throw result.left
  return result.right
}

// A caller: plain `try` and `catch`.
const redeliver = async (id: string, event_id: string): Promise<string> => {
  try {
    await call(redeliverEvent({ id, event_id }))
    return "accepted"
  } catch (error) {
    if (error instanceof Errors.Conflict) return "not in a failed state"
    throw error
  }
}

// The tests.
const { streams: [stream] } = Tenant.demo

it("keeps classes and tags of errors", async () => {
  assert.strictEqual(await redeliver(stream.id, stream.events[0].id), "accepted")
  assert.strictEqual(await redeliver(stream.id, stream.events[0].id), "not in a failed state")
  const error = await redeliver("short", stream.events[0].id).catch((error: unknown) => error)
  assert.instanceOf(error, Errors.InvalidInput)
  assert.strictEqual(error._tag, "InvalidInput")
  assert.instanceOf(error, Error)
})

it("disposing of the runtime closes the client", async () => {
  await runtime.dispose()
  const error = await call(deleteEventStream({ id: stream.id })).then(() => undefined, (error: unknown) => error)
  assert.isDefined(error)
})
