/** Tests that a store in Redis is not built with a setting that a real server refuses, and says which. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Redacted } from "effect"
import { Redis as Client } from "ioredis"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import { InvalidInput } from "../../src/Errors.js"
import * as Redis from "../../src/Redis.js"
import { SharedStore } from "../../src/SharedStore.js"
import { cert, key } from "../support/certificate.js"
import { binary, redisServer, redisServerWith } from "../support/redisServer.js"
import { next } from "../support/sharedStores.js"

const storeOf = (url: string, client?: Redis.Options["client"]) =>
  Effect.map(
    Layer.build(Layer.fresh(Redis.layerStore({ url: Redacted.make(url), timeout: "10 seconds", client }))),
    (context) => Layer.succeedContext(context)
  )

/** The message of the failure to build a store. */
const refused = (url: string, client?: Redis.Options["client"]) =>
  Effect.map(Effect.flip(storeOf(url, client)), (error) => {
    assert.instanceOf(error, InvalidInput)
    assert.strictEqual(error.operation, "Redis.layerStore")
    return error.message.replace("Redis.layerStore: ", "")
  })

/** Runs a command as the server's administrator. */
const command = (url: string, name: string, ...args: ReadonlyArray<string>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new Client(url)),
    (client) => Effect.promise(() => client.call(name, ...args)),
    (client) => Effect.sync(() => client.disconnect())
  )

