/** `tenant`: serves the embedded tenant, for programs in any language. */
import * as Options from "@effect/cli/Options"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { issuesOf } from "../../internal/schema/parseIssues.js"
import * as Tenant from "../../Tenant.js"
import { keyFragment, keyPattern } from "../../tenant/control/messages.js"
import { define } from "../shared/definition.js"
import { Exited, WrongUsage } from "../shared/exit.js"
import { json } from "../shared/parameters.js"
import { bold, complain, dim, green, jsonLine, printableLine, red, table, yellow } from "../shared/text.js"

const host = "127.0.0.1"

const indentedTable = (rows: ReadonlyArray<ReadonlyArray<string>>): string => table(rows).replace(/^/gm, "  ")

/** The variables of a client that has every scope. `IDENTITY_TOKEN_URL` is for other programs than this one. */
const variables = (origin: string) => {
  const { full } = Tenant.demoClients
  return {
    IDENTITY_BASE_URL: `${origin}/api/v2`,
    IDENTITY_AUTH_URL: origin,
    IDENTITY_TOKEN_URL: `${origin}/oauth/token`,
    IDENTITY_CLIENT_ID: full.id,
    IDENTITY_CLIENT_SECRET: Redacted.value(full.secret)
  }
}

const clients = () => {
  const { full, notGlobal, readsActions } = Tenant.demoClients
  const client = ({ id, secret }: Tenant.Client, use: string) => [id, Redacted.value(secret), use]
  return [
    client(full, "every scope, global"),
    client(readsActions, "read:actions only, else 403"),
    client(notGlobal, "not global: 401 on exports")
  ]
}

const demoIds = () => {
  const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo
  const [failed, , , delivered] = stream.events
  return [
    ["connection", connection.id],
    ["profile", profile.id],
    ["action", action.id],
    ["event stream", stream.id],
    ["event, failed", failed.id],
    ["event, delivered", delivered.id]
  ]
}

/** The variables of programs that use the control interface. */
const controlVariables = (origin: string, key: string) => ({
  IDENTITY_CONTROL_URL: `${origin}/_tenant`,
  IDENTITY_CONTROL_KEY: key
})

const exports = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables).map(([name, value]) => `  export ${name}=${value}`)

/** Lists the variables for a client, the clients, ids to try, and the pages. */
const welcome = (origin: string, key: string, isDemo: boolean): string =>
  [
    [bold(`The tenant listens at ${origin}`)],
    [
      bold("Variables for a client"),
      ...exports(variables(origin))
    ],
    [bold("Clients") + dim(" (id, secret, use)"), indentedTable(clients())],
    ...(isDemo ? [[bold("Ids to try"), indentedTable(demoIds())]] : []),
    [
      bold("In a browser"),
      indentedTable([
        ["live page", `${origin}/#${keyFragment}=${key}`],
        ["operations", `${origin}/docs#${keyFragment}=${key}`],
        ["OpenAPI 3.1", `${origin}/openapi.json`]
      ])
    ],
    [
      bold("For tests in any language, to look at the tenant and to control it"),
      ...exports(controlVariables(origin, key))
    ],
    [dim("Press Ctrl-C to stop.")]
  ].map((section) => section.join("\n")).join("\n\n")

const logRequest = (method: string, url: string, status: number, json: boolean) =>
  Console.log(
    json
      ? jsonLine({ method, url, status })
      : `${(status < 400 ? green : status < 500 ? yellow : red)(String(status))} ${method.padEnd(6)} ${
        printableLine(url)
      }`
  )

/** The requests for the pages, and all for the control interface. */
const ofPages = /^(?:GET|HEAD) \/(?:docs)?(?:\?|$)|^\S+ \/_tenant(?:[/?]|$)/

/** A tenant that prints a line for each request but those of its pages. */
const loggingTenant = (options: Tenant.Options, json: boolean) =>
  Layer.effect(
    Tenant.Tenant,
    Effect.map(Tenant.make(options), (tenant) => ({
      ...tenant,
      app: Effect.tap(
        tenant.app,
        ({ status }) =>
          Effect.flatMap(
            HttpServerRequest.HttpServerRequest,
            ({ method, url }) => ofPages.test(`${method} ${url}`) ? Effect.void : logRequest(method, url, status, json)
          )
      )
    }))
  )

