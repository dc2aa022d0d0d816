import { assert, describe, it } from "@effect/vitest"
import {
  Clock,
  Config,
  ConfigProvider,
  Context,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Redacted,
  Scope
} from "effect"
import { InvalidInput, TokenError } from "../../src/Errors.js"
import * as Fleet from "../../src/Fleet.js"
import * as Seal from "../../src/internal/fleet/encryption.js"
import * as SharedToken from "../../src/internal/fleet/token.js"
import * as SharedStore from "../../src/SharedStore.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { type FlakyStore, flakyStore, layerOf, lineTo } from "../support/fleet.js"
import { inProcess } from "../support/tokenServer.js"
import * as VirtualTime from "../support/virtualTime.js"

const virtually = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>, most: Duration.DurationInput = "10 minutes") =>
  VirtualTime.run(Effect.scoped(Effect.provide(effect, Logger.remove(Logger.defaultLogger))), { most })

const keyOf = (byte: number) => Redacted.make(Buffer.alloc(32, byte).toString("base64"))

/** A service that issues `t1`, `t2`, …, each after 200 ms, and counts how often it was asked. */
const service = (lifetime: Duration.DurationInput | undefined = "100 seconds") => {
  let asked = 0
  let failing = 0
  const ask = Effect.suspend(() => {
    const nth = ++asked
    const answer = failing > 0
      ? new TokenError({ operation: "token", message: "not now", status: 503 })
      : Effect.succeed({
        token: Redacted.make(`t${nth}`),
        lifetime: lifetime === undefined ? undefined : Duration.decode(lifetime)
      })
    failing--
    return Effect.delay(answer, 200)
  })
  return { ask, asked: () => asked, fail: (times: number) => void (failing = times) }
}

type Asked = Effect.Effect<TokenProvider.IssuedToken, TokenError>

/** A process of a fleet: it lives as long as the scope. */
const process = (
  store: Pick<FlakyStore, "backend">,
  ask: Asked,
  options: Fleet.Encryption & { readonly name?: string } = {}
) =>
  Layer.build(
    Fleet.layerEffect(ask, { name: "tenant", ...options }).pipe(
      Layer.provide(layerOf(store)),
      Layer.fresh
    )
  ).pipe(
    Effect.map(Context.get(TokenProvider.TokenProvider)),
    Effect.map(({ get, invalidate }) => ({
      get: Effect.map(get, Redacted.value),
      invalidate: (token: string) => invalidate(Redacted.make(token))
    }))
  )

const all = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.all(effects, { concurrency: "unbounded" })

/** What is logged at least as a warning. */
const warnings = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    if (logLevel.ordinal >= 30_000) lines.push(String(message))
  })
  return Effect.map(Effect.provide(effect, Logger.replace(Logger.defaultLogger, logger)), () => lines)
}

