/** Hostile servers, unlucky inputs and wrong settings do no harm. */
import { Headers, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  ConfigProvider,
  Duration,
  Effect,
  Either,
  Exit,
  Fiber,
  Layer,
  Option,
  Redacted,
  Scope,
  TestClock
} from "effect"
import { inspect } from "node:util"
import * as Errors from "../../src/Errors.js"
import * as IdentityClient from "../../src/IdentityClient.js"
import * as Node from "../../src/Node.js"
import {
  createUsersExport,
  deleteEventStream,
  listActionVersions,
  updateTokenExchangeProfile
} from "../../src/operations/index.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as Retry from "../../src/Retry.js"
import * as SharedStore from "../../src/SharedStore.js"
import * as Testing from "../../src/Testing.js"
import * as Timestamp from "../../src/Timestamp.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { bearer, failed, over, resultOf, scripted } from "../support/client.js"
import * as Permits from "../support/permits.js"
import { json, listen } from "../support/tokenServer.js"

const id = "est_0123456789012345678901"

describe("a program that lacks a service", () => {
  const lacking = {
    IdentityClient: Effect.asVoid(IdentityClient.IdentityClient),
    RateLimiter: Effect.asVoid(RateLimiter.RateLimiter),
    SharedStore: Effect.asVoid(SharedStore.SharedStore),
    TokenProvider: Effect.asVoid(TokenProvider.TokenProvider)
  }
  for (const [name, service] of Object.entries(lacking)) {
    it.effect(`fails with the name of ${name}`, () =>
      Effect.gen(function*() {
        const uncompiled = service as Effect.Effect<void> // what the compiler would not let pass
        const cause = yield* Effect.sandbox(uncompiled).pipe(Effect.flip)
        assert.match(Cause.pretty(cause), new RegExp(`Service not found: effect-identity-client/${name}\\b`))
      }))
  }
})

describe("an error response", () => {
  it.effect("is read in linear time: titles without an end", () =>
    Effect.gen(function*() {
      // This would take minutes if it were read again from each opening tag.
      const error = yield* failed(
        listActionVersions,
        { actionId: "a" },
        Testing.reply({ body: "<title".repeat(200_000) })
      )
      assert.deepInclude(error, { _tag: "UnexpectedResponse", reason: "html" })
    }))

  it.effect("is read in linear time: endless scopes", () =>
    Effect.gen(function*() {
      const message = `Insufficient scope: ${"read:b ".repeat(9000)}`
      const error = yield* failed(deleteEventStream, { id }, Testing.reply({ status: 403, body: { message } }))
      assert.isAtMost((error as Errors.InsufficientScope).required.length, 20)
    }))

  it.effect("keeps its code, whatever short strings the input contains", () =>
    Effect.gen(function*() {
      const input = { format: "json", fields: [{ name: "id" }, { name: "a" }] } as const
      const reply = Testing.reply({
        status: 500,
        headers: { "x-request-id": "9f-id-1c" },
        body: { errorCode: "invalid_body", message: "no id" }
      })
      const error = yield* failed(createUsersExport, input, reply)
      assert.deepInclude(error, {
        errorCode: "invalid_body",
        requestId: "9f-id-1c",
        contentType: "application/json",
        message: "createUsersExport: status 500 from tenant.example.com: no …"
      })
    }))

  it.effect("has long strings of the input redacted in its code", () =>
    Effect.gen(function*() {
      const reply = Testing.reply({ status: 500, body: { errorCode: "no_plan1234" } })
      for (const [name, errorCode] of [["plan1234", "no_…"], ["plan123", "no_plan1234"]] as const) {
        assert.deepInclude(yield* failed(createUsersExport, { fields: [{ name }] }, reply), { errorCode })
      }
    }))

  it.effect("has every string of the input redacted in a code that does not look like one", () =>
    Effect.gen(function*() {
      const input = { fields: [{ name: "id" }] }
      for (const [errorCode, clean] of [["ä id", "ä …"], ["id ä", "… ä"]]) {
        const reply = Testing.reply({ status: 500, body: { errorCode } })
        assert.deepInclude(yield* failed(createUsersExport, input, reply), { errorCode: clean })
      }
    }))

  it.effect("leaves the client's own messages unchanged", () =>
    Effect.gen(function*() {
      const error = yield* failed(updateTokenExchangeProfile, { id: "x", name: "abc" }, Testing.reply({ body: [] }))
      assert.include((error as Errors.UnexpectedResponse).message, "expected an object")
    }))

  it.effect("names every scope in its message", () =>
    Effect.gen(function*() {
      const message = "Insufficient scope, expected any of: read:users,read:scim2_config,update:oauth2-clients"
      const reply = Testing.reply({ status: 403, body: { message } })
      const error = yield* failed(createUsersExport, { fields: [{ name: "user" }] }, reply)
      assert.deepStrictEqual(
        (error as Errors.InsufficientScope).required,
        ["read:users", "read:scim2_config", "update:oauth2-clients"]
      )
    }))

  it.effect("repeats no string of the input, though the caller has changed it since", () =>
    Effect.gen(function*() {
      const fields = [{ name: "Private Person" }]
      const client = HttpClient.make((request) =>
        Effect.sync(() => {
          fields[0]!.name = "other"
          return HttpClientResponse.fromWeb(
            request,
            Response.json({ message: "bad name Private Person" }, { status: 400 })
          )
        })
      )
      const error = yield* Effect.flip(createUsersExport({ fields })).pipe(
        Effect.provide(over(Layer.succeed(HttpClient.HttpClient, client)))
      )
      assert.strictEqual(error.message, "createUsersExport: bad name …")
    }))
})

