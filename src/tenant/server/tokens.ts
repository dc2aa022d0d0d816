/** Issues access tokens to the tenant's clients and verifies them; they are JWTs that only the tenant can sign. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Jose from "jose"
import { omittable } from "../../Schemas.js"
import * as ClientAuthentication from "./clientAuthentication.js"
import { randomId } from "./randomId.js"
import { failure, oauthFailure, type PlainResponse, tokenEndpointResponse } from "./response.js"

type AnyClient = ClientAuthentication.Client | ClientAuthentication.ClientWithoutSecret

/** A key that signs tokens, and verifies them. */
type SigningKey = Jose.CryptoKey | Uint8Array

/** A token that the issuer has signed; not the token itself. */
export interface IssuedToken {
  /** Its `jti`. */
  readonly id: string
  readonly client: AnyClient
  /** In milliseconds since 1970, as `expiresAt` is. */
  readonly issuedAt: number
  readonly expiresAt: number
  readonly revoked: boolean
}

export interface TokenIssuer {
  /** Responds to a request at the token endpoint. */
  readonly issue: (
    parameters: unknown,
    connection: ClientAuthentication.Connection
  ) => Effect.Effect<PlainResponse>
  /** Gives the client that a token was issued to, or fails with the service's error response. */
  readonly verify: (authorization: string | undefined) => Effect.Effect<AnyClient, PlainResponse>
  /** Issues a token to a client without proof of it; `undefined` if there is no such client. */
  readonly issueFor: (clientId: string) => Effect.Effect<readonly [token: string, IssuedToken] | undefined>
  /** The newest tokens that were issued, the oldest first. */
  readonly all: Effect.Effect<ReadonlyArray<IssuedToken>>
  /** Revokes the tokens that are selected (default: all), and gives their number. */
  readonly revoke: (selects?: (token: IssuedToken) => boolean) => Effect.Effect<number>
  /** Makes all tokens valid again that this issuer has signed by its first key, and no others. */
  readonly restore: Effect.Effect<void>
  /** Imports the key of a saved state; `undefined` if it is none. */
  readonly importKey: (signingKey: Jose.JWK) => Effect.Effect<SigningKey | undefined>
  /** Replaces the tokens by those of a saved state, and the key by this one. Those of unknown clients are left out. */
  readonly load: (
    tokens: ReadonlyArray<Omit<IssuedToken, "client"> & { readonly client: string }>,
    signingKey: SigningKey | undefined
  ) => Effect.Effect<void>
  /** The key that signs, and verifies. */
  readonly signingKey: Effect.Effect<Jose.JWK>
}

const algorithm = "HS256"
const issuer = "https://tenant.example/"
const audience = `${issuer}api/v2/` // the same for all accepted spellings of the requested audience

