/** Laws of the shapes that an operation may have beside an object of fields, over a socket: what is sent, what is decoded, what fails. */
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, ParseResult, Schema } from "effect"
import { Errors, IdentityClient, Operation, Retry } from "../../src/index.js"
import * as Node from "../../src/Node.js"
import { forAll } from "../support/arbitraries.js"
import { over } from "../support/client.js"
import { arbitraryOf } from "../support/schemaArbitrary.js"
import { type Arrived, listen } from "../support/tokenServer.js"

const shared = { scope: "update:things", idempotent: true, error: [Errors.BadRequest, Errors.RateLimited] } as const

const Cat = Schema.Struct({ kind: Schema.Literal("cat"), lives: Schema.Int })
const Dog = Schema.Struct({ kind: Schema.Literal("dog"), tricks: Schema.Array(Schema.String) })

interface Folder {
  readonly name: string
  readonly parent: Folder | null
}
const Folder: Schema.Schema<Folder> = Schema.suspend(() =>
  Schema.Struct({ name: Schema.String, parent: Schema.NullOr(Folder) })
)

/** The shapes of a body, and of a success. */
const shapes = {
  "a list": Schema.Array(Cat),
  "a union of structs": Schema.Union(Cat, Dog),
  "a list or a struct": Schema.Union(Schema.Array(Schema.String), Dog),
  "a nullable struct": Schema.NullOr(Dog),
  "a number": Schema.Finite,
  "a string": Schema.String,
  "a boolean": Schema.Boolean,
  "a record": Schema.Record({ key: Schema.String, value: Schema.Int }),
  "a struct that allows other fields": Schema.Struct({ a: Schema.Int }, { key: Schema.String, value: Schema.Unknown }),
  "a recursive struct": Folder,
  "a struct or nothing": Schema.UndefinedOr(Cat),
  "a nullable struct or nothing": Schema.UndefinedOr(Schema.NullOr(Cat))
} as const

const networks = { "the lean transport": Node.layerHttpClient, "fetch": FetchHttpClient.layer }

/** What JSON makes of a value. */
const throughJson = (value: unknown): unknown => value === undefined ? undefined : JSON.parse(JSON.stringify(value))

/** Whether JSON makes none of the values inside `null`: no number that is not finite, no `undefined` in a list. Those are refused. */
const keepsAll = (value: unknown): boolean => {
  let keeps = true
  JSON.stringify(value, function(this: unknown, _, inner: unknown) {
    if (typeof inner === "number" ? !Number.isFinite(inner) : inner === undefined && Array.isArray(this)) keeps = false
    return inner
  })
  return keeps
}

/** A server that responds with the text of `reply.body`. */
const serve = Effect.gen(function*() {
  const reply = { status: 200, body: "" }
  const server = yield* listen((_, response) => {
    response.writeHead(reply.status, { "content-type": "application/json" }).end(reply.body)
  })
  return { ...server, reply }
})

const last = (arrived: ReadonlyArray<Arrived>): Arrived => arrived.at(-1) ?? assert.fail("nothing arrived")

