/** One process without a cluster: a run with a journal in files. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as library from "../../../src/index.js"
import * as Node from "../../../src/Node.js"
import * as Redelivery from "../../../src/Redelivery.js"
import * as Tenant from "../../../src/Tenant.js"
import { concurrency, idsOf, stream, type Work } from "./settings.js"

/** The argument of the process. */
export interface SingleSettings {
  readonly work: Work
  readonly origin: string
  readonly directory: string
}

/** Sent by the process when it is ready. */
export interface Ready {
  readonly isReady: true
}

/** Sent by the process in return to a message, when all events have an outcome. */
export type Outcomes = ReadonlyArray<readonly [id: string, outcome: string, reason: string]>

const { directory, origin, work }: SingleSettings = JSON.parse(process.argv[2] ?? "{}")
const { full } = Tenant.demoClients

const client = library.IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
  Layer.provide(library.RateLimiter.layer),
  Layer.provide(
    library.TokenProvider.layerClientCredentials({ authUrl: origin, clientId: full.id, clientSecret: full.secret })
  ),
  Layer.provide(Node.layerHttpClient)
)

const run = Effect.gen(function*() {
  const journal = yield* Node.journal(directory)
  const outcomes: Array<Outcomes[number]> = []
  yield* Stream.runForEach(
    Redelivery.run(idsOf(work), { stream, journal, concurrency }),
    ({ error, id, outcome }) => Effect.sync(() => outcomes.push([id, outcome, error?.message ?? ""]))
  )
  process.send?.(outcomes satisfies Outcomes)
})

setTimeout(() => process.exit(1), work.limitMs).unref()
process.on("disconnect", () => process.exit())
process.once("message", () => Effect.runFork(Effect.provide(run, client)))
process.send?.({ isReady: true } satisfies Ready)
