/** Columns of one title: a request that would make them is refused, wherever it is made, before anything is sent. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Stream } from "effect"
import { createUsersExport, type Errors, Exports } from "../../src/index.js"
import { validate } from "../../src/internal/http/requestEncoder.js"
import * as Jobs from "../../src/Jobs.js"
import { encodeJob } from "../../src/jobs/definition.js"
import * as Testing from "../../src/Testing.js"
import { scripted } from "../support/client.js"

type Fields = NonNullable<Exports.Input["fields"]>

const issuesOf = (input: Exports.Input): ReadonlyArray<Errors.Issue> =>
  Either.match(validate(createUsersExport.endpoint, input), { onLeft: ({ issues }) => issues, onRight: () => [] })

const differs = (path: string, other: number): Errors.Issue => ({
  path,
  message: `expected a title that differs from that of \`fields[${other}]\``
})

const csv = (...fields: Fields): Exports.Input => ({ format: "csv", fields })

describe("columns of one title", () => {
  it.each<readonly [title: string, fields: Fields, issues: ReadonlyArray<Errors.Issue>]>([
    ["of two `export_as`", [{ name: "a", export_as: "x" }, { name: "b", export_as: "x" }], [
      differs("fields[1].export_as", 0)
    ]],
    ["of an `export_as` and a name before it", [{ name: "a" }, { name: "b", export_as: "a" }], [
      differs("fields[1].export_as", 0)
    ]],
    ["of an `export_as` and a name after it", [{ name: "a", export_as: "b" }, { name: "b" }], [
      differs("fields[0].export_as", 1)
    ]],
    ["of a name that comes twice", [{ name: "a" }, { name: "b" }, { name: "a" }], [differs("fields[2].name", 0)]],
    ["that come three times", [{ name: "a" }, { name: "b", export_as: "a" }, { name: "c", export_as: "a" }], [
      differs("fields[1].export_as", 0),
      differs("fields[2].export_as", 0)
    ]],
    ["that are one without the guard", [{ name: "a" }, { name: "b", export_as: "'a" }], [
      differs("fields[1].export_as", 0)
    ]],
    ["named like fields of each object", [{ name: "constructor" }, { name: "__proto__" }, {
      name: "a",
      export_as: "__proto__"
    }], [differs("fields[2].export_as", 1)]]
  ])("%s are refused", (_, fields, issues) => {
    assert.deepStrictEqual(issuesOf(csv(...fields)), issues)
  })

  it("are no matter of other names, of case, or of JSON, which has no columns", () => {
    const accepted: ReadonlyArray<Exports.Input> = [
      csv({ name: "a" }, { name: "b", export_as: "A" }, { name: "c", export_as: "a " }),
      csv({ name: "a", export_as: "b" }, { name: "b", export_as: "a" }),
      csv(),
      { format: "csv" },
      { fields: [{ name: "a" }, { name: "b", export_as: "a" }] },
      { format: "json", fields: [{ name: "a" }, { name: "a" }] }
    ]
    assert.deepStrictEqual(accepted.flatMap(issuesOf), [])
  })

  it.effect("are refused before anything is sent", () =>
    Effect.gen(function*() {
      const input = csv({ name: "email" }, { name: "name", export_as: "email" })
      const [direct, streamed, submitted] = yield* Effect.all([
        Effect.flip(createUsersExport(input)),
        Effect.flip(Stream.runDrain(Exports.run(input))),
        Effect.flip(encodeJob(Jobs.export({ tenant: "acme", key: "monday", input })))
      ])
      const message = "expected a title that differs from that of `fields[0]`"
      const issues = [{ path: "fields[1].export_as", message }]
      assert.deepInclude(direct, { _tag: "InvalidInput", issues })
      assert.deepInclude(streamed, { _tag: "InvalidInput", issues })
      assert.deepInclude(submitted, { issues: [{ path: "input.fields[1].export_as", message }] })
      assert.deepStrictEqual(yield* Testing.requests, [])
    }).pipe(Effect.provide(scripted())))
})
