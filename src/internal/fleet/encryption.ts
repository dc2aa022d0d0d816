/** Encrypts what rests in a store that others may read: AES-256-GCM, with a key of one's own. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"
import { InvalidInput } from "../../Errors.js"

export interface Seal {
  /** `name` is bound to the text: under another name it cannot be opened. */
  readonly close: (text: string, name: string) => Effect.Effect<string, unknown>
  /** Fails if it is not whole, or closed with a key that is not at hand. */
  readonly open: (sealed: string, name: string) => Effect.Effect<string, unknown>
}

/** Writes down what it is given. */
export const none: Seal = {
  close: (text) => Effect.succeed(`clear.${text}`),
  open: (sealed) => sealed.startsWith("clear.") ? Effect.succeed(sealed.slice("clear.".length)) : Effect.fail("sealed")
}

interface Key {
  /** The first bytes of its hash: which key of several it is. */
  readonly id: string
  readonly key: CryptoKey
}

const [keyBytes, nonceBytes, idBytes] = [32, 12, 6]

/** Not looked for before it is needed. */
const subtle = () => globalThis.crypto.subtle

const toKey = (bytes: Uint8Array<ArrayBuffer>): Effect.Effect<Key, unknown> =>
  Effect.all({
    id: Effect.map(
      Effect.tryPromise(() => subtle().digest("SHA-256", bytes)),
      (hash) => Encoding.encodeHex(new Uint8Array(hash).slice(0, idBytes))
    ),
    key: Effect.tryPromise(() => subtle().importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]))
  })

const utf8 = (text: string) => new TextEncoder().encode(text)

/** The bytes of a text; none if it is no base64. */
const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Either.getOrElse(Encoding.decodeBase64(text), () => new Uint8Array()))

/** One key, or several with commas between them: the first closes, each opens what it has closed. */
export const make = (
  operation: string,
  setting: string,
  keys: Redacted.Redacted
): Effect.Effect<Seal, InvalidInput> =>
  Effect.gen(function*() {
    const parts = Redacted.value(keys).split(",").map((part) => bytesOf(part.trim()))
    const message = "expected 32 bytes in base64, or several such keys with commas between them"
    const refused = new InvalidInput({ operation, issues: [{ path: setting, message }] })
    if (parts.some(({ length }) => length !== keyBytes)) return yield* refused
    const known = yield* Effect.mapError(Effect.forEach(parts, toKey), () => refused)
    const [first] = known
    if (first === undefined) return yield* refused
    const parameters = (iv: Uint8Array<ArrayBuffer>, id: string, name: string) => (
      { name: "AES-GCM", iv, additionalData: utf8(`${id} ${name}`) }
    )
    return {
      close: (text, name) =>
        Effect.suspend(() => {
          const nonce = globalThis.crypto.getRandomValues(new Uint8Array(nonceBytes))
          return Effect.map(
            Effect.tryPromise(() => subtle().encrypt(parameters(nonce, first.id, name), first.key, utf8(text))),
            (closed) => `${first.id}.${Encoding.encodeBase64(nonce)}.${Encoding.encodeBase64(new Uint8Array(closed))}`
          )
        }),
      open: (sealed, name) =>
        Effect.gen(function*() {
          const [id = "", nonce = "", closed = ""] = sealed.split(".")
          const key = known.find((key) => key.id === id)
          if (key === undefined) return yield* Effect.fail("no such key")
          const text = yield* Effect.tryPromise(() =>
            subtle().decrypt(parameters(bytesOf(nonce), id, name), key.key, bytesOf(closed))
          )
          return new TextDecoder().decode(text)
        })
    }
  })

/** A name for what must not be read from it. */
export const digest = (text: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => subtle().digest("SHA-256", utf8(text))),
    (hash) => Encoding.encodeHex(new Uint8Array(hash).slice(0, 16))
  )
