import { NodeHttpClient } from "@effect/platform-node"
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  Clock,
  Config,
  ConfigError,
  ConfigProvider,
  Deferred,
  Duration,
  Effect,
  Either,
  Exit,
  Fiber,
  FiberId,
  FiberRef,
  Inspectable,
  Layer,
  Redacted,
  Scope,
  TestClock
} from "effect"
import { inspect } from "node:util"
import { InvalidInput, TokenError } from "../../src/Errors.js"
import * as Node from "../../src/Node.js"
import * as Testing from "../../src/Testing.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { type Answer, form, inProcess, json, jwt, listen } from "../support/tokenServer.js"

const secret = "p!ss (wörd)~&/'%"
const credentials = { clientId: "id-of-the-client", clientSecret: Redacted.make(secret) }
const get = Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => Effect.map(get, Redacted.value))
const invalidate = (token: string) =>
  Effect.flatMap(TokenProvider.TokenProvider, ({ invalidate }) => invalidate(Redacted.make(token)))

const networks: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["undici", NodeHttpClient.layerUndici],
  ["lean", Layer.orDie(Node.layerHttpClient())]
]

/** A provider over a network that answers as it is told. */
const over = (
  answer: (nth: number) => Effect.Effect<Answer>,
  options: Partial<TokenProvider.ClientCredentials> = { authUrl: "https://login.example.com" }
) => {
  const { arrived, layer } = inProcess(answer)
  const provider = TokenProvider.layerClientCredentials(
    { ...credentials, ...options } as TokenProvider.ClientCredentials
  )
  return { arrived, layer: Layer.provide(provider, layer) }
}

const issue = (nth: number, more: object = { expires_in: 100 }): Answer => ({
  body: { access_token: `t${nth}`, token_type: "Bearer", ...more }
})

/** What a token endpoint's one answer makes of a call. */
const failureOf = (answer: Answer) => Effect.provide(Effect.flip(get), over(() => Effect.succeed(answer)).layer)

/** Runs an effect to its end in virtual time. */
const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

/** Lets all fibers run as far as they get without time passing. */
const breathe = Effect.repeatN(Effect.yieldNow(), 100)

const failed = (message: string) => new TokenError({ operation: "token", message })

/** A provider whose requests the test answers by hand. */
const byHand = Effect.gen(function*() {
  const asked: Array<Deferred.Deferred<TokenProvider.IssuedToken, TokenError>> = []
  const request = Effect.suspend(() => {
    const answer = Deferred.unsafeMake<TokenProvider.IssuedToken, TokenError>(FiberId.none)
    asked.push(answer)
    return Deferred.await(answer)
  })
  const provider = yield* TokenProvider.make(request)
  const answer = (nth: number, exit: Exit.Exit<TokenProvider.IssuedToken, TokenError>) =>
    Effect.zipRight(Deferred.done(asked[nth - 1]!, exit), breathe)
  return {
    asked,
    get: Effect.map(provider.get, Redacted.value),
    invalidate: (token: string) => provider.invalidate(Redacted.make(token)),
    succeed: (nth: number, token: string, lifetime?: Duration.DurationInput) =>
      answer(
        nth,
        Exit.succeed({
          token: Redacted.make(token),
          ...(lifetime !== undefined && { lifetime: Duration.decode(lifetime) })
        })
      ),
    fail: (nth: number, message: string) => answer(nth, Exit.fail(failed(message))),
    die: (nth: number) => answer(nth, Exit.die("boom"))
  }
})

const printed = (error: TokenError): ReadonlyArray<string> => [
  error.message,
  String(error),
  String(error.stack),
  inspect(error, { depth: null, showHidden: true }),
  JSON.stringify(error),
  JSON.stringify(error, Object.getOwnPropertyNames(error)),
  Cause.pretty(Cause.fail(error), { renderErrorCause: true }),
  Inspectable.toStringUnknown(error),
  Inspectable.toStringUnknown(Exit.fail(error)),
  inspect(Exit.fail(error), { depth: null })
]