/** The commands of a user, as the guide lists them. */
const listed =
  /commands `([^`]+)`/.exec(readFileSync(join(import.meta.dirname, "../../examples/guides/fleet.md"), "utf8"))
    ?.[1]?.split(" ") ?? []

const files = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "redis-tls-"))
    writeFileSync(join(directory, "cert"), cert)
    writeFileSync(join(directory, "key"), key)
    return directory
  }),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
)

/** Printed by ioredis, not by this library: it may not run `INFO`. */
const silent = Effect.acquireRelease(
  Effect.sync(() => vi.spyOn(console, "warn").mockImplementation(() => {})),
  (spy) => Effect.sync(() => spy.mockRestore())
)

describe.skipIf(binary === undefined)("a store in Redis is not built", () => {
  it.scopedLive("with a password that is wrong or missing", () =>
    Effect.gen(function*() {
      const { url } = yield* redisServerWith(["--requirepass", "word"])
      assert.strictEqual(yield* refused(url), "url: the server requires a password (NOAUTH)")
      const message = yield* refused(url.replace("redis://", "redis://nobody:SECRET@"))
      assert.strictEqual(message, "url: the server refuses its user or password (WRONGPASS)")
      yield* storeOf(url.replace("redis://", "redis://:word@"))
    }))

  it.scopedLive("with a database that the server does not have, or the user may not select", () =>
    Effect.gen(function*() {
      yield* silent
      const { url } = yield* redisServer
      assert.strictEqual(yield* refused(`${url}/99`), "url: the server refuses its database (ERR)")
      const allowed = ["eval", "evalsha", "time", "hmget", "hset", "del", "pexpire"].map((name) => `+${name}`)
      yield* command(url, "ACL", "SETUSER", "fleet", "on", ">word", "~*", ...allowed)
      assert.strictEqual(
        yield* refused(`${url.replace("redis://", "redis://fleet:word@")}/1`),
        "url: its user may not run the command select (NOPERM); allow it with ACL SETUSER"
      )
      yield* command(url, "ACL", "SETUSER", "fleet", "+select")
      yield* storeOf(`${url.replace("redis://", "redis://fleet:word@")}/1`)
    }))

  it.scopedLive("with a database of a cluster's node, which has none", () =>
    Effect.gen(function*() {
      const { url } = yield* redisServerWith(["--cluster-enabled", "yes"])
      assert.strictEqual(yield* refused(`${url}/1`), "url: the server refuses its database (ERR)")
    }))

  it.scopedLive("and one that was built before its server sends nothing to another database", () =>
    Effect.gen(function*() {
      const server = yield* redisServer
      yield* server.stop
      const { get, swap } = yield* Effect.provide(SharedStore, yield* storeOf(`${server.url}/99`))
      yield* server.start
      const warnings: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void warnings.push(String(message)))
      yield* Effect.repeat(Effect.exit(Effect.zipRight(Effect.sleep(50), get("k"))), {
        until: () => warnings.some((text) => text.endsWith("(ERR)")),
        times: 200
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(swap("k", undefined, next("a")))))
      assert.deepStrictEqual(yield* command(server.url, "KEYS", "*"), [])
    }))

  it.scopedLive("for a user without one of the commands or keys that the guide lists, and is with all of them", () =>
    Effect.gen(function*() {
      yield* silent
      const { url } = yield* redisServer
      const own = url.replace("redis://", "redis://fleet:word@")
      const allow = (keys: string, commands: ReadonlyArray<string>) =>
        command(url, "ACL", "SETUSER", "fleet", "reset", "on", ">word", keys, ...commands.map((name) => `+${name}`))
      assert.includeMembers(listed, ["eval", "evalsha"])
      yield* allow("~effect-identity-client:*", listed)
      const store = yield* storeOf(own)
      const written = yield* Effect.provide(
        Effect.flatMap(
          SharedStore,
          ({ swap }) =>
            Effect.flatMap(swap("k", undefined, next("a")), ({ entry }) => swap("k", entry?.version, undefined))
        ),
        store
      )
      assert.isTrue(written.swapped)
      for (const name of listed) {
        yield* allow("~effect-identity-client:*", listed.filter((other) => other !== name))
        assert.strictEqual(
          yield* refused(own),
          `url: its user may not run the command ${name} (NOPERM); allow it with ACL SETUSER`
        )
      }
      yield* allow("~other:*", listed)
      assert.strictEqual(
        yield* refused(own),
        "url: its user may not use the keys effect-identity-client:* (NOPERM); allow them with ACL SETUSER"
      )
    }))

  it.scopedLive("on a server without the command that runs scripts", () =>
    Effect.gen(function*() {
      const { url } = yield* redisServerWith(["--rename-command", "EVAL", ""])
      assert.include(yield* refused(url), "may not run the command eval")
    }))

  it.scopedLive("with a certificate that nobody vouches for", () =>
    Effect.gen(function*() {
      const directory = yield* files
      const [certFile, keyFile] = [join(directory, "cert"), join(directory, "key")]
      const settings =
        `--port 0 --tls-auth-clients no --tls-ca-cert-file ${certFile} --tls-cert-file ${certFile} --tls-key-file ${keyFile}`
      const { url } = yield* redisServerWith(settings.split(" "), "--tls-port")
      const secure = url.replace("redis:", "rediss:")
      assert.strictEqual(
        yield* refused(secure),
        "client.tls: a certificate is refused (DEPTH_ZERO_SELF_SIGNED_CERT); set the server's ca and servername, or a cert and " +
          "key of your own"
      )
      yield* storeOf(secure, { tls: { ca: cert } })
    }))

  it.scopedLive("on a replica that is read-only", () =>
    Effect.gen(function*() {
      const primary = yield* redisServer
      const { url } = yield* redisServerWith(["--replicaof", "127.0.0.1", new URL(primary.url).port])
      assert.strictEqual(yield* refused(url), "url: the server is a read-only replica; name its primary (READONLY)")
    }))

  it.scopedLive("on a node of a cluster that does not have all keys", () =>
    Effect.gen(function*() {
      const message = (code: string) =>
        `url: the server is a node of a Redis Cluster and does not have all keys; name a single server (${code})`
      const node = redisServerWith(["--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"])
      const untilKnown = (url: string) =>
        Effect.repeat(Effect.delay(Effect.map(command(url, "CLUSTER", "INFO"), String), "20 millis"), {
          until: (info) => /cluster_state:ok[^]+slots_assigned:16384/.test(info),
          times: 1000
        })
      const { url } = yield* node
      assert.strictEqual(yield* refused(url), message("CLUSTERDOWN"))
      const other = yield* node
      yield* command(url, "CLUSTER", "ADDSLOTSRANGE", "0", "8191")
      yield* command(other.url, "CLUSTER", "ADDSLOTSRANGE", "8192", "16383")
      yield* command(url, "CLUSTER", "MEET", "127.0.0.1", new URL(other.url).port)
      yield* untilKnown(url)
      assert.strictEqual(yield* refused(url), message("MOVED"))
      const alone = yield* node
      yield* command(alone.url, "CLUSTER", "ADDSLOTSRANGE", "0", "16383")
      yield* untilKnown(alone.url)
      yield* storeOf(alone.url)
    }))

  it.scopedLive("leaves no key, and is built where a server does not respond", () =>
    Effect.gen(function*() {
      const server = yield* redisServer
      yield* storeOf(server.url)
      assert.deepStrictEqual(yield* command(server.url, "KEYS", "*"), [])
      yield* server.suspend
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(storeOf(server.url))))
      yield* server.resume
    }))
})
