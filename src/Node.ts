/** For scripts on Node: the whole client in one layer, set up by environment variables. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { InvalidInput } from "./Errors.js"
import * as IdentityClient from "./IdentityClient.js"
import * as RateLimiter from "./RateLimiter.js"
import * as TokenProvider from "./TokenProvider.js"

/** A variable; set to nothing, it is not set. */
const variable = (name: string) => Config.nonEmptyString(`IDENTITY_${name}`)

const domain = variable("DOMAIN")

/** Where the tenant is. */
const options: Config.Config<IdentityClient.Options> = Config.orElse(
  Config.map(domain, (domain) => ({ domain })),
  () => Config.map(variable("BASE_URL"), (baseUrl) => ({ baseUrl }))
)

/** Who is calling, by a token or by client credentials. */
const tokens = Config.orElse(
  Config.map(Config.redacted(variable("TOKEN")), TokenProvider.layerBearer),
  () =>
    Config.map(
      Config.all({
        clientId: variable("CLIENT_ID"),
        clientSecret: Config.redacted(variable("CLIENT_SECRET")),
        audience: Config.withDefault(variable("AUDIENCE"), undefined),
        host: Config.orElse(
          Config.map(domain, (domain) => ({ domain })),
          () => Config.map(variable("AUTH_URL"), (authUrl) => ({ authUrl }))
        )
      }),
      ({ host, ...credentials }) => TokenProvider.layerClientCredentials({ ...credentials, ...host })
    )
)

/**
 * The client with its limiter and its connections. Where: `IDENTITY_DOMAIN`, or `IDENTITY_BASE_URL` (with the `/api/v2`)
 * and `IDENTITY_AUTH_URL`. Who: `IDENTITY_TOKEN`, or `IDENTITY_CLIENT_ID` and `IDENTITY_CLIENT_SECRET`, and if need be
 * `IDENTITY_AUDIENCE`. What is missing is a `ConfigError` that names it.
 */
export const layer: Layer.Layer<IdentityClient.IdentityClient, ConfigError.ConfigError | InvalidInput> = Layer
  .unwrapEffect(Effect.map(Config.all([options, tokens]), ([options, tokens]) =>
    IdentityClient.layer(options).pipe(
      Layer.provide(RateLimiter.layer),
      Layer.provide(tokens),
      Layer.provide(NodeHttpClient.layerUndici)
    )))
