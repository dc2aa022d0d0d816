/** The failures of exports: which of them pass, which mean that no job was started, and which job they name. */
import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Errors } from "../../src/index.js"
import {
  type CallFailure,
  ExportError,
  isPassing,
  UndecodableRow,
  wasNotStarted,
  withJob
} from "../../src/internal/exports/exportError.js"

const details = { operation: "createUsersExport", message: "No." }

const transport = (outcome: "not-sent" | "unknown", code?: string) =>
  new Errors.TransportError({ ...details, outcome, ...(code !== undefined && { code }) })

const response = (status: number, reason: "status" | "redirect" = "status") =>
  new Errors.UnexpectedResponse({ ...details, status, reason, shape: "" })

const exportError = new ExportError({ reason: "network", message: "broken" })

const failures: ReadonlyArray<
  readonly [title: string, error: CallFailure | ExportError, passes: boolean, notStarted: boolean]
> = [
  ["a request that was not sent", transport("not-sent"), true, true],
  ["a request whose end is not known", transport("unknown"), true, false],
  ["a request of a client that is closed", transport("not-sent", "CLOSED"), false, true],
  ["a connection that broke", transport("unknown", "ECONNRESET"), true, false],
  ["a limit", new Errors.RateLimited({ ...details, source: "limiter" }), true, true],
  ["a request for a token without a response", new Errors.TokenError({ ...details, code: "ECONNRESET" }), true, true],
  ["a status 408 of a token endpoint", new Errors.TokenError({ ...details, status: 408 }), true, true],
  ["a status 429 of a token endpoint", new Errors.TokenError({ ...details, status: 429 }), true, true],
  ["a status 500 of a token endpoint", new Errors.TokenError({ ...details, status: 500 }), true, true],
  ["a secret that is wrong", new Errors.TokenError({ ...details, status: 401 }), false, true],
  ["a token that cannot be used", new Errors.TokenError(details), false, true],
  ["a call that is forbidden", new Errors.Forbidden(details), false, true],
  ["a call that is wrong", new Errors.BadRequest(details), false, true],
  ["what is not found", new Errors.NotFound(details), false, true],
  ["an input that is not valid", new Errors.InvalidInput({ operation: "getJob", issues: [] }), false, true],
  ["a status 200", response(200), false, false],
  ["a status 399", response(399), false, false],
  ["a status 400", response(400), false, true],
  ["a status 407", response(407), false, true],
  ["a status 408", response(408), true, false],
  ["a status 409", response(409), false, true],
  ["a status 499", response(499), false, true],
  ["a status 500", response(500), true, false],
  ["a status 503", response(503), true, false],
  ["a redirect", response(302, "redirect"), false, false],
  ["a redirect that has led to a status 404", response(404, "redirect"), false, false],
  ["a failure of the export itself", exportError, false, false]
]

describe("a failure of an export", () => {
  it.each(failures)("passes or not, and is known to come before a job or not: %s", (_, error, passes, notStarted) => {
    assert.deepStrictEqual({ passes: isPassing(error), notStarted: wasNotStarted(error) }, { passes, notStarted })
  })

  it.live("of the file system may come after the start of a job", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      assert.isFalse(wasNotStarted(yield* Effect.flip(fs.stat("/none/users.json"))))
    }).pipe(Effect.provide(NodeFileSystem.layer)))

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
