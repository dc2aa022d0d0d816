/** No path parameter reaches another route, whatever 16-bit units it consists of, as a server sees it. */
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, FastCheck, Layer } from "effect"
import { InvalidInput } from "../../src/Errors.js"
import * as Node from "../../src/Node.js"
import { anyString, forAll, isWellFormed, stringOf } from "../support/arbitraries.js"
import { call, over } from "../support/client.js"
import { type FieldValues, operations, sample, type Subject } from "../support/operations.js"
import { rawServer, responseBytes } from "../support/rawServer.js"

const routed = operations.filter(({ endpoint }) => endpoint.params !== undefined)

/** An operation, and an input with arbitrary path parameters. */
const calls: FastCheck.Arbitrary<readonly [Subject, FieldValues]> = FastCheck.oneof(
  ...routed.map((operation) =>
    FastCheck.record(
      Object.fromEntries(
        Object.keys(operation.endpoint.params ?? {}).map((
          name
        ) => [name, FastCheck.oneof({ weight: 1, arbitrary: anyString }, { weight: 2, arbitrary: stringOf(26) })])
      )
    ).map((params) => [operation, { ...sample(operation), ...params }] as const)
  )
)

const networks: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["undici", NodeHttpClient.layerUndici],
  ["fetch", FetchHttpClient.layer],
  ["lean", Layer.orDie(Node.layerHttpClient)]
]

for (const [name, network] of networks) {
  it.scopedLive(`${name}: each id is refused, or is one segment of the declared route and decodes to itself`, () =>
    Effect.gen(function*() {
      const server = yield* rawServer((_, socket) => socket.write(responseBytes(500)))
      const reached = new Map<string, number>()
      yield* forAll(
        calls,
        ([operation, input]) =>
          Effect.gen(function*() {
            const { method, name, params = {}, path } = operation.endpoint
            const before = server.requests.length
            const error = yield* Effect.flip(call(operation, input))
            const [request, ...more] = server.requests.slice(before)
            assert.lengthOf(more, 0)
            if (request === undefined) {
              assert.instanceOf(error, InvalidInput)
              return
            }
            reached.set(name, (reached.get(name) ?? 0) + 1)
            const [verb, target = "", version] = request.line.split(" ")
            const [route = "", ...query] = target.split("?")
            assert.deepStrictEqual([verb, version, query.length], [
              method,
              "HTTP/1.1",
              "query" in operation.endpoint ? 1 : 0
            ])
            assert.deepStrictEqual(
              route.split("/").slice(3).map(decodeURIComponent),
              path.split("/").slice(1).map((segment) => segment.startsWith(":") ? input[segment.slice(1)] : segment)
            )
            assert.isTrue(route.startsWith("/api/v2/"))
            assert.isTrue(Object.keys(params).every((name) => isWellFormed(String(input[name]))))
          }),
        600
      ).pipe(Effect.provide(over(network, server.url)))
      assert.isTrue(
        routed.every(({ endpoint }) => (reached.get(endpoint.name) ?? 0) >= 3),
        JSON.stringify([...reached])
      )
    }))
}

it("the generated strings contain all characters that are special in paths", () => {
  const tried = FastCheck.sample(anyString, { seed: 1, numRuns: 5000 })
  const kinds = ["", ".", "..", "%2e%2e", "a/b", "?", "#", "\\", "\0", "é", "🙂", "\uD800", "\uDC00"]
  assert.deepStrictEqual(kinds.filter((kind) => !tried.includes(kind)), [])
})
