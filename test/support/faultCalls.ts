/** What it takes to send a call into a row of the fault matrix: platforms, tokens, the server, the client. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Effect, Layer, Redacted } from "effect"
import { IdentityClient, RateLimiter, TokenProvider } from "../../src/index.js"
import * as Node from "../../src/Node.js"
import { maxBodySize, type Row } from "./faults.js"
import { type FaultServer, faultServer, nobody, resettingServer } from "./faultServer.js"

export const platforms = {
  undici: NodeHttpClient.layerUndici,
  fetch: FetchHttpClient.layer,
  lean: Layer.orDie(Node.layerHttpClient())
}

export type Platform = keyof typeof platforms

/** A new token for each that is taken back. */
export const tokens = (make: (nth: number) => string = (nth) => `token-${nth}`) =>
  Layer.sync(TokenProvider.TokenProvider, () => {
    let nth = 1
    return {
      get: Effect.sync(() => Redacted.make(make(nth))),
      invalidate: () => Effect.sync(() => void nth++)
    }
  })

/** What a call meets, by a row; `json` is a good answer. */
export const serverFor = ({ fault }: Row, json: string) =>
  fault === "nobody" ? nobody : fault === "resetting" ? resettingServer : faultServer(json, fault)

export const clientOf = ({ url }: Pick<FaultServer, "url">, platform: Platform, provider = tokens()) =>
  IdentityClient.layer({ baseUrl: url, maxBodySize }).pipe(
    Layer.provide([RateLimiter.layerUnlimited, provider, platforms[platform]])
  )