describe("the token request", () => {
  it.effect("is a form with exactly the contract's members", () => {
    const { arrived, layer } = over((nth) => Effect.succeed(issue(nth)))
    return Effect.gen(function*() {
      assert.strictEqual(yield* get, "t1")
      const [request] = arrived
      assert.strictEqual(request?.method, "POST")
      assert.strictEqual(request?.headers["content-type"], "application/x-www-form-urlencoded")
      assert.strictEqual(request?.headers["accept"], "application/json")
      assert.isUndefined(request?.headers["authorization"])
      assert.deepStrictEqual(form(request!.body), {
        grant_type: "client_credentials",
        client_id: credentials.clientId,
        client_secret: secret,
        audience: "/api/v2/"
      })
    }).pipe(Effect.provide(layer))
  })

  const address = (options: object, url: string, audience: string) => {
    const { arrived, layer } = over((nth) => Effect.succeed(issue(nth)), options)
    return Effect.gen(function*() {
      yield* get
      assert.strictEqual(arrived[0]?.url, url)
      assert.strictEqual(form(arrived[0]!.body).audience, audience)
    }).pipe(Effect.provide(layer))
  }

  it.effect("goes where the contract says when the authentication host is given", () =>
    address({ authUrl: "https://login.example.com" }, "https://login.example.com/oauth/token/", "/api/v2/"))

  it.effect("goes where the wire is when the domain is given", () =>
    address({ domain: "t.example.com" }, "https://t.example.com/oauth/token", "https://t.example.com/api/v2/"))

  it.effect("does not double a slash at the end of the authentication host, and keeps its path", () =>
    address({ authUrl: "https://example.com/a//" }, "https://example.com/a/oauth/token/", "/api/v2/"))

  it.effect("goes to another path and for another audience with the authentication host", () =>
    address(
      { authUrl: "https://login.example.com", tokenPath: "/x/token", audience: "urn:a b&c" },
      "https://login.example.com/x/token",
      "urn:a b&c"
    ))

  it.effect("goes to another path and for another audience with the domain", () =>
    address({ domain: "t.example.com", tokenPath: "/y", audience: "z" }, "https://t.example.com/y", "z"))

  it.effect("may go in the clear when that is allowed", () =>
    address(
      { authUrl: "http://login.example.com", allowInsecure: true },
      "http://login.example.com/oauth/token/",
      "/api/v2/"
    ))

  it.effect("is not made before a token is needed", () => {
    const { arrived, layer } = over((nth) => Effect.succeed(issue(nth)))
    return Effect.gen(function*() {
      yield* Layer.build(layer)
      yield* TestClock.adjust("1 hour")
      assert.lengthOf(arrived, 0)
    }).pipe(Effect.scoped)
  })

  for (
    const [setting, address] of [
      ["authUrl", "not a URL"],
      ["authUrl", "ftp://login.example.com"],
      ["authUrl", "https://user:word@login.example.com"],
      ["authUrl", "https://login.example.com/?a=b"],
      ["authUrl", "https://login.example.com/#a"],
      ["authUrl", "http://login.example.com"],
      ["domain", "evil@t.example.com"],
      ["domain", "t.example.com?a"],
      ["domain", "spaces here"]
    ] as const
  ) {
    it.effect(`cannot be set up with the ${setting} ${address}: InvalidInput names the setting`, () =>
      Effect.gen(function*() {
        const { arrived, layer } = over((nth) => Effect.succeed(issue(nth)), { [setting]: address })
        const error = yield* Effect.flip(Effect.provide(get, layer))
        assert.instanceOf(error, InvalidInput)
        assert.deepStrictEqual((error as InvalidInput).issues.map(({ path }) => path), [setting])
        assert.notInclude(String(error.message), "word")
        assert.lengthOf(arrived, 0)
      }))
  }

  it.scoped.each(networks)(
    "goes over a real socket and brings the token back, over %s",
    ([, network]) =>
      Effect.gen(function*() {
        const server = yield* listen((_, response) => json(response, 200, { access_token: "over-the-wire" }))
        const provider = TokenProvider.layerClientCredentials({ ...credentials, authUrl: server.url })
        assert.strictEqual(yield* Effect.provide(get, Layer.provide(provider, network)), "over-the-wire")
        assert.strictEqual(server.arrived[0]?.url, "/oauth/token/")
        assert.strictEqual(form(server.arrived[0]!.body).client_secret, secret)
      })
  )
})

describe("settings from Config", () => {
  const withVariables = (variables: Record<string, string>) =>
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))

  it.effect("make a client credentials provider", () => {
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
    it.effect(`name the variable ${missing} when it is missing`, () =>
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

  it.effect("make a bearer provider", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* get, "mine")
    }).pipe(
      Effect.provide(TokenProvider.layerBearerConfig(Config.redacted("TOKEN"))),
      withVariables({ TOKEN: "mine" })
    ))

  it.effect("name the missing variable of a bearer token", () =>
    Effect.gen(function*() {
      const error = yield* Layer.build(TokenProvider.layerBearerConfig(Config.redacted("TOKEN"))).pipe(
        Effect.scoped,
        Effect.flip,
        withVariables({})
      )
      assert.match(String(error), /\bTOKEN\b/)
    }))
})

describe("a bearer token", () => {
  it.effect("stays the only one there is, invalidated or not", () =>
    Effect.gen(function*() {
      yield* invalidate("mine")
      assert.strictEqual(yield* get, "mine")
    }).pipe(Effect.provide(TokenProvider.layerBearer(Redacted.make("mine")))))
})

