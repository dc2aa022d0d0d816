/** Token requests by client credentials: the form, the lifetimes, the retries, the errors. */
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Duration, Effect, Either, Exit, Fiber, Inspectable, Layer, Redacted, TestClock } from "effect"
import { inspect } from "node:util"
import { InvalidInput, isTransient, TokenError } from "../../src/Errors.js"
import * as Testing from "../../src/Testing.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { breathe, credentials, get, inTime, invalidate, issue, networks, over, secret } from "../support/tokens.js"
import { form, json, jwt, listen, type Reply } from "../support/tokenServer.js"

/** Gives the failure of a token request that receives this reply. */
const failureOf = (reply: Reply) => Effect.provide(Effect.flip(get), over(() => Effect.succeed(reply)).layer)

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
  it.effect("is a form with exactly the fields of the contract", () => {
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

  it.effect("goes to the contract's path with the authentication host", () =>
    address({ authUrl: "https://login.example.com" }, "https://login.example.com/oauth/token/", "/api/v2/"))

  it.effect("goes to the service's actual path with the domain", () =>
    address({ domain: "t.example.com" }, "https://t.example.com/oauth/token", "https://t.example.com/api/v2/"))

  it.effect("keeps the path of the authentication host and does not double a slash at its end", () =>
    address({ authUrl: "https://example.com/a//" }, "https://example.com/a/oauth/token/", "/api/v2/"))

  it.effect("uses the given path and audience with the authentication host", () =>
    address(
      { authUrl: "https://login.example.com", tokenPath: "/x/token", audience: "urn:a b&c" },
      "https://login.example.com/x/token",
      "urn:a b&c"
    ))

  it.effect("uses the given path and audience with the domain", () =>
    address({ domain: "t.example.com", tokenPath: "/y", audience: "z" }, "https://t.example.com/y", "z"))

  it.effect("may go over plain http when that is allowed", () =>
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
    it.effect(`fails with InvalidInput that names the setting: ${setting} ${address}`, () =>
      Effect.gen(function*() {
        const { arrived, layer } = over((nth) => Effect.succeed(issue(nth)), { [setting]: address })
        const error = yield* Effect.flip(Effect.provide(get, layer))
        assert.instanceOf(error, InvalidInput)
        assert.deepStrictEqual((error as InvalidInput).issues.map(({ path }) => path), [setting])
        assert.strictEqual((error as InvalidInput).operation, "TokenProvider.layerClientCredentials")
        assert.notInclude(String(error.message), "word")
        assert.lengthOf(arrived, 0)
      }))
  }

  it.scoped.each(networks)(
    "obtains a token over a real socket, over %s",
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

describe("a credential with white space around it", () => {
  const rows = [
    ["clientSecret", { clientSecret: Redacted.make("s3cret\n") }],
    ["clientSecret", { clientSecret: Redacted.make(" s3cret") }],
    ["clientId", { clientId: "i\r\n" }],
    ["audience", { audience: "https://tenant.example.com/api/v2/\n" }]
  ] as const
  for (const [setting, options] of rows) {
    it.effect(`is refused by name: ${setting} ${JSON.stringify(options)}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.provide(
          get,
          over(() => Effect.succeed(issue(1)), { authUrl: "https://login.example.com", ...options }).layer
        ))
        assert.instanceOf(error, InvalidInput)
        assert.deepStrictEqual(
          (error as InvalidInput).issues.map(({ path }) => path),
          [setting]
        )
        assert.notInclude(String(error), "s3cret")
      }))
  }
})

describe("a token is used", () => {
  /** Tests that the first token is used until `millis` after its request was sent, and not from then on. */
  const until = (name: string, reply: Reply, millis: number) =>
    it.effect(`${name}: ${millis} ms`, () => {
      const start = Date.UTC(2024, 0, 1)
      const { layer } = over((nth) => Effect.succeed(nth === 1 ? reply : { status: 403 }))
      return Effect.gen(function*() {
        yield* TestClock.setTime(start)
        const token = yield* get
        yield* TestClock.setTime(start + millis - 1)
        assert.strictEqual(yield* get, token)
        yield* TestClock.setTime(start + millis)
        assert.strictEqual((yield* Effect.flip(get))._tag, "TokenError")
      }).pipe(Effect.provide(layer))
    })

  until("until 10 % before it expires", issue(1, { expires_in: 100 }), 90_000)
  until("until 30 s before it expires, if that is less", issue(1, { expires_in: 86_400 }), 86_370_000)
  until("for an expires_in that is a numeric string", issue(1, { expires_in: "100" }), 90_000)
  until("for a fractional expires_in", issue(1, { expires_in: 0.5 }), 450)
  until(
    "for expires_in rather than for the claims",
    { body: { access_token: jwt({ iat: 0, exp: 1000 }), expires_in: 100 } },
    90_000
  )
  until(
    "from iat to exp of its claims",
    { body: { access_token: jwt({ iat: 5_000_000_000, exp: 5_000_000_100 }) } },
    90_000
  )
  until(
    "from iat to exp if expires_in is not a number",
    { body: { access_token: jwt({ iat: 0, exp: 100 }), expires_in: "soon" } },
    90_000
  )
  until(
    "from iat to exp if expires_in is blank",
    { body: { access_token: jwt({ iat: 0, exp: 100 }), expires_in: " " } },
    90_000
  )
  until(
    "from iat to exp if expires_in is too large for a number",
    { body: { access_token: jwt({ iat: 0, exp: 100 }), expires_in: "1e999" } },
    90_000
  )
  until(
    "from iat to exp if expires_in is negative",
    { body: { access_token: jwt({ iat: 0, exp: 100 }), expires_in: -1 } },
    90_000
  )
  until(
    "from the response's Date to exp if there is no iat, whatever the local clock says",
    { headers: { date: "Thu, 01 Jan 1970 01:00:00 GMT" }, body: { access_token: jwt({ exp: 3700 }) } },
    90_000
  )

  const indefinitely = (name: string, reply: Reply) =>
    it.effect(`until it is refused ${name}`, () => {
      const { arrived, layer } = over((nth) => Effect.succeed(nth === 1 ? reply : issue(nth)))
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

  indefinitely("without expires_in and claims", issue(1, {}))
  indefinitely("with exp but neither iat nor Date", { body: { access_token: jwt({ exp: 100 }) } })
  indefinitely("with iat alone", { body: { access_token: jwt({ iat: 100 }) } })
  indefinitely("with claims that are not an object", { body: { access_token: jwt([1]) } })
  indefinitely("with claims that are null", { body: { access_token: jwt(null) } })
  indefinitely("with claims of the wrong types", { body: { access_token: jwt({ iat: {}, exp: "x" }), expires_in: "" } })
  indefinitely("with claims that are not base64", { body: { access_token: "a.%%%.c" } })
  indefinitely("with claims that are not JSON", { body: { access_token: "a.AAAA.c" } })
  indefinitely("with an expires_in that is too large for a number", {
    body: { access_token: "t", expires_in: "1e999" }
  })
  indefinitely("with the largest expires_in", { body: { access_token: "t", expires_in: Number.MAX_VALUE } })

  for (
    const [name, claims] of [["expires_in of 0", { expires_in: 0 }], [
      "claims that expire before they are issued",
      {}
    ]] as const
  ) {
    it.effect(`for no time with ${name}: each call requests another`, () => {
      const reply = (nth: number): Reply => ({ body: { access_token: jwt({ iat: 100 + nth, exp: 0 }), ...claims } })
      const { arrived, layer } = over((nth) => Effect.succeed(reply(nth)))
      return Effect.gen(function*() {
        yield* get
        yield* get
        assert.lengthOf(arrived, 2)
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("from the time of its request, not from the time of its response", () => {
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

describe("a failed token request", () => {
  /** Gives the times of the requests in milliseconds, and the result of the caller. */
  const requestsUnder = (reply: (nth: number) => Effect.Effect<Reply>) =>
    Effect.gen(function*() {
      const times: Array<number> = []
      const { layer } = over((nth) =>
        Effect.zipRight(Effect.map(Clock.currentTimeMillis, (now) => void times.push(now)), reply(nth))
      )
      return { times, result: yield* inTime(Effect.either(Effect.provide(get, layer))) }
    })

  for (const status of [429, 500, 502, 503, 504]) {
    it.effect(`with ${status} is made three times, with bounded waits`, () =>
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

  it.effect("is retried after a Retry-After of up to a minute", () =>
    Effect.gen(function*() {
      const { result, times } = yield* requestsUnder((nth) =>
        Effect.succeed(nth === 1 ? { status: 429, headers: { "retry-after": "60" } } : issue(nth))
      )
      assert.deepStrictEqual([times, Either.merge(result)], [[0, 60_000], "t2"])
    }))

  it.effect("is not retried after a longer Retry-After, which the error carries", () =>
    Effect.gen(function*() {
      const { result, times } = yield* requestsUnder(() =>
        Effect.succeed({ status: 429, headers: { "retry-after": "61" } })
      )
      assert.deepInclude(Either.merge(result) as object, { retryAfter: Duration.seconds(61) })
      assert.lengthOf(times, 1)
    }))

  it.effect("without a response ends after 10 seconds and is retried", () =>
    Effect.gen(function*() {
      const { result, times } = yield* requestsUnder((nth) => nth === 1 ? Effect.never : Effect.succeed(issue(nth)))
      assert.strictEqual(Either.merge(result), "t2")
      assert.isTrue(times[1]! >= 10_000 && times[1]! <= 10_250)
    }))

  it.effect("without a response in three attempts is TokenError with the code TIMEOUT", () =>
    Effect.gen(function*() {
      const { result, times } = yield* requestsUnder(() => Effect.never)
      assert.deepInclude(Either.merge(result) as object, { _tag: "TokenError", code: "TIMEOUT" })
      assert.lengthOf(times, 3)
    }))
})

describe("TokenError", () => {
  it.effect("carries status, error, description and retryAfter of an OAuth error response", () =>
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
      assert.strictEqual(
        error.message,
        "the token endpoint of login.example.com responded with status 401 (invalid_client): Unauthorized"
      )
    }))

  it.effect("names the setting to change where the path is not found or the audience is refused", () =>
    Effect.gen(function*() {
      const messageOf = (status: number, body: object) =>
        Effect.map(failureOf({ status, body }), (error) => error.message)
      assert.match(yield* messageOf(404, {}), /`tokenPath`, `IDENTITY_TOKEN_PATH`/)
      const denied = { error: "access_denied", error_description: "Service not found: /api/v2/" }
      assert.match(yield* messageOf(403, denied), /`audience`, `IDENTITY_AUDIENCE`/)
      const unauthorized = { error: "invalid_request", error_description: "Unknown audience" }
      assert.match(yield* messageOf(400, unauthorized), /`audience`, `IDENTITY_AUDIENCE`/)
      assert.notMatch(yield* messageOf(401, { error: "invalid_client" }), /IDENTITY_/)
    }))

  it.effect("has no fields that the response lacks", () =>
    Effect.gen(function*() {
      const error = yield* failureOf({ status: 400 })
      assert.deepStrictEqual({ ...error }, { _tag: "TokenError", operation: "token", status: 400 } as never)
      assert.strictEqual(error.message, "the token endpoint of login.example.com responded with status 400")
    }))

  const described = (name: string, body: unknown, error: string | undefined, description: string | undefined) =>
    it.effect(`reads ${name}`, () =>
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
  described("error rather than code", { code: "b", error: "a" }, "a", undefined)
  described(
    "a message if there is nothing else",
    { statusCode: 403, error: "Forbidden", message: "why" },
    "Forbidden",
    "why"
  )
  described("a message if the description is null", { message: "why", description: null }, undefined, "why")
  described("a message if the description is empty", { message: "why", description: "" }, undefined, "why")
  described("fields of the wrong types as absent", { error: 1, code: {}, error_description: [] }, undefined, undefined)
  described(
    "a description that is nested too deeply to print",
    `{"error":"e","description":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
    "e",
    undefined
  )

  for (
    const [name, reply] of [
      ["an empty body", { body: "" }],
      ["a web page", { headers: { "content-type": "text/html" }, body: "<html><title>hi</title></html>" }],
      ["a truncated body", { body: "{\"access_token\":\"ey" }],
      ["JSON null", { body: "null" }],
      ["a list", { body: ["access_token"] }],
      ["no access_token", { body: { token_type: "Bearer" } }],
      ["an empty access_token", { body: { access_token: "" } }],
      ["an access_token that is not a string", { body: { access_token: 5 } }],
      ["a token with a newline", { body: { access_token: "a\nb" } }],
      ["a token with a space", { body: { access_token: "a b" } }],
      ["a token that is not ASCII", { body: { access_token: "tökén" } }],
      ["bytes that are not UTF-8", { body: Buffer.from("{\"access_token\":\"\xff\"}", "latin1") }],
      ["a body larger than the limit", { body: { pad: "x".repeat(70_000), access_token: "t" } }]
    ] satisfies ReadonlyArray<readonly [string, Reply]>
  ) {
    it.effect(`is the result of a 200 with ${name}`, () =>
      Effect.gen(function*() {
        const error = yield* failureOf(reply)
        assert.instanceOf(error, TokenError)
        assert.strictEqual((error as TokenError).status, 200)
        assert.strictEqual(
          error.message,
          "the response of the token endpoint of login.example.com contains no usable access_token"
        )
      }))
  }

  it.effect("is the result of a redirect, which is not followed", () =>
    Effect.gen(function*() {
      const error = yield* failureOf({ status: 307, headers: { location: "https://evil.example.com" } })
      assert.strictEqual((error as TokenError).status, 307)
    }))

  it.effect("is the result of a redirected response, even with a token", () =>
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
      const error = yield* Effect.flip(Effect.provide(get, layer))
      assert.strictEqual(error._tag, "TokenError")
      assert.match(error.message, /^the HTTP client followed a redirect of the token endpoint of login\.example\.com,/)
    }))

  it.effect("carries the code if there is no response", () =>
    Effect.gen(function*() {
      const layer = TokenProvider.layerClientCredentials({ ...credentials, authUrl: "https://login.example.com" }).pipe(
        Layer.provide(Testing.layerHttp(...Array.from({ length: 3 }, () => Testing.noReply("ECONNRESET"))))
      )
      const error = (yield* inTime(Effect.flip(Effect.provide(get, layer)))) as TokenError
      assert.deepStrictEqual({ ...error }, { _tag: "TokenError", operation: "token", code: "ECONNRESET" } as never)
      assert.strictEqual(error.message, "the token endpoint of login.example.com did not respond (ECONNRESET)")
    }))

  it.effect("carries a code of its own if the platform gives none, so that it counts as one that may pass", () =>
    Effect.gen(function*() {
      const layer = TokenProvider.layerClientCredentials({ ...credentials, authUrl: "https://login.example.com" }).pipe(
        Layer.provide(Testing.layerHttp(...Array.from({ length: 3 }, () => Testing.noReply("not a code"))))
      )
      const error = yield* inTime(Effect.flip(Effect.provide(get, layer)))
      assert.strictEqual(error.message, "the token endpoint of login.example.com did not respond")
      assert.propertyVal(error, "code", "no-response")
      assert.isTrue(isTransient(error))
    }))

  it.scopedLive.each(networks)(
    "carries ECONNREFUSED if nothing listens, over %s",
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
    "is the result of three interrupted responses over a socket, over %s",
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
    it.effect(`does not print the client secret if the server repeats it in spelling ${nth + 1}`, () =>
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

  it.effect("keeps an error code that contains the client id, which is no secret", () =>
    Effect.gen(function*() {
      const { layer } = over(() => Effect.succeed({ status: 401, body: { error: "invalid_client" } }), {
        authUrl: "https://login.example.com",
        clientId: "client"
      })
      const error = yield* Effect.flip(Effect.provide(get, layer))
      assert.strictEqual((error as TokenError).error, "invalid_client")
    }))

  it.effect("does not print a token that it rejects", () =>
    Effect.gen(function*() {
      for (const token of ["opaque-token\n", jwt({ sub: "me" })]) {
        const body = { access_token: token, error: token, error_description: `here: ${token}` }
        for (const status of [200, 400]) {
          const error = (yield* failureOf({ status: token.endsWith("\n") ? status : 400, body })) as TokenError
          for (const text of printed(error)) assert.notInclude(text, token.trim())
        }
      }
    }))

  it.effect("has a bounded length, whatever the server sends", () =>
    Effect.gen(function*() {
      const long = "x".repeat(20_000)
      const error = (yield* failureOf({ status: 400, body: { error: long, error_description: long } })) as TokenError
      assert.isBelow(error.message.length, 1100)
      assert.isAtMost(error.description!.length, 500)
    }))
})
