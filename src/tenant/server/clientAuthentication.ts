/** Authenticates a client at the token endpoint: by its secret, an assertion that its key signed, or its TLS certificate. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Jose from "jose"

/** An OAuth client that may ask for tokens. @since 0.1.0 @category models */
export interface Client {
  readonly id: string
  readonly secret: Redacted.Redacted<string>
  /** Its RSA public keys, as PEM (SPKI) or JWK. It may send assertions that one of the private keys signed (RFC 7523). */
  readonly publicKeys?: ReadonlyArray<string | Jose.JWK> | undefined
  /** Its certificate, as PEM. It may ask without secret over a TLS connection with this certificate (RFC 8705). */
  readonly certificate?: string | undefined
  /** The scopes of its tokens, for example `read:users`. */
  readonly scopes: ReadonlyArray<string>
  /** Only global clients may export users (contract: Authentication). */
  readonly global: boolean
}

/** A client that has only public keys or a certificate. @since 0.1.0 @category models */
export interface ClientWithoutSecret extends Omit<Client, "secret"> {
  readonly secret?: undefined
}

/** Facts of the connection that count at the token endpoint. */
export interface Connection {
  /** The host that the client asked. */
  readonly host: string
  /** The client's certificate in base64, if it has one. */
  readonly certificate: string | undefined
}

/** Reads the client's certificate of a request of Node's TLS server, which must request it (`requestCert`). */
export const peerCertificate = (source: unknown): string | undefined => {
  const socket = Predicate.hasProperty(source, "socket") ? source.socket : undefined
  if (!Predicate.hasProperty(socket, "getPeerCertificate") || !Predicate.isFunction(socket.getPeerCertificate)) return
  const certificate: unknown = socket.getPeerCertificate()
  return Predicate.hasProperty(certificate, "raw") && Predicate.isUint8Array(certificate.raw)
    ? Encoding.encodeBase64(certificate.raw)
    : undefined
}

const algorithms = ["RS256", "RS384", "PS256"]

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

/** In seconds: the tolerated difference of clocks, and how far ahead an assertion may expire. */
const [skew, longest] = [10, 300]

/** Gives the client that sent an assertion without `client_id`. */
export const assertedClientId = (assertion: string): string =>
  Either.getOrElse(Either.try(() => Jose.decodeJwt(assertion).sub ?? ""), () => "")

type Parameter = (name: string) => string

/** Makes a function that gives the reason why a request does not prove its client, or `undefined`. Assertions are valid once. */
export const make = () => {
  /** The expiry of each accepted assertion, in seconds since 1970. */
  const used = new Map<string, number>()

  const verify = (client: Client | ClientWithoutSecret, assertion: string, host: string) =>
    Effect.gen(function*() {
      const now = (yield* Clock.currentTimeMillis) / 1000
      const verifyWith = (key: string | Jose.JWK) =>
        Effect.tryPromise({
          try: () =>
            Jose.jwtVerify(
              assertion,
              ({ alg }) => Predicate.isString(key) ? Jose.importSPKI(key, alg) : Jose.importJWK(key, key.alg ?? alg),
              {
                algorithms,
                issuer: client.id,
                subject: client.id,
                audience: [`https://${host}/`, `http://${host}/`],
                requiredClaims: ["jti", "exp"],
                clockTolerance: skew,
                currentDate: DateTime.toDateUtc(DateTime.unsafeMake(now * 1000))
              }
            ),
          catch: (cause) => cause instanceof Jose.errors.JOSEError ? cause.message : "malformed"
        })
      const { payload: { exp = 0, iat = 0, jti } } = yield* Effect.firstSuccessOf([
        Effect.fail("the client has no public key"),
        ...(client.publicKeys ?? []).map(verifyWith)
      ])
      if (exp > now + longest + skew) return yield* Effect.fail("\"exp\" is too far ahead")
      if (iat > now + skew) return yield* Effect.fail("\"iat\" is in the future")
      const name = `${client.id} ${jti}`
      if ((used.get(name) ?? -Infinity) + skew >= now) return yield* Effect.fail("\"jti\" was used before")
      for (const [other, expiry] of used) if (expiry + skew < now) used.delete(other)
      used.set(name, exp)
    })

  return (
    client: Client | ClientWithoutSecret,
    parameter: Parameter,
    { certificate, host }: Connection
  ): Effect.Effect<string | undefined> => {
    const assertion = parameter("client_assertion")
    if (assertion !== "") {
      return parameter("client_assertion_type") === assertionType
        ? Effect.match(verify(client, assertion, host), {
          onFailure: (reason) => `Invalid client assertion: ${reason}`,
          onSuccess: () => undefined
        })
        : Effect.succeed("Unknown client_assertion_type")
    }
    const secret = parameter("client_secret")
    const isKnown = secret === ""
      ? certificate !== undefined && client.certificate?.replace(/-----[^-]+-----|\s/g, "") === certificate
      : client.secret !== undefined && Redacted.value(client.secret) === secret
    return Effect.succeed(isKnown ? undefined : "Unauthorized")
  }
}
