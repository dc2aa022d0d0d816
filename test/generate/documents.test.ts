/** Tests documents of many kinds: each gives what it should, or an error with the place. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { load, typeErrors } from "./support/compile.js"
import { documentOf, failure, generated, type Parts, textOf } from "./support/documents.js"

interface Kind {
  readonly title: string
  readonly parts: Parts
  /** Text in `getThing.ts` or `createThing.ts`. */
  readonly get?: string
  readonly create?: string
  readonly others?: { readonly [path: string]: string }
  readonly notes?: ReadonlyArray<string>
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const string = { type: "string" }

const kinds: ReadonlyArray<Kind> = [
  {
    title: "nullable of 3.0",
    parts: {
      openapi: "3.0.3",
      success: { type: "object", required: ["a"], properties: { a: { type: "string", nullable: true } } },
      body: { type: "object", properties: { a: { type: "string", nullable: true, maxLength: 5 } } }
    },
    get: "success: Schema.Struct({ a: Schema.NullOr(Schema.String) })",
    create: "payload: { a: Schema.optional(Schema.NullOr(string({ max: 5 }))) }"
  },
  {
    title: "nullable of 3.0 beside a reference",
    parts: {
      openapi: "3.0.3",
      success: { type: "object", properties: { a: { nullable: true, allOf: [ref("A")] } } },
      schemas: { A: { type: "object", properties: { b: { type: "boolean" } } } }
    },
    get: "a: omittable(Schema.NullOr(A))"
  },
  {
    title: "exclusive limits of 3.0, which are booleans",
    parts: {
      openapi: "3.0.3",
      body: {
        type: "object",
        properties: { a: { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } }
      }
    },
    create: "a: Schema.optional(number({ max: 9, above: 1 }))"
  },
  {
    title: "exclusive limits of 3.1, which are numbers",
    parts: {
      body: {
        type: "object",
        properties: { a: { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 9, multipleOf: 2 } }
      }
    },
    create: "a: Schema.optional(integer({ above: 1, below: 9, multipleOf: 2 }))"
  },
  {
    title: "siblings of a reference, which 3.0 ignores",
    parts: {
      openapi: "3.0.3",
      success: { ...ref("A"), description: "ignored", type: "string" },
      schemas: { A: { type: "object", properties: { b: { type: "boolean" } } } }
    },
    get: "success: A,"
  },
  {
    title: "siblings of a reference, which 3.1 reads",
    parts: {
      body: { type: "array", items: { ...ref("A"), maxLength: 3, description: "short" } },
      schemas: { A: { type: "string", minLength: 1 } }
    },
    create: "body: Schema.Array(string({ min: 1, max: 3 }))"
  },
  {
    title: "additionalProperties as a schema",
    parts: {
      success: { type: "object", additionalProperties: { type: "integer" } },
      body: { type: "object", additionalProperties: { type: "string", maxLength: 3 } }
    },
    get: "success: Schema.Record({ key: Schema.String, value: Schema.Number })",
    create: "body: Schema.Record({ key: Schema.String, value: string({ max: 3 }) })"
  },
  {
    title: "additionalProperties as a schema beside fields",
    parts: { success: { type: "object", properties: { a: string }, additionalProperties: { type: "integer" } } },
    get: "open({ a: omittable(Schema.String) })",
    notes: ["the types of fields without names are not checked, because other fields have names"]
  },
  {
    title: "objects that refuse or accept any other field",
    parts: {
      body: {
        type: "array",
        items: {
          oneOf: [
            { type: "object", additionalProperties: false },
            { type: "object" },
            { type: "object", properties: { a: string }, additionalProperties: true },
            { type: "object", properties: { a: string }, unevaluatedProperties: false }
          ]
        }
      }
    },
    create:
      "Schema.Union(Schema.Record({ key: Schema.String, value: Schema.Never }), Schema.Record({ key: Schema.String, value: Schema.Unknown }), Schema.Struct({ a: Schema.optional(Schema.String) }, { key: Schema.String, value: Schema.Unknown }), Schema.Struct({ a: Schema.optional(Schema.String) }))"
  },
  {
    title: "const",
    parts: {
      success: { type: "object", required: ["a"], properties: { a: { const: "x" } } },
      body: { type: "object", required: ["a"], properties: { a: { const: "x" }, b: { const: 5 } } }
    },
    get: "success: Schema.Struct({ a: oneOf(\"x\") })",
    create: "payload: { a: Schema.Literal(\"x\"), b: Schema.optional(Schema.Literal(5)) }"
  },
  {
    title: "const and enum with lists and objects, which cannot be expressed",
    parts: { body: { type: "array", items: { type: "object", const: { a: 1 } } } },
    create: "body: Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown }))",
    notes: ["values that are lists or objects are not checked"]
  },
  {
    title: "tuples",
    parts: {
      success: { type: "array", prefixItems: [string, { type: "number" }], minItems: 1, items: false },
      body: { type: "array", prefixItems: [string, { type: "boolean" }], items: { type: "integer" }, minItems: 2 }
    },
    get: "success: Schema.Tuple(Schema.String, Schema.optionalElement(Schema.Number))",
    create: "body: Schema.Tuple([Schema.String, Schema.Boolean], integer())"
  },
  {
    title: "enums of numbers, of booleans and of several kinds",
    parts: {
      success: {
        type: "object",
        properties: { a: { enum: [1, 2] }, b: { type: "boolean", enum: [true] }, c: { enum: ["x", 1, null] } }
      },
      body: { type: "object", properties: { a: { type: "integer", enum: [1, 2] }, c: { enum: ["x", 1, null] } } }
    },
    get:
      "a: omittable(oneOf(1, 2)), b: omittable(Schema.Boolean), c: omittable(Schema.NullOr(Schema.Union(oneOf(\"x\"), oneOf(1))))",
    create: "a: Schema.optional(Schema.Literal(1, 2)), c: Schema.optional(Schema.NullOr(Schema.Literal(\"x\", 1)))"
  },
  {
    title: "enums that are open, because any string may stand beside them",
    parts: {
      success: {
        type: "object",
        required: ["a"],
        properties: { a: { anyOf: [string, { type: "string", enum: ["x"] }] } }
      }
    },
    get: "success: Schema.Struct({ a: oneOf(\"x\") })"
  },
  {
    title: "reserved words as names of operations and fields",
    parts: {
      get: { operationId: "delete" },
      paths: {
        "/other": {
          get: { operationId: "list", responses: { 204: { description: "" } } },
          post: { operationId: "string", responses: { 204: { description: "" } } }
        }
      },
      body: {
        type: "object",
        required: ["class"],
        properties: { class: string, constructor: string, toString: string, "a-b": string, "'\"`${x}": string }
      }
    },
    others: {
      "delete_.ts": "export const delete_ = /* @__PURE__ */ Operation.make(\"delete_\"",
      "list_.ts": "export const list_ =",
      "string_.ts": "export const string_ ="
    },
    create:
      "class: Schema.String, constructor: Schema.optional(Schema.String), toString: Schema.optional(Schema.String), \"a-b\": Schema.optional(Schema.String), \"'\\\"`${x}\": Schema.optional(Schema.String)"
  },
  {
    title: "schemas with names that files use themselves",
    parts: {
      success: {
        type: "object",
        required: ["a"],
        properties: { a: ref("Schema"), b: ref("Conflict"), c: ref("getThing"), d: ref("list-of.things") }
      },
      schemas: {
        Schema: { type: "object", properties: { x: string } },
        Conflict: { type: "object", properties: { y: string } },
        getThing: { type: "object", properties: { z: string } },
        "list-of.things": { type: "array", items: string }
      }
    },
    get: "export const SchemaSchema"
  },
  {
    title: "comments and names that would leave their place",
    parts: {
      success: {
        type: "object",
        description: "Ends */ export const evil = 1 /*",
        properties: {
          a: { type: "string", description: "*/ process.exit()\n\u2028 @deprecated" },
          "\";process.exit();\"": string,
          "x\n*/y": string,
          b: { type: "string", enum: ["\u2028\"', \\", "${1}"] }
        }
      },
      paths: { "/*/evil": { get: { operationId: "star", responses: { 204: { description: "" } } } } },
      get: { summary: "*/ evil() /*", description: "one\r\n\r\ntwo */ `evil`\n@deprecated" }
    },
    get: "/** *\\/ process.exit() \\@deprecated */ a: omittable(Schema.String)"
  },
  {
    title: "oneOf with a discriminator that branches do not state",
    parts: {
      success: ref("Pet"),
      schemas: {
        Pet: {
          oneOf: [ref("Cat"), ref("Dog")],
          discriminator: { propertyName: "kind", mapping: { cat: "#/components/schemas/Cat", dog: "Dog" } }
        },
        Cat: { type: "object", required: ["kind"], properties: { kind: string, lives: { type: "integer" } } },
        Dog: { type: "object", properties: { kind: string, tricks: { type: "array", items: string } } }
      }
    },
    get:
      "openUnion([\"kind\"], Schema.Struct({ kind: Schema.Literal(\"cat\"), lives: omittable(Schema.Number) }), Schema.Struct({ kind: Schema.Literal(\"dog\"), tricks: list(Schema.String) }))"
  },
  {
    title: "unions whose branches state their tags, which stay closed in responses",
    parts: {
      success: { oneOf: [ref("Cat"), ref("Dog")] },
      schemas: {
        Cat: { type: "object", required: ["kind"], properties: { kind: ref("CatKind") } },
        CatKind: { type: "string", enum: ["cat"] },
        Dog: { type: "object", required: ["kind"], properties: { kind: { const: "dog" } } }
      }
    },
    get: "Schema.Struct({ kind: Schema.Literal(\"cat\") }).annotations({ identifier: \"Cat\" })"
  },
  {
    title: "allOf",
    parts: {
      body: {
        allOf: [ref("Base"), {
          type: "object",
          required: ["a", "b"],
          properties: { a: { type: "string", maxLength: 9 }, b: {} }
        }]
      },
      schemas: {
        Base: { type: "object", properties: { a: { type: "string", minLength: 2 } }, additionalProperties: false }
      }
    },
    create: "payload: { a: string({ min: 2, max: 9 }), b: Schema.Unknown }"
  },
  {
    title: "a cycle below allOf, which is a recursive schema",
    parts: {
      success: ref("Node"),
      schemas: {
        Base: { type: "object", required: ["id"], properties: { id: string } },
        Node: {
          allOf: [ref("Base"), {
            type: "object",
            properties: { children: { type: "array", items: ref("Node") }, up: ref("Leaf") }
          }]
        },
        Leaf: {
          type: "object",
          properties: {
            of: { type: ["null"], anyOf: [{ type: "null" }] },
            node: { oneOf: [ref("Node"), { type: "null" }] }
          }
        }
      }
    },
    get:
      "export interface Node { readonly id: string readonly children?: ReadonlyArray<Node> readonly up?: Leaf } export const Node: Schema.Schema<Node> = /* @__PURE__ */ Schema.suspend(() => Schema.Struct({ id: Schema.String, children: list(Node), up: omittable(Leaf) })"
  },
  {
    title: "recursive schemas of every kind",
    parts: {
      body: { type: "array", items: ref("Json") },
      schemas: {
        Json: {
          oneOf: [
            string,
            { type: "number" },
            { type: "boolean" },
            { type: "null" },
            { type: "array", items: ref("Json") },
            { type: "object", additionalProperties: ref("Json") },
            { type: "array", prefixItems: [{ enum: ["x", 1] }, ref("Json")], minItems: 1, items: false }
          ]
        }
      }
    },
    create:
      "export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json } | readonly [\"x\" | 1, (Json)?]"
  },
  {
    title: "parameters of the path item, which those of the operation replace",
    parts: {
      paths: {
        "/a/{id}": {
          parameters: [
            { name: "id", in: "path", required: true, schema: { type: "integer" } },
            { name: "q", in: "query", schema: string },
            { name: "X-Trace", in: "header", schema: string },
            { name: "Authorization", in: "header", schema: string },
            { name: "session", in: "cookie", schema: string }
          ],
          get: {
            operationId: "getA",
            parameters: [
              { name: "q", in: "query", required: true, schema: { type: ["boolean", "null"] } },
              { name: "x-trace", in: "header", required: true, deprecated: true, schema: string },
              { name: "ids", in: "query", style: "pipeDelimited", schema: { type: "array", items: string } },
              { name: "filter", in: "query", content: { "application/json": { schema: {} } } }
            ],
            responses: { 204: { description: "" } }
          }
        }
      }
    },
    others: {
      "getA.ts":
        "params: { id: string({ pattern: \"^-?[0-9]+$\" }) }, query: { q: Schema.Boolean, ids: Schema.optional(Schema.Array(Schema.String)), filter: Schema.optional(Schema.String) }, headers: { /** @deprecated */ \"x-trace\": Schema.String }"
    },
    notes: [
      "cookies are not sent",
      "a list is sent as repeated names, not in the style that the document states",
      "the parameter is sent as the text that the caller gives"
    ]
  },
  {
    title: "schemas that are true or false",
    parts: {
      success: {
        type: "object",
        required: ["a"],
        properties: { a: true, b: true, c: { type: "array", items: false } }
      },
      body: { type: "object", properties: { a: true, b: false } }
    },
    get: "success: Schema.Struct({ a: Schema.Unknown, b: omittable(nonNull), c: list(Schema.Never) })",
    create: "payload: { a: Schema.optional(Schema.Unknown), b: Schema.optional(Schema.Never) }"
  },
  {
    title: "formats, known and unknown, and patterns that JavaScript does not know",
    parts: {
      success: {
        type: "object",
        properties: { a: { type: "string", format: "date-time" }, b: { type: "string", format: "uri" } }
      },
      body: {
        type: "object",
        properties: {
          a: { type: "string", format: "email", maxLength: 9 },
          b: { type: "string", format: "made-up" },
          c: { type: "string", pattern: "^(?i)x" },
          d: { type: "string", pattern: "^[^\u0000/\"]*$" }
        }
      }
    },
    get: "a: omittable(Timestamp), b: omittable(Schema.String)",
    create:
      "a: Schema.optional(string({ max: 9, format: email })), b: Schema.optional(Schema.String), c: Schema.optional(Schema.String), d: Schema.optional(string({ pattern: \"^[^\\u0000/\\\"]*$\" }))",
    notes: ["the pattern is no regular expression of JavaScript, so it is not checked"]
  },
  {
    title: "defaults, fields that only one side sets, deprecated ones",
    parts: {
      success: ref("Thing"),
      body: ref("Thing"),
      schemas: {
        Thing: {
          type: "object",
          required: ["id", "name", "secret"],
          properties: {
            id: { type: "string", readOnly: true },
            name: { type: "string", default: "x", minLength: 1 },
            secret: { type: "string", writeOnly: true },
            old: { type: "boolean", deprecated: true, description: "No more." }
          }
        }
      },
      get: { deprecated: true }
    },
    get:
      "Schema.Struct({ id: Schema.String, name: Schema.String, /** * No more. * @deprecated */ old: omittable(Schema.Boolean) })",
    create:
      "payload: { name: string({ min: 1 }), secret: Schema.String, /** * No more. * @deprecated */ old: Schema.optional(Schema.Boolean) }"
  },
  {
    title: "limits of lists and objects, and patternProperties",
    parts: {
      success: { type: "object", properties: { a: { type: "array", items: string, minItems: 3 } }, minProperties: 1 },
      body: {
        type: "object",
        minProperties: 1,
        properties: {
          a: { type: "array", items: string, minItems: 1, maxItems: 3, uniqueItems: true },
          b: { type: "object", properties: { c: string }, maxProperties: 1 },
          d: { type: "object", patternProperties: { "^x": { type: "integer" } }, additionalProperties: false }
        }
      }
    },
    get: "success: Schema.Struct({ a: list(Schema.String) })",
    create:
      "a: Schema.optional(array(Schema.String, { min: 1, max: 3, unique: true })), b: Schema.optional(sized(Schema.Struct({ c: Schema.optional(Schema.String) }), { max: 1 })), d: Schema.optional(Schema.Record({ key: Schema.String, value: integer() })) }, minProperties: 1",
    notes: ["the patterns of names are not checked"]
  },
  {
    title: "several media types, files, texts and events",
    parts: {
      paths: {
        "/files": {
          post: {
            operationId: "sendFile",
            requestBody: {
              content: {
                "multipart/form-data": {
                  schema: {
                    type: "object",
                    required: ["file", "name"],
                    properties: {
                      file: { type: "string", format: "binary" },
                      other: { type: "string", contentMediaType: "image/png" },
                      any: {},
                      name: string,
                      tags: { type: "array", items: string }
                    }
                  }
                }
              }
            },
            responses: { 200: { description: "", content: { "text/csv": { schema: string } } } }
          }
        },
        "/events": {
          get: {
            operationId: "streamEvents",
            responses: {
              200: {
                description: "",
                content: { "text/event-stream": { schema: { type: "object", properties: { id: string } } } }
              }
            }
          },
          put: {
            operationId: "putForm",
            requestBody: {
              content: {
                "text/plain": { schema: string },
                "application/x-www-form-urlencoded": { schema: { type: "object", properties: { a: string } } }
              }
            },
            responses: {
              201: { description: "", content: { "application/problem+json": { schema: string } } },
              // A 204 never has a body.
              204: { description: "", content: { "application/json": { schema: { type: "number" } } } }
            }
          }
        }
      }
    },
    others: {
      "sendFile.ts":
        "multipart: { file: File, other: Schema.optional(File), any: Schema.optional(File), name: Schema.String, tags: Schema.optional(Schema.String) }, success: Schema.Unknown, scope: []",
      "streamEvents.ts": "events: Schema.Struct({ id: omittable(Schema.String) })",
      "putForm.ts": "payload: { a: Schema.optional(Schema.String) }, success: Schema.UndefinedOr(Schema.String)"
    },
    notes: [
      "the part is sent as the text that the caller gives",
      "the body is text/csv, so it is not decoded",
      "the body must be sent as a form: call with IdentityClient.withFormBody"
    ]
  },
  {
    title: "bodies that may be absent or null",
    parts: {
      body: { type: ["object", "null"], properties: { a: string } },
      paths: {
        "/other": {
          post: {
            operationId: "other",
            requestBody: { content: { "application/json": { schema: { type: ["array", "null"], items: string } } } },
            responses: { 204: { description: "" } }
          }
        }
      }
    },
    create: "body: Schema.NullOr(Schema.Struct({ a: Schema.optional(Schema.String) }))",
    others: { "other.ts": "body: Schema.UndefinedOr(Schema.NullOr(Schema.Array(Schema.String)))" }
  },
  {
    title: "scopes, statuses and pages",
    parts: {
      paths: {
        "/lists": {
          get: {
            operationId: "lists",
            security: [{ bearer: [] }, { oauth: ["read:a", "read:b"] }],
            parameters: ["page", "per_page", "from", "take"].map((name) => ({
              name,
              in: "query",
              schema: name === "from" ? string : { type: "integer" }
            })),
            responses: {
              200: {
                description: "",
                content: {
                  "application/json": {
                    schema: {
                      oneOf: [
                        { type: "array", items: string },
                        { type: "object", properties: { lists: { type: "array", items: string }, next: string } }
                      ]
                    }
                  }
                }
              },
              402: { description: "" },
              403: { description: "" },
              422: { description: "" },
              503: { description: "" },
              "4XX": { description: "" },
              default: { description: "" }
            }
          }
        }
      }
    },
    others: {
      "lists.ts":
        "items: \"lists\", paging: \"both\", scope: [\"read:a\", \"read:b\"], idempotent: true, error: [BadRequest, PaymentRequired, InsufficientScope, Forbidden, RateLimited, ServiceUnavailable]"
    },
    notes: ["no class of failures has the status 422, so it is an UnexpectedResponse"]
  },
  {
    title: "allOf of every kind of schema",
    parts: {
      body: {
        type: "object",
        required: ["number", "open", "closed"],
        properties: {
          number: {
            allOf: [{ type: "number", minimum: 1, multipleOf: 5 }, { type: "integer", minimum: 2, maximum: 9 }]
          },
          literal: { allOf: [{ enum: ["a", "b", 1] }, { type: "string", minLength: 1 }] },
          both: { allOf: [{ enum: [1, 2.5, true] }, { enum: [true, 1, "x"] }] },
          whole: { allOf: [{ type: "integer" }, { enum: [1, 2.5] }] },
          flag: { allOf: [{ type: "boolean" }, { enum: [true, "x"] }] },
          union: { allOf: [{ type: ["string", "integer", "null"] }, { type: ["integer", "boolean", "null"] }] },
          list: {
            allOf: [{ type: "array", items: string, maxItems: 5 }, {
              type: "array",
              items: { type: "string", maxLength: 3 },
              uniqueItems: true
            }]
          },
          nothing: { allOf: [{ type: "array", items: string }, { type: "array", items: { type: "boolean" } }] },
          tuple: { allOf: [{ type: "array" }, { type: "array", prefixItems: [string], items: false }] },
          tupleFirst: { allOf: [{ type: "array", prefixItems: [string], items: false }, { type: "array" }] },
          any: { allOf: [string, {}] },
          named: { allOf: [string, ref("Short")] },
          map: {
            allOf: [{ type: "object", additionalProperties: string }, {
              type: "object",
              additionalProperties: { type: "string", maxLength: 2 }
            }]
          },
          half: { allOf: [{ type: "object", additionalProperties: string }, { type: "object" }] },
          otherHalf: { allOf: [{ type: "object" }, { type: "object", additionalProperties: { type: "integer" } }] },
          open: {
            allOf: [{ type: "object", additionalProperties: true }, { type: "object", properties: { a: string } }]
          },
          closed: {
            allOf: [{ type: "object", additionalProperties: string }, {
              type: "object",
              properties: { a: string },
              additionalProperties: false
            }]
          }
        }
      },
      schemas: { Short: { type: "string", maxLength: 2 } }
    },
    create:
      "payload: { number: integer({ min: 2, max: 9, multipleOf: 5 }), literal: Schema.optional(Schema.Literal(\"a\", \"b\")), both: Schema.optional(Schema.Literal(1, true)), whole: Schema.optional(Schema.Literal(1)), flag: Schema.optional(Schema.Literal(true)),"
  },
  {
    title: "parameters of every kind",
    parts: {
      paths: {
        "/a/{kind}/{flag}/{amount}/{either}/{list}/{short}": {
          get: {
            operationId: "getA",
            parameters: [
              { name: "kind", in: "path", required: true, schema: { enum: [1, 2] } },
              { name: "flag", in: "path", required: true, schema: { type: "boolean" } },
              { name: "amount", in: "path", required: true, schema: { type: "number" } },
              { name: "either", in: "path", required: true, schema: { type: ["boolean", "null"] } },
              { name: "list", in: "path", required: true, schema: { type: "array", items: string } },
              { name: "short", in: "path", required: true, schema: { type: "string", minLength: 1, maxLength: 3 } },
              { name: "names", in: "query", explode: false, schema: { type: "array", items: string } },
              { name: "fine", in: "query", style: "form", schema: { type: "array", items: string } }
            ],
            responses: { 204: { description: "" } }
          }
        }
      }
    },
    others: {
      "getA.ts":
        "params: { kind: Schema.Literal(\"1\", \"2\"), flag: Schema.Literal(\"true\", \"false\"), amount: Schema.String, either: Schema.Literal(\"true\", \"false\"), list: Schema.String, short: string({ max: 3 }) }"
    },
    notes: ["a list is sent as repeated names, not in the style that the document states"]
  },
  {
    title: "recursive schemas with fields of every kind",
    parts: {
      body: ref("Tree"),
      success: ref("Tree"),
      schemas: {
        Tree: {
          type: "object",
          required: ["at"],
          properties: {
            at: { type: "string", format: "date-time" },
            any: {},
            never: false,
            kind: { anyOf: [string, { enum: ["a"] }] },
            pair: { type: "array", prefixItems: [string, ref("Tree")], minItems: 1, items: { type: "number" } },
            open: { type: "object", properties: { a: string }, additionalProperties: true },
            none: { type: "object", additionalProperties: false },
            map: { type: "object" },
            up: ref("Tree")
          },
          additionalProperties: true
        }
      }
    },
    get: "readonly at: Timestamp readonly any?: unknown readonly never?: never readonly kind?: string",
    create: "readonly at: string readonly any?: unknown readonly never?: never | undefined readonly kind?: string",
    notes: ["fields without names are not sent"]
  },
  {
    title: "keywords that cannot be expressed",
    parts: {
      body: {
        type: "object",
        properties: { a: string, b: { type: "array", items: string, contains: { const: "x" }, minContains: 2 } },
        dependentRequired: { a: ["b"] },
        propertyNames: { maxLength: 3 }
      }
    },
    create: "payload: { a: Schema.optional(Schema.String), b: Schema.optional(Schema.Array(Schema.String)) }",
    notes: ["contains", "minContains", "dependentRequired", "propertyNames"].map((name) =>
      `the keyword ${name} is not checked`
    )
  },
  {
    title: "types that keywords imply",
    parts: {
      body: {
        properties: {
          list: { items: string },
          text: { maxLength: 3 },
          number: { minimum: 3 },
          map: { additionalProperties: string },
          tuple: { prefixItems: [string], minItems: 1, maxItems: 1 },
          rest: { prefixItems: [string], minItems: 1 }
        }
      }
    },
    create:
      "payload: { list: Schema.optional(Schema.Array(Schema.String)), text: Schema.optional(string({ max: 3 })), number: Schema.optional(number({ min: 3 })), map: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String })), tuple: Schema.optional(Schema.Tuple(Schema.String)), rest: Schema.optional(Schema.Tuple([Schema.String], Schema.Unknown)) }"
  },
  {
    title: "pages by checkpoint, and pages with several lists",
    parts: {
      paths: Object.fromEntries(
        [["things", ["things", "others"]], ["unknown", ["as", "bs"]], ["single", ["data"]]].map(([name, fields]) => [
          `/${String(name)}`,
          {
            get: {
              operationId: `list_${String(name)}`,
              tags: ["lists"],
              parameters: ["from", "take"].map((name) => ({ name, in: "query", schema: string })),
              responses: {
                200: {
                  description: "",
                  content: {
                    "application/json": {
                      schema: {
                        type: "object",
                        properties: Object.fromEntries(
                          [fields].flat().map((field) => [String(field), { type: "array", items: string }])
                        )
                      }
                    }
                  }
                }
              }
            }
          }
        ])
      )
    },
    others: {
      "listThings.ts": "items: \"things\", paging: \"checkpoint\"",
      "listSingle.ts": "items: \"data\", paging: \"checkpoint\""
    },
    notes: ["no field is certainly the list of a page, so Pagination cannot stream it"]
  },
  {
    title: "JSON or events: the events are left out",
    parts: {
      get: {
        responses: {
          200: { description: "", content: { "application/json": { schema: { type: "boolean" } } } },
          202: { description: "", content: { "text/event-stream": { schema: string } } }
        }
      }
    },
    get: "success: Schema.Boolean",
    notes: ["the operation returns JSON or events; the events are left out"]
  },
  {
    title: "a recursive schema with a string or certain numbers",
    parts: {
      success: ref("Node"),
      body: { type: "array", items: ref("Node") },
      schemas: {
        Node: {
          type: "object",
          required: ["a"],
          properties: { a: { anyOf: [string, { enum: [1, 2] }, { enum: ["x", true] }] }, next: ref("Node") }
        }
      }
    },
    get: "readonly a: string | number | string | boolean",
    create: "readonly a: string | 1 | 2 | \"x\" | true"
  },
  {
    title: "a recursive schema with typed fields beside those with names",
    parts: {
      success: ref("Node"),
      body: { type: "array", items: ref("Tree") },
      schemas: {
        Node: {
          allOf: [
            { type: "object", properties: { a: string, next: ref("Node") } },
            { additionalProperties: { type: "number" } }
          ]
        },
        Tree: { type: "object", required: ["a"], additionalProperties: ref("Tree") }
      }
    },
    get: "interface Node { readonly a?: string readonly next?: Node }",
    create: "readonly a: Tree readonly [name: string]: Tree",
    notes: ["the types of fields without names are not checked, because other fields have names"]
  },
  {
    title: "schemas whose names in requests are those of others",
    parts: {
      success: { anyOf: ["Foo", "FooInput", "FooRequestInput"].map(ref) },
      body: { type: "array", items: { anyOf: ["Foo", "FooInput", "FooRequestInput"].map(ref) } },
      schemas: Object.fromEntries(
        ["Foo", "FooInput", "FooRequestInput"].map((name) => [
          name,
          { type: "object", properties: { [name]: { type: "integer" } } }
        ])
      )
    },
    create: "body: Schema.Array(Schema.Union(FooRequestRequestInput, FooInputInput, FooRequestInputInput))"
  },
  {
    title: "lists that are tuples, with fewer elements than the tuple describes",
    parts: {
      body: { type: "array", items: { allOf: [{ items: string }, { prefixItems: [string, { type: "number" }] }] } }
    },
    create: "body: Schema.Array(Schema.Tuple(Schema.optionalElement(Schema.String)))"
  }
]

