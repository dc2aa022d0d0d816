/** Tests which changes a comparison finds between operations, and what counts as an interface. */
import { assert, describe, it } from "@effect/vitest"
import { type Change, compare } from "../../../src/generate/compare/compare.js"
import { type OperationFacts, parse } from "../../../src/generate/compare/interface.js"
import { anyString, boolean, unknown } from "../../../src/generate/model/shape.js"

const document = { title: "Things", version: "1" }

const before: OperationFacts = {
  method: "GET",
  path: "/things",
  input: {
    d: { in: "query", required: true, shape: anyString },
    b: { in: "query", required: false, shape: anyString }
  },
  success: { shape: anyString, isOptional: true, isStream: false },
  statuses: [400, 404, 429],
  scopes: ["read:a", "read:b"],
  idempotent: true,
  paging: "number items"
}

const after: OperationFacts = {
  method: "POST",
  path: "/things/search",
  input: {
    c: { in: "path", required: true, shape: boolean },
    b: { in: "header", required: true, shape: anyString },
    a: { in: "body", required: false, shape: anyString }
  },
  success: { shape: boolean, isOptional: false, isStream: true },
  statuses: [409, 412, 429],
  scopes: ["read:c", "read:d"],
  idempotent: false,
  paging: null
}

const changes = (from: OperationFacts, to: OperationFacts) =>
  compare({ document, operations: { findThings: from }, schemas: {} }, {
    document,
    operations: { findThings: to },
    schemas: {}
  })

const change = (kind: Change["kind"], path: string, detail: string): Change => ({ kind, path, detail })

describe("a comparison of operations", () => {
  it("says what changed in every part, fields by name", () => {
    assert.deepStrictEqual(changes(before, before), [])
    assert.deepStrictEqual(changes(before, after), [
      change("changed", "findThings", "route \"GET /things\" → \"POST /things/search\""),
      change("added", "findThings input.a", "optional string"),
      change("narrowed", "findThings input.b", "is required"),
      change("added", "findThings input.c", "required boolean"),
      change("removed", "findThings input.d", "required string"),
      change("changed", "findThings", "place of b \"query\" → \"header\""),
      change("narrowed", "findThings success", "is required"),
      change("changed", "findThings success", "string → boolean"),
      change("changed", "findThings", "stream false → true"),
      change("narrowed", "findThings", "failures without 400, 404"),
      change("widened", "findThings", "failures with 409, 412"),
      change("narrowed", "findThings", "scopes without read:a, read:b"),
      change("widened", "findThings", "scopes with read:c, read:d"),
      change("changed", "findThings", "idempotent true → false"),
      change("changed", "findThings", "paging \"number items\" → null")
    ])
  })

  it("says that a success came or went", () => {
    assert.deepStrictEqual(changes({ ...before, success: null }, before), [
      change("added", "findThings success", "optional string")
    ])
    assert.deepStrictEqual(changes(after, { ...after, success: null }), [
      change("removed", "findThings success", "required boolean"),
      change("changed", "findThings", "stream true → false")
    ])
    assert.deepStrictEqual(changes({ ...after, success: null }, { ...after, success: null }), [])
  })

  it("lists operations and then schemas, by name", () => {
    const [old, now] = [
      { document, operations: { d: before, b: before }, schemas: { D: unknown, B: unknown } },
      { document, operations: { c: before, a: before }, schemas: { C: unknown, A: unknown } }
    ]
    assert.deepStrictEqual(
      compare(old, now).map(({ detail, kind, path }) => `${kind} ${path}${detail}`),
      ["added a", "removed b", "added c", "removed d", "added A", "removed B", "added C", "removed D"]
    )
  })
})

describe("an interface", () => {
  const good = { document, operations: { a: before }, schemas: { A: unknown } }

  it("may be without operations and schemas", () => {
    const empty = { document, operations: {}, schemas: {} }
    assert.deepStrictEqual(parse(JSON.stringify(empty)), empty)
    assert.deepStrictEqual(parse(JSON.stringify(good)), good)
  })

  it("is none if one of its operations or schemas is none", () => {
    const others = [
      { ...good, operations: { a: before, b: {} } },
      { ...good, operations: { b: { ...before, statuses: null }, a: before } },
      { ...good, schemas: { A: unknown, B: {} } },
      { ...good, schemas: { B: { _tag: 1 }, A: unknown } }
    ]
    for (const other of others) assert.isUndefined(parse(JSON.stringify(other)), JSON.stringify(other))
  })
})
