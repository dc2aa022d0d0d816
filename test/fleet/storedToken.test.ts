/** Tests of how a process changes the stored token while others change it, too. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { none } from "../../src/internal/fleet/encryption.js"
import { make } from "../../src/internal/fleet/storedToken.js"
import * as SharedStore from "../../src/SharedStore.js"
import { makeStore, virtually } from "../support/fleetStore.js"

const changerOf = (backend: SharedStore.Backend) =>
  Effect.zipWith(SharedStore.make(backend), Effect.clock, (store, clock) => make(store, "name", none, clock))

describe("a change of the stored token", () => {
  it.effect("begins again with what another process has written meanwhile", () =>
    virtually(Effect.gen(function*() {
      const memory = yield* SharedStore.memory
      const other = yield* changerOf(memory)
      const token = Redacted.make("t0")
      let swaps = 0
      const modify = yield* changerOf({
        get: memory.get,
        swap: (...change) => {
          const others = other(({ now }) => [undefined, { token: { token, requestedAt: now, lifetime: Infinity } }])
          return Effect.zipRight(Effect.when(others, () => ++swaps === 1), memory.swap(...change))
        }
      })
      const seen: Array<string | undefined> = []
      const result = yield* modify((content) => {
        seen.push(content.token && Redacted.value(content.token.token))
        return [seen.length, { ...content, lease: { owner: "x", until: content.now + 1000 } }]
      })
      assert.deepStrictEqual([result, seen, swaps], [2, [undefined, "t0"], 2])
      const [owner, text] = yield* other(({ lease, token }) => [[lease?.owner, token && Redacted.value(token.token)]])
      assert.deepStrictEqual([owner, text], ["x", "t0"])
    })))

  it.effect("fails when others win for three quarters of the store's timeout", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      Object.assign(store, { isContended: true, before: 10 })
      const modify = yield* changerOf(store.backend)
      const change = modify(({ now }) => [undefined, { lease: { owner: "x", until: now } }])
      const [waited, error] = yield* Effect.timed(Effect.flip(change))
      assert.strictEqual(error, "contended")
      assert.isAtLeast(Duration.toMillis(waited), 150)
      assert.isAtMost(Duration.toMillis(waited), 180, "after a pause of 16 ms and two requests of 10 ms")
    })))

  it.effect("keeps a token without lifetime for a day", () =>
    virtually(Effect.gen(function*() {
      const memory = yield* SharedStore.memory
      const kept: Array<number | undefined> = []
      const modify = yield* changerOf({
        get: memory.get,
        swap: (key, version, next) => {
          kept.push(next && Duration.toHours(next.timeToLive))
          return memory.swap(key, version, next)
        }
      })
      const token = Redacted.make("t0")
      yield* modify(({ now }) => [undefined, { token: { token, requestedAt: now, lifetime: Infinity } }])
      assert.deepStrictEqual(kept, [24])
    })))
})
