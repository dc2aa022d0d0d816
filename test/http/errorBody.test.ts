/** Tests of error bodies: the message, the code, the scopes that would be enough, and what is hidden of each. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Redacted } from "effect"
import * as ErrorBody from "../../src/internal/http/errorBody.js"
import type { RawResponse } from "../../src/internal/http/rawExchange.js"

const token = "token-0123456789"
const scope = ["read:things", "read:all_things"]
const now = Date.parse("2026-01-02T03:04:05.000Z")

const response = (body: unknown, more: Partial<RawResponse> = {}): RawResponse => ({
  status: 400,
  headers: Headers.empty,
  body: typeof body === "string" ? body : JSON.stringify(body),
  completeness: "complete",
  redirected: false,
  ...more
})

const redactor = (...strings: ReadonlyArray<string>) => ErrorBody.makeRedactor(Redacted.make(token), () => strings)

const read = (response: RawResponse, ...strings: ReadonlyArray<string>) =>
  ErrorBody.read({ name: "getThing", scope }, response, now, redactor(...strings))

describe("an error response", () => {
  it("has what its body and its headers say", () => {
    const body = JSON.stringify({ message: "A reason.", errorCode: "a_code" })
    const headers = Headers.fromInput({
      "x-request-id": "request-1",
      "retry-after": "Fri, 02 Jan 2026 03:04:12 GMT",
      "x-ratelimit-limit": "10",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": "1767323050"
    })
    const { raw, resetAt, retryAfter, ...found } = read(response(body, { status: 429, headers }))
    assert.deepStrictEqual(found, {
      operation: "getThing",
      status: 429,
      message: "A reason.",
      errorCode: "a_code",
      requestId: "request-1",
      insufficientScope: false,
      required: scope,
      limit: 10,
      remaining: 0
    })
    assert.deepStrictEqual(
      [raw && Redacted.value(raw), resetAt && DateTime.formatIso(resetAt), retryAfter && Duration.toMillis(retryAfter)],
      [body, "2026-01-02T03:04:10.000Z", 7000]
    )
  })

  it("that says nothing has no more than its status and the declared scope", () => {
    const { raw, ...found } = read(response("", { status: 500 }))
    assert.deepStrictEqual(found, {
      operation: "getThing",
      status: 500,
      message: "no message (no content type, 0 bytes)",
      errorCode: undefined,
      requestId: undefined,
      retryAfter: undefined,
      insufficientScope: false,
      required: scope,
      limit: undefined,
      remaining: undefined,
      resetAt: undefined
    })
    assert.strictEqual(raw && Redacted.value(raw), "")
  })

  it.each<readonly [title: string, body: object, message: string, errorCode: string | undefined]>([
    [
      "message before all others",
      {
        message: "first",
        error_description: "second",
        description: "third",
        error: "fourth",
        errorCode: "one",
        code: "two"
      },
      "first",
      "one"
    ],
    [
      "error_description before description",
      { error_description: "second", description: "third", code: "two" },
      "second",
      "two"
    ],
    ["description before error", { description: "third", error: "a_code" }, "third", "a_code"],
    ["error, which is a code without statusCode", { error: "a_code" }, "a_code", "a_code"],
    ["error, which is a phrase beside statusCode", { statusCode: 400, error: "Bad Request" }, "Bad Request", undefined],
    ["errorCode beside statusCode", { statusCode: 400, error: "Bad Request", errorCode: "one" }, "Bad Request", "one"],
    [
      "none of the fields that are empty or no string",
      { message: "", error_description: 7, description: "third", errorCode: "", code: true, error: "three" },
      "third",
      "three"
    ]
  ])("has its message and code from %s", (_, body, message, errorCode) => {
    const found = read(response(body))
    assert.deepStrictEqual([found.message, found.errorCode], [message, errorCode])
  })
})

describe("a body without a message is described", () => {
  it.each<readonly [title: string, body: string, more: Partial<RawResponse>, shape: string]>([
    [
      "by its type",
      "OK",
      { headers: Headers.fromInput({ "content-type": "text/plain; charset=utf-8" }) },
      "text/plain; charset=utf-8, 2 bytes"
    ],
    ["as a list", "[1,2,3]", {}, "no content type, 7 bytes, a list of 3"],
    ["as an empty list", "[]", {}, "no content type, 2 bytes, a list of 0"],
    ["as an object", "{\"a\":1,\"b c\":2}", {}, "no content type, 15 bytes, an object of a, *"],
    ["as an empty object", "{}", {}, "no content type, 2 bytes, an empty object"],
    ["as no other JSON", "null", {}, "no content type, 4 bytes"],
    [
      "as a web page",
      "\n<html><title lang=en>\n Sorry \n</title>",
      {},
      "no content type, 39 bytes, a web page titled \"Sorry\""
    ],
    ["as no web page without a title", "<p>Sorry</p>", {}, "no content type, 12 bytes"],
    ["as no web page that begins otherwise", "Sorry <title>x</title>", {}, "no content type, 22 bytes"],
    ["as interrupted", "{", { completeness: "interrupted" }, "no content type, 1 bytes, interrupted"],
    ["as truncated", "[", { completeness: "truncated" }, "no content type, more than 1 bytes"],
    ["as corrupt", "\u001f", { completeness: "corrupt" }, "no content type, 1 bytes, corrupt gzip"]
  ])("%s", (_, body, more, shape) => {
    assert.strictEqual(read(response(body, more)).message, `no message (${shape})`)
    assert.strictEqual(ErrorBody.shape(response(body, more), redactor()), shape)
  })
})

describe("the scopes that would be enough", () => {
  const required = (body: object, challenge?: string, status = 403, ...strings: ReadonlyArray<string>) => {
    const headers = challenge === undefined ? Headers.empty : Headers.fromInput({ "www-authenticate": challenge })
    const found = read(response(body, { status, headers }), ...strings)
    return found.insufficientScope ? found.required : [found.insufficientScope, found.required]
  }
  const insufficient = { errorCode: "insufficient_scope" }
  const message = "Insufficient scope, expected any of: read:users,update:users_app-metadata"
  const challenge = `Bearer error="insufficient_scope", scope="create:a delete:b", realm="update:c"`
  const many = Array.from({ length: 25 }, (_, nth) => `read:thing${nth}`)

  it.each<readonly [title: string, found: unknown, expected: unknown]>([
    ["are those of the message", required({ message }), ["read:users", "update:users_app-metadata"]],
    ["are those of the challenge", required(insufficient, challenge), ["create:a", "delete:b"]],
    ["are those of the message rather than of the challenge", required({ message }, challenge), [
      "read:users",
      "update:users_app-metadata"
    ]],
    ["are those of the challenge if the message names none", required({ message: "INSUFFICIENT SCOPE" }, challenge), [
      "create:a",
      "delete:b"
    ]],
    ["are not asked for if nothing names any", required(insufficient, "Bearer realm=\"read:c\""), [false, scope]],
    [
      "are not asked for where the plan lacks the feature",
      required({ ...insufficient, message: "Please upgrade your subscription to use this feature" }),
      [false, scope]
    ],
    ["are whole words", required({ message: "insufficient scope: reread:a -read:b x:read:c read: read:d" }), [
      "reread:a",
      "read:d"
    ]],
    [
      "may have any verb, as the service names it",
      required({ message: "Insufficient scope, expected any of: blacklist:tokens,access:my-thing, read:users" }),
      ["blacklist:tokens", "access:my-thing", "read:users"]
    ],
    ["may have any verb in a challenge", required(insufficient, "Bearer scope=\"openid rotate:keys urn:a:b\""), [
      "rotate:keys"
    ]],
    [
      "are no other words with a colon",
      required({ ...insufficient, message: "The tenant:acme lacks scope for urn:a:b, see https://x.test/a: 12:30" }),
      [false, scope]
    ],
    [
      "are those with the usual verbs where the message has no list",
      required({ ...insufficient, message: "The client:abc needs read:users or delete:users" }),
      ["read:users", "delete:users"]
    ],
    ["are at most twenty", required({ ...insufficient, message: many.join(" ") }), many.slice(0, 20)],
    [
      "are no strings of the input",
      required({ message: "Insufficient scope: read:secret-plan read:b" }, undefined, 403, "secret-plan"),
      ["read:b"]
    ],
    ["are not asked for by another status", required({ ...insufficient, message }, challenge, 401), [false, scope]],
    ["are not asked for by another 403", required({ message: `No: ${message}`, errorCode: "other" }, challenge), [
      false,
      scope
    ]],
    ["are not asked for by a 403 without a message", required({}, challenge), [false, scope]]
  ])("%s", (_, found, expected) => assert.deepStrictEqual(found, expected))
})

describe("a redactor", () => {
  it("hides all strings and their parts in texts, and only whole long strings in codes", () => {
    const { clean, code } = redactor("seven77", "eight888", "nine99999")
    const texts = ["a_seven77_b", "a_eight888_b", "a_nine99999_b", "a_nine9999", `a_${token}`]
    assert.deepStrictEqual(texts.map(clean), ["a_…_b", "a_…_b", "a_…_b", "a_…", "a_…"])
    assert.deepStrictEqual(texts.map(code), ["a_seven77_b", "a_…_b", "a_…_b", "a_nine9999", "a_…"])
  })

  it("takes what cannot be a code for a text", () => {
    const { code } = redactor("seven77")
    assert.deepStrictEqual(["seven77!", "seven77\n", `${"a".repeat(121)} seven77`].map(code), [
      "…!",
      "… ",
      `${"a".repeat(121)} …`
    ])
  })

  it("collects the strings of the input once, and only if it is used", () => {
    let calls = 0
    const { clean, code } = ErrorBody.makeRedactor(Redacted.make(token), () => [`string${++calls}`])
    assert.strictEqual(calls, 0)
    assert.deepStrictEqual([clean("string1"), clean("string2"), code("code"), calls], ["…", "string2", "code", 1])
  })
})