describe("a document with", () => {
  /** What the documents give, generated once for all tests. */
  const results = kinds.map(({ parts }) => Effect.runSync(Effect.cached(generated(documentOf(parts)))))

  for (const [index, { create, get, notes = [], others = {}, title }] of kinds.entries()) {
    it.effect(title, () =>
      Effect.gen(function*() {
        const result = yield* results[index]!
        if (get !== undefined) assert.include(textOf(result, "getThing.ts"), get)
        if (create !== undefined) assert.include(textOf(result, "createThing.ts"), create)
        for (const [path, text] of Object.entries(others)) assert.include(textOf(result, path), text)
        assert.sameMembers(result.notes.map(({ message }) => message), [...notes])
      }))
  }

  it.effect("all of these gives code that the compiler accepts", () =>
    Effect.gen(function*() {
      const files = yield* Effect.forEach(results, (result, index) =>
        Effect.map(
          result,
          ({ files }) => files.map(({ path, text }) => ({ path: `${index}/${path}`, text }))
        ))
      assert.deepStrictEqual(typeErrors(files.flat()), [])
    }))
})

const things = (schema: unknown): Parts => ({ success: schema })

const pointer = "#/paths/~1things/get/responses/200/content/application~1json/schema"

const failures: ReadonlyArray<readonly [title: string, parts: Parts, pointer: string, message: RegExp]> = [
  ["an unknown keyword", things({ type: "string", maxLenght: 5 }), `${pointer}/maxLenght`, /keyword maxLenght is not/],
  ["a keyword that it does not understand", things({ if: {} }), `${pointer}/if`, /keyword if is not/],
  ["a broken reference", things(ref("Nothing")), `${pointer}/$ref`, /Nothing leads to nothing/],
  ["a reference to another file", things({ $ref: "other.yaml#/A" }), `${pointer}/$ref`, /bundle it first/],
  [
    "references in a circle",
    { success: ref("A"), schemas: { A: ref("B"), B: ref("A") } },
    "#/components/schemas/A",
    /contains itself/
  ],
  [
    "a cycle by way of allOf",
    {
      success: ref("A"),
      schemas: { A: { allOf: [ref("B"), { type: "object" }] }, B: { allOf: [{ type: "object" }, ref("A")] } }
    },
    "#/components/schemas/A",
    /contains itself/
  ],
  [
    "a union within itself",
    { success: ref("A"), schemas: { A: { oneOf: [ref("A"), string] } } },
    "#/components/schemas/A",
    /branch of itself/
  ],
  ["allOf that nothing can match", things({ allOf: [string, { type: "number" }] }), pointer, /no value can match/],
  ["an enum that nothing can match", things({ type: "string", enum: [1] }), `${pointer}/enum`, /no value can match/],
  ["an empty enum", things({ type: "string", enum: [] }), `${pointer}/enum`, /without values/],
  ["an empty oneOf", things({ oneOf: [] }), `${pointer}/oneOf`, /has no schemas/],
  ["a type that there is not", things({ type: "text" }), `${pointer}/type`, /no type text/],
  ["items that are a list", things({ type: "array", items: [string] }), `${pointer}/items`, /prefixItems/],
  [
    "a field called __proto__",
    things(JSON.parse("{\"type\":\"object\",\"properties\":{\"__proto__\":{}}}")),
    `${pointer}/properties/__proto__`,
    /__proto__/
  ],
  ["a schema that is neither an object nor a boolean", things({ items: 5 }), `${pointer}/items`, /must be|object/],
  [
    "a discriminator without a name",
    things({ oneOf: [{ type: "object" }], discriminator: { mapping: {} } }),
    `${pointer}/discriminator`,
    /propertyName/
  ],
  [
    "unevaluatedProperties as a schema",
    things({ type: "object", unevaluatedProperties: {} }),
    pointer,
    /only a boolean/
  ],
  [
    "a parameter without a schema",
    { get: { parameters: [{ name: "a", in: "query" }] } },
    "#/paths/~1things/get/parameters/0",
    /schema|must have/
  ],
  [
    "a parameter called __proto__",
    { get: { parameters: [{ name: "__proto__", in: "query", schema: string }] } },
    "#/paths/~1things/get/parameters/0/name",
    /__proto__/
  ],
  [
    "a path with a parameter that is not described",
    { paths: { "/a/{id}": { get: { operationId: "a", responses: { 204: { description: "" } } } } } },
    "#/paths/~1a~1{id}",
    /parameter id is not described/
  ],
  [
    "a segment that is more than a parameter",
    { paths: { "/a/{id}.json": { get: { operationId: "a", responses: { 204: { description: "" } } } } } },
    "#/paths/~1a~1{id}.json",
    /not one parameter as a whole/
  ],
  [
    "a parameter of no path",
    { get: { parameters: [{ name: "id", in: "path", required: true, schema: string }] } },
    "#/paths/~1things",
    /no place for the parameter id/
  ],
  [
    "a parameter twice",
    { get: { parameters: [{ name: "a", in: "query", schema: string }, { name: "a", in: "query", schema: string }] } },
    "#/paths/~1things/get/parameters",
    /duplicate|occurs twice|must NOT have/
  ],
  [
    "a body that can only be sent as text",
    {
      paths: {
        "/a": {
          post: {
            operationId: "a",
            requestBody: { content: { "text/plain": { schema: string } } },
            responses: { 204: { description: "" } }
          }
        }
      }
    },
    "#/paths/~1a/post/requestBody/content",
    /sent as text\/plain/
  ],
  [
    "what OpenAPI does not allow",
    { paths: { "/a": { get: { operationId: "a", responses: [] } } } },
    "#/paths/~1a/get/responses",
    /must be object/
  ]
]

