/**
 * `npm run test:recordings -- --from FOLDER [--spec FILE] [--overlay FILE] [--responses lenient]`: generates the operations of a document, and
 * replays the recorded exchanges of the folder with them and with the built-in operations, over a socket: each request is made from an input,
 * and each response is served as it was recorded. By default the document is `../openapi/management-part.json` of the folder and the overlay
 * `auth0`. Prints what is refused, sent otherwise, not decoded, changed or a defect. The last line is JSON.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { parse } from "yaml"
import * as IdentityClient from "../src/IdentityClient.js"
import * as Node from "../src/Node.js"
import * as builtIn from "../src/operations/index.js"
import * as RateLimiter from "../src/RateLimiter.js"
import * as TokenProvider from "../src/TokenProvider.js"
import { routeOf } from "./generate/harness/laws.js"
import { checkTypes, generate, makeProject } from "./generate/harness/project.js"
import { type Exchange, readExchanges, templatesOf } from "./recordings/exchange.js"
import { type AnyEndpoint, type Finding, replay } from "./recordings/replay.js"
import { serve } from "./recordings/server.js"

const { values: { from, overlay, responses, spec } } = parseArgs({
  options: {
    from: { type: "string" },
    spec: { type: "string" },
    overlay: { type: "string", default: "auth0" },
    responses: { type: "string", default: "strict" }
  }
})

if (from === undefined) throw new Error("--from FOLDER is missing")
if (!existsSync(from)) {
  console.log(`${from} does not exist, so the recordings are left out`)
  process.exit(0)
}

const file = resolve(spec ?? join(from, "../openapi/management-part.json"))
const templates = templatesOf(parse(readFileSync(file, "utf8")))
const exchanges = readExchanges(from)

/** The endpoints of a module's operations by their routes. */
const byRoute = (module: Readonly<Record<string, unknown>>): ReadonlyMap<string, AnyEndpoint> =>
  new Map(
    Object.values(module)
      .filter((value): value is { readonly endpoint: AnyEndpoint } =>
        typeof value === "function" && "endpoint" in value
      )
      .map(({ endpoint }) => [routeOf(endpoint), endpoint])
  )

/** The endpoints of an exchange: the generated one and, if there is one, the built-in one. */
type EndpointsOf = (exchange: Exchange) => ReadonlyArray<readonly [name: string, endpoint: AnyEndpoint]>

const endpointsIn = (generated: Readonly<Record<string, unknown>>): EndpointsOf => {
  const all = [["generated", byRoute(generated)], ["built-in", byRoute(builtIn)]] as const
  return ({ operation }) => {
    const template = templates.get(operation)
    if (template === undefined) throw new Error(`the document has no operation ${operation}`)
    const route = routeOf({ ...template, path: template.path.replace(/^\/api\/v2/, "") })
    return all.flatMap(([name, endpoints]) => {
      const endpoint = endpoints.get(route)
      return endpoint === undefined ? [] : [[name, endpoint] as const]
    })
  }
}

const transports = { node: Node.layerHttpClient, fetch: FetchHttpClient.layer }

/** Replays all exchanges, with each of their endpoints and over each transport. */
const replayAll = (endpointsOf: EndpointsOf) =>
  Effect.gen(function*() {
    const server = yield* serve
    const clients = yield* Effect.forEach(Object.entries(transports), ([transport, http]) =>
      IdentityClient.layer({ baseUrl: `${server.origin}/api/v2` }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, TokenProvider.layerBearer(Redacted.make("token")), http]),
        Layer.build,
        Effect.map((context) =>
          [transport, context] as const
        )
      ))
    return yield* Effect.forEach(exchanges, (exchange) =>
      Effect.gen(function*() {
        const found = new Map<string, Finding & { readonly by: string }>()
        let undescribed: ReadonlyArray<string> = []
        const endpoints = endpointsOf(exchange)
        if (endpoints.length === 0) found.set("", { kind: "defect", reason: "was not generated", by: "generated" })
        for (const [by, endpoint] of endpoints) {
          for (const [transport, context] of clients) {
            const replayed = yield* Effect.provide(replay(server, endpoint, exchange), context)
            if (by === "generated") undescribed = replayed.undescribed
            for (const finding of replayed.findings) {
              const key = JSON.stringify([by, finding])
              // The same over both transports is one finding.
              found.set(key, { ...finding, by: found.has(key) ? by : `${by}, ${transport}` })
            }
          }
        }
        return { exchange, undescribed, findings: [...found.values()] }
      }))
  }).pipe(Effect.scoped)

const project = await makeProject()
try {
  const { code, output } = await generate(project, file, "--overlay", overlay, "--responses", responses)
  if (code !== 0) throw new Error(output)
  const types = await checkTypes(project)
  const complaints = [...types.complaints].flatMap(([path, messages]) =>
    messages.map((message) => `${path}: ${message}`)
  )
  for (const complaint of complaints) console.log(complaint)
  const generated = await import(pathToFileURL(join(project.out, "index.ts")).href)
  const replayed = await Effect.runPromise(replayAll(endpointsIn(generated)))

  const lines = new Map<string, number>()
  for (const { exchange, findings, undescribed } of replayed) {
    const { operation, rewritten, status } = exchange
    const add = (text: string) => {
      const line = `${operation} ${status}${rewritten ? " (rewritten)" : ""}: ${text}`
      lines.set(line, (lines.get(line) ?? 0) + 1)
    }
    for (const { by, kind, reason } of findings) add(`${kind} (${by}): ${reason}`)
    if (undescribed.length > 0) add(`sent by IdentityClient.withFields: ${undescribed.join(", ")}`)
  }
  for (const [line, count] of lines) console.log(count === 1 ? line : `${line} (${count} times)`)

  const without = (...kinds: ReadonlyArray<Finding["kind"]>) =>
    replayed.filter(({ findings }) => !findings.some(({ kind }) => kinds.includes(kind))).length
  const share = (count: number) => exchanges.length === 0 ? 0 : Math.floor(count / exchanges.length * 10_000) / 10_000
  const isAccepted = (findings: ReadonlyArray<Finding>) =>
    !findings.some(({ kind }) => kind === "refused" || kind === "sent")
  const plainly = replayed.filter(({ findings, undescribed }) =>
    undescribed.length === 0 && isAccepted(findings)
  ).length
  console.log(`accepted without IdentityClient.withFields: ${share(plainly)}`)
  const summary = {
    exchanges: exchanges.length,
    operations: new Set(exchanges.map(({ operation }) => operation)).size,
    accepted: share(replayed.filter(({ findings }) => isAccepted(findings)).length),
    decoded: share(without("undecoded")),
    changed: exchanges.length - without("changed"),
    defects: exchanges.length - without("defect") + complaints.length
  }
  console.log(JSON.stringify(summary))
  process.exitCode =
    summary.accepted >= 0.99 && summary.decoded >= 0.995 && summary.changed === 0 && summary.defects === 0
      ? 0
      : 1
} finally {
  project.remove()
}
