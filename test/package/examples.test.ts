/** Tests of the programs in `examples`, run as users run them. */
import { HttpServer } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { type Console, Effect, Redacted } from "effect"
import { type ChildProcess, execFile } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TenantLive, tour } from "../../examples/tour.js"
import { redeliverFailed } from "../../examples/tour/jobs.js"
import { clientOf } from "../../examples/tour/step.js"
import * as Tenant from "../../src/Tenant.js"
import { bundledExample } from "../support/bundledExample.js"
import { guide, page } from "../support/documentation.js"
import { receiver } from "../support/otlp.js"

const { demo } = Tenant
const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = demo

/** Runs an effect. Returns the lines that it wrote to the console. */
const consoleLines = <E, R>(effect: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const real = yield* Effect.console
    const log = (...args: ReadonlyArray<unknown>) => Effect.sync(() => void lines.push(...args.join(" ").split("\n")))
    yield* Effect.withConsole(effect, { ...real, log } satisfies Console.Console)
    return lines
  })

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "script-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

/** The folders of the tour in a folder; others are caches of the compiler. */
const folders = (path: string) => readdirSync(path).filter((name) => name.startsWith("identity-tour-"))

/** One run of the tour: what it printed, and what its tenant saw. */
const ranTour = Effect.runSync(Effect.cached(
  Effect.gen(function*() {
    const lines = yield* consoleLines(tour)
    const { requests, state } = yield* Tenant.Tenant
    return { lines, requests: yield* requests, state: yield* state }
  }).pipe(Effect.provide(TenantLive))
))

/** A line that Effect's logger has written: its width is that of Effect. */
const isLog = (line: string): boolean => line.startsWith("[")

/** The file that an export of the connection's users makes. */
const exported = demo.users
  .filter(({ identities = [] }) => identities.some((identity) => identity.connection === connection.name))
  .map(({ email, name }) => `${JSON.stringify({ email, name })}\n`)

describe("the tour", () => {
  it.live(
    "exports all users of the connection into a file, over the percentages of the job",
    () =>
      Effect.gen(function*() {
        const { lines, requests } = yield* ranTour
        const [, ...story] = lines.slice(lines.findIndex((line) => line.startsWith("1. ")))
        const progress = story.filter((line) => /^ {5}job_\w+: \d+ %, \d+ rows$/.test(line))
        assert.match(progress[0] ?? "", /: 0 %, 0 rows$/)
        assert.match(progress.at(-1) ?? "", new RegExp(`: 100 %, ${exported.length} rows$`))
        const size = Buffer.byteLength(exported.join(""))
        const at = story.indexOf(`   ✓ users.json has ${exported.length} rows and ${size} bytes. It begins with:`)
        assert.strictEqual(at, progress.length)
        assert.deepStrictEqual(
          story.slice(at + 1, at + 3),
          exported.slice(0, 2).map((line) => `     ${line.trimEnd()}`)
        )
        assert.isAbove(exported.length, 2)
        assert.deepStrictEqual(
          requests.flatMap(({ operation, status }) =>
            operation === "exportFile" ? status : operation === "getJob" ? "job" : []
          ).slice(-2),
          ["job", 206]
        )
      }),
    30_000
  )

  it.live("redelivers each failed delivery once, and lists that each is retried", () =>
    Effect.gen(function*() {
      const { lines, requests } = yield* ranTour
      const failed = stream.events.filter(({ state }) => state === "failed")
      assert.isAbove(failed.length, 1)
      for (const { id } of failed) {
        assert.isTrue(lines.some((line) => line.startsWith(`   ✗ ${id}, `)), id)
        assert.include(lines, `   ✓ ${id}: accepted`)
        const sent = requests.filter(({ operation, path }) => operation === "redeliverEvent" && path.endsWith(id))
        assert.strictEqual(sent[0]?.status, 202)
      }
      assert.include(lines, `   ✓ ${failed.length} of ${failed.length} accepted, ${failed.length} are being retried`)
      const calls = requests.flatMap(({ operation = "", status }) =>
        /deliver/i.test(operation) ? `${operation} ${status}` : []
      )
      assert.deepStrictEqual(calls, [
        // The second page of each list is empty.
        "listDeliveries 200",
        "listDeliveries 200",
        ...failed.map(() => "redeliverEvent 202"),
        "listDeliveries 200",
        "listDeliveries 200",
        "redeliverEvent 409"
      ])
    }), 30_000)

  it.live("says so if a delivery is not retried", () =>
    Effect.gen(function*() {
      const { injectFault } = yield* Tenant.Tenant
      yield* injectFault({ operation: "redeliverEvent", status: 400 })
      const lines = yield* consoleLines(Effect.provide(redeliverFailed, clientOf(Tenant.demoClients.full)))
      assert.lengthOf(lines.filter((line) => /^ {3}✗ evt_\w+: failed$/.test(line)), 1)
      assert.include(lines, "   ✗ 1 of 2 accepted, 1 are being retried")
    }).pipe(Effect.provide(TenantLive)))

  it.live("prints only ids that the tenant has received or sent", () =>
    Effect.gen(function*() {
      const { lines, requests, state } = yield* ranTour
      const known = JSON.stringify([requests.map(({ body, path }) => [path, body]), state.jobs])
      const ids = lines.join("\n").match(/\b(?:job|con|tep|est|evt)_\w+/g) ?? []
      assert.includeMembers([...new Set(ids)].map((id) => id.slice(0, 4)), ["job_", "tep_", "est_", "evt_"])
      for (const id of ids) assert.include(known, id)
    }), 30_000)

  it.live("shows success, 403, 409 and a retried 429, with the tenant's statuses", () =>
    Effect.gen(function*() {
      const { lines, requests } = yield* ranTour
      const shown = lines.flatMap((line) => {
        const [, request, times = "1"] = /^ {5}(\d{3} \w+) \/\S+?(?:, (\d+) times)?$/.exec(line) ?? []
        return request === undefined ? [] : Array.from({ length: Number(times) }, () => request)
      })
      const responses = requests.map(({ method, status }) => `${status} ${method}`)
      assert.deepStrictEqual(shown, responses)
      for (const status of [200, 202, 204, 206, 403, 409]) {
        assert.isTrue(responses.some((line) => line.startsWith(`${status}`)))
      }
      assert.strictEqual(responses[responses.indexOf("429 PATCH") + 1], "200 PATCH")
      assert.match(lines.join("\n"), new RegExp(`\nDone: ${responses.length} requests in \\d+\\.\\d s, `))
    }), 30_000)

  it.live("fits 80 columns and writes no colours without a terminal", () =>
    Effect.gen(function*() {
      for (const line of (yield* ranTour).lines) {
        if (!isLog(line)) assert.isAtMost(line.length, 80, line)
        assert.notInclude(line, "\u001b")
      }
    }), 30_000)

  it.live("ends after Ctrl-C, without an error and without its folder", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const { code, stderr, stdout } = yield* script("tour", [], { TMPDIR: folder }, (child) => {
        child.stdout?.on("data", (text: string) => {
          if (!text.includes(" 0 %, 0 rows")) return
          assert.lengthOf(folders(folder), 1)
          child.kill("SIGINT")
        })
      })
      assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" })
      assert.notInclude(stdout, "2. ")
      assert.deepStrictEqual(folders(folder), [])
    }).pipe(Effect.scoped, Effect.provide(TenantLive)), 30_000)
})

