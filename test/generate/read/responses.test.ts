/** Tests what is read of the successes of an operation, and which of them are lists that come in pages. */
import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../support/documents.js"
import { plain, readOne, ref, string, text } from "../support/reading.js"

const responses = "#/paths/~1things/get/responses"
const content = `${responses}/200/content`
const typed = (type: string, schema?: unknown) => ({ content: { [type]: schema === undefined ? {} : { schema } } })
const json = (schema: unknown) => typed("application/json", schema)
const flag = { type: "boolean" }
const boolean = { _tag: "Boolean" }

describe("a success", () => {
  const success = (shape: unknown, more: Json = {}) => ({ shape, isOptional: false, isStream: false, ...more })
  const events = "text/event-stream; charset=utf-8"

  const rows: ReadonlyArray<
    readonly [title: string, responses: Json, success: unknown, notes?: ReadonlyArray<string>]
  > = [
    ["is JSON of any name", { 200: typed("application/problem+json", string) }, success(text())],
    ["of any type is JSON", { "2xx": typed("*/*", string) }, success(text())],
    [
      "has a status between 200 and 299",
      { 200: json(string), "x-200": json(flag), "200x": json(flag), 400: json(flag), default: json(flag) },
      success(text())
    ],
    [
      "of several forms is one of them",
      { 200: json(string), "2XX": json(flag) },
      success({ _tag: "Union", branches: [text(), boolean] })
    ],
    ["by reference is that of components", { 200: { $ref: "#/components/responses/Flag" } }, success(boolean)],
    ["may be absent if one has no body", { 200: json(string), 202: {} }, success(text(), { isOptional: true })],
    [
      "may be absent if one has another body",
      { 200: json(string), 202: typed("text/csv", string) },
      success(text(), { isOptional: true }),
      [`${responses}/202/content: the body is text/csv, so it is not decoded`]
    ],
    [
      "may be absent if HTTP gives it no body",
      { 201: json(string), 204: json(flag), 205: json(flag) },
      success(text(), { isOptional: true })
    ],
    ["is a stream of events", { 200: typed(events, string) }, success(text(), { isStream: true })],
    [
      "is JSON rather than events",
      { 200: { content: { ...typed(events, flag).content, ...json(string).content } } },
      success(text()),
      [`${responses}: the operation returns JSON or events; the events are left out`]
    ],
    [
      "is JSON rather than the events of another status",
      { 200: typed("text/event-stream", flag), 201: json(string) },
      success(text()),
      [`${responses}: the operation returns JSON or events; the events are left out`]
    ],
    [
      "is JSON rather than events whose type has parameters",
      { 200: json(string), 202: typed(events, flag) },
      success(text()),
      [`${responses}: the operation returns JSON or events; the events are left out`]
    ],
    [
      "is JSON rather than events by reference",
      { 200: json(string), 202: { $ref: "#/components/responses/Events" } },
      success(text()),
      [`${responses}: the operation returns JSON or events; the events are left out`]
    ],
    [
      "is the JSON of a status that has events too, rather than the events of another",
      { 200: { content: { ...typed(events, flag).content, ...json(string).content } }, 202: typed(events, flag) },
      success(text()),
      [`${responses}: the operation returns JSON or events; the events are left out`]
    ],
    ["without content is none", { 200: { content: {} }, 201: {} }, undefined],
    ["without a schema is none", { 200: typed("application/json") }, undefined],
    [
      "in another format is none, with a note",
      { 200: { content: { "text/csv": {}, "x-application/json": { schema: string } } } },
      undefined,
      [`${content}: the body is text/csv, x-application/json, so it is not decoded`]
    ]
  ]
  for (const [title, responses, success, notes = []] of rows) {
    it(title, () => {
      const components = { responses: { Flag: json(flag), Events: typed(events, flag) } }
      const { operation, ...result } = readOne({ operation: { responses }, components })
      assert.deepStrictEqual(plain({ success: operation?.success }), plain({ success }))
      assert.deepStrictEqual(result.notes.map(({ message, pointer }) => `${pointer}: ${message}`), [...notes])
    })
  }

  const refused: ReadonlyArray<readonly [response: unknown, message: string]> = [
    [5, `expected an object (at ${responses}/200)`],
    [{ content: 5 }, `expected an object (at ${content})`],
    [typed("application/json", 5), `a schema must be an object or a boolean (at ${content}/application~1json/schema)`],
    [{ content: { "application/json": 5 } }, `expected an object (at ${content}/application~1json)`]
  ]
  for (const [response, error] of refused) {
    it(`is refused, with the place, as ${JSON.stringify(response)}`, () => {
      assert.deepStrictEqual(readOne({ operation: { responses: { 200: response } } }), { error, notes: [] })
    })
  }
})

