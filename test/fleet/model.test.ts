/** `npm run test:model`: a fleet against a simple model, under random interleavings, failures of the store and leaps of clocks. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, FastCheck, type Fiber, Layer, Logger, Redacted, Scope } from "effect"
import * as Layers from "../../src/Fleet.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { type FlakyStore, flakyStore, layerOf, skewed } from "../support/fleet.js"
import * as VirtualTime from "../support/virtualTime.js"

const members = 3
const [burst, perSecond] = [12, 4]
const lifetime = 100_000
const call = { tenant: "https://t.example.com/api/v2", operation: "listActionVersions" }

/** A process: its own idea of the time of day, and its own way to the store. */
interface Process {
  readonly limiter: RateLimiter.RateLimiter["Type"]
  readonly tokens: TokenProvider.TokenProvider["Type"]
  readonly scope: Scope.CloseableScope
  readonly skew: { millis: number }
}

/** What the model knows: a bucket, and the tokens that were issued. It knows nothing of stores and processes. */
class Model {
  private level = burst
  private at = 0
  served = 0
  refused = 0
  /** So many may be turned away: with each loss of the store, or of what it holds, each process may overlook one. */
  pardoned = 0
  readonly issued = new Map<string, number>()
  readonly revoked = new Set<string>()

  /** A call arrives; gives what is left, or that it is turned away. */
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

  fullIn(): number {
    return Math.ceil((burst - this.level) / perSecond)
  }
}

/** The fleet, its store and the service, in a time of their own. */
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

  /** What ends without any time going by. */
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
        Layer.merge(Layers.layerRateLimiter(), Layers.layerEffect(this.issue, { name: "t" })).pipe(
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
  readonly answer = Effect.sync((): RateLimiter.LimitedResponse => {
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

  /** One call of one process, as a client makes it. */
  call({ limiter }: Process): Effect.Effect<void, unknown> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        restore(limiter.acquire(call)),
        ({ settle }) => Effect.flatMap(Effect.delay(this.answer, 5), settle)
      )
    )
  }

  /** One look for a token: it must be one that was issued, and whose time is not over. */
  token({ tokens }: Process): Effect.Effect<void, unknown> {
    return Effect.map(tokens.get, (token) => {
      const issuedAt = this.model.issued.get(Redacted.value(token))
      if (issuedAt === undefined) this.faults.push(`${Redacted.value(token)} was never issued`)
      else if (this.time.now() >= issuedAt + lifetime + 300) {
        this.faults.push(`${Redacted.value(token)} is past its end`)
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

/** What can happen to a fleet. */
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
      fleet.model.pardoned += fleet.processes.length
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
  // In the end all is well again: nobody waits for ever.
  fleet.store.state = "up"
  await fleet.time.advance(300_000)
  fleet.check()
  for (const fiber of fleet.fibers) assert.isNotNull(fiber.unsafePoll(), "somebody still waits")
  return fleet
}

describe("a fleet against its model", () => {
  it("takes no more than the bucket holds, and gives no token past its end", async () => {
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

  const { leap, token, wait } = does
  for (
    const plan of [
      [token(0), leap(0, -30_001), wait(60_000), wait(60_000), token(1)],
      [leap(0, 90_000), token(0), leap(0, 0), wait(60_000), wait(60_000), token(0)],
      [token(0), token(1), leap(1, 90_000), wait(300), wait(300), leap(1, 0), wait(60_000), wait(60_000), token(1)]
    ]
  ) {
    it(`gives no token past its end: ${plan.join(", ")}`, async () => {
      await play(plan)
    })
  }

  it("is found out where it takes too much", async () => {
    const fleet = await new Fleet().open()
    for (let nth = 0; nth <= burst; nth++) fleet.model.take(fleet.time.now())
    assert.throws(() => fleet.check())
  })
})
