/** A self-signed certificate for this machine, valid until 2119, and its key. Only for tests of TLS. */
import { createPrivateKey } from "node:crypto"

export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg0d0e3G9EvGaEJbtc
9/Tyh1Hi4HqEHzgX0jvZkFcBRv6hRANCAARAK5CR8SxCkDcm8f+DtDe9F3n94ObE
lh002B/JsM48R1fQeIQPabU5800Zj494C0Fmety1cRpeiUC/e6o69m8w
-----END PRIVATE KEY-----`

/** The same key, encrypted with `word`. */
export const encryptedKey = String(
  createPrivateKey(key).export({ format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "word" })
)

export const cert = `-----BEGIN CERTIFICATE-----
MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjExOTEyMzEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEArkJHxLEKQNybx
/4O0N70Xef3g5sSWHTTYH8mwzjxHV9B4hA9ptTnzTRmPj3gLQWZ63LVxGl6JQL97
qjr2bzCjTjBMMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0
hwR/AAABMB0GA1UdDgQWBBSEiFtzCzq9JI8eMIlJ18/m4UYYmjAKBggqhkjOPQQD
AgNIADBFAiEAhTbalQs/vdTW97vUbBqoIxwWPLMo/zm1sQIhvZLNBUcCIFR0wo6X
09Ee9rP+MFoHWTNMVrhF2wM6gXPiLQpQScPq
-----END CERTIFICATE-----`
