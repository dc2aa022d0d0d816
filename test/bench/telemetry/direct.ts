/** Calls over a client that responds at once, to measure the library alone. */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { IdentityClient, listActionVersions, RateLimiter, TokenProvider } from "../../../src/index.js"
import * as Collecting from "../../../src/internal/http/collecting.js"
import type { RawResponse } from "../../../src/internal/http/rawExchange.js"
import type { Run, ShouldContinue } from "../calls/client.js"
import { actionId, check, type PayloadName, responseBodies, token } from "../calls/payloads.js"
import { layerTracer } from "../calls/tracer.js"
import type { Variant } from "../calls/variants.js"

const response: RawResponse = {
  status: 200,
  headers: Headers.unsafeFromRecord({
    "content-type": "application/json; charset=utf-8",
    "x-ratelimit-limit": "1000000",
    "x-ratelimit-remaining": "999999",
    "x-ratelimit-reset": "1700000000"
  }),
  body: JSON.stringify(responseBodies.small),
  completeness: "complete",
  redirected: false
}

const transport = Collecting.over(HttpClient.make(() => Effect.never), () =>
  Effect.succeed((done) => {
    queueMicrotask(() => done(Effect.succeed(response)))
    return () => false
  }))

const layer = IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
  Layer.provide([
    RateLimiter.layer,
    TokenProvider.layerBearer(Redacted.make(token)),
    Layer.succeed(HttpClient.HttpClient, transport)
  ])
)

export const make = async (_origin: string, variant: Variant): Promise<Run> => {
  const runtime = ManagedRuntime.make(variant === "traced" ? Layer.merge(layer, layerTracer) : layer)
  await runtime.runtime()
  return (_payload: PayloadName, _concurrency: number, goOn: ShouldContinue) => {
    const call = Effect.orDie(listActionVersions({ actionId }))
    const loop = Effect.whileLoop({ while: goOn, body: () => call, step: () => {} })
    return runtime.runPromise(Effect.zipRight(Effect.map(call, check.small), loop))
  }
}
