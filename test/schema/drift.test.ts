/** Tests of drift detection: new fields and values are reported once, with their path, and never show content. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { DriftDetector } from "../../src/internal/schema/drift.js"
import {
  createUsersExport,
  getEventStream,
  listActionVersions,
  updateTokenExchangeProfile
} from "../../src/operations/index.js"
import * as Schemas from "../../src/Schemas.js"
import * as Timestamp from "../../src/Timestamp.js"

const detector = (schema: Schema.Schema.AnyNoContext | undefined) => {
  if (schema === undefined) throw new Error("the operation has no success schema")
  const found: Array<string> = []
  const detector = new DriftDetector(
    schema,
    (path, value) => void found.push(value === undefined ? path : `${path}=${value}`)
  )
  let now = 0
  return {
    found,
    /** Inspects bodies, one a second, and returns all findings. */
    inspect: (...bodies: ReadonlyArray<unknown>) => {
      for (const body of bodies) detector.inspect(body, now += 1000, () => ["the_input", ""])
      return found
    },
    inspectAt: (now: number, body: unknown) => detector.inspect(body, now, () => [])
  }
}

const page = listActionVersions.endpoint.success
const job = createUsersExport.endpoint.success
const body = (...versions: ReadonlyArray<object>) => ({ total: 1, per_page: 20, versions })

