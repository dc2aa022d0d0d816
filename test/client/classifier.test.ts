/** What `Errors` says about each error of the library: whether the call was carried out, may succeed later, and whom it concerns. */
import { SystemError } from "@effect/platform/Error"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { Actions, Errors, Exports, Pagination, Redelivery } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import * as SharedStore from "../../src/SharedStore.js"

const details = { operation: "createUsersExport", message: "No." }
const refused = ["not-done", false, "call"] as const
const ofClient = ["not-done", false, "client"] as const
const unavailable = ["unknown", true, "service"] as const
const storeFailed = ["unknown", true, "client"] as const

const transport = (outcome: Errors.TransportError["outcome"], code?: string) =>
  new Errors.TransportError({ ...details, outcome, ...(code !== undefined && { code }) })

const token = (more: { readonly status?: number; readonly code?: string } = {}) =>
  new Errors.TokenError({ ...details, ...more })

const response = (
  status: number,
  reason: Errors.UnexpectedResponse["reason"] = "status",
  outcome?: "done" | "not-done" | "unknown"
) => new Errors.UnexpectedResponse({ ...details, status, reason, shape: "", ...(outcome !== undefined && { outcome }) })

const exported = (reason: Exports.ExportReason, job?: string) =>
  new Exports.ExportError({ reason, message: "No.", ...(job !== undefined && { job }) })

const status = (status: number) => new (class extends Errors.statusError("Teapot", status) {})(details)

const raw = Redacted.make("")
const about = { id: "job_1", message: "No." }
const reason = new Errors.NotFound(details)

type Row = readonly [title: string, error: unknown, verdict: readonly [string, boolean, string]]

