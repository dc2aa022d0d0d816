/** Tests of `Testing`: handlers of operations, and scripted HTTP replies. */
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, type Layer, Option } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  Errors,
  IdentityClient,
  listActionVersions,
  redeliverEvent,
  updateTokenExchangeProfile
} from "../../src/index.js"
import * as Retry from "../../src/Retry.js"
import * as Testing from "../../src/Testing.js"
import { call, scripted } from "../support/client.js"
import { causeOf, reasonOf } from "../support/httpErrors.js"
import { operations, sample, type Subject } from "../support/operations.js"

const id = "est_1234567890123456789012"

/** A client whose operations return their names; it records the inputs. */
const echo = () => {
  const inputs: Array<unknown> = []
  const handlers = operations.map((operation): Testing.Handler => ({
    endpoint: operation.endpoint,
    handle: (input: unknown) =>
      Effect.sync(() => {
        inputs.push(input)
        return operation.endpoint.name
      })
  }))
  return { inputs, layer: Testing.layer(...handlers) }
}

describe("Testing.layer", () => {
  it.effect("passes a call to the handler of its operation, and returns its result", () =>
    Effect.gen(function*() {
      const { layer } = echo()
      const results = yield* Effect.forEach(operations, (operation) => operation(sample(operation) as never)).pipe(
        Effect.provide(layer)
      )
      assert.deepStrictEqual(results, operations.map(({ endpoint }) => endpoint.name))
    }))

  it.effect("passes the caller's input to the handler", () =>
    Effect.gen(function*() {
      const { inputs, layer } = echo()
      yield* Effect.provide(createUsersExport({ format: "csv", fields: [{ name: "email" }] }), layer)
      assert.deepStrictEqual(inputs, [{ format: "csv", fields: [{ name: "email" }] }])
    }))

  it.effect("fails with the failure of the handler", () =>
    Effect.gen(function*() {
      const gone = new Errors.NotFound({ operation: "redeliverEvent", message: "No such event." })
      const layer = Testing.layer(Testing.handle(redeliverEvent, () => Effect.fail(gone)))
      assert.strictEqual(yield* Effect.flip(Effect.provide(redeliverEvent({ id, event_id: id }), layer)), gone)
    }))

  it.effect("uses the first of two handlers", () =>
    Effect.gen(function*() {
      const handlerOf = (total: number) =>
        Testing.handle(listActionVersions, () => Effect.succeed({ total, per_page: 20, versions: [] }))
      const { total } = yield* Effect.provide(
        listActionVersions({ actionId: "x" }),
        Testing.layer(handlerOf(1), handlerOf(2))
      )
      assert.strictEqual(total, 1)
    }))

  it.effect("dies with the name of an operation that has no handler", () =>
    Effect.gen(function*() {
      const layer = Testing.layer(Testing.handle(deleteEventStream, () => Effect.void))
      const exit = yield* Effect.exit(Effect.provide(createUsersExport({}), layer))
      assert.include(
        String(Exit.match(exit, { onFailure: (cause) => cause, onSuccess: () => "" })),
        "no handler for createUsersExport"
      )
    }))

  const refused: ReadonlyArray<readonly [string, Subject, unknown]> = [
    ["a field of the wrong type", deleteEventStream, { id: "short" }],
    ["an unknown field", createUsersExport, { unknown: 1 }],
    ["too few fields", updateTokenExchangeProfile, { id: "x" }],
    ["an empty path parameter", listActionVersions, { actionId: "" }],
    ["a dot segment", updateTokenExchangeProfile, { id: "..", name: "A name" }],
    ["a lone surrogate in a path", listActionVersions, { actionId: "\uD800" }]
  ]

  it.effect.each(refused)(
    "refuses %s like the real client, and calls no handler",
    ([, operation, input]) =>
      Effect.gen(function*() {
        const { inputs, layer } = echo()
        const refusal = (client: Layer.Layer<IdentityClient.IdentityClient, Errors.InvalidInput>) =>
          Effect.map(Effect.flip(Effect.provide(call(operation, input), client)), (error) => {
            assert.instanceOf(error, Errors.InvalidInput)
            const { issues, operation } = error as Errors.InvalidInput
            return { issues, operation }
          })
        assert.deepStrictEqual(yield* refusal(layer), yield* refusal(scripted(Testing.reply({}))))
        assert.deepStrictEqual(inputs, [])
      })
  )

  const settings: ReadonlyArray<readonly [string, unknown, typeof IdentityClient.withFormBody]> = [
    ["an empty list in a form", { fields: [] }, IdentityClient.withFormBody],
    ["a header with a line break", {}, IdentityClient.withHeaders({ "x-a": "b\nc" })],
    ["a header of the transport", {}, IdentityClient.withHeaders({ host: "example.com" })]
  ]

  it.effect.each(settings)(
    "refuses %s like the real client, as the settings around the call say",
    ([, input, set]) =>
      Effect.gen(function*() {
        const { inputs, layer } = echo()
        const refusal = (client: Layer.Layer<IdentityClient.IdentityClient, Errors.InvalidInput>) =>
          Effect.map(Effect.flip(Effect.provide(set(call(createUsersExport, input)), client)), (error) => {
            assert.instanceOf(error, Errors.InvalidInput)
            return (error as Errors.InvalidInput).issues
          })
        assert.deepStrictEqual(yield* refusal(layer), yield* refusal(scripted(Testing.reply({}))))
        assert.deepStrictEqual(inputs, [])
        yield* Effect.provide(call(createUsersExport, { fields: [] }), layer)
        assert.lengthOf(inputs, 1)
      })
  )

  it.effect("withResponse has no response", () =>
    Effect.gen(function*() {
      const layer = Testing.layer(Testing.handle(deleteEventStream, () => Effect.void))
      const { response } = yield* Effect.provide(IdentityClient.withResponse(deleteEventStream({ id })), layer)
      assert.isTrue(Option.isNone(response))
    }))
})

