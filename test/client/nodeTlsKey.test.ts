/** Keys of client certificates, in each form that TLS takes: what is accepted, and what is wrong with the others. */
import { assert, describe, it } from "@effect/vitest"
import { createSecureContext, type SecureContextOptions } from "node:tls"
import { problem } from "../../src/node/tlsKey.js"
import { cert, encryptedKey, key } from "../support/certificate.js"
import { first, others } from "../support/keys.js"

const bytes = Buffer.from(key)
const noFit = "does not fit the certificate, or is not PEM"
const encrypted = "found an encrypted key: set connect.passphrase"
const ownPassphrase = "its own passphrase does not decrypt the key"

describe("a key that TLS takes is accepted", () => {
  const accepted: ReadonlyArray<readonly [name: string, options: SecureContextOptions]> = [
    ["a text", { cert, key }],
    ["bytes", { cert: Buffer.from(cert), key: bytes }],
    ["bytes that are no buffer", { cert, key: new Uint8Array(bytes) as Buffer }], // sound: TLS takes any bytes
    ["a list of texts", { cert, key: [key] }],
    ["a list of certificates", { cert: [cert], key: [bytes] }],
    ["a list with PEM", { cert, key: [{ pem: key }] }],
    ["a list with PEM as bytes", { cert, key: [{ pem: bytes }] }],
    ["PEM with its own passphrase", { cert, key: [{ pem: encryptedKey, passphrase: "word" }] }],
    ["PEM with its own passphrase beside another", {
      cert,
      key: [{ pem: encryptedKey, passphrase: "word" }],
      passphrase: "none"
    }],
    ["PEM with the common passphrase", { cert, key: [{ pem: encryptedKey }], passphrase: "word" }],
    ["a key of another type beside the one that fits", { cert, key: [first.pkcs1, key] }],
    ["an empty list", { cert, key: [] }],
    ["no key", { cert }],
    ["null, which TLS takes as no key", { cert, key: null as never }] // programs without types may pass it
  ]
  for (const [name, options] of accepted) {
    it(name, () => {
      createSecureContext(options)
      assert.isUndefined(problem(options, "connect.passphrase"))
    })
  }
})

it("a certificate that is no PEM is no problem of a key that is not there", () => {
  assert.isUndefined(problem({ cert: "kq7zv3" }, "connect.passphrase"))
})

describe("a key that TLS cannot use is refused", () => {
  const refused: ReadonlyArray<readonly [name: string, options: SecureContextOptions, message: string]> = [
    ["PEM of another key", { cert, key: [{ pem: others.ec }] }, noFit],
    ["bytes of another type", { cert, key: Buffer.from(first.pkcs1) }, noFit],
    ["bytes that do not fit the bytes of a certificate", {
      cert: Buffer.from(cert),
      key: Buffer.from(first.pkcs1)
    }, noFit],
    ["a list without PEM", { cert, key: [{ pem: "kq7zv3" }] }, noFit],
    ["PEM outside of a list", { cert, key: { pem: key } as never }, noFit],
    ["what is no key", { cert, key: [null] as never }, noFit],
    ["encrypted PEM without a passphrase", { cert, key: [{ pem: encryptedKey }] }, encrypted],
    ["encrypted PEM as bytes that are no buffer", {
      cert,
      key: new Uint8Array(Buffer.from(encryptedKey)) as Buffer // sound: TLS takes any bytes
    }, encrypted],
    ["encrypted PEM after a plain one", { cert, key: [key, { pem: encryptedKey }] }, encrypted],
    [
      "encrypted PEM with a wrong passphrase of its own",
      { cert, key: [{ pem: encryptedKey, passphrase: "kq7zv3" }], passphrase: "word" },
      ownPassphrase
    ],
    [
      "encrypted PEM with a wrong common passphrase",
      { cert, key: [{ pem: encryptedKey }], passphrase: "kq7zv3" },
      "connect.passphrase does not decrypt the key"
    ]
  ]
  for (const [name, options, message] of refused) {
    it(name, () => {
      assert.strictEqual(problem(options, "connect.passphrase"), message)
    })
  }
})
