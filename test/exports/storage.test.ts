/** One request to the storage: what is sent, what each head of a response means, redirects, and failures. */
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Fiber, Stream, TestClock } from "effect"
import { request } from "../../src/internal/exports/storage.js"
import { requestError } from "../support/httpErrors.js"

const link = new URL("https://storage.example.com/f.gz?signature=s")

/** A client that responds by this function, and the requests that it got. */
const storage = (respond: (url: string, nth: number) => Response) => {
  const requests: Array<HttpClientRequest.HttpClientRequest> = []
  const client = HttpClient.make((request) =>
    Effect.sync(() => HttpClientResponse.fromWeb(request, respond(request.url, requests.push(request) - 1)))
  )
  return { client, requests }
}

/** The result of a request to which a storage responds so. */
const partOf = (response: () => Response, from = 0) => request(storage(response).client, link, from)

const failureOf = (response: () => Response, from = 0) => Effect.flip(partOf(response, from))

const responding = (status: number, headers: Record<string, string> = {}, body: string | null = "abc") => () =>
  new Response(body, { status, headers })

const ranged = (range: string) => responding(206, { "content-range": range })

/** A body that breaks after some bytes. */
const breaking = (error: Error) => () => {
  let isFirst = true
  return new Response(
    new ReadableStream({
      pull: (controller) => {
        if (isFirst) controller.enqueue(Uint8Array.of(1, 2))
        else controller.error(error)
        isFirst = false
      }
    }),
    { status: 200, headers: { "content-length": "4" } }
  )
}

describe("a request to the storage", () => {
  it.effect("asks for bytes as they are, from an offset on, and sends nothing else", () =>
    Effect.gen(function*() {
      const { client, requests } = storage(ranged("bytes 0-9/10"))
      yield* Effect.ignore(request(client, link, 0))
      yield* Effect.ignore(request(client, link, 12_345))
      const sizes = requests.map(({ headers, method, url }, nth) => {
        const { range = "", ...rest } = headers
        assert.deepStrictEqual({ method, url }, { method: "GET", url: link.href })
        assert.deepStrictEqual({ ...rest }, { accept: "*/*", "accept-encoding": "identity" })
        const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? []
        assert.strictEqual(Number(first), [0, 12_345][nth])
        return Number(last) + 1 - Number(first)
      })
      assert.strictEqual(sizes[0], sizes[1])
      assert.isAbove(sizes[0] ?? 0, 0)
      assert.strictEqual((sizes[0] ?? 0) % 1024, 0)
    }))

  it.live("gives the bytes of a part", () =>
    Effect.gen(function*() {
      const { body, ...part } = yield* partOf(responding(206, { "content-range": "bytes 5-7/20", etag: "\"x\"" }), 5)
      assert.deepStrictEqual(part, { start: 5, end: 8, total: 20, etag: "\"x\"" })
      const chunks = Chunk.toReadonlyArray(yield* Stream.runCollect(body))
      assert.strictEqual(Buffer.concat(chunks).toString(), "abc")
    }))
})

describe("a part", () => {
  it.effect.each<readonly [string, number, object]>([
    ["bytes 0-9/10", 0, { start: 0, end: 10, total: 10 }],
    ["bytes 9-9/10", 9, { start: 9, end: 10, total: 10 }],
    ["bytes 3-5/10", 3, { start: 3, end: 6, total: 10 }],
    ["bytes 3-5/123456789012345", 3, { start: 3, end: 6, total: 123_456_789_012_345 }]
  ])("is that of the range %s", ([range, from, expected]) =>
    Effect.gen(function*() {
      assert.deepInclude(yield* partOf(ranged(range), from), { ...expected, etag: undefined })
    }))

  it.effect.each<readonly [string, number]>([
    ["bytes 1-9/10", 0],
    ["bytes 0-9/10", 1],
    ["bytes 5-4/10", 5],
    ["bytes 5-3/10", 5],
    ["bytes 0-10/10", 0],
    ["bytes 0-11/10", 0],
    ["bytes 0-9/*", 0],
    ["bytes */10", 0],
    ["0-9/10", 0],
    ["xbytes 0-9/10", 0],
    ["bytes 0-9/10x", 0],
    ["bytes 0-9/1234567890123456", 0],
    ["bytes 0-1234567890123456/12345678901234567", 0],
    ["", 0]
  ])("of the range %s is not what was asked for from %s on", ([range, from]) =>
    Effect.gen(function*() {
      assert.deepInclude(yield* failureOf(ranged(range), from), {
        _tag: "ExportError",
        reason: "length",
        message: "the storage sent another part of the file than was asked for",
        status: 206
      })
    }))

  it.effect("has to have a range", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* failureOf(responding(206)), { reason: "length", status: 206 })
    }))
})