describe("a client secret", () => {
  const secret = "s3cr3t/+value"
  const tokens = (path?: string) =>
    TokenProvider.layerClientCredentials({
      authUrl: "https://login.example.com",
      clientId: "client",
      clientSecret: Redacted.make(secret),
      tokenPath: path
    })
  const token = Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get)

  for (
    const spelling of [
      secret,
      encodeURIComponent(secret),
      encodeURIComponent(secret).toLowerCase(),
      secret.replace("/", "\\/"),
      Buffer.from(`client:${secret}`).toString("base64")
    ]
  ) {
    it.effect(`is not printed when a server repeats it as ${spelling}`, () =>
      Effect.gen(function*() {
        const reply = Testing.reply({
          status: 401,
          body: { error: "invalid_client", error_description: `not ${spelling}!` }
        })
        const error = yield* Effect.flip(token).pipe(
          Effect.provide(Layer.provide(tokens(), Testing.layerHttp(reply)))
        )
        assert.strictEqual(error.description, "not …!")
        assert.notInclude(inspect(error), spelling)
      }))
  }

  for (
    const path of ["oauth/token", ":8080@elsewhere.example/oauth/token", "//elsewhere.example", "/a?b", "/a b", ""]
  ) {
    it.effect(`is sent to no other host by a token path such as "${path}"`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Layer.build(Layer.provide(tokens(path), Testing.layerHttp())))
        assert.instanceOf(error, Errors.InvalidInput)
        assert.strictEqual(error.operation, "TokenProvider.layerClientCredentials")
        const message = "expected a path that starts with one slash and has no query"
        assert.deepStrictEqual(error.issues, [{ path: "tokenPath", message }])
      }).pipe(Effect.scoped))
  }
})

