/** The OpenAPI document is valid, and accepts the same inputs as the client. */
import { assert, describe, expect, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Endpoint from "../../../src/Endpoint.js"
import * as Request from "../../../src/internal/http/requestEncoder.js"
import { version } from "../../../src/internal/http/requestEncoder.js"
import * as Tenant from "../../../src/Tenant.js"
import { accepts, compiled, document, operationOf } from "../../support/openapi.js"
import { type FieldValues, operations, part, sample } from "../../support/operations.js"
import { exampleOf } from "../support/examples.js"

/** Other values: of any type, and with each inner field replaced, removed or added. */
const otherValues = (value: unknown): ReadonlyArray<unknown> => {
  const texts = ["", "ab", "abc", "x".repeat(8), ...[25, 26, 27, 50, 51, 100, 101].map((length) => "é".repeat(length))]
  const here = [...texts, "csv", "con_0123456789abcdef", "urn:example:x", 0, 1, -1, 1.5, true, null, [], {}]
  const inside = Array.isArray(value)
    ? value.flatMap((item, index) => otherValues(item).map((other) => value.toSpliced(index, 1, other)))
    : typeof value === "object" && value !== null
    ? [...variantsOf(value as FieldValues)]
    : []
  return [...here, ...inside]
}

const variantsOf = (input: FieldValues): ReadonlyArray<FieldValues> => [
  input,
  { ...input, unknown_field: "x" },
  ...Object.keys(input).map((name) => Object.fromEntries(Object.entries(input).filter(([other]) => other !== name))),
  ...Object.entries(input).flatMap(([name, value]) => otherValues(value).map((other) => ({ ...input, [name]: other })))
]

/**
 * The variants of an input, and the input without optional fields. Leaves out invalid URIs: a validator does not have to check
 * `format`.
 */
const variants = (endpoint: Endpoint.Any, input: FieldValues): ReadonlyArray<FieldValues> =>
  [...variantsOf(input), part(input, endpoint.params)].filter(({ subject_token_type: type }) =>
    typeof type !== "string" || type.length < 8 || type.length > 100 || URL.canParse(type)
  )

describe("the OpenAPI document", () => {
  it("equals openapi.json, which `npm test -- openapi --update` updates", async () => {
    const { info } = document
    assert.strictEqual(info.version, version)
    const withoutVersion = { ...document, info: { ...info, version: "(the version of the package)" } }
    // The reporter would compare the lines of both for minutes: `git diff` shows them after an update.
    const isEqual = await expect(`${JSON.stringify(withoutVersion, null, 2)}\n`).toMatchFileSnapshot("openapi.json")
      .then(() => true, () => false)
    assert.isTrue(isEqual, "openapi.json differs: update it and look at the difference")
  })

  it.effect("is valid OpenAPI", () =>
    Effect.gen(function*() {
      const { errors, valid } = yield* Effect.promise(() => new Validator().validate(structuredClone(document)))
      assert.isTrue(valid, JSON.stringify(errors))
    }))

  it("has only schemas that compile strictly and are used", () => {
    const names = Object.keys(document.components.schemas)
    assert.isAbove(names.length, 0)
    const text = JSON.stringify(document)
    for (const name of names) {
      compiled({ $ref: `#/components/schemas/${name}` })
      assert.include(text, `"#/components/schemas/${name}"`)
    }
  })

  it("describes every route as declared, and nothing else", () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) =>
        [
          method.toUpperCase(),
          path.replace(/\{([^}]+)\}/g, ":$1"),
          security.map((scheme) => Object.values(scheme)[0]?.[0])
        ].join(" ")
      )
    )
    assert.sameMembers(
      described,
      Tenant.routes.map(({ method, path, scopes }) =>
        [method, path, scopes.flatMap((scope) => [scope, scope])].join(" ")
      )
    )
    for (const { endpoint } of operations) {
      const { operationId, responses } = operationOf(endpoint)
      assert.strictEqual(operationId, endpoint.name)
      const declared = new Set(endpoint.error.map(({ status }) => String(status)))
      assert.deepStrictEqual(
        Object.keys(responses).filter((status) => !status.startsWith("2")),
        [...[...declared].toSorted(), "default"]
      )
    }
  })

  it("has a valid example for each operation", () => {
    for (const operation of operations) {
      assert.isTrue(accepts(operation.endpoint, exampleOf(operation)), operation.endpoint.name)
    }
  })

  for (const operation of operations) {
    const { endpoint } = operation
    it(`accepts the same inputs of ${endpoint.name} as the client`, () => {
      const accepted = variants(endpoint, sample(operation)).map((input) => {
        const sent = Either.isRight(Request.validate(endpoint as Endpoint.Endpoint<unknown, unknown, unknown>, input))
        assert.strictEqual(accepts(endpoint, input), sent, JSON.stringify(input))
        return sent
      })
      assert.include(accepted, true)
      assert.include(accepted, false)
    })
  }
})
