/** Tests of the OpenAPI document of a tenant that serves operations of a program: it describes them as they are declared. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Endpoint from "../../../src/Endpoint.js"
import * as Errors from "../../../src/Errors.js"
import * as Operation from "../../../src/Operation.js"
import { File, string } from "../../../src/Schemas.js"
import * as Tenant from "../../../src/Tenant.js"
import { call, itInProcess } from "../support/calls.js"
import { listUsers, putTags } from "../support/operations.js"

/** What a document has at the end of these names. */
const at = (document: unknown, ...names: ReadonlyArray<string>): unknown =>
  names.reduce((value, name) => Predicate.isRecord(value) ? value[name] : undefined, document)

/** The description of an operation in the document of a tenant that serves it. */
const described = (operation: { readonly endpoint: Endpoint.Any }) =>
  Effect.map(Tenant.make({ operations: [operation] }), ({ openapi }) => {
    const { method, path } = operation.endpoint
    return at(openapi, "paths", `/api/v2${path.replace(/:(\w+)/g, "{$1}")}`, method.toLowerCase())
  })

const failure = (status: number | "default") => ({ $ref: `#/components/responses/${status}` })

const headers = Object.fromEntries(
  ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"].map((name) => [
    name,
    { $ref: `#/components/headers/${name}` }
  ])
)

describe("the document of added operations", () => {
  it.effect("describes a header, and a whole body that may be absent", () =>
    Effect.gen(function*() {
      const tag = { type: "object", required: ["name"], additionalProperties: false }
      assert.deepStrictEqual(yield* described(putTags), {
        operationId: "putTags",
        summary: "Put tags",
        description:
          "Needs one of the scopes `update:users`, `update:tags`. Idempotent: repeating the call is harmless.",
        security: ["update:users", "update:tags"].flatMap((scope) => [
          { clientCredentials: [scope] },
          { bearer: [scope] }
        ]),
        parameters: [
          { name: "id", in: "path", required: true, schema: { type: "string", minLength: 1 } },
          {
            name: "x-domain",
            in: "header",
            required: false,
            schema: { type: "string", description: "a string of at most 5 characters", minLength: 0, maxLength: 5 }
          }
        ],
        requestBody: {
          required: false,
          content: {
            "application/json": {
              schema: {
                type: "array",
                items: { ...tag, properties: { name: { type: "string" }, size: { type: "number" } } }
              }
            }
          }
        },
        responses: {
          200: {
            description: "OK",
            headers,
            content: {
              "application/json": {
                schema: {
                  type: "array",
                  items: { ...tag, properties: { name: { type: "string" } }, additionalProperties: true }
                }
              }
            }
          },
          ...Object.fromEntries([400, 401, 403, 429, "default" as const].map((status) => [status, failure(status)]))
        }
      })
    }))

  it.effect("describes a whole body that must be sent", () =>
    Effect.gen(function*() {
      const putThing = Operation.make("putThing", () => ({
        method: "PUT",
        path: "/thing",
        body: Schema.Struct({ name: Schema.String }),
        scope: "update:things",
        idempotent: true,
        error: [Errors.RateLimited]
      }))
      const schema = {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" } },
        additionalProperties: false
      }
      assert.deepStrictEqual(at(yield* described(putThing), "requestBody"), {
        required: true,
        content: { "application/json": { schema } }
      })
    }))

  it.effect("describes a multipart body, a token with any scopes, and a second call that takes effect", () =>
    Effect.gen(function*() {
      const importThings = Operation.make("importThings", () => ({
        method: "POST",
        path: "/imports",
        multipart: { things: File, upsert: Schema.optional(Schema.Boolean) },
        scope: [],
        idempotent: false,
        error: [Errors.RateLimited]
      }))
      assert.deepStrictEqual(yield* described(importThings), {
        operationId: "importThings",
        summary: "Import things",
        description: "Needs a token with any scopes. Not idempotent. A second call may take effect again.",
        security: [{ clientCredentials: [] }, { bearer: [] }],
        parameters: [],
        requestBody: {
          required: true,
          content: {
            "multipart/form-data": {
              schema: {
                type: "object",
                required: ["things"],
                properties: {
                  things: { type: "string", format: "binary" },
                  upsert: { type: "boolean" }
                },
                additionalProperties: false
              }
            }
          }
        },
        responses: { 204: { description: "No Content", headers }, 429: failure(429), default: failure("default") }
      })
    }))

  it.effect("describes server-sent events by the schema of their data, which may have further fields", () =>
    Effect.gen(function*() {
      const streamThings = Operation.make("streamThings", () => ({
        method: "GET",
        path: "/things/stream",
        events: Schema.Struct({ id: Schema.String }),
        scope: "read:things",
        idempotent: true,
        error: [Errors.RateLimited]
      }))
      const schema = {
        type: "object",
        required: ["id"],
        properties: { id: { type: "string" } },
        additionalProperties: true
      }
      assert.deepStrictEqual(at(yield* described(streamThings), "responses"), {
        200: { description: "OK", headers, content: { "text/event-stream": { schema } } },
        429: failure(429),
        default: failure("default")
      })
    }))

  it.effect("limits no page that the tenant does not limit", () =>
    Effect.gen(function*() {
      const parameter = (name: string, minimum: number) => ({
        name,
        in: "query",
        required: false,
        schema: { type: "integer", minimum }
      })
      assert.deepStrictEqual(at(yield* described(listUsers), "parameters"), [
        parameter("page", 0),
        parameter("per_page", 1)
      ])
    }))

  it.effect("describes none in the words of an operation of the package that has only its name or only its path", () =>
    Effect.gen(function*() {
      const get = <Name extends string>(name: Name, path: "/jobs/:id" | "/actions/actions/:id") =>
        Operation.make(name, () => ({
          method: "GET",
          path,
          params: { id: Schema.String },
          success: Schema.String,
          scope: "read:things",
          idempotent: true,
          error: [Errors.NotFound, Errors.RateLimited]
        }))
      const { openapi } = yield* Tenant.make({
        operations: [get("getAction", "/jobs/:id"), get("getJob", "/actions/actions/:id")]
      })
      const rows = [
        { path: "/api/v2/jobs/{id}", operationId: "getAction", summary: "Get action" },
        { path: "/api/v2/actions/actions/{id}", operationId: "getJob", summary: "Get job" }
      ]
      for (const { path, ...expected } of rows) {
        const operation = at(openapi, "paths", path, "get")
        assert.deepInclude(operation, {
          ...expected,
          description: "Needs the scope `read:things`. Idempotent: repeating the call is harmless."
        })
        assert.deepStrictEqual(at(operation, "responses", "404"), failure(404))
      }
    }))
})

