import { HttpServer } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Redacted } from "effect"
import { execFile } from "node:child_process"
import { TenantLive, tour } from "../examples/tour.js"
import * as Tenant from "../src/Tenant.js"

const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo

/** Runs an effect and gives what it wrote to the console, in lines. */
const printed = <E, R>(effect: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const real = yield* Effect.console
    const log = (...args: ReadonlyArray<unknown>) => Effect.sync(() => void lines.push(...args.join(" ").split("\n")))
    yield* Effect.withConsole(effect, { ...real, log } satisfies Console.Console)
    return lines
  })

describe("the tour", () => {
  it.live("prints no id that the tenant has not received or given", () =>
    Effect.gen(function*() {
      const lines = yield* printed(tour)
      const { requests, state } = yield* Tenant.Tenant
      const known = JSON.stringify([(yield* requests).map(({ body, path }) => [path, body]), (yield* state).jobs])
      const ids = lines.join("\n").match(/\b(?:job|con|tep|est|evt)_\w+/g) ?? []
      assert.includeMembers([...new Set(ids)].map((id) => id.slice(0, 4)), ["job_", "tep_", "est_", "evt_"])
      for (const id of ids) assert.include(known, id)
    }).pipe(Effect.provide(TenantLive)))

  it.live("shows success, 403, 409 and a 429 that is waited for, each as the tenant answered it", () =>
    Effect.gen(function*() {
      const lines = yield* printed(tour)
      const { requests } = yield* Tenant.Tenant
      const shown = lines.flatMap((line) => /^ {5}(\d{3}) (\w+) /.exec(line)?.slice(1, 3).join(" ") ?? [])
      const answered = (yield* requests).map(({ method, status }) => `${status} ${method}`)
      assert.deepStrictEqual(shown, answered)
      for (const status of [200, 202, 204, 403, 409]) {
        assert.isTrue(answered.some((line) => line.startsWith(`${status}`)))
      }
      assert.strictEqual(answered[answered.indexOf("429 PATCH") + 1], "200 PATCH")
    }).pipe(Effect.provide(TenantLive)))

  it.live("fits 80 columns and writes no colours where there is no terminal", () =>
    Effect.gen(function*() {
      for (const line of yield* printed(tour)) {
        assert.isAtMost(line.length, 80, line)
        assert.notInclude(line, "\u001b")
      }
    }).pipe(Effect.provide(TenantLive)))
})

/** Runs a script of examples/ as a user would, against a tenant on a socket. */
const script = (name: string, args: ReadonlyArray<string>, variables: Record<string, string> = {}) =>
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
        { env, timeout: 15_000 },
        (_error, stdout, stderr) => resume(Effect.succeed({ code: child.exitCode ?? -1, stdout, stderr }))
      )
    })
  )

const scripts = {
  createUsersExport: [
    ["--connection", connection.id, "--format", "csv", "--field", "email=E-mail"],
    /^job job_\w+ is pending$/m
  ],
  updateTokenExchangeProfile: [
    [profile.id, "--name", "Renamed"],
    new RegExp(`^profile ${profile.id} is updated: Renamed$`, "m")
  ],
  listActionVersions: [[action.id, "--per-page", "2"], /^page 0: 2 of 3 versions\n#3 {2}built /],
  redeliverEvent: [[stream.id, stream.events[0].id], /is accepted for redelivery$/m],
  deleteEventStream: [[stream.id], new RegExp(`^event stream ${stream.id} is deleted$`, "m")]
} as const

describe("the scripts", () => {
  for (const [name, [args, output]] of Object.entries(scripts)) {
    it.live(`${name} does its work against a tenant`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* script(name, args)
        assert.strictEqual(stderr, "")
        assert.match(stdout, output)
        assert.strictEqual(code, 0)
        const { requests } = yield* Tenant.Tenant
        assert.deepStrictEqual((yield* requests).map(({ operation }) => operation), ["token", name])
      }).pipe(Effect.provide(TenantLive)))
  }

  it.live("a failure is one line on standard error, without a stack, and exit code 1", () =>
    Effect.gen(function*() {
      const wrongSecret = yield* script("deleteEventStream", [stream.id], { IDENTITY_CLIENT_SECRET: "wrong-secret" })
      assert.match(wrongSecret.stderr, /^TokenError: .*401.*\n$/)
      assert.notInclude(wrongSecret.stderr, "wrong-secret")
      const noVariable = yield* script("deleteEventStream", [stream.id], { IDENTITY_BASE_URL: "" })
      assert.include(noVariable.stderr, "IDENTITY_BASE_URL")
      const noService = yield* script("deleteEventStream", [stream.id], { IDENTITY_AUTH_URL: "http://127.0.0.1:1" })
      assert.match(noService.stderr, /^TokenError: .*ECONNREFUSED.*\n$/)
      const badArgument = yield* script("createUsersExport", ["--limit", "none"])
      assert.strictEqual(badArgument.stderr, "InvalidInput: limit: expected an integer of at least 1\n")
      const noArgument = yield* script("redeliverEvent", [stream.id])
      assert.match(noArgument.stderr, /usage: redeliverEvent STREAM_ID EVENT_ID/)
      for (const { code, stderr, stdout } of [wrongSecret, noVariable, noService, badArgument, noArgument]) {
        assert.strictEqual(code, 1)
        assert.strictEqual(stdout, "")
        assert.notMatch(stderr, /^ {4}at /m)
      }
    }).pipe(Effect.provide(TenantLive)))
})
