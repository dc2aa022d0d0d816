/** Gives out access tokens to the tenant's clients and tells whose a token is; they are JWTs that only it can sign. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Jose from "jose"
import * as Ids from "./randomId.js"
import * as Respond from "./response.js"

/** A program that may ask for tokens. */
export interface Client {
  readonly id: string
  readonly secret: Redacted.Redacted<string>
  /** The scopes that its tokens hold, for example `read:users`. */
  readonly scopes: ReadonlyArray<string>
  /** Whether it is a global client; only those may export users (contract: Authentication). */
  readonly global: boolean
}

/** Who calls, by a token that was verified. */
export interface Caller {
  readonly client: Client
  readonly scopes: ReadonlyArray<string>
}

export interface Tokens {
  /** Answers a request at the token endpoint. */
  readonly issue: (parameters: unknown) => Effect.Effect<Respond.Answer>
  /** Tells who calls, or how the service turns the call away. */
  readonly verify: (authorization: string | undefined) => Effect.Effect<Caller, Respond.Answer>
  readonly revoke: Effect.Effect<void>
}

const algorithm = "HS256"
const issuer = "https://tenant.example/"
const audience = `${issuer}api/v2/` // whatever name a client calls the management interface by, it is this one

/** The contract's literal value, or the practical absolute one of any host. */
const names = /^(?:https?:\/\/[^/?#\s]+)?\/api\/v2\/$/

/** What the token endpoint takes, as JSON or a form. */
export const TokenRequest = Schema.Struct({
  grant_type: Schema.Literal("client_credentials"),
  client_id: Schema.String,
  client_secret: Schema.String,
  audience: Schema.String.pipe(Schema.pattern(names))
}).annotations({ identifier: "TokenRequest" })

/** What it gives. */
export const Token = Schema.Struct({
  access_token: Schema.String,
  token_type: Schema.Literal("Bearer"),
  expires_in: Schema.Number.annotations({ description: "seconds" }),
  scope: Schema.String.annotations({ description: "all scopes of the token, with spaces between them" })
}).annotations({ identifier: "Token" })

const oauth = Respond.oauthFailure

const unauthorized = (message: string) => Respond.failure(401, message, { attributes: { error: message } })

const badHeader = Respond.failure(400, "Bad HTTP authentication header format", { errorCode: "Bearer" })

/** The token of `Authorization: Bearer …`. */
const bearer = (authorization: string | undefined): Effect.Effect<string, Respond.Answer> => {
  if (authorization === undefined || authorization === "") {
    return Effect.fail(Respond.failure(401, "Missing authentication"))
  }
  const token = /^bearer ([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(authorization)?.[1]
  return token === undefined ? Effect.fail(badHeader) : Effect.succeed(token)
}

const refusal = (cause: unknown): Respond.Answer =>
  unauthorized(
    cause instanceof Jose.errors.JWTExpired
      ? "Expired token received for JSON Web Token validation"
      : cause instanceof Jose.errors.JWSSignatureVerificationFailed
      ? "Invalid signature received for JSON Web Token validation"
      : "Invalid token"
  )

export const make = (clients: ReadonlyArray<Client>, lifetime: Duration.DurationInput): Effect.Effect<Tokens> =>
  Effect.gen(function*() {
    const key = yield* Effect.promise(() => Jose.generateSecret(algorithm))
    const known = new Map(clients.map((client) => [client.id, client]))
    const valid = new Map<string, Client>() // by the `jti` of every token that was not revoked, whose it is
    const expiresIn = Math.floor(Duration.toSeconds(lifetime))

    const sign = Effect.fn(function*(client: Client) {
      const issuedAt = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const id = yield* Ids.make("", 22)
      const scope = client.scopes.join(" ")
      const token = yield* Effect.promise(() =>
        new Jose.SignJWT({ azp: client.id, scope, gty: "client-credentials" })
          .setProtectedHeader({ alg: algorithm, typ: "JWT" })
          .setIssuer(issuer)
          .setSubject(`${client.id}@clients`)
          .setAudience(audience)
          .setIssuedAt(issuedAt)
          .setExpirationTime(issuedAt + expiresIn)
          .setJti(id)
          .sign(key)
      )
      valid.set(id, client)
      const answer: typeof Token.Type = { access_token: token, scope, expires_in: expiresIn, token_type: "Bearer" }
      return Respond.json(200, answer, { "cache-control": "no-store" })
    })

    const issue = (parameters: unknown): Effect.Effect<Respond.Answer> => {
      const given = Predicate.isRecord(parameters) ? parameters : {}
      const parameter = (name: string) => Predicate.isString(given[name]) ? given[name] : ""
      const grant = parameter("grant_type")
      const client = known.get(parameter("client_id"))
      if (grant === "") return Effect.succeed(oauth(400, "invalid_request", "Missing required parameter: grant_type"))
      if (grant !== "client_credentials") {
        return Effect.succeed(oauth(400, "unsupported_grant_type", `Unsupported grant type: ${grant}`))
      }
      if (client === undefined) return Effect.succeed(oauth(401, "invalid_client", "Unknown client"))
      if (Redacted.value(client.secret) !== parameter("client_secret")) {
        return Effect.succeed(oauth(401, "invalid_client", "Unauthorized"))
      }
      if (!names.test(parameter("audience"))) {
        return Effect.succeed(
          oauth(403, "access_denied", `Service not enabled within domain: ${parameter("audience")}`)
        )
      }
      return sign(client)
    }

    const verify = (authorization: string | undefined) =>
      Effect.gen(function*() {
        const token = yield* bearer(authorization)
        const currentDate = DateTime.toDate(yield* DateTime.now)
        const { payload } = yield* Effect.tryPromise({
          try: () => Jose.jwtVerify(token, key, { algorithms: [algorithm], issuer, audience, currentDate }),
          catch: refusal
        })
        const client = valid.get(String(payload.jti))
        if (client === undefined) return yield* Effect.fail(unauthorized("Invalid token"))
        return { client, scopes: String(payload["scope"]).split(" ") }
      })

    return { issue, verify, revoke: Effect.sync(() => valid.clear()) }
  })

/** Turns away whoever lacks the scope, or is not global where only global clients may call. */
export const authorize = (caller: Caller, scope: string, global = false): Effect.Effect<void, Respond.Answer> => {
  if (!caller.scopes.includes(scope)) {
    const message = `Insufficient scope, expected any of: ${scope}`
    return Effect.fail(Respond.failure(403, message, { errorCode: "insufficient_scope" }))
  }
  return global && !caller.client.global ? Effect.fail(unauthorized("Client is not global")) : Effect.void
}
