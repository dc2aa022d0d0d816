/** Extras for Node: the leanest HTTP client, a journal in files, and the whole client configured by environment variables. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as ConfigError from "effect/ConfigError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { InvalidInput } from "./Errors.js"
import * as IdentityClient from "./IdentityClient.js"
import { Jobs } from "./jobs/jobs.js"
import * as LocalJobs from "./jobs/local.js"
import { type JobStoreError, type RunOptions, validateRunOptions } from "./jobs/model.js"
import type { Tenants } from "./jobs/tenants.js"
import * as Environment from "./node/environment.js"
import * as FileJobs from "./node/fileJobs.js"
import * as Journal from "./node/fileJournal.js"
import * as Transport from "./node/undiciClient.js"
import * as RateLimiter from "./RateLimiter.js"
import type * as Redelivery from "./Redelivery.js"

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
 * - `connect`: options of `tls.connect`, such as `ca`, `cert`, `key` and the key's `passphrase`
 * - `proxy`: the URL of a proxy, or the options of undici's `ProxyAgent`. Plain http for this machine does not go through it.
 *
 * Fails with `InvalidInput` if undici refuses the options, or TLS the key: encrypted without its passphrase, of another certificate.
 * Closing waits up to 5 s for running requests.
 * @since 0.1.0 @category layers
 */
export const layerHttpClientWith = (options: TransportOptions): Layer.Layer<HttpClient.HttpClient, InvalidInput> =>
  Layer.scoped(HttpClient.HttpClient, Transport.make("Node.layerHttpClientWith", options))

/** `layerHttpClientWith` with its defaults, which undici accepts. @since 0.1.0 @category layers */
export const layerHttpClient: Layer.Layer<HttpClient.HttpClient> = /* @__PURE__ */ Layer.orDie(
  /* @__PURE__ */ layerHttpClientWith({})
)

/**
 * Opens a journal for `Redelivery.run` in a directory of its own, which is created for this user only if it does not exist. Its
 * files are readable by this user only. Each entry is a file that is synced to disk before the run goes on, so it survives the loss of power. The directory
 * must be on a file system that shows a renamed file to every process at once: a local one, or NFS without attribute caching
 * (`noac`). With caching, runs on two machines may hold the journal at the same time.
 * @since 0.1.0 @category constructors
 */
export const journal = (directory: string): Effect.Effect<Redelivery.Journal, PlatformError> =>
  Effect.provide(Journal.make(directory), Layer.merge(NodeFileSystem.layer, NodePath.layer))

/** The settings of jobs in a directory. @since 0.1.0 @category models */
export interface JobsOptions extends RunOptions {
  /** The time after their end after which jobs are removed, with their lists and results (default 30 days). */
  readonly pruneAfter?: Duration.DurationInput | undefined
}

/**
 * Runs jobs in this process, and keeps them in a directory: they outlive the process. Jobs that an earlier process has left go on when the
 * layer is built. One process at a time has the directory: the next one waits until the holder's `lockExpiry` (default 15 s) has passed
 * without a sign of life, and the layer fails with `JobStoreError` if it sees one. A process that loses the directory to another one, since
 * it stood still for longer, sends nothing more: all operations fail with `JobStoreError`, and `awaitEnd` waits. The directory must be such as `journal` needs.
 *
 * Old jobs (`pruneAfter`) are removed when the layer is built, and each hour. A job that cannot be read, because its files are damaged or a
 * later version has written it, is logged and left alone, and the others go on; to submit it fails with `JobStoreError`.
 *
 * Everything about the jobs is in memory, too; of those that have ended, the results once they are read.
 * @since 0.1.0 @category layers
 */
export const layerJobs = (
  directory: string,
  options: JobsOptions = {}
): Layer.Layer<Jobs, InvalidInput | JobStoreError, Tenants> =>
  Layer.scoped(
    Jobs,
    Effect.gen(function*() {
      yield* validateRunOptions("Node.layerJobs", options)
      const keeper = yield* FileJobs.make(directory, options.lockExpiry ?? "15 seconds")
      return yield* LocalJobs.make(keeper, { ...options, pruneAfter: options.pruneAfter ?? "30 days" })
    })
  ).pipe(Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer)))

/** Settings of a client that the environment does not set. @since 0.1.0 @category models */
export type ConfigOptions = IdentityClient.Defaults & RateLimiter.Options & RateLimiter.KnownLimits

/**
 * Provides the client with rate limiter and connections, configured by environment variables: `IDENTITY_DOMAIN`, or
 * `IDENTITY_BASE_URL` (with the prefix `/api/v2`) and `IDENTITY_AUTH_URL`; and `IDENTITY_TOKEN`, or `IDENTITY_CLIENT_ID`,
 * optionally `IDENTITY_AUDIENCE` and `IDENTITY_TOKEN_PATH`, and one of
 *
 * - `IDENTITY_CLIENT_SECRET`
 * - `IDENTITY_PRIVATE_KEY` or `IDENTITY_PRIVATE_KEY_FILE`, optionally `IDENTITY_KEY_ID` and `IDENTITY_SIGNING_ALGORITHM`
 * - `IDENTITY_CLIENT_CERTIFICATE_FILE` and `IDENTITY_CLIENT_KEY_FILE`, with `IDENTITY_CLIENT_KEY_PASSPHRASE` if the key is encrypted;
 *   with another credential they only add the certificate to TLS
 *
 * It also provides what `Exports` needs beside the client: an `HttpClient`, without the client certificate, and a `FileSystem`.
 * In a server, set `maxWait`. Fails with a `ConfigError` that names what is missing, contradicts another variable or cannot be read, and with `InvalidInput`
 * for an invalid value or option.
 * @since 0.1.0 @category layers @example `Node.layerConfigWith({ maxWait: "10 seconds", timeout: "5 seconds" })`
 */
export const layerConfigWith = (
  options: ConfigOptions
): Layer.Layer<
  IdentityClient.IdentityClient | HttpClient.HttpClient | FileSystem.FileSystem,
  ConfigError.ConfigError | InvalidInput
> =>
  Layer.unwrapEffect(
    Effect.map(Environment.settings, ({ connections, options: address, tokens }) =>
      IdentityClient.layer({ ...options, ...address }).pipe(
        Layer.provide(RateLimiter.layerAdaptive(options)),
        Layer.provide(tokens),
        Layer.provide(layerHttpClientWith(connections))
      ))
  ).pipe(Layer.merge(layerHttpClient), Layer.merge(NodeFileSystem.layer))

/** `layerConfigWith` with its defaults. @since 0.1.0 @category layers */
export const layerConfig: ReturnType<typeof layerConfigWith> = /* @__PURE__ */ layerConfigWith({})
