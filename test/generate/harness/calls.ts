/** Calls all operations of a document against one tenant. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as HttpServer from "@effect/platform/HttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as IdentityClient from "../../../src/IdentityClient.js"
import * as RateLimiter from "../../../src/RateLimiter.js"
import * as Tenant from "../../../src/Tenant.js"
import * as TokenProvider from "../../../src/TokenProvider.js"
import type { Described, JsonObject } from "./document.js"
import type { Received } from "./inputs.js"
import { checkOperation, type Report, routeOf, type Subject, type World } from "./laws.js"
import { clientsOf, layer } from "./server.js"
import { Values } from "./values.js"

const clientLayer = (origin: string, client: Tenant.Client) =>
  IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
    Layer.provide(RateLimiter.layerUnlimited),
    Layer.provide(TokenProvider.layerClientCredentials({
      authUrl: origin,
      clientId: client.id,
      clientSecret: client.secret
    })),
    Layer.provide(NodeHttpClient.layerUndici)
  )

/** The operation as the generated one names the fields of its path: those that another part has, too, are called otherwise there. */
const withNamesOf = (described: Described, { endpoint }: Subject): Described => {
  const written: ReadonlyArray<string> = described.path.match(/(?<=\{)[^}]+(?=\})/g) ?? []
  const own: ReadonlyArray<string> = endpoint.path.match(/(?<=\/:)[^/]+/g) ?? []
  const ownName = (name: string) => own[written.indexOf(name)] ?? name
  return {
    ...described,
    path: described.path.replace(/\{([^}]+)\}/g, (_, name: string) => `{${ownName(name)}}`),
    parameters: described.parameters.map((each) => each.place === "path" ? { ...each, name: ownName(each.name) } : each)
  }
}

/** Calls each described operation with the generated one of its route. */
export const callAll = (
  document: JsonObject,
  described: ReadonlyArray<Described>,
  generated: Readonly<Record<string, unknown>>
): Effect.Effect<ReadonlyArray<Report>> => {
  const subjects = Object.values(generated).filter((value): value is Subject =>
    typeof value === "function" && "endpoint" in value
  )
  const byRoute = new Map(subjects.map((subject) => [routeOf(subject.endpoint), subject]))
  const clients = clientsOf([...new Set(described.flatMap(({ scopes }) => scopes))])
  const received: Array<Received> = []
  const values = new Values(document)
  const program = Effect.gen(function*() {
    const tenant = yield* Tenant.Tenant
    const { address } = yield* HttpServer.HttpServer
    const origin = `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`
    const contexts = new Map<string, Layer.Layer<IdentityClient.IdentityClient>>()
    const scope = yield* Effect.scope
    const clientOf = (client: Tenant.Client) =>
      Effect.gen(function*() {
        const known = contexts.get(client.id)
        if (known !== undefined) return known
        const context = yield* Layer.buildWithScope(clientLayer(origin, client), scope)
        const made = Layer.succeedContext(context)
        contexts.set(client.id, made)
        return made
      })
    const as: World["as"] = (call, scope) =>
      Effect.flatMap(
        Effect.orDie(clientOf(scope === undefined ? clients.full : scope === "" ? clients.none : clients.only(scope))),
        (client) => Effect.provide(call, client)
      )
    const world: World = { document, values, tenant, received, as }
    return yield* Effect.forEach(described, (each): Effect.Effect<Report> => {
      const subject = byRoute.get(routeOf(each))
      received.length = 0
      return subject === undefined
        ? Effect.succeed({ name: routeOf(each), inputs: 0, responses: 0, statuses: 0, faults: ["was not generated"] })
        : checkOperation(withNamesOf(each, subject), subject, world)
    })
  })
  return program.pipe(Effect.scoped, Effect.provide(layer(generated, clients.all, received)), Effect.orDie)
}
