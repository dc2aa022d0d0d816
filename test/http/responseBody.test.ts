/** Bodies: size limits, decompression, and how complete they are. */
import { FetchHttpClient, Headers, HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Stream } from "effect"
import { gzipSync } from "node:zlib"
import { createUsersExport, deleteEventStream, Errors, IdentityClient, RateLimiter } from "../../src/index.js"
import { completenessOf } from "../../src/internal/http/platformErrors.js"
import { concat, isSmallJson } from "../../src/internal/http/responseBody.js"
import * as Testing from "../../src/Testing.js"
import { bearer, call, over, resultOf } from "../support/client.js"
import { responseError } from "../support/httpErrors.js"
import { rawServer } from "../support/rawServer.js"

const id = "est_1234567890123456789012"
const job = { id: "job_0000000000000001", type: "users_export", status: "pending", connection: "größe" }

const unexpected = <A, E>(result: Either.Either<A, E>) => {
  const error: unknown = Either.isLeft(result) ? result.left : result
  assert.instanceOf(error, Errors.UnexpectedResponse)
  return error as Errors.UnexpectedResponse
}

describe("isSmallJson", () => {
  const json = (length: string | undefined, more: Record<string, string> = {}) =>
    Headers.fromInput({ "content-type": "application/json", ...(length && { "content-length": length }), ...more })

  it("accepts JSON whose length is declared and within both limits", () => {
    assert.isTrue(isSmallJson(json("0"), 10))
    assert.isTrue(isSmallJson(json("10"), 10))
    assert.isTrue(isSmallJson(json("1048576", { "content-type": "application/problem+json; charset=utf-8" }), 2 ** 30))
  })

  it("refuses all else", () => {
    for (const length of [undefined, "", "a", "10a", "a10", "-1", "1.5", "1234567890123456"]) {
      assert.isFalse(isSmallJson(json(length), 2 ** 60), String(length))
    }
    assert.isFalse(isSmallJson(json("11"), 10))
    assert.isFalse(isSmallJson(json("1048577"), 2 ** 30))
    for (
      const more of [{ "content-type": "text/html" }, { "content-encoding": "gzip" }, {
        "transfer-encoding": "chunked"
      }]
    ) {
      assert.isFalse(isSmallJson(json("5", more), 10), JSON.stringify(more))
    }
    assert.isFalse(isSmallJson(Headers.fromInput({ "content-length": "5" }), 10))
  })
})

