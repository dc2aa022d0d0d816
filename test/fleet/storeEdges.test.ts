/** Tests of stores at their edges: callers that are interrupted, values that expire, and the names of tokens. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Layer, Logger, Redacted } from "effect"
import * as Fleet from "../../src/Fleet.js"
import * as SharedStore from "../../src/SharedStore.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { skewed } from "../support/fleet.js"
import { inProcess } from "../support/tokenServer.js"

describe("a store", () => {
  it.effect("fails with StoreUnavailable where a caller is interrupted that goes on", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const store = yield* SharedStore.make({ get: () => Effect.never, swap: () => Effect.never })
      for (const request of [store.get("k"), store.swap("k", undefined, undefined)]) {
        const fiber = yield* Effect.fork(Effect.uninterruptible(
          Effect.map(Effect.flip(request), ({ _tag }) => void seen.push(_tag))
        ))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(fiber)
      }
      assert.deepStrictEqual(seen, ["StoreUnavailable", "StoreUnavailable"])
    }))

  it.effect("in memory looks for expired values once a minute at most", () =>
    Effect.gen(function*() {
      const { clock, skew } = skewed(yield* Effect.clock)
      const { get, swap } = yield* Effect.withClock(SharedStore.memory, clock)
      const begin = 100_000
      const write = (key: string, after: number, timeToLive: Duration.DurationInput) => {
        skew.millis = begin + after
        return swap(key, undefined, { value: key, timeToLive: Duration.decode(timeToLive) })
      }
      // Time that goes back shows what is still there.
      const left = Effect.suspend(() => {
        skew.millis = begin
        return Effect.forEach(["short", "long"], (key) => Effect.map(get(key), ({ entry }) => entry?.value))
      })
      yield* write("first", 0, "1 hour")
      yield* write("short", 0, "10 seconds")
      yield* write("long", 0, "60 seconds")
      yield* write("early", 59_999, "1 hour")
      assert.deepStrictEqual(yield* left, ["short", "long"])
      yield* write("late", 60_000, "1 hour")
      assert.deepStrictEqual(yield* left, [undefined, undefined])
    }))
})

describe("the token of a fleet", () => {
  it.scopedLive("has a name by its host, with a digest of client and audience", () =>
    Effect.gen(function*() {
      const memory = yield* SharedStore.memory
      const names = new Set<string>()
      const noting = (name: string) => Effect.sync(() => void names.add(name))
      const store = SharedStore.layer(Effect.succeed({
        get: (name) => Effect.zipRight(noting(name), memory.get(name)),
        swap: (name, version, next) => Effect.zipRight(noting(name), memory.swap(name, version, next))
      }))
      const { layer } = inProcess(() =>
        Effect.succeed({ body: { access_token: "t1", token_type: "Bearer", expires_in: 100 } })
      )
      const clientSecret = Redacted.make("secret")
      const tokens = TokenProvider.layerClientCredentials({
        clientId: "id",
        clientSecret,
        authUrl: "https://one.example.com"
      }).pipe(Layer.provide(Fleet.layerTokensWith({})))
      const context = yield* Layer.build(Layer.provide(tokens, [layer, store]))
      assert.strictEqual(Redacted.value(yield* Context.get(context, TokenProvider.TokenProvider).get), "t1")
      assert.match(Array.from(names).join(), /^token:\d+:https:\/\/one\.example\.com:[0-9a-f]{32}$/)
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))
})
