/** Says why TLS cannot use the key of a client certificate, before anything is sent. Keeps nothing of OpenSSL's messages. */
import * as Either from "effect/Either"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { createSecureContext, type SecureContextOptions } from "node:tls"

const succeeds = (run: () => unknown): boolean => Either.isRight(Either.try(run))

/** Gives the problem of the key, or `undefined`. `passphraseName` is the name of the setting with its passphrase. */
export const problem = (options: SecureContextOptions, passphraseName: string): string | undefined => {
  const { cert, key, passphrase } = options
  if (key === undefined) return undefined
  const isEncrypted = String(key).includes("ENCRYPTED")
  if (isEncrypted && passphrase === undefined) return `found an encrypted key: set ${passphraseName}`
  const decrypt = () => createPrivateKey({ key: String(key), passphrase })
  if (isEncrypted && !succeeds(decrypt)) return `${passphraseName} does not decrypt the key`
  // A context accepts a key of another type.
  const fits = () => typeof cert !== "string" || new X509Certificate(cert).checkPrivateKey(decrypt())
  return succeeds(() => createSecureContext(options)) && Either.getOrElse(Either.try(fits), () => false)
    ? undefined
    : "does not fit the certificate, or is not PEM"
}
