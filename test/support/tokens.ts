/** Token providers over networks that reply as a test says. */
import { NodeHttpClient } from "@effect/platform-node"
import type * as HttpClient from "@effect/platform/HttpClient"
import { Effect, Fiber, Layer, Redacted, TestClock } from "effect"
import * as Node from "../../src/Node.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { inProcess, type Reply } from "./tokenServer.js"

/** A client secret with characters that URLs, forms and JSON escape. */
export const secret = "p!ss (wörd)~&/'%"

export const credentials = { clientId: "id-of-the-client", clientSecret: Redacted.make(secret) }

export const get = Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => Effect.map(get, Redacted.value))

export const invalidate = (token: string) =>
  Effect.flatMap(TokenProvider.TokenProvider, ({ invalidate }) => invalidate(Redacted.make(token)))

/** Transports over real sockets. */
export const networks: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["undici", NodeHttpClient.layerUndici],
  ["lean", Layer.orDie(Node.layerHttpClient)]
]

/** Provides client-credentials tokens over a network with these replies, and records the requests. */
export const over = (
  reply: (nth: number) => Effect.Effect<Reply>,
  options: Partial<TokenProvider.ClientCredentials> = { authUrl: "https://login.example.com" }
) => {
  const { arrived, layer } = inProcess(reply)
  const provider = TokenProvider.layerClientCredentials(
    { ...credentials, ...options } as TokenProvider.ClientCredentials // sound: each test gives the settings that it needs
  )
  return { arrived, layer: Layer.provide(provider, layer) }
}

/** Issues the token `t1` for the first request, `t2` for the second. */
export const issue = (nth: number, more: object = { expires_in: 100 }): Reply => ({
  body: { access_token: `t${nth}`, token_type: "Bearer", ...more }
})

/** Runs an effect to its end in virtual time. */
export const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

/** Runs an effect to its end while virtual time passes in small steps: signatures take real time. */
export const inSmallSteps = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(
    effect,
    Effect.forever(
      Effect.zipRight(
        Effect.promise(() => new Promise((resume) => setTimeout(resume, 5))),
        TestClock.adjust("250 millis")
      )
    )
  )

/** Lets all fibers run until they wait, without moving the clock. */
export const breathe = Effect.repeatN(Effect.yieldNow(), 100)
