/** Tests of `export` against a tenant whose jobs end at once: options, fields, failures, progress. */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { gunzipSync, gzipSync } from "node:zlib"
import { getJob } from "../../src/operations/getJob.js"
import * as Tenant from "../../src/Tenant.js"
import { serve } from "../support/storage.js"
import { run } from "./support/run.js"

const { connections: [connection], users } = Tenant.demo

const TenantLive = Tenant.layerServer.pipe(
  Layer.provideMerge(Tenant.layerWith({ durations: { export: 0 } })),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
)

/** A name in a folder that is removed afterwards. */
const outFile = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const { join } = yield* Path.Path
  return join(yield* fs.makeTempDirectoryScoped(), "users.json")
}).pipe(Effect.provide(NodeContext.layer))

const sent = Effect.flatMap(Tenant.Tenant, ({ requests }) => requests)

const inputs = Effect.map(
  sent,
  (requests) => requests.filter(({ operation }) => operation === "createUsersExport").map(({ body }) => body)
)

const first = "{\"user_id\":\"google-oauth2|5e1f0a\"}\n"

describe("the id of a job", () => {
  it.scopedLive("is refused as --job if it was given there", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* run(["export", "--out", yield* outFile, "--job", "."])
      assert.match(stderr, /^--job: expected .*\n\nUsage: /)
      assert.deepStrictEqual([code, yield* sent], [2, []])
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("is no wrong argument if it comes from the service and is not valid", () =>
    Effect.gen(function*() {
      const { injectFault } = yield* Tenant.Tenant
      const job = { id: ".", status: "pending", type: "users_export" }
      yield* injectFault({ operation: "createUsersExport", status: 200, body: job })
      const { code, stderr } = yield* run(["export", "--out", yield* outFile])
      assert.match(stderr, /^InvalidInput: .*\bid\b.*\n$/)
      assert.strictEqual(code, 1)
    }).pipe(Effect.provide(TenantLive)))
})

describe("an interruption of an export", () => {
  it.scopedLive("tells before there is a job that the same command says whether one may have been started", () =>
    Effect.gen(function*() {
      const { injectFault, requests } = yield* Tenant.Tenant
      yield* injectFault({ operation: "token", delay: "10 minutes" })
      const isAsked = Effect.map(requests, (requests) => requests.some(({ operation }) => operation === "token"))
      const { code, stderr } = yield* run(["export", "--out", yield* outFile], {
        interruptWhen: isAsked
      })
      assert.strictEqual(
        stderr,
        "Interrupted. Run the same command again: it says so if a job may have been started.\n"
      )
      assert.strictEqual(code, 130)
    }).pipe(Effect.provide(TenantLive)))
})

describe("export", () => {
  it.scopedLive("ends at --timeout if the job has not, and goes on with the same job when it is run again", () => {
    const slow = Tenant.layerServer.pipe(
      Layer.provideMerge(Tenant.layerWith({ durations: { export: "1 day" } })),
      Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
    )
    return Effect.gen(function*() {
      const out = yield* outFile
      const ends = [
        yield* run(["export", "--out", out, "--timeout", "0"]),
        yield* run(["export", "--out", out, "--timeout", "0"])
      ]
      for (const { code, stderr } of ends) {
        assert.include(stderr, "ExportError: the job has not ended in 0: its status is \"pending\"")
        assert.match(stderr, /: run the same command again to go on with job_\w+\n$/)
        assert.strictEqual(code, 1)
      }
      assert.lengthOf(yield* inputs, 1)
    }).pipe(Effect.provide(slow))
  })

  it.scopedLive("asks for all users as JSON, and writes them", () =>
    Effect.gen(function*() {
      const out = yield* outFile
      const { code, stderr, stdout } = yield* run(["export", "--out", out])
      const text = readFileSync(out, "utf8")
      const [, job = ""] = /^job +(.*)$/m.exec(stdout) ?? []
      assert.match(job, /^job_\w{16}$/)
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.strictEqual(stdout, `file  ${out}\njob   ${job}\nrows  ${users.length}\nsize  ${text.length} bytes\n`)
      assert.deepStrictEqual(yield* inputs, [{ format: "json" }])
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("sends what its options and fields say, and prints a line of JSON, without a bar", () =>
    Effect.gen(function*() {
      const out = yield* outFile
      const options = ["--format", "csv", "--connection", connection.id, "--limit", "2", "--gzip", "--json"]
      const { code, stderr, stdout } = yield* run(["export", "--out", out, ...options, "email=E-mail", "name"], {
        columns: 80
      })
      const file = readFileSync(out)
      const { job, ...rest } = JSON.parse(stdout) as { readonly job: string }
      assert.match(job, /^job_\w{16}$/)
      assert.deepStrictEqual({ code, stderr, rest }, {
        code: 0,
        stderr: "",
        rest: { path: out, rows: 2, size: file.length }
      })
      assert.strictEqual(
        String(gunzipSync(file)),
        "\"E-mail\",\"name\"\n\"'user00000001@example.com\",\"'User 1\"\n\"'user00000002@example.com\",\"'User 2\"\n"
      )
      assert.deepStrictEqual(yield* inputs, [{
        format: "csv",
        connection_id: connection.id,
        limit: 2,
        fields: [{ name: "email", export_as: "E-mail" }, { name: "name" }]
      }])
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("replaces a file only with --overwrite", () =>
    Effect.gen(function*() {
      const out = yield* outFile
      writeFileSync(out, "old")
      const args = ["export", "--out", out, "--limit", "1", "user_id"]
      assert.deepStrictEqual(yield* run(args), {
        code: 1,
        stdout: "",
        stderr: "ExportError: the file is there already; --overwrite replaces it\n"
      })
      assert.strictEqual(readFileSync(out, "utf8"), "old")
      const { code, stdout } = yield* run([...args, "--overwrite"])
      assert.strictEqual(code, 0)
      assert.strictEqual(
        stdout.replace(/job_\w{16}/, "job_1"),
        `file  ${out}\njob   job_1\nrows  1\nsize  ${first.length} bytes\n`
      )
      assert.strictEqual(readFileSync(out, "utf8"), first)
      assert.deepStrictEqual(yield* inputs, [{ format: "json", limit: 1, fields: [{ name: "user_id" }] }])
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("goes on with --job, and starts none", () =>
    Effect.gen(function*() {
      const out = yield* outFile
      const { job } = JSON.parse(
        (yield* run(["export", "--out", out, "--limit", "1", "--json", "user_id"])).stdout
      ) as {
        readonly job: string
      }
      const again = yield* run(["export", "--out", `${out}.2`, "--job", job, "--json"])
      assert.deepInclude(JSON.parse(again.stdout), { job, rows: 1 })
      assert.lengthOf(yield* inputs, 1)
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("starts a job only with --start-again if an earlier run may have started one", () =>
    Effect.gen(function*() {
      const out = yield* outFile
      writeFileSync(`${out}.export.json`, "")
      const args = ["export", "--out", out, "--limit", "1", "user_id"]
      assert.deepStrictEqual(yield* run(args), {
        code: 1,
        stdout: "",
        stderr:
          "ExportError: an earlier run ended while it started a job: look for it in the tenant, then give its id " +
          "with --job, or start another one with --start-again\n"
      })
      assert.deepStrictEqual(yield* sent, [])
      assert.strictEqual((yield* run([...args, "--start-again"])).code, 0)
      assert.lengthOf(yield* inputs, 1)
    }).pipe(Effect.provide(TenantLive)))
})

describe("a field of an export", () => {
  it.scopedLive("has a name and a title of up to 100 characters, in whichever alphabet", () =>
    Effect.gen(function*() {
      const out = yield* outFile
      const [name, title] = ["𝒳".repeat(100), "𝒴".repeat(100)]
      const { code, stderr } = yield* run([
        "export",
        "--out",
        out,
        "--format",
        "csv",
        "--limit",
        "1",
        `${name}=${title}`
      ])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.strictEqual(readFileSync(out, "utf8"), `"${title}"\n\n`)
    }).pipe(Effect.provide(TenantLive)))

  const refused: ReadonlyArray<readonly [field: string, message: string]> = [
    ["", "The field \"\" has no name."],
    ["=Name", "The field \"=Name\" has no name."],
    ["x".repeat(101), `The field "${"x".repeat(40)}" has a name of more than 100 characters.`],
    ["email=", "The field \"email=\" has an empty title."],
    [`email=${"x".repeat(101)}`, `The field "email=${"x".repeat(34)}" has a title of more than 100 characters.`],
    ["\ud800", "FIELD: expected a string of at most 100 characters"]
  ]
  for (const [field, message] of refused) {
    it.scopedLive(`is refused with exit code 2: ${JSON.stringify(field).slice(0, 20)}`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* run(["export", "--out", yield* outFile, field])
        assert.strictEqual(stderr.split("\n")[0], message)
        assert.include(stderr, "\n\nUsage: effect-identity-client export --out FILE")
        assert.deepStrictEqual([code, stdout, yield* sent], [2, "", []])
      }).pipe(Effect.provide(TenantLive)))
  }

  it.scopedLive("is refused with exit code 2 if another column has its title", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* run(["export", "--out", yield* outFile, "--format", "csv", "email", "name=email"])
      assert.strictEqual(stderr.split("\n")[0], "FIELD: expected a title that differs from that of FIELD 1")
      assert.deepStrictEqual([code, yield* sent], [2, []])
    }).pipe(Effect.provide(TenantLive)))
})

const clear = "\r\u001b[K"

const bar = (filled: number, text: string): string => `${clear}${"█".repeat(filled)}${"░".repeat(24 - filled)} ${text}`

/** Records what is drawn. */
const drawings = () => {
  const all: Array<string> = []
  return {
    all,
    onDraw: (text: string) => void all.push(text),
    /** Waits until a text has been drawn. */
    until: async (text: string) => {
      while (!all.some((drawn) => drawn.includes(text))) await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
}

describe("the bar of an export", () => {
  it.scopedLive("shows how far the job is", () =>
    Effect.gen(function*() {
      const { respond } = yield* Tenant.Tenant
      const { all, onDraw, until } = drawings()
      const job = { type: "users_export", status: "processing", percentage_done: 25, time_left_seconds: 9 } as const
      yield* respond(getJob, ({ id }) => Effect.as(Effect.promise(() => until("the job runs, ? left")), { ...job, id }))
      const { code } = yield* run(["export", "--out", yield* outFile], {
        columns: 80,
        onDraw,
        interruptWhen: Effect.as(Effect.promise(() => until("25 %")), true)
      })
      assert.strictEqual(code, 130)
      assert.deepStrictEqual([...new Set(all)], [
        bar(0, "the job runs, ? left"),
        bar(6, "the job runs, 25 %, 9s left"),
        clear
      ])
      assert.deepStrictEqual(yield* inputs, [{ format: "json" }])
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("shows how much of the file has come", () =>
    Effect.gen(function*() {
      const { respond } = yield* Tenant.Tenant
      const { all, onDraw, until } = drawings()
      const file = gzipSync(randomBytes(1_500_000), { level: 0 })
      const { origin } = yield* serve(async (response) => {
        await until("0.0 MB, ? left")
        response.writeHead(200, { "content-length": file.length }).flushHeaders()
        await until("0.0 MB of 1.5 MB, ? left")
        response.write(file.subarray(0, 900_000))
        await until("0.9 MB of 1.5 MB")
        response.end(file.subarray(900_000))
      })
      const job = { type: "users_export", status: "completed", location: `${origin}/users.json.gz` } as const
      yield* respond(getJob, ({ id }) => Effect.succeed({ ...job, id }))
      const { code, stderr } = yield* run(["export", "--out", yield* outFile, "--gzip"], { columns: 80, onDraw })
      assert.strictEqual(code, 0, stderr)
      assert.includeMembers(all, [bar(0, "0.0 MB, ? left"), bar(0, "0.0 MB of 1.5 MB, ? left")])
      const halfway = all.find((text) => text.includes("0.9 MB of 1.5 MB"))
      assert.strictEqual(halfway?.replace(/\d+s left$/, "1s left"), bar(14, "0.9 MB of 1.5 MB, 1s left"))
      assert.strictEqual(all.at(-1), clear)
    }).pipe(Effect.provide(TenantLive)))
})
