/** Runs the embedded tenant in a separate process on a free port, for benchmarks. */
import { HttpServer } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Deferred, Effect, Layer, Redacted, Runtime, type Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import * as Tenant from "../../src/Tenant.js"

/** Order for the tenant, which responds with a `Report`. */
type Order =
  | { readonly order: "revoke" }
  | { readonly order: "injectFault"; readonly fault: Tenant.Fault }
  | { readonly order: "report" }

/** Number of requests for each operation; `token` is the token endpoint. */
type Report = Readonly<Record<string, number>>

type Message = { readonly id: number; readonly origin?: string; readonly report?: Report }

export interface TenantProcess {
  readonly origin: string
  readonly send: (order: Order) => Effect.Effect<Report>
}

/** The page can be opened if the process is given a key. */
const [, , order, key] = process.argv

const options: Tenant.Options = {
  ...(key !== undefined && { control: { key: Redacted.make(key) } }),
  buckets: {
    tenant: { burst: 1_000_000, refill: 1_000_000, per: "1 second" },
    profileUpdates: { burst: 1_000_000, refill: 1_000_000, per: "1 second" }
  }
}

/** Runs the tenant in this process for the parent process. Exits when the parent does. */
const serve = Effect.gen(function*() {
  const tenant = yield* Tenant.Tenant
  const runFork = Runtime.runFork(yield* Effect.runtime())
  yield* HttpServer.serveEffect(tenant.app)
  const report = Effect.map(tenant.requests, (requests) => {
    const counts: Record<string, number> = {}
    for (const { operation = "none" } of requests) counts[operation] = (counts[operation] ?? 0) + 1
    return counts
  })
  const execute = (order: Order) =>
    Effect.zipRight(
      order.order === "revoke" ?
        tenant.revokeTokens
        : order.order === "injectFault" ?
        tenant.injectFault(order.fault)
        : Effect.void,
      report
    )
  const send = (message: Message) => Effect.sync(() => void process.send?.(message))
  process.on("message", ({ id, order }: { readonly id: number; readonly order: Order }) => {
    runFork(Effect.flatMap(execute(order), (report) => send({ id, report })))
  })
  process.on("disconnect", () => process.exit())
  yield* HttpServer.addressFormattedWith((origin) => send({ id: 0, origin }))
  return yield* Effect.never
}).pipe(
  Effect.scoped,
  Effect.provide(
    Layer.merge(
      Tenant.layerWith(options),
      NodeHttpServer.layer(() => createServer({ keepAliveTimeout: 60_000 }), {
        host: "127.0.0.1",
        port: 0
      })
    )
  )
)

/** Starts the tenant, with its live page if there is a key. Its process is killed when the scope is closed. */
export const tenantProcess = (key?: string): Effect.Effect<TenantProcess, never, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync((): ChildProcess =>
        fork(fileURLToPath(import.meta.url), ["serve", ...(key === undefined ? [] : [key])])
      ),
      (child) => Effect.sync(() => void child.kill())
    )
    const origin = yield* Deferred.make<string>()
    const waiting = new Map<number, (report: Report) => void>()
    let orders = 0
    child.on("message", (message: Message) => {
      if (message.origin !== undefined) Deferred.unsafeDone(origin, Effect.succeed(message.origin))
      if (message.report !== undefined) waiting.get(message.id)?.(message.report)
      waiting.delete(message.id)
    })
    child.on(
      "exit",
      (code) => Deferred.unsafeDone(origin, Effect.dieMessage(`the tenant's process exited with ${code}`))
    )
    return {
      origin: yield* Deferred.await(origin),
      send: (order) =>
        Effect.async<Report>((resume) => {
          const id = ++orders
          waiting.set(id, (report) => resume(Effect.succeed(report)))
          child.send({ id, order })
        })
    }
  })

if (process.argv[1] === fileURLToPath(import.meta.url) && order === "serve") Effect.runFork(serve)
