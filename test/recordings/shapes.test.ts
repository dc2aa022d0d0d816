/** Tests the comparison of shapes, on which the comparisons with recordings rest. */
import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../generate/harness/document.js"
import { differences } from "./shapes.js"

describe("differences", () => {
  const rows: ReadonlyArray<
    readonly [
      title: string,
      sent: ReadonlyArray<Json>,
      recorded: ReadonlyArray<Json>,
      expected: ReadonlyArray<string>
    ]
  > = [
    ["are none for other values of the same shape", [{ a: [{ b: 1 }] }], [{ a: [{ b: 2 }, { b: 3 }] }], []],
    ["are fields that were never recorded, the outermost", [{ a: { b: { c: 1 } } }], [{ a: {} }], ["sends a.b"]],
    ["are fields that were always recorded, and are sometimes missing", [{ a: 1 }, {}], [{ a: 1 }], ["lacks a"]],
    ["are fields that were always recorded, and never sent", [{ a: [{}] }], [{ a: [{ b: 1 }] }], ["lacks a[].b"]],
    ["are not fields that were sometimes recorded", [{ a: 1 }, {}], [{ a: 1 }, {}, { b: 1 }], []],
    ["are not the fields of objects that are not sent", [{ a: [] }], [{ a: [{ b: 1 }] }], []],
    ["are other types", [{ a: "1", b: null }], [{ a: 1, b: "x" }], [
      "sends a as text, not as a number",
      "sends b as null, not as text"
    ]],
    ["are times of another precision", [{ a: "2026-01-01T00:00:00.000Z" }], [{ a: "2026-01-01T00:00:00.000000000Z" }], [
      "sends a as a time with 3 digits, not as a time with 9 digits"
    ]],
    [
      "are found within objects of one kind",
      [{ type: "webhook" }],
      [{ type: "webhook", url: "" }, { type: "action" }],
      [
        "lacks <webhook>.url"
      ]
    ],
    ["are found in pages without items", [{ per_page: 1, total: 0, a: [] }], [
      { per_page: 1, a: [] },
      { per_page: 1, total: 1, a: [1] }
    ], ["sends <empty>.total"]]
  ]
  for (const [title, sent, recorded, expected] of rows) {
    it(title, () => assert.deepStrictEqual(differences(sent, recorded), expected))
  }

  it("are not looked for where data of somebody's own are", () => {
    assert.deepStrictEqual(differences([{ a: { b: 1 } }], [{ a: { c: 1 } }], ["a"]), [])
  })
})