describe("a token", () => {
  for (
    const domain of [
      "https://tenant.example.com",
      "tenant.example.com/elsewhere",
      "a b",
      "user@tenant.example.com",
      "tenant.example.com:99999"
    ]
  ) {
    it.effect(`is not sent to a host in the invalid domain "${domain}"`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Layer.build(Node.layerConfig)).pipe(
          Effect.withConfigProvider(ConfigProvider.fromMap(
            new Map([["IDENTITY_DOMAIN", domain], ["IDENTITY_TOKEN", "t"]])
          ))
        )
        assert.instanceOf(error, Errors.InvalidInput)
        const { issues, operation } = error as Errors.InvalidInput
        assert.deepStrictEqual([operation, issues[0]?.path], ["IdentityClient.layer", "domain"])
        assert.match(issues[0]?.message ?? "", /^expected an? /)
      }).pipe(Effect.scoped))
  }

  for (const domain of ["tenant.example.com", "tenant.example.com:8443"]) {
    it.effect(`is sent to the base URL of the domain ${domain}`, () =>
      Effect.gen(function*() {
        yield* deleteEventStream({ id })
        const [request] = yield* Testing.requests
        assert.strictEqual(request?.url, `https://${domain}/api/v2/event-streams/${id}`)
      }).pipe(Effect.provide(
        IdentityClient.layer({ domain }).pipe(
          Layer.provide([RateLimiter.layerUnlimited, bearer]),
          Layer.provideMerge(Testing.layerHttp(Testing.reply({})))
        )
      )))
  }

  it.scopedLive.each(
    [
      ["undici", NodeHttpClient.layerUndici],
      ["lean", Layer.orDie(Node.layerHttpClient)]
    ] as const
  )("is reported when a client followed a redirect by itself, over %s", ([, network]) =>
    Effect.gen(function*() {
      const { url } = yield* listen((request, response) =>
        request.url === "/elsewhere"
          ? json(response, 200, {})
          : void response.writeHead(302, { location: "/elsewhere" }).end()
      )
      const following = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, (client) => HttpClient.followRedirects(client, 3))
      ).pipe(Layer.provide(network))
      const error = yield* Effect.flip(deleteEventStream({ id })).pipe(Effect.provide(over(following, url)))
      assert.deepInclude(error, { _tag: "UnexpectedResponse", reason: "redirect" })
    }))

  it.scopedLive.each(
    [[401, "/elsewhere"], [429, "/elsewhere"], [401, "?moved=1"], [429, "?moved=1"]] as const
  )(
    "is final with status %d after a redirect to %s, even if the service carried the call out before",
    ([status, location]) =>
      Effect.gen(function*() {
        let received = 0
        const { url } = yield* listen((request, response) => {
          if (request.url.endsWith(location)) return json(response, status, {})
          received++
          response.writeHead(307, { location }).end()
        })
        const following = Layer.effect(
          HttpClient.HttpClient,
          Effect.map(HttpClient.HttpClient, (client) => HttpClient.followRedirects(client, 3))
        ).pipe(Layer.provide(NodeHttpClient.layerUndici))
        let tokens = 0
        const client = IdentityClient.layer({ baseUrl: url }).pipe(
          Layer.provide(RateLimiter.layerUnlimited),
          Layer.provide(TokenProvider.layerEffect(Effect.sync(() => ({ token: Redacted.make(`token-${++tokens}`) })))),
          Layer.provide(following)
        )
        yield* Effect.flip(createUsersExport({})).pipe(Effect.provide(client))
        assert.strictEqual(received, 1)
      })
  )

  it.effect("does not count as one if the client changes the URL of the request", () =>
    Effect.gen(function*() {
      let sentTo = ""
      const client = HttpClient.make((request) => {
        sentTo = request.url
        return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status: 204 })))
      })
      const rewriting = HttpClient.mapRequest(client, HttpClientRequest.setUrl("https://gateway.example.com/tenant"))
      yield* deleteEventStream({ id: "est_0123456789012345678901" }).pipe(
        Effect.provide(over(Layer.succeed(HttpClient.HttpClient, rewriting)))
      )
      assert.strictEqual(sentTo, "https://gateway.example.com/tenant")
    }))
})

