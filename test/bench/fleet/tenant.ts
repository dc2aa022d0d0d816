/** The tenant of a fleet, in a separate process. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServer from "@effect/platform/HttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { createServer } from "node:http"
import * as Tenant from "../../../src/Tenant.js"
import type { Limit } from "../goodput/scenarios.js"
import { seedFor } from "../goodput/work.js"

/** Sent by the process. */
export interface Origin {
  readonly origin: string
}

/** Sent to the process: asks for its counts, and may delay its next token response. */
export interface Question {
  readonly slowTokenMs?: number
}

/** Sent by the process in return. */
export interface Seen {
  readonly requests: number
  readonly refused: number
  /** Token requests that arrived, and how many of them got a response. */
  readonly tokenRequests: number
  readonly tokensIssued: number
}

const serve = Effect.gen(function*() {
  const limit: Limit = JSON.parse(process.argv[2] ?? "{}")
  const { bucket, burst, perMs, refill } = limit
  const tenant = yield* Tenant.make({
    seed: seedFor(limit),
    buckets: { [bucket]: { burst, refill, per: perMs } },
    limits: { requests: Infinity }
  })
  const server = yield* Layer.build(NodeHttpServer.layer(
    () => createServer({ keepAliveTimeout: 60_000 }),
    { host: "127.0.0.1", port: 0 }
  ))
  yield* Effect.provide(HttpServer.serveEffect(tenant.app), server)
  const runFork = Runtime.runFork(yield* Effect.runtime())
  const seen = Effect.map(tenant.requests, (all): Seen => {
    const tokens = all.filter(({ operation }) => operation === "token")
    const calls = all.filter(({ operation }) => operation !== "token")
    return {
      requests: calls.length,
      refused: calls.filter(({ status }) => status === 429).length,
      tokenRequests: tokens.length,
      tokensIssued: tokens.filter(({ status }) => status === 200).length
    }
  })
  process.on("disconnect", () => process.exit())
  process.on("message", ({ slowTokenMs }: Question) => {
    const slow = slowTokenMs === undefined
      ? Effect.void
      : tenant.injectFault({ operation: "token", delay: slowTokenMs, times: 1 })
    runFork(Effect.map(Effect.zipRight(slow, seen), (seen) => process.send?.(seen)))
  })
  const origin: Origin = { origin: yield* Effect.provide(HttpServer.addressFormattedWith(Effect.succeed), server) }
  process.send?.(origin)
  return yield* Effect.never
})

Effect.runFork(Effect.scoped(serve))