describe("a response body", () => {
  it.effect("is refused if it is larger than maxBodySize, though content-length says otherwise", () =>
    Effect.gen(function*() {
      const headers = { "content-type": "application/json", "content-length": "300" }
      const large = { ...job, more: "x".repeat(100_000) }
      const client = IdentityClient.layer({ baseUrl: "https://t.example.com", maxBodySize: 1000 }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, bearer, FetchHttpClient.layer])
      )
      const result = yield* Effect.either(createUsersExport({})).pipe(
        Effect.provide(client),
        Effect.provideService(
          FetchHttpClient.Fetch,
          () => Promise.resolve(new Response(JSON.stringify(large), { headers }))
        )
      )
      assert.strictEqual(unexpected(result).reason, "size")
    }))

  for (const [name, value] of [["content-encoding", "gzip"], ["transfer-encoding", "chunked"]] as const) {
    it.effect(`with ${name} is read up to maxBodySize, whatever content-length says`, () =>
      Effect.gen(function*() {
        let pieces = 0
        const endless = new ReadableStream<Uint8Array>({
          pull: (to) => pieces++ < 1000 ? to.enqueue(new Uint8Array(1000)) : to.close()
        })
        const headers = { "content-type": "application/json", "content-length": "300", [name]: value }
        const client = IdentityClient.layer({ baseUrl: "https://t.example.com", maxBodySize: 5000 }).pipe(
          Layer.provide([RateLimiter.layerUnlimited, bearer, FetchHttpClient.layer])
        )
        const result = yield* Effect.either(createUsersExport({})).pipe(
          Effect.provide(client),
          Effect.provideService(FetchHttpClient.Fetch, () => Promise.resolve(new Response(endless, { headers })))
        )
        assert.strictEqual(unexpected(result).reason, "size")
        assert.isBelow(pieces, 100)
      }))
  }

  it.effect("of exactly maxBodySize bytes is complete", () =>
    Effect.gen(function*() {
      const body = JSON.stringify(job)
      const maxBodySize = Buffer.byteLength(body)
      const headers = { "content-type": "application/json", "content-length": String(maxBodySize) }
      const client = IdentityClient.layer({ baseUrl: "https://t.example.com", maxBodySize }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, bearer, Testing.layerHttp(Testing.reply({ headers, body }))])
      )
      assert.deepInclude(yield* Effect.provide(createUsersExport({}), client), { id: job.id })
    }))

  it.effect("that is gzip is decompressed, also when it is read in one piece", () =>
    Effect.gen(function*() {
      const body = gzipSync(JSON.stringify(job))
      const headers = { "content-type": "application/json", "content-length": String(body.length) }
      assert.deepInclude(yield* resultOf(createUsersExport, {}, Testing.reply({ headers, body })), { id: job.id })
    }))

  it.scopedLive("that is interrupted gzip is reported as interrupted, and not decompressed", () =>
    Effect.gen(function*() {
      const body = gzipSync("{}").subarray(0, 12)
      const server = yield* rawServer((_, socket) =>
        socket.end(Buffer.concat([Buffer.from("HTTP/1.1 500 Reason\r\nContent-Length: 500\r\n\r\n"), body]))
      )
      const error = yield* Effect.flip(call(deleteEventStream, { id })).pipe(
        Effect.provide(over(NodeHttpClient.layerUndici, server.url))
      )
      assert.deepInclude(error, { shape: "no content type, 12 bytes, interrupted" })
    }))

  it("is corrupt by the error codes of zlib, and no similar codes", () => {
    const ends = ["Z_BUF_ERROR", "ZlibError", "BAZ_Z_ERROR", "OtherZlibError", "ZlibErrorOther"].map((code) =>
      completenessOf({ code })
    )
    assert.deepStrictEqual(ends, ["corrupt", "corrupt", "interrupted", "interrupted", "interrupted"])
  })

  it("is joined from no more of its chunks than the limit allows", () => {
    const pieces = [[1, 2, 3], [4, 5, 6], [7, 8], [9]].map((piece) => Uint8Array.from(piece))
    for (const size of [0, 2, 3, 4, 6, 7, 9]) {
      assert.deepStrictEqual([...concat(pieces, size)], [1, 2, 3, 4, 5, 6, 7, 8, 9].slice(0, size))
    }
  })

  it.effect.each(
    [
      [Object.assign(new Error("incorrect header check"), { code: "Z_DATA_ERROR" }), "encoding"],
      [Object.assign(new Error("x"), { code: "ZlibError" }), "encoding"],
      [new TypeError("terminated", { cause: new Error("failed to decompress") }), "encoding"],
      [Object.assign(new Error("x"), { code: "UND_ERR_RES_EXCEEDED_MAX_SIZE" }), "size"],
      [Object.assign(new Error("x"), { code: "ECONNRESET" }), "TransportError"]
    ] as const
  )(
    "%#: that the platform cannot read fails by the cause of the platform's error",
    ([cause, expected]) =>
      Effect.forEach(
        [{}, { "content-type": "application/json", "content-length": "7" }],
        (headers) =>
          Effect.gen(function*() {
            const network = HttpClient.make((request) => {
              const error = responseError(request, "Decode", { cause })
              const [stream, arrayBuffer] = [Stream.fail(error), Effect.fail(error)]
              return Effect.succeed({ request, status: 200, headers, stream, arrayBuffer } as never)
            })
            const error = yield* Effect.flip(call(createUsersExport, {})).pipe(
              Effect.provide(over(Layer.succeed(HttpClient.HttpClient, network)))
            )
            const reason = error instanceof Errors.UnexpectedResponse
              ? error.reason
              : (error as Errors.ClientError)._tag
            assert.strictEqual(reason, expected)
          })
      )
  )

  it.effect("that cannot be read at all is not a defect", () =>
    Effect.gen(function*() {
      const network = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.succeed({
            request,
            status: 500,
            headers: {},
            stream: Stream.fail(responseError(request, "EmptyBody"))
          } as never)
        )
      )
      const error = yield* Effect.flip(call(deleteEventStream, { id })).pipe(Effect.provide(over(network)))
      assert.deepInclude(error, { status: 500, shape: "no content type, 0 bytes" })
    }))
})
