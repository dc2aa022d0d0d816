import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Redacted } from "effect"
import { vi } from "vitest"
import { InvalidInput } from "../../src/Errors.js"
import * as Cipher from "../../src/internal/fleet/encryption.js"

const keyOf = (byte: number, bytes = 32) => Buffer.alloc(bytes, byte).toString("base64")
const cipherOf = (...keys: ReadonlyArray<string>) => Cipher.make("test", Redacted.make(keys.join(",")))

/** Encrypted by an earlier version with `keyOf(1)`. */
const early = "72cd6e8422c4.7Kk1FUWM76OK+5FI.dzTlC3SOpXp8+YatmtQYN/ia27A="

describe("a cipher", () => {
  it.effect("decrypts the texts of earlier versions", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* (yield* cipherOf(keyOf(1))).decrypt(early, "a"), "text")
      assert.strictEqual(yield* (yield* cipherOf(keyOf(2), keyOf(1))).decrypt(early, "a"), "text")
      const encrypted = yield* (yield* cipherOf(keyOf(1), keyOf(2))).encrypt("text", "a")
      assert.match(encrypted, new RegExp(`^${early.slice(0, 13)}`))
      assert.strictEqual(yield* Cipher.digest("text"), "982d9e3eb996f559e633f4d194def376")
    }))

  it.effect("encrypts with its first key and decrypts with each, so that keys can be rotated", () =>
    Effect.gen(function*() {
      const [one, both, two] = [
        yield* cipherOf(keyOf(1)),
        yield* cipherOf(keyOf(2), keyOf(1)),
        yield* cipherOf(keyOf(2))
      ]
      const encrypted = yield* both.encrypt("ä text", "a")
      assert.strictEqual(yield* two.decrypt(encrypted, "a"), "ä text")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(one.decrypt(encrypted, "a"))))
    }))

  it.effect("encrypts the same text differently each time", () =>
    Effect.gen(function*() {
      const cipher = yield* cipherOf(keyOf(1))
      assert.notStrictEqual(yield* cipher.encrypt("text", "a"), yield* cipher.encrypt("text", "a"))
    }))

  for (
    const [title, encrypted, name, reason] of [
      ["an empty text", "", "a", "unknown key"],
      ["a text that was not encrypted", "clear.text", "a", "unknown key"],
      ["a text of another name", early, "b"],
      ["a text of an unknown key", early.replace(/^\w+/, "000000000000"), "a", "unknown key"],
      ["a text without nonce", early.replace(/\.[^.]+\./, ".."), "a"],
      ["a text without its end", early.slice(0, -4), "a"],
      ["a text without content", early.replace(/\.[^.]+$/, ""), "a"],
      ["a text that is not base64", early.replace(/.$/, "!"), "a"]
    ] as const
  ) {
    it.effect(`fails to decrypt ${title}`, () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit((yield* cipherOf(keyOf(1))).decrypt(encrypted, name))
        assert.isTrue(Exit.isFailure(exit) && Cause.isFailure(exit.cause), "a failure, not a defect")
        if (reason !== undefined) assert.deepStrictEqual(exit, Exit.fail(reason))
      }))
  }

  for (
    const keys of [[keyOf(1, 16)], [keyOf(1, 24)], [keyOf(1), keyOf(2, 16)], [keyOf(2, 16), keyOf(1)], [keyOf(1, 33)]]
  ) {
    it.effect(`refuses a key of the wrong length: ${keys.join(",")}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(cipherOf(...keys))
        assert.instanceOf(error, InvalidInput)
        assert.deepStrictEqual(error.issues, [{
          path: "encryptionKey",
          message: "expected 32 random bytes in base64, or several such keys with commas between them"
        }])
      }))
  }

  it.effect("takes a key that has a zero byte", () =>
    Effect.gen(function*() {
      const cipher = yield* cipherOf(Buffer.alloc(32, 1).fill(0, 31).toString("base64"))
      assert.strictEqual(yield* cipher.decrypt(yield* cipher.encrypt("text", "a"), "a"), "text")
    }))

  it.scoped("keeps its keys where no code can read them", () =>
    Effect.gen(function*() {
      const importKey = vi.spyOn(globalThis.crypto.subtle, "importKey")
      yield* Effect.addFinalizer(() => Effect.sync(() => importKey.mockRestore()))
      yield* cipherOf(keyOf(1), keyOf(2))
      const keys = yield* Effect.promise(() => Promise.all(importKey.mock.results.map(({ value }) => value)))
      assert.deepStrictEqual(keys.map(({ extractable }) => extractable), [false, false])
    }))

  it.effect("cannot be made in a runtime without cryptography", () =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.stubGlobal("crypto", {})),
        () => Effect.sync(() => vi.unstubAllGlobals())
      )
      assert.instanceOf(yield* Effect.flip(cipherOf(keyOf(1))), InvalidInput)
    }).pipe(Effect.scoped))
})

describe("no cipher", () => {
  it.effect("reads nothing but its own texts", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Cipher.none.decrypt(yield* Cipher.none.encrypt("text", "a"), "a"), "text")
      for (const encrypted of [early, "text", ""]) {
        assert.strictEqual(yield* Effect.flip(Cipher.none.decrypt(encrypted, "a")), "encrypted")
      }
    }))
})
