/** What goes over the wire, and what one call may set: addresses, headers, bodies, time limits. */
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  Config,
  ConfigProvider,
  Context,
  Effect,
  Either,
  Exit,
  Fiber,
  FiberId,
  FiberRef,
  FiberStatus,
  Layer,
  Option,
  Schema,
  Stream,
  TestClock
} from "effect"
import { readFileSync } from "node:fs"
import {
  createUsersExport,
  deleteEventStream,
  Errors,
  IdentityClient,
  listActionVersions,
  Operation,
  RateLimiter,
  redeliverEvent,
  Retry,
  updateTokenExchangeProfile
} from "../../src/index.js"
import * as Exchange from "../../src/internal/http/exchange.js"
import * as Node from "../../src/Node.js"
import * as Testing from "../../src/Testing.js"
import { forAll, isWellFormed, stringOf } from "../support/arbitraries.js"
import { baseUrl, bearer, bodyOf, failed, over, scripted, sent, sentOne, silent, token } from "../support/client.js"
import { operations, sample, type Subject } from "../support/operations.js"
import { permit } from "../support/permits.js"
import { answer, rawServer } from "../support/rawServer.js"

const id = "est_1234567890123456789012"
const bare = { id }
const plain = HttpClientRequest.get(baseUrl)

const networks: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["undici", NodeHttpClient.layerUndici],
  ["fetch", FetchHttpClient.layer],
  ["lean", Layer.orDie(Node.layerHttpClient())]
]

const needs = Layer.mergeAll(RateLimiter.layerUnlimited, bearer)

/** Builds a client at this address, and tells to which URL a deletion goes. */
const reaches = (options: IdentityClient.Options) =>
  Effect.gen(function*() {
    yield* deleteEventStream(bare)
    return (yield* Testing.requests).map(({ url }) => url)
  }).pipe(
    Effect.provide(
      IdentityClient.layer(options).pipe(Layer.provide(needs), Layer.provideMerge(Testing.layerHttp(Testing.reply({}))))
    )
  )

describe("the address of a client", () => {
  it.effect.each([
    ["https://tenant.example.com/api/v2", "https://tenant.example.com/api/v2"],
    ["https://tenant.example.com/api/v2///", "https://tenant.example.com/api/v2"],
    ["https://tenant.example.com", "https://tenant.example.com"],
    ["HTTPS://Tenant.Example.com:8443/a/../b", "https://tenant.example.com:8443/b"],
    ["http://localhost:3000/api/v2", "http://localhost:3000/api/v2"],
    ["http://tenant.localhost/api/v2", "http://tenant.localhost/api/v2"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000"],
    ["http://127.9.8.7", "http://127.9.8.7"],
    ["http://127.255.10.100", "http://127.255.10.100"],
    ["http://[::1]:3000", "http://[::1]:3000"]
  ])("%s is accepted", ([baseUrl, base]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* reaches({ baseUrl: baseUrl ?? "" }), [`${base}/event-streams/${id}`])
    }))

  it.effect.each([
    ["", "expected an absolute URL"],
    ["tenant.example.com", "expected an absolute URL"],
    ["/api/v2", "expected an absolute URL"],
    ["ftp://tenant.example.com", "expected http or https"],
    ["file:///etc/passwd", "expected http or https"],
    ["https://user@tenant.example.com", "expected a URL without credentials"],
    ["https://:hunter22@tenant.example.com", "expected a URL without credentials"],
    ["https://tenant.example.com/api/v2?a=b", "expected a URL without query and fragment"],
    ["https://tenant.example.com/api/v2#a", "expected a URL without query and fragment"],
    ["https://tenant.example.com/api/v2?", "expected a URL without query and fragment"],
    ["https://tenant.example.com/api/v2#", "expected a URL without query and fragment"],
    [
      "http://tenant.example.com",
      "expected https, because http would send secrets unencrypted (allowInsecure permits http)"
    ],
    [
      "http://127.0.0.1.example.com",
      "expected https, because http would send secrets unencrypted (allowInsecure permits http)"
    ],
    [
      "http://localhost.example.com",
      "expected https, because http would send secrets unencrypted (allowInsecure permits http)"
    ]
  ])("%j is refused, and the message does not repeat it", ([baseUrl = "", message = ""]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(reaches({ baseUrl }))
      assert.instanceOf(error, Errors.InvalidInput)
      assert.deepInclude(error, { operation: "IdentityClient.layer", issues: [{ path: "baseUrl", message }] })
      assert.strictEqual(error.message, `baseUrl: ${message}`)
    }))

  it.effect("plain http to another host is accepted if it is asked for", () =>
    Effect.gen(function*() {
      const urls = yield* reaches({ baseUrl: "http://tenant.example.com", allowInsecure: true })
      assert.deepStrictEqual(urls, [`http://tenant.example.com/event-streams/${id}`])
    }))

  it.effect.each([
    ["ftp://tenant.example.com", "expected http or https"],
    ["http://user@tenant.example.com", "expected a URL without credentials"]
  ])("allowInsecure allows nothing else: %s", ([baseUrl = "", message = ""]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(reaches({ baseUrl, allowInsecure: true }))
      assert.strictEqual(error.message, `baseUrl: ${message}`)
    }))

  const configured = (entries: ReadonlyArray<readonly [string, string]>) =>
    Effect.zipRight(deleteEventStream(bare), Testing.requests).pipe(
      Effect.provide(
        IdentityClient.layerConfig({
          baseUrl: Config.string("BASE_URL"),
          allowInsecure: Config.withDefault(Config.boolean("INSECURE"), undefined)
        }).pipe(Layer.provide(needs), Layer.provideMerge(Testing.layerHttp(Testing.reply({}))))
      ),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(entries)))
    )

  it.effect("comes from a Config with layerConfig", () =>
    Effect.gen(function*() {
      const [request] = yield* configured([["BASE_URL", "http://tenant.example.com"], ["INSECURE", "true"]])
      assert.strictEqual(request?.url, `http://tenant.example.com/event-streams/${id}`)
    }))

  it.effect("is checked with layerConfig as well", () =>
    Effect.gen(function*() {
      assert.instanceOf(
        yield* Effect.flip(configured([["BASE_URL", "http://tenant.example.com"]])),
        Errors.InvalidInput
      )
    }))

  it.effect("a setting that is missing is a ConfigError of layerConfig", () =>
    Effect.gen(function*() {
      assert.include(String(yield* Effect.flip(configured([]))), "BASE_URL")
    }))
})

