/** The service of a simulation: an embedded tenant with a life of its own, and an account of what it carried out. */
import { HttpClient, type HttpClientRequest } from "@effect/platform"
import { type Context, Effect, Random, Redacted } from "effect"
import * as Tenant from "../../src/Tenant.js"
import type { Life } from "./machine.js"
import { countTenants, isKeyOfJournal, isOnce, keyOfCall, sizes } from "./plan.js"
import type { World } from "./world.js"

/** A response before it travels. */
export interface PlainResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The addresses of the tenants. */
export const origins = ["https://tenant.test", "https://other.test"] as const

export const client = Tenant.demoClients.full

const numbered = (prefix: string, nth: number, length: number): string =>
  `${prefix}_${String(nth).padStart(length, "0")}`

export const streamOf = (journal: number): string => numbered("est", journal, 22)
export const eventOf = (event: number): string => numbered("evt", event, 22)
export const profile = Tenant.demo.profiles[0].id
export const action = Tenant.demo.actions[0].id

/** The events of a stream. The tenant does not know the last one, and the one before has been delivered. */
const events = (): ReadonlyArray<Tenant.StreamEvent> =>
  Array.from({ length: sizes.events - 1 }, (_, nth) => ({
    id: eventOf(nth),
    state: nth === sizes.events - 2 ? "delivered" : "failed"
  }))

/** The streams of two journals, and one for events that are redelivered without a journal. */
export const looseStream = 2
const streams = [0, 1, looseStream].map((journal) => ({ id: streamOf(journal), events: events() }))

export const versions = Array.from({ length: sizes.versions }, (_, nth) => ({
  id: `version-${nth}`,
  number: nth,
  status: "built"
}))

interface OpenTenant {
  readonly tenant: Tenant.Tenant["Type"]
  readonly http: Context.Tag.Service<typeof HttpClient.HttpClient>
}

export class Service {
  private readonly world: World
  private readonly life: Life
  private readonly random: Random.Random
  private readonly tenants = new Map<string, OpenTenant>()
  /** The number of times that each call, or each event of a journal, was carried out. */
  readonly carriedOut = new Map<string, number>()
  /** The genuine responses by their status. */
  readonly statuses = new Map<number, number>()
  /** The keys of calls that must not be carried out twice; so must no event of a journal. */
  private readonly once: ReadonlySet<string>

  constructor(world: World) {
    this.world = world
    this.life = world.machine.makeLife("service", world.plan.service.skew)
    this.random = Random.make(world.plan.seed)
    this.once = new Set(
      world.plan.processes.flatMap(({ calls, id }) => calls.filter(isOnce).map((call) => keyOfCall(id, call.id)))
    )
    world.secrets.add(Redacted.value(client.secret))
  }

  /** Starts the tenants; they can be used once `isOpen`. */
  open(): void {
    const { burst, perSecond, tokenLifetime } = this.world.plan.service
    const started = (origin: string) =>
      Effect.gen(this, function*() {
        const tenant = yield* Tenant.make({
          seed: {
            ...Tenant.demo,
            actions: [{ id: action, versions }],
            streams
          },
          buckets: { tenant: { burst, refill: perSecond, per: "1 second" } },
          tokenLifetime: `${tokenLifetime} seconds`
        })
        const http = yield* Effect.provideService(
          Effect.provide(HttpClient.HttpClient, Tenant.layerHttpClient),
          Tenant.Tenant,
          tenant
        )
        this.tenants.set(origin, { tenant, http })
      })
    const used = origins.slice(0, countTenants(this.world.plan))
    this.start(Effect.orDie(Effect.forEach(used, started, { discard: true })))
  }

  get isOpen(): boolean {
    return this.tenants.size === countTenants(this.world.plan)
  }

  /** Revokes all tokens. */
  revoke(): void {
    this.world.note("service revokes all tokens")
    for (const { tenant } of this.tenants.values()) this.start(tenant.revokeTokens)
  }

  /** Handles a request; `key` is the name under which it counts if it is carried out. */
  handle(
    key: string,
    request: HttpClientRequest.HttpClientRequest,
    respond: (response: PlainResponse) => void
  ): void {
    const found = this.tenants.get(new URL(request.url).origin)
    if (found === undefined) throw new Error(`no service is open at ${request.url}`)
    const { http, tenant } = found
    this.start(
      Effect.gen(this, function*() {
        const response = yield* http.execute(request)
        const body = yield* response.text
        this.statuses.set(response.status, (this.statuses.get(response.status) ?? 0) + 1)
        if (response.status < 300) {
          this.count(key)
          // All redeliveries fail, so that each one can be carried out twice.
          if (response.status === 202) yield* tenant.seed({ streams })
          if (key.endsWith("token")) this.world.secrets.add(JSON.parse(body).access_token)
        }
        respond({ status: response.status, headers: { ...response.headers }, body })
      }).pipe(Effect.orDie)
    )
  }

  private count(key: string): void {
    const times = (this.carriedOut.get(key) ?? 0) + 1
    this.carriedOut.set(key, times)
    if (times > 1 && (this.once.has(key) || isKeyOfJournal(key))) {
      this.world.violate("once", `${key} is carried out ${times} times`)
    }
  }

  private start(effect: Effect.Effect<void>): void {
    this.world.machine.start(
      this.life,
      effect.pipe(Effect.withRandom(this.random), Effect.withTracerEnabled(false))
    ).addObserver((exit) => {
      if (exit._tag === "Failure") this.world.violate("service", String(exit.cause))
    })
  }
}
