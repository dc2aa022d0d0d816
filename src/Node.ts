/** For scripts on Node: the whole client in one layer, set up by environment variables. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { InvalidInput } from "./Errors.js"
import * as IdentityClient from "./IdentityClient.js"
import * as RateLimiter from "./RateLimiter.js"
import * as TokenProvider from "./TokenProvider.js"

/** A variable that need not be set; set to nothing, it is not set. */
const optional = <A>(config: Config.Config<A>) => Config.withDefault(config, undefined)

const variables = Config.all({
  domain: optional(Config.nonEmptyString("IDENTITY_DOMAIN")),
  token: optional(Config.redacted(Config.nonEmptyString("IDENTITY_TOKEN")))
})

const client = (domain: string | undefined) =>
  domain === undefined
    ? IdentityClient.layerConfig({ baseUrl: Config.nonEmptyString("IDENTITY_BASE_URL") })
    : IdentityClient.layer({ baseUrl: `https://${domain}/api/v2` })

const tokens = (domain: string | undefined, token: Redacted.Redacted | undefined) => {
  if (token !== undefined) return TokenProvider.layerBearer(token)
  const credentials = {
    clientId: Config.nonEmptyString("IDENTITY_CLIENT_ID"),
    clientSecret: Config.redacted(Config.nonEmptyString("IDENTITY_CLIENT_SECRET")),
    audience: optional(Config.nonEmptyString("IDENTITY_AUDIENCE"))
  }
  return domain === undefined
    ? TokenProvider.layerClientCredentialsConfig({
      ...credentials,
      authUrl: Config.nonEmptyString("IDENTITY_AUTH_URL")
    })
    : TokenProvider.layerClientCredentialsConfig({ ...credentials, domain: Config.succeed(domain) })
}

/**
 * The client with its limiter and its connections. Where: `IDENTITY_DOMAIN`, or `IDENTITY_BASE_URL` (with the `/api/v2`)
 * and `IDENTITY_AUTH_URL`. Who: `IDENTITY_TOKEN`, or `IDENTITY_CLIENT_ID` and `IDENTITY_CLIENT_SECRET`, and if need be
 * `IDENTITY_AUDIENCE`. What is missing is a `ConfigError` that names it.
 */
export const layer: Layer.Layer<IdentityClient.IdentityClient, ConfigError.ConfigError | InvalidInput> = Layer
  .unwrapEffect(Effect.map(variables, ({ domain, token }) =>
    client(domain).pipe(
      Layer.provide(RateLimiter.layer),
      Layer.provide(tokens(domain, token)),
      Layer.provide(NodeHttpClient.layerUndici)
    )))
