/** The vendor's SDK in several majors, each against an embedded tenant on a socket. */
import { HttpServer } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ManagementClient as Sdk7 } from "auth0"
import { ManagementClient as Sdk5 } from "auth0-5"
import { ManagementClient as Sdk6 } from "auth0-6"
import { Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import { afterAll, beforeAll, vi } from "vitest"
import * as Tenant from "../../src/Tenant.js"

export { Sdk5, Sdk6, Sdk7 }

export type Sdk = Sdk5 | Sdk6 | Sdk7

export const majors = [["5", Sdk5], ["6", Sdk6], ["7", Sdk7]] as const

/** Lets the SDK call a tenant on plain http: it supports only https, and major 6 drops a `fetch` of one's own. */
export const usePlainHttp = () => {
  const original = fetch
  beforeAll(() => {
    vi.stubGlobal(
      "fetch",
      (input: unknown, init?: RequestInit) => original(String(input).replace(/^https:/, "http:"), init)
    )
  })
  afterAll(() => vi.unstubAllGlobals())
}

interface Served<Sdk> {
  readonly sdk: Sdk
  readonly tenant: Tenant.Tenant["Type"]
}

interface Options {
  readonly domain: string
  readonly clientId: string
  readonly clientSecret: string
  readonly maxRetries: number
}

/** Runs a test with a tenant of its own, on the real clock, which the SDK uses. */
export const serve = <Sdk>(
  Client: new(options: Options) => Sdk,
  run: (served: Served<Sdk>) => Promise<void>,
  options: Tenant.Options = {}
) =>
  Effect.gen(function*() {
    const tenant = yield* Tenant.Tenant
    const { id: clientId, secret } = Tenant.demoClients.full
    yield* HttpServer.addressFormattedWith((origin) =>
      Effect.promise(() => {
        const { host: domain } = new URL(origin)
        return run({
          tenant,
          sdk: new Client({ domain, clientId, clientSecret: Redacted.value(secret), maxRetries: 0 })
        })
      })
    )
  }).pipe(
    Effect.provide(Layer.provideMerge(
      Tenant.layerServer,
      Layer.merge(Tenant.layerWith(options), NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" }))
    ))
  )