describe("withHeaders", () => {
  const headersOf = (headers: Record<string, string>) =>
    Effect.map(IdentityClient.withHeaders(sentOne(deleteEventStream, bare), headers), (request) => request.headers)

  it.effect("adds headers", () =>
    Effect.gen(function*() {
      const headers = yield* headersOf({ "X-Correlation-Id": "7", "accept-language": "de" })
      assert.deepStrictEqual([headers["x-correlation-id"], headers["accept-language"]], ["7", "de"])
    }))

  it.effect("replaces Accept and User-Agent", () =>
    Effect.gen(function*() {
      const headers = yield* headersOf({ Accept: "text/plain", "User-Agent": "mine/1" })
      assert.deepStrictEqual([headers.accept, headers["user-agent"]], ["text/plain", "mine/1"])
    }))

  it.effect.each(["authorization", "Authorization", "AUTHORIZATION"])(
    "%s stays the client's",
    (name) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* headersOf({ [name]: "Bearer mine" })).authorization, `Bearer ${token}`)
      })
  )

  it.effect("the content type of a body stays the client's; without a body it is a header like any other", () =>
    Effect.gen(function*() {
      const request = yield* IdentityClient.withHeaders(sentOne(createUsersExport, {}), {
        "content-type": "text/plain"
      })
      assert.strictEqual(request.headers["content-type"], "application/json")
      assert.strictEqual((yield* headersOf({ "content-type": "text/plain" }))["content-type"], "text/plain")
    }))

  it.effect("inner headers join and replace outer ones", () =>
    Effect.gen(function*() {
      const { headers } = yield* sentOne(deleteEventStream, bare).pipe(
        IdentityClient.withHeaders({ "x-a": "inner" }),
        IdentityClient.withHeaders({ "X-A": "outer", "x-b": "outer" })
      )
      assert.deepStrictEqual([headers["x-a"], headers["x-b"]], ["inner", "outer"])
    }))

  it.effect("holds for its own effect alone", () =>
    Effect.gen(function*() {
      yield* headersOf({ "x-a": "b" })
      assert.notProperty((yield* sentOne(deleteEventStream, bare)).headers, "x-a")
    }))

  it.effect.each([
    ["x-a", "a\r\nx-evil: b", "headers.x-a"],
    ["x-a", "a\nb", "headers.x-a"],
    ["x-a", "a\0", "headers.x-a"],
    ["x-a", "\u20AC", "headers.x-a"],
    ["X A", "b", "headers.x a"],
    ["x-a\r\nx-evil", "b", "headers.x-a\r\nx-evil"],
    ["x:a", "b", "headers.x:a"],
    ["", "b", "headers."]
  ])(
    "the header %j: %j is InvalidInput that names it, and nothing is sent",
    ([name = "", value = "", path = ""]) =>
      Effect.gen(function*() {
        const error = yield* IdentityClient.withHeaders(failed(deleteEventStream, bare, Testing.reply({})), {
          [name]: value
        })
        assert.instanceOf(error, Errors.InvalidInput)
        assert.deepStrictEqual((error as Errors.InvalidInput).issues, [{
          path,
          message: "expected a valid HTTP header"
        }])
        assert.lengthOf(yield* IdentityClient.withHeaders(sent(deleteEventStream, bare), { [name]: value }), 0)
      })
  )

  it.effect.each(["a b", "a\tb", "é", "", "!~"])("the value %j is a valid header", (value) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* headersOf({ "x-a": value }))["x-a"], value)
    }))
})

