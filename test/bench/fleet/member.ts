/** One process of a fleet, which shares its limits and tokens if `FLEET_STORE` is set. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Endpoint from "../../../src/Endpoint.js"
import * as Fleet from "../../../src/Fleet.js"
import * as library from "../../../src/index.js"
import * as Node from "../../../src/Node.js"
import * as Redis from "../../../src/Redis.js"
import * as Tenant from "../../../src/Tenant.js"
import { client } from "../goodput/client.js"

const { full } = Tenant.demoClients
const url = process.env["FLEET_STORE"] ?? ""

const services = (origin: string) => {
  const credentials = { authUrl: origin, clientId: full.id, clientSecret: full.secret }
  const tokens = library.TokenProvider.layerClientCredentials(credentials)
  return url === ""
    ? Layer.merge(library.RateLimiter.layer, tokens)
    : Layer.merge(
      Fleet.layerRateLimiter,
      Layer.provide(tokens, Fleet.layerTokensWith({ encryptionKey: Redacted.make(process.env["FLEET_KEY"] ?? "") }))
    )
}

const clientOf = (origin: string) =>
  library.IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(Layer.provide(services(origin)))

/** The number of names under which each of the four operations makes its calls. */
const names = Math.ceil(Number(process.env["OPERATIONS"] ?? 4) / 4)

/** Lets a client make the calls of each operation under several names in turn: limiter and store know many operations then. */
const renaming = Layer.effect(
  library.IdentityClient.IdentityClient,
  Effect.map(library.IdentityClient.IdentityClient, (client) => {
    let calls = 0
    const renamed = new Map<string, Endpoint.Any>()
    const rename = <Declared extends Endpoint.Any>(endpoint: Declared): Declared => {
      const name = `${endpoint.name}${Math.floor(calls++ / 4) % names}`
      const known = renamed.get(name) as Declared | undefined // sound: a name belongs to one endpoint
      const copy = known ?? { ...endpoint, name }
      renamed.set(name, copy)
      return copy
    }
    return library.IdentityClient.IdentityClient.of({
      execute: (endpoint, input) => client.execute(rename(endpoint), input)
    })
  })
)

/** Warms up the process: the first calls take half a second of processor time, which eight processes would measure. */
const rehearsal = Effect.all(
  Array.from({ length: 200 }, () => library.listActionVersions({ actionId: Tenant.demo.actions[0].id })),
  { concurrency: "unbounded" }
).pipe(
  Effect.provide(
    clientOf("https://tenant.example.com").pipe(
      Layer.provide(Fleet.SharedStore.layerMemory),
      Layer.provide(Tenant.layerHttpClient),
      Layer.provide(Tenant.layerWith({ buckets: { tenant: { burst: 50, refill: 1000, per: "1 second" } } }))
    )
  ),
  Effect.orDie
)

Effect.runPromise(rehearsal).then(() =>
  client((origin, work) =>
    Effect.provide(
      work(library),
      (names === 1 ? clientOf(origin) : Layer.provide(renaming, clientOf(origin))).pipe(
        Layer.provide(url === "" ? Fleet.SharedStore.layerMemory : Redis.layerStore({ url: Redacted.make(url) })),
        Layer.provide(Node.layerHttpClient),
        Layer.orDie
      )
    )
  )
)