describe("a token for a whole fleet", () => {
  it.effect("is asked for once, and renewed once", () =>
    virtually(Effect.gen(function*() {
      const { ask, asked } = service()
      const store = yield* flakyStore
      const fleet = yield* all(Array.from({ length: 8 }, () => process(store, ask)))
      assert.deepStrictEqual(yield* all(fleet.map(({ get }) => get)), Array.from({ length: 8 }, () => "t1"))
      yield* Effect.sleep("85 seconds")
      yield* all(fleet.map(({ get }) => get))
      yield* Effect.sleep("2 seconds")
      assert.deepStrictEqual(yield* all(fleet.map(({ get }) => get)), Array.from({ length: 8 }, () => "t2"))
      assert.strictEqual(asked(), 2)
    })))

  it.effect("is had from the next one if the one that asks is gone", () =>
    virtually(Effect.gen(function*() {
      const { ask, asked } = service()
      const store = yield* flakyStore
      // It takes the lease, and then neither asks nor says anything.
      const line = lineTo(store)
      const dead = yield* process(line, Effect.never)
      yield* Effect.fork(dead.get)
      yield* Effect.sleep(100)
      line.cut()
      const alive = yield* process(store, ask)
      const [waited, token] = yield* Effect.timed(alive.get)
      assert.strictEqual(token, "t1")
      assert.strictEqual(asked(), 1)
      assert.isAbove(Duration.toMillis(waited), 800, "the lease still holds")
      assert.isBelow(Duration.toMillis(waited), 1400)
    })))

  it.effect("is waited for as long as the one that asks is there", () =>
    virtually(Effect.gen(function*() {
      let asked = 0
      const slow = Effect.suspend(() =>
        Effect.delay(Effect.succeed({ token: Redacted.make(`t${++asked}`) }), "20 seconds")
      )
      const store = yield* flakyStore
      const fleet = yield* all(Array.from({ length: 3 }, () => process(store, slow)))
      assert.deepStrictEqual(yield* all(fleet.map(({ get }) => get)), ["t1", "t1", "t1"])
    })))

  it.effect("is not had by the failure of another, and a failure is nowhere written", () =>
    virtually(Effect.gen(function*() {
      const { ask, asked, fail } = service()
      fail(1)
      const store = yield* flakyStore
      const [one, two] = [yield* process(store, ask), yield* process(store, ask)]
      const exits = yield* all([Effect.exit(one.get), Effect.exit(two.get)])
      assert.strictEqual(exits.filter(Exit.isFailure).length, 1)
      assert.strictEqual(asked(), 2)
      yield* Effect.sleep("1 second")
      assert.deepStrictEqual(store.values().map((value) => Object.keys(JSON.parse(value)).sort()), [
        ["lifetime", "requestedAt", "sealed"]
      ])
    })))

  it.effect("is taken away when it was refused: that one, and no other", () =>
    virtually(Effect.gen(function*() {
      const { ask, asked } = service()
      const store = yield* flakyStore
      const [one, two] = [yield* process(store, ask), yield* process(store, ask)]
      assert.deepStrictEqual(yield* all([one.get, two.get]), ["t1", "t1"])
      yield* one.invalidate("t1")
      assert.strictEqual(yield* one.get, "t2")
      yield* two.invalidate("t1")
      yield* Effect.sleep(100)
      assert.strictEqual(yield* two.get, "t2")
      const three = yield* process(store, ask)
      assert.strictEqual(yield* three.get, "t2")
      assert.strictEqual(asked(), 2)
    })))

  it.effect("is given by nobody past its end", () =>
    virtually(Effect.gen(function*() {
      const { ask } = service("10 seconds")
      const store = yield* flakyStore
      const one = yield* process(store, ask)
      assert.strictEqual(yield* one.get, "t1")
      yield* Effect.sleep("8.9 seconds")
      assert.strictEqual(yield* (yield* process(store, ask)).get, "t2", "90 % of its life are over")
    })))

  it.live("goes from one tenant to no other", () =>
    Effect.scoped(Effect.gen(function*() {
      const store = yield* flakyStore
      const { arrived, layer } = inProcess((nth) =>
        Effect.succeed({ body: { access_token: `t${nth}`, token_type: "Bearer", expires_in: 100 } })
      )
      const tokenOf = (options: Partial<TokenProvider.ClientCredentials>) =>
        Layer.build(
          Fleet.layerClientCredentials({
            clientId: "id",
            clientSecret: Redacted.make("secret"),
            authUrl: "https://one.example.com",
            ...options
          } as TokenProvider.ClientCredentials).pipe(Layer.provide([layer, layerOf(store)]), Layer.fresh)
        ).pipe(
          Effect.flatMap((context) => Effect.map(Context.get(context, TokenProvider.TokenProvider).get, Redacted.value))
        )
      assert.strictEqual(yield* tokenOf({}), "t1")
      yield* Effect.sleep(50)
      assert.strictEqual(yield* tokenOf({}), "t1")
      assert.strictEqual(yield* tokenOf({ authUrl: "https://two.example.com" }), "t2")
      assert.strictEqual(yield* tokenOf({ clientId: "other" }), "t3")
      assert.strictEqual(yield* tokenOf({ audience: "/other/" }), "t4")
      assert.strictEqual(arrived.length, 4)
      yield* Effect.sleep(50)
      assert.strictEqual(store.values().length, 4)
    })))
})

