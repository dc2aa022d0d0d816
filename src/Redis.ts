/** Subpath /Redis: keeps what a fleet shares in Redis, Valkey, or another server of that protocol that runs Lua scripts. */
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Redis, type RedisOptions } from "ioredis"
import { randomUUID } from "node:crypto"
import type { InvalidInput } from "./Errors.js"
import { isOfDatabase, withCode, wrongSetting } from "./internal/fleet/redisSettings.js"
import * as StoreTimeout from "./internal/fleet/storeTimeout.js"
import { invalidSetting } from "./internal/schema/issues.js"
import * as SharedStore from "./SharedStore.js"

/** Settings of a store in Redis. @since 0.1.0 @category models */
export interface Options extends SharedStore.Options {
  /** The server, for example `rediss://user:password@redis.example.com:6380/0`; `redis://` without TLS. */
  readonly url: Redacted.Redacted
  /** The prefix of all keys (default: `effect-identity-client:`). Fleets with different prefixes share nothing. */
  readonly prefix?: string | undefined
  /** More options of ioredis, such as `tls` or `sentinels`. Those for queueing and retrying commands have no effect. */
  readonly client?: RedisOptions | undefined
}

/** Returns the time and the entry, and changes the entry if its version matches. It has one key, so a cluster can run it. */
const script = `
local time = redis.call('TIME')
local now = time[1] .. string.format('%06d', time[2])
local current = redis.call('HMGET', KEYS[1], 'version', 'value')
if ARGV[1] == 'get' or (current[1] or '') ~= ARGV[2] then return { 0, now, current[1] or '', current[2] or '' } end
if ARGV[1] == 'remove' then
  redis.call('DEL', KEYS[1])
  return { 1, now, '', '' }
end
local count = string.match(current[1] or '', '%.(%d+)$')
local version = now .. '.' .. string.format('%d', (count or 0) + 1)
redis.call('HSET', KEYS[1], 'version', version, 'value', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return { 1, now, version, '' }
`

/** The layer waits no longer than this for the first connection, in milliseconds, and is built without one. */
const firstConnection = 1000

/** Why a client has no connection: its commands only say that there is none. */
const reasons = /* @__PURE__ */ new WeakMap<Redis, unknown>()

/** The driver uses database 0 if the server refuses another one: nothing is sent then. */
const inItsDatabase = (redis: Redis, request: () => Promise<unknown>): Promise<unknown> => {
  const reason = reasons.get(redis)
  return isOfDatabase(reason) ? Promise.reject(reason) : request()
}

const connect = (
  url: Redacted.Redacted,
  client: RedisOptions | undefined
): Effect.Effect<Redis, unknown, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try(() => {
      const redis = new Redis(Redacted.value(url), {
        connectTimeout: firstConnection - 100, // so that the first warning has the code of what was tried
        socketTimeout: 2000, // replaces a connection that was lost without notice
        disconnectTimeout: 0, // else a server that does not respond keeps the process alive
        retryStrategy: (times) => Math.min(50 * times, 500),
        ...client,
        lazyConnect: true,
        // A command that cannot be sent now fails now, and none is sent twice.
        enableOfflineQueue: false,
        autoResendUnfulfilledCommands: false,
        maxRetriesPerRequest: 0
      })
      const forget = (ofDatabase: boolean) => () => {
        if (isOfDatabase(reasons.get(redis)) === ofDatabase) reasons.delete(redis)
      }
      redis.on("error", (error) => {
        // The driver's own errors have no code, and follow the one that says why.
        if ("code" in error || error.name === "ReplyError") reasons.set(redis, error)
      }).on("ready", forget(false)).on("connect", forget(true)) // each connection selects its database
      return redis
    }),
    (redis) => Effect.sync(() => redis.disconnect())
  ).pipe(
    Effect.tap((redis) => Effect.ignore(Effect.timeout(Effect.tryPromise(() => redis.connect()), firstConnection)))
  )

const swapResult = (reply: unknown): SharedStore.SwapResult => {
  const [done, micros, version, value]: ReadonlyArray<unknown> = Array.isArray(reply) ? reply : []
  return {
    swapped: Number(done) === 1, // a string with the option `stringNumbers`
    now: Number(micros) / 1000,
    entry: version === "" ? undefined : { version: String(version), value: String(value) }
  }
}

