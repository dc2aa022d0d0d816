/** Tests what is read of an operation, and of a document's operations together. */
import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../support/documents.js"
import { object, plain, readAll, readOne, refusal, string, text } from "../support/reading.js"

const noContent = { 204: { description: "" } }
const jsonOf = (schema: unknown) => ({ content: { "application/json": { schema } } })

const document = {
  openapi: "3.1.0",
  security: [{ oauth: ["read:things"] }],
  paths: {
    "x-internal": { get: {} },
    "/oauth/token": { post: { operationId: "getToken", responses: noContent } },
    "/api/v2/things/{id}": {
      summary: "One thing",
      description: "What there is of it.",
      parameters: [{ name: "id", in: "path", required: true, description: "Its id.", schema: { type: "integer" } }],
      get: {
        operationId: "read_one",
        "x-operation-group": "things",
        "x-operation-name": "get",
        "x-release-lifecycle": "EA",
        tags: ["Others"],
        summary: "Get a thing",
        description: "Gets it.",
        deprecated: true,
        responses: { 200: jsonOf(string), 300: {}, 404: {}, 401: {}, 422: {}, "4XX": {}, default: {} }
      },
      delete: {
        operationId: "removeThing",
        tags: ["Things", "Others"],
        security: [{}, { oauth: ["delete:things"] }, { oauth: ["delete:things"], other: ["write:things"] }],
        responses: noContent
      }
    },
    "/api/v2/things": {
      post: {
        operationId: "makePart",
        "x-operation-group": ["things", "parts"],
        requestBody: jsonOf({ type: "object", properties: { id: string } }),
        responses: { 201: {} }
      },
      get: {
        operationId: "allThings",
        "x-operation-name": "list",
        security: [],
        parameters: [{ name: "page", in: "query", schema: string }],
        responses: { 200: jsonOf({ type: "array", items: string }), 204: {}, 429: {} }
      }
    }
  }
}

const things = { path: "/things", pointer: "#/paths/~1api~1v2~1things" }
const thing = { path: "/things/{id}", pointer: "#/paths/~1api~1v2~1things~1{id}" }

const id = {
  name: "id",
  description: "Its id.",
  required: true,
  deprecated: false,
  shape: text({ patterns: ["^-?[0-9]+$"] })
}

/** What operations have that say nothing. */
const silent = {
  group: [],
  stage: "ga",
  deprecated: false,
  params: [],
  query: [],
  headers: [],
  scopes: ["read:things"],
  statuses: [400, 429],
  idempotent: true
}

