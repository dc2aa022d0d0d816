/** Tests of `multipart/form-data`: read by another parser over a socket, with files as streams, over each kind of client. */
import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, FastCheck, Redacted, Schema, Stream } from "effect"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { Errors, IdentityClient, Operation, Retry } from "../../../src/index.js"
import { File } from "../../../src/internal/schema/file.js"
import * as Node from "../../../src/Node.js"
import { forAll } from "../../support/arbitraries.js"
import { over } from "../../support/client.js"

const importUsers = Operation.make("importUsers", () => ({
  method: "POST",
  path: "/jobs/users-imports",
  multipart: {
    users: File,
    log: Schema.optional(File),
    connection_id: Schema.String,
    upsert: Schema.optional(Schema.Boolean),
    limit: Schema.optional(Schema.Number)
  },
  success: Schema.Struct({ id: Schema.String }),
  scope: "create:users",
  idempotent: true,
  error: [Errors.BadRequest, Errors.ContentTooLarge, Errors.RateLimited]
}))

type Input = Operation.Input<typeof importUsers>

interface Arrived {
  readonly headers: Http.IncomingHttpHeaders
  readonly body: Buffer
}

/** A server that responds to the `nth` complete request, counted from 1, and tells of the end of incomplete ones. */
const serve = (statusOf: (nth: number) => number = () => 200) =>
  Effect.gen(function*() {
    const arrived: Array<Arrived> = []
    const aborted = yield* Deferred.make<void>()
    const begun = yield* Deferred.make<void>()
    const server = yield* Effect.acquireRelease(
      Effect.async<Http.Server>((resume) => {
        const server = Http.createServer((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => {
            chunks.push(chunk)
            Deferred.unsafeDone(begun, Effect.void)
          })
          request.on("error", () => Deferred.unsafeDone(aborted, Effect.void))
          request.on("end", () => {
            const nth = arrived.push({ headers: request.headers, body: Buffer.concat(chunks) })
            response.writeHead(statusOf(nth), { "content-type": "application/json" }).end("{\"id\":\"job_1\"}")
          })
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    return { arrived, aborted, begun, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  })

/** Reads a body as `fetch` does, which is a parser of its own. */
const formOf = ({ body, headers }: Arrived) =>
  Effect.promise(() =>
    new Response(new Uint8Array(body), { headers: { "content-type": headers["content-type"] ?? "" } }).formData()
  )

const bytesOf = (part: unknown) => Effect.promise(async () => new Uint8Array(await (part as Blob).arrayBuffer()))

const encoder = new TextEncoder()

const networks = {
  "the lean transport": Node.layerHttpClient,
  "the platform's undici": NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layer,
  "fetch": FetchHttpClient.layer
}

const name = FastCheck.string({ unit: "grapheme", minLength: 1 }).filter((text) => !/[\p{Cs}\0]/u.test(text))

const content = FastCheck.oneof(
  FastCheck.uint8Array().map((bytes) => ({ content: bytes, bytes })),
  FastCheck.string({ unit: "grapheme" }).filter((text) => !/\p{Cs}/u.test(text)).map((text) => ({
    content: text,
    bytes: encoder.encode(text)
  })),
  FastCheck.array(FastCheck.uint8Array(), { maxLength: 4 }).map((chunks) => ({
    content: Stream.fromIterable(chunks),
    bytes: new Uint8Array(Buffer.concat(chunks))
  }))
)

describe.each(Object.entries(networks))("a multipart body over %s", (_, network) => {
  it.scopedLive("arrives to the letter, whatever the fields and files", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* serve()
      yield* forAll(
        FastCheck.record({
          file: content,
          name,
          contentType: FastCheck.constantFrom(undefined, "application/json", "text/csv; charset=utf-8"),
          connection_id: name,
          upsert: FastCheck.option(FastCheck.boolean(), { nil: undefined }),
          limit: FastCheck.option(FastCheck.integer(), { nil: undefined })
        }),
        ({ connection_id, contentType, file, limit, name, upsert }) =>
          Effect.gen(function*() {
            const input: Input = {
              users: { name, contentType, content: file.content },
              connection_id,
              upsert,
              limit
            }
            assert.deepStrictEqual(yield* importUsers(input), { id: "job_1" })
            const form = yield* formOf(arrived.at(-1)!)
            const users = form.get("users") as globalThis.File
            assert.deepStrictEqual(yield* bytesOf(users), file.bytes)
            assert.strictEqual(users.type, contentType ?? "application/octet-stream")
            assert.strictEqual(users.name, name)
            assert.deepStrictEqual([...form.keys()].sort(), [
              "connection_id",
              ...(limit === undefined ? [] : ["limit"]),
              ...(upsert === undefined ? [] : ["upsert"]),
              "users"
            ])
            const lines = (text: string) => text.replace(/\r\n|\r|\n/g, "\n")
            assert.strictEqual(lines(String(form.get("connection_id"))), lines(connection_id))
            if (upsert !== undefined) assert.strictEqual(form.get("upsert"), String(upsert))
            if (limit !== undefined) assert.strictEqual(form.get("limit"), String(limit))
          }),
        40
      ).pipe(Effect.provide(over(network, url)))
    }), 60_000)

  it.scopedLive("runs a stream anew for each attempt", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* serve((nth) => nth === 1 ? 503 : 200)
      let runs = 0
      const stream = Stream.suspend(() => Stream.make(encoder.encode(`run ${++runs}`)))
      yield* importUsers({ users: { name: "u", content: stream }, connection_id: "c" }).pipe(
        Retry.withPolicy({ delay: 0 }),
        Effect.provide(over(network, url))
      )
      const texts = yield* Effect.forEach(arrived, (request) =>
        Effect.flatMap(formOf(request), (form) => Effect.promise(() => (form.get("users") as Blob).text())))
      assert.deepStrictEqual(texts, ["run 1", "run 2"])
    }))

  it.scopedLive("sends the bytes of the call with each attempt, also if the caller changes them meanwhile", () =>
    Effect.gen(function*() {
      for (const fields of [{}, { log: { name: "l", content: Stream.make(encoder.encode("log")) } }]) {
        const bytes = Buffer.from("first")
        const { arrived, url } = yield* serve((nth) => {
          bytes.write("later")
          return nth === 1 ? 503 : 200
        })
        yield* importUsers({ users: { name: "u", content: bytes }, connection_id: "c", ...fields }).pipe(
          Retry.withPolicy({ delay: 0 }),
          Effect.provide(over(network, url))
        )
        const texts = yield* Effect.forEach(
          arrived,
          (request) =>
            Effect.flatMap(formOf(request), (form) => Effect.promise(() => (form.get("users") as Blob).text()))
        )
        assert.deepStrictEqual(texts, ["first", "first"])
      }
    }))

  it.scopedLive("whose stream fails gives a TransportError, and is not retried", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* serve()
      let runs = 0
      const stream = Stream.concat(
        Stream.sync(() => {
          runs++
          return encoder.encode("a".repeat(100))
        }),
        Stream.fail("a hidden reason")
      )
      const error = yield* Effect.flip(importUsers({ users: { name: "u", content: stream }, connection_id: "c" }))
        .pipe(Effect.provide(over(network, url)))
      assert.instanceOf(error, Errors.TransportError)
      assert.deepInclude(error, { outcome: "unknown", code: "REQUEST_BODY" })
      assert.include(error.message, "the stream in the request to 127.0.0.1")
      assert.notInclude(JSON.stringify(error), "hidden")
      assert.deepStrictEqual([runs, arrived.length], [1, 0])
    }))

  it.scopedLive("whose stream has a defect fails in the same way", () =>
    Effect.gen(function*() {
      const { url } = yield* serve()
      const error = yield* Effect.flip(
        importUsers({ users: { name: "u", content: Stream.die("a defect") }, connection_id: "c" })
      ).pipe(Effect.provide(over(network, url)))
      assert.deepInclude(error, { _tag: "TransportError", code: "REQUEST_BODY" })
    }))

  it.scopedLive("ends its stream when the call is interrupted or times out", () =>
    Effect.gen(function*() {
      const { begun, url } = yield* serve()
      const ended = yield* Deferred.make<void>()
      const pulled = yield* Deferred.make<void>()
      const endless = Stream.fromEffect(Effect.as(Deferred.succeed(pulled, undefined), encoder.encode("a"))).pipe(
        Stream.concat(Stream.never),
        Stream.ensuring(Deferred.succeed(ended, undefined))
      )
      const upload = importUsers({ users: { name: "u", content: endless }, connection_id: "c" })
      const isUnderWay = Effect.zipRight(Deferred.await(begun), Deferred.await(pulled))
      yield* Effect.raceFirst(Effect.exit(upload), isUnderWay).pipe(Effect.provide(over(network, url)))
      yield* Deferred.await(ended)
      const late = yield* upload.pipe(
        IdentityClient.withTimeout("50 millis"),
        Retry.withoutRetries,
        Effect.flip,
        Effect.provide(over(network, url))
      )
      assert.deepInclude(late, { _tag: "TransportError", code: "TIMEOUT" })
    }))
})