describe("one request", () => {
  it.scoped("serves any number of concurrent first callers", () =>
    Effect.gen(function*() {
      const { asked, get, succeed } = yield* byHand
      const callers = yield* Effect.fork(
        Effect.all(Array.from({ length: 1000 }, () => get), { concurrency: "unbounded" })
      )
      yield* breathe
      assert.lengthOf(asked, 1)
      yield* succeed(1, "t1")
      assert.deepStrictEqual(yield* Fiber.join(callers), Array.from({ length: 1000 }, () => "t1"))
      assert.lengthOf(asked, 1)
    }))

  for (const victim of [0, 1, 4]) {
    it.scoped(`goes on for the others when caller ${victim} of 5 is interrupted`, () =>
      Effect.gen(function*() {
        const { asked, get, succeed } = yield* byHand
        const callers = yield* Effect.forEach([0, 1, 2, 3, 4], () => Effect.zipLeft(Effect.fork(get), breathe))
        yield* Fiber.interrupt(callers[victim]!)
        yield* succeed(1, "t1")
        const others = callers.filter((_, index) => index !== victim)
        assert.deepStrictEqual(yield* Fiber.join(Fiber.all(others)), ["t1", "t1", "t1", "t1"])
        assert.lengthOf(asked, 1)
      }))
  }

  it.scoped("is still worth its token when all who waited for it are interrupted", () =>
    Effect.gen(function*() {
      const { asked, get, succeed } = yield* byHand
      const callers = yield* Effect.forEach([0, 1, 2], () => Effect.fork(get))
      yield* breathe
      yield* Fiber.interruptAll(callers)
      yield* succeed(1, "t1")
      assert.strictEqual(yield* get, "t1")
      assert.lengthOf(asked, 1)
    }))

  it.scoped("is shared with those who come while everyone else is interrupted", () =>
    Effect.gen(function*() {
      const { asked, get, succeed } = yield* byHand
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* Fiber.interrupt(first)
      const second = yield* Effect.fork(get)
      yield* breathe
      assert.lengthOf(asked, 1)
      yield* succeed(1, "t1")
      assert.strictEqual(yield* Fiber.join(second), "t1")
    }))

  it.scoped("ends with the provider's scope, and with it all who wait for it", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { asked, get } = yield* Scope.extend(byHand, scope)
      const callers = yield* Effect.forEach([0, 1, 2], () => Effect.fork(get))
      yield* breathe
      yield* Scope.close(scope, Exit.void)
      const exits = yield* Effect.forEach(callers, Fiber.await)
      assert.deepStrictEqual(exits.map(Exit.isInterrupted), [true, true, true])
      assert.lengthOf(asked, 1)
    }))

  it.scoped("does not hang a caller who comes after the provider's scope is closed", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { get } = yield* Scope.extend(byHand, scope)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.isInterrupted(yield* Effect.exit(get)))
    }))

  it.scoped("that dies is reported as it died, and is not the last one", () =>
    Effect.gen(function*() {
      let times = 0
      const provider = yield* TokenProvider.make(
        Effect.suspend(() => ++times === 1 ? Effect.dieMessage("boom") : Effect.succeed({ token: Redacted.make("t2") }))
      )
      const exit = yield* Effect.exit(provider.get)
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.strictEqual(Redacted.value(yield* provider.get), "t2")
    }))
})

