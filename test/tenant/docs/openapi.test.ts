/** The OpenAPI document is valid, and accepts the same inputs as the client. */
import { assert, describe, expect, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { docstring } from "../../../.ci/docs/operationPage.js"
import type * as Endpoint from "../../../src/Endpoint.js"
import * as Request from "../../../src/internal/http/requestEncoder.js"
import { version } from "../../../src/internal/http/requestEncoder.js"
import * as Tenant from "../../../src/Tenant.js"
import { descriptions } from "../../../src/tenant/docs/descriptions.js"
import { accepts, compiled, document, operationOf } from "../../support/openapi.js"
import { type FieldValues, operations, part, sample } from "../../support/operations.js"
import { action, itInProcess, listActionVersions, redeliverEvent, send, stream, tokenOf } from "../support/calls.js"
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
  [...variantsOf(input), part(input, endpoint.params)].filter(({ per_page: size, subject_token_type: type }) =>
    (typeof type !== "string" || type.length < 8 || type.length > 100 || URL.canParse(type)) &&
    !(Number.isInteger(size) && Number(size) > 100) // the client leaves it to the service to refuse them
  )

/** The same value with the fields of its objects in alphabetical order: their order says nothing. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(sorted) : Predicate.isRecord(value)
    ? Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]))
    : value

/** Operations whose ids the tenant refuses with 400, though their declarations have none. */
const refusedIds = ["redeliverEvent", "redeliverEvents", "getDelivery", "getEventStream"]

describe("the OpenAPI document", () => {
  it("equals openapi.json, which `npm test -- openapi --update` updates", async () => {
    const { info } = document
    assert.strictEqual(info.version, version)
    const withoutVersion = sorted({ ...document, info: { ...info, version: "(the version of the package)" } })
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
      if (refusedIds.includes(endpoint.name)) declared.add("400")
      assert.deepStrictEqual(
        Object.keys(responses).filter((status) => !status.startsWith("2")),
        [...[...declared].toSorted(), "default"]
      )
    }
  })

  it("has a licence, a server, and different words for each operation", () => {
    const { info, paths, servers } = Tenant.openapi as any
    assert.deepStrictEqual(info.license, { name: "MIT", identifier: "MIT" })
    assert.deepStrictEqual(servers.map(({ url }: { url: string }) => url), ["/"])
    const all = Object.values<any>(paths).flatMap((methods) => Object.values<any>(methods))
    assert.strictEqual(new Set(all.map(({ summary }) => summary)).size, all.length)
    for (const { summary } of all) assert.notInclude(summary, "`", "a summary is plain text")
  })

  it("says in the words of the docstrings what an operation does, and when it fails", () => {
    const plain = (text: string) => text.replace(/\s+/g, " ")
    assert.sameMembers(Object.keys(descriptions), operations.map(({ endpoint }) => endpoint.name))
    for (const [name, { details = "", failures = {}, summary }] of Object.entries(descriptions)) {
      const text = plain(docstring(`operations/${name}.ts`, name))
      assert.isTrue(text.startsWith(summary), `${name}: ${summary}`)
      for (const sentence of details.match(/.+?[.:;](?= |$)/g) ?? []) assert.include(text, sentence.trim(), name)
      const ofDocstring = { 404: "NotFound", 409: "Conflict" }
      for (const [status, error] of Object.entries(ofDocstring)) {
        const [, meaning] = new RegExp(`with \\\`${error}\\\` if (.+?)(?:, and with|\\.)`).exec(text) ?? []
        const described = failures[Number(status)]
        assert.strictEqual(described === undefined, meaning === undefined, `${name} ${status}`)
        const expected = (meaning ?? "").replace(/\bit is\b/, "The stream is")
        assert.isTrue(
          (described ?? "").toLowerCase().startsWith(expected.toLowerCase()),
          `${name}: ${described} / ${expected}`
        )
      }
    }
  })

  it("has at most 100 items on a page with a number, and 400 for ids that are refused", () => {
    for (const { endpoint } of operations) {
      const { parameters = [], responses } = operationOf(endpoint)
      const size = parameters.find(({ name }) => name === "per_page")?.schema as { maximum?: number } | undefined
      if (size !== undefined) assert.strictEqual(size.maximum, 100)
      assert.property(responses, "400", endpoint.name)
    }
  })

  itInProcess(
    "is right about them: the tenant refuses 101 items, and an id that is too short",
    () =>
      Effect.gen(function*() {
        const token = yield* tokenOf()
        for (const query of ["?per_page=101", "?per_page=100"]) {
          const { status } = yield* send(listActionVersions, { params: { actionId: action.id }, query, token })
          assert.strictEqual(status, query.endsWith("1") ? 400 : 200)
        }
        for (const { endpoint } of operations.filter(({ endpoint }) => refusedIds.includes(endpoint.name))) {
          const params = Object.fromEntries(Object.keys(endpoint.params ?? {}).map((name) => [name, "short"]))
          assert.strictEqual(
            (yield* send(endpoint, { params, token, ...(endpoint.method !== "GET" && { body: {} }) })).status,
            400,
            endpoint.name
          )
        }
      })
  )

  itInProcess("agrees with what a second redelivery gets: 409", () =>
    Effect.gen(function*() {
      const params = { id: stream.id, event_id: stream.events[0].id }
      const token = yield* tokenOf()
      const statuses = yield* Effect.forEach([1, 2], () =>
        Effect.map(send(redeliverEvent, { params, token }), ({ status }) => status))
      assert.deepStrictEqual(statuses, [202, 409])
      const { description } = operationOf(redeliverEvent) as unknown as { readonly description: string }
      assert.include(description, "409")
      assert.notInclude(description, "takes effect again")
    }))

  it("has a valid example for each operation", () => {
    for (const operation of operations) {
      assert.isTrue(accepts(operation.endpoint, exampleOf(operation)), operation.endpoint.name)
    }
  })

  for (const operation of operations) {
    const { endpoint } = operation
    it(`accepts the same inputs of ${endpoint.name} as the client`, () => {
      const { per_page: size, ...rest } = sample(operation)
      const small = size === undefined ? rest : { ...rest, per_page: Number(size) % 101 }
      const accepted = variants(endpoint, small).map((input) => {
        const sent = Either.isRight(Request.validate(endpoint as Endpoint.Endpoint<unknown, unknown, unknown>, input))
        assert.strictEqual(accepts(endpoint, input), sent, JSON.stringify(input))
        return sent
      })
      assert.include(accepted, true)
      assert.include(accepted, false)
    })
  }
})
