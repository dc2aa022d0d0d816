/** Tests of what becomes of a response: a value, nothing where that is allowed, or an error whose message says why. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Redacted, Schema } from "effect"
import type { Any } from "../../src/Endpoint.js"
import { createUsersExport, deleteEventStream, Errors, Operation } from "../../src/index.js"
import type { RawResponse } from "../../src/internal/http/rawExchange.js"
import { bodyLimit, interpret, isSuccess } from "../../src/internal/http/responseDecoder.js"
import { token } from "../support/client.js"

class Found extends Errors.statusError("Found", 302) {}

const declared = {
  method: "GET",
  path: "/things",
  scope: "read:things",
  idempotent: true,
  error: [Found, Errors.BadRequest, Errors.NotFound, Errors.RateLimited]
} as const

/** An operation with this success. */
const get = (success: Schema.Schema.AnyNoContext): Any => ({
  ...Operation.make("get", () => declared).endpoint,
  success
})

const { endpoint: subscribe } = Operation.make("subscribe", () => ({ ...declared, events: Schema.Unknown }))

/** Gives the value or the error that a response with this body becomes. */
const interpreted = (endpoint: Any, body: string, more: Partial<RawResponse> = {}, tenant = "/api/v2") =>
  Effect.map(Effect.clock, (clock): unknown => {
    const headers = Headers.fromInput({ "content-type": "application/json" })
    const complete = { status: 200, headers, body, completeness: "complete", redirected: false, ...more } as const
    const response = { ...complete, token: Redacted.make(token) }
    return Either.merge(interpret(endpoint, `https://tenant.example.com${tenant}`, response, () => [], clock))
  })

const typed = (contentType: string) => ({ headers: Headers.fromInput({ "content-type": contentType }) })

describe("a status", () => {
  it("is a success from 200 to 299", () => {
    assert.deepStrictEqual([0, 199, 200, 299, 300, 500].map(isSuccess), [false, false, true, true, false, false])
  })

  it("limits the body to that of an error, unless it is a success that is decoded", () => {
    assert.deepStrictEqual([199, 200, 299, 300].map(bodyLimit(createUsersExport.endpoint, 7)), [65_536, 7, 7, 65_536])
    assert.deepStrictEqual([200, 400].map(bodyLimit(deleteEventStream.endpoint, 7)), [65_536, 65_536])
  })
})

describe("a response that is refused", () => {
  const known = { _tag: "UnexpectedResponse", operation: "get", status: 200, contentType: "application/json" }
  const from = (source: string, status = 200) => `get: status ${status} from ${source}: `

  it.effect.each<readonly [string, string, Partial<RawResponse>, object]>([
    ["as a redirect, though the operation declares its status", "", { status: 302 }, {
      status: 302,
      reason: "redirect",
      message: `${from("tenant.example.com", 302)}the response is a redirect, which the client does not follow`,
      shape: "application/json, 0 bytes"
    }],
    ["as that of another URL", "{\"id\":\"1\"}", { redirected: true }, {
      reason: "redirect",
      message: `${from("another URL")}the HTTP client followed a redirect, so the response may be another service's`,
      shape: "application/json, 10 bytes, an object of id"
    }],
    ["as no JSON", "OK", {}, {
      reason: "json",
      message: `${from("tenant.example.com")}the response body is not JSON`,
      shape: "application/json, 2 bytes"
    }],
    ["as truncated", "[", { completeness: "truncated" }, {
      reason: "size",
      message: `${from("tenant.example.com")}the response body is larger than maxBodySize`,
      shape: "application/json, more than 1 bytes"
    }],
    ["as corrupt", "[", { completeness: "corrupt" }, {
      reason: "encoding",
      message: `${from("tenant.example.com")}the response body is not valid UTF-8 or gzip`,
      shape: "application/json, 1 bytes, corrupt gzip"
    }]
  ])("is reported %s, without a path", ([, body, more, expected]) =>
    Effect.gen(function*() {
      const error = yield* interpreted(get(Schema.Struct({ id: Schema.String })), body, more)
      assert.deepInclude(error, { ...known, ...expected })
      assert.notProperty(error, "path")
    }))
})

describe("an absent value", () => {
  it.effect.each(["", " \r\n\t", "null", "\"\""])("is %j where a value is optional", (body) =>
    Effect.gen(function*() {
      assert.isUndefined(yield* interpreted(get(Schema.UndefinedOr(Schema.Struct({}))), body))
    }))

  it.effect.each<readonly [string, Schema.Schema.AnyNoContext, string, unknown]>([
    ["an empty text where each text is a value", Schema.String, "\"\"", ""],
    ["an empty text where there may be none", Schema.UndefinedOr(Schema.String), "\"\"", undefined],
    ["null where it is a value", Schema.NullOr(Schema.String), "null", null],
    ["null where there may be none", Schema.UndefinedOr(Schema.NullOr(Schema.String)), "null", undefined]
  ])("differs from a value: %s", ([, success, body, value]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* interpreted(get(success), body), value)
    }))
})

describe("a text", () => {
  const endpoint = get(Schema.UndefinedOr(Schema.Number))

  it.effect.each<readonly [string, string, unknown]>([
    ["text/plain", "7", 7],
    ["TEXT/PLAIN;charset=utf-8", "OK", undefined],
    ["text/plain", "OK [done] {}", undefined]
  ])("of type %s that is %j is a success", ([contentType, body, value]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* interpreted(endpoint, body, typed(contentType)), value)
    }))

  it.effect.each(["application/json; was=text/plain", "text/plainer"])(
    "is unexpected if its type is %s",
    (type) =>
      Effect.gen(function*() {
        assert.deepInclude(yield* interpreted(endpoint, "OK", typed(type)), { reason: "json", contentType: type })
      })
  )
})

describe("server-sent events", () => {
  it.effect.each(["application/json", "application/x; was=text/event-stream", "text/event-streams"])(
    "are not expected in a response of type %s",
    (type) =>
      Effect.gen(function*() {
        assert.deepInclude(yield* interpreted(subscribe, "data: 1\n\n", typed(type)), {
          _tag: "UnexpectedResponse",
          reason: "schema",
          message:
            "subscribe: status 200 from tenant.example.com: unexpected response body: expected server-sent events"
        })
      })
  )
})

describe("a hint at the prefix of the base URL", () => {
  const hint = " (does the base URL lack /api/v2?)"

  it.effect.each<readonly [string, number, string, string]>([
    ["", 404, "Not Found", `NotFound: Not Found${hint}`],
    ["/api", 404, "not found.", `NotFound: not found.${hint}`],
    ["/api/v2", 404, "Not Found", "NotFound: Not Found"],
    ["", 404, "User not found", "NotFound: User not found"],
    ["", 404, "Not found: user", "NotFound: Not found: user"],
    ["", 400, "Not Found", "BadRequest: Not Found"]
  ])(
    "is given only if a bare 404 says no more: %j, %i %s",
    ([tenant, status, message, expected]) =>
      Effect.gen(function*() {
        const error = yield* interpreted(get(Schema.Unknown), JSON.stringify({ message }), { status }, tenant)
        assert.strictEqual(String(error).replace(/ \w+:/, ""), expected)
      })
  )
})