describe("withFormBody", () => {
  const form = (operation: Subject, input: unknown) => IdentityClient.withFormBody(sentOne(operation, input))

  it.effect("writes nested members in brackets, in their order", () =>
    Effect.gen(function*() {
      const fields = [{ name: "email", export_as: "E-mail & more" }, { name: "user_metadata.größe" }]
      const request = yield* form(createUsersExport, { format: "csv", limit: 10, fields })
      assert.strictEqual(
        decodeURIComponent(bodyOf(request) ?? ""),
        "format=csv&limit=10&fields[0][name]=email&fields[0][export_as]=E-mail & more&fields[1][name]=user_metadata.größe"
      )
    }))

  it.effect("percent-encodes names and values", () =>
    Effect.gen(function*() {
      const request = yield* form(createUsersExport, { fields: [{ name: "a=b&c+d %é" }] })
      assert.strictEqual(bodyOf(request), "fields%5B0%5D%5Bname%5D=a%3Db%26c%2Bd%20%25%C3%A9")
    }))

  it.effect("of nothing is an empty form that says that it is one", () =>
    Effect.gen(function*() {
      const request = yield* form(createUsersExport, {})
      assert.deepStrictEqual(
        [bodyOf(request), request.headers["content-type"]],
        ["", "application/x-www-form-urlencoded"]
      )
    }))

  it.effect("adds no body to an operation that has none", () =>
    Effect.gen(function*() {
      const request = yield* form(redeliverEvent, { id, event_id: id })
      assert.deepStrictEqual([request.body._tag, request.headers["content-type"]], ["Empty", undefined])
    }))

  it.effect("refuses an empty list by name, and nothing is sent", () =>
    Effect.gen(function*() {
      const error = yield* IdentityClient.withFormBody(failed(createUsersExport, { fields: [] }, Testing.reply({})))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues, [
        { path: "fields", message: "a form cannot express null or an empty list" }
      ])
      assert.lengthOf(yield* IdentityClient.withFormBody(sent(createUsersExport, { fields: [] })), 0)
    }))

  it.effect("an empty list is as good as any in JSON", () =>
    Effect.gen(function*() {
      assert.strictEqual(bodyOf(yield* sentOne(createUsersExport, { fields: [] })), "{\"fields\":[]}")
    }))

  it.effect("holds for its own effect alone", () =>
    Effect.gen(function*() {
      yield* form(createUsersExport, {})
      assert.strictEqual((yield* sentOne(createUsersExport, {})).headers["content-type"], "application/json")
    }))

  const upload = Operation.make("upload", {
    method: "PUT",
    path: "/things/:part",
    params: { part: Schema.String },
    query: {
      tags: Schema.optional(Schema.Array(Schema.String)),
      filter: Schema.optional(Schema.NullOr(Schema.String))
    },
    payload: {
      map: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
      text: Schema.optional(Schema.String)
    },
    scope: "update:things",
    idempotent: true,
    error: [Errors.RateLimited]
  })

  it.effect.each(
    [
      [{ map: { a: null } }, "map[a]", "a form cannot express null or an empty list"],
      [{ map: { a: { b: [] } } }, "map[a][b]", "a form cannot express null or an empty list"],
      [{ text: "\uD800" }, "text", "expected well-formed Unicode"],
      [{ map: { "\uDC00": 1 } }, "map[\uDC00]", "expected well-formed Unicode"]
    ] as const
  )("what a form cannot express is refused by its path: %#", ([members, path, message]) =>
    Effect.gen(function*() {
      const error = yield* IdentityClient.withFormBody(failed(upload, { part: "x", ...members }, Testing.reply({})))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues, [{ path, message }])
    }))

  it.effect("a query is written as a form is, also in a call with JSON", () =>
    Effect.gen(function*() {
      const { url } = yield* sentOne(upload, { part: "x", tags: ["a b", "ü"], filter: "a=b" })
      assert.isTrue(url.endsWith("/things/x?tags%5B0%5D=a%20b&tags%5B1%5D=%C3%BC&filter=a%3Db"))
    }))

  it.effect.each([[{ tags: [] }, "tags"], [{ filter: null }, "filter"], [{ filter: "\uD800" }, "filter"]] as const)(
    "a query that cannot be written is refused by name: %#",
    ([query, path]) =>
      Effect.gen(function*() {
        const error = yield* failed(upload, { part: "x", ...query }, Testing.reply({}))
        assert.deepStrictEqual((error as Errors.InvalidInput).issues.map((issue) => issue.path), [path])
      })
  )

  it.effect("a query of which nothing is set leaves no question mark", () =>
    Effect.gen(function*() {
      assert.notInclude((yield* sentOne(listActionVersions, { actionId: "x", page: undefined })).url, "?")
    }))

  it.effect("JSON expresses what a form cannot", () =>
    Effect.gen(function*() {
      const request = yield* sentOne(upload, { part: "x", map: { a: null, b: [] }, text: "\uD800" })
      assert.deepStrictEqual(JSON.parse(bodyOf(request) ?? ""), { map: { a: null, b: [] }, text: "\uD800" })
    }))
})

