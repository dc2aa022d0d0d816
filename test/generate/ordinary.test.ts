/** Tests documents as people write them: each operation of them works, or costs itself alone, with its place. */
import * as Headers from "@effect/platform/Headers"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Schema } from "effect"
import * as RequestEncoder from "../../src/internal/http/requestEncoder.js"
import { load, typeErrors } from "./support/compile.js"
import { generated, type Json, textOf } from "./support/documents.js"

const string = { type: "string" }
const integer = { type: "integer" }
const done = { 204: { description: "" } }
const json = (schema: unknown) => ({ content: { "application/json": { schema } } })
const ok = (schema: unknown) => ({ 200: { description: "", ...json(schema) } })
const inPath = (name: string) => ({ name, in: "path", required: true, schema: string })
const inQuery = (name: string, schema: Json = string) => ({ name, in: "query", schema })
const inHeader = (name: string, required = false) => ({ name, in: "header", required, schema: string })
const object = (properties: Json, more: Json = {}) => ({ type: "object", properties, ...more })

const documentOf = (paths: Json, more: Json = {}): Json => ({
  openapi: "3.0.3",
  info: { title: "Things", version: "1" },
  paths,
  ...more
})

/** The request that an operation makes of an input. */
const requestOf = (operation: any, input: unknown) => {
  const encoded = RequestEncoder.make(operation.endpoint, input, {
    contentType: "application/json",
    headers: Headers.empty
  } as never)
  const { content, headers, target } = Either.getOrThrow(encoded)
  return { url: target, headers, body: JSON.parse(String(content?.body() ?? null)) }
}

describe("a name in two parts of the request", () => {
  const document = documentOf({
    "/things/{id}/{page}": {
      parameters: [inPath("id"), inPath("page")],
      patch: {
        operationId: "updateThing",
        parameters: [inQuery("page"), inQuery("path_id")],
        requestBody: { required: true, ...json(object({ id: string, name: string }, { required: ["id"] })) },
        responses: done
      }
    },
    "/others": {
      post: {
        operationId: "createOther",
        parameters: [inQuery("name")],
        requestBody: {
          required: true,
          ...json(object({ name: string, id: { ...string, readOnly: true } }, { required: ["name", "id"] }))
        },
        responses: done
      },
      get: {
        operationId: "getOther",
        parameters: [inQuery("version"), inHeader("Version"), inHeader("Trace")],
        responses: done
      },
      put: {
        operationId: "putOther",
        parameters: [inQuery("version"), inHeader("version", true)],
        responses: done
      },
      delete: {
        operationId: "deleteOther",
        parameters: [inQuery("body")],
        requestBody: json({ type: "array", items: string }),
        responses: done
      }
    }
  })

  it.live("is renamed in the path, and the body is a whole if the query has it", () =>
    Effect.gen(function*() {
      const { files, leftOut, notes } = yield* generated(document)
      assert.sameMembers(
        notes.map(({ message, pointer }) => `${pointer}: ${message}`),
        [
          "#/paths/~1others/post: the body is the field body as a whole, because another part of the request has the field name, too",
          "#/paths/~1others/get/parameters: the header version is left out, because the query has a field of that name",
          "#/paths/~1things~1{id}~1{page}/patch: the field id of the path is called path_path_id, because another part of the request has id",
          "#/paths/~1things~1{id}~1{page}/patch: the field page of the path is called path_page, because another part of the request has page"
        ]
      )
      assert.deepStrictEqual(leftOut.map(({ error: { message }, name }) => [name, message]), [
        [
          "deleteOther",
          "the field \"body\" is one of the query or a header and of the body (at #/paths/~1others/delete)"
        ],
        ["putOther", "the field \"version\" is one of the query and a header (at #/paths/~1others/put/parameters)"]
      ])
      const { createOther, getOther, updateThing } = yield* Effect.promise(() => load(files))
      const input = { path_path_id: "a/b", path_page: "c", page: "d", path_id: "e", id: "f", name: "g" }
      const updated = requestOf(updateThing, input)
      assert.match(updated.url, /\/things\/a%2Fb\/c\?page=d&path_id=e$/)
      assert.deepStrictEqual(updated.body, { id: "f", name: "g" })
      const created = requestOf(createOther, { name: "a", body: { name: "b" } })
      assert.match(created.url, /\/others\?name=a$/)
      assert.deepStrictEqual(created.body, { name: "b" })
      const got = requestOf(getOther, { version: "1", trace: "2" })
      assert.match(got.url, /\/others\?version=1$/)
      assert.strictEqual(got.headers["trace"], "2")
      assert.isFalse(Schema.is(createOther.endpoint.input)({ name: "a", body: {} }))
    }))

  it("is accepted by the compiler", () =>
    Effect.runPromise(
      Effect.map(generated(document), ({ files }) => assert.deepStrictEqual(typeErrors(files), []))
    ), 60_000)
})

it.effect("a component of any name can be used", () =>
  Effect.gen(function*() {
    const name = "Page«Thing»"
    const { files, leftOut } = yield* generated(
      documentOf({ "/things": { get: { responses: ok({ $ref: `#/components/schemas/${name}` }) } } }, {
        components: { schemas: { [name]: object({ a: string }), PageThing: object({ b: string }) } }
      })
    )
    assert.deepStrictEqual(leftOut, [])
    assert.include(textOf({ files } as never, "getThings.ts"), "export const PageThing: ")
  }))

