/** Proves a client by JSON Web Tokens that its private key signs (RFC 7523), each for one attempt. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as TokenTelemetry from "../telemetry/tokenTelemetry.js"
import type { ClientAuthentication, RefusedProof } from "./clientProof.js"
import type { Signer } from "./signingKey.js"

/** In milliseconds; the service allows a difference of 10 s. */
const toleratedSkew = 5000

/** The time in seconds for which an assertion is valid; the service allows five minutes. */
const lifetime = 60

const encodeJson = (value: object): string => Encoding.encodeBase64Url(JSON.stringify(value))

interface Claims {
  readonly clientId: string
  readonly audience: string
}

/** Signs an assertion at `now`, in milliseconds on the service's clock. */
const signAssertion = ({ algorithm, keyId, sign }: Signer, { audience, clientId }: Claims, now: number) => {
  const iat = Math.floor(now / 1000)
  const jti = Encoding.encodeBase64Url(globalThis.crypto.getRandomValues(new Uint8Array(16)))
  const header = { alg: algorithm, typ: "JWT", kid: keyId }
  const claims = { iss: clientId, sub: clientId, aud: audience, jti, iat, exp: iat + lifetime }
  const signed = `${encodeJson(header)}.${encodeJson(claims)}`
  return Effect.map(
    sign(new TextEncoder().encode(signed)),
    (signature) => `${signed}.${Encoding.encodeBase64Url(signature)}`
  )
}

/**
 * Makes the authentication of a client with these keys. The first one signs. A refused assertion is signed anew and tried at
 * once: by the service's clock if the local one is off, then by each other key, and finally by the first one again. (Some
 * transports repeat a POST by themselves, and an assertion that arrives twice is refused.) The key that was accepted signs
 * from then on.
 */
export const make = (keys: readonly [Signer, ...ReadonlyArray<Signer>], claims: Claims): ClientAuthentication => {
  /** The service's clock minus the local clock, in milliseconds. */
  let offset = 0
  let current = 0
  let hasWarned = false

  /** Moves the offset if the response's date lies outside of the time between request and response. */
  const correctClock = ({ date, receivedAt, sentAt }: RefusedProof): boolean => {
    if (date === undefined) return false
    const early = sentAt + offset - 1000 - date // a date has no fraction
    const late = date - (receivedAt + offset)
    if (Math.max(early, late) <= toleratedSkew) return false
    offset = date - receivedAt
    return true
  }

  /** Remembers a key that was accepted instead of the first one. */
  const use = (index: number) =>
    Effect.suspend(() => {
      const warning = `the token endpoint refused key ${current + 1} of ${keys.length}; it accepts key ${index + 1}`
      const isNew = index !== current && !hasWarned
      hasWarned ||= isNew
      current = index
      return isNew ? TokenTelemetry.warn(warning) : Effect.void
    })

  /** Signs with the key `refused` places after `first`; `isCorrected`: the clock was corrected in this request. */
  const prove = (first: number, refused: number, isCorrected: boolean): ClientAuthentication =>
    Effect.gen(function*() {
      const index = (first + refused) % keys.length
      const signer = keys[index] ?? keys[0]
      const now = (yield* Clock.currentTimeMillis) + offset
      const assertion = yield* signAssertion(signer, claims, now)
      return {
        parameters: {
          client_id: claims.clientId,
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
          client_assertion: assertion
        },
        secrets: [assertion],
        afterRefusal: (refusal: RefusedProof) =>
          !isCorrected && correctClock(refusal)
            ? prove(first, refused, true)
            : refused < keys.length
            ? prove(first, refused + 1, isCorrected)
            : undefined,
        onAccepted: use(index)
      }
    }).pipe(
      // A key that cannot sign is skipped like one that was refused.
      Effect.catchAll((error) =>
        refused > 0 && refused < keys.length ? prove(first, refused + 1, isCorrected) : Effect.fail(error)
      )
    )

  return Effect.suspend(() => prove(current, 0, false))
}
