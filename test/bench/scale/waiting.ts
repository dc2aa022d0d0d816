/** What callers hold that wait: bare fibers, and calls that the limiter holds back. The process needs `--expose-gc`. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { IdentityClient, listActionVersions, RateLimiter, TokenProvider } from "../../../src/index.js"
import { actionId } from "../calls/payloads.js"

/** Sent to the process: let so many wait. */
export interface Question {
  readonly count: number
}

/** Sent by the process: bytes of heap for each, and microseconds of the processor for each to begin to wait and to give up. */
export interface Answer {
  readonly bytesPerFiber: number
  readonly bytesPerWaiter: number
  readonly microsPerWaiter: number
}

/** After one call nothing is left for a day. */
const client = IdentityClient.layer({ baseUrl: "http://127.0.0.1:9/api/v2" }).pipe(
  Layer.provide(RateLimiter.layerFixed({ limit: 1, interval: "1 day" })),
  Layer.provide(TokenProvider.layerBearer(Redacted.make("a-token"))),
  Layer.provide(Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.never)))
)

const heap = async (): Promise<number> => {
  // What has ended may still be told so in the next turns of the loop.
  for (let turn = 0; turn < 5; turn++) {
    await new Promise<void>((resolve) => void setImmediate(resolve))
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

const runtime = ManagedRuntime.make(client)
runtime.runFork(listActionVersions({ actionId })) // it takes what there is

const bytesOf = async (count: number, wait: Effect.Effect<unknown, unknown, IdentityClient.IdentityClient>) => {
  const before = await heap()
  const fibers = Array.from({ length: count }, () => runtime.runFork(wait))
  const after = await heap()
  await Effect.runPromise(Fiber.interruptAll(fibers))
  return (after - before) / count
}

process.on("disconnect", () => process.exit())
process.on("message", async ({ count }: Question) => {
  const bytesPerFiber = await bytesOf(count, Effect.never)
  const begin = process.cpuUsage()
  const bytesPerWaiter = await bytesOf(count, listActionVersions({ actionId }))
  const { system, user } = process.cpuUsage(begin)
  const answer: Answer = { bytesPerFiber, bytesPerWaiter, microsPerWaiter: (system + user) / count }
  process.send?.(answer)
})
process.send?.({})
