/** The stage: an HTTP server in Node that opens servers for the tests and reports the requests that reached them. */
import { type HttpApp, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Deferred, Effect, Exit, Scope } from "effect"
import { createServer } from "node:http"
import * as Tenant from "../../src/Tenant.js"
import * as Router from "../../src/tenant/server/router.js"
import { errorFieldsOf, goodJson, serverFor } from "../support/faultCalls.js"
import * as Faults from "../support/faultRows.js"
import { callHeader } from "../support/faultServer.js"
import { declaredFor, operations } from "../support/operations.js"
import { rawServer, responseBytes } from "../support/rawServer.js"
import type { FaultCase, Matrix, OpenedServer, Scene } from "./scenes.js"

/** Running server, with the orders that it accepts. */
interface RunningScene {
  /** URL without the path prefix of the interface. */
  readonly origin: string
  readonly orders: Readonly<Record<string, (input: never) => Effect.Effect<unknown>>>
}

const prefix = "/api/v2"
const originOf = (url: string) => new URL(url).origin

/** Serves an application on a free port. Returns its URL. */
const served = <E>(app: HttpApp.Default<E>): Effect.Effect<string, never, Scope.Scope> =>
  Effect.zipRight(HttpServer.serveEffect(app), HttpServer.addressFormattedWith(Effect.succeed)).pipe(
    Effect.provideServiceEffect(
      HttpServer.HttpServer,
      NodeHttpServer.make(() => createServer({ keepAliveTimeout: 60_000 }), { host: "127.0.0.1", port: 0 })
    ),
    Effect.orDie
  )

const tenant = (options: Tenant.Options | undefined): Effect.Effect<RunningScene, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { app, injectFault, requests, revokeTokens, state } = yield* Effect.orDie(Tenant.make(options))
    const origin = yield* served(app)
    return { origin, orders: { requests: () => requests, state: () => state, revoke: () => revokeTokens, injectFault } }
  })

const operationNamed = (name: string) => operations.filter(({ endpoint }) => endpoint.name === name)

const fault = (row: string, operation: string): Effect.Effect<RunningScene, never, Scope.Scope> =>
  Effect.gen(function*() {
    const [found] = Faults.rows.filter(({ name }) => name === row)
    const [subject] = operationNamed(operation)
    if (found === undefined || subject === undefined) return yield* Effect.dieMessage(`no fault ${row}, ${operation}`)
    const server = yield* serverFor(found, goodJson(subject))
    return {
      origin: originOf(server.url),
      orders: {
        arrived: () => Effect.sync(() => ({ calls: server.arrived, elsewhere: server.arrivedElsewhere.length }))
      }
    }
  })

const responses = (
  list: Extract<Scene, { readonly scene: "responses" }>["responses"]
): Effect.Effect<RunningScene, never, Scope.Scope> =>
  Effect.gen(function*() {
    let nth = 0
    const { requests, url } = yield* rawServer((_, socket) => {
      const { body = "", headers = {}, status = 200 } = list[Math.min(nth++, list.length - 1)] ?? {}
      const type = typeof body === "string" ? "text/plain" : "application/json"
      socket.write(
        responseBytes(
          status,
          { "content-type": type, ...headers },
          typeof body === "string" ? body : JSON.stringify(body)
        )
      )
    })
    return { origin: originOf(url), orders: { requests: () => Effect.succeed(requests) } }
  })

/** Sends no response, or only the beginning of one. Reports whether the client has closed the connection. */
const stalls = (within: "response" | "body"): Effect.Effect<RunningScene, never, Scope.Scope> =>
  Effect.gen(function*() {
    const arrived = yield* Deferred.make<true>()
    const closed = yield* Deferred.make<true>()
    const { requests, url } = yield* rawServer((_, socket) => {
      if (within === "body") {
        socket.write(responseBytes(200, { "content-type": "application/json", "content-length": "500" }, "{"))
      }
      Deferred.unsafeDone(arrived, Exit.succeed(true))
      socket.on("close", () => Deferred.unsafeDone(closed, Exit.succeed(true)))
    })
    const within5s = (deferred: Deferred.Deferred<true>) =>
      Deferred.await(deferred).pipe(
        Effect.timeoutTo({ duration: "5 seconds", onSuccess: (is) => is, onTimeout: () => false })
      )
    return {
      origin: originOf(url),
      orders: {
        arrived: () => within5s(arrived),
        closed: () => within5s(closed),
        requests: () => Effect.succeed(requests)
      }
    }
  })