describe("a list in pages", () => {
  const list = { type: "array", items: string }
  const lists = (...names: ReadonlyArray<string>) => ({
    type: "object",
    properties: { total: { type: "integer" }, ...Object.fromEntries(names.map((name) => [name, list])), next: string }
  })
  const either = (...oneOf: ReadonlyArray<unknown>) => ({ oneOf })

  const rows: ReadonlyArray<
    readonly [title: string, query: ReadonlyArray<string>, path: string, schema: unknown, paging: unknown]
  > = [
    ["is a bare list by number", ["page"], "/things", list, { kind: "number" }],
    ["is the only list by checkpoint", ["take", "from"], "/things", lists("data"), {
      kind: "checkpoint",
      items: "data"
    }],
    ["is the list by reference", ["page"], "/things", ref("Page"), { kind: "number", items: "items" }],
    [
      "is the list that all forms have, by both",
      ["page", "from", "take"],
      "/things",
      either(list, lists("a", "b"), lists("b", "c"), ref("Named")),
      { kind: "both", items: "b" }
    ],
    [
      "is by number, and from an item on to newer ones, if no form has the next checkpoint",
      ["page", "per_page", "from", "take", "search"],
      "/logs",
      either(list, { type: "object", properties: { total: { type: "integer" }, logs: list } }),
      { kind: "newer", items: "logs" }
    ],
    ["is by number, and to newer ones, if it is a bare list", ["page", "from", "take"], "/logs", list, {
      kind: "newer"
    }],
    [
      "is the list with the name of the path's last part",
      ["page"],
      "/event_streams/{id}",
      lists("other", "eventStreams"),
      { kind: "number", items: "eventStreams" }
    ],
    ["is none with only a checkpoint", ["from"], "/things", list, undefined],
    ["is none with only a limit", ["take", "per_page"], "/things", list, undefined]
  ]
  const components = {
    schemas: {
      List: list,
      Page: { type: "object", properties: { items: ref("List"), next: string } },
      Named: either(lists("b"), lists("a", "b"))
    }
  }
  const read = (query: ReadonlyArray<string>, path: string, success: Json) =>
    readOne({
      path,
      operation: {
        parameters: [
          ...query.map((name) => ({ name, in: "query", schema: string })),
          ...path.includes("{id}") ? [{ name: "id", in: "path", schema: string }] : []
        ],
        responses: { 200: success }
      },
      components
    })

  for (const [title, query, path, schema, paging] of rows) {
    it(title, () => {
      const { notes, operation } = read(query, path, json(schema))
      assert.deepStrictEqual(plain({ paging: operation?.paging }), plain({ paging }))
      assert.deepStrictEqual(notes, [])
      assert.deepStrictEqual(operation?.query.map(({ name }) => name), query)
    })
  }

  it("is no stream and no success without a body", () => {
    for (const success of [typed("text/event-stream", list), {}]) {
      const { error, notes, operation } = read(["page"], "/things", success)
      assert.deepStrictEqual([error, notes, operation?.paging], [undefined, [], undefined])
    }
  })

  it("has a note if no field is certainly the list", () => {
    for (
      const schema of [string, lists(), lists("a", "b"), either(lists("a"), lists("b")), either(lists("a"), string)]
    ) {
      const { notes, operation } = read(["page"], "/things", json(schema))
      assert.isUndefined(operation?.paging)
      assert.deepStrictEqual(notes, [{
        pointer: "#/paths/~1things",
        message: "no field is certainly the list of a page, so Pagination cannot stream it"
      }])
    }
  })
})
