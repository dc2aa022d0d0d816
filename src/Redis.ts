/** What a fleet shares lies in Redis, or in Valkey, or in whatever else speaks its protocol and runs its scripts. */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Redis, type RedisOptions } from "ioredis"
import { InvalidInput } from "./Errors.js"
import * as SharedStore from "./SharedStore.js"

/** Where Redis is, and under which names it keeps what is shared. */
export interface Options extends SharedStore.Options {
  /** For example `rediss://user:password@redis.example.com:6380/0`; `redis://` without TLS. */
  readonly url: Redacted.Redacted
  /** What the names of all keys begin with (default: `effect-identity-client:`). Fleets that share nothing have different ones. */
  readonly prefix?: string | undefined
  /** More options of ioredis, such as `tls` or `sentinels`. How it queues and repeats commands is not for them to say. */
  readonly client?: RedisOptions | undefined
}

/** The time here, what is there, and, if that is what the caller takes it for, something else. One key: a cluster can run it. */
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

/** So long the layer waits for the first connection; without one it is there all the same. */
const firstConnection = "1 second"

const connect = (
  url: Redacted.Redacted,
  client: RedisOptions | undefined
): Effect.Effect<Redis, unknown, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try(() => {
      const redis = new Redis(Redacted.value(url), {
        connectTimeout: 2000,
        socketTimeout: 2000, // a connection that is lost without a word is made again
        retryStrategy: (times) => Math.min(50 * times, 500),
        ...client,
        lazyConnect: true,
        // What cannot be sent at once fails at once, and nothing is sent twice.
        enableOfflineQueue: false,
        autoResendUnfulfilledCommands: false,
        maxRetriesPerRequest: 0
      })
      redis.on("error", () => {}) // whoever asks is told
      return redis
    }),
    (redis) => Effect.sync(() => redis.disconnect())
  ).pipe(
    Effect.tap((redis) => Effect.ignore(Effect.timeout(Effect.tryPromise(() => redis.connect()), firstConnection)))
  )

const swapped = (reply: unknown): SharedStore.SwapResult => {
  const [done, micros, version, value]: ReadonlyArray<unknown> = Array.isArray(reply) ? reply : []
  return {
    swapped: done === 1,
    now: Number(micros) / 1000,
    entry: version === "" ? undefined : { version: String(version), value: String(value) }
  }
}

const backend = ({ client, prefix = "effect-identity-client:", url }: Options) =>
  Effect.map(connect(url, client), (redis): SharedStore.Backend => {
    redis.defineCommand("identityClientSwap", { numberOfKeys: 1, lua: script })
    // Sound: `defineCommand` has just added it, and ioredis takes strings and numbers.
    const commands = redis as Redis & {
      readonly identityClientSwap: (...args: ReadonlyArray<string | number>) => Promise<unknown>
    }
    const run = (key: string, ...args: ReadonlyArray<string | number>) =>
      Effect.map(Effect.tryPromise(() => commands.identityClientSwap(`${prefix}${key}`, ...args)), swapped)
    return {
      get: (key) => run(key, "get"),
      swap: (key, version = "", next) =>
        next === undefined
          ? run(key, "remove", version)
          : Effect.map(
            run(key, "set", version, next.value, Math.max(1, Math.ceil(Duration.toMillis(next.timeToLive)))),
            // What it has just been told it does not send back.
            (answer) =>
              answer.swapped && answer.entry !== undefined
                ? { ...answer, entry: { ...answer.entry, value: next.value } }
                : answer
          )
    }
  })

const isUrl = (url: string): boolean => URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol)

/**
 * What the fleet shares, in Redis 5 or later. One connection, which is made again whenever it is lost. The layer is there after
 * a second at the latest, with a connection or without. It fails with `InvalidInput` if `url` is no URL of Redis.
 */
export const layerStore = (options: Options): Layer.Layer<SharedStore.SharedStore, InvalidInput> =>
  SharedStore.layer(
    Effect.suspend(() => {
      const refused = new InvalidInput({
        operation: "Redis.layerStore",
        issues: [{ path: "url", message: "expected a URL such as redis://localhost:6379" }]
      })
      return isUrl(Redacted.value(options.url))
        ? Effect.mapError(backend(options), () => refused)
        : Effect.fail(refused)
    }),
    options
  )

/** `layerStore`, with settings from a `Config` each. */
export const layerStoreConfig = (
  options: Config.Config.Wrap<Options>
): Layer.Layer<SharedStore.SharedStore, InvalidInput | ConfigError.ConfigError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerStore))
