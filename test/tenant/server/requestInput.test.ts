/** Tests of input validation. */
import * as Headers from "@effect/platform/Headers"
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../../../src/Errors.js"
import * as Operation from "../../../src/Operation.js"
import * as RequestInput from "../../../src/tenant/server/requestInput.js"

describe("validate", () => {
  const fields = {
    one: Schema.Union(Schema.Number, Schema.Struct({ a: Schema.Boolean })),
    other: Schema.optional(Schema.Number)
  }
  const messageOf = (value: unknown) =>
    Either.match(RequestInput.validatePart("Payload", fields, Either.right(value)), {
      onLeft: ({ body }) => JSON.parse(String(body)).message,
      onRight: () => undefined
    })

  it.each(
    [
      [{ one: "1", other: "2" }, "'Expected a number or an object' on property one"],
      [{ one: { a: 1 }, other: "2" }, "'Expected a boolean' on property one.a"],
      [{ one: 1, other: "2" }, "'Expected a number' on property other"],
      [{ other: 2 }, "'is missing' on property one"],
      [{ one: 1, another: 2 }, "'unknown field' on property another"]
    ] as const
  )("names the first invalid field of %o, and all types that it may have", (value, message) => {
    assert.strictEqual(messageOf(value), `Payload validation error: ${message}`)
  })

  it("lets valid values pass", () => {
    assert.isUndefined(messageOf({ one: { a: true }, other: 2 }))
    assert.isUndefined(messageOf({ one: 1 }))
  })

  it.each(["text", 5, true, [[]]])("refuses %o, which is no object, where no fields are declared", (value) => {
    const refused = RequestInput.invalidField("Payload", { path: "", message: "Expected an object" })
    assert.deepStrictEqual(RequestInput.validatePart("Payload", {}, Either.right(value)), Either.left(refused))
  })
})

describe("readInput", () => {
  const { endpoint } = Operation.make("readIt", () => ({
    method: "GET",
    path: "/it/:id",
    params: { id: Schema.String },
    query: { page: Schema.Number },
    headers: { "x-mine": Schema.String, "x-more": Schema.optional(Schema.String) },
    scope: "read:it",
    idempotent: true,
    error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
  }))
  const readInput = (headers: Headers.Input, query = "page=2", unknownQuery: "refuse" | "ignore" = "refuse") =>
    RequestInput.readInput(
      endpoint,
      {
        headers: Headers.fromInput(headers),
        query: new URLSearchParams(query),
        body: Either.left({ path: "", message: "no body" })
      },
      { id: "a" },
      unknownQuery
    )

  it("refuses query parameters that are not declared, or ignores them if it is told so", () => {
    const query = "page=2&include_totals=true&fields%5B0%5D=a&constructor=b&__proto__=c"
    assert.isTrue(Either.isLeft(readInput({ "x-mine": "b" }, query)))
    assert.deepStrictEqual(
      readInput({ "x-mine": "b" }, query, "ignore"),
      Either.right({ id: "a", page: 2, "x-mine": "b" })
    )
    assert.isTrue(Either.isLeft(readInput({ "x-mine": "b" }, "page=two", "ignore")), "declared ones are still checked")
  })

  it("joins the path's parameters, the query's and the declared headers", () => {
    assert.deepStrictEqual(
      readInput({ "X-Mine": "b", accept: "c" }),
      Either.right({ "id": "a", "page": 2, "x-mine": "b" })
    )
  })

  it("refuses a request without a declared header", () => {
    const refused = RequestInput.invalidField("Header", { path: "x-mine", message: "is missing" })
    assert.deepStrictEqual(readInput({ accept: "c" }), Either.left(refused))
  })
})