describe("a fault in one operation", () => {
  const fine = { get: { operationId: "getFine", responses: ok({ $ref: "#/components/schemas/Fine" }) } }
  const schemas = { Fine: object({ a: string }) }

  const cases: ReadonlyArray<readonly [title: string, path: string, item: Json, components: Json, message: RegExp]> = [
    [
      "an invalid schema",
      "/a",
      { get: { responses: ok({ type: "text" }) } },
      {},
      /at #\/paths\/~1a\/get\/resp.*\/type\)$/
    ],
    [
      "an unknown keyword",
      "/a",
      { get: { responses: ok({ maxLenght: 1 }) } },
      {},
      /maxLenght.*\(at #\/paths\/~1a\/get/
    ],
    [
      "a parameter without a schema",
      "/a",
      { get: { parameters: [{ name: "a", in: "query" }], responses: done } },
      {},
      /\(at #\/paths\/~1a\/get\/parameters\/0\)$/
    ],
    [
      "an invalid parameter of the path item",
      "/a",
      { parameters: [{ name: "a", in: "body" }], get: { responses: done } },
      {},
      /\(at #\/paths\/~1a\/parameters\/0/
    ],
    ["a broken reference", "/a", { get: { responses: ok({ $ref: "#/x" }) } }, {}, /#\/x leads to nothing \(at/],
    ["a parameter that nothing describes", "/a/{id}", { get: { responses: done } }, {}, /id is not described/],
    [
      "a parameter in a part of a segment",
      "/a/{id}.json",
      {
        get: { parameters: [inPath("id")], responses: done }
      },
      {},
      /the segment {id}.json is not one parameter/
    ],
    [
      "two parameters in a segment",
      "/a/{from}-{to}",
      {
        get: { parameters: [inPath("from"), inPath("to")], responses: done }
      },
      {},
      /the segment {from}-{to} is not one parameter/
    ],
    ["an invalid component", "/a", { get: { responses: ok({ $ref: "#/components/schemas/A" }) } }, {
      schemas: { A: { type: "text" } }
    }, /\(at #\/components\/schemas\/A\/type\)$/],
    [
      "an invalid component of a component",
      "/a",
      { get: { responses: ok({ $ref: "#/components/schemas/A" }) } },
      { schemas: { A: object({ b: { $ref: "#/components/schemas/B" } }), B: { allOf: [string, integer] } } },
      /no value can match .*\(at #\/components\/schemas\/B\)$/
    ],
    [
      "a component that contains itself",
      "/a",
      { get: { responses: ok({ $ref: "#/components/schemas/A" }) } },
      { schemas: { A: { oneOf: [{ $ref: "#/components/schemas/A" }, string] } } },
      /branch of itself \(at #\/components\/schemas\/A\)$/
    ],
    [
      "an invalid parameter of components",
      "/a",
      {
        get: { parameters: [{ $ref: "#/components/parameters/P" }], responses: done }
      },
      { parameters: { P: { name: "p", in: "query" } } },
      /\(at #\/components\/parameters\/P/
    ],
    [
      "a body that cannot be sent",
      "/a",
      {
        post: { requestBody: { content: { "text/plain": { schema: string } } }, responses: done }
      },
      {},
      /no body can be sent as text\/plain \(at #\/paths\/~1a\/post\/requestBody\/content\)$/
    ],
    ["an operation that is not an object", "/a", { get: 5 }, {}, /must be object \(at #\/paths\/~1a\/get\)$/]
  ]
  for (const openapi of ["3.0.3", "3.1.0"]) {
    for (const [title, path, item, components, message] of cases) {
      it.effect(`costs it alone in ${openapi}: ${title}`, () =>
        Effect.gen(function*() {
          const document = documentOf({ "/fine": fine, [path]: item }, {
            openapi,
            components: { ...components, schemas: { ...schemas, ...components["schemas"] as Json } }
          })
          const { files, interface: { operations }, leftOut } = yield* generated(document)
          assert.deepStrictEqual(Object.keys(operations), ["getFine"])
          assert.lengthOf(leftOut, 1)
          assert.match(leftOut[0]?.error.message ?? "", message)
          assert.include(textOf({ files } as never, "index.ts"), "getFine.js")
          const alone = yield* generated(document, { only: ["getFine"] })
          assert.deepStrictEqual([alone.leftOut, alone.files], [[], files])
        }))
    }
  }

  it.effect("costs those of a path that cannot be read", () =>
    Effect.gen(function*() {
      const { interface: { operations }, leftOut } = yield* generated(
        documentOf({ "/fine": fine, "/a": { $ref: "#/paths/~1b" } }, { components: { schemas } })
      )
      assert.deepStrictEqual(Object.keys(operations), ["getFine"])
      assert.deepStrictEqual(leftOut.map(({ name }) => name), ["/a"])
    }))

  it.effect("costs nothing if it is beside the operations, and is noted", () =>
    Effect.gen(function*() {
      const { files, leftOut, notes } = yield* generated(
        documentOf({ "/fine": { ...fine, foo: 1 }, "no-slash": fine }, {
          info: { version: 1 },
          foo: 1,
          components: { schemas: { ...schemas, Unused: { type: "text" } } }
        })
      )
      assert.deepStrictEqual(leftOut, [])
      assert.sameMembers(notes.map(({ message }) => message), [
        "must be string (at #/info/version)",
        "must NOT have additional properties: foo (at #)",
        "must NOT have additional properties: foo (at #/paths/~1fine)",
        "must NOT have additional properties: no-slash (at #/paths)",
        "the path does not begin with a slash, so its operations are left out"
      ])
      assert.include(textOf({ files } as never, "index.ts"), "from \"a document without a title\" 1; do not edit.")
    }))
})
