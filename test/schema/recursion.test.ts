/** Tests of recursive types, and of types that are built on demand: to any depth, in linear time, and with no cost of their own. */
import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, ParseResult, Schema } from "effect"
import * as Decode from "../../src/internal/schema/decode.js"
import { DriftDetector } from "../../src/internal/schema/drift.js"
import { loose, strict } from "../../src/internal/schema/validator.js"

interface Tree {
  readonly label: string
  readonly note?: string
  readonly children: ReadonlyArray<Tree>
}
const Tree: Schema.Schema<Tree> = Schema.suspend(() =>
  Schema.Struct({
    label: Schema.String,
    note: Schema.optionalWith(Schema.String, { exact: true }),
    children: Schema.Array(Tree)
  })
)

/** Two alternatives that differ only after the part that both have. */
type Twin = { readonly inner: Twin | null; readonly a: string } | { readonly inner: Twin | null; readonly b?: string }
const Twin: Schema.Schema<Twin> = Schema.suspend(() =>
  Schema.Union(
    Schema.Struct({ inner: Schema.NullOr(Twin), a: Schema.String }),
    Schema.Struct({
      inner: Schema.NullOr(Twin),
      b: Schema.optionalWith(Schema.String, { exact: true })
    })
  )
)

type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json }
const Json: Schema.Schema<Json> = Schema.suspend(() =>
  Schema.Union(
    Schema.String,
    Schema.Number,
    Schema.Boolean,
    Schema.Null,
    Schema.Array(Json),
    Schema.Record({ key: Schema.String, value: Json })
  )
)

const chain = (depth: number, end: unknown, wrap: (inner: unknown) => unknown): unknown => {
  let value = end
  for (let level = 0; level < depth; level++) value = wrap(value)
  return value
}

const tree = (depth: number, end: unknown = []) =>
  chain(depth, { label: "end", children: end }, (inner) => ({ label: "x", children: [inner] }))

const twin = (depth: number, end: unknown = null) => chain(depth, end, (inner) => ({ inner }))

describe("a recursive type", () => {
  const shapes: Readonly<Record<string, readonly [Schema.Schema.AnyNoContext, (depth: number) => unknown]>> = {
    "a tree": [Tree, (depth) => tree(depth)],
    "a union of twins": [Twin, (depth) => twin(depth)],
    "JSON in lists": [Json, (depth) => chain(depth, 1, (inner) => [inner])],
    "JSON in records": [Json, (depth) => chain(depth, 1, (inner) => ({ inner }))]
  }

  it.each(Object.keys(shapes))("is decoded, or refused as too deep, at any depth: %s", (name) => {
    const [schema, make] = shapes[name]!
    const decode = Decode.make(schema)
    for (const depth of [1, 10, 100, 500]) {
      const value = make(depth)
      assert.strictEqual(Either.getOrThrow(decode(value)), value)
    }
    for (const depth of [20_000, 200_000]) {
      const value = make(depth)
      const decoded = decode(value)
      if (Either.isRight(decoded)) assert.strictEqual(decoded.right, value)
      else assert.include(decoded.left.message, "too deep")
    }
  })

  it("is refused where it is wrong, with the path", () => {
    const decoded = Decode.make(Tree)(tree(3, "no list"))
    const path = "children[0].children[0].children[0].children"
    assert.deepStrictEqual(decoded, Either.left({ path, message: "expected a list" }))
  })

  it("is validated in linear time, though a union tries its types one after the other", () => {
    for (const compile of [loose, strict]) {
      const isValid = compile(Twin)
      assert.isTrue(isValid(twin(300)))
      assert.isFalse(isValid(twin(300, "wrong")))
    }
  })

  it("loses the nulls of optional fields in linear time", () => {
    const decode = Decode.make(Twin)
    const value = chain(300, { inner: null, b: null }, (inner) => ({ inner }))
    const expected = chain(300, { inner: null }, (inner) => ({ inner }))
    assert.deepStrictEqual(decode(value), Either.right(expected))
  })

  it("agrees with Effect's validation", () => {
    const [isTree, isJson] = [loose(Tree), strict(Json)]
    const json = FastCheck.jsonValue({ maxDepth: 4 })
    const node = FastCheck.letrec<{ readonly tree: unknown }>((tie) => ({
      tree: FastCheck.record({
        label: FastCheck.oneof({ weight: 20, arbitrary: FastCheck.string() }, json),
        children: FastCheck.oneof(
          { maxDepth: 4 },
          FastCheck.constant([]),
          { weight: 8, arbitrary: FastCheck.array(tie("tree"), { maxLength: 2 }) },
          json
        )
      })
    })).tree
    FastCheck.assert(
      FastCheck.property(node, json, (node, json) => {
        assert.strictEqual(isTree(node), ParseResult.is(Tree)(node))
        assert.strictEqual(isJson(json), ParseResult.is(Json, { onExcessProperty: "error" })(json))
      }),
      { numRuns: 300 }
    )
  })

  it("that unfolds for ever is compiled as far as it is needed", () => {
    const unfolding = Schema.typeSchema(
      Schema.Struct({ root: Tree, at: Schema.optionalWith(Schema.NumberFromString, { exact: true }) })
    )
    for (const compile of [loose, strict]) {
      const isValid = compile(unfolding)
      assert.isTrue(isValid({ root: tree(400) }))
      assert.isFalse(isValid({ root: tree(400, 1) }))
    }
  })

  it("is inspected for drift, however deep the response", () => {
    const found: Array<string> = []
    const detector = new DriftDetector(Twin, (path) => found.push(path))
    detector.inspect(twin(20_000), 0, () => [])
    detector.inspect({ inner: { inner: null, c: 1 } }, 2000, () => [])
    assert.deepStrictEqual(found, ["inner.c"])
  })
})