describe.each(Object.entries(networks))("over %s", (_, network) => {
  for (const [shape, schema] of Object.entries<Schema.Schema.AnyNoContext>(shapes)) {
    // Sound: the types of these schemas are all checked below, at run time.
    const anything = schema as Schema.Schema<unknown>

    it.scopedLive(`a body that is ${shape} is sent to the letter`, () =>
      Effect.gen(function*() {
        const { arrived, url } = yield* serve
        const send = Operation.make("send", () => ({ ...shared, method: "POST", path: "/a", body: anything }))
        yield* forAll(
          arbitraryOf(schema).filter((value) => keepsAll(value) && ParseResult.is(schema)(throughJson(value))),
          (body) =>
            Effect.gen(function*() {
              yield* send({ body })
              const { body: text, headers } = last(arrived)
              assert.strictEqual(text, JSON.stringify(body) ?? "")
              assert.strictEqual(headers["content-type"], body === undefined ? undefined : "application/json")
            }),
          30
        ).pipe(Effect.provide(over(network, url)))
      }))

    it.scopedLive(`a body that is not ${shape} is InvalidInput with the path, and not sent`, () =>
      Effect.gen(function*() {
        const { arrived, url } = yield* serve
        const send = Operation.make("send", () => ({ ...shared, method: "POST", path: "/a", body: anything }))
        yield* forAll(
          FastCheck.jsonValue().filter((value) => !ParseResult.is(schema, { onExcessProperty: "error" })(value)),
          (body) =>
            Effect.gen(function*() {
              const error = yield* Effect.flip(send({ body }))
              assert.instanceOf(error, Errors.InvalidInput)
              assert.isTrue(error.issues.every(({ path }) => /^body(?:$|[.[])/.test(path)), error.message)
              assert.lengthOf(arrived, 0)
            }),
          30
        ).pipe(Effect.provide(over(network, url)))
      }))

    it.scopedLive(`a success that is ${shape} is decoded as is, and anything else is UnexpectedResponse`, () =>
      Effect.gen(function*() {
        const { reply, url } = yield* serve
        const get = Operation.make("get", () => ({ ...shared, method: "GET", path: "/a", success: anything }))
        const accepts = (value: unknown) => ParseResult.is(schema)(value)
        yield* forAll(
          FastCheck.oneof(
            FastCheck.jsonValue().filter((value) => typeof value !== "string" || !value.includes("<")),
            arbitraryOf(schema).map(throughJson)
          ),
          (value) =>
            Effect.gen(function*() {
              reply.body = JSON.stringify(value) ?? ""
              const result = yield* Effect.either(get({}))
              const isAbsent = value === undefined || value === null || value === ""
              if (isAbsent && accepts(undefined)) {
                assert.deepStrictEqual(result, Either.right(undefined))
              } else if (accepts(value)) assert.deepStrictEqual(result, Either.right(value))
              else if (result._tag === "Left") assert.strictEqual(result.left._tag, "UnexpectedResponse")
              else assert.isTrue(accepts(result.right), "a copy without the nulls of optional fields")
            }),
          40
        ).pipe(Effect.provide(over(network, url)))
      }))
  }

  it.scopedLive("null in a field is sent, undefined is not", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* serve
      const nullable = Schema.optional(Schema.NullOr(Schema.String))
      const update = Operation.make("update", () => ({
        ...shared,
        method: "PATCH",
        path: "/a",
        payload: { name: nullable, nickname: nullable, email: nullable }
      }))
      yield* Effect.provide(update({ name: null, nickname: undefined, email: "x" }), over(network, url))
      assert.strictEqual(last(arrived).body, "{\"name\":null,\"email\":\"x\"}")
    }))

  it.scopedLive("header parameters are sent beside the caller's headers, and win over them", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* serve
      const create = Operation.make("create", () => ({
        ...shared,
        method: "POST",
        path: "/a",
        headers: { "auth0-custom-domain": Schema.optional(Schema.String), "x-kind": Schema.Literal("a", "b") },
        payload: { name: Schema.String }
      }))
      const withHeaders = IdentityClient.withHeaders({ "x-kind": "c", "x-own": "1" })
      yield* create({ "auth0-custom-domain": "login.example.com", "x-kind": "a", name: "n" }).pipe(
        withHeaders,
        Effect.provide(over(network, url))
      )
      yield* Effect.provide(create({ "x-kind": "b", name: "n" }), over(network, url))
      const [first, second] = arrived
      assert.deepInclude(first?.headers, { "auth0-custom-domain": "login.example.com", "x-kind": "a", "x-own": "1" })
      assert.notProperty(second?.headers, "auth0-custom-domain")
      assert.strictEqual(first?.body, "{\"name\":\"n\"}")
      for (const wrong of ["a\r\nb: c", "日本", "\0"]) {
        const error = yield* Effect.flip(create({ "auth0-custom-domain": wrong, "x-kind": "a", name: "n" })).pipe(
          Effect.provide(over(network, url))
        )
        assert.deepInclude(error, {
          _tag: "InvalidInput",
          issues: [{ path: "auth0-custom-domain", message: "expected a valid HTTP header" }]
        })
      }
      assert.lengthOf(arrived, 2)
    }))

  it.scopedLive("each status that is declared gives its class, also where it is retried first", () =>
    Effect.gen(function*() {
      const { arrived, reply, url } = yield* serve
      const declared = [
        Errors.PaymentRequired,
        Errors.Gone,
        Errors.PreconditionFailed,
        Errors.ContentTooLarge,
        Errors.InternalServerError,
        Errors.ServiceUnavailable
      ] as const
      const all = Operation.make("all", () => ({
        ...shared,
        method: "GET",
        path: "/a",
        error: [...declared, Errors.RateLimited]
      }))
      const none = Operation.make("none", () => ({ ...shared, method: "GET", path: "/a", error: [Errors.RateLimited] }))
      reply.body = "{\"message\":\"No.\",\"errorCode\":\"a_code\"}"
      for (const Declared of declared) {
        reply.status = Declared.status
        const before = arrived.length
        const error = yield* Effect.flip(all({})).pipe(
          Retry.withPolicy({ attempts: 3, delay: 0 }),
          Effect.provide(over(network, url))
        )
        assert.isTrue(error instanceof Declared)
        assert.deepInclude<object>(error, {
          status: Declared.status,
          message: "all: No.",
          errorCode: "a_code",
          operation: "all"
        })
        assert.strictEqual(arrived.length - before, Declared.status >= 500 ? 3 : 1)
        const undeclared = yield* Effect.flip(Retry.withoutRetries(none({}))).pipe(Effect.provide(over(network, url)))
        assert.strictEqual(undeclared._tag, "UnexpectedResponse")
      }
    }))
})

describe("a body", () => {
  const send = Operation.make("send", () => ({
    ...shared,
    method: "POST",
    path: "/a",
    body: Schema.Union(Schema.Array(Schema.String), Schema.Struct({ a: Schema.String }), Schema.Null)
  }))

  it.scopedLive("that is an object can be sent as a form; another is InvalidInput", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* serve
      const network = over(networks.fetch, url)
      yield* send({ body: { a: "b c" } }).pipe(IdentityClient.withFormBody, Effect.provide(network))
      assert.deepInclude(last(arrived), { body: "a=b%20c" })
      for (const body of [["a"], null]) {
        const error = yield* Effect.flip(IdentityClient.withFormBody(send({ body }))).pipe(Effect.provide(network))
        assert.deepInclude(error, { issues: [{ path: "body", message: "a form can express only an object" }] })
      }
    }))

  it.scopedLive("that is nested without end is InvalidInput, or sent as it is", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* serve
      const network = over(networks["the lean transport"], url)
      const save = Operation.make("save", () => ({ ...shared, method: "POST", path: "/a", body: Folder }))
      for (const depth of [1000, 20_000, 200_000]) {
        let body: Folder = { name: "end", parent: null }
        for (let level = 0; level < depth; level++) body = { name: "x", parent: body }
        const result = yield* Effect.either(Effect.provide(save({ body }), network))
        if (result._tag === "Left") assert.deepInclude(result.left, { _tag: "InvalidInput" })
        else assert.isAbove(last(arrived).body.length, depth)
      }
    }))
})