describe("settings from a Config", () => {
  it.live("ask for a token, and close it", () =>
    Effect.scoped(Effect.gen(function*() {
      const store = yield* flakyStore
      const { arrived, layer } = inProcess(() =>
        Effect.succeed({ body: { access_token: "its-text", token_type: "Bearer", expires_in: 100 } })
      )
      const context = yield* Layer.build(
        Fleet.layerClientCredentialsConfig({
          authUrl: Config.string("URL"),
          clientId: Config.string("ID"),
          clientSecret: Config.redacted("SECRET"),
          encryptionKey: Config.redacted("KEY")
        }).pipe(Layer.provide([layer, layerOf(store)]))
      )
      assert.strictEqual(Redacted.value(yield* Context.get(context, TokenProvider.TokenProvider).get), "its-text")
      assert.deepStrictEqual(arrived.map(({ url }) => url), ["https://one.example.com/oauth/token/"])
      const look = Effect.delay(Effect.sync(() => store.values().join()), 1)
      assert.notInclude(yield* Effect.repeat(look, { until: (kept) => kept !== "" }), "its-text")
    })).pipe(Effect.withConfigProvider(
      ConfigProvider.fromMap(
        new Map([["URL", "https://one.example.com"], ["ID", "id"], ["SECRET", "secret"], [
          "KEY",
          Redacted.value(keyOf(1))
        ]])
      )
    )))
})

describe("a clock that is set back", () => {
  it.effect("makes no token last longer", () =>
    virtually(Effect.gen(function*() {
      const clock = yield* Effect.clock
      let back = 0
      const own: Clock.Clock = {
        [Clock.ClockTypeId]: Clock.ClockTypeId,
        unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() - back,
        unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now - back),
        currentTimeNanos: clock.currentTimeNanos,
        sleep: (duration) => clock.sleep(duration)
      }
      yield* Effect.withClock(
        Effect.gen(function*() {
          const { ask } = service()
          const one = yield* process(yield* flakyStore, ask)
          assert.strictEqual(yield* one.get, "t1")
          back = 60_000
          yield* Effect.sleep("101 seconds")
          assert.strictEqual(yield* one.get, "t2")
        }),
        own
      )
    })))
})

describe("while the store is away", () => {
  it.effect("each process asks for itself, warns once, and shares again later", () =>
    virtually(Effect.gen(function*() {
      const { ask, asked } = service()
      const store = yield* flakyStore
      store.state = "down"
      const lines = yield* warnings(Effect.gen(function*() {
        const [one, two] = [yield* process(store, ask), yield* process(store, ask)]
        assert.deepStrictEqual((yield* all([one.get, two.get])).sort(), ["t1", "t2"])
        yield* Effect.sleep("95 seconds")
        yield* one.get
        yield* Effect.sleep("10 seconds")
        yield* one.get
        store.state = "up"
        yield* Effect.sleep("90 seconds")
        const token = yield* one.get
        yield* Effect.sleep("1 second")
        assert.strictEqual(yield* (yield* process(store, ask)).get, token)
      }))
      assert.strictEqual(lines.filter((line) => line.includes("does not answer")).length, 2, "one for each process")
      assert.isAtMost(asked(), 5)
    })))

  it.effect("a store that hangs delays a token by its patience, and no more", () =>
    virtually(Effect.gen(function*() {
      const { ask } = service()
      const store = yield* flakyStore
      store.state = "hung"
      const [waited] = yield* Effect.timed((yield* process(store, ask)).get)
      assert.isAtMost(Duration.toMillis(waited), 200 + 100)
    })))

  it.effect("what somebody else has put there is nothing", () =>
    virtually(Effect.gen(function*() {
      for (const value of ["", "{", "[]", "null", "{\"sealed\":1}", "{\"sealed\":\"clear.x\",\"requestedAt\":\"y\"}"]) {
        const { ask } = service()
        const store = yield* flakyStore
        yield* Effect.orDie(
          store.backend.swap("token:1:effect:tenant", undefined, { value, timeToLive: Duration.hours(1) })
        )
        assert.strictEqual(yield* (yield* process(store, ask)).get, "t1")
      }
    })))
})