describe("a token is kept", () => {
  /** The first token is given until `millis` after its request has left, and not from then on. */
  const until = (name: string, answer: Answer, millis: number) =>
    it.effect(`${name}: ${millis} ms`, () => {
      const start = Date.UTC(2024, 0, 1)
      const { layer } = over((nth) => Effect.succeed(nth === 1 ? answer : { status: 403 }))
      return Effect.gen(function*() {
        yield* TestClock.setTime(start)
        const token = yield* get
        yield* TestClock.setTime(start + millis - 1)
        assert.strictEqual(yield* get, token)
        yield* TestClock.setTime(start + millis)
        assert.strictEqual((yield* Effect.flip(get))._tag, "TokenError")
      }).pipe(Effect.provide(layer))
    })

  until("until 10 % before its end", issue(1, { expires_in: 100 }), 90_000)
  until("until 30 s before its end, if that is less", issue(1, { expires_in: 86_400 }), 86_370_000)
  until("by an expires_in that is a numeric string", issue(1, { expires_in: "100" }), 90_000)
  until("by a fractional expires_in", issue(1, { expires_in: 0.5 }), 450)
  until(
    "by expires_in rather than by its claims",
    { body: { access_token: jwt({ iat: 0, exp: 1000 }), expires_in: 100 } },
    90_000
  )
  until(
    "from iat to exp of its claims",
    { body: { access_token: jwt({ iat: 5_000_000_000, exp: 5_000_000_100 }) } },
    90_000
  )
  until(
    "from iat to exp if expires_in is no number",
    { body: { access_token: jwt({ iat: 0, exp: 100 }), expires_in: "soon" } },
    90_000
  )
  until(
    "from iat to exp if expires_in is blank",
    { body: { access_token: jwt({ iat: 0, exp: 100 }), expires_in: " " } },
    90_000
  )
  until(
    "from iat to exp if expires_in is beyond all numbers",
    { body: { access_token: jwt({ iat: 0, exp: 100 }), expires_in: "1e999" } },
    90_000
  )
  until(
    "from iat to exp if expires_in is negative",
    { body: { access_token: jwt({ iat: 0, exp: 100 }), expires_in: -1 } },
    90_000
  )
  until(
    "from the answer's own Date to exp without iat, whatever the local clock says",
    { headers: { date: "Thu, 01 Jan 1970 01:00:00 GMT" }, body: { access_token: jwt({ exp: 3700 }) } },
    90_000
  )

  const forGood = (name: string, answer: Answer) =>
    it.effect(`until it is refused ${name}`, () => {
      const { arrived, layer } = over((nth) => Effect.succeed(nth === 1 ? answer : issue(nth)))
      return Effect.gen(function*() {
        const token = yield* get
        yield* TestClock.adjust("10000 days")
        assert.strictEqual(yield* get, token)
        yield* breathe
        assert.lengthOf(arrived, 1)
        yield* invalidate(token)
        assert.strictEqual(yield* get, "t2")
      }).pipe(Effect.provide(layer))
    })

  forGood("without expires_in and claims", issue(1, {}))
  forGood("with exp but neither iat nor Date", { body: { access_token: jwt({ exp: 100 }) } })
  forGood("with iat alone", { body: { access_token: jwt({ iat: 100 }) } })
  forGood("with claims that are not an object", { body: { access_token: jwt([1]) } })
  forGood("with claims that are null", { body: { access_token: jwt(null) } })
  forGood("with claims of the wrong types", { body: { access_token: jwt({ iat: {}, exp: "x" }), expires_in: "" } })
  forGood("with claims that are not base64", { body: { access_token: "a.%%%.c" } })
  forGood("with claims that are not JSON", { body: { access_token: "a.AAAA.c" } })
  forGood("with an expires_in beyond all numbers", { body: { access_token: "t", expires_in: "1e999" } })
  forGood("with the largest expires_in", { body: { access_token: "t", expires_in: Number.MAX_VALUE } })

  for (
    const [name, claims] of [["expires_in of 0", { expires_in: 0 }], ["claims that end before they begin", {}]] as const
  ) {
    it.effect(`for no time with ${name}: each call asks again`, () => {
      const answer = (nth: number): Answer => ({ body: { access_token: jwt({ iat: 100 + nth, exp: 0 }), ...claims } })
      const { arrived, layer } = over((nth) => Effect.succeed(answer(nth)))
      return Effect.gen(function*() {
        yield* get
        yield* get
        assert.lengthOf(arrived, 2)
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("counted from when its request left, not from when it came", () => {
    const { layer } = over((nth) =>
      nth === 1 ? Effect.delay(Effect.succeed(issue(1)), "9 seconds") : Effect.succeed({ status: 403 })
    )
    return Effect.gen(function*() {
      const first = yield* Effect.fork(get)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* Fiber.join(first), "t1")
      yield* TestClock.adjust("59999 millis")
      assert.strictEqual(yield* get, "t1")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Effect.flip(get))._tag, "TokenError")
    }).pipe(Effect.provide(layer))
  })
})

describe("a token is renewed", () => {
  it.scoped("from 80 % of its lifetime on, not before, and no caller waits for it", () =>
    Effect.gen(function*() {
      const { asked, get, succeed } = yield* byHand
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(1, "t1", "100 seconds")
      yield* Fiber.join(first)
      yield* TestClock.adjust("79999 millis")
      assert.strictEqual(yield* get, "t1")
      yield* breathe
      assert.lengthOf(asked, 1)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* Effect.all([get, get, get], { concurrency: "unbounded" }), ["t1", "t1", "t1"])
      yield* breathe
      assert.lengthOf(asked, 2)
      yield* succeed(2, "t2", "100 seconds")
      assert.strictEqual(yield* get, "t2")
      assert.lengthOf(asked, 2)
    }))

  it.scoped("once only for those who find it stale while its renewal is under way", () =>
    Effect.gen(function*() {
      const { asked, get, succeed } = yield* byHand
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(1, "t1", "100 seconds")
      yield* Fiber.join(first)
      yield* TestClock.adjust("80 seconds")
      yield* get
      yield* TestClock.adjust("10 seconds")
      const late = yield* Effect.fork(get)
      yield* breathe
      assert.lengthOf(asked, 2)
      yield* succeed(2, "t2", "100 seconds")
      assert.strictEqual(yield* Fiber.join(late), "t2")
    }))

  it.effect("by a failing endpoint without failing a call, every 5 seconds at the most, and then at last", () => {
    let down = false
    const { arrived, layer } = over((nth) => Effect.succeed(down ? { status: 403 } : issue(nth, { expires_in: 1000 })))
    return Effect.gen(function*() {
      yield* get
      down = true
      yield* TestClock.adjust("800 seconds")
      for (let second = 0; second < 100; second++) {
        assert.strictEqual(yield* get, "t1")
        yield* breathe
        assert.strictEqual(yield* get, "t1")
        yield* TestClock.adjust("1 second")
      }
      assert.lengthOf(arrived, 1 + 20)
      down = false
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* get, "t1")
      yield* breathe
      assert.strictEqual(yield* get, "t22")
    }).pipe(Effect.provide(layer))
  })

  it.scoped("again 5 seconds after its renewal died, and no sooner", () =>
    Effect.gen(function*() {
      const { asked, die, get, succeed } = yield* byHand
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(1, "t1", "100 seconds")
      yield* Fiber.join(first)
      yield* TestClock.adjust("80 seconds")
      yield* get
      yield* breathe
      yield* die(2)
      for (const [wait, times] of [["4999 millis", 2], ["1 millis", 3]] as const) {
        yield* TestClock.adjust(wait)
        assert.strictEqual(yield* get, "t1")
        yield* breathe
        assert.lengthOf(asked, times)
      }
    }))

  it.effect("by an endpoint that asks to wait no sooner than that", () => {
    let down = false
    const { arrived, layer } = over((nth) =>
      Effect.succeed(
        down ? { status: 429, headers: { "retry-after": "90" } } : issue(nth, { expires_in: 1000 })
      )
    )
    return Effect.gen(function*() {
      yield* get
      down = true
      yield* TestClock.adjust("800 seconds")
      for (let second = 0; second < 89; second++) {
        assert.strictEqual(yield* get, "t1")
        yield* breathe
        yield* TestClock.adjust("1 second")
      }
      assert.lengthOf(arrived, 2)
    }).pipe(Effect.provide(layer))
  })

  it.scoped("in vain when it was refused meanwhile: it is not given again", () =>
    Effect.gen(function*() {
      const { asked, fail, get, invalidate, succeed } = yield* byHand
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(1, "t1", "100 seconds")
      yield* Fiber.join(first)
      yield* TestClock.adjust("80 seconds")
      yield* get
      yield* breathe
      yield* invalidate("t1")
      yield* fail(2, "down")
      const next = yield* Effect.fork(get)
      yield* breathe
      assert.lengthOf(asked, 3)
      yield* succeed(3, "t3")
      assert.strictEqual(yield* Fiber.join(next), "t3")
    }))
})

