/** Encrypts what lies in a store that others may read: AES-256-GCM, with keys of the user's. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"
import type { InvalidInput } from "../../Errors.js"
import { invalidSetting } from "../schema/issues.js"

export interface Cipher {
  /** Encrypts a text and binds it to `name`: it cannot be decrypted under another name. */
  readonly encrypt: (text: string, name: string) => Effect.Effect<string, unknown>
  /** Decrypts a text. Fails if it is damaged, or was encrypted by an unknown key. */
  readonly decrypt: (encrypted: string, name: string) => Effect.Effect<string, unknown>
}

/** Stores texts as they are. */
export const none: Cipher = {
  encrypt: (text) => Effect.succeed(`clear.${text}`),
  decrypt: (stored) =>
    stored.startsWith("clear.") ? Effect.succeed(stored.slice("clear.".length)) : Effect.fail("encrypted")
}

interface Key {
  /** The first bytes of the key's hash; a text names its key by them. */
  readonly id: string
  readonly key: CryptoKey
}

const [keyBytes, nonceBytes, idBytes] = [32, 12, 6]

/** Read when it is used: a runtime without cryptography can load this module. */
const subtle = () => globalThis.crypto.subtle

/** Hashes bytes, in hexadecimal digits. */
const hash = (bytes: Uint8Array<ArrayBuffer>, length: number) =>
  Effect.map(
    Effect.tryPromise(() => subtle().digest("SHA-256", bytes)),
    (hash) => Encoding.encodeHex(new Uint8Array(hash).slice(0, length))
  )

const importKey = (bytes: Uint8Array<ArrayBuffer>): Effect.Effect<Key, unknown> =>
  Effect.all({
    id: hash(bytes, idBytes),
    key: Effect.tryPromise(() => subtle().importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]))
  })

const utf8 = (text: string) => new TextEncoder().encode(text)

/** Decodes base64; the result is empty if the text is not base64. */
const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Either.getOrElse(Encoding.decodeBase64(text), () => new Uint8Array()))

/** Makes a cipher of keys separated by commas: the first encrypts, each decrypts. */
export const make = (operation: string, keys: Redacted.Redacted): Effect.Effect<Cipher, InvalidInput> =>
  Effect.gen(function*() {
    const parts = Redacted.value(keys).split(",").map((part) => bytesOf(part.trim()))
    const message = "expected 32 random bytes in base64, or several such keys with commas between them"
    const refused = invalidSetting(operation, "encryptionKey", message)
    if (parts.some((key) => key.length !== keyBytes || key.every((byte) => byte === 0))) return yield* refused
    const known = yield* Effect.mapError(Effect.forEach(parts, importKey), () => refused)
    const [first] = known
    if (first === undefined) return yield* refused
    const parameters = (iv: Uint8Array<ArrayBuffer>, id: string, name: string) => (
      { name: "AES-GCM", iv, additionalData: utf8(`${id} ${name}`) }
    )
    return {
      encrypt: (text, name) =>
        Effect.suspend(() => {
          const nonce = globalThis.crypto.getRandomValues(new Uint8Array(nonceBytes))
          return Effect.map(
            Effect.tryPromise(() => subtle().encrypt(parameters(nonce, first.id, name), first.key, utf8(text))),
            (bytes) => `${first.id}.${Encoding.encodeBase64(nonce)}.${Encoding.encodeBase64(new Uint8Array(bytes))}`
          )
        }),
      decrypt: (encrypted, name) =>
        Effect.gen(function*() {
          const [id = "", nonce = "", bytes = ""] = encrypted.split(".")
          const key = known.find((key) => key.id === id)
          if (key === undefined) return yield* Effect.fail("unknown key")
          const text = yield* Effect.tryPromise(() =>
            subtle().decrypt(parameters(bytesOf(nonce), id, name), key.key, bytesOf(bytes))
          )
          return new TextDecoder().decode(text)
        })
    }
  })

/** Makes a short name from which the text cannot be read. */
export const digest = (text: string): Effect.Effect<string> => Effect.orDie(hash(utf8(text), 16))