describe("at rest", () => {
  it.live("a token is encrypted, and opened by those who have the key", () =>
    Effect.gen(function*() {
      const store = yield* flakyStore
      let asked = 0
      const ask = Effect.sync(() => ({ token: Redacted.make(`secret-token-${++asked}`), lifetime: Duration.hours(1) }))
      const get = (encryptionKey: Redacted.Redacted) =>
        Effect.flatMap(process(store, ask, { encryptionKey }), ({ get }) => Effect.zipLeft(get, Effect.sleep(50)))
      assert.strictEqual(yield* get(keyOf(1)), "secret-token-1")
      assert.strictEqual(yield* get(keyOf(1)), "secret-token-1")
      for (const value of store.values()) assert.notInclude(value, "secret-token")
      const both = Redacted.make([keyOf(2), keyOf(1)].map(Redacted.value).join(", "))
      assert.strictEqual(yield* get(both), "secret-token-1", "keys can be changed")
      assert.strictEqual(yield* get(keyOf(3)), "secret-token-2", "who cannot open it asks")
    }).pipe(Effect.scoped))

  it.effect("without a key it rests in the clear, of which a warning tells once", () =>
    Effect.gen(function*() {
      const store = yield* flakyStore
      const ask = Effect.succeed({ token: Redacted.make("t1") })
      const lines = yield* warnings(Effect.flatMap(process(store, ask), ({ get }) => Effect.zipRight(get, get)))
      assert.deepStrictEqual(lines.filter((line) => line.includes("UNENCRYPTED")).length, 1)
    }).pipe(Effect.scoped))

  it.effect("a key that is none is refused by name", () =>
    Effect.gen(function*() {
      for (
        const key of ["", "short", Buffer.alloc(31).toString("base64"), `${Redacted.value(keyOf(1))},`, "ä".repeat(32)]
      ) {
        const store = yield* flakyStore
        const error = yield* Effect.flip(process(store, Effect.never, { encryptionKey: Redacted.make(key) }))
        assert.instanceOf(error, InvalidInput)
        assert.deepStrictEqual(error.issues.map(({ path }) => path), ["encryptionKey"])
        if (key !== "") assert.notInclude(String(error), key)
      }
    }).pipe(Effect.scoped))

  it.effect("a sealed text opens under its own name, whole, and looks different each time", () =>
    Effect.gen(function*() {
      const seal = yield* Seal.make("test", "key", keyOf(1))
      const [one, two] = [yield* seal.close("text", "a"), yield* seal.close("text", "a")]
      assert.notStrictEqual(one, two)
      assert.strictEqual(yield* seal.open(one, "a"), "text")
      for (
        const [sealed, name] of [[one, "b"], [one.slice(0, -4), "a"], ["", "a"], ["x.y.z", "a"], [
          `${one}!`,
          "a"
        ]] as const
      ) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(seal.open(sealed, name))), `${sealed} as ${name}`)
      }
    }))

  it.effect("what asks alone is interrupted with its layer, and leaves no lease behind", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const { ask } = service()
      const scope = yield* Scope.make()
      const begun = yield* Deferred.make<void>()
      const stuck = Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
      const one = yield* Scope.extend(process(store, stuck), scope)
      const fiber = yield* Effect.fork(one.get)
      yield* Deferred.await(begun)
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.interrupt(fiber)
      const [waited] = yield* Effect.timed((yield* process(store, ask)).get)
      assert.isAtMost(Duration.toMillis(waited), 300, "the service takes 200 of them")
    })))
})

