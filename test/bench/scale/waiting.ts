/** Measures the memory of bare waiting fibers, and of calls that wait for a permit. The process needs `--expose-gc`. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { IdentityClient, listActionVersions, RateLimiter, TokenProvider } from "../../../src/index.js"
import { actionId } from "../calls/payloads.js"

/** Asks the process to start this number of waiting fibers and calls. */
export interface Job {
  readonly count: number
}

/** Sent by the process: heap bytes per fiber and per call, and the processor time to start and interrupt a waiting call. */
export interface Measurement {
  readonly bytesPerFiber: number
  readonly bytesPerWaiter: number
  readonly microsPerWaiter: number
}

/** A client whose limit allows one call a day. */
const client = IdentityClient.layer({ baseUrl: "http://127.0.0.1:9/api/v2" }).pipe(
  Layer.provide(RateLimiter.layerFixed({ limit: 1, interval: "1 day" })),
  Layer.provide(TokenProvider.layerBearer(Redacted.make("a-token"))),
  Layer.provide(Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.never)))
)

const heap = async (): Promise<number> => {
  // Ended fibers are released only after further iterations of the event loop.
  for (let iteration = 0; iteration < 5; iteration++) {
    await new Promise<void>((resolve) => void setImmediate(resolve))
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

const runtime = ManagedRuntime.make(client)
runtime.runFork(listActionVersions({ actionId })) // uses up the limit

const bytesOf = async (count: number, wait: Effect.Effect<unknown, unknown, IdentityClient.IdentityClient>) => {
  const before = await heap()
  const fibers = Array.from({ length: count }, () => runtime.runFork(wait))
  const after = await heap()
  await Effect.runPromise(Fiber.interruptAll(fibers))
  return (after - before) / count
}

process.on("disconnect", () => process.exit())
process.on("message", async ({ count }: Job) => {
  const bytesPerFiber = await bytesOf(count, Effect.never)
  const start = process.cpuUsage()
  const bytesPerWaiter = await bytesOf(count, listActionVersions({ actionId }))
  const { system, user } = process.cpuUsage(start)
  const measurement: Measurement = { bytesPerFiber, bytesPerWaiter, microsPerWaiter: (system + user) / count }
  process.send?.(measurement)
})
process.send?.({})
