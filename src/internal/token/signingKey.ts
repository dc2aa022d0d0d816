/** Reads the private keys that sign client assertions, and says what is wrong with a key before it is used. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { type InvalidInput, TokenError } from "../../Errors.js"
import { parseFields } from "../http/errorBody.js"
import { disconnect } from "../runtime/runner.js"
import { invalidSetting } from "../schema/issues.js"

/** An algorithm that the service accepts for assertions. @since 0.1.0 @category models */
export type SigningAlgorithm = "RS256" | "RS384" | "PS256"

/**
 * Signs bytes with a key that lies elsewhere, for example in a KMS or an HSM. Gives the bare signature. A failure, or no result
 * within 10 s, becomes a `TokenError` without its cause, so report it yourself.
 * @since 0.1.0 @category models
 */
export type Sign = (data: Uint8Array) => Effect.Effect<Uint8Array, unknown>

/** A key that signs assertions: the key itself, or a function that signs. @since 0.1.0 @category models */
export type SigningKey =
  & {
    /** Default: the `alg` of a JWK, else `RS256`. */
    readonly algorithm?: SigningAlgorithm | undefined
    /** The identifier under which the service knows the key. Default: the `kid` of a JWK, else none is sent. */
    readonly keyId?: string | undefined
  }
  & (
    /** An RSA key of at least 2048 bits: PEM (PKCS#8, not encrypted), or JWK, as an object or as JSON. */
    | { readonly privateKey: Redacted.Redacted<string | object>; readonly sign?: undefined }
    | { readonly sign: Sign; readonly privateKey?: undefined }
  )

/** A key that is ready to sign. */
export interface Signer {
  readonly algorithm: SigningAlgorithm
  readonly keyId: string | undefined
  readonly sign: (data: Uint8Array<ArrayBuffer>) => Effect.Effect<Uint8Array, TokenError>
}

const pkcs1 = "RSASSA-PKCS1-v1_5"

/** The parameters of WebCrypto. A salt is as long as the hash. */
const algorithms = {
  RS256: { name: pkcs1, hash: "SHA-256" },
  RS384: { name: pkcs1, hash: "SHA-384" },
  PS256: { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 }
} as const

export const isAlgorithm = (name: unknown): name is SigningAlgorithm =>
  Predicate.isString(name) && Object.hasOwn(algorithms, name)

export const expectedAlgorithms = "expected RS256, RS384 or PS256"
const expectedKey = "expected an RSA private key as PEM (PKCS#8) or JWK"
const convert = "convert it with `openssl pkey -in key.pem`"
const wrongType = (type: string) =>
  `found a key of type ${type}, which cannot sign with these algorithms: ${expectedKey}`
const publicKey = "found a public key: the private key of the pair is needed"

/** A key that WebCrypto can import; a JWK may name its algorithm and its identifier. */
interface ParsedKey {
  readonly load: (algorithm: RsaHashedImportParams) => Promise<CryptoKey>
  /** Checks its numbers after WebCrypto has loaded them; may throw. */
  readonly fits: () => boolean
  readonly alg?: unknown
  readonly kid?: unknown
}

/** Types of keys, by the object identifier in PKCS#8. */
const typesById: ReadonlyArray<readonly [id: string, type: string]> = [
  ["2a8648ce3d0201", "EC"],
  ["2b6570", "Ed25519"],
  ["2a864886f70d01010a", "RSASSA-PSS"]
]

const parsePem = (text: string): Effect.Effect<ParsedKey, string> => {
  const blocks = [...text.matchAll(/-----BEGIN (?<label>[A-Z0-9 ]+)-----(?<body>[^]*?)-----END/g)]
    .map(({ groups }) => groups ?? {})
  // A file may hold a certificate, too.
  const { body = "", label = "" } = blocks.find(({ label }) => label?.endsWith("PRIVATE KEY")) ?? blocks[0] ?? {}
  if (label.startsWith("ENCRYPTED") || body.includes("ENCRYPTED")) {
    return Effect.fail(`found an encrypted key: ${convert}, which asks for its password`)
  }
  if (label === "RSA PRIVATE KEY") return Effect.fail(`found PKCS#1, expected PKCS#8: ${convert}`)
  if (label === "EC PRIVATE KEY") return Effect.fail(wrongType("EC"))
  if (label.endsWith("PUBLIC KEY") || label === "CERTIFICATE") return Effect.fail(publicKey)
  const bytes = new Uint8Array(Either.getOrElse(Encoding.decodeBase64(body.replace(/\s/g, "")), () => []))
  if (label !== "PRIVATE KEY" || bytes.length === 0) return Effect.fail(expectedKey)
  const start = Encoding.encodeHex(bytes.slice(0, 40))
  const [, type] = typesById.find(([id]) => start.includes(id)) ?? []
  return type === undefined
    ? Effect.succeed({
      load: (algorithm) => subtle().importKey("pkcs8", bytes, algorithm, false, ["sign"]),
      fits: () => true
    })
    : Effect.fail(wrongType(type))
}

/**
 * Checks that the numbers of a JWK fit each other. WebCrypto also imports others, and may even sign with them: each runtime
 * calculates with some of the numbers only.
 */
