/**
 * Supplies access tokens: one of your own, from an effect, or by OAuth 2.0 client credentials, where the client proves itself by a
 * secret, a private key or a client certificate.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { InvalidInput, TokenError } from "./Errors.js"
import { withCurrentServices } from "./internal/runtime/fiber.js"
import * as Methods from "./internal/token/authenticationMethods.js"
import * as Cache from "./internal/token/cache.js"
import { dated, type IssuedToken } from "./internal/token/issuedToken.js"
import type * as Sharing from "./internal/token/sharing.js"

/**
 * The service that supplies tokens (contract: Authentication). It runs in a fiber of its own: a `FiberRef` that it sets keeps its value
 * for its caller, as many calls share one token.
 * @since 0.1.0 @category tags
 */
export class TokenProvider extends Context.Tag("effect-identity-client/TokenProvider")<TokenProvider, Cache.Tokens>() {}

/**
 * Shares tokens with other processes. `Fleet.layerTokensWith` provides it to the layers of this module; without it, each process requests
 * its own tokens.
 * @since 0.1.0 @category tags
 */
export class TokenSharing extends Context.Tag("effect-identity-client/TokenSharing")<TokenSharing, Sharing.Share>() {}

export type { AccessToken, IssuedToken } from "./internal/token/issuedToken.js"

export type { ClientCredentials, MutualTls, PrivateKeyJwt } from "./internal/token/authenticationMethods.js"
export type { TokenClient } from "./internal/token/tokenRequest.js"
export type { Sign, SigningAlgorithm, SigningKey } from "./internal/token/signingKey.js"

/**
 * Makes a provider that caches the tokens that `request` issues. One request at a time is under way, in the scope of the
 * provider; interrupting a caller does not interrupt it. From 80 % of its lifetime on a token is renewed in the
 * background. It is no longer used shortly before it expires (10 % of the lifetime, at most 30 s). A failure is given
 * again only while the token endpoint asks for a pause (`Retry-After`, up to 15 minutes).
 * @since 0.1.0 @category constructors
 */
export const make = (
  request: Effect.Effect<IssuedToken, TokenError>
): Effect.Effect<Context.Tag.Service<TokenProvider>, never, Scope.Scope> => Cache.make({ request: dated(request) })

/**
 * Supplies one token of your own. It is sent until the program ends, even after the service refused it.
 * @since 0.1.0 @category layers
 */
export const layerBearer = (token: Redacted.Redacted): Layer.Layer<TokenProvider> =>
  Layer.succeed(TokenProvider, {
    get: Object.assign(Effect.succeed(token), { peek: () => token }),
    invalidate: () => Effect.void
  })

/** Supplies one token of your own, from a `Config`. @since 0.1.0 @category layers */
export const layerBearerConfig = (
  token: Config.Config<Redacted.Redacted>
): Layer.Layer<TokenProvider, ConfigError.ConfigError> => Layer.unwrapEffect(Effect.map(token, layerBearer))

/** Makes a provider whose tokens are shared as `TokenSharing` does, if it is provided. */
const makeShared = (client: Sharing.Client | undefined, request: Effect.Effect<IssuedToken, TokenError>) =>
  Effect.gen(function*() {
    const share = Option.getOrUndefined(yield* Effect.serviceOption(TokenSharing))
    if (share === undefined) return yield* make(request)
    if (client !== undefined) return yield* Cache.make(yield* share(client, dated(request)))
    yield* Effect.logWarning("the tokens of TokenProvider.layerEffect are NOT shared by the fleet: set its option name")
    return yield* make(request)
  })

/**
 * Supplies tokens from an effect. It runs when a token is needed, and its tokens are cached as `make` describes. In a fleet
 * (`Fleet.layerTokensWith`), processes with the same `name` share their tokens; without a name they share none, and a warning is logged.
 * @since 0.1.0 @category layers @example `TokenProvider.layerEffect(Effect.map(readSecret, (token) => ({ token })))`
 */
export const layerEffect = <R>(
  request: Effect.Effect<IssuedToken, TokenError, R>,
  { name }: { readonly name?: string | undefined } = {}
): Layer.Layer<TokenProvider, never, R> =>
  Layer.scoped(
    TokenProvider,
    Effect.flatMap(
      withCurrentServices(request),
      (request) => makeShared(name === undefined ? undefined : { name: `effect:${name}` }, request)
    )
  )

/** Makes the layer of a token request. */
const layerRequest = <Options>(
  caller: string,
  options: Options,
  method: Methods.Method<Options>
): Layer.Layer<TokenProvider, InvalidInput, HttpClient.HttpClient> =>
  Layer.scoped(
    TokenProvider,
    Effect.flatMap(
      method(caller, options),
      ({ identity, request, tenant }) => makeShared({ tenant, identity }, request)
    )
  )

/**
 * Supplies tokens by OAuth 2.0 client credentials and caches them as `make` describes. A request is made up to three
 * times: if no response arrives within 10 s, or one with 429 or 5xx whose `Retry-After` is at most 60 s. Fails with
 * `InvalidInput` if the address or the path is not valid, or would send the secret unencrypted.
 * @since 0.1.0 @category layers
 */
export const layerClientCredentials = (options: Methods.ClientCredentials) =>
  layerRequest("TokenProvider.layerClientCredentials", options, Methods.clientSecret)

/** Supplies tokens by OAuth 2.0 client credentials, with each setting from a `Config`. @since 0.1.0 @category layers */
export const layerClientCredentialsConfig = (options: Config.Config.Wrap<Methods.ClientCredentials>) =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerClientCredentials))

/**
 * `layerClientCredentials` with a private key instead of a secret (RFC 7523). Each attempt sends a new assertion: a JSON Web Token
 * that is valid for a minute. If the token endpoint refuses one and its `Date` is more than 5 s off the local clock, the next is
 * dated by the service's clock. Otherwise the next of `fallbackKeys` signs, or the same key once more. The key that was accepted
 * instead of the first is remembered, and a warning is logged once. Fails with `InvalidInput` if a key does not fit: an encrypted
 * one, a public one, another type than RSA, less than 2048 bits, another algorithm.
 * @since 0.1.0 @category layers
 */
export const layerPrivateKeyJwt = (options: Methods.PrivateKeyJwt) =>
  layerRequest("TokenProvider.layerPrivateKeyJwt", options, Methods.privateKeyJwt)

/** `layerPrivateKeyJwt` with each setting from a `Config`. @since 0.1.0 @category layers */
export const layerPrivateKeyJwtConfig = (options: Config.Config.Wrap<Methods.PrivateKeyJwt>) =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerPrivateKeyJwt))

/**
 * `layerClientCredentials` with a client certificate instead of a secret (RFC 8705): only the client's identifier is sent. The
 * `HttpClient` has the certificate, for example `Node.layerHttpClientWith({ connect: { cert, key } })`. Provide the same one to the
 * client, because the service may accept the token only from connections with this certificate.
 * @since 0.1.0 @category layers
 */
export const layerMutualTls = (options: Methods.MutualTls) =>
  layerRequest("TokenProvider.layerMutualTls", options, Methods.mutualTls)

/** `layerMutualTls` with each setting from a `Config`. @since 0.1.0 @category layers */
export const layerMutualTlsConfig = (options: Config.Config.Wrap<Methods.MutualTls>) =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerMutualTls))
