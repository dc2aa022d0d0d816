/** A worker that lists the versions of an action. It builds its layers for each request, which owns connections. */
import { FetchHttpClient } from "@effect/platform"
import { Config, ConfigProvider, Effect, Layer } from "effect"
import { IdentityClient, listActionVersions, RateLimiter, TokenProvider } from "effect-identity-client"

const IdentityLive = IdentityClient.layerConfig({ baseUrl: Config.string("IDENTITY_BASE_URL") }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerClientCredentialsConfig({
    authUrl: Config.string("IDENTITY_AUTH_URL"),
    clientId: Config.string("IDENTITY_CLIENT_ID"),
    clientSecret: Config.redacted("IDENTITY_CLIENT_SECRET")
  })),
  Layer.provide(FetchHttpClient.layer)
)

export default {
  fetch: (request: Request, env: Readonly<Record<string, string>>): Promise<Response> =>
    listActionVersions({ actionId: new URL(request.url).pathname.slice(1) }).pipe(
      Effect.map((page) => Response.json(page)),
      Effect.catchAll(({ _tag, message }) => Effect.succeed(Response.json({ _tag, message }, { status: 502 }))),
      Effect.provide(IdentityLive),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))),
      Effect.runPromise
    )
}