describe("DriftDetector", () => {
  it("reports a new field once, at any depth, with its path", () => {
    const { inspect } = detector(page)
    const version = { id: "1", brand_new: 1, action: { name: "n", deeper: {} }, secrets: [{ name: "s" }, { kind: 1 }] }
    assert.deepStrictEqual(inspect({ ...body(version, version), next: "x" }, body(version)), [
      "versions[].brand_new",
      "versions[].action.deeper",
      "versions[].secrets[].kind",
      "next"
    ])
  })

  it("reports new values of enumerations, and of no other strings", () => {
    const { inspect } = detector(page)
    assert.deepStrictEqual(
      inspect(body({ status: "built", runtime: "node99" }), body({ status: "reticulating" }, { status: "BUILT" })),
      ["versions[].status=reticulating", "versions[].status=BUILT"]
    )
  })

  it.each<readonly [title: string, schema: Schema.Schema.AnyNoContext, found: ReadonlyArray<string>]>([
    ["a string", Schema.String, []],
    ["a string or null", Schema.NullOr(Schema.String), []],
    ["a string, a number or null", Schema.Union(Schema.String, Schema.Number, Schema.Null), []],
    ["a string beside literals of other kinds", Schema.Union(Schema.String, Schema.Literal(1, true, null)), []],
    [
      "a string or an object with a literal",
      Schema.Union(Schema.String, Schema.Struct({ a: Schema.Literal("b") })),
      []
    ],
    ["a timestamp or null", Schema.NullOr(Timestamp.Timestamp), []],
    ["a value of a record", Schema.Record({ key: Schema.String, value: Schema.NullOr(Schema.String) }), []],
    ["a string that may be empty", Schema.Union(Schema.Literal(""), Schema.String), []],
    ["an item of a list", Schema.Array(Schema.NullOr(Schema.String)), []],
    ["a recursive type", Schema.suspend(() => Schema.NullOr(Schema.String)), []],
    ["any value", Schema.Unknown, []],
    ["an enumeration", Schemas.oneOf("a", "b"), ["at=averysecrettoken"]],
    ["an enumeration or null", Schema.NullOr(Schemas.oneOf("a", "b")), ["at=averysecrettoken"]]
  ])("reports the text of %s only if literal strings are known for it", (title, schema, expected) => {
    const { inspect } = detector(Schema.Struct({ at: schema }))
    const secret = "averysecrettoken"
    const value = title.includes("record") ? { auth_token: secret } : title.includes("item") ? [secret] : secret
    assert.deepStrictEqual(inspect({ at: value }, { at: null }), expected)
  })

  it("reports an integer that a number may have rounded", () => {
    const { inspect } = detector(Schema.Struct({ at: Schema.optional(Schema.Number) }))
    assert.deepStrictEqual(inspect({ at: 9007199254740991 }, { at: 0.5 }, {}), [])
    assert.deepStrictEqual(inspect({ at: 9007199254740992 }), ["at=(perhaps rounded)"])
  })

  it("looks into the objects that an enumeration allows beside its strings", () => {
    const { inspect } = detector(Schema.Union(Schemas.oneOf("a", "b"), Schema.Struct({ known: Schema.String })))
    assert.deepStrictEqual(inspect({ known: "x", unknown: 1 }), ["unknown"])
  })

  it("reports nothing that the contract lists", () => {
    const trigger = { id: "t", version: "v1", compatible_triggers: [{ id: "t", version: "v1" }], binding_policy: "b" }
    const full = {
      dependencies: [{ name: "n", version: "1", registry_url: "https://example.com" }],
      secrets: [{ name: "n", updated_at: "2023-01-25T17:42:12Z" }],
      errors: [{ id: "1", msg: "m", url: "https://example.com" }],
      action: { id: "1", name: "n", supported_triggers: [trigger] },
      modules: [{ module_id: "1", module_name: "n", module_version_id: "2", module_version_number: 1 }]
    }
    const statuses = ["pending", "building", "packaged", "built", "retrying", "failed"]
    assert.deepStrictEqual(detector(page).inspect(body(full), body(...statuses.map((status) => ({ status })))), [])

    const jobs = ["pending", "processing", "completed", "failed"].flatMap((status) =>
      ["json", "csv"].map((format) => ({ id: "job_1", type: "users_export", status, format }))
    )
    assert.deepStrictEqual(detector(job).inspect(...jobs), [])

    const profile = updateTokenExchangeProfile.endpoint.success
    assert.deepStrictEqual(detector(profile).inspect({ id: "1", type: "custom_authentication" }), [])
  })

  it("reports new fields of a struct that allows any", () => {
    const { inspect } = detector(job)
    assert.deepStrictEqual(inspect({ id: "job_1", type: "users_export", status: "parked", location: "x" }), [
      "status=parked",
      "location"
    ])
  })

  it("hides names and values that may be content", () => {
    const { inspect } = detector(page)
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
      assert.deepStrictEqual(inspect({ ...body({ [name]: 1 }) }, body({ status: name })), [
        "versions[].*",
        "versions[].status=*"
      ])
    }
  })

  it("shows names that look like identifiers", () => {
    const names = ["archived_at", "archivedAt", "sha256", "oauth2_scope", "_links", "x"]
    for (const name of names) {
      assert.deepStrictEqual(detector(page).inspect(body({ [name]: 1 })), [`versions[].${name}`])
    }
  })

  it("treats an object with many unknown fields as a map", () => {
    const names = "abcdefghi".split("")
    const map = Object.fromEntries(names.map((name) => [name, 1]))
    assert.deepStrictEqual(detector(page).inspect(body(map)), ["versions[].*"])
    const { i: _, ...fewer } = map
    assert.deepStrictEqual(
      detector(page).inspect(body({ id: "1", status: "built", ...fewer })),
      names.slice(0, 8).map((name) => `versions[].${name}`)
    )
  })

  it("never reports the keys of a record, and inspects its values", () => {
    const schema = Schema.Record({ key: Schema.String, value: Schema.Struct({ id: Schema.String }) })
    assert.deepStrictEqual(detector(schema).inspect({ "jane@example.com": { id: "1", more: 1 } }), ["*.more"])
  })

  it("never reports the keys of a record of any values, which is no struct that allows any field", () => {
    const record = Schema.Record({ key: Schema.String, value: Schema.Unknown })
    const found = detector(Schema.Struct({ user_metadata: record })).inspect(
      { user_metadata: { alice_smith: 1, of: { bob: 1 } } },
      { user_metadata: { carol: 1 } }
    )
    assert.deepStrictEqual(found, [])
    const stream = detector(getEventStream.endpoint.success)
    assert.deepStrictEqual(
      stream.inspect({ id: "est_1", destination: { type: "webhook", configuration: { a: 1 } } }),
      []
    )
  })

  it("counts the keys of a record as known where it chooses a type of a union", () => {
    const record = Schema.Record({ key: Schema.String, value: Schema.Unknown })
    assert.deepStrictEqual(
      detector(Schema.Union(Schema.Struct({ one: Schema.Number }), record)).inspect({ one: 1, a: 1 }),
      []
    )
  })

  it("inspects a value as the type of the union that it matches", () => {
    const kinds = Schema.Union(
      Schema.Struct({ kind: Schema.Literal("a"), one: Schema.Number }),
      Schema.Struct({ kind: Schema.Literal("b"), two: Schema.Number })
    )
    assert.deepStrictEqual(detector(Schema.Array(kinds)).inspect([{ kind: "b", two: 2, one: 1 }]), ["[].one"])
  })

  const One = Schema.Struct({ one: Schema.Number })
  const Two = Schema.Struct({ two: Schema.Number })
  const extended = { one: 1, two: 2 }

  for (
    const [name, schema, value, found] of [
      ["a union of any string and something else", Schema.Union(Schema.String, One), "one", []],
      ["a union of a literal and a struct", Schema.Union(Schema.Literal("none"), One), extended, ["two"]],
      ["a union that the value does not match", Schema.Union(Schema.Number, One), "one", []],
      ["a value that is not a list", Schema.Array(One), "one", []],
      ["a union of a list and a struct", Schema.Union(Schema.Array(One), One), [extended], ["[].two"]],
      [
        "a union of a suspended union and a number",
        Schema.Union(Schema.suspend(() => Schema.Union(Schema.Null, One)), Schema.Number),
        extended,
        [
          "two"
        ]
      ],
      [
        "the type of a union that knows most of the fields",
        Schema.Union(One, Schema.Struct({ one: Schema.Number, three: Two })),
        {
          one: 1,
          three: { two: 2, four: 4 },
          five: 5
        },
        ["three.four", "five"]
      ],
      [
        "the first of two types that know as many fields",
        Schema.Union(Schema.Struct({ two: Schema.Number }), One),
        extended,
        ["one"]
      ],
      ["a tuple with too many items", Schema.Tuple(One), [extended, extended], ["[].two"]],
      ["a struct with a filter", One.pipe(Schema.filter(() => true)), extended, ["two"]]
    ] as const
  ) {
    it(`reports only new fields in ${name}`, () => {
      assert.deepStrictEqual<unknown>(detector(schema).inspect(value), found)
    })
  }

  it("inspects 32 levels, whatever types they are of", () => {
    interface Nested {
      readonly inner: Nested | number
    }
    const Nested: Schema.Schema<Nested> = Schema.Struct({
      inner: Schema.Union(Schema.Number, Schema.suspend(() => Nested))
    })
    const nested = (times: number): object => times === 0 ? { inner: 1, fresh: 1 } : { inner: nested(times - 1) }
    const lists = Schema.Array(Schema.Array(Nested))
    // Two lists, then two levels for each struct: a field and a union.
    assert.deepStrictEqual(detector(lists).inspect([[nested(15)]]), [`[][].${"inner.".repeat(15)}fresh`])
    assert.deepStrictEqual(detector(lists).inspect([[nested(16)]]), [])
  })

  it("inspects the first response, then at most one a second", () => {
    const { found, inspectAt } = detector(page)
    for (const [now, name] of [[0, "a"], [999, "b"], [1000, "c"], [1001, "d"], [5000, "e"]] as const) {
      inspectAt(now, body({ [name]: 1 }))
    }
    assert.deepStrictEqual(found, ["versions[].a", "versions[].c", "versions[].e"])
  })

  it("reports at most 100 findings, and visits at most 32 levels and 10,000 values of a response", () => {
    const letters = "abcdefghijklmnopqrst".split("")
    const pairs = letters.flatMap((one) => letters.map((other) => body({ [one + other]: 1 })))
    assert.lengthOf(detector(page).inspect(...pairs), 100)

    interface Nested {
      readonly inner?: Nested
    }
    const Nested: Schema.Schema<Nested> = Schema.Struct({
      inner: Schema.optionalWith(Schema.suspend(() => Nested), { exact: true })
    })
    let deep: object = { fresh: 1 }
    for (let level = 0; level < 50_000; level++) deep = { inner: deep }
    assert.deepStrictEqual(detector(Nested).inspect(deep), [])

    const text = Schema.Union(Schema.Literal("known"), Schema.String)
    for (
      const [schema, known, value, found, most] of [
        [text, "known", "new", "[]=new", 9998], // besides the list and the last item
        [Schema.Struct({}), {}, { late: 1 }, "[].late", 9997] // besides the list, the last item and its field
      ] as const
    ) {
      const after = (times: number) => detector(Schema.Array(schema)).inspect([...Array(times).fill(known), value])
      assert.deepStrictEqual(after(most), [found])
      assert.deepStrictEqual(after(most + 1), [])
    }

    const many = body(...Array.from({ length: 50_000 }, () => ({ id: "1" })), { late: 1 })
    assert.deepStrictEqual(detector(page).inspect(many), [])

    const unknown = { a: 1, b: 1, c: 1, d: 1, e: 1 }
    const manyUnknown = body(...Array.from({ length: 2000 }, () => unknown), { late: 1 })
    assert.notInclude(detector(page).inspect(manyUnknown), "versions[].late")
  })
})
