/** What the processes of a cluster have in common: the database, and a client for each tenant. */
import { PgClient } from "@effect/sql-pg"
import { Config, Layer } from "effect"
import { IdentityClient, TokenProvider } from "effect-identity-client"
import * as Cluster from "effect-identity-client/Cluster"
import * as Fleet from "effect-identity-client/Fleet"
import * as Jobs from "effect-identity-client/Jobs"
import * as Node from "effect-identity-client/Node"

// The database: of the jobs, of the cluster, and of what the runners share about limits and tokens.
// Its tables are created first.
export const DatabaseLive = Layer.effectDiscard(Cluster.migrations).pipe(
  Layer.provideMerge(PgClient.layerConfig({ url: Config.redacted("DATABASE_URL") }))
)

// A client for each tenant. All runners keep to its limits together, and share its token.
const clientOf = (baseUrl: string) =>
  IdentityClient.layer({ baseUrl }).pipe(
    Layer.provide(Fleet.layerRateLimiter),
    Layer.provide(TokenProvider.layerClientCredentialsConfig({
      authUrl: Config.succeed(new URL(baseUrl).origin),
      clientId: Config.string("IDENTITY_CLIENT_ID"),
      clientSecret: Config.redacted("IDENTITY_CLIENT_SECRET")
    })),
    Layer.provide(Fleet.layerTokensConfig({
      encryptionKey: Config.redacted("TOKEN_KEY") // 32 bytes in base64: `openssl rand -base64 32`
    }))
  )

// Here the name of a tenant is the URL of its interface.
export const TenantsLive = Jobs.layerTenants(clientOf).pipe(
  Layer.provide(Cluster.layerStore),
  Layer.provide(Node.layerHttpClient)
)
