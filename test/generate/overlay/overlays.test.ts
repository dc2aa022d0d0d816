/** Tests `--overlay`: OpenAPI Overlays, JSON Patches, and the overlay that comes with the package. */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { auth0 } from "../../../src/generate/errata/auth0.js"
import { applyFiles } from "../../../src/generate/overlay/files.js"
import { runAlone } from "../../cli/support/run.js"
import type { Json } from "../support/documents.js"

/** Applies overlays, given as text or as JSON, to a document. Returns the document, and notes or the failure. */
const applied = (document: unknown, ...overlays: ReadonlyArray<unknown>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped()
    const files = yield* Effect.forEach(overlays, (overlay, index) => {
      const file = join(folder, `${index}.yaml`)
      const text = typeof overlay === "string" ? overlay : JSON.stringify(overlay)
      return Effect.as(fs.writeFileString(file, text), file)
    })
    const before = JSON.stringify(document)
    const result = yield* Effect.either(applyFiles(document, files))
    assert.strictEqual(JSON.stringify(document), before, "the document itself stays as it is")
    const short = ({ message, pointer }: { readonly message: string; readonly pointer?: string }) =>
      `${message.replaceAll(`${folder}/`, "")} | ${pointer}`
    return result._tag === "Left"
      ? { failure: short(result.left) }
      : { document: result.right[0], notes: result.right[1].map(short) }
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

const overlayOf = (...actions: ReadonlyArray<Json>): Json => ({
  overlay: "1.0.0",
  info: { title: "Corrections", version: "1" },
  actions
})

describe("an overlay", () => {
  const document = {
    info: { title: "Things", tags: ["a"] },
    required: ["a", "b", "c"],
    servers: [{ url: "x" }, { url: "y" }, { url: "x" }],
    paths: { "/things/{id}": { get: { tags: ["a"] }, put: { tags: ["a"] } } }
  }

  const cases: ReadonlyArray<readonly [title: string, actions: ReadonlyArray<Json>, expected: Json]> = [
    ["merges objects at all depths, joins lists and replaces other values", [{
      target: "$",
      update: { info: { title: "Better", tags: ["b"], more: { deep: true } } }
    }], { info: { title: "Better", tags: ["a", "b"], more: { deep: true } } }],
    ["changes each object that matches", [{ target: "$.paths.*.*", update: { deprecated: true } }], {
      paths: { "/things/{id}": { get: { tags: ["a"], deprecated: true }, put: { tags: ["a"], deprecated: true } } }
    }],
    ["appends to a list that matches, a list as one item", [
      { target: "$.required", update: "d" },
      { target: "$.info.tags", update: ["b"] }
    ], { required: ["a", "b", "c", "d"], info: { title: "Things", tags: ["a", ["b"]] } }],
    ["removes all that matches, whatever the order", [{ target: "$.servers[2, 0, 0]", remove: true }], {
      servers: [{ url: "y" }]
    }],
    ["removes items of a list by their values", [
      { target: "$.required[?@ == 'a' || @ == 'c']", remove: true }
    ], { required: ["b"] }],
    ["removes a part and what is in it", [{ target: "$..tags", remove: true }, { target: "$.info", remove: true }], {
      info: undefined,
      paths: { "/things/{id}": { get: {}, put: {} } }
    }],
    ["ignores the update of what it removes", [{ target: "$.info", remove: true, update: { title: "x" } }], {
      info: undefined
    }],
    ["applies actions in turn", [
      { target: "$.info.title", remove: true },
      { target: "$.info", update: { title: { text: "x" } } }
    ], { info: { tags: ["a"], title: { text: "x" } } }]
  ]
  for (const [title, actions, expected] of cases) {
    it.effect(title, () =>
      Effect.gen(function*() {
        const result = yield* applied(document, overlayOf(...actions))
        assert.deepStrictEqual(result, {
          document: JSON.parse(JSON.stringify({ ...document, ...expected })),
          notes: []
        })
      }))
  }

  it.effect("is read as YAML, and applied after the one before it", () =>
    Effect.gen(function*() {
      const first = "overlay: 1.0.0\nactions:\n  - target: $.info\n    update: { title: First, first: true }\n"
      const second = "overlay: 1.0.1\nactions:\n  - target: $[?@.first == true]\n    update: { title: Second }\n"
      assert.deepStrictEqual((yield* applied(document, first, second)).document, {
        ...document,
        info: { title: "Second", tags: ["a"], first: true }
      })
    }))

  it.effect("is noted with its number if it matches nothing", () =>
    Effect.gen(function*() {
      const result = yield* applied(
        document,
        overlayOf({ target: "$.info", update: {} }, { target: "$.components.schemas.User", remove: true })
      )
      assert.deepStrictEqual(result, {
        document,
        notes: [
          "0.yaml: action 2 changes nothing, because nothing matches $.components.schemas.User | #/actions/1"
        ]
      })
    }))

  const refused: ReadonlyArray<readonly [title: string, overlay: unknown, failure: string]> = [
    [
      "a value that is neither an overlay nor a patch",
      { actions: [] },
      "0.yaml: it is neither an OpenAPI Overlay (overlay: 1.0.0) nor a JSON Patch (a list) | #"
    ],
    [
      "another version",
      { ...overlayOf(), overlay: "2.0.0" },
      "0.yaml: version 2.0.0 of overlays is not supported, only 1.0 (at #/overlay) | #/overlay"
    ],
    [
      "actions that are not a list",
      { overlay: "1.0.0", actions: {} },
      "0.yaml: expected a list (at #/actions) | #/actions"
    ],
    [
      "an action without a target",
      overlayOf({ remove: true }),
      "0.yaml: the action has no target (at #/actions/0/target) | #/actions/0/target"
    ],
    [
      "a target that is not a JSONPath",
      overlayOf({ target: "$.info[", remove: true }),
      "0.yaml: the target is not a JSONPath: unclosed bracketed selection ('$.info[':7) (at #/actions/0/target) | #/actions/0/target"
    ],
    [
      "an action that does nothing",
      overlayOf({ target: "$" }),
      "0.yaml: the action has neither update nor remove (at #/actions/0) | #/actions/0"
    ],
    [
      "the removal of the document",
      overlayOf({ target: "$", remove: true }),
      "0.yaml: the whole document cannot be removed (at #/actions/0) | #/actions/0"
    ],
    [
      "the update of a text",
      overlayOf({ target: "$.info.title", update: "x" }),
      "0.yaml: only objects and lists can be updated: let the target be the object around it (at #/actions/0/update) | #/actions/0/update"
    ],
    [
      "the update of an object with a text",
      overlayOf({ target: "$.info", update: "x" }),
      "0.yaml: an object can only be updated with an object (at #/actions/0/update) | #/actions/0/update"
    ],
    [
      "a list in place of an object",
      overlayOf({ target: "$", update: { info: [] } }),
      "0.yaml: an object and a list cannot be merged: remove the old value first (at #/actions/0/update/info) | #/actions/0/update/info"
    ],
    ["text that cannot be parsed", "{", "0.yaml: the text cannot be parsed: "]
  ]
  for (const [title, overlay, failure] of refused) {
    it.effect(`is refused for ${title}`, () =>
      Effect.map(applied(document, overlay), (result) => {
        assert.isTrue(result.failure?.startsWith(failure), result.failure)
      }))
  }

  it.effect("keeps a field called __proto__ a field", () =>
    Effect.gen(function*() {
      const { document } = yield* applied(
        JSON.parse("{\"a\":{}}"),
        "{\"overlay\":\"1.0.0\",\"actions\":[{\"target\":\"$.a\",\"update\":{\"__proto__\":{\"x\":1}}}]}"
      )
      assert.strictEqual(JSON.stringify(document), "{\"a\":{\"__proto__\":{\"x\":1}}}")
    }))
})

describe("a JSON Patch", () => {
  it.effect("applies its operations in turn", () =>
    Effect.gen(function*() {
      const shared = { type: "string" }
      const result = yield* applied({ list: [1, 2], a: shared, b: shared }, [
        { op: "test", path: "/list/1", value: 2 },
        { op: "add", path: "/list/-", value: 3 },
        { op: "remove", path: "/list/0" },
        { op: "replace", path: "/a/type", value: "number" },
        { op: "copy", from: "/list", path: "/copy" },
        { op: "add", path: "/copy/0", value: 1 },
        { op: "move", from: "/b", path: "/~1c~0" }
      ])
      assert.deepStrictEqual(result, {
        document: { list: [2, 3], a: { type: "number" }, copy: [1, 2, 3], "/c~": { type: "string" } },
        notes: []
      })
    }))

  const refused: ReadonlyArray<readonly [title: string, operation: unknown, failure: string]> = [
    ["a test that fails", { op: "test", path: "/list/1", value: 7 }, "operation 2, test /list/1, fails: test failed"],
    ["a path that leads to nothing", { op: "replace", path: "/no", value: 7 }, "operation 2, replace /no, fails: "],
    [
      "an operation without a value",
      { op: "add", path: "/no" },
      "operation 2, add /no, fails: missing property 'value'"
    ],
    ["an unknown operation", { op: "merge", path: "/no" }, "operation 2, merge /no, fails: expected 'op' to be one of"],
    ["no operation", { path: "/no" }, "the operation has no op (at #/1/op)"],
    ["no path", { op: "remove" }, "the operation has no path (at #/1/path)"],
    ["a source that is not a path", { op: "move", path: "/a", from: 1 }, "expected a string (at #/1/from)"],
    ["a value that is not an operation", 1, "expected an object (at #/1)"]
  ]
  for (const [title, operation, failure] of refused) {
    it.effect(`is refused for ${title}, with the place`, () =>
      Effect.map(applied({ list: [1, 2] }, [{ op: "test", path: "/list/0", value: 1 }, operation]), (result) => {
        assert.isTrue(result.failure?.startsWith(`0.yaml: ${failure}`), result.failure)
        assert.match(result.failure ?? "", /\(at #\/1/)
      }))
  }
})

describe("generate --overlay", () => {
  const spec = {
    openapi: "3.1.0",
    info: { title: "Things", version: "1" },
    paths: {
      "/event-streams/{id}/deliveries": {
        get: {
          operationId: "listDeliveries",
          parameters: [
            { name: "id", in: "path", required: true, schema: { type: "string" } },
            { name: "from", in: "query", schema: { type: "string" } },
            { name: "take", in: "query", schema: { type: "integer" } }
          ],
          responses: {
            200: {
              description: "",
              content: {
                "application/json": {
                  schema: { type: "array", items: { $ref: "#/components/schemas/EventStreamDelivery" } }
                }
              }
            }
          }
        }
      }
    },
    components: { schemas: { EventStreamDelivery: { type: "object", properties: { id: { type: "string" } } } } }
  }

  /** Runs `generate` on the document, with files beside it. Returns the file of the operation. */
  const generating = (files: Readonly<Record<string, unknown>>, ...args: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { join } = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* Effect.forEach(
        Object.entries({ "spec.json": spec, ...files }),
        ([name, value]) => fs.writeFileString(join(folder, name), JSON.stringify(value))
      )
      const out = join(folder, "out")
      const named = args.map((arg) => arg.endsWith(".json") ? join(folder, arg) : arg)
      const { code, stderr, stdout } = yield* runAlone([
        "generate",
        "--spec",
        join(folder, "spec.json"),
        "--out",
        out,
        ...named
      ])
      const text = code === 0 ? yield* fs.readFileString(join(out, "listDeliveries.ts")) : ""
      return { code, stdout, stderr: stderr.replaceAll(`${folder}/`, ""), text }
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

  it.live("generates the document as files change it, in their order, and notes what matches nothing", () =>
    Effect.gen(function*() {
      const { code, stderr, text } = yield* generating(
        {
          "a.json": overlayOf({ target: "$.paths.*.get", update: { summary: "Lists." } }, {
            target: "$.no",
            remove: true
          }),
          "b.json": [{ op: "test", path: "/info/title", value: "Things" }, {
            op: "replace",
            path: "/paths/~1event-streams~1{id}~1deliveries/get/summary",
            value: "Lists deliveries."
          }]
        },
        "--overlay",
        "a.json",
        "--overlay",
        "b.json"
      )
      assert.deepStrictEqual([code, stderr], [
        0,
        "note: a.json: action 2 changes nothing, because nothing matches $.no (at #/actions/1)\n"
      ])
      assert.include(text, "Lists deliveries.")
    }))

  it.live("validates the document that the overlays make", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* generating(
        { "a.json": overlayOf({ target: "$.openapi", remove: true }) },
        "--overlay",
        "a.json"
      )
      assert.deepStrictEqual([code, stderr], [
        1,
        "version undefined is not supported, only OpenAPI 3.0 and 3.1 (at #/openapi)\n"
      ])
    }))

  it.live("fails with the file, the operation and the place", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* generating({ "a.json": [{ op: "remove", path: "/no" }] }, "--overlay", "a.json")
      assert.strictEqual(code, 1)
      assert.match(stderr, /^a\.json: operation 1, remove \/no, fails: .* \(at #\/0\)\n$/)
    }))

  it.live("takes auth0 as the overlay that comes with the package", () =>
    Effect.gen(function*() {
      const before = yield* generating({})
      assert.notInclude(before.text, "deliveries: Schema")
      const { code, text } = yield* generating({}, "--overlay", "auth0")
      assert.strictEqual(code, 0)
      assert.include(text, "items: \"deliveries\"")
      assert.include(text, "paging: \"checkpoint\"")
    }))
})

describe("the overlay that comes with the package", () => {
  it("says of each action what it is for, and when it was recorded or known", () => {
    for (const { description } of auth0.actions) assert.match(description ?? "", /\b20\d\d-\d\d\b/)
  })
})