describe("what lies in the store", () => {
  const key = "token:1:name"

  /** A store, what lies in it, and processes that have it. */
  const world = Effect.gen(function*() {
    const flaky = yield* flakyStore
    const store = yield* SharedStore.make(flaky.backend)
    const clock = yield* Effect.clock
    const entry = Effect.orDie(Effect.map(flaky.backend.get(key), ({ entry }) => entry))
    return {
      flaky,
      entry,
      members: Effect.map(
        entry,
        (entry) => entry === undefined ? undefined : Object.keys(JSON.parse(entry.value)).sort()
      ),
      /** Somebody else writes; times count from now on. */
      put: (content: { readonly requestedAt?: number; readonly until?: unknown } & Record<string, unknown>) =>
        Effect.flatMap(entry, (before) => {
          const now = clock.unsafeCurrentTimeMillis()
          const { requestedAt, until } = content
          const value = JSON.stringify({
            ...content,
            ...(requestedAt !== undefined && { requestedAt: now + requestedAt }),
            ...(typeof until === "number" && { until: now + until })
          })
          return Effect.orDie(
            flaky.backend.swap(key, before?.version, { value, timeToLive: Duration.hours(1) })
          )
        }),
      process: (ask: Asked) => SharedToken.make(store, "name", Seal.none, ask)
    }
  })

  const good = { sealed: "clear.t0", requestedAt: -500, lifetime: 10_000 }
  const anothers = { owner: "x", until: 500 }

  for (
    const [what, content, token, least, most] of [
      ["a token", good, "t0", 0, 0],
      ["a token that another process is about to renew", { ...good, ...anothers }, "t0", 0, 0],
      ["a token that tells no lifetime", { ...good, lifetime: undefined }, "t0", 0, 0],
      ["a token with a millisecond left", { ...good, requestedAt: -8999 }, "t0", 0, 0],
      ["a token whose time is up", { ...good, requestedAt: -9000 }, "t1", 200, 200],
      ["a token that cannot be opened", { ...good, sealed: "t0" }, "t1", 200, 200],
      [
        "a token that cannot be opened, and who asks for another",
        { ...good, ...anothers, sealed: "t0" },
        "t1",
        700,
        760
      ],
      ["who asks", anothers, "t1", 700, 760],
      ["who has asked until now", { ...anothers, until: 0 }, "t1", 200, 200],
      ["half of who asks", { until: 60_000 }, "t1", 200, 200],
      ["half of who asks, and nonsense", { owner: 3, until: 60_000 }, "t1", 200, 200]
    ] as const
  ) {
    it.effect(`may be ${what}`, () =>
      virtually(Effect.gen(function*() {
        const { process, put } = yield* world
        yield* put(content)
        const now = yield* Clock.currentTimeMillis
        const [waited, issued] = yield* Effect.timed((yield* process(service().ask)).request)
        assert.strictEqual(Redacted.value(issued.token), token)
        assert.isAtLeast(Duration.toMillis(waited), least)
        assert.isAtMost(Duration.toMillis(waited), most)
        if (token === "t0" && "requestedAt" in content) {
          assert.strictEqual(issued.requestedAt, now + content.requestedAt)
          assert.deepStrictEqual(
            issued.lifetime,
            content.lifetime === undefined ? undefined : Duration.millis(content.lifetime)
          )
        }
      })))
  }

  it.effect("is a token as long as it lives, and nothing after", () =>
    virtually(
      Effect.gen(function*() {
        const { entry, members, process } = yield* world
        yield* (yield* process(service("1 hour").ask)).request
        yield* Effect.sleep("59 minutes")
        assert.deepStrictEqual(yield* members, ["lifetime", "requestedAt", "sealed"])
        yield* Effect.sleep("1 minute")
        assert.isUndefined(yield* entry)
      }),
      "2 hours"
    ))

  it.effect("is who asks, while it asks, even if there is little left of a token", () =>
    virtually(Effect.gen(function*() {
      const { entry, flaky, members, process, put } = yield* world
      const { ask, asked } = service()
      const [one, two] = [yield* process(ask), yield* process(ask)]
      yield* put({ ...good, requestedAt: -9995 })
      const fiber = yield* Effect.fork(one.request)
      yield* Effect.sleep(50)
      assert.deepStrictEqual(yield* members, ["lifetime", "owner", "requestedAt", "sealed", "until"])
      yield* two.request
      yield* Fiber.join(fiber)
      assert.strictEqual(asked(), 1)
      const dead = yield* process(Effect.never)
      yield* Effect.fork(dead.request)
      yield* Effect.sleep("95 seconds")
      yield* Effect.fork(dead.request)
      yield* Effect.sleep(100)
      assert.include((yield* members) ?? [], "owner")
      flaky.state = "down"
      yield* Effect.sleep("6 seconds")
      flaky.state = "up"
      assert.isUndefined(yield* entry, "what is over is not kept")
    })))

  it.effect("is only who asks where there is no token, and nothing after a failure", () =>
    virtually(Effect.gen(function*() {
      const { entry, members, process } = yield* world
      const { ask, fail } = service()
      fail(1)
      const [one, two] = [yield* process(ask), yield* process(ask)]
      const fiber = yield* Effect.fork(one.request)
      yield* Effect.sleep(100)
      assert.deepStrictEqual(yield* members, ["owner", "until"])
      assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
      yield* Effect.sleep(1)
      assert.isUndefined(yield* entry)
      const [waited] = yield* Effect.timed(two.request)
      assert.strictEqual(Duration.toMillis(waited), 200)
    })))

  it.effect("stays if somebody fails to get a newer token", () =>
    virtually(Effect.gen(function*() {
      const { entry, members, process, put } = yield* world
      const { ask, fail } = service()
      fail(2)
      const one = yield* process(ask)
      yield* put(good)
      assert.strictEqual(Redacted.value((yield* one.request).token), "t0")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(one.request)))
      yield* Effect.sleep(1)
      assert.deepStrictEqual(yield* members, ["lifetime", "requestedAt", "sealed"])
      // Who asks by now is not sent away by the failure of another.
      const fiber = yield* Effect.fork(Effect.exit(one.request))
      yield* Effect.sleep(100)
      yield* put(anothers)
      yield* Fiber.join(fiber)
      yield* Effect.sleep(1)
      assert.include((yield* entry)?.value, "\"owner\":\"x\"")
    })))

  it.effect("is no older than it was: what was asked for later stays, and so does who asks now", () =>
    virtually(Effect.gen(function*() {
      const { entry, flaky, process, put } = yield* world
      const slow = Effect.delay(Effect.succeed({ token: Redacted.make("t1") }), "2 seconds")
      const one = yield* process(slow)
      const fiber = yield* Effect.fork(one.request)
      yield* Effect.sleep(100)
      yield* flaky.lose
      yield* Effect.sleep(700)
      yield* put({ ...anothers, until: 1000 })
      yield* Effect.sleep(600)
      assert.include((yield* entry)?.value, "\"owner\":\"x\"")
      yield* put({ ...good, requestedAt: 0 })
      assert.strictEqual(Redacted.value((yield* Fiber.join(fiber)).token), "t1", "it has what it was given")
      yield* Effect.sleep(100)
      assert.include((yield* entry)?.value, "clear.t0")
    })))

  it.effect("lacks a token that was refused, and holds who asks for another", () =>
    virtually(Effect.gen(function*() {
      const { entry, members, process, put } = yield* world
      const one = yield* process(Effect.never)
      yield* one.forget(Redacted.make("t0"))
      yield* Effect.sleep(1)
      yield* put({ ...good, ...anothers })
      yield* one.forget(Redacted.make("t9"))
      yield* Effect.sleep(1)
      assert.include((yield* entry)?.value, "clear.t0")
      yield* one.forget(Redacted.make("t0"))
      yield* Effect.sleep(1)
      assert.deepStrictEqual(yield* members, ["owner", "until"])
    })))

  it.effect("keeps nobody waiting for itself", () =>
    virtually(Effect.gen(function*() {
      const { flaky, members, process } = yield* world
      const { ask } = service()
      const one = yield* process(ask)
      const fiber = yield* Effect.fork(one.request)
      yield* Effect.sleep(100)
      flaky.state = "down"
      yield* Fiber.interrupt(fiber)
      yield* Effect.sleep(150)
      flaky.state = "up"
      assert.deepStrictEqual(yield* members, ["owner", "until"], "it could not be taken back")
      const [waited] = yield* Effect.timed(one.request)
      assert.strictEqual(Duration.toMillis(waited), 200)
    })))

  it.effect("is of no interest to a process that goes and has never asked", () =>
    virtually(Effect.gen(function*() {
      const { flaky, process, put } = yield* world
      yield* put(good)
      const scope = yield* Scope.make()
      yield* (yield* Scope.extend(process(Effect.never), scope)).request
      flaky.state = "hung"
      const [waited] = yield* Effect.timed(Scope.close(scope, Exit.void))
      assert.strictEqual(Duration.toMillis(waited), 0)
    })))

  it.effect("is shared by one name alone, and refused settings name who refuses them", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const { ask } = service()
      const [one, two] = [yield* process(store, ask, { name: "one" }), yield* process(store, ask, { name: "two" })]
      assert.deepStrictEqual(yield* all([one.get, two.get]), ["t1", "t2"])
      const refused = yield* Effect.flip(process(store, ask, { encryptionKey: Redacted.make("x") }))
      assert.strictEqual(refused.operation, "Fleet.layerEffect")
      const settings = { authUrl: "https://one.example.com", clientId: "id", clientSecret: Redacted.make("secret") }
      const alike = yield* Effect.flip(Layer.build(
        Fleet.layerClientCredentials({ ...settings, encryptionKey: Redacted.make("x") }).pipe(
          Layer.provide([inProcess(() => Effect.never).layer, layerOf(store)])
        )
      ))
      assert.strictEqual(alike.operation, "Fleet.layerClientCredentials")
    })))
})

describe("SharedStore.layer", () => {
  it.effect("gives its store to those that are to share", () =>
    Effect.gen(function*() {
      const store = yield* SharedStore.SharedStore
      const { entry, swapped } = yield* store.swap("k", undefined, { value: "v", timeToLive: Duration.seconds(1) })
      assert.isTrue(swapped)
      assert.deepStrictEqual((yield* store.get("k")).entry, entry)
    }).pipe(Effect.provide(SharedStore.layerMemory)))
})