/** Runs a script of `examples` as a process, against a tenant on a socket. */
const script = (
  name: string,
  args: ReadonlyArray<string>,
  variables: Record<string, string> = {},
  attend: (child: ChildProcess) => void = (child) => void child.stdin?.end()
) =>
  Effect.flatMap(
    Effect.promise(() => bundledExample(name)),
    (program) =>
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
            [program, ...args],
            { env, timeout: 120_000 },
            (_error, stdout, stderr) => resume(Effect.succeed({ code: child.exitCode ?? -1, stdout, stderr }))
          )
          attend(child)
        })
      )
  )

const scripts = {
  firstCall: ["listActionVersions", [action.id], /^3 versions, live: 3\n$/],
  updateTokenExchangeProfile: [
    "updateTokenExchangeProfile",
    [profile.id, "--name", "Renamed"],
    new RegExp(`^profile ${profile.id} is updated: Renamed$`, "m")
  ],
  actionHistory: ["listActionVersions", [action.id], /^#3 of 2023-03-02T\S+, live\n#2 of \S+\n#1 of \S+\n$/],
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
      /^TokenError: .*401/m
    ],
    ["a missing variable", "deleteEventStream", [stream.id], { IDENTITY_BASE_URL: "" }, /IDENTITY_BASE_URL/],
    [
      "a refused connection",
      "deleteEventStream",
      [stream.id],
      { IDENTITY_AUTH_URL: "http://127.0.0.1:1" },
      /^TokenError: .*ECONNREFUSED/m
    ],
    [
      "a bad value",
      "exportUsers",
      ["--limit", "0"],
      {},
      /^InvalidInput: createUsersExport: limit: expected an integer of at least 1$/m
    ],
    [
      "an unknown format",
      "exportUsers",
      ["--format", "xml"],
      {},
      /^InvalidInput: exportUsers: format: expected csv or json$/m
    ],
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
        /^\S+ WARN \(#\d+\): the token endpoint refused key 1 of 2; it accepts key 2\n? +(?:operation: token|\{ operation: 'token' \})\n3 versions, without a secret\n$/
      )
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

describe("actionHistory", () => {
  it.live("names the parts that a rollback would change, and deploys nothing without --yes", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* script("actionHistory", [action.id, "--rollback", "1"])
      assert.deepStrictEqual(
        [code, stdout],
        [0, "changes: code, dependencies, secrets\nnothing was deployed: add --yes\n"]
      )
      const same = yield* script("actionHistory", [action.id, "--rollback", "3", "--yes"])
      assert.strictEqual(same.stdout, "#3 is live already\n")
    }).pipe(Effect.provide(TenantLive)))
})