describe("a union of structs", () => {
  it("is inspected for drift as the type that knows most of its fields", () => {
    const found: Array<string> = []
    const optional = <A>(schema: Schema.Schema<A>) => Schema.optionalWith(schema, { exact: true })
    const items = optional(Schema.Array(Schema.Number))
    const pages = Schema.Union(
      Schema.Array(Schema.Number),
      Schema.Struct({ total: optional(Schema.Number), items }),
      Schema.Struct({ next: optional(Schema.String), items })
    )
    const detector = new DriftDetector(pages, (path) => found.push(path))
    detector.inspect({ next: "x", items: [1] }, 0, () => [])
    assert.deepStrictEqual(found, [])
    detector.inspect({ next: "x", items: [1], more: 1 }, 2000, () => [])
    assert.deepStrictEqual(found, ["more"])
  })
})

describe("null", () => {
  const optional = <A>(schema: Schema.Schema<A>) => Schema.optionalWith(schema, { exact: true })
  const decode = Decode.make(Schema.Struct({
    plain: optional(Schema.String),
    nullable: optional(Schema.NullOr(Schema.String)),
    anything: optional(Schema.Unknown),
    required: Schema.NullOr(Schema.String),
    map: optional(Schema.Record({ key: Schema.String, value: Schema.Struct({ a: optional(Schema.String) }) }))
  }))

  it("stays where the schema accepts it, and else means that an optional field is absent", () => {
    const nulls = { plain: null, nullable: null, anything: null, required: null, map: { x: { a: null } } }
    const expected = { nullable: null, anything: null, required: null, map: { x: {} } }
    assert.deepStrictEqual(decode(nulls), Either.right(expected))
  })
})

describe("a type that is built on demand", () => {
  it("is built once, and not before it is needed", () => {
    let built = 0
    const schema = Schema.Struct({
      a: Schema.suspend(() => {
        built++
        return Schema.String
      })
    })
    assert.strictEqual(built, 0)
    const decode = Decode.make(schema)
    for (const a of ["x", "y"]) assert.isTrue(Either.isRight(decode({ a })))
    assert.deepStrictEqual(decode({ a: 1 }), Either.left({ path: "a", message: "expected a string" }))
    assert.strictEqual(built, 1)
  })
})
