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
  LogLevel,
  Redacted,
  Scope
} from "effect"
import { InvalidInput, TokenError } from "../../src/Errors.js"
import * as Fleet from "../../src/Fleet.js"
import * as Cipher from "../../src/internal/fleet/encryption.js"
import * as SharedToken from "../../src/internal/fleet/token.js"
import { monotonicMillis } from "../../src/internal/runtime/monotonicClock.js"
import { dated } from "../../src/internal/token/issuedToken.js"
import * as SharedStore from "../../src/SharedStore.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { type FlakyStore, flakyStore, layerOf, lineTo, skewed } from "../support/fleet.js"
import { inProcess } from "../support/tokenServer.js"
import * as VirtualTime from "../support/virtualTime.js"

const virtually = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>, most: Duration.DurationInput = "10 minutes") =>
  VirtualTime.run(Effect.scoped(Effect.provide(effect, Logger.remove(Logger.defaultLogger))), { most })

const keyOf = (byte: number) => Redacted.make(Buffer.alloc(32, byte).toString("base64"))

/** A token endpoint that issues `t1`, `t2`, …, each after 200 ms, and counts its requests. */
const endpoint = (lifetime: Duration.DurationInput | undefined = "100 seconds") => {
  let requests = 0
  let failing = 0
  const request = Effect.suspend(() => {
    const nth = ++requests
    const response = failing > 0
      ? new TokenError({ operation: "token", message: "not now", status: 503 })
      : Effect.succeed({
        token: Redacted.make(`t${nth}`),
        lifetime: lifetime === undefined ? undefined : Duration.decode(lifetime)
      })
    failing--
    return Effect.delay(response, 200)
  })
  return { request, requests: () => requests, fail: (times: number) => void (failing = times) }
}

/** A token as it is stored without encryption. */
const clear = (content: { readonly token: string; readonly requestedAt: unknown; readonly lifetime?: unknown }) =>
  `clear.${JSON.stringify(content)}`

type Request = Effect.Effect<TokenProvider.IssuedToken, TokenError>

/** A process of a fleet, which ends with the scope. */
const process = (
  store: Pick<FlakyStore, "backend">,
  request: Request,
  { name = "tenant", ...options }: Fleet.Encryption & { readonly name?: string } = {}
) =>
  Layer.build(
    TokenProvider.layerEffect(request, { name }).pipe(
      Layer.provide(Fleet.layerTokensWith(options)),
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

/** Collects the log lines that are warnings or worse. */
const warnings = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    if (logLevel.ordinal >= 30_000) lines.push(String(message))
  })
  return Effect.map(Effect.provide(effect, Logger.replace(Logger.defaultLogger, logger)), () => lines)
}

