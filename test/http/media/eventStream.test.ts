/** Tests of server-sent events over a socket: however the bytes are cut, each event once and in order; typed failures. */
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, FastCheck, Schema, Stream } from "effect"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { Errors, type IdentityClient, Operation } from "../../../src/index.js"
import * as Node from "../../../src/Node.js"
import * as Testing from "../../../src/Testing.js"
import { forAll } from "../../support/arbitraries.js"
import { over } from "../../support/client.js"

const subscribe = Operation.make("subscribe", () => ({
  method: "GET",
  path: "/events",
  query: { from: Schema.optional(Schema.String) },
  events: Schema.Struct({ offset: Schema.Number }),
  scope: "read:events",
  idempotent: true,
  error: [Errors.BadRequest, Errors.Gone, Errors.RateLimited]
}))

/** A server that responds as the test says. */
const serve = (respond: (response: Http.ServerResponse, request: Http.IncomingMessage) => void) =>
  Effect.gen(function*() {
    const requests: Array<Http.IncomingMessage> = []
    const closed = yield* Deferred.make<void>()
    const server = yield* Effect.acquireRelease(
      Effect.async<Http.Server>((resume) => {
        const server = Http.createServer((request, response) => {
          requests.push(request)
          response.on("close", () => Deferred.unsafeDone(closed, Effect.void))
          respond(response, request)
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    return { requests, closed, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  })

const head = { "content-type": "text/event-stream; charset=utf-8" }

const networks = { "node": Node.layerHttpClient, "fetch": FetchHttpClient.layer }

const collect = <A, E>(stream: Stream.Stream<A, E, IdentityClient.IdentityClient>) =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

describe.each(Object.entries(networks))("server-sent events over %s", (_, network) => {
  it.scopedLive("arrive each once and in order, however lines end and bytes are cut", () =>
    Effect.gen(function*() {
      let pieces: ReadonlyArray<Uint8Array> = []
      const { requests, url } = yield* serve((response) => {
        response.writeHead(200, head)
        const next = (at: number): void => {
          const piece = pieces[at]
          if (piece === undefined) response.end()
          else response.write(piece, () => setImmediate(next, at + 1))
        }
        next(0)
      })
      const event = FastCheck.record({
        offset: FastCheck.integer(),
        id: FastCheck.option(FastCheck.stringMatching(/^[a-zé]{1,8}$/), { nil: undefined }),
        event: FastCheck.option(FastCheck.constantFrom("user.created", "übrig"), { nil: undefined }),
        comment: FastCheck.boolean(),
        split: FastCheck.boolean()
      })
      yield* forAll(
        FastCheck.tuple(
          FastCheck.array(event, { maxLength: 5 }),
          FastCheck.constantFrom("\n", "\r\n"),
          FastCheck.integer({ min: 1, max: 40 })
        ),
        ([events, end, size]) =>
          Effect.gen(function*() {
            const text = events.map(({ comment, event, id, offset, split }) =>
              [
                ...(comment ? [": a comment", "retry: 10"] : []),
                ...(id === undefined ? [] : [`id: ${id}`]),
                ...(event === undefined ? [] : [`event:${event}`]),
                ...(split ? ["data: {", `data: "offset": ${offset}}`] : [`data: {"offset":${offset}}`]),
                "",
                ""
              ].join(end)
            ).join("")
            const bytes = new TextEncoder().encode(text)
            pieces = Array.from(
              { length: Math.ceil(bytes.length / size) },
              (_, nth) => bytes.subarray(nth * size, (nth + 1) * size)
            )
            let last: string | undefined
            const expected = events.map(({ event, id, offset }) => {
              last = id ?? last
              return {
                ...(last !== undefined && { id: last }),
                ...(event !== undefined && { event }),
                data: { offset }
              }
            })
            assert.deepStrictEqual<unknown>(yield* collect(subscribe({ from: "x" })), expected)
          }),
        25
      ).pipe(Effect.provide(over(network, url)))
      assert.strictEqual(requests[0]?.headers.accept, "text/event-stream")
      assert.strictEqual(requests[0]?.url, "/events?from=x")
    }))

  it.scopedLive("arrive while the connection is open, which closes when the program stops reading", () =>
    Effect.gen(function*() {
      const { closed, url } = yield* serve((response) => {
        response.writeHead(200, head)
        response.write("data: {\"offset\":1}\n\ndata: {\"offset\":2}\n\n")
      })
      const events = yield* collect(Stream.take(subscribe({}), 2)).pipe(Effect.provide(over(network, url)))
      assert.deepStrictEqual(events, [{ data: { offset: 1 } }, { data: { offset: 2 } }])
      yield* Deferred.await(closed)
    }))

  it.scopedLive("fail as typed: a broken connection, wrong data, another content type, a declared status", () =>
    Effect.gen(function*() {
      const replies: ReadonlyArray<readonly [(response: Http.ServerResponse) => void, object]> = [
        [(response) => {
          response.writeHead(200, head)
          response.write("data: {\"offset\":1}\n\n", () => setTimeout(() => response.destroy(), 20))
        }, { _tag: "TransportError", outcome: "unknown", operation: "subscribe" }],
        [
          (response) => response.writeHead(200, head).end("data: {\"offset\":\"a hidden value\"}\n\n"),
          { _tag: "UnexpectedResponse", reason: "schema", path: "offset" }
        ],
        [
          (response) => response.writeHead(200, head).end("data: no JSON\n\n"),
          { _tag: "UnexpectedResponse", reason: "json" }
        ],
        [
          (response) => response.writeHead(200, { "content-type": "application/json" }).end("{}"),
          { _tag: "UnexpectedResponse", reason: "schema" }
        ],
        [
          (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
          { _tag: "UnexpectedResponse", reason: "html" }
        ],
        [(response) => response.writeHead(410).end("{}"), { _tag: "Gone", status: 410 }]
      ]
      let nth = 0
      const { url } = yield* serve((response) => replies[nth]![0](response))
      for (const [, expected] of replies) {
        const error = yield* Effect.flip(collect(subscribe({}))).pipe(Effect.provide(over(network, url)))
        assert.deepInclude<object>(error, expected)
        assert.notInclude(JSON.stringify(error), "hidden")
        nth++
      }
    }))
})

describe("server-sent events", () => {
  it.effect("can be mocked as a stream", () =>
    Effect.gen(function*() {
      const events = yield* collect(subscribe({}))
      assert.deepStrictEqual(events, [{ id: "1", data: { offset: 1 } }])
    }).pipe(Effect.provide(Testing.layer(
      Testing.handle(subscribe, () => Effect.succeed(Stream.make({ id: "1", data: { offset: 1 } })))
    ))))

  it.effect("need a valid input", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(collect(subscribe({ from: 1 as never })))
      assert.deepInclude(error, { _tag: "InvalidInput" })
    }).pipe(Effect.provide(over(networks.node, "http://127.0.0.1:9"))))
})