describe("a multipart body", () => {
  const bytes = encoder.encode("{}")
  const silent = over(networks["the lean transport"], "http://127.0.0.1:9")

  it.effect.each<readonly [path: string, input: Input]>([
    ["users.name", { users: { name: 1 as never, content: bytes }, connection_id: "c" }],
    ["users.content", { users: { name: "u", content: 1 as never }, connection_id: "c" }],
    ["users.contentType", { users: { name: "u", contentType: "a\r\nb: c", content: bytes }, connection_id: "c" }],
    ["users.contentType", { users: { name: "u", contentType: "json", content: bytes }, connection_id: "c" }],
    ["users", { users: { name: "\uD800", content: bytes }, connection_id: "c" }],
    ["users", { users: { name: "u", content: "\uD800" }, connection_id: "c" }],
    ["connection_id", { users: { name: "u", content: bytes }, connection_id: "\uDC00" }]
  ])("that cannot be sent is InvalidInput: %s", ([path, input]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(importUsers(input))
      assert.instanceOf(error, Errors.InvalidInput)
      assert.deepStrictEqual(error.issues.map(({ path }) => path), [path])
    }).pipe(Effect.provide(silent)))

  it.scopedLive("of bytes and strings has a length, one with a stream is chunked", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* serve()
      const network = over(networks["the lean transport"], url)
      for (const content of [bytes, Stream.make(bytes)]) {
        yield* Effect.provide(importUsers({ users: { name: "u", content }, connection_id: "c" }), network)
      }
      const [whole, chunked] = arrived
      assert.strictEqual(whole?.headers["content-length"], String(whole?.body.length))
      assert.strictEqual(chunked?.headers["transfer-encoding"], "chunked")
      assert.notStrictEqual(whole?.headers["content-type"], chunked?.headers["content-type"])
    }))

  it.scopedLive("of 64 MiB passes through in pieces", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* serve()
      const piece = new Uint8Array(1024 * 1024)
      const stream = Stream.fromIterable(Array.from({ length: 64 }, () => piece))
      yield* Effect.provide(
        importUsers({ users: { name: "u", content: stream }, connection_id: "c" }),
        over(networks["the lean transport"], url)
      )
      assert.isAbove(arrived[0]?.body.length ?? 0, 64 * piece.length)
    }), 60_000)

  it.scopedLive("is refused with 413 as declared, without its content in the failure", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(() => 413)
      const input: Input = { users: { name: "u", content: "someone.private@example.com" }, connection_id: "c" }
      const error = yield* Effect.flip(importUsers(input)).pipe(
        Effect.provide(over(networks["the lean transport"], url))
      )
      assert.instanceOf(error, Errors.ContentTooLarge)
      assert.notInclude(JSON.stringify({ ...error, raw: Redacted.make("") }), "private")
    }))
})
