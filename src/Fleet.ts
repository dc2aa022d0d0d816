/**
 * Subpath /Fleet: makes many processes one client of a tenant. They share permits and tokens in a store:
 * `SharedStore.layerMemory` within one process, `layerStore` of `/Redis`, or a store of your own (`SharedStore.layer`).
 */
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { InvalidInput } from "./Errors.js"
import * as Cipher from "./internal/fleet/encryption.js"
import * as SharedLimiter from "./internal/fleet/limiter.js"
import * as StoreTimeout from "./internal/fleet/storeTimeout.js"
import * as SharedToken from "./internal/fleet/token.js"
import * as Known from "./internal/limiter/known/options.js"
import { defaultReserve, make } from "./internal/limiter/queue.js"
import { invalidSetting } from "./internal/schema/issues.js"
import * as RateLimiter from "./RateLimiter.js"
import * as SharedStore from "./SharedStore.js"
import * as TokenProvider from "./TokenProvider.js"

export * as SharedStore from "./SharedStore.js"

/** Fails if a permit may arrive later than the interval in which a ceiling counts it. */
const requireQuickStore = ({ ceilings }: Known.ResolvedLimits) =>
  Effect.flatMap(
    SharedStore.SharedStore,
    ({ timeout }) =>
      ceilings.every(({ interval }) => interval >= StoreTimeout.requestMillis(timeout))
        ? Effect.void
        : invalidSetting(
          "Fleet.layerRateLimiterWith",
          "ceiling.interval",
          "expected at least a quarter of the timeout of the store"
        )
  )

const makeLimiter = (options: RateLimiter.Options, limits: Known.ResolvedLimits) =>
  Effect.gen(function*() {
    const store = yield* SharedStore.SharedStore
    const { serve, strategy } = yield* SharedLimiter.make(store, options.reserve ?? defaultReserve, limits)
    const { maxWait } = options
    // Whether a call has to wait is known only when the store has responded.
    const longest = maxWait === undefined ? undefined : Duration.max(maxWait, store.timeout)
    const limiter = yield* make(strategy, { ...options, maxWait: longest })
    yield* serve(limiter)
    return limiter
  })

/**
 * `RateLimiter.layerAdaptive` for a fleet: all processes whose layers have the same store share their permits and what they learn
 * of the limits. The store's clock counts. Processes that wait take turns. While the store is unavailable or slow, each process
 * goes on with its share of what it knew last. One layer serves any number of tenants. A `maxWait` below the store's `timeout` is
 * raised to it.
 *
 * A `ceiling` is the fleet's: all processes, which must set the same one, never exceed it together while all of them reach the
 * store. Permits count by the store's clock when they are granted, and their calls leave one request to the store later. When the
 * store becomes unavailable, and when it is back after longer than the ceiling's `interval`, the ceiling counts as used up; meanwhile
 * each process keeps to its share, at least one call. The processes do not lose the store at the same moment, so around an outage they
 * may together start up to twice as many calls. Fails with `InvalidInput` as `layerAdaptive` does, and if an `interval` is shorter than a quarter
 * of the store's `timeout`.
 * @since 0.1.0 @category layers
 */
export const layerRateLimiterWith = (
  options: RateLimiter.Options & RateLimiter.KnownLimits
): Layer.Layer<RateLimiter.RateLimiter, InvalidInput, SharedStore.SharedStore> =>
  Layer.scoped(
    RateLimiter.RateLimiter,
    Effect.flatMap(
      Known.resolve("Fleet.layerRateLimiterWith", options),
      (limits) => Effect.zipRight(requireQuickStore(limits), makeLimiter(options, limits))
    )
  )

/** `layerRateLimiterWith` with its defaults. @since 0.1.0 @category layers */
export const layerRateLimiter: Layer.Layer<RateLimiter.RateLimiter, never, SharedStore.SharedStore> =
  /* @__PURE__ */ Layer.scoped(
    RateLimiter.RateLimiter,
    /* @__PURE__ */ Effect.suspend(() => makeLimiter({}, Known.none))
  )

/** Settings of how tokens are stored. @since 0.1.0 @category models */
export interface Encryption {
  /**
   * An AES-256 key: 32 random bytes in base64. Several keys, separated by commas, serve to rotate them: the first encrypts, each
   * decrypts. It protects a token and its dates. A token older than one that a process has seen is ignored with a warning; a
   * process that has just started cannot tell. Without a key tokens are stored unencrypted, and a warning is logged.
   */
  readonly encryptionKey?: Redacted.Redacted | undefined
}

const makeSharing = ({ encryptionKey }: Encryption) =>
  Effect.gen(function*() {
    if (encryptionKey === undefined) {
      yield* Effect.logWarning(
        "tokens are stored UNENCRYPTED in the shared store: set encryptionKey to 32 random bytes in base64"
      )
    }
    const cipher = encryptionKey === undefined
      ? Cipher.none
      : yield* Cipher.make("Fleet.layerTokensWith", encryptionKey)
    const store = yield* SharedStore.SharedStore
    return TokenProvider.TokenSharing.of((client, request) =>
      Effect.flatMap(
        "name" in client
          ? Effect.succeed(client.name)
          : Effect.map(Cipher.digest(JSON.stringify(client.identity)), (digest) => `${client.tenant}:${digest}`),
        (name) => SharedToken.make(store, name, cipher, request)
      )
    )
  })

/**
 * Shares tokens in a fleet. It goes beneath any layer of `TokenProvider`, which then makes one token request for all processes with
 * the same store, host, client and audience, however the client authenticates. While one process requests a token, the others wait
 * for it, and for a second more if it dies. Failures are not shared. While the store is unavailable, each process requests its own
 * tokens. The connections of all processes must have the same client certificate, or none: a token may be bound to it.
 * @since 0.1.0 @category layers
 * @example `TokenProvider.layerClientCredentials(options).pipe(Layer.provide(Fleet.layerTokensWith({ encryptionKey })))`
 */
export const layerTokensWith = (
  options: Encryption
): Layer.Layer<TokenProvider.TokenSharing, InvalidInput, SharedStore.SharedStore> =>
  Layer.effect(TokenProvider.TokenSharing, makeSharing(options))

/** `layerTokensWith` with each setting from a `Config`. @since 0.1.0 @category layers */
export const layerTokensConfig = (options: Config.Config.Wrap<Encryption>) =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerTokensWith))
