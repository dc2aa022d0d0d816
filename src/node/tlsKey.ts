/** Says why TLS cannot use the key of a client certificate, before anything is sent. Keeps nothing of OpenSSL's messages. */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { createSecureContext, type SecureContextOptions } from "node:tls"

const succeeds = (run: () => unknown): boolean => Either.isRight(Either.try(run))

const textOf = (pem: unknown): string => pem instanceof Uint8Array ? new TextDecoder().decode(pem) : String(pem)

/** Lists the keys. A key in a list may have a passphrase of its own. */
const keysOf = ({ key, passphrase }: SecureContextOptions) =>
  [key ?? []].flat().map((each) => {
    const { passphrase: own, pem } = Predicate.hasProperty(each, "pem") ? each : { pem: each, passphrase: undefined }
    const text = textOf(pem)
    return {
      isEncrypted: text.includes("ENCRYPTED"),
      hasOwnPassphrase: own !== undefined,
      hasPassphrase: (own ?? passphrase) !== undefined,
      decrypt: () => createPrivateKey({ key: text, passphrase: own ?? passphrase })
    }
  })

/** Gives the problem of the key, or `undefined`. `passphraseName` is the name of the setting with its passphrase. */
export const problem = (options: SecureContextOptions, passphraseName: string): string | undefined => {
  const { cert } = options
  if (options.key === undefined) return undefined
  const keys = keysOf(options)
  for (const { decrypt, hasOwnPassphrase, hasPassphrase, isEncrypted } of keys) {
    if (isEncrypted && !hasPassphrase) return `found an encrypted key: set ${passphraseName}`
    if (isEncrypted && !succeeds(decrypt)) {
      return `${hasOwnPassphrase ? "its own passphrase" : passphraseName} does not decrypt the key`
    }
  }
  // A context accepts a key of another type. A list of certificates is not compared.
  const fits = (cert: string | Uint8Array) =>
    keys.some(({ decrypt }) => new X509Certificate(cert).checkPrivateKey(decrypt()))
  const isChecked = keys.length > 0 && (typeof cert === "string" || cert instanceof Uint8Array)
  return succeeds(() => createSecureContext(options)) &&
      (!isChecked || Either.getOrElse(Either.try(() => fits(cert)), () => false))
    ? undefined
    : "does not fit the certificate, or is not PEM"
}
