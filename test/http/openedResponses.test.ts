/** Tests of responses over a client of the platform: those left open, those that are events, and redirects that a client followed. */
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, FiberRef, Option, Stream } from "effect"
import * as Exchange from "../../src/internal/http/exchange.js"
import * as Timeouts from "../../src/internal/runtime/timeouts.js"
import { requestError, responseError } from "../support/httpErrors.js"

const url = new URL("https://files.example.com/part?name=a+b%2Fc&sig=x%3D")
const plain = HttpClientRequest.get(url.href)

/** Opens a response of a client that responds in this way. */
const openFrom = (respond: Parameters<typeof HttpClient.make>[0]) =>
  Exchange.open(HttpClient.make(respond), url, { range: "bytes=0-9" }, 100)

const okTo = (request: HttpClientRequest.HttpClientRequest) =>
  HttpClientResponse.fromWeb(request, new Response("{}", { headers: { "content-type": "application/json" } }))

/** Whether spans are off, and the options of `fetch`, as the current fiber sees them. */
const settings = Effect.map(
  Effect.all([FiberRef.get(HttpClient.currentTracerDisabledWhen), FiberRef.get(FiberRef.currentContext)]),
  ([isDisabled, context]) => [isDisabled(plain), Context.getOption(context, FetchHttpClient.RequestInit)]
)

describe("a response that is opened", () => {
  it.effect.each([["ECONNREFUSED", "not-sent"], ["ECONNRESET", "unknown"]] as const)(
    "that does not come fails with the code %s and the outcome %s",
    ([code, outcome]) =>
      Effect.gen(function*() {
        const { _tag, ...found } = yield* Effect.flip(
          openFrom((request) => Effect.fail(requestError(request, "Transport", { cause: { code } })))
        )
        assert.strictEqual(_tag, "NoResponse")
        assert.deepInclude(found, { outcome, code })
      })
  )

  it.effect("is to the URL and the headers as they are given", () =>
    Effect.gen(function*() {
      const requests: Array<unknown> = []
      const { body: _, headers, ...rest } = yield* openFrom((request) =>
        Effect.sync(() => {
          requests.push({ headers: { ...request.headers }, method: request.method, url: request.url })
          return okTo(request)
        })
      )
      assert.deepStrictEqual(requests, [{ headers: { range: "bytes=0-9" }, method: "GET", url: url.href }])
      assert.deepStrictEqual<object>({ headers: { ...headers }, ...rest }, {
        headers: { "content-type": "application/json" },
        status: 200,
        redirected: false
      })
    }))

  it.effect("has its body still to be read", () =>
    Effect.gen(function*() {
      const { body } = yield* openFrom((request) => Effect.sync(() => okTo(request)))
      assert.strictEqual(yield* Stream.mkString(Stream.decodeText(body)), "{}")
    }))

  it.effect("is requested without a span and without redirects, and leaves nothing of that in its caller's fiber", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const before = yield* settings
      yield* openFrom((request) =>
        Effect.map(settings, (found) => {
          seen.push(found)
          return okTo(request)
        })
      ).pipe(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "follow", cache: "no-store" }))
      assert.deepStrictEqual(seen, [[true, Option.some({ redirect: "manual", cache: "no-store" })]])
      assert.deepStrictEqual(yield* settings, before)
      assert.deepStrictEqual(before, [false, Option.none()])
    }))
})

describe("a response", () => {
  const rows: ReadonlyArray<
    readonly [string, boolean, (request: HttpClientRequest.HttpClientRequest) => HttpClientResponse.HttpClientResponse]
  > = [
    ["the request itself", false, okTo],
    ["a copy with another header", false, (request) => okTo(HttpClientRequest.setHeader(request, "x-a", "b"))],
    ["another path", true, (request) => okTo(HttpClientRequest.setUrl(request, "https://files.example.com/other"))],
    ["another query beside the URL", true, (request) => okTo(HttpClientRequest.setUrlParam(request, "a", "b"))],
    ["what is no URL", true, (request) => okTo(HttpClientRequest.setUrl(request, "https://"))],
    ["a request, and no more,", false, (request) => Object.assign(okTo(request), { original: null })],
    [
      "another URL, as only the response of fetch says,",
      true,
      (request) => Object.assign(okTo(request), { original: { source: { redirected: true } } })
    ]
  ]
  it.effect.each(rows)("to %s: redirected is %s", ([, redirected, respond]) =>
    Effect.gen(function*() {
      const found = yield* openFrom((request) => Effect.sync(() => respond(request)))
      assert.deepStrictEqual([found.status, found.redirected], [200, redirected])
    }))
})

/** Sends a request over this client within an hour. Gives the response, and how often its bytes were given as events. */
const send = (respond: Parameters<typeof HttpClient.make>[0]) =>
  Effect.gen(function*() {
    const timeouts = yield* Timeouts.make
    const exchange = Exchange.make(HttpClient.make(respond), 100, true)
    const { body, events, headers, ...rest } = yield* Effect.uninterruptible(
      exchange(plain, () => 100, { timeouts, millis: 3_600_000 })
    )
    const text = typeof body === "string" ? body : new TextDecoder().decode(body)
    return { given: events === undefined ? 0 : 1, response: { body: text, headers: { ...headers }, ...rest } }
  })

describe("a response whose events are awaited", () => {
  const text = "data: 1\n\n"
  const rows: ReadonlyArray<readonly [isEvents: boolean, status: number, type: string, redirected: boolean]> = [
    [true, 200, "text/event-stream", false],
    [true, 201, "Text/Event-Stream; charset=utf-8", false],
    [false, 200, "text/event-streams", false],
    [false, 200, "multipart/mixed; type=text/event-stream", false],
    [false, 200, "text/event-stream", true],
    [false, 404, "text/event-stream", false],
    [false, 404, "text/event-stream", true]
  ]
  it.scoped.each(rows)(
    "is left unread: %s for status %s of %s, redirected %s",
    ([isEvents, status, type, redirected]) =>
      Effect.gen(function*() {
        const headers = { "content-type": type }
        const { given, response } = yield* send((request) =>
          Effect.sync(() => {
            const to = redirected ? HttpClientRequest.setUrl(request, "https://other.example.com/") : request
            return HttpClientResponse.fromWeb(to, new Response(text, { status, headers }))
          })
        )
        assert.strictEqual(given, isEvents ? 1 : 0)
        assert.deepStrictEqual<object>(response, {
          status,
          headers,
          redirected,
          body: isEvents ? "" : text,
          completeness: "complete"
        })
      })
  )
})

it.scoped.each<readonly [number, string]>([[200, ""], [500, "{\"a\""]])(
  "small JSON of a response with status %d whose connection breaks is read as %j",
  ([status, body]) =>
    Effect.gen(function*() {
      const headers = { "content-type": "application/json", "content-length": "9" }
      const { response } = yield* send((request) => {
        const error = responseError(request, "Decode", { cause: { code: "ECONNRESET" } })
        const stream = Stream.concat(Stream.make(new TextEncoder().encode("{\"a\"")), Stream.fail(error))
        // sound: nothing else of it is read
        return Effect.succeed({ request, status, headers, stream, arrayBuffer: Effect.fail(error) } as never)
      })
      assert.deepStrictEqual<object>(response, {
        status,
        headers,
        redirected: false,
        body,
        completeness: "interrupted"
      })
    })
)
