/**
 * A program that imports every module of the package. `npm run test:pack` compiles it with old and new compilers and runs it. Its exports
 * have inferred types, which its declaration file must be able to name.
 */
import { type HttpClient, KeyValueStore } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Layer, Option, Redacted, Schema, Stream } from "effect"
import {
  type ActionVersion,
  createUsersExport,
  deleteEventStream,
  type Endpoint,
  Errors,
  IdentityClient,
  listActionVersions,
  Operation,
  Pagination,
  RateLimiter,
  redeliverEvent,
  Redelivery,
  Retry,
  Timestamp,
  TokenProvider,
  updateTokenExchangeProfile,
  type UsersExportJob
} from "effect-identity-client"
import * as Fleet from "effect-identity-client/Fleet"
import * as Node from "effect-identity-client/Node"
import * as Redis from "effect-identity-client/Redis"
import * as Tenant from "effect-identity-client/Tenant"
import * as Testing from "effect-identity-client/Testing"

const { actions: [action], profiles: [profile], streams: [stream] } = Tenant.demo
const { full } = Tenant.demoClients

/** Compiles only if both types are equal. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const same: <A, B>(...fault: Same<A, B> extends true ? [] : [expected: B, found: A]) => void = () => {}

export class Gone extends Errors.statusError("Gone", 410) {}

export const getEventStream = Operation.make("getEventStream", () => ({
  method: "GET",
  path: "/event-streams/:id",
  params: { id: Schema.String },
  success: Schema.Struct({ id: Schema.String }),
  scope: "read:event_streams",
  idempotent: true,
  error: [Gone, Errors.RateLimited]
}))

export const redeliver = (id: string) =>
  redeliverEvent({ id: stream.id, event_id: id }).pipe(
    Effect.as("accepted"),
    Effect.catchTags({
      NotFound: ({ status }) => Effect.succeed(`${status satisfies 404}`),
      Conflict: ({ status }) => Effect.succeed(`${status satisfies 409}`)
    })
  )
type Left =
  | Errors.BadRequest
  | Errors.Unauthorized
  | Errors.InsufficientScope
  | Errors.Forbidden
  | Errors.RateLimited
  | Errors.ClientError
same<Effect.Effect.Error<ReturnType<typeof redeliver>>, Left>()
same<Effect.Effect.Error<ReturnType<typeof getEventStream>>, Gone | Errors.RateLimited | Errors.ClientError>()
same<Effect.Effect.Context<ReturnType<typeof redeliver>>, IdentityClient.IdentityClient>()

export const versions = Pagination.stream(listActionVersions, { actionId: action.id })
same<Stream.Stream.Success<typeof versions>, ActionVersion>()

export const built = (version: ActionVersion) =>
  Option.flatMap(Option.fromNullable(version.built_at), Timestamp.toDateTime)

export const redelivered = Redelivery.run(stream.events.map(({ id }) => id), { stream: stream.id, dryRun: true })

export const program = Effect.gen(function*() {
  const job: UsersExportJob = yield* createUsersExport({ format: "csv" })
  const endpoints: ReadonlyArray<Endpoint.Any> = [createUsersExport.endpoint, getEventStream.endpoint]
  const live = yield* Stream.runHead(Stream.filter(versions, ({ deployed }) => deployed === true))
  const due = yield* Stream.runCount(redelivered)
  yield* updateTokenExchangeProfile({ id: profile.id, name: "Consumer" }).pipe(
    Retry.withoutRetries,
    RateLimiter.withBackground
  )
  yield* Effect.flip(Effect.catchTag(redeliver("evt"), "InvalidInput", ({ issues }) => Effect.fail(issues.length)))
  const { response } = yield* IdentityClient.withResponse(deleteEventStream({ id: stream.id }))
  const status = Option.map(response, (info: IdentityClient.ResponseInfo) => info.status)
  const built_ = Option.isSome(Option.flatMap(live, built))
  yield* Console.log(job.status, endpoints.length, built_, due, Option.getOrNull(status))
})

const options: IdentityClient.Options = { domain: "tenant.example.com" }
const credentials: TokenProvider.ClientCredentials = {
  domain: "tenant.example.com",
  clientId: full.id,
  clientSecret: full.secret
}
const transport: Node.TransportOptions = { connections: 4 }
const redis: Redis.Options = { url: Redacted.make("redis://127.0.0.1:6379") }
const seed: Tenant.Seed = Tenant.demo
const reply: Testing.Reply = Testing.reply({ body: { id: "est_1" } })

export const OverRedis = IdentityClient.layer(options).pipe(
  Layer.provide([Fleet.layerRateLimiter, TokenProvider.layerClientCredentials(credentials)]),
  Layer.provide(Fleet.layerTokensWith({})),
  Layer.provide(Redis.layerStore(redis)),
  Layer.provide(Node.layerHttpClientWith(transport))
)
same<typeof OverRedis, Layer.Layer<IdentityClient.IdentityClient, Errors.InvalidInput>>()

export const Mock = Testing.layer(Testing.handle(createUsersExport, () =>
  Effect.fail(
    new Errors.TransportError({
      operation: "createUsersExport",
      outcome: "not-sent",
      message: "no network"
    })
  )))
export const Scripted: Layer.Layer<HttpClient.HttpClient | Testing.Requests> = Testing.layerHttp(reply)
export const Journal: Effect.Effect<Redelivery.Journal, unknown> = Effect.provide(
  KeyValueStore.KeyValueStore,
  KeyValueStore.layerMemory
)
export const FromConfig = IdentityClient.layerConfig({ domain: Config.string("IDENTITY_DOMAIN") })

export const IdentityLive = IdentityClient.layer(options).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerClientCredentials(credentials)),
  Layer.provide(Tenant.layerHttpClient),
  Layer.provide(Tenant.layerWith({ seed }))
)

program.pipe(Effect.provide(IdentityLive), NodeRuntime.runMain)
