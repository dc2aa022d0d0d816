/** Keys of all kinds for client assertions. They are new in each process. */
import { Redacted } from "effect"
import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto"

const pem = (key: KeyObject, type: "pkcs1" | "pkcs8" | "sec1" | "spki") =>
  String(key.export({ format: "pem", type: type as "pkcs8" })) // sound: each call names a type that the key has

const rsa = (modulusLength = 2048) => generateKeyPairSync("rsa", { modulusLength })

/** A key pair in the forms that clients and the tenant take. */
const pairOf = ({ privateKey, publicKey } = rsa()) => ({
  privateKey: Redacted.make(pem(privateKey, "pkcs8")),
  jwk: privateKey.export({ format: "jwk" }),
  pkcs1: pem(privateKey, "pkcs1"),
  encrypted: String(privateKey.export({ format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "word" })),
  encryptedPkcs1: String(
    privateKey.export({ format: "pem", type: "pkcs1", cipher: "aes-256-cbc", passphrase: "word" })
  ),
  publicKey: pem(publicKey, "spki"),
  publicPkcs1: pem(publicKey, "pkcs1"),
  publicJwk: publicKey.export({ format: "jwk" }),
  keyObject: privateKey
})

export const first = pairOf()
export const second = pairOf()

/** A key that is too short. */
export const short = pairOf(rsa(1024))

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey

/** Keys of other types. */
export const others = {
  ec: pem(ec, "pkcs8"),
  ecSec1: pem(ec, "sec1"),
  ecJwk: ec.export({ format: "jwk" }),
  ed25519: pem(generateKeyPairSync("ed25519").privateKey, "pkcs8"),
  pss: pem(generateKeyPairSync("rsa-pss", { modulusLength: 2048 }).privateKey, "pkcs8")
}

/** Strings that only the private part of a key has. */
export const privateParts = (pair: typeof first): Readonly<Record<string, string>> => {
  const { d = "", p = "", q = "" } = createPrivateKey(Redacted.value(pair.privateKey)).export({ format: "jwk" })
  const body = Redacted.value(pair.privateKey).split("\n")
  return { d, p, q, "a line of the PEM": body[8] ?? "" }
}