/** The contract's literal audience, or the absolute one of any host. */
const acceptedAudience = /^(?:https?:\/\/[^/?#\s]+)?\/api\/v2\/$/

/** The body of a token request, as JSON or a form. A client with a certificate sends neither secret nor assertion. */
export const TokenRequest = Schema.Struct({
  grant_type: Schema.Literal("client_credentials"),
  client_id: omittable(Schema.String.annotations({ description: "may be absent beside an assertion" })),
  client_secret: omittable(Schema.String),
  client_assertion_type: omittable(Schema.Literal("urn:ietf:params:oauth:client-assertion-type:jwt-bearer")),
  client_assertion: omittable(Schema.String.annotations({
    description: "a JSON Web Token that the client's private key signed (RFC 7523); it is accepted once"
  })),
  audience: Schema.String.pipe(Schema.pattern(acceptedAudience))
}).annotations({ identifier: "TokenRequest" })

/** The body of a successful response of the token endpoint. */
export const TokenBody = Schema.Struct({
  access_token: Schema.String,
  token_type: Schema.Literal("Bearer"),
  expires_in: Schema.Number.annotations({ description: "seconds" }),
  scope: Schema.String.annotations({ description: "the token's scopes, separated by spaces" })
}).annotations({ identifier: "Token" })

/** No token lives longer, in seconds: ten years. The time at which it expires stays one that a JWT can hold. */
const maxLifetime = 10 * 366 * 24 * 60 * 60

const unauthorized = (message: string) => failure(401, message, { attributes: { error: message } })

/** Reads the token of `Authorization: Bearer …`. */
const bearerToken = (authorization: string | undefined): Effect.Effect<string, PlainResponse> => {
  if (authorization === undefined || authorization === "") return Effect.fail(failure(401, "Missing authentication"))
  const token = /^bearer ([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(authorization)?.[1]
  return token === undefined
    ? Effect.fail(failure(400, "Bad HTTP authentication header format", { errorCode: "Bearer" }))
    : Effect.succeed(token)
}

const verificationFailure = (cause: unknown): PlainResponse =>
  unauthorized(
    cause instanceof Jose.errors.JWTExpired
      ? "Expired token received for JSON Web Token validation"
      : cause instanceof Jose.errors.JWSSignatureVerificationFailed
      ? "Invalid signature received for JSON Web Token validation"
      : "Invalid token"
  )

/** Makes an issuer whose newest tokens are valid, as many as `size`. */
export const make = (
  clients: ReadonlyArray<AnyClient>,
  lifetime: Duration.DurationInput,
  size: number
): Effect.Effect<TokenIssuer> =>
  Effect.gen(function*() {
    const firstKey = yield* Effect.promise(() => Jose.generateSecret(algorithm, { extractable: true }))
    let key: SigningKey = firstKey
    const clientsById = new Map(clients.map((client) => [client.id, client]))
    const issued = new Map<string, IssuedToken>() // by the `jti` of a token, the oldest first
    /** Those of them that the first key has signed, as they were issued. No saved state replaces these. */
    const own = new Map<string, IssuedToken>()
    const refusalOf = ClientAuthentication.make()
    const expiresIn = Math.floor(Math.min(Duration.toSeconds(lifetime), maxLifetime))

    const remember = (tokens: Map<string, IssuedToken>, token: IssuedToken) => {
      tokens.set(token.id, token)
      const [oldest = token.id] = tokens.keys()
      if (tokens.size > size) tokens.delete(oldest)
    }

    const sign = Effect.fn(function*(client: AnyClient) {
      const issuedAt = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const id = yield* randomId(22)
      const scope = client.scopes.join(" ")
      const signingKey = key // another may be loaded meanwhile
      const token = yield* Effect.promise(() =>
        new Jose.SignJWT({ azp: client.id, scope, gty: "client-credentials" })
          .setProtectedHeader({ alg: algorithm, typ: "JWT" })
          .setIssuer(issuer)
          .setSubject(`${client.id}@clients`)
          .setAudience(audience)
          .setIssuedAt(issuedAt)
          .setExpirationTime(issuedAt + expiresIn)
          .setJti(id)
          .sign(signingKey)
      )
      const record: IssuedToken = {
        id,
        client,
        issuedAt: issuedAt * 1000,
        expiresAt: (issuedAt + expiresIn) * 1000,
        revoked: false
      }
      remember(issued, record)
      if (signingKey === firstKey) remember(own, record)
      return [token, record] as const
    })

    const respondTo = (client: AnyClient) =>
      Effect.map(sign(client), ([access_token]) => {
        const scope = client.scopes.join(" ")
        const body: typeof TokenBody.Type = { access_token, scope, expires_in: expiresIn, token_type: "Bearer" }
        return tokenEndpointResponse(200, body)
      })

    const issue: TokenIssuer["issue"] = (parameters, connection) => {
      const record = Predicate.isRecord(parameters) ? parameters : {}
      const parameter = (name: string) => Predicate.isString(record[name]) ? record[name] : ""
      const refuse = (status: number, error: string, description: string) =>
        Effect.succeed(oauthFailure(status, error, description))
      const grant = parameter("grant_type")
      const assertion = parameter("client_assertion")
      const id = parameter("client_id") || ClientAuthentication.assertedClientId(assertion)
      const client = clientsById.get(id)
      if (grant === "") return refuse(400, "invalid_request", "Missing required parameter: grant_type")
      if (grant !== "client_credentials") {
        return refuse(400, "unsupported_grant_type", `Unsupported grant type: ${grant}`)
      }
      if (client === undefined) return refuse(401, "invalid_client", "Unknown client")
      return Effect.flatMap(refusalOf(client, parameter, connection), (refusal) => {
        if (refusal !== undefined) return refuse(401, "invalid_client", refusal)
        return acceptedAudience.test(parameter("audience"))
          ? respondTo(client)
          : refuse(403, "access_denied", `Service not enabled within domain: ${parameter("audience")}`)
      })
    }

    const verify = (authorization: string | undefined) =>
      Effect.gen(function*() {
        const token = yield* bearerToken(authorization)
        const currentDate = DateTime.toDate(yield* DateTime.now)
        const { payload } = yield* Effect.tryPromise({
          try: () => Jose.jwtVerify(token, key, { algorithms: [algorithm], issuer, audience, currentDate }),
          catch: verificationFailure
        })
        const record = issued.get(String(payload.jti))
        return record?.revoked === false ? record.client : yield* Effect.fail(unauthorized("Invalid token"))
      })

    return {
      issue,
      verify,
      issueFor: (id) =>
        Effect.transposeMapOption(Option.fromNullable(clientsById.get(id)), sign).pipe(
          Effect.map(Option.getOrUndefined)
        ),
      all: Effect.sync(() => [...issued.values()]),
      revoke: (selects = () => true) =>
        Effect.sync(() => {
          const changed = [...issued.values()].filter((token) => !token.revoked && selects(token))
          for (const token of changed) issued.set(token.id, { ...token, revoked: true })
          return changed.length
        }),
      restore: Effect.sync(() => {
        key = firstKey
        issued.clear()
        for (const token of own.values()) issued.set(token.id, token)
      }),
      importKey: (signingKey) =>
        Effect.gen(function*() {
          const { k } = yield* Effect.promise(() => Jose.exportJWK(firstKey))
          if (k === signingKey.k) return firstKey
          return yield* Effect.orElseSucceed(
            Effect.tryPromise(() => Jose.importJWK(signingKey, algorithm, { extractable: true })),
            () => undefined
          )
        }),
      load: (tokens, loadedKey) =>
        Effect.sync(() => {
          if (loadedKey !== undefined) key = loadedKey
          issued.clear()
          for (const { client: id, ...token } of tokens) {
            const client = clientsById.get(id)
            if (client !== undefined) remember(issued, { ...token, client })
          }
        }),
      signingKey: Effect.promise(() => Jose.exportJWK(key))
    }
  })

/** Fails for a client that has none of these scopes, or is not global where only global clients may call. */
export const authorize = (
  client: AnyClient,
  scopes: ReadonlyArray<string>,
  global = false
): Effect.Effect<void, PlainResponse> => {
  if (scopes.length > 0 && !scopes.some((scope) => client.scopes.includes(scope))) {
    const message = `Insufficient scope, expected any of: ${scopes.join(", ")}`
    return Effect.fail(failure(403, message, { errorCode: "insufficient_scope" }))
  }
  return global && !client.global ? Effect.fail(unauthorized("Client is not global")) : Effect.void
}
