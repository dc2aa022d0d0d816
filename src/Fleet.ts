/**
 * Subpath /Fleet: many processes that are one client of a tenant. What they share lies in a store: `SharedStore.layerMemory`
 * within one process, `layerStore` of `/Redis`, or one of your own (`SharedStore.layer`).
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { InvalidInput, TokenError } from "./Errors.js"
import * as Seal from "./internal/fleet/encryption.js"
import * as Shared from "./internal/fleet/limiter.js"
import * as SharedToken from "./internal/fleet/token.js"
import * as RateLimiter from "./RateLimiter.js"
import * as SharedStore from "./SharedStore.js"
import * as TokenProvider from "./TokenProvider.js"

export * as SharedStore from "./SharedStore.js"

/**
 * `RateLimiter.layerAdaptive` for a fleet: all processes whose layer has the same store are one client together. What the
 * answers tell any of them all know, calls are counted once, by the store's clock, and go round among the processes that
 * wait. While the store is away, or slow, each goes on by itself with its share of what was known last. It serves any number
 * of tenants. A `maxWait` that is shorter than the store's `patience` counts as that.
 */
export const layerRateLimiter = (
  options: RateLimiter.Options = {}
): Layer.Layer<RateLimiter.RateLimiter, never, SharedStore.SharedStore> =>
  Layer.scoped(
    RateLimiter.RateLimiter,
    Effect.gen(function*() {
      const store = yield* SharedStore.SharedStore
      const { serve, source } = yield* Shared.make(store, options.reserve ?? RateLimiter.share)
      const { maxWait } = options
      // Without an answer of the store it is not known whether a call has to wait at all.
      const longest = maxWait === undefined ? undefined : Duration.max(maxWait, store.delay)
      return yield* RateLimiter.make(source, { ...options, maxWait: longest }, serve)
    })
  )

/** How tokens rest in a shared store. */
export interface Encryption {
  /**
   * An AES-256 key: 32 bytes in base64. Several, with commas between them, for a change of keys: the first encrypts, each
   * decrypts what it has encrypted. Without one tokens rest as they are, of which a warning tells.
   */
  readonly encryptionKey?: Redacted.Redacted | undefined
}

const sealOf = (operation: string, { encryptionKey }: Encryption): Effect.Effect<Seal.Seal, InvalidInput> =>
  encryptionKey === undefined
    ? Effect.as(
      Effect.logWarning("tokens rest UNENCRYPTED in the shared store: set encryptionKey, 32 random bytes in base64"),
      Seal.none
    )
    : Seal.make(operation, "encryptionKey", encryptionKey)

/**
 * `TokenProvider.layerClientCredentials` for a fleet: one token request for all processes whose layer has the same store, host, client and
 * audience. Who needs a token while another process asks for one waits for that, and for a second more if that one dies.
 * Failures are not shared. While the store is away, each process asks for itself.
 */
export const layerClientCredentials = (
  options: TokenProvider.ClientCredentials & Encryption
): Layer.Layer<TokenProvider.TokenProvider, InvalidInput, HttpClient.HttpClient | SharedStore.SharedStore> =>
  Layer.scoped(
    TokenProvider.TokenProvider,
    Effect.gen(function*() {
      const operation = "Fleet.layerClientCredentials"
      const { identity, request, tenant } = yield* TokenProvider.clientCredentials(operation, options)
      const seal = yield* sealOf(operation, options)
      const name = `${tenant}:${yield* Seal.digest(JSON.stringify(identity))}`
      return yield* TokenProvider.keeping(yield* SharedToken.make(yield* SharedStore.SharedStore, name, seal, request))
    })
  )

/** `layerClientCredentials`, with settings from a `Config` each. */
export const layerClientCredentialsConfig = (
  options: Config.Config.Wrap<TokenProvider.ClientCredentials & Encryption>
): Layer.Layer<
  TokenProvider.TokenProvider,
  InvalidInput | ConfigError.ConfigError,
  HttpClient.HttpClient | SharedStore.SharedStore
> => Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerClientCredentials))

/** `TokenProvider.layerEffect` for a fleet: the processes whose layers have the same store and `name` share what one of them is issued. */
export const layerEffect = <R>(
  request: Effect.Effect<TokenProvider.IssuedToken, TokenError, R>,
  options: Encryption & { readonly name: string }
): Layer.Layer<TokenProvider.TokenProvider, InvalidInput, R | SharedStore.SharedStore> =>
  Layer.scoped(
    TokenProvider.TokenProvider,
    Effect.gen(function*() {
      const context = yield* Effect.context<R>()
      const seal = yield* sealOf("Fleet.layerEffect", options)
      const asked = Effect.provide(request, context)
      return yield* TokenProvider.keeping(
        yield* SharedToken.make(yield* SharedStore.SharedStore, `effect:${options.name}`, seal, asked)
      )
    })
  )
