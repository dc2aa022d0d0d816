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
import { isLoopback } from "../../internal/http/baseUrl.js"
import { issuesOf } from "../../internal/schema/parseIssues.js"
import * as Tenant from "../../Tenant.js"
import { keyPattern } from "../../tenant/control/messages.js"
import { isHostName } from "../../tenant/server/allowedHosts.js"
import { define } from "../shared/definition.js"
import { Exited, WrongUsage } from "../shared/exit.js"
import { json, optional } from "../shared/parameters.js"
import { complain, green, jsonLine, printableLine, red, yellow } from "../shared/text.js"
import { controlVariables, variables, welcome } from "./tenantWelcome.js"

const thisMachine = "127.0.0.1"

/** The addresses of a server that listens at all of the machine's: a client needs one of these. */
const everyAddress = ["0.0.0.0", "::"]

/** The origin at which a client on this machine reaches the server. */
const originOf = (address: HttpServer.Address): string => {
  const [, listening = thisMachine, port = ""] =
    /^http:\/\/\[?(.*?)\]?:(\d+)$/.exec(HttpServer.formatAddress(address)) ?? []
  const host = everyAddress.includes(listening) ? thisMachine : listening
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`
}

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

const serve = (listen: { readonly host: string; readonly port: number }, options: Tenant.Options, json: boolean) => {
  const server = createServer()
  return Effect.gen(function*() {
    yield* Layer.build(Tenant.layerServer)
    // Runs before the server's own finalizer, which may wait for its connections to end.
    yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
    const { control } = yield* Tenant.Tenant
    const key = control === undefined ? "" : Redacted.value(control.key)
    const origin = originOf((yield* HttpServer.HttpServer).address)
    yield* Console.log(
      json
        ? jsonLine({ ...variables(origin), ...controlVariables(origin, key) })
        : welcome(origin, key, options.seed === undefined)
    )
    return yield* Effect.never
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.merge(loggingTenant(options, json), NodeHttpServer.layer(() => server, listen)))
  )
}

/** Explains why a server cannot listen. */
const cannotListen = (host: string, port: number, code: string): string => {
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return `${host} is no address of this machine. Use ${thisMachine}, or 0.0.0.0 for all of its addresses.`
  }
  const reason = code === "EADDRINUSE" ? "is already in use" : `cannot be used (${code})`
  const other = port < 1024 || port === 65535 ? 8788 : port + 1
  return `Port ${port} ${reason}. Choose another, for example: --port ${other}`
}

const isLocal = (host: string): boolean => host === "::1" || isLoopback(host)

const openWarning =
  "Warning: other machines can reach this tenant, and the secrets of its clients are public. Keep nothing real in it."

const origin = (text: string) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
    ? Effect.succeed(url.origin)
    : new WrongUsage({ message: `--export-origin must be an origin such as https://files.example.com, got ${text}` })
}

const hostNames = (hosts: ReadonlyArray<string>) =>
  Effect.forEach(hosts, (host) =>
    isHostName(host)
      ? Effect.succeed(host)
      : new WrongUsage({ message: `--allowed-host must be a name without scheme and port, got ${host}` }))

export const definition = define({
  name: "tenant",
  usage:
    "[--port NUMBER] [--host ADDRESS] [--allowed-host NAME…] [--seed FILE] [--export-origin URL] [--unknown-query ignore] [--json]",
  about:
    `Serves a tenant on ${thisMachine} until Ctrl-C, for programs in any language. It prints the variables for a client, the ` +
    "address of a live page with the key for it, and a line for each request. Nothing is kept when it ends.",
  config: {
    port: Options.integer("port").pipe(
      Options.withDefault(8787),
      Options.withDescription("The port, 0 for any that is free (default: 8787)")
    ),
    host: Options.text("host").pipe(
      Options.withDefault(thisMachine),
      Options.withDescription(
        `The address to listen at (default: ${thisMachine}); in a container 0.0.0.0, so that other machines reach it`
      )
    ),
    allowedHosts: Options.text("allowed-host").pipe(
      Options.withDescription(
        "Respond for this host, too, for example the name of the container: --allowed-host tenant"
      ),
      Options.repeated
    ),
    seed: Options.file("seed", { exists: "yes" }).pipe(
      Options.withDescription("A JSON file with connections, profiles, actions and streams (default: demo data)"),
      Options.optional
    ),
    exportOrigin: optional(
      Options.text("export-origin"),
      "The origin of the links to exported files (default: that of the request, under another name)"
    ),
    unknownQuery: Options.choice("unknown-query", ["refuse", "ignore"]).pipe(
      Options.withDefault("refuse" as const),
      Options.withDescription("What becomes of query parameters that no declaration has (default: refuse)")
    ),
    json: json("the variables as a line of JSON, then a line per request")
  },
  run: ({ allowedHosts, exportOrigin, host, json, port, seed, unknownQuery }) =>
    Effect.gen(function*() {
      if (port < 0 || port > 65535) {
        return yield* new WrongUsage({ message: `${port} is not a port: expected a number from 0 to 65535.` })
      }
      const hosts = yield* hostNames(allowedHosts)
      const isOpen = !isLocal(host)
      const options: Tenant.Options = {
        control: yield* control,
        seed: yield* Option.match(seed, { onNone: () => Effect.succeed(undefined), onSome: readSeed }),
        exports: { origin: exportOrigin === undefined ? undefined : yield* origin(exportOrigin) },
        allowedHosts: isOpen || hosts.length > 0 ? hosts : undefined,
        unknownQuery
      }
      if (isOpen) yield* complain(openWarning)
      yield* serve({ host, port }, options, json)
    }).pipe(Effect.catchTag("ServeError", ({ cause }) => {
      const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown error"
      return Effect.zipRight(complain(cannotListen(host, port, code)), new Exited({ code: 1 }))
    }))
})
