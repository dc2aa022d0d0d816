/** Token requests that a private key signs: the form, retries, clocks that are off, and rotation. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Logger, Redacted, TestClock } from "effect"
import { decodeJwt } from "jose"
import { createSign } from "node:crypto"
import type { TokenError } from "../../src/Errors.js"
import * as Fleet from "../../src/Fleet.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { dated, over, refused } from "../support/keyNetwork.js"
import { first, second } from "../support/keys.js"
import { get, inSmallSteps, invalidate, issue } from "../support/tokens.js"
import { form, inProcess } from "../support/tokenServer.js"

const start = Date.UTC(2026, 0, 1)

/** Runs an effect, and gives the warnings that it logs beside its result. */
const warnings = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    return Effect.map(
      Effect.provide(self, Logger.replace(Logger.defaultLogger, logger)),
      (value) => ({ lines, value })
    )
  })

describe("a token request with a private key", () => {
  it.effect("is a form without secret, with an assertion that is valid for a minute", () => {
    const { arrived, layer } = over((_, __, nth) => issue(nth))
    return Effect.gen(function*() {
      yield* TestClock.setTime(start + 999)
      yield* get
      const { client_assertion = "", ...fields } = form(arrived[0]?.body ?? "")
      assert.deepStrictEqual(fields, {
        grant_type: "client_credentials",
        client_id: "c",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        audience: "https://t.example.com/api/v2/"
      })
      const { jti, ...claims } = decodeJwt(client_assertion)
      assert.match(String(jti), /^[\w-]{22}$/)
      const iat = start / 1000
      assert.deepStrictEqual(claims, { iss: "c", sub: "c", aud: "https://t.example.com/", iat, exp: iat + 60 })
    }).pipe(Effect.provide(layer))
  })

  for (
    const [options, audience] of [
      [{ domain: undefined, authUrl: "https://login.example.com" }, "https://login.example.com/"],
      [{ domain: undefined, authUrl: "https://login.example.com/a//" }, "https://login.example.com/a/"],
      [{ assertionAudience: "https://custom.example.com/" }, "https://custom.example.com/"]
    ] as const
  ) {
    it.effect(`names the audience ${audience}`, () => {
      const { claims, layer } = over((_, __, nth) => issue(nth), options as Partial<TokenProvider.PrivateKeyJwt>)
      return Effect.gen(function*() {
        yield* get
        assert.strictEqual(claims()[0]?.aud, audience)
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("signs anew for each attempt and each token", () => {
    const { claims, layer } = over((_, __, nth) => nth < 3 ? { status: 503 } : issue(nth))
    return Effect.gen(function*() {
      assert.strictEqual(yield* inSmallSteps(get), "t3")
      yield* invalidate("t3")
      yield* get
      assert.strictEqual(new Set(claims().map(({ jti }) => jti)).size, 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("hides the assertion in what the service says of it", () => {
    const { arrived, layer } = over(() => {
      const { client_assertion = "" } = form(arrived.at(-1)?.body ?? "")
      return { status: 401, body: { error: "invalid_client", error_description: `no: ${client_assertion}` } }
    })
    return Effect.gen(function*() {
      const { message } = yield* Effect.flip(get)
      assert.include(message, "no: …")
      assert.notInclude(message, "eyJ")
    }).pipe(Effect.provide(layer))
  })

  it.effect("follows a refusal by one more attempt at once, with a new assertion", () => {
    const { claims, layer } = over((_, __, nth) => nth % 2 === 1 ? refused() : issue(nth))
    return Effect.gen(function*() {
      for (const token of ["t2", "t4", "t6"]) {
        assert.strictEqual(yield* get, token)
        yield* TestClock.adjust("1 minute")
        yield* invalidate(token)
      }
      assert.strictEqual(new Set(claims().map(({ jti }) => jti)).size, 6)
    }).pipe(Effect.provide(layer))
  })

  for (
    const [status, error, requests] of [
      [401, "invalid_client", 2],
      [401, undefined, 2],
      [400, "invalid_client", 2],
      [400, "invalid_request", 2],
      [400, "unauthorized_client", 2],
      [400, undefined, 2],
      [400, "unsupported_grant_type", 1],
      [403, "access_denied", 1]
    ] as const
  ) {
    it.effect(`fails after ${requests} requests if all are refused: ${status} ${error}`, () => {
      const { arrived, layer } = over(() => ({ status, body: { error } }))
      return Effect.gen(function*() {
        const failure = yield* Effect.flip(get)
        assert.strictEqual(failure._tag, "TokenError")
        assert.deepInclude({ ...failure }, { status, ...(error !== undefined && { error }) })
        assert.lengthOf(arrived, requests)
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("retries after a 5xx three times in all, whatever refusals come between", () => {
    const { arrived, layer } = over((_, __, nth) => nth === 2 ? refused() : { status: 503 })
    return Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(inSmallSteps(get)) as Effect.Effect<TokenError>).status, 503)
      assert.lengthOf(arrived, 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("serves a fleet, which shares the token of a client with that of its secret", () => {
    const { arrived, layer } = inProcess((nth) => Effect.succeed(issue(nth, { expires_in: 86_400 })))
    const common = { domain: "t.example.com", clientId: "c" }
    const byKey = TokenProvider.layerPrivateKeyJwt({ ...common, privateKey: first.privateKey })
    const bySecret = TokenProvider.layerClientCredentials({ ...common, clientSecret: Redacted.make("s") })
    const byCertificate = TokenProvider.layerMutualTls(common)
    return Effect.gen(function*() {
      const store = yield* Layer.build(Fleet.SharedStore.layerMemory)
      const tokenOf = (tokens: typeof byKey) =>
        Effect.gen(function*() {
          const context = yield* Layer.build(tokens.pipe(
            Layer.provide(Fleet.layerTokensWith({})),
            Layer.provide([layer, Layer.succeedContext(store)])
          ))
          const token = yield* inSmallSteps(Effect.provide(get, context))
          yield* TestClock.adjust("1 second") // until it is in the store
          return token
        })
      assert.deepStrictEqual(yield* Effect.all([tokenOf(byKey), tokenOf(bySecret)]), ["t1", "t1"])
      assert.include(arrived[0]?.body, "client_assertion=")
      // A token may be bound to the certificate.
      assert.strictEqual(yield* tokenOf(byCertificate), "t2")
    }).pipe(Effect.scoped)
  })
})

describe("if the local clock is off", () => {
  /** An endpoint that accepts assertions by its own clock as the service does, and says the time. */
  const serviceWith = (ahead: number, options?: Partial<TokenProvider.PrivateKeyJwt>) =>
    over(({ exp = 0, iat = 0 }, key, nth) =>
      Effect.map(Clock.currentTimeMillis, (local) => {
        const now = Math.floor((local + ahead) / 1000)
        const isGood = key === 1 && iat <= now + 10 && exp > now - 10 && exp <= now + 310
        return { ...(isGood ? issue(nth) : refused()), ...dated(local + ahead) }
      }), options)

  for (const [ahead, requests] of [[-600, 2], [-60, 2], [-9, 1], [9, 1], [60, 1], [75, 2], [600, 2]] as const) {
    it.effect(`the service's is ${ahead} s ahead: ${requests} requests, and one for the next token`, () => {
      const { arrived, layer } = serviceWith(ahead * 1000)
      return Effect.gen(function*() {
        yield* TestClock.setTime(start)
        yield* get
        assert.lengthOf(arrived, requests)
        yield* TestClock.adjust("1 hour")
        yield* get
        assert.lengthOf(arrived, requests + 1)
      }).pipe(Effect.provide(layer))
    })
  }

  // A date has no fraction, so it may be up to a second early.
  for (const [ahead, correction] of [[-7, -7], [-6, 0], [5, 0], [6, 6]] as const) {
    it.effect(`a refusal dated ${ahead} s after the request corrects it by ${correction} s`, () => {
      const { claims, layer } = over((_, __, nth) => nth === 1 ? refused(dated(start + ahead * 1000)) : issue(nth))
      return Effect.gen(function*() {
        yield* TestClock.setTime(start)
        yield* get
        const [first, second] = claims().map(({ iat = NaN }) => iat)
        assert.strictEqual(Number(second) - Number(first), correction)
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("measures again when it is set right", () => {
    let ahead = 600_000
    const { arrived, layer } = over(({ iat = 0 }, _, nth) =>
      Effect.map(Clock.currentTimeMillis, (local) => ({
        ...(Math.abs(iat * 1000 - local - ahead) < 10_000 ? issue(nth) : refused()),
        ...dated(local + ahead)
      }))
    )
    return Effect.gen(function*() {
      yield* TestClock.setTime(start)
      yield* get
      ahead = 0
      yield* TestClock.adjust("1 hour")
      yield* get
      assert.lengthOf(arrived, 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("corrects it only once for each token: the date may be wrong", () => {
    const { arrived, layer } = over((_, __, nth) => refused(dated(start + nth * 3_600_000)))
    return Effect.gen(function*() {
      yield* TestClock.setTime(start)
      yield* Effect.flip(get)
      assert.lengthOf(arrived, 3)
    }).pipe(Effect.provide(layer))
  })

  it.effect("does not blame the clock for a slow response", () => {
    const { claims, layer } = over((_, __, nth) =>
      nth === 1
        ? Effect.flatMap(
          Clock.currentTimeMillis,
          (now) => Effect.delay(Effect.succeed(refused(dated(now))), "9 seconds")
        )
        : issue(nth)
    )
    return Effect.gen(function*() {
      yield* TestClock.setTime(start)
      yield* inSmallSteps(get)
      const iat = Number(claims()[1]?.iat) - start / 1000
      assert.isTrue(iat >= 9 && iat <= 10, String(iat))
    }).pipe(Effect.provide(layer))
  })

  it.effect("does not blame a key: the next key is not tried", () => {
    const { keys, layer } = serviceWith(600_000, { fallbackKeys: [{ privateKey: second.privateKey }] })
    return Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const { lines } = yield* warnings(get)
      assert.deepStrictEqual([keys, lines], [[1, 1], []])
    }).pipe(Effect.provide(layer))
  })
})

describe("while keys are rotated", () => {
  const rotating = (accepts: (key: number, nth: number) => boolean) =>
    over((_, key, nth) => accepts(key, nth) ? issue(nth, { expires_in: 100 }) : refused(), {
      fallbackKeys: [{ privateKey: second.privateKey }]
    })

  it.effect("the first key signs as long as it is accepted", () => {
    const { keys, layer } = rotating(() => true)
    return Effect.gen(function*() {
      const { lines } = yield* warnings(Effect.zipRight(get, Effect.delay(get, 0)))
      yield* TestClock.adjust("100 seconds")
      yield* get
      assert.deepStrictEqual([keys, lines], [[1, 1], []])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a refused key gives way to the next, which is remembered; one warning says so", () => {
    const { keys, layer } = rotating((key) => key === 2)
    return Effect.gen(function*() {
      const { lines } = yield* warnings(Effect.gen(function*() {
        for (let nth = 0; nth < 3; nth++) {
          yield* get
          yield* TestClock.adjust("100 seconds")
        }
      }))
      assert.deepStrictEqual(keys, [1, 2, 2, 2])
      assert.deepStrictEqual(lines, ["the token endpoint refused key 1 of 2; it accepts key 2"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("the first key is tried again when the second one is refused, without another warning", () => {
    let good = 2
    const { keys, layer } = rotating((key) => key === good)
    return Effect.gen(function*() {
      const { lines } = yield* warnings(Effect.gen(function*() {
        for (good of [2, 1, 2]) {
          yield* get
          yield* TestClock.adjust("100 seconds")
        }
      }))
      assert.deepStrictEqual(keys, [1, 2, 2, 1, 1, 2])
      assert.lengthOf(lines, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("the request fails if all keys are refused, after one more attempt of the first", () => {
    const { keys, layer } = rotating(() => false)
    return Effect.gen(function*() {
      const { lines, value } = yield* warnings(Effect.flip(get))
      assert.strictEqual((value as TokenError).error, "invalid_client")
      assert.deepStrictEqual([keys, lines], [[1, 2, 1], ["could not obtain a token (status 401)"]])
    }).pipe(Effect.provide(layer))
  })

  /** Signs with the first key as often as `times` says, and fails from then on. */
  const failingAfter = (times: number): TokenProvider.Sign => {
    let left = times
    return (data) =>
      left-- > 0
        ? Effect.sync(() => createSign("sha256").update(data).sign(first.keyObject))
        : Effect.fail("the KMS is down")
  }
  const byKms = (times: number) => ({ privateKey: undefined, sign: failingAfter(times) })

  it.effect("a further key that cannot sign gives way to the first one, and hides no refusal", () => {
    const { keys, layer } = over((_, __, nth) => nth === 1 ? refused() : issue(nth), { fallbackKeys: [byKms(0)] })
    return Effect.gen(function*() {
      assert.strictEqual(yield* get, "t2")
      assert.deepStrictEqual(keys, [1, 1])
    }).pipe(Effect.provide(layer))
  })

  for (
    const [name, signatures, requests] of [
      ["of the last key", 1, 1],
      ["after a further key was refused", 1, 2]
    ] as const
  ) {
    it.effect(`the refusal is the failure if no signature is to be had ${name}`, () => {
      const { arrived, layer } = over(
        () => refused(),
        {
          ...byKms(signatures),
          fallbackKeys: requests === 1 ? [] : [{ privateKey: second.privateKey }]
        } as never // sound: as declared
      )
      return Effect.gen(function*() {
        const failure = yield* Effect.flip(get)
        assert.deepInclude({ ...failure }, { status: 401, error: "invalid_client" })
        assert.lengthOf(arrived, requests)
      }).pipe(Effect.provide(layer))
    })
  }
})
