/** Responses that are decoded, and those that are `UnexpectedResponse`. */
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Redacted, Schema } from "effect"
import { gzipSync } from "node:zlib"
import {
  createUsersExport,
  deleteEventStream,
  Errors,
  listActionVersions,
  Operation,
  updateTokenExchangeProfile
} from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { call, failed, over, resultOf } from "../support/client.js"
import { sample, type Subject } from "../support/operations.js"

const id = "est_1234567890123456789012"
const job = { id: "job_0000000000000001", type: "users_export", status: "pending", connection: "größe" }

describe("a response", () => {
  class NotModified extends Errors.statusError("NotModified", 304) {}
  const getThing = Operation.make("getThing", () => ({
    method: "GET",
    path: "/things",
    scope: "read:things",
    idempotent: true,
    error: [NotModified, Errors.RateLimited]
  }))

  it.effect("with status 304 is the declared error, and no redirect", () =>
    Effect.gen(function*() {
      const error = yield* failed(getThing, {}, Testing.reply({ status: 304, headers: { "x-request-id": "7" } }))
      assert.instanceOf(error, NotModified)
      assert.deepInclude(error, { operation: "getThing", status: 304 })
      assert.deepInclude(yield* failed(getThing, {}, Testing.reply({ status: 303 })), { reason: "redirect" })
      assert.deepInclude(yield* failed(deleteEventStream, { id }, Testing.reply({ status: 304 })), {
        reason: "redirect"
      })
    }))

  it.effect("keeps each digit of an integer, as a string where a number would round it", () =>
    Effect.gen(function*() {
      const text = JSON.stringify(job)
      const success = yield* resultOf(
        createUsersExport,
        {},
        Testing.reply({
          body: `${text.slice(0, -1)},"extra":{"at":9007199254740993}}`
        })
      )
      assert.deepStrictEqual(success, { ...job, extra: { at: "9007199254740993" } })
      const numbers = `{"limit":9007199254740993,"extra":9007199254740993}`
      const rounded = yield* resultOf(
        createUsersExport,
        {},
        Testing.reply({ body: `${text.slice(0, -1)},${numbers.slice(1)}` })
      )
      // A field that the schema declares as a number is one.
      assert.deepStrictEqual<unknown>(rounded, {
        ...job,
        limit: 9007199254740992,
        extra: "9007199254740993"
      })
      assert.deepInclude(
        yield* failed(createUsersExport, {}, Testing.reply({ body: `${text.slice(0, -1)},"limit":"12"}` })),
        {
          reason: "schema",
          path: "limit"
        }
      )
    }))

  const packed = gzipSync(JSON.stringify({ ...job, filler: "0123456789".repeat(500) }), { level: 0 })

  it.effect.each(
    [
      ["cut off", packed.subarray(0, packed.length - 40)],
      ["damaged", Buffer.concat([packed.subarray(0, 2000), Buffer.from("damaged"), packed.subarray(2007)])]
    ] as const
  )("of gzip that is %s is UnexpectedResponse with reason encoding", ([, body]) =>
    Effect.gen(function*() {
      const error = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
      assert.deepStrictEqual([error.status, error.reason, error.shape.includes("corrupt gzip")], [
        200,
        "encoding",
        true
      ])
    }))

  it.effect("of gzip that decompresses to more than maxBodySize is UnexpectedResponse with reason size", () =>
    Effect.gen(function*() {
      const body = new Uint8Array(gzipSync(Buffer.alloc(64 * 1024 * 1024 + 1, 0x20)))
      const error = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
      assert.deepInclude(error, { reason: "size", status: 200, shape: "no content type, more than 67108864 bytes" })
    }))

  it.effect("of exactly 64 KiB that is not decoded is complete", () =>
    Effect.gen(function*() {
      const error = yield* failed(
        deleteEventStream,
        { id },
        Testing.reply({ status: 500, body: new Uint8Array(65536) })
      )
      assert.deepInclude(error, { shape: "no content type, 65536 bytes" })
    }))

  it.effect.each([
    ["[]", ""],
    ["7", ""],
    ["\"text\"", ""],
    ["true", ""],
    ["", ""],
    ["null", ""],
    ["{}", "id"],
    ["{\"id\":7,\"type\":\"t\",\"status\":\"s\"}", "id"],
    ["{\"id\":\"1\",\"type\":\"t\",\"status\":\"s\",\"fields\":[{\"name\":\"a\"},{\"name\":7}]}", "fields[1].name"],
    ["{\"id\":\"1\",\"type\":\"t\",\"status\":\"s\",\"limit\":\"7\",\"created_at\":null}", "limit"]
  ])(
    "that the schema refuses is reported with the path of the first wrong field: %s",
    ([body = "", path = ""]) =>
      Effect.gen(function*() {
        const error = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
        assert.deepStrictEqual([error._tag, error.reason, error.path ?? ""], ["UnexpectedResponse", "schema", path])
        assert.deepStrictEqual(Object.entries(error).filter(([, value]) => value === undefined), [])
        assert.isTrue(
          error.message.startsWith(
            `createUsersExport: status 200 from tenant.example.com: ${
              // Nothing shows that an empty body is the service's own.
              body === ""
                ? ""
                : "the change was carried out, but its response cannot be used: "}unexpected response body${
              path === "" ? "" : ` at ${path}`
            }: `
          ),
          error.message
        )
      })
  )

  const page = Buffer.from("<title lang=de>Gr\xF6\xDFe</title>", "latin1")

  it.effect.each(
    [
      ["html", createUsersExport, {}, { body: page }, "a web page"],
      ["html", deleteEventStream, { id }, { body: page }, "a web page"],
      ["html", deleteEventStream, { id }, { body: Buffer.concat([Buffer.from("\r\n\t "), page]) }, "a web page"],
      ["encoding", createUsersExport, {}, { body: Buffer.from("\"Gr\xF6\xDFe\"", "latin1") }, "not valid UTF-8"],
      ["json", createUsersExport, {}, { body: "OK" }, "not JSON"],
      ["json", createUsersExport, {}, { body: "1<2" }, "not JSON"],
      ["redirect", createUsersExport, {}, { status: 302 }, "a redirect"]
    ] as const
  )(
    "%#: fails with reason %s, and the message says so",
    ([reason, operation, input, reply, message]) =>
      Effect.gen(function*() {
        const error = (yield* failed(operation, input, Testing.reply(reply))) as Errors.UnexpectedResponse
        assert.strictEqual(error.reason, reason)
        assert.include(error.message, message)
        if (reason === "html") assert.include(error.shape, "a web page titled \"Gr\uFFFD\uFFFDe\"")
      })
  )

  it.effect("that is a web page is described by its title if that is near the beginning", () =>
    Effect.gen(function*() {
      for (const [before, isDescribed] of [[16_000, true], [17_000, false]] as const) {
        const body = `<!--${" ".repeat(before)}--><title>Sorry</title>`
        const { shape } = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
        assert.strictEqual(shape.includes("Sorry"), isDescribed)
      }
    }))

  it.effect("of status 300 is not decoded", () =>
    Effect.gen(function*() {
      const reply = Testing.reply({ status: 300, body: new Uint8Array(70_000) })
      const shape = "no content type, more than 65536 bytes"
      assert.deepInclude(yield* failed(createUsersExport, {}, reply), { reason: "redirect", shape })
    }))

  it.effect.each(["\x1F is no gzip", "\u010B is none either"])(
    "that begins as gzip by half is text: %j",
    (body) =>
      Effect.gen(function*() {
        const { raw } =
          (yield* failed(createUsersExport, {}, Testing.reply({ status: 400, body }))) as Errors.BadRequest
        assert.strictEqual(raw && Redacted.value(raw), body)
      })
  )

  it.effect("that is not JSON is UnexpectedResponse with reason json", () =>
    Effect.gen(function*() {
      for (const body of ["OK", "{\"id\":", "{id:1}", "\u00A0{}x"]) {
        assert.deepInclude(yield* failed(createUsersExport, {}, Testing.reply({ body })), {
          reason: "json",
          status: 200
        })
      }
    }))

  it.effect("has the service's request identifier, whichever header contains it", () =>
    Effect.forEach(["x-auth0-requestid", "x-request-id", "x-correlation-id"], (name) =>
      Effect.gen(function*() {
        const reply = Testing.reply({ status: 400, headers: { [name]: "request-1" } })
        assert.deepInclude(yield* failed(createUsersExport, {}, reply), { requestId: "request-1" })
      })))

  it.effect("that cannot be decoded is reported with all that an error response says", () =>
    Effect.gen(function*() {
      const headers = { "x-request-id": "request-1", "retry-after": "7", "content-type": "application/json" }
      const error = yield* failed(createUsersExport, {}, Testing.reply({ headers, body: "{\"errorCode\":\"a_code\"}" }))
      const { contentType, errorCode, raw, requestId, retryAfter, shape } = error as Errors.UnexpectedResponse
      assert.deepStrictEqual(
        [
          contentType,
          errorCode,
          requestId,
          retryAfter && Duration.toMillis(retryAfter),
          raw && Redacted.value(raw),
          shape
        ],
        [
          "application/json",
          "a_code",
          "request-1",
          7000,
          "{\"errorCode\":\"a_code\"}",
          "application/json, 22 bytes, an object of errorCode"
        ]
      )
    }))

  it.effect("with many fields is described by the first twenty", () =>
    Effect.gen(function*() {
      const body = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`m${index}`, index]))
      const { shape } = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
      assert.deepStrictEqual([shape.includes("m19"), shape.includes("m20")], [true, false])
    }))

  it.effect("is described by the names of its fields, unless they are content", () =>
    Effect.gen(function*() {
      const names = ["items_2b", "x".repeat(40), "x".repeat(41), "jane@example.com", "1st", "u1234", "a1-", "é"]
      const body = Object.fromEntries(names.map((name) => [name, 0]))
      const { shape } = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
      assert.include(shape, `an object of items_2b, ${"x".repeat(40)}, *, *, *, *, *, *`)
    }))

  it.effect("may have fields with the names of JavaScript's own properties", () =>
    Effect.gen(function*() {
      const body =
        `{"id":"1","type":"t","status":"s","created_at":null,"__proto__":{"a":1},"constructor":null,"toString":7}`
      const found = (yield* resultOf(createUsersExport, {}, Testing.reply({ body }))) as object
      assert.deepStrictEqual(Object.keys(found).sort(), [
        "__proto__",
        "constructor",
        "id",
        "status",
        "toString",
        "type"
      ])
      assert.strictEqual(Object.getPrototypeOf(found), Object.prototype)
    }))
})

