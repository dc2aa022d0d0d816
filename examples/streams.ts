/** Streams all versions of an action, and redelivers all events of a stream: `npx tsx examples/streams.ts`. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Either, Layer, Stream } from "effect"
import { listActionVersions, Pagination, Redelivery } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"

const { actions: [action], streams: [stream] } = Tenant.demo

// All versions, up to the deployed one.
const live = Pagination.stream(listActionVersions, { actionId: action.id }).pipe(
  Stream.filter((version) => version.deployed === true),
  Stream.runHead
)

// All versions; for an invalid one, the reason.
const readable = Pagination.streamEither(listActionVersions, { actionId: action.id, per_page: 2 }).pipe(
  Stream.runForEach(Either.match({
    onLeft: ({ message }) => Console.log(message),
    onRight: ({ number, status }) => Console.log(`#${number} is ${status}`)
  }))
)

// All events, each once.
const redelivered = Redelivery.run(stream.events.map(({ id }) => id), {
  stream: stream.id,
  stopAfter: 10 // failures; default: 50
}).pipe(
  Stream.runForEach(({ id, outcome }) => Console.log(`${id}: ${outcome}`))
)

// The layers of the client, with the embedded tenant as the service.
const IdentityLive = Layer.provide(Tenant.layerClient, Tenant.layer)

Effect.all([Effect.asVoid(live), readable, redelivered], { discard: true }).pipe(
  Effect.provide(IdentityLive),
  NodeRuntime.runMain
)
