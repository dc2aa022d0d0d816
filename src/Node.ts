/** Extras for Node: the leanest HTTP client, a journal in files, and the whole client configured by environment variables. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type { PlatformError } from "@effect/platform/Error"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { InvalidInput } from "./Errors.js"
import * as IdentityClient from "./IdentityClient.js"
import * as Journal from "./node/fileJournal.js"
import * as Transport from "./node/undiciClient.js"
import * as RateLimiter from "./RateLimiter.js"
import type * as Redelivery from "./Redelivery.js"
import * as TokenProvider from "./TokenProvider.js"

/** Reads a variable. An empty one counts as not set. */
const variable = (name: string) => Config.nonEmptyString(`IDENTITY_${name}`)

const domain = variable("DOMAIN")

/** The URL of the tenant. */
const options: Config.Config<IdentityClient.Options> = Config.orElse(
  Config.map(domain, (domain) => ({ domain })),
  () => Config.map(variable("BASE_URL"), (baseUrl) => ({ baseUrl }))
)

/** The tokens: one of the user's own, or those that client credentials obtain. */
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

/** Options of undici's connection pools. All times are in milliseconds. @since 0.1.0 @category models */
export interface TransportOptions extends Transport.PoolOptions {}

/**
 * Provides an `HttpClient` over undici, with a connection pool for each origin. Any program can use it; for an
 * `IdentityClient` it costs the least processor time. Build the layer once.
 *
 * The options are undici's own, with these defaults:
 *
 * - `connections`: 128 for each origin
 * - `connectTimeout`: 10 s
 * - `keepAliveTimeout`: 4 s. An idle connection is closed after that, or `keepAliveTimeoutThreshold` (2 s) before the end
 *   of the server's own keep-alive, but after `keepAliveMaxTimeout` (60 s) at the latest.
 * - `headersTimeout` and `bodyTimeout`: 300 s each without a byte. `IdentityClient.withTimeout` limits an attempt as a whole.
 * - `maxResponseSize`: no limit. `maxBodySize` limits what an `IdentityClient` reads.
 * - `connect`: options of `tls.connect`, such as `ca`, `cert` and `key`
 * - `proxy`: the URL of a proxy, or the options of undici's `ProxyAgent`. Plain http for this machine does not go through it.
 *
 * Fails with `InvalidInput` if undici refuses the options. Closing waits up to 5 s for running requests.
 * @since 0.1.0 @category layers
 */
export const layerHttpClient = (options: TransportOptions = {}): Layer.Layer<HttpClient.HttpClient, InvalidInput> =>
  Layer.scoped(HttpClient.HttpClient, Transport.make("Node.layerHttpClient", options))

/**
 * Opens a journal for `Redelivery.run` in a directory of its own, which is created for this user only if it does not exist. Its
 * files are readable by this user only. Each entry is a file that is synced to disk before the run goes on, so it survives the loss of power. The directory
 * must be on a file system that shows a renamed file to every process at once: a local one, or NFS without attribute caching
 * (`noac`). With caching, runs on two machines may hold the journal at the same time.
 * @since 0.1.0 @category constructors
 */
export const journal = (directory: string): Effect.Effect<Redelivery.Journal, PlatformError> =>
  Effect.provide(Journal.make(directory), Layer.merge(NodeFileSystem.layer, NodePath.layer))

/**
 * Provides the client with rate limiter and connections, configured by environment variables: `IDENTITY_DOMAIN`, or
 * `IDENTITY_BASE_URL` (with the prefix `/api/v2`) and `IDENTITY_AUTH_URL`; `IDENTITY_TOKEN`, or `IDENTITY_CLIENT_ID`,
 * `IDENTITY_CLIENT_SECRET` and optionally `IDENTITY_AUDIENCE`. Fails with a `ConfigError` that names a missing variable.
 * @since 0.1.0 @category layers
 */
export const layer: Layer.Layer<IdentityClient.IdentityClient, ConfigError.ConfigError | InvalidInput> = Layer
  .unwrapEffect(Effect.map(Config.all([options, tokens]), ([options, tokens]) =>
    IdentityClient.layer(options).pipe(
      Layer.provide(RateLimiter.layer),
      Layer.provide(tokens),
      Layer.provide(layerHttpClient())
    )))