describe("nulls of optional fields", () => {
  interface Tree {
    readonly name?: string
    readonly children?: ReadonlyArray<Tree>
  }
  const Tree: Schema.Schema<Tree> = Schema.Struct({
    name: Schema.optionalWith(Schema.String, { exact: true }),
    children: Schema.optionalWith(Schema.Array(Schema.suspend((): Schema.Schema<Tree> => Tree)), { exact: true })
  })
  const list = Operation.make("list", () => ({
    method: "GET",
    path: "/trees",
    success: Schema.Struct({
      tree: Tree.pipe(Schema.filter(() => true)),
      either: Schema.Union(Schema.Struct({ a: Schema.optionalWith(Schema.Number, { exact: true }) }), Schema.String),
      pair: Schema.Tuple(Schema.NullOr(Schema.String), Schema.Number),
      nothing: Schema.NullOr(Schema.String)
    }),
    scope: "read:trees",
    idempotent: true,
    error: [Errors.RateLimited]
  }))
  const body = { tree: {}, either: "text", pair: [null, 1], nothing: null }

  it.effect.each(
    [
      [{ tree: { name: null, children: [{ name: null }, { name: "x", children: null }] } }, {
        tree: { children: [{}, { name: "x" }] }
      }],
      [{ either: { a: null } }, { either: {} }],
      [{ tree: { name: null }, pair: [null, 1], nothing: null }, {}]
    ] as const
  )("%#: are removed through every kind of schema, and others stay", ([holed, clean]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* resultOf(list, {}, Testing.reply({ body: { ...body, ...holed } })), {
        ...body,
        ...clean
      })
    }))

  it.effect("a tree of 20,000 levels is UnexpectedResponse", () =>
    Effect.gen(function*() {
      const deep = `${"{\"children\":[".repeat(20_000)}${"]}".repeat(20_000)}`
      const text = JSON.stringify(body).replace("{}", deep)
      const error = (yield* failed(list, {}, Testing.reply({ body: text }))) as Errors.UnexpectedResponse
      assert.deepInclude(error, { _tag: "UnexpectedResponse", status: 200, reason: "schema" })
      assert.strictEqual(error.raw && Redacted.value(error.raw), text)
    }))

  it.effect.each(
    [[{ tree: { children: {} } }, "tree"], [{ tree: { children: 7 } }, "tree"], [{ either: null }, "either"]] as const
  )(
    "%#: do not hide other errors",
    ([wrong, path]) =>
      Effect.gen(function*() {
        const error = yield* failed(
          list,
          {},
          Testing.reply({ body: { ...body, ...wrong, tree: { name: null, ...("tree" in wrong ? wrong.tree : {}) } } })
        )
        assert.isTrue((error as Errors.UnexpectedResponse).path?.startsWith(path))
      })
  )
})

