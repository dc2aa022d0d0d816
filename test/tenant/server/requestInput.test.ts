/** Tests of input validation. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
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
})
