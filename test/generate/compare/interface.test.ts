/** Tests the text of `interface.json`, as a whole. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Interface, parse, stringify } from "../../../src/generate/compare/interface.js"
import type { Shape } from "../../../src/generate/model/shape.js"
import { documentOf, generated, type Json } from "../support/documents.js"

const string = { type: "string" }
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const content = (schema: Json, type = "application/json") => ({ content: { [type]: { schema } } })
const query = (...names: ReadonlyArray<string>) => names.map((name) => ({ name, in: "query", schema: string }))
const list = (items: Json) => ({ type: "array", items })

const shop: Json = {
  openapi: "3.1.0",
  info: { title: "Shop", version: "1.4" },
  paths: {
    "/orders": {
      post: {
        operationId: "createOrder",
        security: [{ oauth: ["create:orders"] }],
        parameters: [
          { name: "X-Trace", in: "header", required: true, schema: { type: "string", maxLength: 36 } },
          { name: "dry_run", in: "query", schema: { type: "boolean" } }
        ],
        requestBody: { required: true, ...content(ref("Order")) },
        responses: { 201: content(ref("Order")), 409: {} }
      },
      get: {
        operationId: "listOrders",
        parameters: query("page", "from", "take"),
        responses: { 200: content(list(ref("Order"))) }
      }
    },
    "/orders/{id}/labels": {
      put: {
        operationId: "setLabels",
        parameters: [{ name: "id", in: "path", required: true, schema: ref("Id") }],
        requestBody: { required: false, ...content({ ...list(ref("Label")), maxItems: 9, uniqueItems: true }) },
        responses: { 204: {}, 404: {} }
      }
    },
    "/customers": {
      get: {
        operationId: "listCustomers",
        parameters: query("page"),
        responses: { 200: content({ type: "object", properties: { customers: list(ref("Label")) } }), 204: {} }
      }
    },
    "/events": {
      get: { operationId: "streamEvents", responses: { 200: content(ref("Event"), "text/event-stream") } }
    }
  },
  components: {
    schemas: {
      Id: { type: "string", minLength: 2, pattern: "^[a-z]+$" },
      Flag: { type: "boolean" },
      Label: { type: "string", enum: ["new", "paid"] },
      Order: {
        type: "object",
        required: ["id", "lines"],
        properties: {
          note: { type: ["string", "null"], maxLength: 80, description: "For the packer.", deprecated: true },
          lines: { ...list(ref("Line")), minItems: 1 },
          id: { ...ref("Id"), readOnly: true },
          voucher: { ...ref("Id"), writeOnly: true },
          labels: { anyOf: [ref("Label"), { type: "integer", minimum: 1 }] },
          gift: ref("Flag")
        }
      },
      Line: {
        type: "object",
        required: ["article", "count"],
        properties: {
          article: ref("Id"),
          count: { type: "integer", minimum: 1 },
          size: { type: "array", prefixItems: [{ type: "number" }, ref("Label")], items: false, minItems: 2 },
          marks: { type: "array", prefixItems: [ref("Flag")], items: ref("Id") },
          prices: { type: "object", additionalProperties: ref("Price") },
          extra: { type: "object", properties: { fragile: ref("Flag") }, additionalProperties: false }
        }
      },
      Price: { type: "object", required: ["currency"], properties: { amount: { type: "number", multipleOf: 0.01 } } },
      Event: {
        oneOf: ["Paid", "Sent"].map(ref)
      },
      Paid: { type: "object", required: ["type"], properties: { type: { const: "paid" }, order: ref("Id") } },
      Sent: {
        type: "object",
        required: ["type"],
        properties: { type: { const: "sent" }, at: { type: "string", format: "date-time" } }
      }
    }
  }
}

const text: Shape = { _tag: "String", patterns: [] }
const boolean: Shape = { _tag: "Boolean" }
const number: Shape = { _tag: "Number", integer: false }
const named = (name: string): Shape => ({ _tag: "Ref", name })
const field = (name: string, shape: Shape) => ({ name, shape, readOnly: false, writeOnly: false, deprecated: false })
const listOf = (items: Shape): Shape => ({ _tag: "Array", items, unique: false })
const extra: Shape = { _tag: "Object", fields: [field("fragile", boolean)], required: [], additional: "closed" }
const plain = { statuses: [400, 429], scopes: [], idempotent: true, paging: null }
const optional = (place: "query" | "body", shape: Shape) => ({ in: place, required: false, shape })

const operations: Interface["operations"] = {
  createOrder: {
    method: "POST",
    path: "/orders",
    input: {
      dry_run: optional("query", boolean),
      gift: optional("body", boolean),
      labels: optional("body", {
        _tag: "Union",
        branches: [named("LabelInput"), { _tag: "Number", integer: true, min: 1 }]
      }),
      lines: { in: "body", required: true, shape: { _tag: "Array", items: named("LineInput"), min: 1, unique: false } },
      note: optional("body", {
        _tag: "Union",
        branches: [{ _tag: "String", patterns: [], max: 80 }, { _tag: "Null" }]
      }),
      voucher: optional("body", named("Id")),
      "x-trace": { in: "header", required: true, shape: { _tag: "String", patterns: [], max: 36 } }
    },
    success: { shape: named("Order"), isOptional: false, isStream: false },
    statuses: [400, 409, 429],
    scopes: ["create:orders"],
    idempotent: false,
    paging: null
  },
  listCustomers: {
    method: "GET",
    path: "/customers",
    input: { page: optional("query", text) },
    success: {
      shape: {
        _tag: "Object",
        fields: [field("customers", listOf(named("Label")))],
        required: [],
        additional: "unstated"
      },
      isOptional: true,
      isStream: false
    },
    ...plain,
    paging: "number customers"
  },
  listOrders: {
    method: "GET",
    path: "/orders",
    input: { from: optional("query", text), page: optional("query", text), take: optional("query", text) },
    success: { shape: listOf(named("Order")), isOptional: false, isStream: false },
    ...plain,
    paging: "newer"
  },
  setLabels: {
    method: "PUT",
    path: "/orders/{id}/labels",
    input: {
      body: optional("body", { _tag: "Array", items: named("LabelInput"), max: 9, unique: true }),
      id: { in: "path", required: true, shape: named("Id") }
    },
    success: null,
    ...plain,
    statuses: [400, 404, 429]
  },
  streamEvents: {
    method: "GET",
    path: "/events",
    input: {},
    success: { shape: named("Event"), isOptional: false, isStream: true },
    ...plain
  }
}

/** Those of responses are without limits. A name that is used on both sides gets a second one for requests. */
const schemas: Interface["schemas"] = {
  Event: { _tag: "Union", branches: [named("Paid"), named("Sent")], tags: ["type"] },
  Id: { _tag: "String", patterns: ["^[a-z]+$"], min: 2 },
  Label: { _tag: "Literal", values: ["new", "paid"] },
  LabelInput: { _tag: "Literal", values: ["new", "paid"] },
  Line: {
    _tag: "Object",
    fields: [
      field("article", text),
      field("count", number),
      field("size", { _tag: "Tuple", elements: [number, named("Label")], required: 2 }),
      field("marks", { _tag: "Tuple", elements: [boolean], required: 0, rest: text }),
      field("prices", { _tag: "Object", fields: [], required: [], additional: named("Price") }),
      field("extra", extra)
    ],
    required: ["article", "count"],
    additional: "unstated"
  },
  LineInput: {
    _tag: "Object",
    fields: [
      field("article", named("Id")),
      field("count", { _tag: "Number", integer: true, min: 1 }),
      field("size", { _tag: "Tuple", elements: [number, named("LabelInput")], required: 2 }),
      field("marks", { _tag: "Tuple", elements: [boolean], required: 0, rest: named("Id") }),
      field("prices", { _tag: "Object", fields: [], required: [], additional: named("PriceInput") }),
      field("extra", extra)
    ],
    required: ["article", "count"],
    additional: "unstated"
  },
  Order: {
    _tag: "Object",
    fields: [
      field("note", { _tag: "Union", branches: [text, { _tag: "Null" }] }),
      field("lines", listOf(named("Line"))),
      field("id", text),
      field("labels", { _tag: "Union", branches: [named("Label"), number] }),
      field("gift", boolean)
    ],
    required: ["lines", "id"],
    additional: "unstated"
  },
  Paid: {
    _tag: "Object",
    fields: [field("type", { _tag: "Literal", values: ["paid"], isTag: true }), field("order", text)],
    required: ["type"],
    additional: "unstated"
  },
  Price: { _tag: "Object", fields: [field("amount", number)], required: [], additional: "unstated" },
  PriceInput: {
    _tag: "Object",
    fields: [
      field("amount", { _tag: "Number", integer: false, multipleOf: 0.01 }),
      field("currency", { _tag: "Unknown" })
    ],
    required: ["currency"],
    additional: "unstated"
  },
  Sent: {
    _tag: "Object",
    fields: [
      field("type", { _tag: "Literal", values: ["sent"], isTag: true }),
      field("at", { _tag: "String", patterns: [], format: "date-time" })
    ],
    required: ["type"],
    additional: "unstated"
  }
}