describe("a response from another URL", () => {
  const fetched = (operation: Subject, response: Response) =>
    Effect.flip(call(operation, sample(operation))).pipe(
      Effect.provide(over(FetchHttpClient.layer)),
      Effect.provideService(FetchHttpClient.Fetch, () => Promise.resolve(response))
    )
  const redirected = (response: Response) => Object.defineProperty(response, "redirected", { value: true })

  it.effect("is UnexpectedResponse with reason redirect if a user's fetch followed a redirect", () =>
    Effect.forEach(
      [updateTokenExchangeProfile, listActionVersions, deleteEventStream] as ReadonlyArray<Subject>,
      (operation) =>
        Effect.gen(function*() {
          assert.deepInclude(yield* fetched(operation, redirected(new Response("{}"))), {
            reason: "redirect",
            status: 200
          })
        })
    ))

  it.effect("is UnexpectedResponse with reason redirect if it has no status", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* fetched(deleteEventStream, Response.error()), { reason: "redirect", status: 0 })
    }))
})

describe("a success that is a text", () => {
  const reply = (contentType: string, body = "OK") => Testing.reply({ headers: { "content-type": contentType }, body })
  const input = { id: "tep_1", name: "name" }

  it.effect("has no value where the value is optional", () =>
    Effect.gen(function*() {
      for (const body of ["OK", "true", "1", "\"OK\""]) {
        assert.isUndefined(yield* resultOf(updateTokenExchangeProfile, input, reply("text/plain; charset=utf-8", body)))
      }
    }))

  it.effect("has its value if it is JSON, and is unexpected if only a part of that came", () =>
    Effect.gen(function*() {
      const body = JSON.stringify({ id: "tep_1", name: "name" })
      assert.deepInclude(yield* resultOf(updateTokenExchangeProfile, input, reply("text/plain", body)), { id: "tep_1" })
      for (const part of [body.slice(0, 18), "[", "\n {"]) {
        const error = yield* failed(updateTokenExchangeProfile, input, reply("text/plain", part))
        assert.deepInclude(error, { _tag: "UnexpectedResponse", reason: "json" })
      }
    }))

  it.effect("is unexpected as JSON or HTML, and where a value is required", () =>
    Effect.gen(function*() {
      const failures = [
        yield* failed(updateTokenExchangeProfile, input, reply("application/json")),
        yield* failed(updateTokenExchangeProfile, input, reply("text/plain", "<html>Sign in</html>")),
        yield* failed(createUsersExport, {}, reply("text/plain")),
        yield* failed(createUsersExport, {}, reply("text/plain", "true")),
        yield* failed(updateTokenExchangeProfile, input, reply("application/json", "true"))
      ]
      assert.deepStrictEqual(
        failures.map((error) => error instanceof Errors.UnexpectedResponse && error.reason),
        ["json", "html", "json", "schema", "schema"]
      )
    }))
})

describe("the message of a 404", () => {
  const reply = Testing.reply({ status: 404, body: { statusCode: 404, error: "Not Found", message: "Not Found" } })
  const message = (url: string, operation: Subject, input: object) =>
    Effect.map(
      Effect.flip(call(operation, input)).pipe(Effect.provide(over(Testing.layerHttp(reply), url))),
      (error) => String(error)
    )

  it.effect("says operation, status, host, and that the base URL may lack its prefix", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* message("https://tenant.example.com:8443", deleteEventStream, { id }),
        "UnexpectedResponse: deleteEventStream: status 404 from tenant.example.com:8443: Not Found (does the base URL lack /api/v2?)"
      )
      assert.strictEqual(
        yield* message("https://tenant.example.com/api", updateTokenExchangeProfile, { id: "tep_1", name: "Name" }),
        "NotFound: updateTokenExchangeProfile: Not Found (does the base URL lack /api/v2?)"
      )
    }))

  it.effect("does not hint at a prefix that is there", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* message("https://tenant.example.com/api/v2", deleteEventStream, { id }),
        "UnexpectedResponse: deleteEventStream: status 404 from tenant.example.com: Not Found"
      )
    }))
})
