/** Tests of input validation. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as RequestInput from "../../../src/tenant/server/requestInput.js"

describe("validate", () => {
  it("names the first invalid field and all types that it may have", () => {
    const fields = {
      one: Schema.Union(Schema.Number, Schema.Struct({ a: Schema.Boolean })),
      other: Schema.Number
    }
    const messageOf = (value: unknown) =>
      Either.match(RequestInput.validatePart("Payload", fields, Either.right(value)), {
        onLeft: ({ body }) => JSON.parse(String(body)).message,
        onRight: () => undefined
      })
    const message = "Payload validation error: 'Expected number' on property one"
    assert.strictEqual(messageOf({ one: { a: 1 }, other: "2" }), message)
    assert.isUndefined(messageOf({ one: { a: true }, other: 2 }))
  })
})
