/** Tests of the programs in `examples`, run as users run them. */
import { HttpServer } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { type Console, Effect, Redacted } from "effect"
import { type ChildProcess, execFile } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TenantLive, tour } from "../../examples/tour.js"
import * as Tenant from "../../src/Tenant.js"
import { guide, page } from "../support/documentation.js"
import { receiver } from "../support/otlp.js"

const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo

/** Runs an effect. Returns the lines that it wrote to the console. */
const consoleLines = <E, R>(effect: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const real = yield* Effect.console
    const log = (...args: ReadonlyArray<unknown>) => Effect.sync(() => void lines.push(...args.join(" ").split("\n")))
    yield* Effect.withConsole(effect, { ...real, log } satisfies Console.Console)
    return lines
  })

describe("the tour", () => {
  it.live("prints only ids that the tenant has received or sent", () =>
    Effect.gen(function*() {
      const lines = yield* consoleLines(tour)
      const { requests, state } = yield* Tenant.Tenant
      const known = JSON.stringify([(yield* requests).map(({ body, path }) => [path, body]), (yield* state).jobs])
      const ids = lines.join("\n").match(/\b(?:job|con|tep|est|evt)_\w+/g) ?? []
      assert.includeMembers([...new Set(ids)].map((id) => id.slice(0, 4)), ["job_", "tep_", "est_", "evt_"])
      for (const id of ids) assert.include(known, id)
    }).pipe(Effect.provide(TenantLive)))

  it.live("shows success, 403, 409 and a retried 429, with the tenant's statuses", () =>
    Effect.gen(function*() {
      const lines = yield* consoleLines(tour)
      const { requests } = yield* Tenant.Tenant
      const shown = lines.flatMap((line) => /^ {5}(\d{3}) (\w+) /.exec(line)?.slice(1, 3).join(" ") ?? [])
      const responses = (yield* requests).map(({ method, status }) => `${status} ${method}`)
      assert.deepStrictEqual(shown, responses)
      for (const status of [200, 202, 204, 403, 409]) {
        assert.isTrue(responses.some((line) => line.startsWith(`${status}`)))
      }
      assert.strictEqual(responses[responses.indexOf("429 PATCH") + 1], "200 PATCH")
    }).pipe(Effect.provide(TenantLive)))

  it.live("fits 80 columns and writes no colours without a terminal", () =>
    Effect.gen(function*() {
      for (const line of yield* consoleLines(tour)) {
        assert.isAtMost(line.length, 80, line)
        assert.notInclude(line, "\u001b")
      }
    }).pipe(Effect.provide(TenantLive)))
})

/** Runs a script of `examples` as a process, against a tenant on a socket. */
const script = (
  name: string,
  args: ReadonlyArray<string>,
  variables: Record<string, string> = {},
  attend: (child: ChildProcess) => void = (child) => void child.stdin?.end()
) =>
  HttpServer.addressFormattedWith((origin) =>
    Effect.async<{ readonly code: number; readonly stdout: string; readonly stderr: string }>((resume) => {
      const { full } = Tenant.demoClients
      const env = {
        PATH: process.env["PATH"] ?? "",
        IDENTITY_BASE_URL: `${origin}/api/v2`,
        IDENTITY_AUTH_URL: origin,
        IDENTITY_CLIENT_ID: full.id,
        IDENTITY_CLIENT_SECRET: Redacted.value(full.secret),
        ...variables
      }
      const child = execFile(
        process.execPath,
        ["--import", "tsx", `examples/${name}.ts`, ...args],
        { env, timeout: 120_000 },
        (_error, stdout, stderr) => resume(Effect.succeed({ code: child.exitCode ?? -1, stdout, stderr }))
      )
      attend(child)
    })
  )