const rows: ReadonlyArray<Row> = [
  ["BadRequest", new Errors.BadRequest(details), refused],
  ["Unauthorized", new Errors.Unauthorized(details), ofClient],
  ["PaymentRequired", new Errors.PaymentRequired(details), ofClient],
  ["InsufficientScope", new Errors.InsufficientScope({ ...details, required: [] }), ofClient],
  ["Forbidden", new Errors.Forbidden(details), ofClient],
  ["NotFound", new Errors.NotFound(details), refused],
  ["Conflict", new Errors.Conflict(details), refused],
  ["Gone", new Errors.Gone(details), refused],
  ["PreconditionFailed", new Errors.PreconditionFailed(details), refused],
  ["ContentTooLarge", new Errors.ContentTooLarge(details), refused],
  ["InternalServerError", new Errors.InternalServerError(details), unavailable],
  ["ServiceUnavailable", new Errors.ServiceUnavailable(details), unavailable],
  ["RateLimited by the service", new Errors.RateLimited(details), ["not-done", true, "service"]],
  ["RateLimited by the limiter", new Errors.RateLimited({ ...details, source: "limiter" }), [
    "not-done",
    true,
    "service"
  ]],
  ["InvalidInput", new Errors.InvalidInput({ operation: "getJob", issues: [] }), refused],
  ["a class of 304", status(304), refused],
  ["a class of 407", status(407), ofClient],
  ["a class of 408", status(408), unavailable],
  ["a class of 418", status(418), refused],
  ["a class of 502", status(502), unavailable],

  ["TokenError for no known reason", token(), ofClient],
  ["TokenError of 200", token({ status: 200 }), ofClient],
  ["TokenError of 401", token({ status: 401 }), ofClient],
  ["TokenError of 499", token({ status: 499 }), ofClient],
  ["TokenError of 408", token({ status: 408 }), ["not-done", true, "service"]],
  ["TokenError of 429", token({ status: 429 }), ["not-done", true, "service"]],
  ["TokenError of 500", token({ status: 500 }), ["not-done", true, "service"]],
  ["TokenError without a response and a code", token({ code: "no-response" }), ["not-done", true, "service"]],
  ["TokenError without a response", token({ code: "ECONNREFUSED" }), ["not-done", true, "service"]],
  ["TokenError of a closed client", token({ code: "CLOSED" }), ofClient],

  ["TransportError, not sent", transport("not-sent", "ECONNREFUSED"), ["not-done", true, "service"]],
  ["TransportError, unknown", transport("unknown", "ECONNRESET"), unavailable],
  ["TransportError, done", transport("done"), ["done", false, "service"]],
  ["TransportError, too late to be sent", transport("not-sent", "TIMEOUT"), ["not-done", true, "client"]],
  ["TransportError, too late", transport("unknown", "TIMEOUT"), unavailable],
  ["TransportError of an open circuit", transport("not-sent", "CIRCUIT_OPEN"), ["not-done", true, "service"]],
  ["TransportError of a failed claim", transport("not-sent", "UNCLAIMED"), ["not-done", true, "client"]],
  ["TransportError of a closed client", transport("unknown", "CLOSED"), ["unknown", false, "client"]],
  ["TransportError of a stream in the input", transport("unknown", "REQUEST_BODY"), ["unknown", false, "call"]],

  ["UnexpectedResponse, 401", response(401), ofClient],
  ["UnexpectedResponse, 404", response(404), refused],
  ["UnexpectedResponse, 408", response(408), unavailable],
  ["UnexpectedResponse, 429", response(429), ["not-done", true, "service"]],
  ["UnexpectedResponse, 503", response(503), unavailable],
  ["UnexpectedResponse, 503 of a GET", response(503, "status", "not-done"), ["not-done", true, "service"]],
  ["UnexpectedResponse, redirect", response(302, "redirect"), ["unknown", false, "service"]],
  ["UnexpectedResponse, redirect to a 404", response(404, "redirect"), ["unknown", false, "service"]],
  ["UnexpectedResponse, html", response(200, "html", "unknown"), ["unknown", false, "service"]],
  ["UnexpectedResponse, encoding", response(200, "encoding"), ["unknown", false, "service"]],
  ["UnexpectedResponse, json", response(202, "json"), ["unknown", false, "service"]],
  ["UnexpectedResponse, json that is done", response(202, "json", "done"), ["done", false, "service"]],
  ["UnexpectedResponse, schema", response(201, "schema", "done"), ["done", false, "call"]],
  ["UnexpectedResponse, size", response(200, "size"), ["unknown", false, "call"]],
  ["UnexpectedResponse, endless", response(200, "endless"), refused],
  ["UnexpectedResponse, incomplete", response(200, "incomplete"), refused],

  [
    "UndecodableItem",
    new Pagination.UndecodableItem({ ...details, page: 0, path: "", raw }),
    refused
  ],
  ["VersionNotFound", new Actions.VersionNotFound({ actionId: "act_1", number: 1 }), refused],
  ...(["failed", "superseded", "timeout"] as const).map((reason): Row => [
    `DeploymentFailed, ${reason}`,
    new Actions.DeploymentFailed({ actionId: "act_1", reason, version: {}, details: [] }),
    ["done", reason === "timeout", "call"]
  ]),

  ["ExportError, job-failed", exported("job-failed", "job_1"), refused],
  ["ExportError, not-an-export", exported("not-an-export", "job_1"), refused],
  ["ExportError, timeout", exported("timeout", "job_1"), ["done", true, "call"]],
  ["ExportError, expired", exported("expired", "job_1"), ["done", false, "call"]],
  ["ExportError, unsafe-link", exported("unsafe-link", "job_1"), ["done", false, "call"]],
  ["ExportError, redirect", exported("redirect", "job_1"), ["done", false, "call"]],
  ["ExportError, not-gzip", exported("not-gzip", "job_1"), ["done", false, "call"]],
  ["ExportError, corrupt", exported("corrupt", "job_1"), ["done", false, "call"]],
  ["ExportError, superseded", exported("superseded", "job_1"), ["done", false, "call"]],
  ["ExportError, unsupported", exported("unsupported", "job_1"), ["done", false, "client"]],
  ["ExportError, exists, before", exported("exists"), refused],
  ["ExportError, exists, after", exported("exists", "job_1"), ["done", false, "call"]],
  ["ExportError, other-export", exported("other-export"), refused],
  ["ExportError, unknown-start", exported("unknown-start"), ["unknown", false, "call"]],
  ...(["network", "status", "refused", "length", "changed", "truncated"] as const).map((reason): Row => [
    `ExportError, ${reason}`,
    exported(reason, "job_1"),
    ["done", true, "service"]
  ]),
  ["UndecodableRow", new Exports.UndecodableRow({ line: 1, message: "No.", path: "", raw }), ["done", false, "call"]],

  ["RunError, streamNotFound", new Redelivery.RunError({ ...about, reason: "streamNotFound", error: reason }), refused],
  ["RunError, refused", new Redelivery.RunError({ ...about, reason: "refused", error: reason }), ofClient],
  ["RunError, unavailable", new Redelivery.RunError({ ...about, reason: "unavailable", error: reason }), [
    "not-done",
    true,
    "service"
  ]],
  [
    "RunError, tooManyFailures",
    new Redelivery.RunError({ ...about, reason: "tooManyFailures", error: reason }),
    refused
  ],
  ["JournalError, locked", new Redelivery.JournalError({ reason: "locked", message: "No." }), [
    "unknown",
    true,
    "call"
  ]],
  ["JournalError, foreign", new Redelivery.JournalError({ reason: "foreign", message: "No." }), refused],
  ["JournalError, store", new Redelivery.JournalError({ reason: "store", message: "No." }), storeFailed],

  ["JobNotFound", new Jobs.JobNotFound(about), refused],
  ["JobConflict", new Jobs.JobConflict(about), refused],
  ["JobTimeout", new Jobs.JobTimeout(about), ["unknown", true, "call"]],
  ["RowsUnavailable", new Jobs.RowsUnavailable(about), refused],
  ["JobStoreError", new Jobs.JobStoreError({ message: "No." }), storeFailed],
  ["TenantFailure of a secret", new Jobs.TenantFailure({ error: token({ status: 401 }) }), ofClient],
  ["TenantFailure of a network", new Jobs.TenantFailure({ error: token({ code: "ECONNRESET" }) }), [
    "not-done",
    true,
    "client"
  ]],
  ["OtherError", new Errors.OtherError({ tag: "NotFound", message: "No." }), ["unknown", false, "call"]],
  ["StoreUnavailable", new SharedStore.StoreUnavailable(), storeFailed],

  ["an error of a file system", new SystemError({ reason: "Busy", module: "Stream", method: "read" }), [
    "unknown",
    false,
    "call"
  ]],
  ["an error with a status", { _tag: "toString", status: 503 }, unavailable],
  ["an error that is no object", "no", ["unknown", false, "call"]]
]

