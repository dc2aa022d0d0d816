/** Tests of JSON Schemas as OpenAPI documents have them, of the names of types in issues, and of values for tests. */
import { assert, describe, it } from "@effect/vitest"
import { FastCheck, Schema } from "effect"
import { describe as describeType } from "../../src/internal/schema/issues.js"
import { makeJsonSchema } from "../../src/internal/schema/jsonSchema.js"
import { fromSchema } from "../../src/internal/schema/schemaTree.js"
import * as Schemas from "../../src/Schemas.js"
import { arbitraryOf } from "../support/schemaArbitrary.js"

const One = Schema.Struct({ id: Schema.String }).annotations({ identifier: "One" })

describe("a JSON Schema", () => {
  it("refers to types with an identifier, as OpenAPI documents do", () => {
    const made = makeJsonSchema(Schema.Struct({ ones: Schema.Array(One) }), true)
    assert.deepNestedInclude(made?.schema, { "properties.ones.items.$ref": "#/components/schemas/One" })
    assert.deepInclude(made?.definitions["One"], { type: "object", required: ["id"] })
  })

  it("allows other fields only where they are ignored", () => {
    for (const isStrict of [true, false]) {
      const schema = makeJsonSchema(Schema.Struct({ id: Schema.String }), isStrict)?.schema
      assert.propertyVal(schema, "additionalProperties", !isStrict)
    }
  })

  it("leaves out an infinite limit", () => {
    const schema = makeJsonSchema(Schemas.string({ min: 1, max: Infinity }), true)?.schema
    assert.propertyVal(schema, "minLength", 1)
    assert.notProperty(schema, "maxLength")
  })

  it("of a file is that of binary content", () => {
    assert.deepInclude(makeJsonSchema(Schemas.File, true)?.schema, {
      type: "string",
      format: "binary"
    })
  })
})

it("an issue names the kind of a type: an object, a list, a file", () => {
  const names: ReadonlyArray<readonly [schema: Schema.Schema.AnyNoContext, name: string]> = [
    [Schema.suspend(() => One), "an object"],
    [Schema.Union(Schema.Array(One), Schema.Undefined, Schema.Number), "a list or a number"],
    [One.pipe(Schema.filter(() => true)), "an object"],
    [Schemas.File, "a file"]
  ]
  for (const [schema, name] of names) assert.strictEqual(describeType(fromSchema(schema)), name)
})

describe("values for tests", () => {
  it("of a time are written in ISO 8601, and from 1970 on", () => {
    const times = FastCheck.sample(arbitraryOf(Schemas.string({ format: Schemas.dateTime })), 200)
    const years = times.map((time) => Number(/^(\d{4})-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.exec(time)?.[1]))
    assert.isAtLeast(Math.min(...years), 1970)
    assert.isAbove(Math.max(...years), 2000)
  })

  it("of a file have a content of each kind", () => {
    const contents = FastCheck.sample(arbitraryOf(Schemas.File), 200).map(({ content }) => content)
    assert.isTrue(contents.some((content) => typeof content === "string"))
    assert.isTrue(contents.some((content) => content instanceof Uint8Array))
    assert.isTrue(contents.some((content) => typeof content !== "string" && !(content instanceof Uint8Array)))
  })
})