describe("a whole file", () => {
  it.effect.each<readonly [Record<string, string>, number | undefined]>([
    [{ "content-length": "7" }, 7],
    [{ "content-length": "0" }, 0],
    [{ "content-length": "123456789012345" }, 123_456_789_012_345],
    [{ "content-length": "1234567890123456" }, undefined],
    [{ "content-length": "7x" }, undefined],
    [{ "content-length": "x7" }, undefined],
    [{ "content-length": "1e3" }, undefined],
    [{ "content-length": "-7" }, undefined],
    [{ "content-length": "7", "content-encoding": "gzip" }, undefined],
    [{}, undefined]
  ])("has the length that its head tells: %o", ([headers, total]) =>
    Effect.gen(function*() {
      assert.deepInclude(yield* partOf(responding(200, headers), 5), { start: 0, end: total, total, etag: undefined })
    }))

  it.effect.each(["text/html", "Text/HTML; charset=utf-8", "text/html;charset=x"])(
    "is no web page (%s), also in parts",
    (type) =>
      Effect.gen(function*() {
        for (const status of [200, 206]) {
          const headers = { "content-type": type, "content-range": "bytes 0-2/3" }
          assert.deepInclude(yield* failureOf(responding(status, headers)), {
            _tag: "ExportError",
            reason: "not-gzip",
            message: "the storage sent a web page instead of the file",
            status
          })
        }
      })
  )

  it.effect.each(["application/gzip", "text/htmlx", "application/text/html", "text/plain"])(
    "may be %s",
    (type) =>
      Effect.gen(function*() {
        assert.propertyVal(yield* partOf(responding(200, { "content-type": type })), "start", 0)
      })
  )
})

describe("a response without the file", () => {
  it.effect("is final if the file is shorter than the offset", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* failureOf(responding(416), 9), {
        _tag: "ExportError",
        reason: "length",
        message: "the file in the storage is shorter than announced",
        status: 416
      })
    }))

  it.effect.each([400, 401, 403, 410])(
    "refuses the link, by the status %s, also as a web page",
    (status) =>
      Effect.gen(function*() {
        assert.deepInclude(yield* failureOf(responding(status, { "content-type": "text/html" })), {
          _tag: "Broken",
          reason: "refused",
          message: `the storage refused the link (${status})`,
          status
        })
      })
  )

  it.effect.each([201, 299, 402, 404, 429, 500, 503])(
    "is unexpected, by the status %s",
    (status) =>
      Effect.gen(function*() {
        assert.deepInclude(yield* failureOf(responding(status)), {
          _tag: "Broken",
          reason: "status",
          message: `the storage responded with ${status}`,
          status
        })
      })
  )
})

