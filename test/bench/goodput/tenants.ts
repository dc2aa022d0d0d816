/** The tenants of one client's rows, each with a port, state and buckets of its own, in one process: they hardly work. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Headers from "@effect/platform/Headers"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import * as Tenant from "../../../src/Tenant.js"
import type { Limit } from "./scenarios.js"
import { mostWithin } from "./windows.js"
import { seedFor } from "./work.js"

/** What the process is started with. */
export interface Setup {
  readonly limits: ReadonlyArray<Limit>
  /** Whether a 429 says how long to wait. The real service's do not always. */
  readonly retryAfter: boolean
}

/** Sent by the process: where the tenants are, in the order of the limits that were asked for. */
export interface Origins {
  readonly origins: ReadonlyArray<string>
}

/** Sent to the process: what has the tenant at this place seen? */
export interface Question {
  readonly tenant: number
}

/** A tenant's report: the number of calls that arrived, without token requests, and the number of 429 responses to them. */
export interface Seen extends Question {
  readonly requests: number
  readonly refused: number
  /** The most calls that arrived within any ten seconds. */
  readonly arrivedInTenSeconds: number
}

const withoutRetryAfter = (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.empty({
    status: response.status,
    headers: Headers.remove(response.headers, "retry-after")
  }).pipe(HttpServerResponse.setBody(response.body))

/** Makes a proxy with `limit_req` as nginx has it, without a burst; token requests do not count. */
const makeProxy = ({ perMs, refill }: Limit) => {
  let servedAt = -Infinity
  let refused = 0
  const isRefused = Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
    if (!url.startsWith("/api/")) return false
    const now = performance.now()
    if (now - servedAt < perMs / refill) {
      refused++
      return true
    }
    servedAt = now
    return false
  })
  const refusal = HttpServerResponse.text("<html>429 Too Many Requests</html>", {
    status: 429,
    contentType: "text/html"
  })
  const before = (app: Tenant.Tenant["Type"]["app"]): typeof app =>
    Effect.flatMap(isRefused, (isRefused) => isRefused ? Effect.succeed(refusal) : app)
  return { before, refused: () => refused }
}

const tenantFor = (limit: Limit, retryAfter: boolean) =>
  Effect.gen(function*() {
    const { bucket, isBare } = limit
    const { burst, perMs, refill } = isBare ? { burst: 50, refill: 16, perMs: 1000 } : limit
    const tenant = yield* Tenant.make({
      seed: seedFor(limit),
      buckets: { [bucket]: { burst, refill, per: perMs } },
      limits: { requests: Infinity }
    })
    const proxy = makeProxy(limit)
    const plain = isBare ? proxy.before(tenant.app) : tenant.app
    const app = retryAfter ? plain : Effect.map(plain, withoutRetryAfter)
    const server = yield* Layer.build(NodeHttpServer.layer(
      () => createServer({ keepAliveTimeout: 60_000 }), // waits are long here, and this is not about connections
      { host: "127.0.0.1", port: 0 }
    ))
    yield* Effect.provide(HttpServer.serveEffect(app), server)
    const origin = yield* Effect.provide(HttpServer.addressFormattedWith(Effect.succeed), server)
    const seen = Effect.map(tenant.requests, (all) => {
      const calls = all.filter(({ operation }) => operation !== "token")
      return {
        requests: calls.length + proxy.refused(),
        arrivedInTenSeconds: mostWithin(calls.map(({ at }) => at), 10_000),
        refused: calls.filter(({ status }) => status === 429).length + proxy.refused()
      }
    })
    return { origin, seen }
  })

const serve = Effect.gen(function*() {
  const { limits, retryAfter }: Setup = JSON.parse(process.argv[2] ?? "{}")
  const tenants = yield* Effect.forEach(limits, (limit) => tenantFor(limit, retryAfter))
  process.on("disconnect", () => process.exit())
  process.on("message", ({ tenant }: Question) => {
    const seen = tenants[tenant]?.seen
    if (seen !== undefined) Effect.runSync(Effect.map(seen, (seen) => process.send?.({ tenant, ...seen })))
  })
  const origins: Origins = { origins: tenants.map(({ origin }) => origin) }
  process.send?.(origins)
  return yield* Effect.never
})

Effect.runFork(Effect.scoped(serve))