/** Errors that never reach a caller: they end a process, or are turned into one of the others. */
const internal = [
  "Broken",
  "ConnectionReset",
  "DatabaseError",
  "Exited",
  "Failed",
  "FolderError",
  "NoResponse",
  "Outdated",
  "Passing",
  "SpecError",
  "Stopped",
  "WrongUsage"
]

/** The declaration of an error, with its tag. */
const declaration = /extends (?:\/\*.*\*\/ )?(?:Data\.|Schema\.)?(?:TaggedError|statusError)(?:<\w+>\(\))?\("(\w+)"/g

describe("an error", () => {
  it.each(rows)("says what became of its call, whether it passes, and whom it concerns: %s", (_, error, verdict) => {
    assert.deepStrictEqual([Errors.outcome(error), Errors.isTransient(error), Errors.concerns(error)], [...verdict])
  })

  it("has a row here, whatever its tag", () => {
    const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
    const tags = sources.flatMap((file) =>
      Array.from(readFileSync(`src/${file}`, "utf8").matchAll(declaration), ([, tag = ""]) => tag)
    )
    const known = rows.flatMap(([, error]) =>
      typeof error === "object" && error !== null && "_tag" in error ? error._tag : []
    )
    const undecided = tags.filter((tag) => !known.includes(tag) && !internal.includes(tag))
    assert.deepStrictEqual(undecided, [])
    assert.isAbove(new Set(tags).size, 35)
    for (const tag of internal) assert.include(tags, tag)
  })

  it.effect("is what `Effect.retry` needs to repeat a call that must not happen twice", () =>
    Effect.gen(function*() {
      let attempts = 0
      const failures = [transport("not-sent", "ECONNREFUSED"), transport("unknown", "ECONNRESET")]
      const call = Effect.suspend(() => Effect.fail(failures[attempts++] ?? token()))
      const again = Effect.retry(call, { times: 5, while: (error) => Errors.outcome(error) === "not-done" })
      assert.strictEqual(yield* Effect.flip(again), failures[1])
      assert.strictEqual(attempts, 2)
    }))
})