describe("what is refused", () => {
  const odd = () =>
    Operation.make("odd", {
      method: "POST",
      path: "/odd",
      payload: {
        code: Schema.optional(Schema.TemplateLiteral("a", Schema.Number)),
        large: Schema.optional(Schema.Literal(1n)),
        mode: Schema.optional(Schema.Literal("on", "off", 3, true, null)),
        either: Schema.optional(Schema.Union(Schema.Number, Schema.Struct({ deep: Schema.Number }))),
        tuple: Schema.optional(Schema.Tuple(Schema.String, Schema.Number)),
        node: Schema.optional(Schema.Struct({ "a-b": Schema.Number })),
        even: Schema.optional(Schema.Number.pipe(Schema.filter((n) => n % 2 === 0))),
        list: Schema.optional(Schema.Array(Schema.Struct({ x: Schema.String })))
      },
      scope: "create:odd",
      idempotent: false,
      error: [Errors.RateLimited]
    })

  it.effect.each(
    [
      [{ code: "hidden" }, "code", "expected `a${number}`"],
      [{ large: "hidden" }, "large", "expected 1n"],
      [{ mode: "hidden" }, "mode", "expected \"on\" or \"off\" or 3 or true or null"],
      [{ either: "hidden" }, "either", "expected a number or an object"],
      [{ either: { deep: "hidden" } }, "either.deep", "expected a number"],
      [{ either: {} }, "either.deep", "is missing"],
      [{ tuple: ["hidden", "hidden"] }, "tuple[1]", "expected a number"],
      [{ tuple: ["hidden"] }, "tuple[1]", "is missing"],
      [{ tuple: "hidden" }, "tuple", "expected a list"],
      [{ node: { "a-b": "hidden" } }, "node.a-b", "expected a number"],
      [{ node: "hidden" }, "node", "expected an object"],
      [{ node: null }, "node", "expected an object"],
      [{ even: 3 }, "even", "expected a number"],
      [{ list: [{ x: "fine" }, { x: 1 }] }, "list[1].x", "expected a string"],
      [{ list: [{ x: "fine", y: "hidden" }] }, "list[0].y", "unknown field"],
      [{ list: { x: "hidden" } }, "list", "expected a list"]
    ] as const
  )(
    "%#: by its path and what is expected there, never by its value",
    ([input, path, message]) =>
      Effect.gen(function*() {
        const error = (yield* failed(odd(), input, Testing.reply({}))) as Errors.InvalidInput
        assert.deepStrictEqual(error.issues, [{ path, message }])
        assert.strictEqual(error.message, `${path}: ${message}`)
      })
  )

  it.effect("all faults are told at once", () =>
    Effect.gen(function*() {
      const error = yield* failed(odd(), { mode: 4, even: 3, unknown: 1, "": 1 }, Testing.reply({}))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues.map(({ path }) => path).sort(), [
        "",
        "even",
        "mode",
        "unknown"
      ])
    }))

  it.effect("what is no object at all has a message without a path", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        ((yield* failed(odd(), "hidden", Testing.reply({}))) as Errors.InvalidInput).message,
        "expected an object"
      )
    }))

  it.effect("an operation without members takes an empty object and no other", () =>
    Effect.gen(function*() {
      const ping = Operation.make("ping", {
        method: "GET",
        path: "/ping",
        scope: "read:ping",
        idempotent: true,
        error: [Errors.RateLimited]
      })
      assert.strictEqual((yield* sentOne(ping, {})).url, `${baseUrl}/ping`)
      const error = yield* failed(ping, { a: 1, b: 2 }, Testing.reply({}))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues.map(({ path }) => path).sort(), ["a", "b"])
    }))

  it.effect("changing the input after the call changes nothing of it", () =>
    Effect.gen(function*() {
      const fields = [{ name: "email" }]
      const input = { fields }
      const limiter = Layer.succeed(RateLimiter.RateLimiter, {
        acquire: () =>
          Effect.sync(() => {
            fields[0] = { name: "changed" }
            input.fields = []
            return permit
          }),
        status: Effect.succeed([]),
        changes: Stream.empty
      })
      const client = IdentityClient.layer({ baseUrl }).pipe(Layer.provide([limiter, bearer]))
      const requests = yield* Effect.exit(createUsersExport(input)).pipe(
        Effect.zipRight(Testing.requests),
        Effect.provide(Layer.provideMerge(client, Testing.layerHttp(Testing.reply({}))))
      )
      assert.deepStrictEqual(requests.map(bodyOf), ["{\"fields\":[{\"name\":\"email\"}]}"])
    }))
})

