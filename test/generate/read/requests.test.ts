/** Tests what is read of the parameters and of the body of a request. */
import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../support/documents.js"
import { number, object, plain, readOne, ref, refShape, string, text, unknown } from "../support/reading.js"

const literal = (...values: ReadonlyArray<unknown>) => ({ _tag: "Literal", values })

describe("parameters", () => {
  const list = { type: "array", items: string }
  const tuple = { prefixItems: [string], items: false }
  const map = { type: "object" }

  /** The parameters of one place, which have names of their own, with what is read of each. */
  const place = (name: string, rows: { readonly [name: string]: readonly [given: Json, read: Json] }) => ({
    given: Object.entries(rows).map(([key, [given]]) => ({ in: name, name: key, ...given })),
    read: Object.entries(rows).map(([key, [, read]]) => ({
      name: key.toLowerCase(),
      required: name === "path",
      deprecated: false,
      ...read
    }))
  })

  const path = place("path", {
    kind: [{ schema: ref("Kind") }, { shape: refShape("Kind") }],
    mixed: [{ schema: { enum: ["a", 1] } }, { shape: literal("a", "1") }],
    long: [{ schema: { ...string, minLength: 2 } }, { shape: text({ min: 2 }) }],
    short: [{ schema: { ...string, minLength: 1, maxLength: 3 } }, { shape: text({ max: 3 }) }],
    count: [{ schema: { type: "integer" }, description: "How many." }, {
      shape: text({ patterns: ["^-?[0-9]+$"] }),
      description: "How many."
    }],
    amount: [{ schema: { type: "number" }, deprecated: true }, { shape: text(), deprecated: true }],
    either: [{ schema: { type: ["boolean", "null"] } }, { shape: literal("true", "false") }],
    list: [{ schema: list, explode: false, style: "label" }, { shape: text() }]
  })
  const array = { _tag: "Array", items: text(), unique: false }
  const query = place("query", {
    accept: [{ schema: { type: "integer" }, style: "simple", explode: false, required: true }, {
      shape: number({ integer: true }),
      required: true
    }],
    exploded: [{ schema: list, explode: true }, { shape: array }],
    form: [{ schema: { type: ["array", "null"], items: string }, style: "form" }, { shape: array }],
    joined: [{ schema: list, explode: false }, { shape: array }],
    piped: [{ schema: list, style: "pipeDelimited" }, { shape: array }],
    tuple: [{ schema: tuple, explode: false }, { shape: { _tag: "Tuple", elements: [text()], required: 0 } }],
    map: [{ schema: map, explode: false }, { shape: object({}) }],
    deep: [{ schema: map, style: "deepObject" }, { shape: object({}) }],
    json: [{ content: { "application/json": {} } }, { shape: text() }]
  })
  const headers = place("header", { "X-Trace": [{ schema: string }, { shape: text() }] })
  const ignored = ["Accept", "Authorization", "Content-Type"].map((name) => ({ in: "header", name, schema: string }))

  it("are read by place, those of the path in its order, with notes on what is sent in another way", () => {
    const parameters = [
      ...path.given.toReversed(),
      ...query.given,
      ...headers.given,
      ...ignored,
      { in: "cookie", name: "session", schema: string }
    ]
    const { notes, operation } = readOne({
      path: `/a:/${path.given.map(({ name }) => `{${name}}`).join("/")}`,
      operation: { parameters },
      components: { schemas: { Kind: { enum: ["a", "b"] } } }
    })
    assert.deepStrictEqual(plain([operation?.params, operation?.query, operation?.headers]), [
      path.read,
      query.read,
      headers.read
    ])
    const pointer = (name: string) => {
      const index = parameters.findIndex((parameter) => parameter.name === name && parameter.in !== "path")
      return `${operation?.pointer}/parameters/${index}`
    }
    assert.deepStrictEqual(notes, [
      ...["joined", "piped", "tuple"].map((name) => ({
        pointer: pointer(name),
        message: "a list is sent as repeated names, not in the style that the document states"
      })),
      {
        pointer: pointer("map"),
        message: "an object is sent as names in brackets, not in the style that the document states"
      },
      { pointer: `${pointer("json")}/content`, message: "the parameter is sent as the text that the caller gives" },
      { pointer: pointer("session"), message: "cookies are not sent" }
    ])
  })

  const a = { name: "a", in: "query", schema: string }
  const id = { name: "id", in: "path", schema: string }
  const first = "#/paths/~1things/get/parameters/0"
  const refused: ReadonlyArray<readonly [parameters: Json | ReadonlyArray<unknown>, message: string, path?: string]> = [
    [{}, "expected a list (at #/paths/~1things/get/parameters)"],
    [[5], `expected an object (at ${first})`],
    [[{ in: "query", schema: string }], `the parameter has no name (at ${first}/name)`],
    [[{ ...a, name: "__proto__" }], `a field cannot be called __proto__ (at ${first}/name)`],
    [[{ ...a, in: "body" }], `expected path, query, header or cookie (at ${first}/in)`],
    [[{ name: "a", in: "query" }], `the parameter has no schema (at ${first})`],
    [[{ ...a, schema: 5 }], `a schema must be an object or a boolean (at ${first}/schema)`],
    [[a, a], "the parameter a occurs twice (at #/paths/~1things/get/parameters/1)"],
    [[id], "the path has no place for the parameter id (at #/paths/~1things)"],
    [[], "the path's parameter id is not described (at #/paths/~1{id})", "/{id}"],
    [[id], "the parameter id occurs twice in the path (at #/paths/~1{id}~1a~1{id})", "/{id}/a/{id}"],
    [[id], "the segment x{id} is not one parameter as a whole (at #/paths/~1x{id})", "/x{id}"],
    [[id], "the segment {id}x is not one parameter as a whole (at #/paths/~1{id}x)", "/{id}x"],
    [[], "a segment cannot begin with a colon (at #/paths/~1a~1:id)", "/a/:id"],
    [[], "a path cannot contain ? or # (at #/paths/~1a?b)", "/a?b"]
  ]
  for (const [parameters, error, path = "/things"] of refused) {
    it(`are refused, with the place, as ${JSON.stringify(parameters)} of ${path}`, () => {
      assert.deepStrictEqual(readOne({ path, operation: { parameters } }), { error, notes: [] })
    })
  }

  it("of the path item are refused at their place", () => {
    assert.deepStrictEqual(readOne({ item: { parameters: [a, a] }, operation: {} }), {
      error: "the parameter a occurs twice (at #/paths/~1things/parameters/1)",
      notes: []
    })
  })
})

