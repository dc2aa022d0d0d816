/** All versions of an action, and all failed events of a stream: `npx tsx examples/streams.ts`. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Either, Layer, Stream } from "effect"
import {
  IdentityClient,
  listActionVersions,
  Pagination,
  RateLimiter,
  Redelivery,
  TokenProvider
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"

const { actions: [action], streams: [stream] } = Tenant.demo
const { full } = Tenant.demoClients

// Every version, until the live one is found.
const live = Pagination.stream(listActionVersions, { actionId: action.id }).pipe(
  Stream.filter((version) => version.deployed === true),
  Stream.runHead
)

// Every version that can be read; in place of one that cannot, why.
const readable = Pagination.streamEither(listActionVersions, { actionId: action.id, per_page: 2 }).pipe(
  Stream.runForEach(Either.match({
    onLeft: ({ message }) => Console.log(message),
    onRight: ({ number, status }) => Console.log(`#${number} is ${status}`)
  }))
)

// Every event, once.
const redelivered = Redelivery.run(stream.events.map(({ id }) => id), {
  stream: stream.id,
  stopWhen: ({ outcomes }) => outcomes.failed >= 10
}).pipe(
  Stream.runForEach(({ id, outcome }) => Console.log(`${id}: ${outcome}`))
)

// The rest is as always.
const IdentityLive = IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerClientCredentials({
    domain: "tenant.example.com",
    clientId: full.id,
    clientSecret: full.secret
  })),
  Layer.provide(Tenant.layerHttpClient),
  Layer.provide(Tenant.layer())
)

Effect.all([Effect.asVoid(live), readable, redelivered], { discard: true }).pipe(
  Effect.provide(IdentityLive),
  NodeRuntime.runMain
)
