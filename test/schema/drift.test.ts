/** What is new in an answer is counted once, at its place, and shown only if it cannot be content. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { DriftDetector } from "../../src/internal/schema/drift.js"
import { createUsersExport, listActionVersions, updateTokenExchangeProfile } from "../../src/operations/index.js"

const drift = (schema: Schema.Schema.AnyNoContext | undefined) => {
  if (schema === undefined) throw new Error("nothing is promised")
  const found: Array<string> = []
  const drift = new DriftDetector(
    schema,
    (path, value) => void found.push(value === undefined ? path : `${path}=${value}`)
  )
  let now = 0
  return {
    found,
    /** Looks at answers, one in each second. */
    look: (...answers: ReadonlyArray<unknown>) => {
      for (const answer of answers) drift.inspect(answer, now += 1000, () => ["the_input", ""])
      return found
    },
    lookAt: (now: number, answer: unknown) => drift.inspect(answer, now, () => [])
  }
}

const page = listActionVersions.endpoint.success
const job = createUsersExport.endpoint.success
const answer = (...versions: ReadonlyArray<object>) => ({ total: 1, per_page: 20, versions })

describe("drift", () => {
  it("is told with the place of a member, at any depth, once", () => {
    const { look } = drift(page)
    const version = { id: "1", brand_new: 1, action: { name: "n", deeper: {} }, secrets: [{ name: "s" }, { kind: 1 }] }
    assert.deepStrictEqual(look({ ...answer(version, version), next: "x" }, answer(version)), [
      "versions[].brand_new",
      "versions[].action.deeper",
      "versions[].secrets[].kind",
      "next"
    ])
  })

  it("is told of values of an enumeration, and of no other values", () => {
    const { look } = drift(page)
    assert.deepStrictEqual(
      look(answer({ status: "built", runtime: "node99" }), answer({ status: "reticulating" }, { status: "BUILT" })),
      ["versions[].status=reticulating", "versions[].status=BUILT"]
    )
  })

  it("is not told of what the contract lists", () => {
    const trigger = { id: "t", version: "v1", compatible_triggers: [{ id: "t", version: "v1" }], binding_policy: "b" }
    const full = {
      dependencies: [{ name: "n", version: "1", registry_url: "https://example.com" }],
      secrets: [{ name: "n", updated_at: "2023-01-25T17:42:12Z" }],
      errors: [{ id: "1", msg: "m", url: "https://example.com" }],
      action: { id: "1", name: "n", supported_triggers: [trigger] },
      modules: [{ module_id: "1", module_name: "n", module_version_id: "2", module_version_number: 1 }]
    }
    const statuses = ["pending", "building", "packaged", "built", "retrying", "failed"]
    assert.deepStrictEqual(drift(page).look(answer(full), answer(...statuses.map((status) => ({ status })))), [])

    const jobs = ["pending", "processing", "completed", "failed"].flatMap((status) =>
      ["json", "csv"].map((format) => ({ id: "job_1", type: "users_export", status, format }))
    )
    assert.deepStrictEqual(drift(job).look(...jobs), [])

    const profile = updateTokenExchangeProfile.endpoint.success
    assert.deepStrictEqual(drift(profile).look({ id: "1", type: "custom_authentication" }), [])
  })

  it("is told of members of an object that is open to others", () => {
    const { look } = drift(job)
    assert.deepStrictEqual(look({ id: "job_1", type: "users_export", status: "parked", location: "x" }), [
      "status=parked",
      "location"
    ])
  })

  it("shows no name and no value that may be content", () => {
    const { look } = drift(page)
    const names = [
      "jane@example.com",
      "usr_910b1053577f",
      "a b",
      "",
      "ä",
      "x".repeat(41),
      "has_the_input_in_it",
      "-",
      "1"
    ]
    for (const name of names) {
      assert.deepStrictEqual(look({ ...answer({ [name]: 1 }) }, answer({ status: name })), [
        "versions[].*",
        "versions[].status=*"
      ])
    }
  })

  it("shows names as developers choose them", () => {
    const names = ["archived_at", "archivedAt", "sha256", "oauth2_scope", "_links", "x"]
    for (const name of names) assert.deepStrictEqual(drift(page).look(answer({ [name]: 1 })), [`versions[].${name}`])
  })

  it("takes an object with many members that nobody knows for a map", () => {
    const names = "abcdefghi".split("")
    const map = Object.fromEntries(names.map((name) => [name, 1]))
    assert.deepStrictEqual(drift(page).look(answer(map)), ["versions[].*"])
    const { i: _, ...fewer } = map
    assert.deepStrictEqual(
      drift(page).look(answer({ id: "1", status: "built", ...fewer })),
      names.slice(0, 8).map((name) => `versions[].${name}`)
    )
  })

  it("knows the keys of a record, whatever they are, and goes down into its values", () => {
    const schema = Schema.Record({ key: Schema.String, value: Schema.Struct({ id: Schema.String }) })
    assert.deepStrictEqual(drift(schema).look({ "jane@example.com": { id: "1", more: 1 } }), ["*.more"])
  })

  it("follows that member of a union which the value is", () => {
    const kinds = Schema.Union(
      Schema.Struct({ kind: Schema.Literal("a"), one: Schema.Number }),
      Schema.Struct({ kind: Schema.Literal("b"), two: Schema.Number })
    )
    assert.deepStrictEqual(drift(Schema.Array(kinds)).look([{ kind: "b", two: 2, one: 1 }]), ["[].one"])
  })

  const One = Schema.Struct({ one: Schema.Number })
  const news = { one: 1, two: 2 }

  for (
    const [name, schema, value, found] of [
      ["a union of any text and something else", Schema.Union(Schema.String, One), "one", []],
      ["a union of which the value is no member", Schema.Union(Schema.Number, One), "one", []],
      ["a list that is none", Schema.Array(One), "one", []],
      ["a tuple that is longer", Schema.Tuple(One), [news, news], ["[].two"]],
      ["an object that is refined", One.pipe(Schema.filter(() => true)), news, ["two"]]
    ] as const
  ) {
    it(`is told of nothing but what is new in ${name}`, () => {
      assert.deepStrictEqual<unknown>(drift(schema).look(value), found)
    })
  }

  it("goes down no further than 32 levels, whatever it goes through", () => {
    interface Nested {
      readonly inner: Nested | number
    }
    const Nested: Schema.Schema<Nested> = Schema.Struct({
      inner: Schema.Union(Schema.Number, Schema.suspend(() => Nested))
    })
    const nested = (times: number): object => times === 0 ? { inner: 1, news: 1 } : { inner: nested(times - 1) }
    const lists = Schema.Array(Schema.Array(Nested))
    // After two lists, each time it goes through a member, a union and what is suspended.
    assert.deepStrictEqual(drift(lists).look([[nested(10)]]), [`[][].${"inner.".repeat(10)}news`])
    assert.deepStrictEqual(drift(lists).look([[nested(11)]]), [])
  })

  it("looks at the first answer, and then at most at one in a second", () => {
    const { found, lookAt } = drift(page)
    for (const [now, name] of [[0, "a"], [999, "b"], [1000, "c"], [1001, "d"], [5000, "e"]] as const) {
      lookAt(now, answer({ [name]: 1 }))
    }
    assert.deepStrictEqual(found, ["versions[].a", "versions[].c", "versions[].e"])
  })

  it("tells of at most 100 things, goes down 32 levels, and visits at most 10,000 values of an answer", () => {
    const letters = "abcdefghijklmnopqrst".split("")
    const pairs = letters.flatMap((one) => letters.map((other) => answer({ [one + other]: 1 })))
    assert.lengthOf(drift(page).look(...pairs), 100)

    interface Nested {
      readonly inner?: Nested
    }
    const Nested: Schema.Schema<Nested> = Schema.Struct({
      inner: Schema.optionalWith(Schema.suspend(() => Nested), { exact: true })
    })
    let deep: object = { news: 1 }
    for (let level = 0; level < 50_000; level++) deep = { inner: deep }
    assert.deepStrictEqual(drift(Nested).look(deep), [])

    const text = Schema.Union(Schema.Literal("known"), Schema.String)
    for (
      const [schema, known, value, found, most] of [
        [text, "known", "new", "[]=new", 9998], // and the list itself, and that one
        [Schema.Struct({}), {}, { late: 1 }, "[].late", 9997] // and a member of that one
      ] as const
    ) {
      const after = (times: number) => drift(Schema.Array(schema)).look([...Array(times).fill(known), value])
      assert.deepStrictEqual(after(most), [found])
      assert.deepStrictEqual(after(most + 1), [])
    }

    const many = answer(...Array.from({ length: 50_000 }, () => ({ id: "1" })), { late: 1 })
    assert.deepStrictEqual(drift(page).look(many), [])

    const news = { a: 1, b: 1, c: 1, d: 1, e: 1 }
    const manyNews = answer(...Array.from({ length: 2000 }, () => news), { late: 1 })
    assert.notInclude(drift(page).look(manyNews), "versions[].late")
  })
})
