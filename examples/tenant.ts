/** `npm run tenant -- [port]`: serves the demo tenant on 127.0.0.1 until Ctrl-C, and says how to point a client at it. */
import { HttpServer, HttpServerRequest } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Predicate, Redacted } from "effect"
import * as Tenant from "effect-identity-client/Tenant"
import { createServer } from "node:http"
import { bold, dim, green, red, yellow } from "./support/terminal.js"

const host = "127.0.0.1"

const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  rows.map((row) =>
    "  " +
    row.map((cell, column) =>
      column === row.length - 1 ? cell : cell.padEnd(Math.max(...rows.map((other) => other[column]?.length ?? 0)) + 2)
    ).join("")
  ).join("\n")

/** What the tenant serves, who may call it, what to try, and how a client finds it. */
const welcome = (origin: string): string => {
  const { full, notGlobal, readsActions } = Tenant.demoClients
  const client = ({ id, secret }: Tenant.Client, use: string) => [id, Redacted.value(secret), use]
  const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo
  const [failed, , , delivered] = stream.events
  return [
    [
      bold(`The demo tenant is at ${origin}`),
      table(Tenant.routes.map(({ method, path, scope }) => [method, path.replace("/api/v2", ""), scope ?? "(tokens)"])),
      dim("  Paths with a scope are below /api/v2.")
    ],
    [
      bold("Clients") + dim(" (id, secret, what for)"),
      table([
        client(full, "every scope, global"),
        client(readsActions, "read:actions only: 403"),
        client(notGlobal, "not global: 401 on exports")
      ])
    ],
    [
      bold("Ids to try"),
      table([
        ["connection", connection.id],
        ["profile", profile.id],
        ["action", action.id],
        ["event stream", stream.id],
        ["event, failed", failed.id],
        ["event, delivered", delivered.id]
      ])
    ],
    [
      bold("Point a client at it"),
      `  export IDENTITY_BASE_URL=${origin}/api/v2`,
      `  export IDENTITY_AUTH_URL=${origin}`,
      `  export IDENTITY_CLIENT_ID=${full.id}`,
      `  export IDENTITY_CLIENT_SECRET=${Redacted.value(full.secret)}`
    ],
    [
      bold("Look at it in a browser"),
      table([["every operation, to try", `${origin}/docs`], ["OpenAPI 3.1", `${origin}/openapi.json`]])
    ],
    [dim("Ctrl-C ends it.")]
  ].map((section) => section.join("\n")).join("\n\n")
}

const log = (method: string, url: string, status: number) =>
  Console.log(`${(status < 400 ? green : status < 500 ? yellow : red)(String(status))} ${method.padEnd(6)} ${url}`)

const serve = (port: number) => {
  const server = createServer()
  return Effect.gen(function*() {
    const { app } = yield* Tenant.Tenant
    yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
    const logged = Effect.tap(
      app,
      ({ status }) => Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, url }) => log(method, url, status))
    )
    yield* HttpServer.serveEffect(logged)
    yield* HttpServer.addressFormattedWith((origin) => Console.log(welcome(origin)))
    return yield* Effect.never
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.merge(Tenant.layer(), NodeHttpServer.layer(() => server, { host, port })))
  )
}

/** One sentence instead of a stack trace. */
const giveUp = (sentence: string) =>
  Effect.zipRight(
    Console.error(sentence),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )

const argument = process.argv[2] ?? "8787"

const program = /^\d{1,5}$/.test(argument) && Number(argument) <= 65535
  ? serve(Number(argument)).pipe(
    Effect.catchTag("ServeError", ({ cause }) => {
      const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown error"
      const reason = code === "EADDRINUSE" ? "is taken" : `cannot be used (${code})`
      return giveUp(`Port ${argument} ${reason}; choose another: npm run tenant -- 8788`)
    })
  )
  : giveUp(`"${argument}" is not a port; it must be a number from 0 to 65535.`)

NodeRuntime.runMain(program, { disableErrorReporting: true })
