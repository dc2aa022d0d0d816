/** The layers of token providers. */
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Config, ConfigError, ConfigProvider, Duration, Effect, Layer, Redacted, TestClock } from "effect"
import * as Testing from "../../src/Testing.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { get, invalidate, issue } from "../support/tokens.js"
import { form, inProcess } from "../support/tokenServer.js"

describe("the layers with settings from Config", () => {
  const withVariables = (variables: Record<string, string>) =>
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))

  it.effect("provide client credentials", () => {
    const { arrived, layer } = inProcess((nth) => Effect.succeed(issue(nth)))
    const provider = TokenProvider.layerClientCredentialsConfig({
      authUrl: Config.string("URL"),
      clientId: Config.string("ID"),
      clientSecret: Config.redacted("SECRET"),
      audience: Config.string("AUDIENCE"),
      tokenPath: Config.succeed("/t")
    })
    return Effect.gen(function*() {
      assert.strictEqual(yield* get, "t1")
      assert.strictEqual(arrived[0]?.url, "https://a.example.com/t")
      assert.deepStrictEqual(form(arrived[0]!.body), {
        grant_type: "client_credentials",
        client_id: "i",
        client_secret: "s",
        audience: "u"
      })
    }).pipe(
      Effect.provide(Layer.provide(provider, layer)),
      withVariables({ URL: "https://a.example.com", ID: "i", SECRET: "s", AUDIENCE: "u" })
    )
  })

  for (const missing of ["DOMAIN", "ID", "SECRET"]) {
    it.effect(`fail with the name of the missing variable: ${missing}`, () =>
      Effect.gen(function*() {
        const provider = TokenProvider.layerClientCredentialsConfig({
          domain: Config.string("DOMAIN"),
          clientId: Config.string("ID"),
          clientSecret: Config.redacted("SECRET")
        })
        const variables = Object.fromEntries(
          ["DOMAIN", "ID", "SECRET"].filter((name) => name !== missing).map((n) => [n, "x"])
        )
        const error = yield* Layer.build(Layer.provide(provider, Testing.layerHttp())).pipe(
          Effect.scoped,
          Effect.flip,
          withVariables(variables)
        )
        assert.isTrue(ConfigError.isConfigError(error))
        assert.match(String(error), new RegExp(`\\b${missing}\\b`))
      }))
  }

  it.effect("provide a bearer token", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* get, "mine")
    }).pipe(
      Effect.provide(TokenProvider.layerBearerConfig(Config.redacted("TOKEN"))),
      withVariables({ TOKEN: "mine" })
    ))

  it.effect("fail with the name of a bearer token's missing variable", () =>
    Effect.gen(function*() {
      const error = yield* Layer.build(TokenProvider.layerBearerConfig(Config.redacted("TOKEN"))).pipe(
        Effect.scoped,
        Effect.flip,
        withVariables({})
      )
      assert.match(String(error), /\bTOKEN\b/)
    }))
})

describe("layerBearer", () => {
  it.effect("keeps supplying its token, even after it was invalidated", () =>
    Effect.gen(function*() {
      yield* invalidate("mine")
      assert.strictEqual(yield* get, "mine")
    }).pipe(Effect.provide(TokenProvider.layerBearer(Redacted.make("mine")))))
})

describe("layerEffect", () => {
  it.effect("runs its effect with the services of the layer, and caches its tokens", () => {
    let times = 0
    const request = Effect.map(Effect.zip(HttpClient.HttpClient, Clock.currentTimeMillis), ([, now]) => {
      times++
      return { token: Redacted.make(`at ${now}`), lifetime: Duration.seconds(10) }
    })
    const layer = Layer.provide(TokenProvider.layerEffect(request), Testing.layerHttp())
    return Effect.gen(function*() {
      assert.strictEqual(yield* get, "at 0")
      yield* TestClock.adjust("7 seconds")
      assert.strictEqual(yield* get, "at 0")
      assert.strictEqual(times, 1)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* get, "at 9000")
    }).pipe(Effect.provide(layer))
  })
})
