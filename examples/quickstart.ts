/** The shortest complete program: operations, their typed errors, and the layers that they need. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import {
  createUsersExport,
  IdentityClient,
  listActionVersions,
  RateLimiter,
  redeliverEvent,
  TokenProvider
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"

const { actions: [action], streams: [stream] } = Tenant.demo

const program = Effect.gen(function*() {
  const job = yield* createUsersExport({ format: "csv", fields: [{ name: "email" }] })
  yield* Console.log(`export ${job.id} is ${job.status}`)

  const page = yield* listActionVersions({ actionId: action.id })
  yield* Console.log(`${page.total} versions, live: ${page.versions.find(({ deployed }) => deployed)?.number}`)

  yield* redeliverEvent({ id: stream.id, event_id: stream.events[3].id }).pipe(
    Effect.catchTags({
      NotFound: () => Console.log("that event is gone"),
      Conflict: () => Console.log("that event is not in a failed state"),
      InsufficientScope: (error) => Console.log(`grant one of: ${error.required.join(", ")}`)
    })
  )
})

const IdentityLive = IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerClientCredentials({
    domain: "tenant.example.com",
    clientId: Tenant.demoClients.full.id,
    clientSecret: Tenant.demoClients.full.secret
  })),
  Layer.provide(Tenant.layerHttpClient), // for a real tenant: NodeHttpClient.layerUndici, and no Tenant
  Layer.provide(Tenant.layer())
)

program.pipe(Effect.provide(IdentityLive), NodeRuntime.runMain)