const scripts = {
  firstCall: ["listActionVersions", [action.id], /^3 versions, live: 3\n$/],
  exportUsers: [
    "createUsersExport",
    ["--connection", connection.id, "--format", "csv", "email=E-mail", "name"],
    /^job {9}job_\w+\nstatus {6}pending\n(?:.*\n)+fields {6}email as "E-mail", name\n$/
  ],
  updateTokenExchangeProfile: [
    "updateTokenExchangeProfile",
    [profile.id, "--name", "Renamed"],
    new RegExp(`^profile ${profile.id} is updated: Renamed$`, "m")
  ],
  actionHistory: ["listActionVersions", [action.id], /^# {2}status .*\n3 {2}built {3}yes (?:.*\n){3}$/],
  deleteEventStream: ["deleteEventStream", [stream.id], new RegExp(`^event stream ${stream.id} is deleted$`, "m")]
} as const

describe("the scripts", () => {
  for (const [name, [operation, args, output]] of Object.entries(scripts)) {
    it.live(`${name} succeeds against a tenant`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* script(name, args)
        assert.strictEqual(stderr, "")
        assert.match(stdout, output)
        assert.strictEqual(code, 0)
        const { requests } = yield* Tenant.Tenant
        assert.deepStrictEqual((yield* requests).map(({ operation }) => operation), ["token", operation])
      }).pipe(Effect.provide(TenantLive)))
  }

  const failures: ReadonlyArray<readonly [string, string, ReadonlyArray<string>, Record<string, string>, RegExp]> = [
    [
      "a wrong secret",
      "deleteEventStream",
      [stream.id],
      { IDENTITY_CLIENT_SECRET: "wrong-secret" },
      /^TokenError: .*401/
    ],
    ["a missing variable", "deleteEventStream", [stream.id], { IDENTITY_BASE_URL: "" }, /IDENTITY_BASE_URL/],
    [
      "a refused connection",
      "deleteEventStream",
      [stream.id],
      { IDENTITY_AUTH_URL: "http://127.0.0.1:1" },
      /^TokenError: .*ECONNREFUSED/
    ],
    ["a bad value", "exportUsers", ["--limit", "0"], {}, /^InvalidInput: limit: expected an integer of at least 1$/m],
    ["a missing argument", "updateTokenExchangeProfile", [], {}, /usage: updateTokenExchangeProfile PROFILE_ID/]
  ]
  for (const [what, name, args, variables, message] of failures) {
    it.live(`report ${what} on standard error, without a stack or a secret, with exit code 1`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* script(name, args, variables)
        assert.match(stderr, message)
        assert.notMatch(stderr, /^ {4}at |wrong-secret/m)
        assert.deepStrictEqual({ code, stdout }, { code: 1, stdout: "" })
      }).pipe(Effect.provide(TenantLive)))
  }
})

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "script-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

describe("the quickstart", () => {
  it.live("prints what the README says, and calls only its own tenant", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* script("quickstart", [])
      assert.deepStrictEqual({ code, stdout }, { code: 0, stdout: "3 versions, live: 3\n" })
      assert.include(page("README.md"), "npx tsx quickstart.ts   # prints: 3 versions, live: 3\n")
      assert.deepStrictEqual(yield* Effect.flatMap(Tenant.Tenant, ({ requests }) => requests), [])
    }).pipe(Effect.provide(TenantLive)))
})

describe("privateKey", () => {
  it.live("gets a token by the second key, with one warning and no secret, and calls only its own tenant", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* script("privateKey", [])
      assert.strictEqual(code, 0)
      assert.match(
        stdout,
        /^\S+ WARN \(#\d+\): the token endpoint refused key 1 of 2; it accepts key 2\n {2}operation: token\n3 versions, without a secret\n$/
      )
      assert.deepStrictEqual(yield* Effect.flatMap(Tenant.Tenant, ({ requests }) => requests), [])
    }).pipe(Effect.provide(TenantLive)))
})

describe("exportUsers", () => {
  it.live("names an invalid field, exits with code 2, and sends nothing", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* script("exportUsers", ["email", "=Name"])
      assert.match(stderr, /The field "=Name" has no name/)
      assert.strictEqual(code, 2)
      assert.deepStrictEqual(yield* Effect.flatMap(Tenant.Tenant, ({ requests }) => requests), [])
    }).pipe(Effect.provide(TenantLive)))
})

describe("the programs with a tenant of their own", () => {
  it.live("streams prints each version and what became of each event", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* script("streams", [])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.match(stdout, /^#3 is built\n#2 is built\n#1 is built\n(?:evt_\w{22}: (?:accepted|notFailed)\n){4}$/)
    }).pipe(Effect.provide(TenantLive)))

  it.live("limits prints what is left of the learned limit", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* script("limits", [])
      assert.strictEqual(code, 0)
      const lines = stdout.trimEnd().split("\n").filter((line) => line.startsWith("listActionVersions: "))
      assert.isAbove(lines.length, 0) // a busy machine prints fewer states
      for (const line of lines) {
        assert.match(line, /^listActionVersions: (?:\?|\d+) of (?:\?|50) left, \d+ waiting$/)
      }
      assert.match(lines.at(-1) ?? "", / of 50 left, 0 waiting$/)
    }).pipe(Effect.provide(TenantLive)))
})