describe("a failure", () => {
  it.scoped("goes to all who wait, the same to each, and the next call asks again", () =>
    Effect.gen(function*() {
      const { asked, fail, get, succeed } = yield* byHand
      const callers = yield* Effect.forEach([0, 1, 2], () => Effect.fork(Effect.flip(get)))
      yield* breathe
      yield* fail(1, "down")
      const errors = yield* Fiber.join(Fiber.all(callers))
      assert.deepStrictEqual(errors.map(({ message }) => message), ["down", "down", "down"])
      assert.strictEqual(new Set(errors).size, 1)
      assert.lengthOf(asked, 1)
      const next = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(2, "t2")
      assert.strictEqual(yield* Fiber.join(next), "t2")
    }))

  it.effect("is not kept even for the same millisecond", () => {
    const { arrived, layer } = over((nth) => Effect.succeed(nth < 3 ? { status: 400 } : issue(nth)))
    return Effect.gen(function*() {
      yield* Effect.flip(get)
      yield* Effect.flip(get)
      assert.strictEqual(yield* get, "t3")
      assert.lengthOf(arrived, 3)
    }).pipe(Effect.provide(layer))
  })
})

describe("a token request that fails", () => {
  /** The times, in milliseconds, at which requests came, and what the caller got. */
  const requestsUnder = (answer: (nth: number) => Effect.Effect<Answer>) =>
    Effect.gen(function*() {
      const times: Array<number> = []
      const { layer } = over((nth) =>
        Effect.zipRight(Effect.map(Clock.currentTimeMillis, (now) => void times.push(now)), answer(nth))
      )
      return { times, result: yield* inTime(Effect.either(Effect.provide(get, layer))) }
    })

  for (const status of [429, 500, 502, 503, 504]) {
    it.effect(`with ${status} is made three times at the most, within the bounds of its waits`, () =>
      Effect.gen(function*() {
        const { result, times } = yield* requestsUnder(() => Effect.succeed({ status }))
        assert.deepInclude(Either.merge(result) as object, { _tag: "TokenError", status })
        const [first = NaN, second = NaN, third = NaN] = times
        assert.lengthOf(times, 3)
        assert.isTrue(second - first <= 250 && third - second <= 500)
      }))
  }

  for (const status of [400, 401, 403, 404, 302]) {
    it.effect(`with ${status} is made once`, () =>
      Effect.gen(function*() {
        assert.lengthOf((yield* requestsUnder(() => Effect.succeed({ status }))).times, 1)
      }))
  }

  it.effect("waits for a Retry-After of up to a minute", () =>
    Effect.gen(function*() {
      const { result, times } = yield* requestsUnder((nth) =>
        Effect.succeed(nth === 1 ? { status: 429, headers: { "retry-after": "60" } } : issue(nth))
      )
      assert.deepStrictEqual([times, Either.merge(result)], [[0, 60_000], "t2"])
    }))

  it.effect("fails at once with a longer one, and says how long", () =>
    Effect.gen(function*() {
      const { result, times } = yield* requestsUnder(() =>
        Effect.succeed({ status: 429, headers: { "retry-after": "61" } })
      )
      assert.deepInclude(Either.merge(result) as object, { retryAfter: Duration.seconds(61) })
      assert.lengthOf(times, 1)
    }))

  it.effect("for want of an answer ends after 10 seconds, and is made again", () =>
    Effect.gen(function*() {
      const { result, times } = yield* requestsUnder((nth) => nth === 1 ? Effect.never : Effect.succeed(issue(nth)))
      assert.strictEqual(Either.merge(result), "t2")
      assert.isTrue(times[1]! >= 10_000 && times[1]! <= 10_250)
    }))

  it.effect("for want of an answer three times is TokenError with the code TIMEOUT", () =>
    Effect.gen(function*() {
      const { result, times } = yield* requestsUnder(() => Effect.never)
      assert.deepInclude(Either.merge(result) as object, { _tag: "TokenError", code: "TIMEOUT" })
      assert.lengthOf(times, 3)
    }))
})

