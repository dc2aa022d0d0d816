/** `npm run test:model`: compares a fleet with a simple model under random interleavings, store failures and clock changes. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, FastCheck, type Fiber, Layer, Logger, Redacted, Scope } from "effect"
import * as Layers from "../../src/Fleet.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { type FlakyStore, flakyStore, layerOf, skewed } from "../support/fleet.js"
import { acquire } from "../support/fleetStore.js"
import * as VirtualTime from "../support/virtualTime.js"

const members = 3
const [burst, perSecond] = [12, 4]
const lifetime = 100_000

/** A process, which has a time of day and a connection of its own. */
interface Process {
  readonly limiter: RateLimiter.RateLimiter["Type"]
  readonly tokens: TokenProvider.TokenProvider["Type"]
  readonly scope: Scope.CloseableScope
  readonly skew: { millis: number }
}

/** The model: a bucket, and the tokens that were issued. It has neither stores nor processes. */
class Model {
  private level = burst
  private at = 0
  served = 0
  refused = 0
  /**
   * The refusals allowed: each process may cause one whenever the store or its values are lost; or, if that is more, as many as the
   * bucket lacks then, because a fleet without its memory assumes a full one.
   */
  pardoned = 0
  readonly issued = new Map<string, number>()
  readonly revoked = new Set<string>()

  /** Takes a call; returns the calls left, and whether the call is refused. */
  take(now: number): { readonly left: number; readonly isRefused: boolean } {
    this.level = Math.min(burst, this.level + (now - this.at) * perSecond / 1000)
    this.at = now
    const isRefused = this.level < 1 - 1e-9
    if (isRefused) this.refused++
    else {
      this.served++
      this.level--
    }
    return { left: Math.max(0, Math.floor(this.level + 1e-9)), isRefused }
  }

  /** The calls that the bucket lacks at a time. */
  missing(now: number): number {
    return Math.ceil(burst - Math.min(burst, this.level + (now - this.at) * perSecond / 1000))
  }

  fullIn(): number {
    return Math.ceil((burst - this.level) / perSecond)
  }
}

/** The fleet, its store and the service, in virtual time. */
class Fleet {
  readonly time = VirtualTime.session()
  readonly model = new Model()
  readonly processes: Array<Process> = []
  store!: FlakyStore
  readonly fibers: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
  readonly faults: Array<string> = []

  async open(): Promise<this> {
    this.store = await this.now(flakyStore)
    for (let nth = 0; nth < members; nth++) this.processes.push(await this.now(this.start()))
    return this
  }

  /** Runs an effect that takes no time. */
  async now<A, E>(effect: Effect.Effect<A, E>): Promise<A> {
    const exit = (await this.time.begin(Effect.provide(effect, Logger.remove(Logger.defaultLogger)))).unsafePoll()
    if (exit === null || Exit.isFailure(exit)) throw new Error(`not done: ${String(exit)}`)
    return exit.value
  }

  async begin(effect: Effect.Effect<unknown, unknown>): Promise<void> {
    this.fibers.push(await this.time.begin(Effect.provide(effect, Logger.remove(Logger.defaultLogger))))
  }

  start(): Effect.Effect<Process> {
    return Effect.gen(this, function*() {
      const { clock, skew } = skewed(yield* Effect.clock)
      const scope = yield* Scope.make()
      const services = yield* Layer.build(Layer.fresh(
        Layer.merge(Layers.layerRateLimiter, TokenProvider.layerEffect(this.issue, { name: "t" })).pipe(
          Layer.provide(Layers.layerTokensWith({})),
          Layer.provide(layerOf(this.store))
        )
      )).pipe(Scope.extend(scope), Effect.withClock(clock), Effect.orDie)
      return {
        limiter: Context.get(services, RateLimiter.RateLimiter),
        tokens: Context.get(services, TokenProvider.TokenProvider),
        scope,
        skew
      }
    })
  }

  /** The token endpoint. */
  readonly issue = Effect.suspend(() => {
    const token = `t${this.model.issued.size + 1}`
    this.model.issued.set(token, this.time.now())
    return Effect.delay(Effect.succeed({ token: Redacted.make(token), lifetime: Duration.millis(lifetime) }), 300)
  })

  /** The service. */
  readonly respond = Effect.sync((): RateLimiter.LimitedResponse => {
    const now = this.time.now()
    const { isRefused, left } = this.model.take(now)
    return {
      status: isRefused ? 429 : 200,
      headers: Headers.fromInput({
        "x-ratelimit-limit": String(burst),
        "x-ratelimit-remaining": String(left),
        "x-ratelimit-reset": String(Math.floor(now / 1000) + this.model.fullIn()),
        "date": new Date(now).toUTCString()
      })
    }
  })

