/** This library as its users have it: the real limiter, tokens, retries and connections, all with their defaults but for known limits. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as library from "../../../src/index.js"
import { CeilingCounter } from "../../../src/internal/limiter/known/ceiling.js"
import * as Tenant from "../../../src/Tenant.js"
import { client } from "./client.js"

const { full } = Tenant.demoClients

/**
 * Tells when the limiter counts a call. Arrivals at the tenant tell less: the first requests of a process are up to a tenth of a
 * second on their way, later ones a millisecond, so more may arrive within ten seconds than started.
 */
const observe = (started: () => void): void => {
  const { start } = CeilingCounter.prototype
  CeilingCounter.prototype.start = function(now, calls) {
    started()
    return start.call(this, now, calls)
  }
}

client((origin, work, known, started) => {
  observe(started)
  return Effect.provide(
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
})
