/** Tests of form decoding. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { decodeForm, decodeQuery } from "../../../src/tenant/server/formDecoding.js"

describe("decodeForm", () => {
  const fields = {
    text: Schema.String,
    count: Schema.optional(Schema.Number.pipe(Schema.positive())),
    flag: Schema.Boolean,
    either: Schema.Union(Schema.Number, Schema.String),
    pair: Schema.Tuple(Schema.String, Schema.String),
    list: Schema.Array(Schema.Struct({ name: Schema.String, size: Schema.optional(Schema.Number) })),
    numbers: Schema.optional(Schema.Array(Schema.Number)),
    inner: Schema.Struct({ deep: Schema.Struct({ count: Schema.Number }) })
  }
  const decode = (form: string) => decodeForm(Schema.Struct(fields), new URLSearchParams(form))

  it("decodes values as declared", () => {
    const form = "text=true&count=2.25&flag=true&either=3&pair[1]=b&pair[0]=a&list[1][name]=b&list[0][name]=a" +
      "&list[0][size]=-4&numbers[0]=5&inner[deep][count]=6&unknown[x]=7&a[2][3][4][5][6][7][8]=9"
    assert.deepStrictEqual(
      decode(form),
      Either.right({
        text: "true",
        count: 2.25,
        flag: true,
        either: "3",
        pair: ["a", "b"],
        list: [{ name: "a", size: -4 }, { name: "b" }],
        numbers: [5],
        inner: { deep: { count: 6 } },
        unknown: { x: "7" },
        a: { 2: { 3: { 4: { 5: { 6: { 7: { 8: "9" } } } } } } }
      })
    )
  })

  it("leaves text that is not a number or boolean", () => {
    for (const value of ["", " 1", "1e9999", "0x10", "Infinity", "NaN", "1_000", "--1", "untrue", "falsely"]) {
      assert.deepStrictEqual(
        decodeForm(Schema.Struct(fields), [["count", value], ["flag", value]]),
        Either.right({ count: value, flag: value })
      )
    }
  })

  for (
    const [message, rows] of [
      ["is not a name in bracket notation", [
        ["a[", "a["],
        ["a]", "a]"],
        ["[a]=1", "[a]"],
        ["=1", ""],
        ["a[]=1", "a[]"],
        ["a[b]c=1", "a[b]c"],
        ["a[b[c]]=1", "a[b[c]]"],
        [`a${"[b]".repeat(8)}=1`, `a${"[b]".repeat(8)}`],
        [`a${"[b]".repeat(50_000)}=1`, `a${"[b]".repeat(50_000)}`]
      ]],
      ["is given twice", [["text=1&text=2", "text"], ["text[a]=1&text=2", "text"]]],
      ["is both a value and an object", [
        ["text=1&text[a]=2", "text[a]"],
        ["unknown[a]=1&inner[deep][count][x]=1&list[0][name]=a&list[0][name][b]=1", "list[0][name][b]"]
      ]],
      ["is not a list numbered from 0 without gaps", [
        ["list[1][name]=a", "list"],
        ["list[0][name]=a&list[2][name]=b", "list"],
        ["list[00][name]=a", "list"],
        ["list[0][name]=a&list[name]=b", "list"],
        ["list[9007199254740993]=a", "list"],
        ["list[-1]=a", "list"],
        ["numbers[0]=1&numbers[length]=9", "numbers"]
      ]]
    ] as const
  ) {
    for (const [form, path] of rows) {
      it(`refuses and names an invalid field: ${form.slice(0, 50)}`, () => {
        assert.deepStrictEqual(decode(form), Either.left({ path, message: message }))
      })
    }
  }

  it("names the path of a nested list with gaps", () => {
    const nested = Schema.Struct({ outer: Schema.Array(Schema.Struct({ list: Schema.Array(Schema.String) })) })
    const result = decodeForm(nested, [["outer[0][list][1]", "x"]])
    assert.deepStrictEqual(Either.flip(result).pipe(Either.map(({ path }) => path)), Either.right("outer[0].list"))
  })

  it("decodes by the types behind filters, unions, null and recursion", () => {
    interface Node {
      readonly size: number | null
      readonly nodes?: ReadonlyArray<Node> | undefined
    }
    const Node: Schema.Schema<Node> = Schema.Struct({
      size: Schema.NullOr(Schema.Number),
      nodes: Schema.optional(Schema.Array(Schema.suspend(() => Node)))
    })
    const schema = Schema.Struct({
      node: Node,
      level: Schema.Literal(1, 2, "high"),
      listOrMap: Schema.Union(Schema.Array(Schema.Number), Schema.Record({ key: Schema.String, value: Schema.Boolean }))
    })
    const decodeAs = (form: string) => decodeForm(schema, new URLSearchParams(form))
    assert.deepStrictEqual(
      decodeAs("node[size]=1&node[nodes][0][size]=2&level=2&listOrMap[0]=5"),
      Either.right({ node: { size: 1, nodes: [{ size: 2 }] }, level: 2, listOrMap: [5] })
    )
    assert.deepStrictEqual(
      decodeAs("level=high&listOrMap[a]=true"),
      Either.right({ level: "high", listOrMap: { a: true } })
    )
    assert.deepStrictEqual(decodeAs("level=3"), Either.right({ level: "3" }))
  })

  it("decodes a boolean only if the declared type has it", () => {
    const schema = Schema.Struct({ on: Schema.Literal(true), off: Schema.Literal(false) })
    const decodeAs = (form: string) => decodeForm(schema, new URLSearchParams(form))
    assert.deepStrictEqual(decodeAs("on=true&off=false"), Either.right({ on: true, off: false }))
    assert.deepStrictEqual(decodeAs("on=false&off=true"), Either.right({ on: "false", off: "true" }))
  })

  it("cannot change a prototype", () => {
    for (const name of ["__proto__", "constructor", "prototype"]) {
      for (const key of [`${name}[polluted]`, `unknown[${name}][polluted]`, `inner[${name}][polluted]`]) {
        const result = decodeForm(Schema.Struct(fields), [[key, "yes"]])
        assert.isTrue(Either.isRight(result))
        assert.isUndefined(Reflect.get({}, "polluted"))
        assert.isUndefined(Reflect.get(Object.getPrototypeOf(Either.getOrThrow(result)), "polluted"))
      }
    }
  })

  it("decodes every value written in bracket notation", () => {
    const write = (value: unknown, name: string): ReadonlyArray<readonly [string, string]> =>
      typeof value === "object" && value !== null
        ? Object.entries(value).flatMap(([key, inner]) => write(inner, name === "" ? key : `${name}[${key}]`))
        : [[name, String(value)]]
    const text = FastCheck.string({ unit: "grapheme" })
    const value = FastCheck.record({
      text,
      count: FastCheck.integer(),
      flag: FastCheck.boolean(),
      list: FastCheck.array(FastCheck.record({ name: text, size: FastCheck.integer() }), {
        minLength: 1,
        maxLength: 12
      })
    })
    FastCheck.assert(FastCheck.property(value, (value) => {
      const form = new URLSearchParams(write(value, "").map(([name, value]) => [name, value])).toString()
      assert.deepStrictEqual(decode(form), Either.right(value))
    }))
  })
})

describe("decodeQuery", () => {
  const fields = { id: Schema.optional(Schema.Array(Schema.Number)), name: Schema.String }
  const decode = (query: string) => decodeQuery(fields, new URLSearchParams(query))

  it("decodes what may be a list or a text by how often it is written", () => {
    const either = { id: Schema.optional(Schema.Union(Schema.String, Schema.Array(Schema.String))) }
    const decoded = (query: string) => Either.getOrThrow(decodeQuery(either, new URLSearchParams(query)))
    assert.deepStrictEqual(decoded("id=a"), { id: "a" })
    assert.deepStrictEqual(decoded("id=a&id=b"), { id: ["a", "b"] })
  })

  it("decodes a declared list from a repeated name", () => {
    assert.deepStrictEqual(decode("id=3&name=a&id=4"), Either.right({ id: [3, 4], name: "a" }))
    assert.deepStrictEqual(decode("id=3"), Either.right({ id: [3] }))
  })

  it("refuses to repeat any other name", () => {
    assert.deepStrictEqual(decode("name=a&name=b"), Either.left({ path: "name", message: "is given twice" }))
    assert.deepStrictEqual(decode("other=a&other=b"), Either.left({ path: "other", message: "is given twice" }))
  })
})