describe("a redirect", () => {
  const redirectError = {
    _tag: "ExportError",
    reason: "redirect",
    message: "the storage redirects to another host, or endlessly"
  } as const

  it.effect.each([300, 301, 302, 303, 307, 308, 399])(
    "of the status %s is followed on the same host",
    (status) =>
      Effect.gen(function*() {
        const { client, requests } = storage((_, nth) =>
          nth < 3
            ? responding(status, { location: nth === 0 ? `/${nth + 1}?a=b` : `${link.origin}/${nth + 1}` })()
            : ranged("bytes 4-5/6")()
        )
        assert.deepInclude(yield* request(client, link, 4), { start: 4, end: 6, total: 6 })
        const urls = [link.href, `${link.origin}/1?a=b`, `${link.origin}/2`, `${link.origin}/3`]
        assert.deepStrictEqual(requests.map(({ url }) => url), urls)
        assert.deepStrictEqual(new Set(requests.map(({ headers }) => headers["range"])).size, 1)
      })
  )

  it.effect("is not followed endlessly", () =>
    Effect.gen(function*() {
      const { client, requests } = storage(() => responding(302, { location: "/again" })())
      assert.deepInclude(yield* Effect.flip(request(client, link, 0)), { ...redirectError, status: 302 })
      assert.strictEqual(requests.length, 4)
    }))

  it.effect.each([
    "https://other.example.com/f.gz",
    "http://storage.example.com/f.gz",
    "https://storage.example.com:8443/f.gz",
    "//other.example.com/",
    "https://",
    undefined
  ])("to %s is not followed", (location) =>
    Effect.gen(function*() {
      const { client, requests } = storage(() => responding(302, location === undefined ? {} : { location })())
      assert.deepInclude(yield* Effect.flip(request(client, link, 0)), { ...redirectError, status: 302 })
      assert.strictEqual(requests.length, 1)
    }))

  it.effect("that the client has hidden or followed by itself is a failure", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* failureOf(() => Response.error()), { ...redirectError, status: 0 })
      const followed = () => {
        const response = new Response("abc", { status: 200, headers: { location: "/f.gz" } })
        return Object.defineProperty(response, "redirected", { value: true })
      }
      assert.deepInclude(yield* failureOf(followed), { ...redirectError, status: 200 })
    }))
})

describe("a connection to the storage", () => {
  it.effect.each<readonly [unknown, object]>([
    [
      Object.assign(new Error("secret"), { code: "ECONNREFUSED" }),
      { message: "the download broke off (ECONNREFUSED)", code: "ECONNREFUSED" }
    ],
    [new Error("secret"), { message: "the download broke off", code: undefined }]
  ])("that fails tells the code of the system: %s", ([cause, expected]) =>
    Effect.gen(function*() {
      const client = HttpClient.make((request) => Effect.fail(requestError(request, "Transport", { cause })))
      const error = yield* Effect.flip(request(client, link, 0))
      const { _tag, message, reason } = error
      const code = "code" in error ? error.code : undefined
      assert.deepStrictEqual({ _tag, reason, message, code }, { _tag: "Broken", reason: "network", ...expected })
      assert.notInclude(JSON.stringify(error), "secret")
    }))

  it.live.each<readonly [Error, object]>([
    [
      Object.assign(new Error("secret"), { code: "ECONNRESET" }),
      { message: "the download broke off (ECONNRESET)", code: "ECONNRESET" }
    ],
    [new Error("secret"), { message: "the download broke off", code: undefined }]
  ])("that breaks later tells it, too: %s", ([cause, expected]) =>
    Effect.gen(function*() {
      const { body } = yield* partOf(breaking(cause))
      const { _tag, code, message, reason } = yield* Effect.flip(Stream.runDrain(body))
      assert.deepStrictEqual({ _tag, reason, message, code }, { _tag: "Broken", reason: "network", ...expected })
    }))

  const idleError = {
    _tag: "Broken",
    reason: "network",
    message: "the storage sent nothing for a minute",
    code: "TIMEOUT"
  } as const

  it.effect("that is silent for a minute before the head is given up", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const client = HttpClient.make(() => Effect.zipRight(Deferred.succeed(asked, undefined), Effect.never))
      const fiber = yield* Effect.fork(Effect.flip(request(client, link, 0)))
      yield* Deferred.await(asked)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* Fiber.join(fiber), idleError)
    }))

  it.effect("that is silent for a minute within the body is given up", () =>
    Effect.gen(function*() {
      const { body } = yield* partOf(() => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })))
      const fiber = yield* Effect.fork(Effect.flip(Stream.runDrain(body)))
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* Fiber.join(fiber), idleError)
    }))
})