/** The time to live in milliseconds, as an integer that Redis accepts. */
const timeToLive = (write: SharedStore.Write): number =>
  Math.min(Math.max(1, Math.ceil(Duration.toMillis(write.timeToLive))), Number.MAX_SAFE_INTEGER)

/** The probe reads so many keys: of a cluster of two nodes, one has them all in one of 65,000 cases. */
const probedKeys = 16

/** A client of ioredis that knows the script. */
type Scripted = Redis & {
  readonly identityClientSwap: (...args: ReadonlyArray<string | number>) => Promise<unknown>
}

/**
 * Uses each command once, on keys of its own, and fails if a setting is wrong. A server that cannot be reached or does not respond in time
 * passes: it may come.
 */
const probe = (redis: Scripted, prefix: string, timeout: Duration.DurationInput) => {
  const key = `${prefix}probe:${randomUUID()}`
  const send = (request: () => Promise<unknown>) =>
    Effect.tryPromise({
      try: () => inItsDatabase(redis, request),
      catch: (error) => wrongSetting(reasons.get(redis) ?? error, script, prefix)
    })
  // `EVAL` itself: the driver sends only its digest to a server that knows the script.
  return send(() => redis.eval(script, 1, key, "set", "", "", 1000)).pipe(
    Effect.flatMap((reply) => {
      const reads = Array.from(
        { length: probedKeys },
        (_, nth) => () => redis.identityClientSwap(`${key}:${nth}`, "get")
      )
      const remove = () => redis.identityClientSwap(key, "remove", swapResult(reply).entry?.version ?? "")
      return Effect.forEach([remove, ...reads], send, { concurrency: "unbounded", discard: true })
    }),
    Effect.timeoutOption(timeout),
    Effect.catchAll((wrong) =>
      wrong === undefined ? Effect.void : invalidSetting("Redis.layerStore", wrong.setting, wrong.message)
    )
  )
}

const backend = ({ client, prefix = "effect-identity-client:", timeout = StoreTimeout.byDefault, url }: Options) =>
  Effect.gen(function*() {
    const redis = yield* Effect.mapError(
      connect(url, client),
      () => invalidSetting("Redis.layerStore", "url", expectedUrl)
    )
    redis.defineCommand("identityClientSwap", { numberOfKeys: 1, lua: script })
    const commands = redis as Scripted // sound: `defineCommand` has just added it, and ioredis takes strings and numbers
    yield* probe(commands, prefix, timeout)
    const run = (key: string, ...args: ReadonlyArray<string | number>) =>
      Effect.tryPromise({
        try: () => inItsDatabase(redis, () => commands.identityClientSwap(`${prefix}${key}`, ...args)),
        catch: (error) => withCode(reasons.get(redis) ?? error)
      }).pipe(Effect.map(swapResult))
    return {
      get: (key) => run(key, "get"),
      swap: (key, version = "", next) =>
        next === undefined
          ? run(key, "remove", version)
          : Effect.map(
            run(key, "set", version, next.value, timeToLive(next)),
            // The script does not send the new value back.
            (result) =>
              result.swapped && result.entry !== undefined
                ? { ...result, entry: { ...result.entry, value: next.value } }
                : result
          )
    } satisfies SharedStore.Backend
  })

const expectedUrl = "expected a URL such as redis://localhost:6379/0"

const isUrl = (url: string): boolean =>
  URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol) && /^(?:\/\d*)?$/.test(new URL(url).pathname)

/**
 * A `SharedStore` in Redis 5 or later, over one connection that is renewed whenever it is lost. The layer is built within a
 * second and `timeout`, even without a connection. It fails with `InvalidInput` if `url` is not a Redis URL, `timeout` is zero or infinite,
 * or the server refuses what the store needs: its password, its database, a command, a certificate, writes to a replica, or keys of another node.
 * @since 0.1.0 @category layers
 */
export const layerStore = (options: Options): Layer.Layer<SharedStore.SharedStore, InvalidInput> =>
  SharedStore.layer(
    Effect.zipRight(
      StoreTimeout.validate("Redis.layerStore", options.timeout),
      Effect.suspend(() =>
        isUrl(Redacted.value(options.url))
          ? backend(options)
          : invalidSetting("Redis.layerStore", "url", expectedUrl)
      )
    ),
    options
  )

/** `layerStore` with each setting from a `Config`. @since 0.1.0 @category layers */
export const layerStoreConfig = (options: Config.Config.Wrap<Options>) =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerStore))
