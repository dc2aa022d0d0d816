import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Context, Duration, Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import { Redis as Client } from "ioredis"
import { connect, createServer, type Socket } from "node:net"
import { vi } from "vitest"
import { InvalidInput } from "../../src/Errors.js"
import * as Fleet from "../../src/Fleet.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as Redis from "../../src/Redis.js"
import * as SharedStore from "../../src/SharedStore.js"
import { acquire } from "../support/fleetStore.js"
import { binary, redisServer } from "../support/redisServer.js"
import { contract, eventually, next } from "../support/sharedStores.js"

const storeOf = (url: string, options: Partial<Redis.Options> = {}) =>
  Effect.map(
    Layer.build(Layer.fresh(Redis.layerStore({ url: Redacted.make(url), timeout: "2 seconds", ...options }))),
    Context.get(SharedStore.SharedStore)
  )

const memory = Effect.map(Layer.build(Layer.fresh(SharedStore.layerMemory)), Context.get(SharedStore.SharedStore))

const quiet = Logger.remove(Logger.defaultLogger)

/** A separate connection to inspect the server. */
const clientOf = (url: string) =>
  Effect.acquireRelease(Effect.sync(() => new Client(url)), (client) => Effect.sync(() => client.disconnect()))

/** A proxy that can drop connections without notice to either end. */
const relay = (to: string) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly drop: () => void; readonly close: () => void }>((resume) => {
      const sockets: Array<Socket> = []
      const server = createServer((near) => {
        const far = connect(Number(new URL(to).port), "127.0.0.1")
        for (const socket of [near, far]) sockets.push(socket.on("error", () => {}))
        near.pipe(far)
        far.pipe(near)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = address !== null && typeof address === "object" ? address.port : 0
        resume(Effect.succeed({
          url: `redis://127.0.0.1:${port}`,
          drop: () => sockets.forEach((socket) => socket.unpipe()),
          close: () => {
            for (const socket of sockets) socket.destroy()
            server.close()
          }
        }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

contract("SharedStore.memory", memory)

if (binary === undefined) {
  it("is not tested with Redis: this machine has no redis-server", () => {
    console.warn("skipped: all tests that need a redis-server")
    assert.notStrictEqual(process.env["CI"], "true", "CI must have one")
  })
} else {
  contract("Redis.layerStore", Effect.flatMap(redisServer, ({ url }) => storeOf(url)))
  contract(
    "Redis.layerStore with numbers as strings",
    Effect.flatMap(redisServer, ({ url }) => storeOf(url, { client: { stringNumbers: true } }))
  )

  describe("Redis", () => {
    it.live("gives no version twice, even if the server loses all values", () =>
      Effect.gen(function*() {
        const server = yield* redisServer
        const { get, swap } = yield* storeOf(server.url)
        const before = yield* swap("k", undefined, next("a"))
        yield* server.stop
        yield* server.start
        const settled = yield* eventually(get("k"))
        assert.isUndefined(settled.entry)
        const after = yield* swap("k", undefined, next("b"))
        assert.isTrue(after.swapped)
        assert.notStrictEqual(after.entry?.version, before.entry?.version)
        assert.isFalse((yield* swap("k", before.entry?.version, next("c"))).swapped)
      }).pipe(Effect.scoped, Effect.provide(quiet)))

    it.live("times out while the server hangs, and is used again afterwards", () =>
      Effect.gen(function*() {
        const server = yield* redisServer
        const { get } = yield* storeOf(server.url, { timeout: "200 millis" })
        yield* eventually(get("k"))
        yield* server.suspend
        const [waited, exit] = yield* Effect.timed(Effect.exit(get("k")))
        assert.isTrue(Exit.isFailure(exit))
        assert.isAtLeast(Duration.toMillis(waited), 40)
        yield* server.resume
        assert.isAbove((yield* eventually(get("k"))).now, 0)
      }).pipe(Effect.scoped, Effect.provide(quiet)))

    it.live("is built without a connection, and leaves none open", () =>
      Effect.gen(function*() {
        const server = yield* redisServer
        yield* server.stop
        const scope = yield* Scope.make()
        const { get } = yield* Scope.extend(storeOf(server.url), scope)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(get("k"))))
        yield* server.start
        yield* eventually(get("k"))
        const client = yield* clientOf(server.url)
        const connections = Effect.map(Effect.promise(() => client.client("LIST")), (list) =>
          String(list).trim().split("\n").length)
        assert.strictEqual(yield* connections, 2)
        yield* Scope.close(scope, Exit.void)
        yield* connections.pipe(
          Effect.delay("20 millis"),
          Effect.repeat({
            until: (count) =>
              count === 1,
            times: 100
          })
        )
        assert.strictEqual(yield* connections, 1)
      }).pipe(Effect.scoped, Effect.provide(quiet)))

    it.live("gives no version twice, even if the server returns to an older state", () =>
      Effect.gen(function*() {
        const server = yield* redisServer
        const { get, swap } = yield* storeOf(server.url)
        const saved = yield* swap("k", undefined, next("a"))
        const lost = yield* swap("k", saved.entry?.version, next("b"))
        // As after a restart from an older file, or when a replica that lags takes over.
        const client = yield* clientOf(server.url)
        const [key = ""] = yield* Effect.promise(() => client.keys("*"))
        yield* Effect.promise(() => client.hset(key, "version", saved.entry?.version ?? "", "value", "a"))
        assert.deepStrictEqual((yield* get("k")).entry, saved.entry)
        const after = yield* swap("k", saved.entry?.version, next("c"))
        assert.isTrue(after.swapped)
        assert.notStrictEqual(after.entry?.version, lost.entry?.version)
      }).pipe(Effect.scoped))

    it.live("reconnects after a connection was lost without notice", () =>
      Effect.gen(function*() {
        const server = yield* redisServer
        const { drop, url } = yield* relay(server.url)
        const { get } = yield* storeOf(url, { timeout: "400 millis" })
        yield* eventually(get("k"))
        drop()
        assert.isTrue(Exit.isFailure(yield* Effect.exit(get("k"))))
        assert.isAbove((yield* eventually(get("k"))).now, 0)
      }).pipe(Effect.scoped, Effect.provide(quiet)))

    it.live("fails at once while the server is down, and prints nothing", () =>
      Effect.gen(function*() {
        const server = yield* redisServer
        // It never reconnects: a queued command would never end.
        const { get } = yield* storeOf(server.url, { timeout: "1 hour", client: { retryStrategy: () => 3_600_000 } })
        const printed = yield* Effect.acquireRelease(
          Effect.sync(() => vi.spyOn(console, "error").mockImplementation(() => {})),
          (spy) => Effect.sync(() => spy.mockRestore())
        )
        yield* storeOf(server.url) // reconnects and fails, again and again
        yield* get("k")
        yield* server.stop
        yield* Effect.sleep(200)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(get("k"))))
        assert.strictEqual(printed.mock.calls.length, 0)
      }).pipe(Effect.scoped, Effect.provide(quiet)))

    it.live("logs the code of a failure, and no secret", () =>
      Effect.gen(function*() {
        const server = yield* redisServer
        const client = yield* clientOf(server.url)
        yield* Effect.promise(() => client.rpush("effect-identity-client:list", "a"))
        const warnings: Array<string> = []
        const logger = Logger.make<unknown, void>(({ message }) => void warnings.push(String(message)))
        const failed = (url: string, key: string, change: Effect.Effect<unknown> = Effect.void) =>
          Effect.flatMap(storeOf(url), ({ get }) => Effect.zipRight(change, Effect.flip(get(key)))).pipe(
            Effect.provide(Logger.replace(Logger.defaultLogger, logger))
          )
        yield* failed(server.url, "list")
        yield* Effect.promise(() => client.acl("SETUSER", "fleet", "on", ">SECRET", "~*", "+@all"))
        // Ends the user's connections; the next ones are refused. The second shows that the reply to the first has arrived.
        const refusals = Effect.map(
          Effect.promise(() => client.acl("LOG")),
          (log) => JSON.stringify(log).match(/"count",(\d+)/g)?.join() ?? ""
        )
        const removed = Effect.zipRight(
          Effect.promise(() => client.acl("DELUSER", "fleet")),
          Effect.repeat(Effect.delay(refusals, 10), { until: (counts) => /[2-9]/.test(counts) })
        )
        yield* failed(server.url.replace("redis://", "redis://fleet:SECRET@"), "k", removed)
        yield* Effect.promise(() => client.acl("SETUSER", "fleet", "on", ">SECRET", "~*", "+@all"))
        const forbidden = Effect.promise(() => client.acl("SETUSER", "fleet", "-time"))
        yield* failed(server.url.replace("redis://", "redis://fleet:SECRET@"), "k", forbidden)
        yield* server.stop
        yield* failed(server.url, "k")
        const codes = warnings.map((warning) => /\((\w+)\)$/.exec(warning)?.[1])
        assert.deepStrictEqual(codes, ["WRONGTYPE", "WRONGPASS", "NOPERM", "ECONNREFUSED"])
        assert.notInclude(warnings.join(), "SECRET")
      }).pipe(Effect.scoped))

    it.live("prefixes its keys with the library's name by default", () =>
      Effect.gen(function*() {
        const server = yield* redisServer
        const { swap } = yield* storeOf(server.url)
        yield* swap("k", undefined, next("a"))
        const client = yield* clientOf(server.url)
        assert.deepStrictEqual(yield* Effect.promise(() => client.keys("*")), ["effect-identity-client:k"])
      }).pipe(Effect.scoped))

    it.live("has one key for each tenant, with a prefix and a time to live", () =>
      Effect.gen(function*() {
        const server = yield* redisServer
        const store = Redis.layerStore({ url: Redacted.make(server.url), prefix: "one:" })
        const limiter = yield* Effect.map(
          Layer.build(Layer.provide(Fleet.layerRateLimiter, store)),
          Context.get(RateLimiter.RateLimiter)
        )
        for (const tenant of ["https://t.example.com/api/v2", "https://u.example.com/api/v2"]) {
          const { settle } = yield* acquire(limiter, { tenant, operation: "a" })
          yield* settle(undefined)
        }
        const client = yield* clientOf(server.url)
        const keys = (yield* Effect.promise(() => client.keys("*"))).sort()
        assert.deepStrictEqual(keys, [
          "one:limit:4:https://t.example.com/api/v2",
          "one:limit:4:https://u.example.com/api/v2"
        ])
        for (const key of keys) assert.isAbove(yield* Effect.promise(() => client.pttl(key)), 0)
      }).pipe(Effect.scoped))
  })
}

describe("Redis.layerStore", () => {
  it.effect("refuses a URL that is not one of Redis, and does not print it", () =>
    Effect.gen(function*() {
      for (
        const url of [
          "",
          "localhost:6379",
          "http://user:secret@localhost",
          "redis//x",
          "noredis://localhost",
          "redis://localhost/cache",
          "redis://localhost/1.5",
          "redis://%:secret@localhost" // not a valid encoding
        ]
      ) {
        const error = yield* Effect.flip(storeOf(url))
        assert.instanceOf(error, InvalidInput)
        assert.strictEqual(error.operation, "Redis.layerStore")
        assert.deepStrictEqual(error.issues, [
          { path: "url", message: "expected a URL such as redis://localhost:6379/0" }
        ])
        assert.notInclude(String(error), "secret")
      }
    }).pipe(Effect.scoped))

  it.effect("refuses a timeout of zero or without end", () =>
    Effect.gen(function*() {
      for (const timeout of [0, Infinity]) {
        const error = yield* Effect.flip(storeOf("redis://localhost:6379", { timeout }))
        assert.instanceOf(error, InvalidInput)
        assert.strictEqual(error.operation, "Redis.layerStore")
        assert.deepStrictEqual(error.issues, [{ path: "timeout", message: "expected a finite time above zero" }])
      }
    }).pipe(Effect.scoped))

  it.effect("takes its settings from a Config", () =>
    Effect.gen(function*() {
      const layer = Redis.layerStoreConfig({ url: Config.redacted("STORE_URL") })
      const error = yield* Effect.flip(Layer.build(layer)).pipe(
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["STORE_URL", "http://x"]])))
      )
      assert.instanceOf(error, InvalidInput)
    }).pipe(Effect.scoped))
})