describe("it fails for", () => {
  for (const [title, parts, place, message] of failures) {
    it.effect(title, () =>
      Effect.gen(function*() {
        const error = yield* failure(documentOf(parts))
        assert.match(error.message, message)
        assert.isTrue(error.pointer.startsWith(place), error.pointer)
        assert.include(error.message, error.pointer)
      }))
  }

  it.effect("documents that are none", () =>
    Effect.gen(function*() {
      assert.match((yield* failure("{ \"openapi\": ")).message, /cannot be parsed/)
      assert.match((yield* failure("a: [1")).message, /cannot be parsed.*line 1/s)
      assert.match((yield* failure("[]")).message, /no object/)
      assert.match((yield* failure("swagger: '2.0'")).message, /must|version/)
      const { pointer } = yield* failure(documentOf({ openapi: "3.2.0" }))
      assert.match(pointer, /^#/)
      assert.match((yield* failure({ ...documentOf({}), paths: {} })).message, /no operations/)
    }))
})

describe("generated code", () => {
  it.effect("accepts and refuses what the document does", () =>
    Effect.gen(function*() {
      const { files } = yield* generated(documentOf({
        success: ref("Node"),
        body: {
          type: "object",
          required: ["name"],
          additionalProperties: false,
          properties: {
            name: { type: "string", minLength: 2, pattern: "^[a-z]+$" },
            limit: { type: "integer", minimum: 1, maximum: 5 },
            tags: { type: "array", items: string, uniqueItems: true }
          }
        },
        schemas: {
          Node: {
            type: "object",
            required: ["id"],
            properties: { id: string, next: ref("Node"), kind: { enum: ["a"] } }
          }
        }
      }))
      const { createThing, getThing } = yield* Effect.promise(() => load(files))
      const accepts = Schema.is(createThing.endpoint.input)
      assert.isTrue(accepts({ name: "ab", limit: 5, tags: ["a", "b"] }))
      for (
        const refused of [{}, { name: "a" }, { name: "AB" }, { name: "ab", limit: 6 }, { name: "ab", limit: 1.5 }, {
          name: "ab",
          tags: ["a", "a"]
        }]
      ) assert.isFalse(accepts(refused), JSON.stringify(refused))
      const returns = Schema.is(getThing.endpoint.success)
      assert.isTrue(returns({ id: "1", next: { id: "2", kind: "other", more: 1 } }))
      assert.isFalse(returns({ id: "1", next: { id: 2 } }))
    }))

  it.effect("builds no schema when it is imported", () =>
    Effect.gen(function*() {
      const { files } = yield* generated(
        documentOf({ success: ref("A"), schemas: { A: { type: "object", properties: { a: {} } } } })
      )
      const text = files.map((file) => file.text).join("\n")
      assert.notMatch(
        text,
        /^(?:export )?const \w+(?:: [^=]+)? = (?!\/\* @__PURE__ \*\/ (?:Schema\.suspend|Operation\.make)\(|\w+$)/m
      )
    }))
})
