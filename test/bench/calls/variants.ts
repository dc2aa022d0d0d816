/**
 * Variants of this library: `lean` is its layer for Node, `traced` adds a tracer that keeps spans, `wrapped` wraps its HTTP client as users
 * do, `stock` uses the platform's own client over undici.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import {
  createUsersExport,
  IdentityClient,
  listActionVersions,
  RateLimiter,
  TokenProvider
} from "../../../src/index.js"
import * as Node from "../../../src/Node.js"
import type { Run, ShouldContinue } from "./client.js"
import { actionId, check, clientId, clientSecret, job, type PayloadName, perPage } from "./payloads.js"
import { layerTracer } from "./tracer.js"

const variables = (origin: string) =>
  new Map([
    ["IDENTITY_BASE_URL", `${origin}/api/v2`],
    ["IDENTITY_AUTH_URL", origin],
    ["IDENTITY_CLIENT_ID", clientId],
    ["IDENTITY_CLIENT_SECRET", clientSecret]
  ])

const lean = (origin: string) =>
  Node.layerConfig.pipe(Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(variables(origin)))))

/** Looks at each request and each response. */
const looking = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  client.pipe(HttpClient.mapRequest((request) => request), HttpClient.tap(() => Effect.void))

/** The layers one by one, over an HTTP client. */
const composed = (origin: string, http: Layer.Layer<HttpClient.HttpClient>) =>
  IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
    Layer.provide(RateLimiter.layer),
    Layer.provide(
      TokenProvider.layerClientCredentials({ authUrl: origin, clientId, clientSecret: Redacted.make(clientSecret) })
    ),
    Layer.provide(http)
  )

const calls = {
  small: listActionVersions({ actionId }),
  page: listActionVersions({ actionId, per_page: perPage }),
  job: createUsersExport(job)
}

export type Variant = "lean" | "traced" | "wrapped" | "stock"

const layerOf = (origin: string, variant: Variant) => {
  switch (variant) {
    case "lean":
      return lean(origin)
    case "traced":
      return Layer.merge(lean(origin), layerTracer)
    case "stock":
      return composed(origin, NodeHttpClient.layerUndici)
    case "wrapped": {
      const wrapped = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, looking))
      return composed(origin, Layer.provide(wrapped, Node.layerHttpClient))
    }
  }
}

export const make = async (origin: string, variant: Variant): Promise<Run> => {
  const runtime = ManagedRuntime.make(layerOf(origin, variant))
  await runtime.runtime()
  return (payload: PayloadName, concurrency: number, shouldContinue: ShouldContinue) => {
    const call = Effect.orDie<unknown, unknown, IdentityClient.IdentityClient>(calls[payload])
    const loop = Effect.whileLoop({ while: shouldContinue, body: () => call, step: () => {} })
    return runtime.runPromise(
      Effect.zipRight(
        Effect.map(call, check[payload]),
        Effect.all(Array.from({ length: concurrency }, () => loop), { concurrency: "unbounded", discard: true })
      )
    )
  }
}
