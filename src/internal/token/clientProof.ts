/** Proves to the token endpoint which client asks: by a secret, or by the connection alone. `clientAssertion` signs its proofs. */
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"
import type { TokenError } from "../../Errors.js"

/** A response that refused a client; all times are in milliseconds since 1970. */
export interface RefusedProof {
  readonly sentAt: number
  readonly receivedAt: number
  /** The response's `Date`, to the second. */
  readonly date: number | undefined
}

/** The part of one attempt that proves the client. */
export interface ClientProof {
  /** The form parameters to send. */
  readonly parameters: Readonly<Record<string, string>>
  /** Texts that errors must not repeat. */
  readonly secrets: ReadonlyArray<string>
  /** Gives the proof for another attempt at once; `undefined` if the refusal is final. */
  readonly afterRefusal?: (refusal: RefusedProof) => ClientAuthentication | undefined
  readonly onAccepted?: Effect.Effect<void>
}

/** Makes the proof of an attempt. It runs anew for each, because an assertion is valid only once. */
export type ClientAuthentication = Effect.Effect<ClientProof, TokenError>

/** Sends the client's secret. */
export const bySecret = (clientId: string, clientSecret: Redacted.Redacted): ClientAuthentication => {
  const secret = Redacted.value(clientSecret)
  return Effect.succeed({
    parameters: { client_id: clientId, client_secret: secret },
    secrets: [secret, Encoding.encodeBase64(`${clientId}:${secret}`)]
  })
}

/** Sends only `client_id`: the TLS connection proves it by a client certificate. */
export const byConnection = (clientId: string): ClientAuthentication =>
  Effect.succeed({ parameters: { client_id: clientId }, secrets: [] })

/** Whether a credential begins or ends with white space: it would be sent, and refused. */
export const hasSpaceAround = (credential: string): boolean => credential !== credential.trim()
