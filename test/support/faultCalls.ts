/** Makes calls under a row of the fault matrix: platforms, tokens, the server, the client. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Effect, FastCheck, Layer, Redacted, Schema } from "effect"
import { IdentityClient, RateLimiter, TokenProvider } from "../../src/index.js"
import * as Node from "../../src/Node.js"
import { maxBodySize, type Outcome, type Row } from "./faultRows.js"
import { type FaultServer, faultServer, nobody, resettingServer } from "./faultServer.js"
import { declaredFor, type Subject } from "./operations.js"
import { arbitraryOf } from "./schemaArbitrary.js"

export const platforms = {
  undici: NodeHttpClient.layerUndici,
  fetch: FetchHttpClient.layer,
  lean: Layer.orDie(Node.layerHttpClient)
}

export type Platform = keyof typeof platforms

/** Issues a new token for each that is invalidated. */
export const tokens = (make: (nth: number) => string = (nth) => `token-${nth}`) =>
  Layer.sync(TokenProvider.TokenProvider, () => {
    let nth = 1
    return {
      get: Effect.sync(() => Redacted.make(make(nth))),
      invalidate: () => Effect.sync(() => void nth++)
    }
  })

const withMore = (value: unknown): object => ({ ...value as object, more: "a field that nobody has described" })

/** Makes a good response: an object of the schema, or a list of such, with an extra field, long enough to be interrupted. */
export const goodJson = ({ endpoint: { success } }: Subject): string => {
  if (success === undefined) return JSON.stringify(withMore({}))
  const [value] = FastCheck.sample(
    arbitraryOf(Schema.typeSchema(success)).filter((value) => !Array.isArray(value) || value.length > 0),
    { seed: 3, numRuns: 1 }
  )
  return JSON.stringify(Array.isArray(value) ? value.map(withMore) : withMore(value))
}

/** The outcome that the operation's error must have. */
export const errorFieldsOf = (outcome: Outcome, operation: Subject): object => {
  switch (outcome.tag) {
    case "success":
      return {}
    case "declared": {
      const isDeclared = declaredFor(operation, outcome.status).length > 0
      return isDeclared
        ? { status: outcome.status }
        : { _tag: "UnexpectedResponse", status: outcome.status, reason: "status" }
    }
    default: {
      const { tag, ...fields } = outcome
      return { _tag: tag, ...fields }
    }
  }
}

/** The fault of a row. `json` is a good response. */
export const serverFor = ({ fault }: Row, json: string) =>
  fault === "nobody" ? nobody : fault === "resetting" ? resettingServer : faultServer(json, fault)

export const clientOf = ({ url }: Pick<FaultServer, "url">, platform: Platform, provider = tokens()) =>
  IdentityClient.layer({ baseUrl: url, maxBodySize }).pipe(
    Layer.provide([RateLimiter.layerUnlimited, provider, platforms[platform]])
  )
