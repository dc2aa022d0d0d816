/** What recorded exchanges with real tenants have taught the generator, in small documents of our own. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { auth0 } from "../../src/generate/errata/auth0.js"
import { generate } from "../../src/generate/generate.js"
import type { Note } from "../../src/generate/model/specError.js"
import { applyOverlay } from "../../src/generate/overlay/overlay.js"
import { typeErrors } from "./support/compile.js"
import type { Json } from "./support/documents.js"
import { boolean, list, object, printed, ref, string } from "./support/printed.js"

const content = (schema: Json) => ({ content: { "application/json": { schema } } })

const documentOf = (paths: Json, schemas: Json = {}): Json => ({
  openapi: "3.1.0",
  info: { title: "Things", version: "1.0" },
  paths,
  components: { schemas }
})

/** The text of the file of an operation, with each run of white space as one space. */
const textOf = (document: Json, name: string) =>
  Effect.map(printed(document), (files) => (files[`${name}.ts`] ?? "").replace(/\s+/g, " "))

const kind = (value: string, more: Json = {}, ...required: ReadonlyArray<string>) =>
  object({ type: { enum: [value] }, ...more }, "type", ...required)

describe("a response of several objects", () => {
  const get = (schema: Json) => ({
    "/thing": { get: { operationId: "getThing", responses: { 200: content(schema) } } }
  })

  it.effect("that differ in one field is one object, with an open union there", () =>
    Effect.gen(function*() {
      const stream = (to: string) => object({ id: string, destination: ref(to) })
      const text = yield* textOf(
        documentOf(get({ oneOf: [stream("Hook"), stream("Bus")] }), {
          Hook: kind("webhook", { url: string }, "url"),
          Bus: kind("eventbridge", { region: string })
        }),
        "getThing"
      )
      assert.include(
        text,
        "success: Schema.Struct({ id: omittable(Schema.String), destination: omittable(openUnion([\"type\"], Hook, Bus)) })"
      )
    }))

  it.effect("that differ in more, without a tag, stays a union of what is known", () =>
    Effect.gen(function*() {
      const text = yield* textOf(
        documentOf(
          get({
            oneOf: [object({ start: string, things: list(string) }), object({ next: string, things: list(string) })]
          })
        ),
        "getThing"
      )
      assert.match(text, /success: Schema\.Union\(\[?Schema\.Struct\(\{ start:/)
    }))

  it.effect("is told apart by several tags if no single one will do; those of unions within it count", () =>
    Effect.gen(function*() {
      const step = (type: string, action: string) =>
        object({ type: { enum: [type] }, action: { enum: [action] } }, "type", "action")
      const text = yield* textOf(
        documentOf(get({ oneOf: [ref("Mail"), step("chat", "send")] }), {
          Mail: { oneOf: [step("mail", "send"), step("mail", "read")] }
        }),
        "getThing"
      )
      assert.include(text, "success: openUnion([\"type\", \"action\"], Schema.Struct(")
      assert.strictEqual(text.split("Schema.Struct(").length - 1, 3)
    }))
})

describe("a PATCH", () => {
  const fields = object({
    name: string,
    addons: object({ a: object({ b: boolean }) }),
    grant: ref("Grant"),
    fixed: object({})
  }, "fixed")
  const body = (method: string) => ({
    "/things/{id}": {
      [method]: {
        operationId: "changeThing",
        parameters: [{ name: "id", in: "path", required: true, schema: string }],
        requestBody: { required: true, ...content(fields) },
        responses: { 204: {} }
      }
    }
  })
  const schemas = { Grant: object({ active: boolean }) }

  it.effect("clears each optional object with null, also where the document does not say so", () =>
    Effect.gen(function*() {
      const text = yield* textOf(documentOf(body("patch"), schemas), "changeThing")
      assert.include(text, "grant: Schema.optional(Schema.NullOr(Grant))")
      assert.include(text, "a: Schema.optional(Schema.NullOr(")
      assert.include(text, "name: Schema.optional(Schema.String)")
      assert.notInclude(text, "fixed: Schema.NullOr")
    }))

  /** A document whose operations take this body, and what it refers to. */
  const changing = (schema: Json, schemas: Json, required = true) => {
    const operation = (operationId: string) => ({
      operationId,
      parameters: [{ name: "id", in: "path", required: true, schema: string }],
      requestBody: { required, ...content(schema) },
      responses: { 204: {} }
    })
    return documentOf({ "/things/{id}": { patch: operation("changeThing"), put: operation("putThing") } }, schemas)
  }
  const inner = { Inner: object({ deep: ref("Deep") }), Deep: object({ last: object({ b: boolean }), b: boolean }) }

  it.effect("clears the optional objects of an object that is described elsewhere, at any depth", () =>
    Effect.gen(function*() {
      const document = changing(object({ inner: ref("Inner"), plain: ref("Plain") }), {
        ...inner,
        Plain: object({ b: boolean })
      })
      const text = yield* textOf(document, "changeThing")
      assert.include(text, "inner: Schema.optional(Schema.NullOr(InnerPatch))")
      assert.include(text, "Schema.Struct({ deep: Schema.optional(Schema.NullOr(DeepPatch)) })")
      assert.include(text, "last: Schema.optional(Schema.NullOr(Schema.Struct({ b:")
      assert.include(text, "plain: Schema.optional(Schema.NullOr(Plain))")
      const put = yield* textOf(document, "putThing")
      assert.include(put, "inner: Schema.optional(Inner)")
      assert.notInclude(put, "NullOr")
      assert.deepStrictEqual(typeErrors((yield* generate(document)).files), [])
    }))

  it.effect("clears the optional objects of required ones, of maps, and of fields that may be one of several objects", () =>
    Effect.gen(function*() {
      const map = { type: "object", additionalProperties: ref("Inner") }
      const document = changing(
        object({ fixed: ref("Inner"), map, either: { oneOf: [ref("Inner"), ref("Other")] } }, "fixed"),
        { ...inner, Other: object({ kind: string, more: ref("Deep") }, "kind") }
      )
      const text = yield* textOf(document, "changeThing")
      assert.include(text, "fixed: InnerPatch")
      assert.include(
        text,
        "map: Schema.optional(Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.NullOr(InnerPatch) })))"
      )
      assert.include(text, "either: Schema.optional(Schema.NullOr(Schema.Union(InnerPatch, OtherPatch)))")
      assert.include(text, "more: Schema.optional(Schema.NullOr(DeepPatch))")
    }))

  it.effect("clears those of a whole body, which may be one of several objects, or absent", () =>
    Effect.gen(function*() {
      const oneOf = [ref("Inner"), object({ kind: string, deep: ref("Deep") }, "kind")]
      const union = yield* textOf(changing({ oneOf }, inner), "changeThing")
      assert.include(
        union,
        "body: Schema.Union(InnerPatch, Schema.Struct({ kind: Schema.String, deep: Schema.optional(Schema.NullOr(DeepPatch)) }))"
      )
      const optional = yield* textOf(changing(ref("Inner"), inner, false), "changeThing")
      assert.include(optional, "body: Schema.UndefinedOr(InnerPatch)")
    }))

  it.effect("clears those of an object that contains itself", () =>
    Effect.gen(function*() {
      const document = changing(object({ tree: ref("Tree") }), { Tree: object({ name: string, left: ref("Tree") }) })
      const text = yield* textOf(document, "changeThing")
      assert.include(
        text,
        "export interface TreePatch { readonly name?: string | undefined readonly left?: TreePatch | null | undefined }"
      )
      assert.include(text, "left: Schema.optional(Schema.NullOr(TreePatch))")
      assert.deepStrictEqual(typeErrors((yield* generate(document)).files), [])
    }))

  it.effect("takes the items of a list, and what the document lets null clear, as the document has them", () =>
    Effect.gen(function*() {
      const nullable = { type: ["object", "null"], properties: { b: boolean } }
      const text = yield* textOf(
        changing(object({ list: list(ref("Inner")), done: ref("Done") }), { ...inner, Done: object({ nullable }) }),
        "changeThing"
      )
      assert.include(text, "list: Schema.optional(Schema.Array(Inner))")
      assert.include(text, "done: Schema.optional(Schema.NullOr(Done))")
      assert.notInclude(text, "Patch")
    }))

  it.effect("differs from a PUT, which takes what the document says", () =>
    Effect.gen(function*() {
      assert.notInclude(yield* textOf(documentOf(body("put"), schemas), "changeThing"), "NullOr")
    }))
})

describe("lenient responses", () => {
  it.effect("are declared for each response that is described", () =>
    Effect.gen(function*() {
      const document = documentOf({
        "/things": {
          get: { operationId: "listThings", responses: { 200: content(list(string)) } },
          post: { operationId: "createThing", responses: { 201: {} } }
        }
      })
      const { files } = yield* generate(document, { responses: "lenient" })
      const lenient = files.filter(({ text }) => text.includes("responses: \"lenient\"")).map(({ path }) => path)
      assert.deepStrictEqual(lenient, ["listThings.ts"])
    }))
})

describe("the overlay auth0", () => {
  const apply = (document: Json) => {
    const notes: Array<Note> = []
    return applyOverlay(document, { ...auth0 }, (note) => void notes.push(note)) as Json // sound: a document stays one
  }

  it("has a reason for each entry, and the date of a recording of it if there is one", () => {
    for (const { description = "" } of auth0.actions) {
      assert.match(description, /\((?:recorded on \d{4}-\d\d-\d\d|known since 2026-11, without a recording)\)\.$/)
    }
  })

  it("leaves what a later document has as it is there", () => {
    const page = object(
      { deliveries: list(ref("EventStreamDelivery")), next: { type: ["string", "null"] } },
      "deliveries"
    )
    const later = documentOf({
      "/event-streams/{id}/deliveries": {
        get: { operationId: "get_deliveries", responses: { 200: content(page) } }
      }
    }, {
      EventStreamDelivery: object({ id: string }),
      EventStreamCloudEvent: object({
        data: { type: "object" },
        a0tenant: string,
        a0stream: string,
        a0purpose: string
      }),
      EventStreamWebhookBearerAuth: object({ method: string, token: { type: ["string", "null"], minLength: 8 } }),
      UpdateResourceServerRequestContent: object({ token_lifetime_for_web: ref("Lifetime") }),
      Lifetime: { type: "integer" },
      ClientTokenVaultPrivilegedAccessWithCredentialId: object({ grants: list(ref("EventStreamDelivery")) })
    })
    assert.deepStrictEqual(apply(later), later)
  })

  it.effect("lets the secrets of webhooks be sent, which are not returned", () =>
    Effect.gen(function*() {
      const hook = object({ method: { enum: ["bearer"] } }, "method")
      const path = {
        operationId: "putHook",
        requestBody: { required: true, ...content(ref("EventStreamWebhookBearerAuth")) },
        responses: { 200: content(ref("EventStreamWebhookBearerAuth")) }
      }
      const text = yield* textOf(
        apply(documentOf({ "/hook": { put: path } }, { EventStreamWebhookBearerAuth: hook })),
        "putHook"
      )
      assert.include(text, "payload: { method: Schema.Literal(\"bearer\"), token: Schema.optional(Schema.String) }")
      assert.include(text, "Schema.Struct({ method: oneOf(\"bearer\") })")
    }))

  it("requires no field that real tenants leave out", () => {
    const theme = { GetBrandingThemeResponseContent: object({ displayName: string, id: string }, "displayName", "id") }
    const { components } = apply(documentOf({}, theme)) as { components: { schemas: typeof theme } }
    assert.deepStrictEqual(components.schemas.GetBrandingThemeResponseContent["required"], ["id"])
  })

  it("adds a parameter once, also to a document that has it", () => {
    const roles = (...names: ReadonlyArray<string>) =>
      documentOf({
        "/roles": {
          get: { operationId: "get_roles", parameters: names.map((name) => ({ name, in: "query" })), responses: {} }
        }
      })
    const namesOf = (document: Json) =>
      (document as { paths: { "/roles": { get: { parameters: ReadonlyArray<{ name: string }> } } } }).paths["/roles"]
        .get.parameters
        .map(({ name }) => name)
    assert.deepStrictEqual(namesOf(apply(roles("page"))), ["page", "type", "owner_id"])
    assert.deepStrictEqual(namesOf(apply(roles("type", "owner_id"))), ["type", "owner_id"])
  })

  it("describes the object that a new network ACL is, unless the document does", () => {
    const acls = (created: Json) =>
      documentOf({ "/network-acls": { post: { operationId: "post_network-acls", responses: { 201: created } } } })
    const createdIn = (document: Json) =>
      (document as { paths: { "/network-acls": { post: { responses: { 201: Json } } } } }).paths["/network-acls"].post
        .responses[201]
    assert.deepStrictEqual(createdIn(apply(acls({ description: "" }))), {
      description: "",
      ...content({ $ref: "#/components/schemas/GetNetworkAclsResponseContent" })
    })
    assert.deepStrictEqual(createdIn(apply(acls(content(string)))), content(string))
  })
})
