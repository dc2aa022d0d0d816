/** `npm run tenant -- [port]`: serves the demo tenant on 127.0.0.1 until Ctrl-C, and prints the settings for a client. */
import { HttpServer, HttpServerRequest } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Predicate, Redacted } from "effect"
import * as Tenant from "effect-identity-client/Tenant"
import { createServer } from "node:http"
import { table } from "./support/table.js"
import { bold, dim, green, red, yellow } from "./support/terminal.js"

const host = "127.0.0.1"

const help = `Usage: npm run tenant -- [port]

Serves the demo tenant on ${host} until Ctrl-C, and prints a line for each request.

  port    the port to listen on, 0 for any free port (default: 8787)
  --help  print this text`

const indentedTable = (rows: ReadonlyArray<ReadonlyArray<string>>): string => table(rows).replace(/^/gm, "  ")

/** Lists the routes, the clients, ids to try, and the settings for a client. */
const welcome = (origin: string): string => {
  const { full, notGlobal, readsActions } = Tenant.demoClients
  const client = ({ id, secret }: Tenant.Client, use: string) => [id, Redacted.value(secret), use]
  const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo
  const [failed, , , delivered] = stream.events
  return [
    [
      bold(`The demo tenant listens at ${origin}`),
      indentedTable(
        Tenant.routes.map((
          { method, path, scopes: [scope = "(tokens)"] }
        ) => [method, path.replace("/api/v2", ""), scope])
      ),
      dim("  Paths with a scope are below /api/v2.")
    ],
    [
      bold("Clients") + dim(" (id, secret, use)"),
      indentedTable([
        client(full, "every scope, global"),
        client(readsActions, "read:actions only: 403 elsewhere"),
        client(notGlobal, "not global: 401 on exports")
      ])
    ],
    [
      bold("Ids to try"),
      indentedTable([
        ["connection", connection.id],
        ["profile", profile.id],
        ["action", action.id],
        ["event stream", stream.id],
        ["event, failed", failed.id],
        ["event, delivered", delivered.id]
      ])
    ],
    [
      bold("Settings for a client"),
      `  export IDENTITY_BASE_URL=${origin}/api/v2`,
      `  export IDENTITY_AUTH_URL=${origin}`,
      `  export IDENTITY_CLIENT_ID=${full.id}`,
      `  export IDENTITY_CLIENT_SECRET=${Redacted.value(full.secret)}`
    ],
    [
      bold("In a browser"),
      indentedTable([["forms for every operation", `${origin}/docs`], ["OpenAPI 3.1", `${origin}/openapi.json`]])
    ],
    [dim("Press Ctrl-C to stop.")]
  ].map((section) => section.join("\n")).join("\n\n")
}

const logRequest = (method: string, url: string, status: number) =>
  Console.log(`${(status < 400 ? green : status < 500 ? yellow : red)(String(status))} ${method.padEnd(6)} ${url}`)

/** A tenant that prints a line for each request. */
const LoggingTenant = Layer.effect(
  Tenant.Tenant,
  Effect.map(Tenant.make(), (tenant) => ({
    ...tenant,
    app: Effect.tap(
      tenant.app,
      ({ status }) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, url }) => logRequest(method, url, status))
    )
  }))
)

const serve = (port: number) => {
  const server = createServer()
  return Effect.gen(function*() {
    yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
    yield* Layer.build(Tenant.layerServer)
    yield* HttpServer.addressFormattedWith((origin) => Console.log(welcome(origin)))
    return yield* Effect.never
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.merge(LoggingTenant, NodeHttpServer.layer(() => server, { host, port })))
  )
}

/** Prints one sentence instead of a stack trace, and ends with exit code 1. */
const exitWith = (message: string) =>
  Effect.zipRight(
    Console.error(message),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )

const argument = process.argv[2] ?? "8787"

const program = argument === "--help"
  ? Console.log(help)
  : /^\d{1,5}$/.test(argument) && Number(argument) <= 65535
  ? serve(Number(argument)).pipe(
    Effect.catchTag("ServeError", ({ cause }) => {
      const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown error"
      const reason = code === "EADDRINUSE" ? "is already in use" : `cannot be used (${code})`
      return exitWith(`Port ${argument} ${reason}. Choose another, for example: npm run tenant -- 8788`)
    })
  )
  : exitWith(`"${argument}" is not a port: expected a number from 0 to 65535.`)

NodeRuntime.runMain(program, { disableErrorReporting: true })