/** The key that the environment sets, so that an open page stays connected over a restart; `true` for a random one. */
const control = Effect.flatMap(
  Config.option(Config.redacted("IDENTITY_CONTROL_KEY")),
  Option.match({
    onNone: () => Effect.succeed<Tenant.Options["control"]>(true),
    onSome: (key) =>
      keyPattern.test(Redacted.value(key))
        ? Effect.succeed({ key })
        : new WrongUsage({ message: "IDENTITY_CONTROL_KEY must have at least 16 letters, digits or any of . _ ~ -" })
  })
)

/** The parts of a seed, with the fields that the tenant needs. It sends the others as they are. */
const anything = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const items = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.optional(Schema.Array(Schema.Struct({ id: Schema.String, ...fields }, anything)))

const SeedFile = Schema.Struct({
  connections: items({ name: Schema.String }),
  jobs: items({}),
  profiles: items({}),
  actions: items({ versions: Schema.Array(anything) }),
  streams: items({ events: Schema.Array(Schema.Struct({ id: Schema.String, state: Schema.String }, anything)) })
})

const notSeed = (file: string, reason: string) => new WrongUsage({ message: `${file} is not a seed: ${reason}` })

const readSeed = (file: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(fs.readFileString(file), ({ message }) => notSeed(file, message))
    const content = yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: (error) => notSeed(file, String(error))
    })
    const seed = yield* Effect.mapError(
      Schema.decodeUnknown(SeedFile, { onExcessProperty: "error", errors: "all" })(content),
      ({ issue }) =>
        notSeed(file, issuesOf(issue).map(({ message, path }) => `${path || "the file"}: ${message}`).join(", "))
    )
    return seed as unknown as Tenant.Seed // sound: the tenant uses no other field than to send it
  })

const serve = (port: number, options: Tenant.Options, json: boolean) => {
  const server = createServer()
  return Effect.gen(function*() {
    yield* Layer.build(Tenant.layerServer)
    // Runs before the server's own finalizer, which may wait for its connections to end.
    yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
    const { control } = yield* Tenant.Tenant
    const key = control === undefined ? "" : Redacted.value(control.key)
    yield* HttpServer.addressFormattedWith((origin) =>
      Console.log(
        json
          ? jsonLine({ ...variables(origin), ...controlVariables(origin, key) })
          : welcome(origin, key, options.seed === undefined)
      )
    )
    return yield* Effect.never
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.merge(loggingTenant(options, json), NodeHttpServer.layer(() => server, { host, port })))
  )
}

export const definition = define({
  name: "tenant",
  usage: "[--port NUMBER] [--seed FILE] [--json]",
  about:
    `Serves a tenant on ${host} until Ctrl-C, for programs in any language. It prints the variables for a client, the ` +
    "address of a live page with the key for it, and a line for each request. Nothing is kept when it ends.",
  config: {
    port: Options.integer("port").pipe(
      Options.withDefault(8787),
      Options.withDescription("The port, 0 for any that is free (default: 8787)")
    ),
    seed: Options.file("seed", { exists: "yes" }).pipe(
      Options.withDescription("A JSON file with connections, profiles, actions and streams (default: demo data)"),
      Options.optional
    ),
    json: json("the variables as a line of JSON, then a line per request")
  },
  run: ({ json, port, seed }) =>
    Effect.gen(function*() {
      if (port < 0 || port > 65535) {
        return yield* new WrongUsage({ message: `${port} is not a port: expected a number from 0 to 65535.` })
      }
      const data = yield* Option.match(seed, { onNone: () => Effect.succeed(undefined), onSome: readSeed })
      yield* serve(port, { control: yield* control, ...(data !== undefined && { seed: data }) }, json)
    }).pipe(Effect.catchTag("ServeError", ({ cause }) => {
      const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown error"
      const reason = code === "EADDRINUSE" ? "is already in use" : `cannot be used (${code})`
      return Effect.zipRight(
        complain(`Port ${port} ${reason}. Choose another, for example: --port ${port === 0 ? 8788 : port + 1}`),
        new Exited({ code: 1 })
      )
    }))
})