describe("Testing.layerHttp", () => {
  const get = (path: string) => HttpClient.execute(HttpClientRequest.get(`https://example.com${path}`))

  it.effect("returns the replies in their order", () =>
    Effect.gen(function*() {
      const statuses = yield* Effect.forEach(["/a", "/b"], get)
      assert.deepStrictEqual(statuses.map(({ status }) => status), [201, 418])
    }).pipe(Effect.provide(Testing.layerHttp(Testing.reply({ status: 201 }), Testing.reply({ status: 418 })))))

  it.effect("lists the requests, oldest first", () =>
    Effect.gen(function*() {
      yield* Effect.forEach(["/a", "/b"], get)
      assert.deepStrictEqual((yield* Testing.requests).map(({ url }) => url), [
        "https://example.com/a",
        "https://example.com/b"
      ])
    }).pipe(Effect.provide(Testing.layerHttp(Testing.reply({}), Testing.reply({})))))

  it.effect("does not change a list of requests later", () =>
    Effect.gen(function*() {
      const before = yield* Testing.requests
      yield* get("/a")
      assert.lengthOf(before, 0)
    }).pipe(Effect.provide(Testing.layerHttp(Testing.reply({})))))

  it.effect("each build of the layer starts with the first reply", () =>
    Effect.gen(function*() {
      const layer = Testing.layerHttp(Testing.reply({ status: 201 }))
      const once = Effect.map(get("/a"), ({ status }) => status).pipe(Effect.provide(layer))
      assert.deepStrictEqual([yield* once, yield* once], [201, 201])
    }))

  it.effect("dies with the request after the last reply", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(get("/late"))
      assert.include(
        String(Exit.match(exit, { onFailure: (cause) => cause, onSuccess: () => "" })),
        "no reply left for GET https://example.com/late"
      )
    }).pipe(Effect.provide(Testing.layerHttp())))

  it.effect("names its service if the layer is missing", () =>
    Effect.gen(function*() {
      const lacking = Testing.requests as Effect.Effect<unknown> // the compiler would refuse it
      const cause = yield* Effect.sandbox(lacking).pipe(Effect.flip)
      assert.match(Cause.pretty(cause), /Service not found: effect-identity-client\/Testing\/Requests\b/)
    }))

  it.effect("noReply fails like a connection, with its code", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(get("/"))
      assert.strictEqual(reasonOf(error), "Transport")
      assert.deepStrictEqual(causeOf(error), Object.assign(new Error("ECONNRESET"), { code: "ECONNRESET" }))
    }).pipe(Effect.provide(Testing.layerHttp(Testing.noReply("ECONNRESET")))))

  it.effect("noReply is a TransportError of the client, with its code", () =>
    Effect.gen(function*() {
      const { outcome, code } =
        (yield* Effect.flip(Retry.withoutRetries(deleteEventStream({ id })))) as Errors.TransportError
      assert.deepStrictEqual([outcome, code], ["not-sent", "ECONNREFUSED"])
    }).pipe(Effect.provide(scripted(Testing.noReply("ECONNREFUSED")))))

  it.effect("a reply without options has status 200 and no body", () =>
    Effect.gen(function*() {
      const response = yield* get("/")
      assert.deepStrictEqual([response.status, yield* response.text], [200, ""])
    }).pipe(Effect.provide(Testing.layerHttp(Testing.reply({})))))

  it.effect("any other body is JSON, with its content type", () =>
    Effect.gen(function*() {
      const response = yield* get("/")
      assert.deepStrictEqual([response.headers["content-type"], yield* response.text], [
        "application/json",
        "{\"a\":[1,null]}"
      ])
    }).pipe(Effect.provide(Testing.layerHttp(Testing.reply({ body: { a: [1, null] } })))))

  it.effect("headers of a reply replace the content type of JSON", () =>
    Effect.gen(function*() {
      const { headers } = yield* get("/")
      assert.deepStrictEqual([headers["content-type"], headers["x-a"]], ["application/problem+json", "b"])
    }).pipe(Effect.provide(Testing.layerHttp(Testing.reply({
      headers: { "content-type": "application/problem+json", "X-A": "b" },
      body: {}
    })))))

  it.effect.each(["Content-Type", "CONTENT-TYPE"])(
    "%s replaces the content type of JSON, too",
    (name) =>
      Effect.gen(function*() {
        const { headers } = yield* get("/")
        assert.strictEqual(headers["content-type"], "application/problem+json")
      }).pipe(Effect.provide(Testing.layerHttp(Testing.reply({
        headers: { [name]: "application/problem+json" },
        body: {}
      }))))
  )

  it.effect("bytes are sent unchanged", () =>
    Effect.gen(function*() {
      const response = yield* get("/")
      assert.deepStrictEqual(new Uint8Array(yield* response.arrayBuffer), new Uint8Array([0xff, 0x00]))
    }).pipe(Effect.provide(Testing.layerHttp(Testing.reply({ body: new Uint8Array([0xff, 0x00]) })))))

  it.effect.each([204, 205, 304])("%i has no body", (status) =>
    Effect.gen(function*() {
      const response = yield* get("/")
      assert.deepStrictEqual([response.status, yield* response.text], [status, ""])
    }).pipe(Effect.provide(Testing.layerHttp(Testing.reply({ status, body: "dropped" })))))
})
