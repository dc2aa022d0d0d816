/** The document of the control interface is valid, and says what is sent and refused. */
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, expect, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { version } from "../../../src/internal/http/requestEncoder.js"
import { endpoints, type Exchanges } from "../../../src/tenant/control/http/api.js"
import { make } from "../../../src/tenant/control/http/openapi.js"
import type { StreamMessage } from "../../../src/tenant/control/http/schemas.js"
import { action, listActionVersions, send, stream, tokenOf } from "../support/calls.js"
import { control, itControlled, messages } from "../support/control.js"

// Sound: a test validates it against the schema of OpenAPI 3.1.
const document = make("http://localhost:8787") as any

const validator = (schema: object) => {
  const ajv = new Ajv2020({ strict: true, allErrors: true })
  ajv.addVocabulary(["components"])
  const check = ajv.compile({ ...schema, components: document.components })
  return (value: unknown): string => check(value) ? "" : ajv.errorsText(check.errors)
}

const endpointOf = (name: keyof Exchanges) => endpoints.find((endpoint) => endpoint.name === name)!

const operationOf = (name: keyof Exchanges) => {
  const { method, path } = endpointOf(name)
  return document.paths[path.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()]
}

const responseSchema = (name: keyof Exchanges, status: string, type = "application/json") => {
  const response = operationOf(name).responses[status]
  return (response.$ref === undefined ? response : document.components.responses[status]).content[type].schema
}

/** The same value with the fields of its objects in alphabetical order. The majors of Effect write that of headers in different ways. */
const comparable = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(comparable) : Predicate.isRecord(value)
    ? Object.fromEntries(
      Object.keys(value).sort().map((name) => [name, name === "headers" ? "(a schema)" : comparable(value[name])])
    )
    : value

describe("the document of the control interface", () => {
  it("equals openapi.json, which `npm test -- openapi --update` updates", async () => {
    const { info } = document
    assert.strictEqual(info.version, version)
    const withoutVersion = comparable({ ...document, info: { ...info, version: "(the version of the package)" } })
    // The reporter would compare the lines of both for minutes: `git diff` shows them after an update.
    const isEqual = await expect(`${JSON.stringify(withoutVersion, null, 2)}\n`).toMatchFileSnapshot("openapi.json")
      .then(() => true, () => false)
    assert.isTrue(isEqual, "openapi.json differs: update it and look at the difference")
  })

  it.effect("is valid OpenAPI, and each schema compiles", () =>
    Effect.gen(function*() {
      const { errors, valid } = yield* Effect.promise(() => new Validator().validate(structuredClone(document)))
      assert.isTrue(valid, JSON.stringify(errors))
      for (const name of Object.keys(document.components.schemas)) validator({ $ref: `#/components/schemas/${name}` })
    }))

  it("describes every address and nothing else, each with its own words", () => {
    const described = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`)
    )
    assert.sameMembers(described, endpoints.map(({ method, path }) => `${method} ${path}`))
    const operations = endpoints.map(({ name }) => operationOf(name as keyof Exchanges))
    assert.strictEqual(new Set(operations.map(({ summary }) => summary)).size, operations.length)
    for (const { description, operationId, responses } of operations) {
      assert.include(endpoints.map(({ name }) => name), operationId)
      assert.isAbove(description.length, 20)
      assert.property(responses, "403")
    }
  })

  itControlled("is served, and describes each response that is sent", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      yield* send(listActionVersions, { params: { actionId: action.id }, token })
      yield* HttpClient.get("https://tenant.test/nowhere")
      const served = yield* control("GET", "/openapi.json")
      assert.deepStrictEqual(served.json, make("http://localhost:8787"))
      const saved = (yield* control("GET", "/save?secrets=include")).json
      const calls = [
        ["snapshot", "/state?secrets=include", undefined],
        ["requests", "/requests", undefined],
        ["request", "/requests/2", undefined],
        ["addFault", "/faults", { status: 500, headers: { a: null }, body: [1] }],
        ["snapshot", "/state", undefined],
        ["removeFault", "/faults/1", undefined],
        ["setBucket", "/buckets/tenant", { left: 3 }],
        ["issueToken", "/tokens", { client: "demo-full" }],
        ["revokeTokens", "/tokens/revoke", {}],
        ["failDeliveries", "/deliveries/fail", { stream: stream.id }],
        ["moveClock", "/clock", { forward: 1 }],
        ["save", "/save", undefined],
        ["load", "/load", saved],
        ["clearRequests", "/requests", undefined],
        ["removeFaults", "/faults", undefined],
        ["reset", "/reset", undefined]
      ] as const
      for (const [name, path, body] of calls) {
        const { json, status, text } = yield* control(endpointOf(name).method, path, { body })
        assert.strictEqual(status, 200, `${name}: ${text}`)
        assert.strictEqual(validator(responseSchema(name, "200"))(json), "", name)
        const media = operationOf(name).requestBody?.content["application/json"]
        assert.strictEqual(media === undefined, body === undefined, name)
        if (media !== undefined) assert.strictEqual(validator(media.schema)(body), "", name)
      }
      assert.sameMembers(
        [...new Set(calls.map(([name]) => name)), "openapi", "events"],
        endpoints.map(({ name }) => name)
      )
    }))

  itControlled("describes the messages of the stream", () =>
    Effect.gen(function*() {
      const first: StreamMessage = yield* Effect.flatten(Stream.runHead(messages))
      const check = validator(responseSchema("events", "200", "text/event-stream"))
      assert.strictEqual(check(first), "")
      assert.notStrictEqual(check({ type: "other" }), "")
    }))

  itControlled("describes each refusal, and refuses what the tenant refuses", () =>
    Effect.gen(function*() {
      const bodies: ReadonlyArray<readonly [keyof Exchanges, string, unknown]> = [
        ["addFault", "/faults", { status: 199 }],
        ["addFault", "/faults", { status: "500" }],
        ["addFault", "/faults", { status: 500, times: 0 }],
        ["addFault", "/faults", { delay: -1 }],
        ["addFault", "/faults", { cut: "after" }],
        ["addFault", "/faults", { status: 500, other: 1 }],
        ["setBucket", "/buckets/tenant", { left: -1 }],
        ["issueToken", "/tokens", {}],
        ["revokeTokens", "/tokens/revoke", { id: 1 }],
        ["failDeliveries", "/deliveries/fail", { times: -1 }],
        ["moveClock", "/clock", { forward: 0 }],
        ["load", "/load", { version: 1 }]
      ]
      for (const [name, path, body] of bodies) {
        const { json, status } = yield* control("POST", path, { body })
        assert.strictEqual(status, 400, `${name} ${JSON.stringify(body)}`)
        assert.strictEqual(validator(responseSchema(name, "400"))(json), "")
        assert.notStrictEqual(
          validator(operationOf(name).requestBody.content["application/json"].schema)(body),
          "",
          `${name} ${JSON.stringify(body)}`
        )
      }
      const refused = yield* control("GET", "/state", { headers: {} })
      assert.strictEqual(validator(responseSchema("snapshot", "403"))(refused.json), "")
      const missing = yield* control("GET", "/requests/99")
      assert.strictEqual(validator(responseSchema("request", "404"))(missing.json), "")
    }))
})
