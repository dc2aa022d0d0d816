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

/** An authority, whose key nobody has. Deno trusts an additional certificate only if it is one of an authority. */
export const authority = `-----BEGIN CERTIFICATE-----
MIIBbTCCAROgAwIBAgIBATAKBggqhkjOPQQDAjAdMRswGQYDVQQDDBJhdXRob3Jp
dHkgb2YgdGVzdHMwIBcNMjAwMTAxMDAwMDAwWhgPMjExOTEyMzEwMDAwMDBaMB0x
GzAZBgNVBAMMEmF1dGhvcml0eSBvZiB0ZXN0czBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABKiX6y8Y4kclTR3moiXWi39cRDief0Fbj8ABYI3y1Ne52cCw1RK7gF4j
V4Xugi7L4QslgsCkwfBo3OAYtOd+L3WjQjBAMA8GA1UdEwEB/wQFMAMBAf8wDgYD
VR0PAQH/BAQDAgIEMB0GA1UdDgQWBBQTxdMvLYNRwvV6sgYAZ+0/9MhoVDAKBggq
hkjOPQQDAgNIADBFAiEApuGyR5LgooaQaTe6MlUjFPC84KYoFApXT5K4G9VxukMC
IAj/+iRjpkCmVuqvZ8CQS3QTkq4ZD+z8CT6UdX+ZeE8c
-----END CERTIFICATE-----`

/** A certificate of that authority for this machine and the same key. */
export const issuedCert = `-----BEGIN CERTIFICATE-----
MIIBpDCCAUqgAwIBAgIBAjAKBggqhkjOPQQDAjAdMRswGQYDVQQDDBJhdXRob3Jp
dHkgb2YgdGVzdHMwIBcNMjAwMTAxMDAwMDAwWhgPMjExOTEyMzEwMDAwMDBaMBQx
EjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEAr
kJHxLEKQNybx/4O0N70Xef3g5sSWHTTYH8mwzjxHV9B4hA9ptTnzTRmPj3gLQWZ6
3LVxGl6JQL97qjr2bzCjgYEwfzAMBgNVHRMBAf8EAjAAMBoGA1UdEQQTMBGCCWxv
Y2FsaG9zdIcEfwAAATATBgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQUhIhb
cws6vSSPHjCJSdfP5uFGGJowHwYDVR0jBBgwFoAUE8XTLy2DUcL1erIGAGftP/TI
aFQwCgYIKoZIzj0EAwIDSAAwRQIhAJsr0zeILbBJcyT7d2BNFsgfK1c1xitwhX+d
fAn1hikPAiA+dsADwENOwW13QP758Js18vm904epEKLfHdyPmrpvEw==
-----END CERTIFICATE-----`
