/** This library as its users have it: the real limiter, tokens, retries and connections, all with their defaults but for known limits. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as library from "../../../src/index.js"
import * as Tenant from "../../../src/Tenant.js"
import { client } from "./client.js"

const { full } = Tenant.demoClients

client((origin, work, known) =>
  Effect.provide(
    work(library),
    library.IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
      Layer.provide(known === undefined ? library.RateLimiter.layer : library.RateLimiter.layerAdaptive(known)),
      Layer.provide(library.TokenProvider.layerClientCredentials({
        authUrl: origin,
        clientId: full.id,
        clientSecret: full.secret
      })),
      Layer.provide(NodeHttpClient.layerUndici),
      Layer.orDie
    )
  )
)
