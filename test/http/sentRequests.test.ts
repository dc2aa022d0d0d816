/** Requests as they are sent over each transport, with the platform's options that a user has set. */
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, FiberRef, Layer, Option, TestClock } from "effect"
import { readFileSync } from "node:fs"
import {
  createUsersExport,
  deleteEventStream,
  IdentityClient,
  listActionVersions,
  RateLimiter,
  Retry
} from "../../src/index.js"
import * as Exchange from "../../src/internal/http/exchange.js"
import * as Timeouts from "../../src/internal/runtime/timeouts.js"
import * as Node from "../../src/Node.js"
import * as Testing from "../../src/Testing.js"
import { forAll, isWellFormed, stringOf } from "../support/arbitraries.js"
import { baseUrl, bearer, bodyOf, over, scripted, sentOne, token } from "../support/client.js"
import { effectMajor } from "../support/effectMajor.js"
import { operations, sample } from "../support/operations.js"
import { rawServer, responseBytes } from "../support/rawServer.js"

const id = "est_1234567890123456789012"
const bare = { id }
const plain = HttpClientRequest.get(baseUrl)

const networks: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["undici", NodeHttpClient.layerUndici],
  ["fetch", FetchHttpClient.layer],
  ["lean", Layer.orDie(Node.layerHttpClient)]
]

const needs = Layer.mergeAll(RateLimiter.layerUnlimited, bearer)

describe("a request", () => {
  it.effect("has the version of the package in User-Agent", () =>
    Effect.gen(function*() {
      const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
        version: string
      }
      const { headers } = yield* sentOne(deleteEventStream, bare)
      assert.strictEqual(headers["user-agent"], `effect-identity-client/${version}`)
    }))

  for (const [name, network] of networks) {
    it.scopedLive(`over ${name} consists of what was built and nothing else`, () =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.write(responseBytes(500)))
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
          // Some platforms encode apostrophes, too.
          const received = line.replaceAll("%27", "'")
          assert.strictEqual(received, `${built.method} /api/v2${built.url.slice(baseUrl.length)} HTTP/1.1`)
          assert.strictEqual(body, bodyOf(built) ?? "")
          assert.strictEqual(headers.authorization, `Bearer ${token}`)
          assert.strictEqual(headers["content-type"], bodyOf(built) === undefined ? undefined : "application/json")
          assert.strictEqual(headers.accept, "application/json")
          assert.match(headers["user-agent"] ?? "", /^effect-identity-client\//)
          assert.deepStrictEqual(Object.keys(headers).filter((header) => ![...own, ...transport].includes(header)), [])
        }
      }))

    it.scopedLive(`over ${name} carries any characters, in JSON and as a form`, () =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.write(responseBytes(500)))
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

  it.scopedLive("keeps a user's RequestInit", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((_, socket) => socket.write(responseBytes(200)))
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
    "over undici gets a response that has ended with its connection before it is read, framed by %s, of %d KiB",
    ([framing, size]) =>
      Effect.gen(function*() {
        const page = JSON.stringify({ versions: [], page: 0, per_page: 50, total: 0 })
        const body = page.padEnd(size * 1024) // a socket gives 64 KiB at once: undici would pause and then see the end
        const server = yield* rawServer((_, socket) => {
          const length = framing === "content-length" ? { [framing]: String(body.length) } : {}
          socket.write(responseBytes(200, { "content-type": "application/json", connection: "close", ...length }))
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
    [Infinity, undefined, Number.MAX_SAFE_INTEGER]
  ]

  // Effect 4 has undici 8, which may pause.
  describe.skipIf(effectMajor > 3)("over undici 7", () => {
    it.effect.each(rooms)(
      "with maxBodySize %s and a user's highWaterMark of %s, pauses at %s bytes",
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
  })

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
    "keeps a user's options of undici that %s is provided with",
    ([, network]) =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.write(responseBytes(200)))
        yield* Effect.provide(deleteEventStream(bare), over(network, server.url))
        assert.strictEqual(server.requests[0]?.headers["connection"], "close")
      })
  )

  it.scopedLive("keeps a user's RequestInit that the layer is provided with", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((_, socket) => socket.write(responseBytes(302, { location: "/elsewhere" })))
      const network = FetchHttpClient.layer.pipe(
        Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { mode: "same-origin", redirect: "follow" }))
      )
      const error = yield* Effect.flip(Effect.provide(deleteEventStream(bare), over(network, server.url)))
      assert.deepInclude(error, { _tag: "UnexpectedResponse" })
      assert.deepStrictEqual(server.requests.map(({ headers }) => headers["sec-fetch-mode"]), ["same-origin"])
    }))

  it.effect("follows no redirect, whatever a user's RequestInit says", () =>
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

  /** Sends a request within an hour. */
  const sendOver = (client: HttpClient.HttpClient) =>
    Effect.flatMap(Timeouts.make, (timeouts) =>
      Effect.uninterruptible(
        Exchange.make(client, 10)(HttpClientRequest.get(baseUrl), () => 10, { timeouts, millis: 3_600_000 })
      ))

  it.scoped.each<readonly [string, Effect.Effect<HttpClientResponse.HttpClientResponse>]>([
    ["gets a response", Effect.sync(() => HttpClientResponse.fromWeb(plain, new Response(null)))],
    ["dies", Effect.die("broken")],
    ["is interrupted", Effect.interrupt]
  ])("leaves no setting in its caller's fiber when it %s", ([, outcome]) =>
    Effect.gen(function*() {
      const held = Effect.map(
        Effect.all([FiberRef.get(HttpClient.currentTracerDisabledWhen), FiberRef.get(FiberRef.currentContext)]),
        ([isDisabled, context]) => [isDisabled(plain), Context.getOption(context, FetchHttpClient.RequestInit)]
      )
      const seen: Array<unknown> = []
      const client = HttpClient.make(() =>
        Effect.flatMap(held, (found) => {
          seen.push(found)
          return outcome
        })
      )
      const before = yield* held
      yield* Effect.exit(sendOver(client))
      assert.deepStrictEqual(seen, [[true, Option.some({ redirect: "manual" })]])
      assert.deepStrictEqual(yield* held, before)
      assert.deepStrictEqual(before, [false, Option.none()])
    }))

  it.scoped("ends its caller's fiber if that is interrupted", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(
        Effect.zipRight(Effect.exit(sendOver(HttpClient.make(() => Effect.never))), Effect.yieldNow())
      )
      yield* Effect.yieldNow()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
    }))

  it.effect("is retried after 429, but not with Retry.withoutRetries", () =>
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