describe("withTimeout", () => {
  const outOfTime = (call: Effect.Effect<unknown, unknown, IdentityClient.IdentityClient>) =>
    Effect.fork(Effect.flip(Effect.provide(call, over(silent))))

  it.effect("fails with TransportError, code TIMEOUT: the service may have acted", () =>
    Effect.gen(function*() {
      const fiber = yield* outOfTime(IdentityClient.withTimeout(redeliverEvent({ id, event_id: id }), "5 seconds"))
      yield* TestClock.adjust("5 seconds")
      const error = (yield* Fiber.join(fiber)) as Errors.TransportError
      assert.instanceOf(error, Errors.TransportError)
      assert.deepInclude(error, { operation: "redeliverEvent", outcome: "unknown", code: "TIMEOUT" })
      assert.strictEqual(error.message, "the service did not respond (TIMEOUT)")
    }))

  it.effect("fails not before its time", () =>
    Effect.gen(function*() {
      const fiber = yield* outOfTime(deleteEventStream(bare).pipe(IdentityClient.withTimeout("5 seconds")))
      yield* TestClock.adjust(4999)
      assert.isTrue(FiberStatus.isSuspended(yield* Fiber.status(fiber)))
      yield* Fiber.interruptAsFork(fiber, FiberId.none)
    }))

  it.effect("without it 30 seconds limit a call", () =>
    Effect.gen(function*() {
      const fiber = yield* outOfTime(Retry.withoutRetries(deleteEventStream(bare)))
      yield* TestClock.adjust("29999 millis")
      assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "TransportError", code: "TIMEOUT" })
    }))

  it.effect("of no time sends nothing", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(IdentityClient.withTimeout(redeliverEvent({ id, event_id: id }), 0))
      assert.deepInclude(error, { _tag: "TransportError", outcome: "not-sent", code: "TIMEOUT" })
      assert.lengthOf(yield* Testing.requests, 0)
    }).pipe(Retry.withoutRetries, Effect.provide(scripted())))

  it.effect("the inner of two limits holds", () =>
    Effect.gen(function*() {
      const fiber = yield* outOfTime(
        deleteEventStream(bare).pipe(
          Retry.withoutRetries,
          IdentityClient.withTimeout("1 second"),
          IdentityClient.withTimeout("1 hour")
        )
      )
      yield* TestClock.adjust("1 second")
      assert.instanceOf(yield* Fiber.join(fiber), Errors.TransportError)
    }))

  it.effect("counts neither the wait for the limiter nor the one between attempts", () =>
    Effect.gen(function*() {
      const limiter = Layer.succeed(RateLimiter.RateLimiter, {
        acquire: () => Effect.as(Effect.sleep("1 minute"), permit),
        status: Effect.succeed([]),
        changes: Stream.empty
      })
      const network = Testing.layerHttp(
        Testing.reply({ status: 429, headers: { "retry-after": "30" } }),
        Testing.reply({})
      )
      const client = IdentityClient.layer({ baseUrl }).pipe(Layer.provide([limiter, bearer]), Layer.provide(network))
      const fiber = yield* Effect.fork(
        Effect.either(IdentityClient.withTimeout(deleteEventStream(bare), "1 second")).pipe(Effect.provide(client))
      )
      yield* TestClock.adjust("10 minutes")
      assert.isTrue(Either.isRight(yield* Fiber.join(fiber)))
    }))
})

