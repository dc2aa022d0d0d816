/** The failures of exports: which job they name, and what they print. */
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { Errors } from "../../src/index.js"
import { ExportError, UndecodableRow, withJob } from "../../src/internal/exports/exportError.js"

const details = { operation: "createUsersExport", message: "No." }

const exportError = new ExportError({ reason: "network", message: "broken" })

describe("a failure of an export", () => {
  it("gets the id of the job, and keeps all else", () => {
    const error = new ExportError({ reason: "status", message: "no", status: 500, code: "ECODE" })
    const named = withJob("job_1")(error)
    assert.instanceOf(named, ExportError)
    assert.deepInclude(named, {
      _tag: "ExportError",
      reason: "status",
      message: "no",
      status: 500,
      code: "ECODE",
      job: "job_1"
    })
    assert.doesNotHaveAnyKeys(withJob("job_1")(exportError), ["status", "code"])
  })

  it("keeps the id that it has", () => {
    const error = new ExportError({ reason: "expired", message: "no", job: "job_1" })
    assert.strictEqual(withJob("job_2")(error), error)
  })

  it("of another kind stays as it is", () => {
    const error = new Errors.NotFound(details)
    assert.strictEqual(withJob("job_1")(error), error)
  })
})

describe("a row that cannot be decoded", () => {
  it("is named so, and prints without its text", () => {
    const row = new UndecodableRow({ line: 2, message: "line 2: no", path: "", raw: Redacted.make("secret") })
    assert.deepInclude(row, { _tag: "UndecodableRow", line: 2, message: "line 2: no", path: "" })
    assert.include(String(row.raw), "<redacted>")
    assert.notInclude(JSON.stringify(row), "secret")
  })
})