const getThing = (id: Schema.Schema<string>) =>
  Operation.make("getThing", () => ({
    method: "GET",
    path: "/things/:kind/:id",
    params: { kind: Schema.String, id },
    scope: [],
    idempotent: true,
    error: [Errors.RateLimited]
  }))

describe("the document of an operation that declares no 400", () => {
  /** The schema of the document without its type, a text that it allows, and one that it does not. */
  type Row = readonly [title: string, id: Schema.Schema<string>, schema: object, allowed: string, refused?: string]
  const rows: ReadonlyArray<Row> = [
    ["any text", Schema.String, {}, "a"],
    ["text with a description", Schema.String.annotations({ description: "An id." }), { description: "An id." }, "a"],
    ["text with a title", Schema.String.annotations({ title: "Id" }), { title: "Id" }, "a"],
    ["text with examples", Schema.String.annotations({ examples: ["a"] }), { examples: ["a"] }, "b"],
    [
      "text with an example",
      Schema.String.annotations({ jsonSchema: { type: "string", example: "a" } }),
      { example: "a" },
      "b"
    ],
    ["text that is not empty", string({ min: 1 }), { description: "a string of at least 1 character" }, "a"],
    ["longer text", string({ min: 2 }), { minLength: 2, description: "a string of at least 2 characters" }, "ab", "a"],
    [
      "one character",
      Schema.String.pipe(Schema.maxLength(1, { title: "Id", description: "A letter." })),
      { maxLength: 1, title: "Id", description: "A letter." },
      "a",
      "ab"
    ],
    [
      "a text that may be empty elsewhere",
      string({ max: 2 }),
      {
        maxLength: 2,
        description: "a string of at most 2 characters"
      },
      "a",
      "abc"
    ],
    ["a pattern", string({ pattern: "^a" }), { pattern: "^a", description: "a string that matches ^a" }, "ab", "b"],
    [
      "a URI",
      string({ format: { name: "uri", description: "a URI", test: (text) => URL.canParse(text) } }),
      { format: "uri", description: "a URI" },
      "urn:a",
      "a"
    ]
  ]
  for (const [title, id, schema, allowed, refused] of rows) {
    const operation = getThing(id)
    itInProcess(
      `${refused === undefined ? "has none" : "has one"} if a parameter is ${title}, as the tenant responds`,
      () =>
        Effect.gen(function*() {
          const document = yield* described(operation)
          assert.deepStrictEqual(at(document, "parameters"), [
            { name: "kind", in: "path", required: true, schema: { type: "string", minLength: 1 } },
            { name: "id", in: "path", required: true, schema: { type: "string", minLength: 1, ...schema } }
          ])
          assert.deepStrictEqual(at(document, "responses"), {
            204: { description: "No Content", headers },
            ...(refused !== undefined && { 400: failure(400) }),
            429: failure(429),
            default: failure("default")
          })
          const statusOf = (id: string) =>
            Effect.map(call(operation.endpoint, { params: { kind: "any", id } }), ({ status }) => status)
          assert.strictEqual(yield* statusOf(allowed), 204)
          if (refused !== undefined) assert.strictEqual(yield* statusOf(refused), 400)
        }),
      { operations: [operation] }
    )
  }
})

it.effect("the document has operations that are given as objects, and ignores other values", () =>
  Effect.gen(function*() {
    const { endpoint } = getThing(Schema.String)
    const values = {
      endpoint: "https://tenant.test",
      a: null,
      b: { endpoint: "x" },
      c: () => ({}),
      thing: { endpoint }
    }
    const { openapi } = yield* Tenant.make({ operations: values })
    const builtIn = Object.keys(Object(Tenant.openapi["paths"]))
    assert.deepStrictEqual(
      Object.keys(Object(openapi["paths"])).filter((path) => !builtIn.includes(path)),
      [`/api/v2${endpoint.path.replace(/:(\w+)/g, "{$1}")}`]
    )
  }))