const numbersFit = ({ d, dp, dq, e, n, p, q, qi }: JsonWebKey): boolean => {
  const numberOf = (text = "") => BigInt(`0x${Encoding.encodeHex(Either.getOrThrow(Encoding.decodeBase64Url(text)))}`)
  const [first, second, exponent] = [numberOf(p), numberOf(q), numberOf(d)]
  const fits = (prime: bigint, rest?: string) =>
    exponent * numberOf(e) % (prime - 1n) === 1n && exponent % (prime - 1n) === numberOf(rest)
  return first * second === numberOf(n) && fits(first, dp) && fits(second, dq) && numberOf(qi) * second % first === 1n
}

const parseJwk = (fields: Readonly<Record<string, unknown>>): Effect.Effect<ParsedKey, string> => {
  const { alg, d, dp, dq, e, kid, kty, n, p, q, qi, use = "sig" } = fields
  if (!Predicate.isString(kty)) return Effect.fail(expectedKey)
  if (kty !== "RSA") return Effect.fail(wrongType(["EC", "OKP", "oct"].find((type) => type === kty) ?? "another type"))
  if (d === undefined) return Effect.fail(publicKey)
  if (use !== "sig") return Effect.fail("found a key that is not for signatures: its use is not sig")
  const jwk = { d, dp, dq, e, kty, n, p, q, qi } as JsonWebKey // sound: WebCrypto checks the fields
  return Effect.succeed({
    load: (algorithm) => subtle().importKey("jwk", jwk, algorithm, false, ["sign"]),
    fits: () => numbersFit(jwk),
    alg,
    kid
  })
}

const parseKey = (key: string | object): Effect.Effect<ParsedKey, string> => {
  if (!Predicate.isString(key)) return parseJwk({ ...key })
  const text = key.replaceAll("\\n", "\n").trim() // variables often hold a PEM on one line
  return text.startsWith("{") ? parseJwk(parseFields(text)) : parsePem(text)
}

const subtle = () => globalThis.crypto.subtle

const noWebCrypto = "this runtime has no crypto.subtle to sign with; a browser has it only in pages from https"

const importKey = ({ fits, load }: ParsedKey, algorithm: SigningAlgorithm): Effect.Effect<CryptoKey, string> => {
  if (Predicate.isUndefined(subtle())) return Effect.fail(noWebCrypto)
  return Effect.gen(function*() {
    const imported = Effect.tryPromise(() => load(algorithms[algorithm]))
    const key = yield* Effect.mapError(imported, () => `found a damaged key: ${expectedKey}`)
    const { modulusLength } = key.algorithm as RsaHashedKeyAlgorithm // sound: imported as such
    if (modulusLength < 2048) {
      return yield* Effect.fail(`found an RSA key of ${modulusLength} bits: expected at least 2048`)
    }
    if (yield* Effect.orElseSucceed(Effect.try(fits), () => false)) return key
    return yield* Effect.fail("found a damaged key: its numbers do not fit each other")
  })
}

const signFailure = (reason: string) =>
  new TokenError({ operation: "token", message: `could not sign the client assertion: ${reason}` })

/** Calls a function of the user's. Its failures and defects may hold secrets, so nothing of them is kept. */
const signElsewhere = (sign: Sign): Signer["sign"] => (data) =>
  Effect.suspend(() => sign(data)).pipe(
    Effect.filterOrFail(Predicate.isUint8Array),
    Effect.catchAllCause(() => signFailure("the signing function failed")),
    disconnect,
    Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => signFailure("no signature within 10 s") })
  )

const signHere = (key: CryptoKey, algorithm: SigningAlgorithm): Signer["sign"] => (data) =>
  Effect.mapBoth(Effect.tryPromise(() => subtle().sign(algorithms[algorithm], key, data)), {
    onFailure: () => signFailure("the key does not work"),
    onSuccess: (signature) => new Uint8Array(signature)
  })

/** Makes a signer, or says what is wrong with the key. `caller` and `path` name the layer and the place of the key in its settings. */
export const make = (caller: string, path: string, key: SigningKey): Effect.Effect<Signer, InvalidInput> =>
  Effect.gen(function*() {
    const invalid = (setting: string, message: string) => invalidSetting(caller, `${path}${setting}`, message)
    const { algorithm, keyId, sign } = key
    if (algorithm !== undefined && !isAlgorithm(algorithm)) return yield* invalid("algorithm", expectedAlgorithms)
    if (sign !== undefined) return { algorithm: algorithm ?? "RS256", keyId, sign: signElsewhere(sign) }
    const refuse = (message: string) => invalid("privateKey", message)
    const parsed = yield* Effect.catchAll(parseKey(Redacted.value(key.privateKey)), refuse)
    const { alg, kid } = parsed
    if (alg !== undefined && !isAlgorithm(alg)) {
      return yield* refuse(`found a JWK for another algorithm: ${expectedAlgorithms}`)
    }
    if (alg !== undefined && algorithm !== undefined && alg !== algorithm) {
      return yield* refuse(`found a JWK for ${alg}, which does not fit the algorithm ${algorithm}`)
    }
    const used = algorithm ?? alg ?? "RS256"
    const imported = yield* Effect.catchAll(importKey(parsed, used), refuse)
    return {
      algorithm: used,
      keyId: keyId ?? (Predicate.isString(kid) ? kid : undefined),
      sign: signHere(imported, used)
    }
  })
