/**
 * The client of commands that send only idempotent requests. It runs over Node's own HTTP, which starts in half the time of undici
 * (`npm run bench:start`). Commands whose requests must be sent at most once use `Node.layerConfig`.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as IdentityClient from "../IdentityClient.js"
import * as Environment from "../node/environment.js"
import * as RateLimiter from "../RateLimiter.js"

export const layer = Layer.unwrapEffect(
  Effect.map(
    Environment.settings,
    ({ connections: { connect }, options, tokens }) =>
      IdentityClient.layer(options).pipe(
        Layer.provide(RateLimiter.layer),
        Layer.provide(tokens),
        Layer.provide(NodeHttpClient.layerWithoutAgent),
        Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: true, ...connect }))
      )
  )
)
