/** Functions that sign for a key that lies elsewhere, and settings from a `Config`. */
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Redacted } from "effect"
import { decodeJwt } from "jose"
import * as TokenProvider from "../../src/TokenProvider.js"
import { over } from "../support/keyNetwork.js"
import { first } from "../support/keys.js"
import { get, inSmallSteps, issue } from "../support/tokens.js"
import { form, inProcess } from "../support/tokenServer.js"

describe("a function that signs", () => {
  const failureOf = (sign: TokenProvider.Sign) => {
    const { arrived, layer } = over((_, __, nth) => issue(nth), { privateKey: undefined, sign } as never) // sound: as declared
    return Effect.gen(function*() {
      const error = yield* inSmallSteps(Effect.flip(get))
      assert.lengthOf(arrived, 0)
      return error
    }).pipe(Effect.provide(layer))
  }

  for (
    const [name, sign] of [
      ["fails", () => Effect.fail("kq7zv3")],
      ["dies", () => Effect.die(new Error("kq7zv3"))],
      ["throws", () => {
        throw new Error("kq7zv3")
      }],
      ["interrupts itself", () => Effect.interrupt],
      ["gives no bytes", () => Effect.succeed("kq7zv3" as never)] // sound: not of this type, as in JavaScript
    ] satisfies ReadonlyArray<readonly [string, TokenProvider.Sign]>
  ) {
    it.effect(`and ${name} is a TokenError without its cause`, () =>
      Effect.map(failureOf(sign), (error) => {
        assert.strictEqual(error._tag, "TokenError")
        assert.strictEqual(error.message, "could not sign the client assertion: the signing function failed")
        assert.notInclude(JSON.stringify({ ...error, cause: error.cause, stack: error.stack }), "kq7zv3")
      }))
  }

  it.effect("and gives no result for 10 s is a TokenError", () =>
    Effect.map(
      failureOf(() => Effect.never),
      (error) => assert.strictEqual(error.message, "could not sign the client assertion: no signature within 10 s")
    ))

  it.effect("is interrupted with the layer", () => {
    let interrupted = 0
    const sign = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
    const { layer } = over((_, __, nth) => issue(nth), { privateKey: undefined, sign } as never) // sound: as declared
    return Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        const context = yield* Layer.build(layer)
        yield* Effect.forkScoped(Effect.provide(get, context))
        yield* Effect.repeatN(Effect.yieldNow(), 100)
      }))
      assert.strictEqual(interrupted, 1)
    })
  })
})

it.effect("Config: each setting is read", () => {
  const { arrived, layer } = inProcess((nth) => Effect.succeed(issue(nth)))
  return Effect.gen(function*() {
    const provider = TokenProvider.layerPrivateKeyJwtConfig({
      domain: Config.string("DOMAIN"),
      clientId: Config.string("CLIENT"),
      privateKey: Config.redacted("KEY"),
      keyId: Config.string("KEY_ID")
    })
    const variables = { DOMAIN: "t.example.com", CLIENT: "c", KEY: Redacted.value(first.privateKey), KEY_ID: "k" }
    yield* get.pipe(
      Effect.provide(Layer.provide(provider, layer)),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))
    )
    assert.strictEqual(decodeJwt(form(arrived[0]?.body ?? "").client_assertion ?? "").sub, "c")
  })
})
