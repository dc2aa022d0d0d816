/** The ways in which a client authenticates when it requests tokens, each with its settings. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { invalidSetting } from "../schema/issues.js"
import * as ClientAssertion from "./clientAssertion.js"
import * as ClientProof from "./clientProof.js"
import * as SigningKey from "./signingKey.js"
import * as TokenRequest from "./tokenRequest.js"

/** Settings for OAuth 2.0 client credentials (contract: Authentication). @since 0.1.0 @category models */
export type ClientCredentials = TokenRequest.TokenClient & {
  /** The client's secret. It is sent only to the token endpoint, in the request body. */
  readonly clientSecret: Redacted.Redacted
}

/** Settings for OAuth 2.0 client credentials with a private key instead of a secret (RFC 7523). @since 0.1.0 @category models */
export type PrivateKeyJwt = TokenRequest.TokenClient & SigningKey.SigningKey & {
  /** Further keys, to rotate keys: if the token endpoint refuses the first key, they are tried in this order. */
  readonly fallbackKeys?: ReadonlyArray<SigningKey.SigningKey> | undefined
  /** The audience of the assertions. Default: the URL of the authentication host with a slash, `https://{domain}/`. */
  readonly assertionAudience?: string | undefined
}

/** Settings for OAuth 2.0 client credentials with a client certificate instead of a secret (RFC 8705). @since 0.1.0 @category models */
export type MutualTls = TokenRequest.TokenClient

/** Makes the token request of a client. `caller` names the layer in `InvalidInput`. */
export type Method<Options> = (caller: string, options: Options) => ReturnType<typeof TokenRequest.make>

export const clientSecret: Method<ClientCredentials> = (caller, options) =>
  TokenRequest.make(caller, options, () =>
    ClientProof.hasSpaceAround(Redacted.value(options.clientSecret))
      ? invalidSetting(
        caller,
        "clientSecret",
        "expected no white space around it, such as the line break at the end of a file"
      )
      : Effect.succeed(ClientProof.bySecret(options.clientId, options.clientSecret)))

export const privateKeyJwt: Method<PrivateKeyJwt> = (caller, options) =>
  TokenRequest.make(caller, options, (tenant) =>
    Effect.gen(function*() {
      const { assertionAudience: audience = `${tenant}/`, clientId, fallbackKeys = [] } = options
      const first = yield* SigningKey.make(caller, "", options)
      const others = yield* Effect.forEach(fallbackKeys, (key, index) =>
        SigningKey.make(caller, `fallbackKeys[${index}].`, key))
      return ClientAssertion.make([first, ...others], { clientId, audience })
    }))

/** The tokens may be bound to the connection's certificate, so they are not those of a client with a secret. */
export const mutualTls: Method<MutualTls> = (caller, options) =>
  Effect.map(
    TokenRequest.make(caller, options, () => Effect.succeed(ClientProof.byConnection(options.clientId))),
    (made) => ({ ...made, identity: [...made.identity, "mutual TLS"] })
  )
