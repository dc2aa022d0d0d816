/** Networks whose token endpoint verifies assertions and replies as a test says. */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { decodeJwt, jwtVerify } from "jose"
import { createPublicKey } from "node:crypto"
import * as TokenProvider from "../../src/TokenProvider.js"
import { first, second } from "./keys.js"
import { form, inProcess, type Reply } from "./tokenServer.js"

const verified = (assertion: string, key: string) =>
  Effect.promise(() =>
    jwtVerify(assertion, createPublicKey(key), { currentDate: new Date(0) }).then(() => true, () => false)
  )

/** A network, and a provider over it. The endpoint gets the claims of each assertion and the number of its key. */
export const over = (
  reply: (claims: ReturnType<typeof decodeJwt>, key: 1 | 2, nth: number) => Effect.Effect<Reply> | Reply,
  options: Partial<TokenProvider.PrivateKeyJwt> = {}
) => {
  const keys: Array<1 | 2> = []
  const { arrived, layer } = inProcess((nth, request) =>
    Effect.gen(function*() {
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
      const { client_assertion = "" } = form(body)
      const key = (yield* verified(client_assertion, first.publicKey)) ? 1 : 2
      assert.isTrue(key === 1 || (yield* verified(client_assertion, second.publicKey)))
      keys.push(key)
      const replied = reply(decodeJwt(client_assertion), key, nth)
      return Effect.isEffect(replied) ? yield* replied : replied
    })
  )
  const provider = TokenProvider.layerPrivateKeyJwt({
    domain: "t.example.com",
    clientId: "c",
    privateKey: first.privateKey,
    ...options
  } as TokenProvider.PrivateKeyJwt) // sound: each test gives the settings that it needs
  return {
    arrived,
    keys,
    claims: () => arrived.map(({ body }) => decodeJwt(form(body).client_assertion ?? "")),
    layer: Layer.provide(provider, layer)
  }
}

export const refused = (more: Reply = {}): Reply => ({ status: 401, body: { error: "invalid_client" }, ...more })

export const dated = (millis: number) => ({ headers: { date: new Date(millis).toUTCString() } })