describe("the guide to the scripts", () => {
  /** What a script prints according to the guide: the nth block without a language. */
  const shown = (nth: number) => [...guide("command-line").matchAll(/^```\n([^]*?)^```$/gm)][nth]?.[1]

  it.live("shows the summary of a run", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const file = join(path, "ids")
      const [first, second, queued] = stream.events
      writeFileSync(file, [first.id, second.id, queued.id, "nonsense", first.id].join("\n"))
      const args = ["--file", file, "--journal", join(path, "journal"), stream.id]
      const { stdout } = yield* script("redeliverEvents", args)
      const plain = (text = "") => text.replace(/ in \w+(?: \w+)*,/, " in 1s,")
      assert.strictEqual(plain(stdout), plain(shown(0)))
    }).pipe(Effect.scoped, Effect.provide(TenantLive)))

  it.live("shows the versions of an action, and the changes between two", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* script("actionHistory", [action.id])).stdout, shown(1))
      assert.strictEqual((yield* script("actionHistory", [action.id, "--diff", "2", "3"])).stdout, shown(2))
    }).pipe(Effect.provide(TenantLive)))

  it.live("shows an export", () =>
    Effect.gen(function*() {
      const words = /exportUsers\.ts (.*?)`/.exec(guide("command-line"))?.[1]?.split(" ") ?? []
      assert.isAbove(words.length, 4)
      const plain = (text = "") => text.replace(/job_\w+/, "job_…")
      assert.strictEqual(plain((yield* script("exportUsers", words)).stdout), plain(shown(3)))
    }).pipe(Effect.provide(TenantLive)))
})

describe("actionHistory", () => {
  it.live("shows the changes between two versions: code, dependencies, secrets", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* script("actionHistory", [action.id, "--diff", "1", "3"])
      assert.strictEqual(code, 0)
      for (const line of ["--- code of #1", "+++ code of #3", "+lodash@4.17.21", "+++ secrets of #3"]) {
        assert.include(stdout.split("\n"), line)
      }
      assert.match(stdout, /^- .*"revision", 1\)\n\+ .*"revision", 3\)$/m)
      assert.notInclude(stdout, "\u001b")
    }).pipe(Effect.provide(TenantLive)))

  it.live("accepts the numbers before the id, and rejects numbers without --diff", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* script("actionHistory", ["--diff", "1", "3", action.id])
      assert.include(stdout, "+++ code of #3")
      assert.strictEqual(code, 0)
      const refused = yield* script("actionHistory", [action.id, "3"])
      assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
      assert.include(refused.stderr, "--diff NUMBER 3")
    }).pipe(Effect.provide(TenantLive)))

  it.live("names a version that does not exist, with exit code 3", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* script("actionHistory", [action.id, "--diff", "3", "9"])
      assert.deepStrictEqual([code, stderr], [3, "This action has no version 9.\n"])
    }).pipe(Effect.provide(TenantLive)))
})

describe("redeliverEvents", () => {
  const [first, second, queued] = stream.events
  const args = (path: string) => ["--journal", join(path, "journal"), stream.id]

  it.live("redelivers the ids of a file, prints a summary, and exits with code 3 after failures", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const file = join(path, "ids")
      writeFileSync(file, [first.id, "nonsense # not an id", "", queued.id, first.id].join("\n"))
      const { code, stdout } = yield* script("redeliverEvents", ["--file", file, ...args(path)])
      assert.match(
        stdout,
        /^accepted {3}2 .*\nnotFailed {2}1 .*\ninvalid {4}1 .*\n4 events in .*, 1 of them already known\n$/
      )
      assert.strictEqual(code, 3)
    }).pipe(Effect.scoped, Effect.provide(TenantLive)))

  it.live("reads ids from standard input and writes lines of JSON", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const { code, stderr, stdout } = yield* script("redeliverEvents", ["--json", ...args(path)], {}, (child) =>
        void child.stdin?.end(`${first.id}\n`))
      const [result, summary] = stdout.trim().split("\n").map((line) =>
        JSON.parse(line) as unknown
      )
      assert.deepStrictEqual(result, { id: first.id, recalled: false, outcome: "accepted" })
      assert.deepInclude(summary, { done: 1, accepted: 1, stopped: false })
      assert.deepStrictEqual([code, stderr], [0, ""])
    }).pipe(Effect.scoped, Effect.provide(TenantLive)))

  it.live("reports the reasons of failures, and writes only JSON to standard output", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const file = join(path, "ids")
      writeFileSync(file, `${first.id}\n${second.id}\n`)
      const { injectFault } = yield* Tenant.Tenant
      yield* injectFault({ operation: "redeliverEvent", status: 422, times: 4 })
      const asText = yield* script("redeliverEvents", ["--file", file, ...args(path)])
      assert.match(asText.stdout, /^failed {2}2 .*\n2 events in .*\n2 × failed: .*422.*\n$/)
      const asJson = yield* script("redeliverEvents", ["--json", "--stop-after", "2", "--file", file, ...args(path)])
      const lines = asJson.stdout.trim().split("\n").map((line) => JSON.parse(line) as { readonly done?: number })
      assert.deepStrictEqual(lines.map(({ done }) => done), [undefined, undefined, 2])
      assert.deepStrictEqual([asText.code, asJson.code], [3, 3])
    }).pipe(Effect.scoped, Effect.provide(TenantLive)))

  it.live("ends with the reason if the client is refused, and can be run again with the right secret", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const file = join(path, "ids")
      writeFileSync(file, `${first.id}\n${second.id}\n`)
      const wrong = { IDENTITY_CLIENT_SECRET: "wrong-secret" }
      const asText = yield* script("redeliverEvents", ["--file", file, ...args(path)], wrong)
      assert.strictEqual(asText.stdout, "")
      assert.match(
        asText.stderr,
        /Run the same command to resume; .*\nRunError: the service accepts no call of this run: .*401/
      )
      const asJson = yield* script("redeliverEvents", ["--json", "--file", file, ...args(path)], wrong)
      assert.deepInclude(JSON.parse(asJson.stdout), { done: 0, failed: 0 })
      assert.deepStrictEqual([asText.code, asJson.code], [1, 1])
      const { code, stdout } = yield* script("redeliverEvents", ["--file", file, ...args(path)])
      assert.match(stdout, /^accepted {2}2 /)
      assert.strictEqual(code, 0)
    }).pipe(Effect.scoped, Effect.provide(TenantLive)))

  it.live("exits with code 130 on Ctrl-C, keeps results in the journal, and explains how to resume", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const interrupted = yield* script("redeliverEvents", ["--json", ...args(path)], {}, (child) => {
        child.stdin?.write(`${first.id}\n`) // and leaves the input open
        child.stdout?.once("data", () => void child.kill("SIGINT"))
      })
      assert.strictEqual(interrupted.code, 130)
      assert.match(interrupted.stderr, /^Waiting up to 5 s for running calls/)
      assert.include(interrupted.stderr, `Run the same command to resume; the journal is ${join(path, "journal")}`)
      assert.lengthOf(readdirSync(join(path, "journal")), 2)
      const resumed = yield* script(
        "redeliverEvents",
        args(path),
        {},
        (child) => void child.stdin?.end(`${first.id}\n${second.id}\n`)
      )
      assert.match(resumed.stdout, /^accepted {2}2 .*\n2 events in .*, 1 of them already known\n$/)
      assert.strictEqual(resumed.code, 0)
      const { requests } = yield* Tenant.Tenant
      assert.deepStrictEqual(
        (yield* requests).flatMap(({ operation, path }) =>
          operation === "redeliverEvent" ? [path.split("/").at(-1)] : []
        ),
        [first.id, second.id]
      )
    }).pipe(Effect.scoped, Effect.provide(TenantLive)))

  it.live("--help explains options and exit codes", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* script("redeliverEvents", ["--help"])
      for (const text of ["--journal", "--repeat-unknown", "--dry-run", "Exit code 3", "Exit code 130"]) {
        assert.include(stdout, text)
      }
      assert.strictEqual(code, 0)
    }).pipe(Effect.provide(TenantLive)))
})

describe("the ceiling", () => {
  it.live("lets five calls start in each second", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* script("ceiling", [])
      assert.match(stdout, /^second 1: 5 calls\nsecond 2: 5 calls\nsecond 3: 2 calls\n$/)
      assert.strictEqual(code, 0)
    }).pipe(Effect.provide(TenantLive)), 30_000)
})

describe("the traced tour", () => {
  const normal = (text: string) =>
    new Set(
      text.split("\n")
        .filter((line) => !/^\s*·|^\[|^ {2}(attempt|operation):/.test(line))
        .map((line) => line.replace(/ +[\d.]+ ms/, "").replace(/ +\d+( ×)?$/, "").trimEnd())
    )

  it.live("prints the spans and metrics that the guide shows, in 80 columns", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* script("traced", [])
      assert.strictEqual(code, 0)
      const [, shown = ""] = /```\n([^`]*^Spans\n[^`]*)```/m.exec(guide("telemetry")) ?? []
      const lines = normal(stdout.trimEnd())
      assert.isAbove(lines.size, 30)
      assert.deepStrictEqual([...lines].sort(), [...normal(shown.trimEnd())].sort())
      for (const line of stdout.split("\n")) assert.isAtMost(line.length, 80, line)
      // Events of a span are in order.
      assert.match(stdout, / 429\n +· identity\.backoff /)
    }).pipe(Effect.provide(TenantLive)), 30_000)

  it.live("exports to the endpoint of the standard variable", () =>
    Effect.gen(function*() {
      const otlp = yield* receiver
      const { code } = yield* script("traced", [], { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url })
      assert.strictEqual(code, 0)
      assert.includeMembers(otlp.spans().map(({ name }) => name), ["identity.token", "identity.deleteEventStream"])
      assert.include(otlp.text(), "identity.call.duration")
    }).pipe(Effect.scoped, Effect.provide(TenantLive)), 30_000)
})