describe("a fleet's token", () => {
  it.effect("is requested once and renewed once", () =>
    virtually(Effect.gen(function*() {
      const { request, requests } = endpoint()
      const store = yield* flakyStore
      const fleet = yield* all(Array.from({ length: 8 }, () => process(store, request)))
      assert.deepStrictEqual(yield* all(fleet.map(({ get }) => get)), Array.from({ length: 8 }, () => "t1"))
      yield* Effect.sleep("85 seconds")
      yield* all(fleet.map(({ get }) => get))
      yield* Effect.sleep("2 seconds")
      assert.deepStrictEqual(yield* all(fleet.map(({ get }) => get)), Array.from({ length: 8 }, () => "t2"))
      assert.strictEqual(requests(), 2)
    })))

  it.effect("is requested once although its source dates it by a clock that is ahead", () =>
    virtually(Effect.gen(function*() {
      const { request, requests } = endpoint()
      const ahead = Effect.zipWith(request, Clock.currentTimeMillis, (issued, now) => ({
        ...issued,
        requestedAt: now + 2000
      }))
      const store = yield* flakyStore
      for (const _ of [1, 2, 3]) {
        const { get } = yield* process(store, ahead)
        assert.strictEqual(yield* get, "t1")
        yield* Effect.sleep(100)
      }
      assert.strictEqual(requests(), 1)
    })))

  it.effect("is requested by the next process if the one with the lease is gone", () =>
    virtually(Effect.gen(function*() {
      const { request, requests } = endpoint()
      const store = yield* flakyStore
      // It takes the lease and is never heard of again.
      const line = lineTo(store)
      const dead = yield* process(line, Effect.never)
      yield* Effect.fork(dead.get)
      yield* Effect.sleep(100)
      line.cut()
      const alive = yield* process(store, request)
      const [waited, token] = yield* Effect.timed(alive.get)
      assert.strictEqual(token, "t1")
      assert.strictEqual(requests(), 1)
      assert.isAbove(Duration.toMillis(waited), 800, "the lease is still valid")
      assert.isBelow(Duration.toMillis(waited), 1400)
    })))

  it.effect("is requested at most once by each process after the clock of the store was set back, then once for all", () =>
    virtually(Effect.gen(function*() {
      const { request, requests } = endpoint()
      const { clock, skew } = skewed(yield* Effect.clock)
      const store = yield* Effect.withClock(flakyStore, clock)
      const fleet = yield* all(Array.from({ length: 3 }, () => process(store, request)))
      const gets = all(fleet.map(({ get }) => Effect.zipRight(get, Effect.delay(get, "2 seconds"))))
      yield* gets
      assert.strictEqual(requests(), 1)
      skew.millis = -3_600_000
      yield* Effect.sleep("85 seconds")
      yield* gets
      assert.isAtMost(requests(), 4)
      for (let nth = 0; nth < 3; nth++) {
        yield* Effect.sleep("85 seconds")
        assert.notInclude(yield* gets, "t1", "it has expired, though its date is in the future now")
      }
      assert.isAtMost(requests(), 4 + 4, "one for each renewal")
    })))

  it.effect("is waited for while the process with the lease renews it", () =>
    virtually(Effect.gen(function*() {
      let requests = 0
      const slow = Effect.suspend(() =>
        Effect.delay(Effect.succeed({ token: Redacted.make(`t${++requests}`) }), "3 seconds")
      )
      const store = yield* flakyStore
      const fleet = yield* all(Array.from({ length: 3 }, () => process(store, slow)))
      assert.deepStrictEqual(yield* all(fleet.map(({ get }) => get)), ["t1", "t1", "t1"])
    })))

  it.effect("is requested again after the failure of another process, and failures are not stored", () =>
    virtually(Effect.gen(function*() {
      const { fail, request, requests } = endpoint()
      fail(1)
      const store = yield* flakyStore
      const [one, two] = [yield* process(store, request), yield* process(store, request)]
      const exits = yield* all([Effect.exit(one.get), Effect.exit(two.get)])
      assert.strictEqual(exits.filter(Exit.isFailure).length, 1)
      assert.strictEqual(requests(), 2)
      yield* Effect.sleep("1 second")
      assert.deepStrictEqual(store.values().map((value) => Object.keys(JSON.parse(value)).sort()), [
        ["token", "version"]
      ])
    })))

  it.effect("is removed from the store when it was refused; no other token is", () =>
    virtually(Effect.gen(function*() {
      const { request, requests } = endpoint()
      const store = yield* flakyStore
      const [one, two] = [yield* process(store, request), yield* process(store, request)]
      assert.deepStrictEqual(yield* all([one.get, two.get]), ["t1", "t1"])
      yield* one.invalidate("t1")
      yield* Effect.sleep(100)
      const late = yield* process(store, request)
      assert.strictEqual(yield* late.get, "t2")
      assert.strictEqual(yield* one.get, "t2")
      yield* two.invalidate("t1")
      yield* Effect.sleep(100)
      assert.strictEqual(yield* two.get, "t2")
      const three = yield* process(store, request)
      assert.strictEqual(yield* three.get, "t2")
      assert.strictEqual(requests(), 2)
    })))

  it.effect("is not used past its end", () =>
    virtually(Effect.gen(function*() {
      const { request } = endpoint("10 seconds")
      const store = yield* flakyStore
      const one = yield* process(store, request)
      assert.strictEqual(yield* one.get, "t1")
      yield* Effect.sleep("8.9 seconds")
      assert.strictEqual(yield* (yield* process(store, request)).get, "t2", "90 % of its lifetime are over")
    })))

  it.live("is shared by host, client and audience alone", () =>
    Effect.scoped(Effect.gen(function*() {
      const store = yield* flakyStore
      const { arrived, layer } = inProcess((nth) =>
        Effect.succeed({ body: { access_token: `t${nth}`, token_type: "Bearer", expires_in: 100 } })
      )
      const tokenOf = (options: Partial<TokenProvider.ClientCredentials>) =>
        Layer.build(
          TokenProvider.layerClientCredentials({
            clientId: "id",
            clientSecret: Redacted.make("secret"),
            authUrl: "https://one.example.com",
            ...options
          } as TokenProvider.ClientCredentials).pipe(
            Layer.provide(Fleet.layerTokensWith({})),
            Layer.provide([layer, layerOf(store)]),
            Layer.fresh
          )
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
  it.live("request a token and encrypt it", () =>
    Effect.scoped(Effect.gen(function*() {
      const store = yield* flakyStore
      const { arrived, layer } = inProcess(() =>
        Effect.succeed({ body: { access_token: "its-text", token_type: "Bearer", expires_in: 100 } })
      )
      const context = yield* Layer.build(
        TokenProvider.layerClientCredentialsConfig({
          authUrl: Config.string("URL"),
          clientId: Config.string("ID"),
          clientSecret: Config.redacted("SECRET")
        }).pipe(
          Layer.provide(Fleet.layerTokensConfig({ encryptionKey: Config.redacted("KEY") })),
          Layer.provide([layer, layerOf(store)])
        )
      )
      assert.strictEqual(Redacted.value(yield* Context.get(context, TokenProvider.TokenProvider).get), "its-text")
      assert.deepStrictEqual(arrived.map(({ url }) => url), ["https://one.example.com/oauth/token/"])
      const look = Effect.delay(Effect.sync(() => store.values().join()), 1)
      assert.notInclude(yield* Effect.repeat(look, { until: (stored) => stored !== "" }), "its-text")
    })).pipe(Effect.withConfigProvider(
      ConfigProvider.fromMap(
        new Map([["URL", "https://one.example.com"], ["ID", "id"], ["SECRET", "secret"], [
          "KEY",
          Redacted.value(keyOf(1))
        ]])
      )
    )))
})

describe("a time of day that is set back", () => {
  it.effect("does not prolong a token", () =>
    virtually(Effect.gen(function*() {
      const { clock, skew } = skewed(yield* Effect.clock)
      yield* Effect.withClock(
        Effect.gen(function*() {
          const { request } = endpoint()
          const one = yield* process(yield* flakyStore, request)
          assert.strictEqual(yield* one.get, "t1")
          skew.millis = -60_000
          yield* Effect.sleep("101 seconds")
          assert.strictEqual(yield* one.get, "t2")
        }),
        clock
      )
    })))
})

describe("while the store is unavailable", () => {
  it.effect("each process requests its own token, warns once, and shares again later", () =>
    virtually(Effect.gen(function*() {
      const { request, requests } = endpoint()
      const store = yield* flakyStore
      store.state = "down"
      const lines = yield* warnings(Effect.gen(function*() {
        const [one, two] = [yield* process(store, request), yield* process(store, request)]
        assert.deepStrictEqual((yield* all([one.get, two.get])).sort(), ["t1", "t2"])
        yield* Effect.sleep("95 seconds")
        yield* one.get
        yield* Effect.sleep("10 seconds")
        yield* one.get
        store.state = "up"
        yield* Effect.sleep("90 seconds")
        const token = yield* one.get
        yield* Effect.sleep("1 second")
        assert.strictEqual(yield* (yield* process(store, request)).get, token)
      }))
      assert.strictEqual(lines.filter((line) => line.includes("is unavailable")).length, 2, "one for each process")
      assert.isAtMost(requests(), 5)
    })))

  it.effect("a store that hangs delays a token by its timeout at most", () =>
    virtually(Effect.gen(function*() {
      const { request } = endpoint()
      const store = yield* flakyStore
      store.state = "hung"
      const [waited] = yield* Effect.timed((yield* process(store, request)).get)
      assert.isAtMost(Duration.toMillis(waited), 200 + 100)
    })))

  for (const delay of [5, 20, 45]) {
    it.effect(`others that win each write delay a token by its timeout at most: ${delay} ms for each request`, () =>
      virtually(Effect.gen(function*() {
        const { backend: { get, swap } } = yield* flakyStore
        let isContended = true
        const backend: SharedStore.Backend = {
          get: (key) => Effect.delay(get(key), delay),
          swap: (key, version, next) =>
            Effect.delay(
              Effect.suspend(() =>
                isContended
                  ? Effect.map(get(key), (seen) => ({ ...seen, swapped: false }))
                  : swap(key, version, next)
              ),
              delay
            )
        }
        const { request } = endpoint()
        const scope = yield* Scope.make()
        const one = yield* Scope.extend(process({ backend }, request), scope)
        const [waited, token] = yield* Effect.timed(one.get)
        assert.strictEqual(token, "t1")
        assert.isAtMost(Duration.toMillis(waited), 200 + 200, "the request itself takes 200 ms")
        isContended = false
        yield* one.invalidate("t1")
        assert.strictEqual(yield* one.get, "t2", "it has the lease")
        isContended = true
        const [closing] = yield* Effect.timed(Scope.close(scope, Exit.void))
        assert.isAtMost(Duration.toMillis(closing), 200)
      })))
  }

  it.effect("a value of another version or shape is ignored with one warning", () =>
    virtually(Effect.gen(function*() {
      const token = clear({ token: "t0", requestedAt: 0 })
      for (
        const value of [
          "",
          "{",
          "[]",
          "null",
          JSON.stringify({ token }),
          JSON.stringify({ version: 2, token }),
          JSON.stringify({ version: 3, token: { encrypted: token } }),
          JSON.stringify({ version: 3, lease: { owner: "x", until: "y" } }),
          JSON.stringify({ version: 1, token: { encrypted: "clear.t0", requestedAt: 0 } })
        ]
      ) {
        const { request } = endpoint()
        const store = yield* flakyStore
        const put = Effect.orDie(
          Effect.flatMap(store.backend.get("token:3:effect:tenant"), ({ entry }) =>
            store.backend.swap("token:3:effect:tenant", entry?.version, { value, timeToLive: Duration.hours(1) }))
        )
        const lines = yield* warnings(Effect.gen(function*() {
          yield* put
          const one = yield* process(store, request)
          assert.strictEqual(yield* one.get, "t1")
          yield* Effect.sleep("1 second")
          yield* put
          yield* one.invalidate("t1")
          assert.strictEqual(yield* one.get, "t2")
        }))
        assert.deepStrictEqual(
          lines.filter((line) =>
            !line.includes("UNENCRYPTED")
          ),
          [
            "the shared store's value of token:3:effect:tenant was stored by another version of this library or is damaged; ignoring it"
          ]
        )
      }
    })))
})

describe("in the store", () => {
  it.live("a token is encrypted; processes with the key decrypt it", () =>
    Effect.gen(function*() {
      const store = yield* flakyStore
      let requests = 0
      const request = Effect.sync(() => ({
        token: Redacted.make(`secret-token-${++requests}`),
        lifetime: Duration.hours(1)
      }))
      const get = (encryptionKey: Redacted.Redacted) =>
        Effect.flatMap(process(store, request, { encryptionKey }), ({ get }) => Effect.zipLeft(get, Effect.sleep(50)))
      assert.strictEqual(yield* get(keyOf(1)), "secret-token-1")
      assert.strictEqual(yield* get(keyOf(1)), "secret-token-1")
      for (const value of store.values()) assert.notInclude(value, "secret-token")
      const both = Redacted.make([keyOf(2), keyOf(1)].map(Redacted.value).join(", "))
      assert.strictEqual(yield* get(both), "secret-token-1", "keys can be rotated")
      assert.strictEqual(yield* get(keyOf(3)), "secret-token-2", "a process without the key requests its own")
    }).pipe(Effect.scoped))

  it.effect("a token stored without a key is unencrypted, and one warning is logged", () =>
    Effect.gen(function*() {
      const store = yield* flakyStore
      const request = Effect.succeed({ token: Redacted.make("t1") })
      const lines = yield* warnings(Effect.flatMap(process(store, request), ({ get }) => Effect.zipRight(get, get)))
      assert.deepStrictEqual(lines.filter((line) => line.includes("UNENCRYPTED")).length, 1)
      const encrypted = process(store, request, { encryptionKey: keyOf(1) })
      assert.deepStrictEqual(yield* warnings(Effect.flatMap(encrypted, ({ get }) => get)), [])
    }).pipe(Effect.scoped))

  it.effect("an invalid key is refused by name", () =>
    Effect.gen(function*() {
      for (
        const key of [
          "",
          "short",
          Buffer.alloc(31, 1).toString("base64"),
          `${Redacted.value(keyOf(1))},`,
          "ä".repeat(32),
          Redacted.value(keyOf(0)),
          `${Redacted.value(keyOf(1))},${Redacted.value(keyOf(0))}`
        ]
      ) {
        const store = yield* flakyStore
        const error = yield* Effect.flip(process(store, Effect.never, { encryptionKey: Redacted.make(key) }))
        assert.instanceOf(error, InvalidInput)
        assert.deepStrictEqual(error.issues.map(({ path }) => path), ["encryptionKey"])
        if (key !== "") assert.notInclude(String(error), key)
      }
    }).pipe(Effect.scoped))

  it.live("a token's dates are encrypted with it: a changed stored value cannot be decrypted", () =>
    Effect.gen(function*() {
      const store = yield* flakyStore
      let requests = 0
      const request = Effect.sync(() => ({
        token: Redacted.make(`t${++requests}`),
        lifetime: Duration.hours(1)
      }))
      const key = "token:3:effect:tenant"
      const get = Effect.flatMap(process(store, request, { encryptionKey: keyOf(1) }), ({ get }) => get)
      /** The stored token, once a process has replaced this value by it: a process stores it after it has given it. */
      const storedAfter = (value: string) =>
        Effect.repeat(Effect.delay(store.backend.get(key), 1), {
          until: ({ entry }) => entry !== undefined && entry.value !== value && !entry.value.includes("lease")
        })
      yield* get
      const stored = yield* storedAfter("")
      const content: Record<string, unknown> = JSON.parse(stored.entry?.value ?? "")
      assert.deepStrictEqual(Object.keys(content).sort(), ["token", "version"])
      const encrypted = String(content["token"])
      assert.match(encrypted, /^[\da-f]{12}\.[^.]{16}\.[^.]+$/)
      for (let at = 0; at < encrypted.length; at += 7) {
        const changed = encrypted.slice(0, at) + (encrypted[at] === "A" ? "B" : "A") + encrypted.slice(at + 1)
        const { entry } = yield* store.backend.get(key)
        const value = JSON.stringify({ ...content, token: changed })
        yield* store.backend.swap(key, entry?.version, { value, timeToLive: Duration.hours(1) })
        assert.strictEqual((yield* store.backend.get(key)).entry?.value, value)
        const before = requests
        assert.strictEqual(yield* get, `t${before + 1}`, `changed at ${at}`)
        yield* storedAfter(value)
      }
    }).pipe(Effect.scoped))

  it.effect("no lease remains when a request is interrupted with its layer", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const { request } = endpoint()
      const scope = yield* Scope.make()
      const begun = yield* Deferred.make<void>()
      const stuck = Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
      const one = yield* Scope.extend(process(store, stuck), scope)
      const fiber = yield* Effect.fork(one.get)
      yield* Deferred.await(begun)
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.interrupt(fiber)
      const [waited] = yield* Effect.timed((yield* process(store, request)).get)
      assert.isAtMost(Duration.toMillis(waited), 300, "the endpoint takes 200 of them")
    })))
})

/** The stored fields; times count from the moment of writing. */
interface Content {
  readonly token?: {
    readonly token: string
    readonly requestedAt: number
    readonly lifetime?: number | undefined
    /** Replaces the text. */
    readonly encrypted?: string
  }
  readonly lease?: { readonly owner: string; readonly until: number }
}

describe("a token request of a user's own", () => {
  it.scoped("runs in the span of its token request, not in a span in which the layer was built", () =>
    Effect.gen(function*() {
      const parents: Array<string | undefined> = []
      const request = Effect.flatMap(Effect.currentSpan, (span) =>
        Effect.sync(() => {
          parents.push(span.name)
          return { token: Redacted.make("t") }
        })).pipe(Effect.orDie)
      const context = yield* Effect.withSpan(
        Layer.build(
          TokenProvider.layerEffect(request, { name: "spans" }).pipe(
            Layer.provide(Fleet.layerTokensWith({})),
            Layer.provide(SharedStore.layerMemory)
          )
        ),
        "building"
      ).pipe(Logger.withMinimumLogLevel(LogLevel.None))
      yield* Effect.withSpan(Context.get(context, TokenProvider.TokenProvider).get, "call")
      assert.deepStrictEqual(parents, ["identity.token"])
    }))
})

describe("the stored value", () => {
  const key = "token:3:name"

  /** A store with one entry, and processes that use it. */
  const world = Effect.gen(function*() {
    const flaky = yield* flakyStore
    const store = yield* SharedStore.make(flaky.backend)
    const clock = yield* Effect.clock
    const entry = Effect.orDie(Effect.map(flaky.backend.get(key), ({ entry }) => entry))
    return {
      flaky,
      store,
      entry,
      fields: Effect.map(
        entry,
        (entry) =>
          entry === undefined
            ? undefined
            : Object.keys(JSON.parse(entry.value)).filter((field) => field !== "version").sort()
      ),
      /** Writes as another process does; times count from now on. */
      put: ({ lease, token }: Content) =>
        Effect.flatMap(entry, (before) => {
          const now = clock.unsafeCurrentTimeMillis()
          const value = JSON.stringify({
            version: 3,
            token: token &&
              (token.encrypted ??
                clear({ ...token, requestedAt: now + token.requestedAt, lifetime: token.lifetime ?? "Infinity" })),
            lease: lease === undefined ? undefined : { ...lease, until: now + lease.until }
          })
          return Effect.orDie(
            flaky.backend.swap(key, before?.version, { value, timeToLive: Duration.hours(1) })
          )
        }),
      process: (request: Request) => SharedToken.make(store, "name", Cipher.none, dated(request))
    }
  })

  const token = { token: "t0", requestedAt: -500, lifetime: 10_000 }
  const lease = { owner: "x", until: 500 }

  for (
    const [title, content, expected, least, most] of [
      ["a token", { token }, "t0", 0, 0],
      ["a token that another process is about to renew", { token, lease }, "t0", 0, 0],
      ["a token without lifetime", { token: { ...token, lifetime: undefined } }, "t0", 0, 0],
      ["a token that was requested just now", { token: { ...token, requestedAt: 0 } }, "t0", 0, 0],
      [
        "a token that is dated in the future, because the clock was set back",
        { token: { ...token, requestedAt: 1 } },
        "t1",
        200,
        200
      ],
      ["a token with a millisecond left", { token: { ...token, requestedAt: -8999 } }, "t0", 0, 0],
      ["an expired token", { token: { ...token, requestedAt: -9000 } }, "t1", 200, 200],
      ["a token that cannot be decrypted", { token: { ...token, encrypted: "t0" } }, "t1", 200, 200],
      ["a token without dates", { token: { ...token, encrypted: "clear.{\"token\":\"t0\"}" } }, "t1", 200, 200],
      ["a token that is no JSON", { token: { ...token, encrypted: "clear.t0" } }, "t1", 200, 200],
      [
        "a token that cannot be decrypted, and a lease",
        { token: { ...token, encrypted: "t0" }, lease },
        "t1",
        700,
        760
      ],
      ["a lease", { lease }, "t1", 700, 760],
      ["an expired lease", { lease: { ...lease, until: 0 } }, "t1", 200, 200],
      ["the longest lease", { lease: { ...lease, until: 1000 } }, "t1", 1200, 1260],
      ["a lease longer than any process takes", { lease: { ...lease, until: 1001 } }, "t1", 200, 200]
    ] as ReadonlyArray<readonly [string, Content, string, number, number]>
  ) {
    it.effect(`may hold ${title}`, () =>
      virtually(Effect.gen(function*() {
        const { process, put } = yield* world
        yield* put(content)
        const now = monotonicMillis(yield* Effect.clock)
        const [waited, issued] = yield* Effect.timed((yield* process(endpoint().request)).request)
        assert.strictEqual(Redacted.value(issued.token), expected)
        assert.isAtLeast(Duration.toMillis(waited), least)
        assert.isAtMost(Duration.toMillis(waited), most)
        if (expected === "t0" && content.token !== undefined) {
          assert.strictEqual(issued.requestedAt, now + content.token.requestedAt)
          assert.strictEqual(issued.lifetime, content.token.lifetime ?? Infinity)
        }
      })))
  }

  it.effect("is removed at the end of the token's lifetime", () =>
    virtually(
      Effect.gen(function*() {
        const { entry, fields, process } = yield* world
        yield* (yield* process(endpoint("1 hour").request)).request
        yield* Effect.sleep("59 minutes")
        assert.deepStrictEqual(yield* fields, ["token"])
        yield* Effect.sleep("1 minute")
        assert.isUndefined(yield* entry)
      }),
      "2 hours"
    ))

  it.effect("keeps the lease during a request, even if the token expires before", () =>
    virtually(Effect.gen(function*() {
      const { entry, fields, flaky, process, put } = yield* world
      const { request, requests } = endpoint()
      const [one, two] = [yield* process(request), yield* process(request)]
      yield* put({ token: { ...token, requestedAt: -9995 } })
      const fiber = yield* Effect.fork(one.request)
      yield* Effect.sleep(50)
      assert.deepStrictEqual(yield* fields, ["lease", "token"])
      yield* two.request
      yield* Fiber.join(fiber)
      assert.strictEqual(requests(), 1)
      const dead = yield* process(Effect.never)
      yield* Effect.fork(dead.request)
      yield* Effect.sleep("95 seconds")
      yield* Effect.fork(dead.request)
      yield* Effect.sleep(100)
      assert.include((yield* fields) ?? [], "lease")
      flaky.state = "down"
      yield* Effect.sleep("6 seconds")
      flaky.state = "up"
      assert.isUndefined(yield* entry, "an expired lease is removed")
    })))

  it.effect("is the lease alone before the first token, and is removed after a failure", () =>
    virtually(Effect.gen(function*() {
      const { entry, fields, process } = yield* world
      const { fail, request } = endpoint()
      fail(1)
      const [one, two] = [yield* process(request), yield* process(request)]
      const fiber = yield* Effect.fork(one.request)
      yield* Effect.sleep(100)
      assert.deepStrictEqual(yield* fields, ["lease"])
      assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
      yield* Effect.sleep(1)
      assert.isUndefined(yield* entry)
      const [waited] = yield* Effect.timed(two.request)
      assert.strictEqual(Duration.toMillis(waited), 200)
    })))

  it.effect("keeps the token if a process fails to request a newer one", () =>
    virtually(Effect.gen(function*() {
      const { entry, fields, process, put } = yield* world
      const { fail, request } = endpoint()
      fail(2)
      const one = yield* process(request)
      yield* put({ token })
      assert.strictEqual(Redacted.value((yield* one.request).token), "t0")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(one.request)))
      yield* Effect.sleep(1)
      assert.deepStrictEqual(yield* fields, ["token"])
      // The failure of one process does not remove the lease of another.
      const fiber = yield* Effect.fork(Effect.exit(one.request))
      yield* Effect.sleep(100)
      yield* put({ lease })
      yield* Fiber.join(fiber)
      yield* Effect.sleep(1)
      assert.include((yield* entry)?.value, "\"owner\":\"x\"")
    })))

  it.effect("is not replaced by an older token, nor is the lease", () =>
    virtually(Effect.gen(function*() {
      const { entry, flaky, process, put } = yield* world
      const slow = Effect.delay(Effect.succeed({ token: Redacted.make("t1") }), "2 seconds")
      const one = yield* process(slow)
      const fiber = yield* Effect.fork(one.request)
      yield* Effect.sleep(100)
      yield* flaky.lose
      yield* Effect.sleep(700)
      yield* put({ lease: { ...lease, until: 1000 } })
      yield* Effect.sleep(600)
      assert.include((yield* entry)?.value, "\"owner\":\"x\"")
      yield* put({ token: { ...token, requestedAt: 0 } })
      assert.strictEqual(
        Redacted.value((yield* Fiber.join(fiber)).token),
        "t1",
        "the process uses the token that it obtained"
      )
      yield* Effect.sleep(100)
      assert.include((yield* entry)?.value, "t0")
    })))

  for (
    const [title, requestedAt, expected] of [
      ["is replaced by a token of the same time", -199, "t1"],
      ["is not replaced by a token that is a millisecond older", -198, "t0"],
      ["is not replaced if it was requested just now", 1, "t0"],
      ["is replaced if it is dated in the future, because the clock was set back", 2, "t1"]
    ] as const
  ) {
    it.effect(title, () =>
      virtually(Effect.gen(function*() {
        const { entry, process, put } = yield* world
        const fiber = yield* Effect.fork((yield* process(endpoint().request)).request)
        yield* Effect.sleep(199)
        yield* put({ token: { ...token, requestedAt } })
        yield* Fiber.join(fiber)
        yield* Effect.sleep(1)
        assert.include((yield* entry)?.value, expected)
      })))
  }

  it.effect("need not hold a token that was refused", () =>
    virtually(Effect.gen(function*() {
      const lines: Array<unknown> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(message))
      const { entry, process, put } = yield* world
      const refusing = Effect.zipRight((yield* process(Effect.never)).forget(Redacted.make("t0")), Effect.sleep(1))
      const refusingLoudly = refusing.pipe(
        Logger.withMinimumLogLevel(LogLevel.All),
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
      yield* refusingLoudly
      assert.isUndefined(yield* entry)
      yield* put({ lease })
      yield* refusingLoudly
      assert.include((yield* entry)?.value, "\"owner\":\"x\"")
      assert.deepStrictEqual(lines, [])
    })))

  it.effect("is refused with a warning by a process that has seen a newer token; another one cannot know", () =>
    virtually(Effect.gen(function*() {
      const lines = yield* warnings(Effect.gen(function*() {
        const { entry, process, put } = yield* world
        const { request, requests } = endpoint()
        const one = yield* process(request)
        yield* put({ token: { ...token, requestedAt: 0 } })
        assert.strictEqual(Redacted.value((yield* one.request).token), "t0")
        yield* put({ token: { ...token, token: "older", requestedAt: -1 } })
        assert.strictEqual(Redacted.value((yield* one.request).token), "t1")
        yield* Effect.sleep(1)
        assert.include((yield* entry)?.value, "t1", "it is replaced")
        yield* put({ token: { ...token, token: "older", requestedAt: -203 } })
        const another = yield* process(request)
        assert.strictEqual(Redacted.value((yield* another.request).token), "older")
        yield* one.forget(Redacted.make("older"))
        yield* Effect.sleep(1)
        assert.include(
          (yield* entry)?.value,
          "older",
          "the process that issued t1 knows its date, and does not see this one"
        )
        assert.strictEqual(Redacted.value((yield* one.request).token), "t2")
        assert.strictEqual(requests(), 2)
      }))
      const warning = `the shared store's token of ${key} is older than one that was there before; ignoring it`
      assert.deepStrictEqual(lines, [warning, warning], "one for each token")
    })))

  it.effect("does not count as older if it was read before a newer one, and arrived after it", () =>
    virtually(Effect.gen(function*() {
      const { put, store } = yield* world
      const delays = [100, 0]
      const slow = {
        ...store,
        get: (key: string) =>
          Effect.flatMap(store.get(key), (seen) => Effect.delay(Effect.succeed(seen), delays.shift() ?? 0))
      }
      const lines = yield* warnings(Effect.gen(function*() {
        const { forget } = yield* SharedToken.make(slow, "name", Cipher.none, dated(Effect.never))
        yield* put({ token })
        yield* forget(Redacted.make("first"))
        yield* Effect.sleep(50)
        yield* put({ token: { ...token, token: "t9" } })
        yield* forget(Redacted.make("second"))
        yield* Effect.sleep(100)
      }))
      assert.deepStrictEqual(lines, [])
      assert.lengthOf(delays, 0)
    })))

  it.effect("may be put back as it is", () =>
    virtually(Effect.gen(function*() {
      const { process, put } = yield* world
      const one = yield* process(Effect.never)
      yield* put({ token: { ...token, requestedAt: 0 } })
      yield* one.request
      yield* put({ token: { ...token, token: "t9", requestedAt: 0 } })
      assert.strictEqual(Redacted.value((yield* one.request).token), "t9")
    })))

  it.effect("loses a refused token and keeps the lease", () =>
    virtually(Effect.gen(function*() {
      const { entry, fields, process, put } = yield* world
      const one = yield* process(Effect.never)
      yield* one.forget(Redacted.make("t0"))
      yield* Effect.sleep(1)
      yield* put({ token, lease })
      yield* one.forget(Redacted.make("t9"))
      yield* Effect.sleep(1)
      assert.include((yield* entry)?.value, "t0")
      yield* one.forget(Redacted.make("t0"))
      yield* Effect.sleep(1)
      assert.deepStrictEqual(yield* fields, ["lease"])
    })))

  it.effect("does not make a process wait for its own lease", () =>
    virtually(Effect.gen(function*() {
      const { fields, flaky, process } = yield* world
      const { request } = endpoint()
      const one = yield* process(request)
      const fiber = yield* Effect.fork(one.request)
      yield* Effect.sleep(100)
      flaky.state = "down"
      yield* Fiber.interrupt(fiber)
      yield* Effect.sleep(150)
      flaky.state = "up"
      assert.deepStrictEqual(yield* fields, ["lease"], "the lease could not be released")
      const [waited] = yield* Effect.timed(one.request)
      assert.strictEqual(Duration.toMillis(waited), 200)
    })))

  it.effect("is not touched by a process that ends without having had the lease", () =>
    virtually(Effect.gen(function*() {
      const { flaky, process, put } = yield* world
      yield* put({ token })
      const scope = yield* Scope.make()
      yield* (yield* Scope.extend(process(Effect.never), scope)).request
      flaky.state = "hung"
      const [waited] = yield* Effect.timed(Scope.close(scope, Exit.void))
      assert.strictEqual(Duration.toMillis(waited), 0)
    })))

  it.effect("is shared by name alone, and errors about settings name the layer", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const { request } = endpoint()
      const [one, two] = [
        yield* process(store, request, { name: "one" }),
        yield* process(store, request, { name: "two" })
      ]
      assert.deepStrictEqual(yield* all([one.get, two.get]), ["t1", "t2"])
      const refused = yield* Effect.flip(process(store, request, { encryptionKey: Redacted.make("x") }))
      assert.strictEqual(refused.operation, "Fleet.layerTokensWith")
    })))

  it.effect("is not shared without a name, which is a warning", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const { request } = endpoint()
      const build = Layer.build(Layer.fresh(
        TokenProvider.layerEffect(request).pipe(
          Layer.provide(Fleet.layerTokensWith({})),
          Layer.provide(layerOf(store))
        )
      ))
      const tokens: Array<string> = []
      const lines = yield* warnings(Effect.forEach([1, 2], () =>
        Effect.flatMap(build, (context) =>
          Effect.map(Context.get(context, TokenProvider.TokenProvider).get, (token) =>
            void tokens.push(Redacted.value(token))))))
      assert.deepStrictEqual(tokens, ["t1", "t2"])
      assert.deepStrictEqual(store.values(), [])
      const warning = "the tokens of TokenProvider.layerEffect are NOT shared by the fleet: set its option name"
      assert.deepStrictEqual(
        lines.filter((line) =>
          line.includes("NOT shared")
        ),
        [warning, warning]
      )
    })))
})