describe("exportUsers", () => {
  const calls = Effect.flatMap(
    Tenant.Tenant,
    ({ requests }) => Effect.map(requests, (all) => all.map(({ operation }) => operation))
  )

  it.live("writes a file, prints its progress and its size, and overwrites nothing", () =>
    Effect.gen(function*() {
      const output = join(yield* directory, "users.csv")
      const args = ["--connection", connection.id, "--format", "csv", "--limit", "3", "--output", output]
      const { code, stderr, stdout } = yield* script("exportUsers", args)
      const text = readFileSync(output, "utf8")
      assert.match(text, /^"E-mail","name"\n(?:"'user\d+@example\.com","'User \d+"\n){3}$/)
      assert.deepStrictEqual([code, stdout], [0, `${output}: 3 rows, ${Buffer.byteLength(text)} bytes\n`])
      assert.match(stderr, /^(?:\d+ %, \d rows\n)+$/)
      const done = yield* calls
      assert.deepStrictEqual(done.filter((name) => name !== "getJob"), ["token", "createUsersExport", "exportFile"])

      const again = yield* script("exportUsers", args)
      assert.deepStrictEqual([again.code, again.stdout], [1, ""])
      assert.match(again.stderr, /^ExportError: the file is there already/)
      assert.deepStrictEqual(yield* calls, done)
    }).pipe(Effect.scoped, Effect.provide(TenantLive)), 30_000)

  it.live("says after Ctrl-C how to go on, and then goes on with the same job", () =>
    Effect.gen(function*() {
      const output = join(yield* directory, "users.json")
      const args = ["--connection", connection.id, "--output", output]
      const first = yield* script("exportUsers", args, {}, (child) =>
        void child.stderr?.once("data", () => {
          child.kill("SIGINT")
        }))
      assert.deepStrictEqual([first.code, first.stdout], [130, ""])
      assert.match(first.stderr, /^Interrupted\. Run the same command again: it goes on with the same job\.$/m)
      assert.isFalse(existsSync(output))

      const second = yield* script("exportUsers", args)
      assert.deepStrictEqual([second.code, second.stdout.split(":").at(-1)?.split(",")[0]], [
        0,
        ` ${exported.length} rows`
      ])
      assert.lengthOf(readFileSync(output, "utf8").trimEnd().split("\n"), exported.length)
      assert.lengthOf((yield* calls).filter((name) => name === "createUsersExport"), 1)
    }).pipe(Effect.scoped, Effect.provide(TenantLive)), 30_000)
})

describe("warnings of the library", () => {
  it.live("are on the standard error output of a script, in front of its failure: the runbook stands on them", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* script("deleteEventStream", [stream.id], {
        IDENTITY_CLIENT_SECRET: "wrong-secret"
      })
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /WARN[^]*could not obtain a token[^]*\nTokenError: /)
      assert.include(guide("runbook"), "`could not obtain a token…`")
    }).pipe(Effect.provide(TenantLive)))
})

describe("redeliverEvents", () => {
  it.live("ends with exit code 1 and a summary if an event may not have been redelivered", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const [first, second] = stream.events
      writeFileSync(join(path, "ids"), `${first.id}\n${second.id}\nnonsense\n`)
      const { injectFault } = yield* Tenant.Tenant
      yield* injectFault({ operation: "redeliverEvent", status: 503 })
      const { code, stderr, stdout } = yield* script("redeliverEvents", [
        stream.id,
        join(path, "ids"),
        join(path, "journal")
      ])
      assert.strictEqual(code, 1)
      assert.match(stdout, /^nonsense: invalid/m)
      assert.match(stdout, /^evt_\w+: unknown, /m)
      assert.match(stderr, /^NotAllRedelivered: 0 failed, 1 may have been accepted, 1 are not ids$/m)
    }).pipe(Effect.scoped, Effect.provide(TenantLive)))

  it.live("prints what became of each event, and sends none twice", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const [first, , queued] = stream.events
      writeFileSync(join(path, "ids"), `${first.id}\n${queued.id}\n`)
      const args = [stream.id, join(path, "ids"), join(path, "journal")]
      for (const _ of [1, 2]) {
        const { code, stdout } = yield* script("redeliverEvents", args)
        assert.strictEqual(code, 0)
        assert.sameMembers(stdout.trimEnd().split("\n"), [`${first.id}: accepted`, `${queued.id}: notFailed`])
      }
      const sent = (yield* (yield* Tenant.Tenant).requests).filter(({ operation }) => operation === "redeliverEvent")
      assert.lengthOf(sent, 2)
    }).pipe(Effect.scoped, Effect.provide(TenantLive)))
})

describe("tenant", () => {
  it.live("prints the settings for a client, and serves until it is killed", () =>
    Effect.gen(function*() {
      const { stdout } = yield* script("tenant", ["0"], {}, (child) =>
        void child.stdout?.once("data", () =>
          void child.kill("SIGINT")))
      assert.match(stdout, /^export IDENTITY_BASE_URL=http:\/\/127\.0\.0\.1:\d+\/api\/v2\n(?:export IDENTITY_.*\n){3}/)
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
      for (const line of stdout.split("\n")) if (!isLog(line)) assert.isAtMost(line.length, 80, line)
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