describe("the operations of a document", () => {
  it("are read by name, with all that the document says of them", () => {
    const { found } = readAll(document)
    assert.deepStrictEqual(plain(found), [
      {
        name: "allThings",
        id: "allThings",
        group: [],
        stage: "ga",
        _tag: "Operation",
        operation: {
          ...silent,
          name: "allThings",
          pointer: `${things.pointer}/get`,
          method: "GET",
          path: "/things",
          query: [{ name: "page", required: false, deprecated: false, shape: text() }],
          success: { shape: { _tag: "Array", items: text(), unique: false }, isOptional: true, isStream: false },
          paging: { kind: "number" },
          scopes: []
        }
      },
      {
        name: "getThing",
        id: "read_one",
        group: ["things"],
        stage: "ea",
        _tag: "Operation",
        operation: {
          ...silent,
          name: "getThing",
          pointer: `${thing.pointer}/get`,
          method: "GET",
          path: thing.path,
          group: ["things"],
          sdkName: "things.get",
          stage: "ea",
          summary: "Get a thing",
          description: "Gets it.",
          deprecated: true,
          params: [id],
          success: { shape: text(), isOptional: false, isStream: false },
          statuses: [400, 401, 404, 429]
        }
      },
      {
        name: "makePart",
        id: "makePart",
        group: ["things", "parts"],
        stage: "ga",
        _tag: "Operation",
        operation: {
          ...silent,
          name: "makePart",
          pointer: `${things.pointer}/post`,
          method: "POST",
          path: things.path,
          group: ["things", "parts"],
          body: { _tag: "Payload", shape: object({ id: text() }) },
          idempotent: false
        }
      },
      {
        name: "removeThing",
        id: "removeThing",
        group: ["Things"],
        stage: "ga",
        _tag: "Operation",
        operation: {
          ...silent,
          name: "removeThing",
          pointer: `${thing.pointer}/delete`,
          method: "DELETE",
          path: thing.path,
          summary: "One thing",
          description: "What there is of it.",
          params: [id],
          statuses: [400, 404, 429],
          scopes: ["delete:things", "write:things"]
        }
      }
    ])
  })

  it("have notes on paths of another interface and on statuses without a class", () => {
    assert.deepStrictEqual(readAll(document).notes, [
      {
        pointer: "#/paths/~1oauth~1token",
        message: "the path is outside of /api/v2, so its operations are left out"
      },
      ...[300, 422].map((status) => ({
        pointer: `${thing.pointer}/get/responses/${status}`,
        message: `no class of failures has the status ${status}, so it is an UnexpectedResponse`
      }))
    ])
  })

  it("have names that differ by more than case: the next ones are named by method and path, and then by number", () => {
    const { found, notes } = readAll({
      paths: Object.fromEntries(
        Object.entries({
          "/straße": "straße",
          "/strasse": "strasse",
          "/a": "getThing",
          "/b/{id}": "getTHing",
          "/b/id": "get_thing",
          "/c": undefined,
          "/d-e": "1-%",
          "/get/export": "export"
        })
          .map(([path, operationId]) => [path, {
            get: { operationId, responses: noContent, parameters: [{ name: "id", in: "path", schema: string }] }
          }])
      )
    })
    assert.deepStrictEqual(
      found.map(({ id, name }) => [name, id]),
      [
        ["export_", "export"],
        ["getBId", "getTHing"],
        ["getBId2", "get_thing"],
        ["getC", undefined],
        ["getDE", "1-%"],
        ["getThing", "getThing"],
        ["strasse", "strasse"],
        ["straße", "straße"]
      ]
    )
    const place = "#/paths/~1a/get"
    assert.deepStrictEqual(notes.filter(({ message }) => message.includes("is called")), [
      {
        pointer: "#/paths/~1b~1{id}/get",
        message: `the operation is called getBId, because the name getTHing is that of the one at ${place}`
      },
      {
        pointer: "#/paths/~1b~1id/get",
        message: `the operation is called getBId2, because the name getThing is that of the one at ${place}`
      }
    ])
  })

  it("keep the names of their ids, whatever operations without an id come before them", () => {
    const { found } = readAll({
      paths: {
        "/users": { get: { responses: noContent } },
        "/people": { get: { operationId: "getUsers", responses: noContent } }
      }
    })
    assert.deepStrictEqual(found.map(({ id, name }) => [name, id]), [
      ["getUsers", "getUsers"],
      ["getUsers2", undefined]
    ])
  })

  it("are refused, with the place, if there are none", () => {
    const refused: ReadonlyArray<readonly [document: Json, message: string]> = [
      [{ paths: 5 }, "expected an object (at #/paths)"],
      [{ paths: { "x-internal": {} } }, "the document has no operations (at #/paths)"],
      [{ webhooks: { a: { post: {} } } }, "the document has no operations (at #/paths)"],
      [{}, "the document has no operations (at #/paths)"]
    ]
    for (const [document, message] of refused) assert.strictEqual(refusal(() => readAll(document)), message)
  })

  it("do without a path that cannot be read", () => {
    const { found } = readAll({ paths: { "/a": 5, "/b": { $ref: "#/nothing" }, "/c": { get: { responses: {} } } } })
    assert.deepStrictEqual(
      found.map((read) => [read.name, read._tag === "Unreadable" && read.error.message]),
      [
        ["/a", "expected an object (at #/paths/~1a)"],
        ["/b", "the reference #/nothing leads to nothing (at #/paths/~1b/$ref)"],
        ["getC", false]
      ]
    )
  })
})

describe("an operation cannot be read, with the place,", () => {
  const inQuery = { name: "body", in: "query", schema: string }
  const refused: ReadonlyArray<readonly [title: string, parts: Parameters<typeof readOne>[0], message: string]> = [
    [
      "if its security is no list",
      { operation: { security: 5 } },
      "expected a list (at #/paths/~1things/get/security)"
    ],
    [
      "if a way to authenticate is no object",
      { operation: { security: [{}, 5] } },
      "expected an object (at #/paths/~1things/get/security/1)"
    ],
    [
      "if the scopes are no list",
      { operation: { security: [{ oauth: 5 }] } },
      "expected a list (at #/paths/~1things/get/security/0/oauth)"
    ],
    [
      "if its responses are no object",
      { operation: { responses: 5 } },
      "expected an object (at #/paths/~1things/get/responses)"
    ]
  ]
  for (const [title, parts, error] of refused) {
    it(title, () => {
      assert.deepStrictEqual(readOne(parts), { error, notes: [] })
    })
  }

  it("if the security of the document is no list", () => {
    const { found: [read] } = readAll({ ...document, security: 5 })
    assert.strictEqual(read?._tag, "Operation", "the first has its own")
    const { found: [, second] } = readAll({ ...document, security: 5 })
    assert.strictEqual(second?._tag === "Unreadable" ? second.error.message : "", "expected a list (at #/security)")
  })

  it("but a defect is thrown", () => {
    const operation = {
      get summary(): string {
        throw new Error("The text is gone.")
      },
      operationId: "getThing",
      responses: noContent
    }
    assert.throws(() => readAll({ paths: { "/things": { get: operation } } }), "The text is gone.")
  })

  it("unless fields of one name are in different operations", () => {
    const operation = { parameters: [inQuery], requestBody: jsonOf({ type: "object", properties: { id: string } }) }
    const { operation: read } = readOne({ method: "post", operation })
    assert.deepStrictEqual(plain(read?.body), { _tag: "Payload", shape: object({ id: text() }) })
  })
})
