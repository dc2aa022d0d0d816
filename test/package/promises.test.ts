/** Tests of promises in the pages, each with what happens. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { deleteEventStream, Redelivery } from "../../src/index.js"
import { guide, page } from "../support/documentation.js"
import { collect, ids, memory, service, stream } from "../support/redelivery.js"
import { clientOf } from "../support/telemetry.js"

const plain = (text: string) => text.replace(/\s+/g, " ")

describe("the README", () => {
  it.effect("says that a redelivery resumes only with a journal, and what it does without one", () =>
    Effect.gen(function*() {
      assert.include(plain(page("README.md")), "an export unless its start was cut off")
      assert.include(plain(page("README.md")), "a redelivery only with a `journal`, which is not the default")
      const twice = (options: { readonly journal?: ReturnType<typeof memory>["store"] }) =>
        Effect.gen(function*() {
          const tenant = service()
          yield* collect(Redelivery.run(ids(2), { stream, ...options }), tenant)
          yield* collect(Redelivery.run(ids(2), { stream, ...options }), tenant)
          return tenant.sent.length
        })
      assert.strictEqual(yield* twice({}), 4)
      assert.strictEqual(yield* twice({ journal: memory().store }), 2)
    }))

  it("does not say that a pipe of deliveries is a list of ids", () => {
    assert.notInclude(plain(page("README.md")), "piped into `Redelivery.run`")
  })

  it("names the field of an unexpected response that says whether the call was carried out", () => {
    assert.match(page("README.md"), /^\| `UnexpectedResponse` .*\| see its `reason` +\|$/m)
    assert.match(plain(guide("errors")), /`outcome` says what became of the call: `done`/)
  })
})

describe("the guide to errors", () => {
  it.effect("names the fields of an issue", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        Effect.provide(deleteEventStream({ id: "short" }), clientOf({ replies: [] }).layer)
      )
      const issues = error._tag === "InvalidInput" ? error.issues : []
      const fields = issues.flatMap((issue) => Object.keys(issue))
      assert.deepStrictEqual(fields.sort(), ["message", "path"])
      const [, sentence = ""] = /Each of `issues` has ([^:]*):/.exec(guide("errors")) ?? []
      assert.sameMembers([...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name), fields)
    }))
})

describe("the runbook", () => {
  it("says which warnings have an annotation", () => {
    assert.include(
      plain(guide("runbook")),
      "Warnings of calls and of token requests have the annotation `operation`, those of a running job `job`, all others none."
    )
    const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => name.endsWith(".ts"))
    const annotating = sources.filter((name) => readFileSync(`src/${name}`, "utf8").includes("annotateLogs("))
    assert.deepStrictEqual(annotating.sort(), [
      "internal/limiter/waitWarnings.ts",
      "internal/telemetry/logs.ts",
      "internal/telemetry/tokenTelemetry.ts",
      "jobs/runner.ts"
    ])
  })
})
