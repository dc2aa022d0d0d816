/** For Node: a lean transport, and for scripts the whole client in one layer, set up by environment variables. */
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

/** How connections are held, in undici's own options; all times are in milliseconds. */
export interface TransportOptions extends Transport.Options {}

/**
 * HTTP over undici, a pool of connections for each origin. It is a client like any other of the platform's, and the one
 * that costs an `IdentityClient` least. Build it once.
 *
 * Its options are undici's, with undici's defaults but for these: `connections` (128 for each origin) and
 * `keepAliveMaxTimeout` (60 s, however much longer a server would keep one open). An idle connection is closed after
 * `keepAliveTimeout` (4 s), or `keepAliveTimeoutThreshold` (2 s) before the server says it would; one is made within
 * `connectTimeout` (10 s). `headersTimeout` and `bodyTimeout` (300 s each) are limits of silence; how long a call may take
 * is `IdentityClient.withTimeout`'s matter, and how much of an answer is read `maxBodySize`'s: `maxResponseSize` (none) is
 * for other users of the layer. `connect` holds `ca`, `cert` and `key`, `proxy` a URL or the options of undici's
 * `ProxyAgent`. It fails with `InvalidInput` if undici refuses them. Closing lets exchanges end for up to 5 s.
 */
export const layerHttpClient = (options: TransportOptions = {}): Layer.Layer<HttpClient.HttpClient, InvalidInput> =>
  Layer.scoped(HttpClient.HttpClient, Transport.make("Node.layerHttpClient", options))

/**
 * A journal for `Redelivery.run` in a directory of its own, which is made if there is none: a file for each event. The run
 * holds it by a file that names its process; after a crash the next run removes that, if the process is certainly dead.
 */
export const journal = (directory: string): Effect.Effect<Redelivery.Journal, PlatformError> =>
  Effect.provide(Journal.make(directory), Layer.merge(NodeFileSystem.layer, NodePath.layer))

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
      Layer.provide(layerHttpClient())
    )))