describe("an input", () => {
  for (
    const uri of [
      "urn:x#a#b#c",
      "http://[[[",
      "https://",
      "https://:::99999",
      "a:[]]]]]",
      "urn:a b c",
      "urn:x%zz",
      "no-scheme/x"
    ]
  ) {
    it.effect(`"${uri}" is not a URI`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(updateTokenExchangeProfile({ id: "x", subject_token_type: uri }))
        assert.deepInclude(error, { _tag: "InvalidInput" })
        assert.strictEqual((error as Errors.InvalidInput).issues[0]?.path, "subject_token_type")
      }).pipe(Effect.provide(scripted())))
  }

  for (
    const uri of [
      "urn:example:token",
      "https://example.com/a/b?c=d/e?f#g?h",
      "https://user@[2001:db8::1]:8080/x",
      "urn:x:%C3%A9!$&'()*+,;=@",
      "http://example.com"
    ]
  ) {
    it.effect(`"${uri}" is a URI`, () =>
      Effect.gen(function*() {
        yield* updateTokenExchangeProfile({ id: "x", subject_token_type: uri })
        assert.lengthOf(yield* Testing.requests, 1)
      }).pipe(Effect.provide(scripted(Testing.reply({})))))
  }

  for (const name of ["Host", "connection", "Content-Length", "transfer-encoding", "expect", "upgrade", "te"]) {
    it.effect(`cannot set the header ${name}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(IdentityClient.withHeaders(deleteEventStream({ id }), { [name]: "x" }))
        assert.strictEqual(
          (error as Errors.InvalidInput).message,
          `deleteEventStream: headers.${name.toLowerCase()}: only the transport sets this header`
        )
      }).pipe(Effect.provide(scripted())))
  }
})

describe("a mock", () => {
  it.effect("receives the input", () =>
    deleteEventStream({ id }).pipe(Effect.provide(Testing.layer(
      Testing.handle(deleteEventStream, (input) => Effect.sync(() => assert.deepStrictEqual(input, { id })))
    ))))

  it.effect("may return a literal timestamp", () =>
    Effect.gen(function*() {
      const page = yield* listActionVersions({ actionId: "a" })
      assert.strictEqual(page.versions[0]?.built_at, "2023-01-25T17:42:12.004394259Z")
    }).pipe(Effect.provide(Testing.layer(Testing.handle(listActionVersions, () =>
      Effect.succeed({
        total: 1,
        per_page: 20,
        versions: [{ built_at: Timestamp.make("2023-01-25T17:42:12.004394259Z") }]
      }))))))

  it.effect("may return null for an optional field", () =>
    Effect.gen(function*() {
      const body = { id: "job_1", type: "users_export", status: "pending", connection: null }
      assert.notProperty(yield* resultOf(createUsersExport, {}, Testing.reply({ body })), "connection")
    }))
})

describe("a limiter", () => {
  const call: RateLimiter.Call = { tenant: "https://t.example.com/api/v2", operation: "deleteEventStream" }
  const settleCall = (headers: Record<string, string>, status = 200) =>
    Effect.flatMap(
      RateLimiter.RateLimiter,
      (limiter) =>
        Effect.flatMap(Permits.start(limiter, call), ({ settle }) =>
          settle({ status, headers: Headers.fromInput(headers) }))
    )
  const acquire = Effect.flatMap(RateLimiter.RateLimiter, (limiter) => Permits.start(limiter, call))
  const date = { date: "Tue, 20 Jan 2026 10:00:00 GMT" }

  it.effect("fails at once if a call would exceed maxWait, and says how long it would wait", () =>
    Effect.gen(function*() {
      yield* settleCall({ ...date, "retry-after": "7200" }, 429)
      const error = yield* Effect.flip(acquire)
      assert.deepInclude(error, { _tag: "RateLimited", source: "limiter", operation: "deleteEventStream" })
      assert.include(error.message, "exceed maxWait")
      assert.strictEqual(error.retryAfter && Duration.toMillis(error.retryAfter), 900_000)
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ maxWait: "1 minute" }))))

  it.effect("counts the calls that wait before a call", () =>
    Effect.gen(function*() {
      const callers = yield* Effect.forEach([1, 2, 3, 4], () => Effect.fork(Effect.either(acquire)))
      yield* TestClock.adjust("10 seconds")
      const results = yield* Effect.forEach(callers, Fiber.join)
      assert.deepStrictEqual(results.map(Either.isRight), [true, true, true, false])
    }).pipe(Effect.provide(RateLimiter.layerFixed({ limit: 1, interval: "1 second", maxWait: "2 seconds" }))))

  it.effect("fails a waiting call when the service asks for more time", () =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      const full = { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "4", "x-ratelimit-reset": "1768903202" }
      yield* settleCall({ ...date, ...full })
      const { settle } = yield* Permits.start(limiter, call)
      const waiting = yield* Effect.fork(Effect.flip(Permits.start(limiter, call)))
      yield* Effect.yieldNow()
      assert.isTrue(Option.isNone(yield* Fiber.poll(waiting)))
      yield* settle({ status: 429, headers: Headers.fromInput({ "retry-after": "3600" }) })
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "RateLimited")
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ maxWait: "1 minute" }))))

  it.effect("ignores a reset in milliseconds", () =>
    Effect.gen(function*() {
      yield* settleCall({
        ...date,
        "x-ratelimit-limit": "2",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": "1768903202000"
      })
      const waiting = yield* Effect.fork(acquire)
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(waiting)))
    }).pipe(Effect.provide(RateLimiter.layer)))

  it.effect("waits as long as the headers say, up to maxPause", () =>
    Effect.gen(function*() {
      yield* settleCall({ ...date, "retry-after": "80000" }, 429)
      const waiting = yield* Effect.fork(acquire)
      yield* TestClock.adjust("79999 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(waiting)))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(waiting)
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ maxPause: "1 day" }))))
})

describe("a retried call", () => {
  const refused = Testing.noReply("ECONNREFUSED")
  const fails = (
    self: Effect.Effect<unknown, Errors.ClientError | Errors.RateLimited, IdentityClient.IdentityClient>
  ) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.flip(self))
      yield* TestClock.adjust("5 minutes")
      return yield* Fiber.join(fiber)
    })
  const deleted = Effect.mapError(deleteEventStream({ id }), (error) => error as Errors.ClientError)

  it.effect("has outcome unknown if one attempt has, though a later one was not sent", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* fails(deleted), { _tag: "TransportError", outcome: "unknown", code: "ECONNRESET" })
      assert.lengthOf(yield* Testing.requests, 4)
    }).pipe(Effect.provide(scripted(Testing.noReply("ECONNRESET"), refused, refused, refused))))

  it.effect("has outcome not-sent if no attempt was sent", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* fails(deleted), { _tag: "TransportError", outcome: "not-sent", code: "ENOTFOUND" })
    }).pipe(Effect.provide(scripted(refused, refused, refused, Testing.noReply("ENOTFOUND")))))

  it.effect("has outcome not-sent if all attempts that were sent got 429", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* fails(deleted), { _tag: "TransportError", outcome: "not-sent", code: "ECONNREFUSED" })
    }).pipe(Effect.provide(scripted(Testing.reply({ status: 429 }), refused, refused, refused))))

  it.effect("keeps the response of an attempt that may have had an effect, though a later one gets no token", () =>
    Effect.gen(function*() {
      let left = 1
      const tokens = Layer.succeed(TokenProvider.TokenProvider, {
        get: Effect.suspend(() =>
          left-- > 0
            ? Effect.succeed(Redacted.make("t"))
            : new Errors.TokenError({ operation: "get", message: "None." })
        ),
        invalidate: () => Effect.void
      })
      const client = IdentityClient.layer({ baseUrl: "https://tenant.example.com" }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, tokens, Testing.layerHttp(Testing.reply({ status: 503 }))])
      )
      const error = yield* Effect.provide(fails(deleted), client)
      assert.deepInclude(error, { _tag: "UnexpectedResponse", status: 503 })
    }))

  it.effect("keeps the response of an attempt that may have had an effect", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* fails(deleted), { _tag: "UnexpectedResponse", status: 503 })
    }).pipe(Effect.provide(scripted(Testing.reply({ status: 503 }), refused, refused, refused))))

  it.effect("follows the policy where a change is undefined", () =>
    Effect.gen(function*() {
      yield* fails(Retry.withPolicy(deleted, { attempts: undefined, totalTime: undefined }))
      assert.lengthOf(yield* Testing.requests, 4)
    }).pipe(Effect.provide(scripted(refused, refused, refused, refused))))
})

it.effect("a client made in an uninterruptible region can be closed", () =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Effect.uninterruptible(
      Layer.buildWithScope(scripted(Testing.reply({ status: 204 })), scope)
    )
    const remove = Effect.provide(deleteEventStream({ id }), context)
    yield* remove
    yield* Scope.close(scope, Exit.void)
    assert.deepInclude(yield* Effect.flip(remove), { _tag: "TransportError", code: "CLOSED" })
  }))