  /** Makes a call as a client does. */
  call({ limiter }: Process): Effect.Effect<void, unknown> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        restore(acquire(limiter)),
        ({ settle }) => Effect.flatMap(Effect.delay(this.respond, 5), settle)
      )
    )
  }

  /** Gets a token, which must have been issued and must not have expired. */
  token({ tokens }: Process): Effect.Effect<void, unknown> {
    return Effect.map(tokens.get, (token) => {
      const issuedAt = this.model.issued.get(Redacted.value(token))
      if (issuedAt === undefined) this.faults.push(`${Redacted.value(token)} was never issued`)
      else if (this.time.now() >= issuedAt + lifetime + 300) {
        this.faults.push(`${Redacted.value(token)} has expired`)
      }
    })
  }

  check(): void {
    assert.deepStrictEqual(this.faults, [])
    assert.isAtMost(this.model.refused, this.model.pardoned, `${this.model.served} were served`)
  }
}

type Command = FastCheck.AsyncCommand<Record<string, never>, Fleet>

const command = (name: string, run: (fleet: Fleet) => Promise<void>): Command => ({
  check: () => true,
  run: async (_, fleet) => {
    await run(fleet)
    fleet.check()
  },
  toString: () => name
})

/** The events of a run. */
const does = {
  calls: (nth: number, times: number) =>
    command(`${times} calls of ${nth}`, async (fleet) => {
      for (let time = 0; time < times; time++) await fleet.begin(fleet.call(fleet.processes[nth]!))
    }),
  token: (nth: number) => command(`token of ${nth}`, (fleet) => fleet.begin(fleet.token(fleet.processes[nth]!))),
  wait: (millis: number) => command(`${millis} ms`, (fleet) => fleet.time.advance(millis)),
  leap: (nth: number, millis: number) =>
    command(`clock of ${nth} leaps to ${millis}`, async (fleet) => {
      fleet.processes[nth]!.skew.millis = millis
    }),
  store: (state: FlakyStore["state"]) =>
    command(`store is ${state}`, async (fleet) => {
      if (fleet.store.state === state) return
      fleet.store.state = state
      fleet.model.pardoned += fleet.processes.length
    }),
  lose: () =>
    command("store loses all", async (fleet) => {
      await fleet.now(fleet.store.lose)
      fleet.model.pardoned += Math.max(fleet.processes.length, fleet.model.missing(fleet.time.now()))
    }),
  replace: (nth: number) =>
    command(`${nth} goes, another comes`, async (fleet) => {
      await fleet.begin(Scope.close(fleet.processes[nth]!.scope, Exit.void))
      fleet.processes[nth] = await fleet.now(fleet.start())
    }),
  invalidate: (nth: number, which: number) =>
    command(`a token of ${nth} is refused`, async (fleet) => {
      const token = Array.from(fleet.model.issued.keys()).at(-1 - which)
      if (token !== undefined) await fleet.begin(fleet.processes[nth]!.tokens.invalidate(Redacted.make(token)))
    })
}

const member = FastCheck.integer({ min: 0, max: members - 1 })

const commands = [
  FastCheck.tuple(member, FastCheck.integer({ min: 1, max: 30 })).map(([nth, times]) => does.calls(nth, times)),
  member.map(does.token),
  FastCheck.constantFrom(1, 20, 300, 2000, 9000, 60_000).map(does.wait),
  FastCheck.tuple(member, FastCheck.integer({ min: -90_000, max: 90_000 })).map(([nth, millis]) =>
    does.leap(nth, millis)
  ),
  FastCheck.constantFrom<FlakyStore["state"]>("up", "up", "down", "hung").map(does.store),
  FastCheck.constant(does.lose()),
  member.map(does.replace),
  FastCheck.tuple(member, member).map(([nth, which]) => does.invalidate(nth, which))
]

const play = async (cmds: Iterable<Command>): Promise<Fleet> => {
  const fleet = await new Fleet().open()
  await FastCheck.asyncModelRun(() => ({ model: {}, real: fleet }), cmds)
  // In the end all is well again, and no call waits for ever.
  fleet.store.state = "up"
  await fleet.time.advance(300_000)
  fleet.check()
  for (const fiber of fleet.fibers) assert.isNotNull(fiber.unsafePoll(), "a call still waits")
  return fleet
}

describe("a fleet compared with its model", () => {
  it("overruns no bucket and uses no expired token", async () => {
    let served = 0
    await FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.commands(commands, { maxCommands: 40, size: "max" }),
        async (cmds) => {
          served += (await play(cmds)).model.served
        }
      ),
      { numRuns: 150 }
    )
    assert.isAbove(served, 0)
  }, 300_000)

  const { calls, leap, lose, token, wait } = does
  for (
    const plan of [
      [calls(0, 5), wait(20), lose(), calls(1, 21), calls(0, 1)],
      [token(0), leap(0, -30_001), wait(60_000), wait(60_000), token(1)],
      [leap(0, 90_000), token(0), leap(0, 0), wait(60_000), wait(60_000), token(0)],
      [token(0), token(1), leap(1, 90_000), wait(300), wait(300), leap(1, 0), wait(60_000), wait(60_000), token(1)]
    ]
  ) {
    it(`overruns no bucket and uses no expired token: ${plan.join(", ")}`, async () => {
      await play(plan)
    })
  }

  it("fails if it overruns the bucket", async () => {
    const fleet = await new Fleet().open()
    for (let nth = 0; nth <= burst; nth++) fleet.model.take(fleet.time.now())
    assert.throws(() => fleet.check())
  })
})