describe("invalidate", () => {
  it.effect("removes the token that was refused", () => {
    const { layer } = over((nth) => Effect.succeed(issue(nth)))
    return Effect.gen(function*() {
      assert.strictEqual(yield* get, "t1")
      yield* invalidate("t1")
      assert.strictEqual(yield* get, "t2")
    }).pipe(Effect.provide(layer))
  })

  it.effect("leaves a newer token alone", () => {
    const { arrived, layer } = over((nth) => Effect.succeed(issue(nth)))
    return Effect.gen(function*() {
      yield* get
      yield* invalidate("t1")
      yield* get
      yield* invalidate("t1")
      yield* invalidate("another")
      assert.strictEqual(yield* get, "t2")
      assert.lengthOf(arrived, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("by any number of callers whose one token was refused makes one request", () => {
    const { arrived, layer } = over((nth) => Effect.as(Effect.yieldNow(), issue(nth)))
    return Effect.gen(function*() {
      yield* get
      const tokens = yield* Effect.all(
        Array.from({ length: 100 }, () => Effect.zipRight(invalidate("t1"), get)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(tokens), new Set(["t2"]))
      assert.lengthOf(arrived, 2)
    }).pipe(Effect.provide(layer))
  })

  it.scoped("does nothing while nothing is kept and while a first request is under way", () =>
    Effect.gen(function*() {
      const { asked, get, invalidate, succeed } = yield* byHand
      yield* invalidate("t1")
      const caller = yield* Effect.fork(get)
      yield* breathe
      yield* invalidate("t0")
      yield* succeed(1, "t1")
      assert.strictEqual(yield* Fiber.join(caller), "t1")
      assert.strictEqual(yield* get, "t1")
      assert.lengthOf(asked, 1)
    }))

  it.scoped("during a renewal leaves callers to wait for that renewal", () =>
    Effect.gen(function*() {
      const { asked, get, invalidate, succeed } = yield* byHand
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(1, "t1", "100 seconds")
      yield* Fiber.join(first)
      yield* TestClock.adjust("80 seconds")
      yield* get
      yield* invalidate("t1")
      const caller = yield* Effect.fork(get)
      yield* breathe
      assert.lengthOf(asked, 2)
      yield* succeed(2, "t2", "100 seconds")
      assert.strictEqual(yield* Fiber.join(caller), "t2")
    }))
})

describe("layerEffect", () => {
  it.effect("runs its effect in the context it was built in, and keeps what it issues", () => {
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

describe("TokenError", () => {
  it.effect("carries status, error, description and retryAfter of an OAuth answer", () =>
    Effect.gen(function*() {
      const error = yield* failureOf({
        status: 401,
        headers: { "retry-after": "7200" },
        body: { error: "invalid_client", error_description: "Unauthorized" }
      })
      assert.instanceOf(error, TokenError)
      assert.deepInclude(error, {
        operation: "token",
        status: 401,
        error: "invalid_client",
        description: "Unauthorized"
      })
      assert.deepStrictEqual((error as TokenError).retryAfter, Duration.hours(2))
      assert.strictEqual(error.message, "the token endpoint responded with status 401 (invalid_client): Unauthorized")
    }))

  it.effect("carries only what there is", () =>
    Effect.gen(function*() {
      const error = yield* failureOf({ status: 400 })
      assert.deepStrictEqual({ ...error }, { _tag: "TokenError", operation: "token", status: 400 } as never)
      assert.strictEqual(error.message, "the token endpoint responded with status 400")
    }))

  const described = (name: string, body: unknown, error: string | undefined, description: string | undefined) =>
    it.effect(`describes ${name}`, () =>
      Effect.gen(function*() {
        const failure = (yield* failureOf({ status: 403, body })) as TokenError
        assert.deepStrictEqual([failure.error, failure.description], [error, description])
      }))

  described("code and description", { code: "access_denied", description: "No." }, "access_denied", "No.")
  described(
    "a description that is an object",
    { code: "invalid_password", description: { rules: [1] } },
    "invalid_password",
    "{\"rules\":[1]}"
  )
  described("error before code", { code: "b", error: "a" }, "a", undefined)
  described(
    "a message where nothing else is",
    { statusCode: 403, error: "Forbidden", message: "why" },
    "Forbidden",
    "why"
  )
  described("a message where the description is null", { message: "why", description: null }, undefined, "why")
  described("a message where the description is empty", { message: "why", description: "" }, undefined, "why")
  described("members of the wrong types as absent", { error: 1, code: {}, error_description: [] }, undefined, undefined)
  described(
    "a description nested too deep to print",
    `{"error":"e","description":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
    "e",
    undefined
  )

  for (
    const [name, answer] of [
      ["an empty body", { body: "" }],
      ["a web page", { headers: { "content-type": "text/html" }, body: "<html><title>hi</title></html>" }],
      ["a body that is cut", { body: "{\"access_token\":\"ey" }],
      ["JSON null", { body: "null" }],
      ["a list", { body: ["access_token"] }],
      ["no access_token", { body: { token_type: "Bearer" } }],
      ["an empty access_token", { body: { access_token: "" } }],
      ["an access_token that is no string", { body: { access_token: 5 } }],
      ["a token with a newline", { body: { access_token: "a\nb" } }],
      ["a token with a space", { body: { access_token: "a b" } }],
      ["a token that is not ASCII", { body: { access_token: "tökén" } }],
      ["bytes that are not UTF-8", { body: Buffer.from("{\"access_token\":\"\xff\"}", "latin1") }],
      ["more than is read", { body: { pad: "x".repeat(70_000), access_token: "t" } }]
    ] satisfies ReadonlyArray<readonly [string, Answer]>
  ) {
    it.effect(`is what a 200 with ${name} gives`, () =>
      Effect.gen(function*() {
        const error = yield* failureOf(answer)
        assert.instanceOf(error, TokenError)
        assert.strictEqual((error as TokenError).status, 200)
        assert.strictEqual(error.message, "the token endpoint's response contains no usable access_token")
      }))
  }

  it.effect("is what a redirect gives: it is not followed", () =>
    Effect.gen(function*() {
      const error = yield* failureOf({ status: 307, headers: { location: "https://evil.example.com" } })
      assert.strictEqual((error as TokenError).status, 307)
    }))

  it.effect("is what an answer from elsewhere gives, token or not", () =>
    Effect.gen(function*() {
      const elsewhere = HttpClient.make((request) =>
        Effect.map(
          Effect.flatMap(HttpClient.HttpClient, (client) => client.execute(request)),
          (response) => Object.assign(response, { redirected: true })
        ).pipe(Effect.provide(Testing.layerHttp(Testing.reply({ body: { access_token: "theirs" } }))))
      )
      const layer = TokenProvider.layerClientCredentials({ ...credentials, authUrl: "https://login.example.com" }).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient, elsewhere))
      )
      assert.strictEqual((yield* Effect.flip(Effect.provide(get, layer)))._tag, "TokenError")
    }))

  it.effect("carries the code when there is no answer", () =>
    Effect.gen(function*() {
      const layer = TokenProvider.layerClientCredentials({ ...credentials, authUrl: "https://login.example.com" }).pipe(
        Layer.provide(Testing.layerHttp(...Array.from({ length: 3 }, () => Testing.noReply("ECONNRESET"))))
      )
      const error = (yield* inTime(Effect.flip(Effect.provide(get, layer)))) as TokenError
      assert.deepStrictEqual({ ...error }, { _tag: "TokenError", operation: "token", code: "ECONNRESET" } as never)
      assert.strictEqual(error.message, "the token endpoint did not respond (ECONNRESET)")
    }))

  it.effect("carries no code where the platform gives none", () =>
    Effect.gen(function*() {
      const layer = TokenProvider.layerClientCredentials({ ...credentials, authUrl: "https://login.example.com" }).pipe(
        Layer.provide(Testing.layerHttp(...Array.from({ length: 3 }, () => Testing.noReply("not a code"))))
      )
      const error = yield* inTime(Effect.flip(Effect.provide(get, layer)))
      assert.strictEqual(error.message, "the token endpoint did not respond")
      assert.notProperty(error, "code")
    }))

  it.scopedLive.each(networks)(
    "carries ECONNREFUSED when nobody listens, over %s",
    ([, network]) =>
      Effect.gen(function*() {
        const closed = yield* Effect.scoped(listen(() => {}))
        const layer = TokenProvider.layerClientCredentials({ ...credentials, authUrl: closed.url }).pipe(
          Layer.provide(network)
        )
        const error = (yield* Effect.flip(Effect.provide(get, layer))) as TokenError
        assert.strictEqual(error.code, "ECONNREFUSED")
        assert.isTrue(
          printed(error).every((text) => !text.includes(encodeURIComponent(secret)) && !text.includes(secret))
        )
      })
  )

  it.scopedLive.each(networks)(
    "is what answers give that break off on the socket, asked for three times, over %s",
    ([, network]) =>
      Effect.gen(function*() {
        const server = yield* listen((_, response) => {
          response.writeHead(200, { "content-length": "1000" })
          response.write("{\"access_token\":\"e", () => response.destroy())
        })
        const layer = TokenProvider.layerClientCredentials({ ...credentials, authUrl: server.url }).pipe(
          Layer.provide(network)
        )
        assert.strictEqual((yield* Effect.flip(Effect.provide(get, layer)))._tag, "TokenError")
        assert.lengthOf(server.arrived, 3)
      })
  )

  const spellings = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    new URLSearchParams({ "": secret }).toString().slice(1)
  ]

  for (const [nth, spelling] of spellings.entries()) {
    it.effect(`prints the client secret in no form when the server repeats it in spelling ${nth + 1}`, () =>
      Effect.gen(function*() {
        for (
          const body of [
            { error: spelling, error_description: `bad client_secret=${spelling}.` },
            { code: spelling, description: { given: spelling, list: [spelling] } },
            { message: spelling }
          ]
        ) {
          const error = (yield* failureOf({ status: 400, body })) as TokenError
          for (const text of printed(error)) {
            for (const hidden of spellings) assert.notInclude(text, hidden)
          }
        }
      }))
  }

  it.effect("leaves the error code alone where the client id is a part of it: it is no secret", () =>
    Effect.gen(function*() {
      const { layer } = over(() => Effect.succeed({ status: 401, body: { error: "invalid_client" } }), {
        authUrl: "https://login.example.com",
        clientId: "client"
      })
      const error = yield* Effect.flip(Effect.provide(get, layer))
      assert.strictEqual((error as TokenError).error, "invalid_client")
    }))

  it.effect("prints no token that it would not use", () =>
    Effect.gen(function*() {
      for (const token of ["opaque-token\n", jwt({ sub: "me" })]) {
        const body = { access_token: token, error: token, error_description: `here: ${token}` }
        for (const status of [200, 400]) {
          const error = (yield* failureOf({ status: token.endsWith("\n") ? status : 400, body })) as TokenError
          for (const text of printed(error)) assert.notInclude(text, token.trim())
        }
      }
    }))

  it.effect("is not longer than a page, whatever the server says", () =>
    Effect.gen(function*() {
      const long = "x".repeat(20_000)
      const error = (yield* failureOf({ status: 400, body: { error: long, error_description: long } })) as TokenError
      assert.isBelow(error.message.length, 1100)
      assert.isAtMost(error.description!.length, 500)
    }))
})

it.effect("the request is made as the layer makes it, not as its first caller has set things for itself", () => {
  const setting = FiberRef.unsafeMake("the layer's")
  const seen: Array<string> = []
  const { layer } = over((nth) =>
    Effect.map(FiberRef.get(setting), (value) => {
      seen.push(value)
      return issue(nth, { expires_in: 1000 })
    })
  )
  return Effect.gen(function*() {
    yield* Effect.locally(get, setting, "the caller's")
    assert.deepStrictEqual(seen, ["the layer's"])
  }).pipe(Effect.provide(layer))
})