const linesOf = (entries: Json) =>
  Object.entries(entries).map(([name, value]) => `    "${name}": ${JSON.stringify(value)}`).join(",\n")

describe("interface.json", () => {
  it.effect("says what the smallest document offers", () =>
    Effect.gen(function*() {
      const written = stringify((yield* generated(documentOf({}))).interface)
      const facts = [
        "\"success\":{\"shape\":{\"_tag\":\"Unknown\"},\"isOptional\":false,\"isStream\":false}",
        "\"statuses\":[400,429],\"scopes\":[],\"idempotent\":true,\"paging\":null"
      ].join()
      assert.strictEqual(
        written,
        `{
  "document": {"title":"Things","version":"1.0"},
  "operations": {
    "getThing": {"method":"GET","path":"/things","input":{},${facts}}
  },
  "schemas": {}
}
`
      )
    }))

  it.effect("has a line for each operation and each schema, by name, with the shapes of generated files", () =>
    Effect.gen(function*() {
      const written = stringify((yield* generated(shop)).interface)
      assert.deepStrictEqual(parse(written), { document: { title: "Shop", version: "1.4" }, operations, schemas })
      assert.strictEqual(
        written,
        `{
  "document": {"title":"Shop","version":"1.4"},
  "operations": {
${linesOf(operations)}
  },
  "schemas": {
${linesOf(schemas)}
  }
}
`
      )
    }))
})