const content = "#/paths/~1things/post/requestBody/content"
const schema = (type: string) => `${content}/${type.replace("/", "~1")}/schema`
const json = (schema: unknown) => ({ content: { "application/json": { schema } } })
const bodyOf = (requestBody: unknown) => readOne({ method: "post", operation: { requestBody } })

/** An object with a field that only the service sets, and one that is not described. */
const item = {
  type: "object",
  required: ["id", "name", "more"],
  properties: { id: { ...string, readOnly: true }, name: string },
  additionalProperties: false
}
const written = (more: unknown) => object({ name: text(), more }, { required: ["name", "more"], additional: "closed" })

describe("a body", () => {
  const whole = (shape: unknown, isOptional = false) => ({ _tag: "Whole", shape, isOptional })
  const payload = (shape: unknown) => ({ _tag: "Payload", shape })
  const union = (...branches: ReadonlyArray<unknown>) => ({ _tag: "Union", branches })
  const withA = { type: "object", properties: { a: string } }
  const form = "application/x-www-form-urlencoded; charset=utf-8"
  const multipart = "multipart/form-data; boundary=x"
  const parts = {
    file: { ...string, format: "binary" },
    count: { type: "integer" },
    flag: { type: "boolean" },
    kind: { enum: ["a"] },
    any: true,
    list: { type: "array", items: string }
  }

  const rows: ReadonlyArray<readonly [title: string, body: Json, read: unknown, notes?: ReadonlyArray<string>]> = [
    [
      "has the fields that the caller sets, those that are required only included",
      { content: { "application/merge-patch+json": { schema: item } } },
      payload(written(unknown))
    ],
    ["of any type is JSON", { content: { "text/plain": {}, "*/*": { schema: string } } }, whole(text())],
    [
      "that is a form has a note",
      { content: { "text/plain": {}, [form]: { schema: withA } } },
      payload(object({ a: text() })),
      [
        `${content}/${form.replace("/", "~1")}: the body must be sent as a form: call with IdentityClient.withFormBody`
      ]
    ],
    [
      "of several parts has files and texts",
      { content: { "text/plain": {}, [multipart]: { schema: { ...withA, properties: parts } } } },
      {
        _tag: "Multipart",
        shape: object({
          file: { _tag: "File" },
          count: number({ integer: true }),
          flag: { _tag: "Boolean" },
          kind: literal("a"),
          any: { _tag: "File" },
          list: text()
        })
      },
      [`${schema(multipart)}/properties/list: the part is sent as the text that the caller gives`]
    ],
    [
      "of several parts has none that only the service sets",
      { content: { [multipart]: { schema: item } } },
      { _tag: "Multipart", shape: written({ _tag: "File" }) }
    ],
    ["without content is none", { content: {} }, undefined],
    ["without a schema is anything", { content: { "application/json": {} } }, whole(unknown)],
    ["that need not be there is a whole", { required: false, ...json(withA) }, whole(object({ a: text() }), true)],
    [
      "that may be null need not be there",
      json({ type: ["string", "null"] }),
      whole(union(text(), { _tag: "Null" }), true)
    ],
    [
      "that may be null must be there if the document says so",
      { required: true, ...json({ type: ["string", "null"] }) },
      whole(union(text(), { _tag: "Null" }))
    ],
    [
      "of several types must be there",
      json({ type: ["string", "boolean"] }),
      whole(union(text(), { _tag: "Boolean" }))
    ],
    ["with fields of any name is a whole", json({ type: "object" }), whole(object({}))],
    [
      "without fields has no payload",
      json({ type: "object", additionalProperties: false }),
      payload(object({}, { additional: "closed" }))
    ],
    [
      "with fields of other names and a limit has notes",
      json({ ...withA, additionalProperties: true, maxProperties: 3 }),
      payload(object({ a: text() }, { additional: "open", max: 3 })),
      [
        `${schema("application/json")}: fields without names are not sent`,
        `${schema("application/json")}/maxProperties: the limit is not checked`
      ]
    ]
  ]
  for (const [title, requestBody, body, notes = []] of rows) {
    it(title, () => {
      const result = bodyOf(requestBody)
      assert.deepStrictEqual(plain({ body: result.operation?.body }), plain({ body }))
      assert.deepStrictEqual(result.notes.map(({ message, pointer }) => `${pointer}: ${message}`), [...notes])
      assert.isUndefined(result.error)
    })
  }

  const refused: ReadonlyArray<readonly [body: unknown, message: string]> = [
    [5, "expected an object (at #/paths/~1things/post/requestBody)"],
    [{ content: 5 }, `expected an object (at ${content})`],
    [{ content: { "text/plain": {}, "text/csv": {} } }, `no body can be sent as text/plain, text/csv (at ${content})`],
    [{ content: { "x-application/json": {} } }, `no body can be sent as x-application/json (at ${content})`],
    [{ content: { "application/json": 5 } }, `expected an object (at ${content}/application~1json)`],
    [json(5), `a schema must be an object or a boolean (at ${schema("application/json")})`],
    [
      { content: { "multipart/form-data": { schema: string } } },
      `a multipart body must be an object (at ${schema("multipart/form-data")})`
    ]
  ]
  for (const [requestBody, error] of refused) {
    it(`is refused, with the place, as ${JSON.stringify(requestBody)}`, () => {
      assert.deepStrictEqual(bodyOf(requestBody), { error, notes: [] })
    })
  }
})