describe("withResponse", () => {
  const told = <A, E>(
    call: Effect.Effect<A, E, IdentityClient.IdentityClient>,
    ...replies: ReadonlyArray<Testing.Reply>
  ) => Effect.provide(IdentityClient.withResponse(call), scripted(...replies))

  it.effect("gives status and headers besides the value", () =>
    Effect.gen(function*() {
      const { response, value } = yield* told(
        updateTokenExchangeProfile({ id: "x", name: "A name" }),
        Testing.reply({ status: 201, headers: { "X-Request-Id": "7" }, body: { id: "x" } })
      )
      const { headers, status } = Option.getOrThrow(response)
      assert.deepStrictEqual([value, status, headers["x-request-id"]], [{ id: "x" }, 201, "7"])
    }))

  it.effect("gives nothing more of the answer", () =>
    Effect.gen(function*() {
      const { response } = yield* told(deleteEventStream(bare), Testing.reply({}))
      assert.deepStrictEqual(Object.keys(Option.getOrThrow(response)).sort(), ["headers", "status"])
    }))

  it.effect("gives the last answer of an effect with many calls", () =>
    Effect.gen(function*() {
      const two = Effect.zip(deleteEventStream(bare), deleteEventStream(bare))
      const { response } = yield* told(two, Testing.reply({ status: 202 }), Testing.reply({ status: 204 }))
      assert.strictEqual(Option.getOrThrow(response).status, 204)
    }))

  it.effect("gives the answer of a failure that was caught", () =>
    Effect.gen(function*() {
      const { response } = yield* told(Effect.ignore(deleteEventStream(bare)), Testing.reply({ status: 400 }))
      assert.strictEqual(Option.getOrThrow(response).status, 400)
    }))

  it.effect("gives none if nothing was sent", () =>
    Effect.gen(function*() {
      const { response } = yield* told(Effect.ignore(deleteEventStream({ id: "short" })))
      assert.isTrue(Option.isNone(response))
    }))

  it.effect("gives the answer within another withResponse, too", () =>
    Effect.gen(function*() {
      const { response, value } = yield* told(
        IdentityClient.withResponse(deleteEventStream(bare)),
        Testing.reply({ status: 204 })
      )
      assert.deepStrictEqual(
        [Option.getOrUndefined(response)?.status, Option.getOrUndefined(value.response)?.status],
        [204, 204]
      )
    }))

  it.effect("starts anew each time it is run", () =>
    Effect.gen(function*() {
      const call = IdentityClient.withResponse(Effect.ignore(Retry.withoutRetries(deleteEventStream(bare))))
      const [first, second] = yield* Effect.all([call, call]).pipe(
        Effect.provide(scripted(Testing.reply({ status: 204 }), Testing.noReply("ECONNRESET")))
      )
      assert.deepStrictEqual([Option.isSome(first.response), Option.isSome(second.response)], [true, false])
    }))
})

