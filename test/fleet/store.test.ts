/** The parts that a fleet is made of, each on its own: what is kept, how it is sealed, and the store as the library uses it. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Logger, Redacted } from "effect"
import { vi } from "vitest"
import { InvalidInput } from "../../src/Errors.js"
import * as Seal from "../../src/internal/fleet/encryption.js"
import { decode, plain, restore } from "../../src/internal/fleet/saved.js"
import * as SharedStore from "../../src/SharedStore.js"
import * as VirtualTime from "../support/virtualTime.js"

describe("what is kept", () => {
  it("is written down as other versions of the library do", () => {
    const all = { a: 1.5, b: Infinity, c: -Infinity, d: NaN, e: true, f: "x", g: undefined, h: { i: 1 }, j: null }
    assert.strictEqual(
      JSON.stringify(plain(all)),
      "{\"a\":1.5,\"b\":\"+inf\",\"c\":\"-inf\",\"d\":\"nan\",\"e\":true,\"f\":\"x\"}"
    )
  })

  it("is the same when it is taken over", () => {
    const all = { a: 1.5, b: Infinity, c: -Infinity, d: NaN, e: false, f: "nan", g: 7 }
    const fresh: object = { a: 0, b: 0, c: 0, d: 0, e: true, f: "", g: undefined }
    assert.deepStrictEqual(restore(fresh, decode(JSON.stringify(plain(all)))), all)
  })

  for (
    const [what, to, saved] of [
      ["has no such member", { a: 1 }, { b: 2 }],
      ["is another word", { a: 1 }, { a: "x" }],
      ["is of another type", { a: 1 }, { a: true }],
      ["is no number, where none was set", { a: undefined }, { a: "x" }],
      ["is for what is no plain value", { a: [1] }, { a: { 0: 2 } }],
      ["is inherited by each object", { toString: "x" }, {}],
      ["is nothing", { a: 1 }, null]
    ] as const
  ) {
    it(`is left where it is if it ${what}`, () => {
      assert.deepStrictEqual<object>(restore({ ...to }, saved), to)
    })
  }

  for (const text of ["", "{", "[]", "3", "null", "\"x\""]) {
    it(`is nothing if somebody else has written ${JSON.stringify(text)}`, () => {
      assert.deepStrictEqual(decode(text), {})
    })
  }
})

describe("a seal", () => {
  const keyOf = (byte: number, bytes = 32) => Buffer.alloc(bytes, byte).toString("base64")
  const sealOf = (...keys: ReadonlyArray<string>) => Seal.make("test", "key", Redacted.make(keys.join(",")))

  /** Closed by an earlier version, with the key of `keyOf(1)`. */
  const early = "72cd6e8422c4.7Kk1FUWM76OK+5FI.dzTlC3SOpXp8+YatmtQYN/ia27A="

  it.effect("opens what other versions of the library have closed", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* (yield* sealOf(keyOf(1))).open(early, "a"), "text")
      assert.strictEqual(yield* (yield* sealOf(keyOf(2), keyOf(1))).open(early, "a"), "text")
      assert.match(yield* (yield* sealOf(keyOf(1), keyOf(2))).close("text", "a"), new RegExp(`^${early.slice(0, 13)}`))
      assert.strictEqual(yield* Seal.digest("text"), "982d9e3eb996f559e633f4d194def376")
    }))

  it.effect("is changed without a break: the first key closes, each opens", () =>
    Effect.gen(function*() {
      const [one, both, two] = [yield* sealOf(keyOf(1)), yield* sealOf(keyOf(2), keyOf(1)), yield* sealOf(keyOf(2))]
      const closed = yield* both.close("ä text", "a")
      assert.strictEqual(yield* two.open(closed, "a"), "ä text")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(one.open(closed, "a"))))
    }))

  for (
    const [what, sealed, name] of [
      ["nothing", "", "a"],
      ["what was never closed", "clear.text", "a"],
      ["another name", early, "b"],
      ["another key's name", early.replace(/^\w+/, "000000000000"), "a"],
      ["an empty nonce", early.replace(/\.[^.]+\./, ".."), "a"],
      ["what lacks its end", early.slice(0, -4), "a"],
      ["what lacks its text", early.replace(/\.[^.]+$/, ""), "a"],
      ["what is no base64", early.replace(/.$/, "!"), "a"]
    ] as const
  ) {
    it.effect(`does not open ${what}`, () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit((yield* sealOf(keyOf(1))).open(sealed, name))
        assert.isTrue(Exit.isFailure(exit) && exit.cause._tag === "Fail", "it fails, and is no defect")
      }))
  }

  for (
    const keys of [[keyOf(1, 16)], [keyOf(1, 24)], [keyOf(1), keyOf(2, 16)], [keyOf(2, 16), keyOf(1)], [keyOf(1, 33)]]
  ) {
    it.effect(`refuses a key that is none: ${keys.join(",")}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(sealOf(...keys))
        assert.instanceOf(error, InvalidInput)
        assert.deepStrictEqual(error.issues, [{
          path: "key",
          message: "expected 32 bytes in base64, or several such keys with commas between them"
        }])
      }))
  }

  it.effect("cannot be made where there is no cryptography", () =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.stubGlobal("crypto", {})),
        () => Effect.sync(() => vi.unstubAllGlobals())
      )
      assert.instanceOf(yield* Effect.flip(sealOf(keyOf(1))), InvalidInput)
    }).pipe(Effect.scoped))

  it.effect("that is none opens nothing but what it has closed", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Seal.none.open(yield* Seal.none.close("text", "a"), "a"), "text")
      for (const sealed of [early, "text", ""]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Seal.none.open(sealed, "a"))))
      }
    }))
})

describe("a store", () => {
  const virtually = <A, E>(effect: Effect.Effect<A, E>) => VirtualTime.run(effect, { most: "1 hour" })

  const silently = <A, E>(effect: Effect.Effect<A, E>) =>
    virtually(Effect.provide(effect, Logger.remove(Logger.defaultLogger)))

  /** A backend that fails, hangs or answers, and when it was asked. */
  const backendOf = (state: { is: "up" | "down" | "hung" }) => {
    const asked: Array<number> = []
    const request = () =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        asked.push(now)
        if (state.is === "hung") return Effect.never
        return state.is === "down" ? Effect.fail("down") : Effect.succeed({ entry: undefined, now, swapped: false })
      })
    return { asked, backend: { get: request, swap: request } }
  }

  it.effect("that fails is left alone, longer each time up to a second, until it answers again", () =>
    silently(Effect.gen(function*() {
      const state = { is: "down" as "up" | "down" }
      const { asked, backend } = backendOf(state)
      const store = yield* SharedStore.make(backend)
      const from = yield* Clock.currentTimeMillis
      const during = (millis: number) =>
        Effect.repeatN(Effect.zipRight(Effect.ignore(store.get("key")), Effect.sleep(50)), millis / 50 - 1)
      yield* during(3700)
      state.is = "up"
      yield* during(1000)
      assert.deepStrictEqual(asked.splice(0, 8).map((at) => at - from), [0, 100, 300, 700, 1500, 2500, 3500, 4500])
      assert.strictEqual(asked.splice(0).length, 3, "it answers, and is asked each time")
      state.is = "down"
      const later = yield* Clock.currentTimeMillis
      yield* during(400)
      assert.deepStrictEqual(asked.map((at) => at - later), [0, 100, 300])
    })))

  it.effect("is waited for no longer than a quarter of its patience, and fails by name", () =>
    silently(Effect.gen(function*() {
      for (const [options, millis] of [[undefined, 50], [{ patience: "1 second" }, 250]] as const) {
        const store = yield* SharedStore.make(backendOf({ is: "hung" }).backend, options)
        const [waited, error] = yield* Effect.timed(Effect.flip(store.get("key")))
        assert.strictEqual(Duration.toMillis(waited), millis)
        assert.strictEqual(error._tag, "StoreUnavailable")
        assert.deepStrictEqual([store.patience, store.delay], [millis, 4 * millis])
      }
    })))

  it.effect("is told of in the log once when it fails, and once when it is back", () =>
    virtually(Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ logLevel, message }) =>
        void lines.push(`${logLevel.label} ${message}`)
      )
      const state: { is: "up" | "down" | "hung" } = { is: "up" }
      yield* Effect.gen(function*() {
        const store = yield* SharedStore.make(backendOf(state).backend)
        for (const is of ["up", "down", "hung", "up", "up", "down"] as const) {
          state.is = is
          for (let nth = 0; nth < 3; nth++) yield* Effect.delay(Effect.ignore(store.get("key")), "1 second")
        }
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      const away = "WARN the shared store does not answer: limits and tokens are this process's own until it does"
      assert.deepStrictEqual(lines, [away, "INFO the shared store answers again", away])
    })))

  it.effect("in memory forgets a value when its time is up, and not before", () =>
    virtually(Effect.gen(function*() {
      const { get, swap } = yield* SharedStore.memory
      const { entry } = yield* swap("key", undefined, { value: "value", timeToLive: Duration.millis(30) })
      yield* Effect.sleep(29)
      assert.deepStrictEqual((yield* get("key")).entry?.value, "value")
      yield* Effect.sleep(1)
      assert.isUndefined((yield* get("key")).entry)
      assert.isFalse((yield* swap("key", entry?.version, undefined)).swapped)
    })))
})
