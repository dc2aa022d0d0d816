/** The harness finds what it looks for: declarations that differ from their document have faults, others none. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { parse } from "yaml"
import * as Errors from "../../src/Errors.js"
import * as Operation from "../../src/Operation.js"
import { integer, omittable, string } from "../../src/Schemas.js"
import { callAll } from "./harness/calls.js"
import { type JsonObject, objectOf, operationsOf, withRequiredFields } from "./harness/document.js"
import { load } from "./support/compile.js"
import { generated } from "./support/documents.js"

const thing = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "string" }, size: { type: ["integer", "null"] } }
}

const document: JsonObject = {
  paths: {
    "/things/{id}": {
      put: {
        security: [{ oauth: ["update:things", "update:all"] }],
        parameters: [
          { name: "id", in: "path", required: true, schema: { type: "string", maxLength: 9 } },
          { name: "tags", in: "query", schema: { type: "array", items: { type: "string" } } },
          { name: "X-Domain", in: "header", schema: { type: "string" } }
        ],
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: {
                type: "object",
                required: ["count"],
                properties: { count: { type: "integer", minimum: 1, maximum: 5 } }
              }
            }
          }
        },
        responses: {
          200: { content: { "application/json": { schema: thing } } },
          ...Object.fromEntries([400, 401, 403, 404].map((status) => [status, {}]))
        }
      }
    }
  }
}

const { BadRequest, Conflict, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } = Errors

const declaration = {
  method: "PUT",
  path: "/things/:id",
  params: { id: string({ max: 9 }) },
  query: { tags: Schema.optional(Schema.Array(Schema.String)) },
  headers: { "x-domain": Schema.optional(Schema.String) },
  payload: { count: integer({ min: 1, max: 5 }) },
  success: Schema.Struct({ id: Schema.String, size: omittable(Schema.NullOr(Schema.Number)) }),
  scope: ["update:things", "update:all"],
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
} as const

const faultsOf = (putThing: unknown) =>
  Effect.map(
    callAll(document, operationsOf(document), { putThing }),
    (reports) => reports.flatMap(({ faults }) => faults)
  )

describe("the harness", () => {
  it.live("finds nothing wrong with a declaration that fits", () =>
    Effect.map(faultsOf(Operation.make("putThing", () => declaration)), (faults) => assert.deepStrictEqual(faults, [])))

  const wrong: ReadonlyArray<readonly [what: string, operation: unknown, fault: RegExp]> = [
    ["a route", Operation.make("putThing", () => ({ ...declaration, path: "/thing/:id" })), /^was not generated$/],
    [
      "a scope too few",
      Operation.make("putThing", () => ({ ...declaration, scope: "update:all" })),
      /^with update:things: Insuf/
    ],
    [
      "a query without its parameter",
      Operation.make("putThing", () => ({ ...declaration, query: {} })),
      /^InvalidInput: putThing: tags/
    ],
    [
      "a failure too few",
      Operation.make("putThing", () => ({ ...declaration, error: declaration.error.toSpliced(4, 1) })),
      /^404: Unexp/
    ],
    [
      "a failure too many",
      Operation.make("putThing", () => ({ ...declaration, error: [...declaration.error, Conflict] })),
      /^409: Conf/
    ],
    [
      "a wider input",
      Operation.make("putThing", () => ({ ...declaration, payload: { count: Schema.Unknown } })),
      /for the invalid/
    ],
    [
      "a narrower input",
      Operation.make("putThing", () => ({ ...declaration, payload: { count: integer({ min: 2 }) } })),
      /^InvalidInput: putThing: count/
    ],
    [
      "a narrower result",
      Operation.make("putThing", () => ({
        ...declaration,
        success: Schema.Struct({ id: Schema.String, size: Schema.Number })
      })),
      /^UnexpectedResponse: .*size/
    ],
    [
      "no result",
      Operation.make("putThing", () => ({ ...declaration, success: Schema.UndefinedOr(Schema.Never) })),
      /./
    ]
  ]
  for (const [what, operation, fault] of wrong) {
    it.live(`finds ${what}`, () =>
      Effect.map(
        faultsOf(operation),
        (faults) => assert.isTrue(faults.some((each) => fault.test(each)), faults.join("\n"))
      ))
  }

  it.live("finds that a call is declared as idempotent or not", () =>
    Effect.gen(function*() {
      const get: JsonObject = { paths: { "/things": { get: { security: [], responses: { 204: {} } } } } }
      const listThings = Operation.make("listThings", () => ({
        method: "GET",
        path: "/things",
        scope: [],
        idempotent: false,
        error: [BadRequest, RateLimited]
      }))
      const [report] = yield* callAll(get, operationsOf(get), { listThings })
      assert.deepStrictEqual(report?.faults, ["a GET is declared as not idempotent"])
    }))

  it.live("finds nothing wrong with what is generated of an ordinary document", () =>
    Effect.gen(function*() {
      const ordinary = parse(readFileSync("test/generate/harness/ordinary.yaml", "utf8"))
      const { files, leftOut } = yield* generated(ordinary)
      assert.deepStrictEqual(leftOut, [])
      const described = objectOf(withRequiredFields(ordinary))
      const reports = yield* callAll(described, operationsOf(described), yield* Effect.promise(() => load(files)))
      assert.deepStrictEqual(reports.map(({ faults, name }) => [name, faults]), [
        ["createJob", []],
        ["putClosed", []],
        ["getAddresses", []],
        ["createAddress", []],
        ["putFlow", []],
        ["listEvents", []]
      ])
    }), 60_000)
})