const build = (scene: Scene): Effect.Effect<RunningScene, never, Scope.Scope> => {
  switch (scene.scene) {
    case "tenant":
      return tenant(scene.options)
    case "fault":
      return fault(scene.row, scene.operation)
    case "responses":
      return responses(scene.responses)
    case "stalls":
      return stalls(scene.within)
  }
}

const cases: ReadonlyArray<FaultCase> = Faults.rows.flatMap((row) =>
  operations.map((operation): FaultCase => {
    const { outcome, requests } = Faults.expected(row, operation.endpoint)
    const tags = outcome.tag === "declared"
      ? declaredFor(operation, outcome.status).map(({ name }) => name)
      : outcome.tag === "success"
      ? []
      : [outcome.tag]
    return {
      row: row.name,
      operation: operation.endpoint.name,
      gives: outcome.tag === "success"
        ? undefined
        : { tags: tags.length === 0 ? ["UnexpectedResponse"] : tags, fields: errorFieldsOf(outcome, operation) },
      requests,
      isWarm: row.warm === true,
      stalls: row.stalls === true
    }
  })
)

/** Operations of a quick run: an idempotent one with a value, and one that must not be retried. */
const quickOperations = ["listActionVersions", "redeliverEvent"]

/** Returns the fault matrix as data. */
export const matrixOf = (isQuick: boolean): Matrix => ({
  cases: cases.filter(({ operation }) => !isQuick || quickOperations.includes(operation)),
  attempts: Faults.attempts,
  maxBodySize: Faults.maxBodySize,
  callHeader,
  planted: Faults.planted
})

const json = (body: unknown, status = 200) => HttpServerResponse.unsafeJson(body ?? null, { status })

/** Serves the stage on a free port until the scope is closed. Returns its URL. */
export const serve = (matrix: Matrix): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function*() {
    const running = new Map<string, RunningScene & { readonly scope: Scope.CloseableScope }>()
    let opened = 0

    const close = (id: string) =>
      Effect.suspend(() => {
        const scene = running.get(id)
        running.delete(id)
        // A server closes when its last connection has closed; nothing waits for that.
        return scene === undefined ? Effect.void : Effect.forkDaemon(Scope.close(scene.scope, Exit.void))
      })
    yield* Effect.addFinalizer(() => Effect.forEach([...running.keys()], close))

    const routes = [
      HttpRouter.makeRoute("GET", "/matrix", Effect.succeed(json(matrix))),
      HttpRouter.makeRoute(
        "POST",
        "/scenes",
        Effect.gen(function*() {
          const request = yield* HttpServerRequest.HttpServerRequest
          const scope = yield* Scope.make()
          const scene = yield* Scope.extend(build((yield* request.json) as Scene), scope) // sound: a test has written it
          const id = String(++opened)
          running.set(id, { ...scene, scope })
          return json({ id, origin: scene.origin, url: `${scene.origin}${prefix}` } satisfies OpenedServer, 201)
        }).pipe(Effect.orDie)
      ),
      HttpRouter.makeRoute(
        "POST",
        "/scenes/:id/:order",
        Effect.gen(function*() {
          const request = yield* HttpServerRequest.HttpServerRequest
          const { id = "", order = "" } = yield* HttpRouter.params
          const carryOut = running.get(id)?.orders[order]
          if (carryOut === undefined) return json(`no scene ${id}, or no order ${order}`, 404)
          const input: unknown = yield* request.json
          return json(yield* carryOut(input as never)) // sound: a test has written it
        }).pipe(Effect.orDie)
      ),
      HttpRouter.makeRoute(
        "DELETE",
        "/scenes/:id",
        Effect.gen(function*() {
          const { id = "" } = yield* HttpRouter.params
          yield* close(id)
          return json(null)
        })
      )
    ]
    return yield* served(yield* Router.make(routes, Effect.succeed(json("not found", 404))))
  })