describe("on the wire", () => {
  it.effect("the version in User-Agent is the package's", () =>
    Effect.gen(function*() {
      const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
        version: string
      }
      const { headers } = yield* sentOne(deleteEventStream, bare)
      assert.strictEqual(headers["user-agent"], `effect-identity-client/${version}`)
    }))

  for (const [name, network] of networks) {
    it.scopedLive(`${name}: what is sent is what was built, and nothing beside`, () =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.write(answer(500)))
        yield* Effect.forEach(operations, (operation) => Effect.exit(operation(sample(operation) as never))).pipe(
          Retry.withoutRetries,
          Effect.withSpan("a program"),
          Effect.provide(over(network, server.url))
        )
        const own = ["accept", "authorization", "content-length", "content-type", "user-agent"]
        const transport = ["host", "connection", "accept-encoding", "accept-language", "sec-fetch-mode"]
        assert.lengthOf(server.requests, operations.length)
        for (const [index, { body, headers, line }] of server.requests.entries()) {
          const operation = operations[index]!
          const built = yield* sentOne(operation, sample(operation))
          assert.strictEqual(line, `${built.method} /api/v2${built.url.slice(baseUrl.length)} HTTP/1.1`)
          assert.strictEqual(body, bodyOf(built) ?? "")
          assert.strictEqual(headers.authorization, `Bearer ${token}`)
          assert.strictEqual(headers["content-type"], bodyOf(built) === undefined ? undefined : "application/json")
          assert.strictEqual(headers.accept, "application/json")
          assert.match(headers["user-agent"] ?? "", /^effect-identity-client\//)
          assert.deepStrictEqual(Object.keys(headers).filter((header) => ![...own, ...transport].includes(header)), [])
        }
      }))

    it.scopedLive(`${name}: a body of any characters arrives as it is, in JSON and as a form`, () =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.write(answer(500)))
        yield* forAll(stringOf(10).filter(isWellFormed), (text) =>
          Effect.gen(function*() {
            const call = Effect.exit(createUsersExport({ fields: [{ name: text }] }))
            yield* call
            yield* IdentityClient.withFormBody(call)
            const [json, form] = server.requests.splice(0).map(({ body }) => body)
            assert.deepStrictEqual(JSON.parse(json ?? ""), { fields: [{ name: text }] })
            assert.deepStrictEqual([...new URLSearchParams(form)], [["fields[0][name]", text]])
          })).pipe(Effect.provide(over(network, server.url)))
      }))
  }

  it.scopedLive("a RequestInit of the user's own is kept", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((_, socket) => socket.write(answer(200)))
      yield* deleteEventStream(bare).pipe(
        Effect.provideService(FetchHttpClient.RequestInit, {
          headers: {},
          referrer: "about:client",
          mode: "same-origin",
          redirect: "follow"
        }),
        Effect.provide(over(FetchHttpClient.layer, server.url))
      )
      assert.strictEqual(server.requests[0]?.headers["sec-fetch-mode"], "same-origin")
    }))

  const late = ["content-length", "connection"].flatMap((framing) => [64, 128].map((size) => [framing, size] as const))

  it.scopedLive.each(late)(
    "undici: an answer is read that has ended with its connection by then, framed by %s, of %d KiB",
    ([framing, size]) =>
      Effect.gen(function*() {
        const page = JSON.stringify({ versions: [], page: 0, per_page: 50, total: 0 })
        const body = page.padEnd(size * 1024) // a socket gives 64 KiB at once: undici would pause and then see the end
        const server = yield* rawServer((_, socket) => {
          const length = framing === "content-length" ? { [framing]: String(body.length) } : {}
          socket.write(answer(200, { "content-type": "application/json", connection: "close", ...length }))
          setTimeout(() => socket.end(body), 20)
        })
        const busy = HttpClient.transformResponse(Effect.tap(() => Effect.sleep("100 millis")))
        const network = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, busy)).pipe(
          Layer.provide(NodeHttpClient.layerUndici)
        )
        const client = IdentityClient.layer({ baseUrl: server.url, maxBodySize: body.length }).pipe(
          Layer.provide([needs, network])
        )
        const { total } = yield* listActionVersions({ actionId: "x" }).pipe(
          IdentityClient.withTimeout("3 seconds"),
          Retry.withoutRetries,
          Effect.provide(client)
        )
        assert.strictEqual(total, 0)
      })
  )

  const rooms: ReadonlyArray<readonly [maxBodySize: number | undefined, own: number | undefined, room: number]> = [
    [undefined, undefined, 64 * 1024 * 1024 + 1],
    [1000, undefined, 64 * 1024 + 1], // so much is read of a failure
    [100_000.5, 100_001, 100_001],
    [100_000, 100_002, 100_002],
    [Infinity, undefined, Number.MAX_SAFE_INTEGER],
    [NaN, undefined, 1]
  ]

  it.effect.each(rooms)(
    "undici: where at most %s bytes are read, and the user's own mark is %s, it pauses at %s",
    ([maxBodySize, highWaterMark, room]) =>
      Effect.gen(function*() {
        const seen: Array<number | undefined> = []
        const network = HttpClient.make((request) =>
          Effect.contextWith((context: Context.Context<never>) => {
            const options = Context.getOption(
              context as Context.Context<NodeHttpClient.UndiciRequestOptions>, // sound: it need not be there
              NodeHttpClient.UndiciRequestOptions
            )
            seen.push(Option.getOrUndefined(options)?.highWaterMark)
            return HttpClientResponse.fromWeb(request, new Response(null, { status: 204 }))
          })
        )
        const client = IdentityClient.layer({ baseUrl, maxBodySize }).pipe(
          Layer.provide([needs, Layer.succeed(HttpClient.HttpClient, network)])
        )
        yield* deleteEventStream(bare).pipe(
          Effect.provide(client),
          Effect.provideService(NodeHttpClient.UndiciRequestOptions, {
            method: "GET",
            path: "/",
            ...(highWaterMark !== undefined && { highWaterMark })
          })
        )
        assert.deepStrictEqual(seen, [room])
      })
  )

  const reset = { method: "GET", path: "/", reset: true } as const

  const undicis: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
    [
      "the program",
      Layer.provideMerge(NodeHttpClient.layerUndici, Layer.succeed(NodeHttpClient.UndiciRequestOptions, reset))
    ],
    ["the layer", Layer.provide(NodeHttpClient.layerUndici, Layer.succeed(NodeHttpClient.UndiciRequestOptions, reset))],
    [
      "the client",
      Layer.effect(
        HttpClient.HttpClient,
        Effect.map(
          HttpClient.HttpClient,
          HttpClient.transformResponse(Effect.provideService(NodeHttpClient.UndiciRequestOptions, reset))
        )
      ).pipe(Layer.provide(NodeHttpClient.layerUndici))
    ]
  ]

  it.scopedLive.each(undicis)(
    "undici's options of the user's own that %s is provided with are kept",
    ([, network]) =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.write(answer(200)))
        yield* Effect.provide(deleteEventStream(bare), over(network, server.url))
        assert.strictEqual(server.requests[0]?.headers["connection"], "close")
      })
  )

  it.scopedLive("a RequestInit of the user's own that the layer is provided with is kept", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((_, socket) => socket.write(answer(302, { location: "/elsewhere" })))
      const network = FetchHttpClient.layer.pipe(
        Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { mode: "same-origin", redirect: "follow" }))
      )
      const error = yield* Effect.flip(Effect.provide(deleteEventStream(bare), over(network, server.url)))
      assert.deepInclude(error, { _tag: "UnexpectedResponse" })
      assert.deepStrictEqual(server.requests.map(({ headers }) => headers["sec-fetch-mode"]), ["same-origin"])
    }))

  it.effect("a RequestInit of the user's own does not bring redirects back", () =>
    Effect.gen(function*() {
      const seen: Array<RequestInit | undefined> = []
      const fetch: typeof globalThis.fetch = (_, init) => {
        seen.push(init)
        return Promise.resolve(new Response(null, { status: 204 }))
      }
      yield* deleteEventStream(bare).pipe(
        Effect.provide(over(FetchHttpClient.layer)),
        Effect.mapInputContext((context: Context.Context<never>) =>
          context.pipe(
            Context.add(FetchHttpClient.Fetch, fetch),
            Context.add(FetchHttpClient.RequestInit, { redirect: "follow", cache: "no-store" })
          )
        )
      )
      assert.deepStrictEqual(seen.map((init) => [init?.redirect, init?.cache]), [["manual", "no-store"]])
    }))

  it.effect.each<readonly [string, Effect.Effect<HttpClientResponse.HttpClientResponse>]>([
    ["is answered", Effect.sync(() => HttpClientResponse.fromWeb(plain, new Response(null)))],
    ["dies", Effect.die("broken")],
    ["is interrupted", Effect.interrupt]
  ])("what a request finds in its fiber is gone from another's when it %s", ([, answer]) =>
    Effect.gen(function*() {
      const held = Effect.map(
        Effect.all([FiberRef.get(HttpClient.currentTracerDisabledWhen), FiberRef.get(FiberRef.currentContext)]),
        ([isDisabled, context]) => [isDisabled(plain), Context.getOption(context, FetchHttpClient.RequestInit)]
      )
      const seen: Array<unknown> = []
      const client = HttpClient.make(() =>
        Effect.flatMap(held, (found) => {
          seen.push(found)
          return answer
        })
      )
      const before = yield* held
      const message = { method: "GET", url: baseUrl, headers: {}, body: plain.body } as const
      yield* Effect.exit(Exchange.make(client, 10)(message, () => 10))
      assert.deepStrictEqual(seen, [[true, Option.some({ redirect: "manual" })]])
      assert.deepStrictEqual(yield* held, before)
      assert.deepStrictEqual(before, [false, Option.none()])
    }))

  it.effect("a fiber that is interrupted in a request of which nothing stays goes no further", () =>
    Effect.gen(function*() {
      const exchange = Exchange.make(HttpClient.make(() => Effect.never), 10)
      const message = { method: "GET", url: baseUrl, headers: {}, body: plain.body } as const
      const fiber = yield* Effect.fork(
        Effect.zipRight(Effect.exit(exchange(message, () => 10)), Effect.yieldNow())
      )
      yield* Effect.yieldNow()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
    }))

  it.effect("a call is repeated after 429 and after nothing else, and never with Retry.none", () =>
    Effect.gen(function*() {
      const again = Testing.reply({ status: 429, headers: { "retry-after": "0" } })
      const count = (effect: Effect.Effect<unknown, unknown, IdentityClient.IdentityClient>) =>
        Effect.zipRight(Effect.exit(effect), Testing.requests).pipe(
          Effect.map((requests) => requests.length),
          Effect.provide(scripted(again, Testing.reply({})))
        )
      const repeated = yield* Effect.fork(count(deleteEventStream(bare)))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        [yield* Fiber.join(repeated), yield* count(Retry.withoutRetries(deleteEventStream(bare)))],
        [2, 1]
      )
    }))
})
