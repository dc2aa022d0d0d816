/** Headers of a call, and inputs that are refused before anything is sent. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Exit, Layer, Schema } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  Errors,
  IdentityClient,
  Operation,
  RateLimiter
} from "../../src/index.js"
import { strings } from "../../src/internal/http/requestEncoder.js"
import * as Schemas from "../../src/Schemas.js"
import * as Testing from "../../src/Testing.js"
import { baseUrl, bearer, bodyOf, failed, resultOf, sent, sentOne, token } from "../support/client.js"
import * as Permits from "../support/permits.js"

const id = "est_1234567890123456789012"
const bare = { id }

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

  it.effect("cannot replace the content type of a body, but set one without a body", () =>
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

  it.effect("applies to its own effect only", () =>
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

  it.effect.each(["a b", "a\tb", "é", "", "!~"])("accepts the value %j", (value) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* headersOf({ "x-a": value }))["x-a"], value)
    }))
})

describe("an invalid input", () => {
  const odd = () =>
    Operation.make("odd", () => ({
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
        list: Schema.optional(Schema.Array(Schema.Struct({ x: Schema.String }))),
        few: Schema.optional(Schemas.array(Schema.Struct({ name: Schemas.string({ max: 3 }) }), { max: 2 })),
        some: Schema.optional(Schemas.sized(Schema.Struct({ a: Schema.optional(Schema.Number) }), { min: 1 })),
        deep: Schema.optional(Schema.Array(Schema.Number).pipe(Schema.maxItems(3), Schema.minItems(1)))
      },
      scope: "create:odd",
      idempotent: false,
      error: [Errors.RateLimited]
    }))

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
      [{ list: { x: "hidden" } }, "list", "expected a list"],
      [{ few: [{ name: "fine" }] }, "few[0].name", "expected a string of at most 3 characters"],
      [{ few: [{ name: "x" }, { name: "x" }, { name: "x" }] }, "few", "expected a list of at most 2 items"],
      [{ few: "hidden" }, "few", "expected a list of at most 2 items"],
      [{ some: { a: 1, b: 2 } }, "some.b", "unknown field"],
      [{ some: {} }, "some", "expected an object of at least 1 field"],
      [{ some: "hidden" }, "some", "expected an object of at least 1 field"],
      [{ deep: [1, "hidden"] }, "deep[1]", "expected a number"]
    ] as const
  )(
    "%#: by its path and what is expected there, never by its value",
    ([input, path, message]) =>
      Effect.gen(function*() {
        const error = (yield* failed(odd(), input, Testing.reply({}))) as Errors.InvalidInput
        assert.deepStrictEqual(error.issues, [{ path, message }])
        assert.strictEqual(error.message, `${error.operation}: ${path}: ${message}`)
      })
  )

  it.effect("is reported with all its issues at once", () =>
    Effect.gen(function*() {
      const error = yield* failed(odd(), { mode: 4, even: 3, unknown: 1, "": 1 }, Testing.reply({}))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues.map(({ path }) => path).sort(), [
        "",
        "even",
        "mode",
        "unknown"
      ])
    }))

  it.effect("is reported with all issues within a limited list at once", () =>
    Effect.gen(function*() {
      const error = yield* failed(odd(), { few: [{ name: "long" }, { name: "longer", x: 1 }] }, Testing.reply({}))
      assert.sameDeepMembers([...(error as Errors.InvalidInput).issues], [
        { path: "few[0].name", message: "expected a string of at most 3 characters" },
        { path: "few[1].name", message: "expected a string of at most 3 characters" },
        { path: "few[1].x", message: "unknown field" }
      ])
    }))

  it.effect("that is not an object has an issue without a path", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        ((yield* failed(odd(), "hidden", Testing.reply({}))) as Errors.InvalidInput).message,
        "odd: expected an object"
      )
    }))

  it.effect("of an operation without fields is any but an empty object", () =>
    Effect.gen(function*() {
      const ping = Operation.make("ping", () => ({
        method: "GET",
        path: "/ping",
        scope: "read:ping",
        idempotent: true,
        error: [Errors.RateLimited]
      }))
      assert.strictEqual((yield* sentOne(ping, {})).url, `${baseUrl}/ping`)
      const error = yield* failed(ping, { a: 1, b: 2 }, Testing.reply({}))
      assert.sameDeepMembers([...(error as Errors.InvalidInput).issues], [
        { path: "a", message: "unknown field" },
        { path: "b", message: "unknown field" }
      ])
    }))

  it.effect("lacks a parameter of a path whose placeholders the compiler could not see", () =>
    Effect.gen(function*() {
      const path: `/${string}` = "/things/:id"
      const remove = Operation.make("remove", () => ({
        method: "DELETE",
        path,
        scope: "delete:things",
        idempotent: true,
        error: [Errors.RateLimited]
      }))
      const error = yield* failed(remove, {}, Testing.reply({}))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues, [{ path: "id", message: "is missing" }])
      assert.lengthOf(yield* sent(remove, {}), 0)
    }))

  it.effect("has no effect on a call if it becomes invalid after it", () =>
    Effect.gen(function*() {
      const fields = [{ name: "email" }]
      const input = { fields }
      const limiter = Layer.succeed(
        RateLimiter.RateLimiter,
        Permits.limiterOf(() =>
          Effect.sync(() => {
            fields[0] = { name: "changed" }
            input.fields = []
            return Permits.permit
          })
        )
      )
      const client = IdentityClient.layer({ baseUrl }).pipe(Layer.provide([limiter, bearer]))
      const requests = yield* Effect.exit(createUsersExport(input)).pipe(
        Effect.zipRight(Testing.requests),
        Effect.provide(Layer.provideMerge(client, Testing.layerHttp(Testing.reply({}))))
      )
      assert.deepStrictEqual(requests.map(bodyOf), ["{\"fields\":[{\"name\":\"email\"}]}"])
    }))
})

describe("a payload", () => {
  interface Tree {
    readonly inner?: Tree
  }
  const Tree: Schema.Schema<Tree> = Schema.Struct({
    inner: Schema.optionalWith(Schema.suspend(() => Tree), { exact: true })
  })
  const save = Operation.make("save", () => ({
    method: "POST",
    path: "/things",
    payload: {
      before: Schema.optional(Schema.Unknown),
      data: Schema.optional(Schema.Unknown),
      tree: Schema.optional(Tree),
      map: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
    },
    scope: "create:things",
    idempotent: false,
    error: [Errors.RateLimited]
  }))

  class Thing {
    self: unknown = this
  }
  const cyclic: Record<string, unknown> = { list: [] }
  cyclic["list"] = [cyclic]
  const deep = (depth: number): object => {
    let value: object = {}
    for (let level = 0; level < depth; level++) value = { inner: value }
    return value
  }
  const path = (value: unknown) => ({ before: { plain: [1, "x"] }, ...(value as object) })

  const refused: ReadonlyArray<readonly [title: string, field: string, value: unknown]> = [
    ["a cyclic object", "data", cyclic],
    ["a cyclic object in a map", "map", { a: cyclic }],
    ["a cyclic object of a class", "data", new Thing()],
    ["a BigInt", "data", { a: [10n] }],
    ["an object 20,000 levels deep", "data", deep(20_000)],
    ["an object 20,000 levels deep under a recursive schema", "tree", deep(20_000)]
  ]
  const assertNames = (field: string, error: unknown) => {
    assert.instanceOf(error, Errors.InvalidInput)
    assert.deepStrictEqual((error as Errors.InvalidInput).issues, [{
      path: field,
      message: "expected a value that JSON or a form can express, neither cyclic nor nested too deep"
    }])
  }
  for (const [title, field, value] of refused) {
    it.effect(`with ${title} is InvalidInput that names the field`, () =>
      Effect.gen(function*() {
        assertNames(field, yield* failed(save, path({ [field]: value }), Testing.reply({})))
      }))
  }

  it.effect("with an object of any depth under a recursive schema is sent, or is InvalidInput that names the field", () =>
    Effect.gen(function*() {
      // Some exhaust the stack when they are validated, but not as JSON: which ones depends on the size of the stack.
      const depths = Array.from({ length: 17 }, (_, nth) => Math.round(1000 * 1.2 ** nth))
      for (const depth of depths) {
        const result = yield* Effect.either(resultOf(save, path({ tree: deep(depth) }), Testing.reply({})))
        if (Either.isLeft(result)) assertNames("tree", result.left)
      }
    }))

  it.effect("as a form is refused alike if it is cyclic, and may hold a BigInt", () =>
    Effect.gen(function*() {
      const error = yield* IdentityClient.withFormBody(failed(save, { data: cyclic }, Testing.reply({})))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues.map(({ path }) => path), ["data"])
      const request = yield* IdentityClient.withFormBody(sentOne(save, { data: { a: 10n } }))
      assert.strictEqual(bodyOf(request), "data%5Ba%5D=10")
    }))

  it.effect("is sent with its own __proto__ field", () =>
    Effect.gen(function*() {
      const value = JSON.parse("{\"a\":{\"__proto__\":{\"b\":[{\"__proto__\":1}]}}}")
      for (const field of ["data", "map"]) {
        const request = yield* sentOne(save, { [field]: value })
        assert.strictEqual(bodyOf(request), `{"${field}":${JSON.stringify(value)}}`)
        const form = yield* IdentityClient.withFormBody(sentOne(save, { [field]: value }))
        assert.strictEqual(decodeURIComponent(bodyOf(form) ?? ""), `${field}[a][__proto__][b][0][__proto__]=1`)
      }
      const error = yield* failed(save, JSON.parse("{\"__proto__\":{\"data\":1}}"), Testing.reply({}))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues.map(({ path }) => path), ["__proto__"])
    }))

  it.effect("that is cyclic behind toJSON is sent, and its strings are redacted", () =>
    Effect.gen(function*() {
      const value = Object.assign(new Thing(), { name: "a-name", toJSON: () => "thing" })
      assert.strictEqual(bodyOf(yield* sentOne(save, { data: value })), "{\"data\":\"thing\"}")
      const reply = Testing.reply({ status: 500, body: { message: "no a-name" } })
      assert.deepInclude(yield* failed(save, { data: value }, reply), {
        message: "save: status 500 from tenant.example.com: no …"
      })
    }))

  it.effect("as deep as the platform's JSON can be is sent, and its strings are redacted", () =>
    Effect.gen(function*() {
      const reply = Testing.reply({ status: 500, body: { message: "no a-name" } })
      const data = { deep: deep(3000), name: "a-name" }
      assert.deepInclude(yield* failed(save, { data }, reply), {
        message: "save: status 500 from tenant.example.com: no …"
      })
    }))

  it.effect("whose schema has a filter that throws is a defect of the schema", () =>
    Effect.gen(function*() {
      const bug = new Error("a bug")
      const buggy = Operation.make("buggy", () => ({
        method: "POST",
        path: "/things",
        scope: "create:things",
        idempotent: false,
        error: [Errors.RateLimited],
        payload: {
          data: Schema.Number.pipe(Schema.filter(() => {
            throw bug
          }))
        }
      }))
      const exit = yield* Effect.exit(failed(buggy, { data: 1 }, Testing.reply({})))
      assert.deepStrictEqual(exit, Exit.die(bug))
    }))
})

describe("texts that messages must not repeat", () => {
  const texts = (fields: Readonly<Record<string, unknown>>, headers: Record<string, string> = {}) =>
    strings({ fields, headers: Headers.fromInput(headers) })

  it("are the strings of the input, at any depth, also in a cycle", () => {
    const cyclic: Record<string, unknown> = { a: "one", b: [{ c: "two" }, 3, null, "three"] }
    cyclic["self"] = cyclic
    assert.sameMembers([...texts(cyclic)], ["one", "two", "three"])
    assert.deepStrictEqual(texts({}), [])
  })

  it("are headers of eight characters and more, except accept and its like", () => {
    const headers = {
      "x-a": "1234567",
      "x-b": "12345678",
      "accept": "text/html",
      "accept-language": "de-AT,de",
      "x-accept": "text/plain"
    }
    assert.sameMembers([...texts({}, headers)], ["12345678", "text/plain"])
  })
})

it.effect("headers whose names only contain one of the transport's are sent", () =>
  Effect.gen(function*() {
    const set = { "x-connection": "a", "connection-id": "b", "x-te": "c", "hostname": "d" }
    assert.deepInclude((yield* IdentityClient.withHeaders(sentOne(deleteEventStream, bare), set)).headers, set)
  }))
