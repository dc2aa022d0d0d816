/** Tests of `tenant`: the lines for requests, the seeds that it refuses, and ports that cannot be used. */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "node:http"
import { Server } from "node:net"
import { runAlone } from "./support/run.js"

interface Request {
  readonly method?: string
  readonly path: string
  /** The status of a fault that is set before. */
  readonly fault?: number
}

/** Serves a tenant, sends requests, and gives the lines for them. */
const linesFor = (
  requests: ReadonlyArray<Request>,
  settings: { readonly columns?: number; readonly json?: boolean }
) => {
  const { columns, json = false } = settings
  const send = async (stdout: string) => {
    const [, origin = ""] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(stdout) ?? []
    const [, key = ""] = /IDENTITY_CONTROL_KEY"?[:=]"?(\w+)/.exec(stdout) ?? []
    for (const { fault, method = "GET", path } of requests) {
      if (fault !== undefined) {
        await fetch(`${origin}/_tenant/faults`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-tenant-key": key },
          body: JSON.stringify({ status: fault })
        })
      }
      await (await fetch(`${origin}${path}`, { method })).arrayBuffer()
    }
  }
  return Effect.map(
    runAlone(["tenant", "--port", "0", ...(json ? ["--json"] : [])], {
      ...(columns !== undefined && { columns }),
      interruptAfter: "IDENTITY_CONTROL_KEY",
      beforeInterrupt: (stdout) => Effect.promise(() => send(stdout))
    }),
    ({ code, stderr, stdout }) => {
      assert.deepStrictEqual([code, stderr], [130, ""])
      const lines = stdout.trimEnd().split("\n")
      return lines.slice(json ? 1 : lines.findIndex((line) => line.includes("Press Ctrl-C to stop.")) + 1)
    }
  )
}

/** The status of a request to the control interface; its header `host` may be any. */
const statusOf = (port: number, headers: Readonly<Record<string, string>>) =>
  new Promise<number | undefined>((resolve, reject) =>
    request({ port, host: "127.0.0.1", path: "/_tenant/state", headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode))
    }).on("error", reject).end()
  )

const api = "/api/v2/jobs/job_1?x=%0A"

describe("a line for a request", () => {
  it.live("has its status in green, or yellow from 400 on, or red from 500 on", () =>
    Effect.gen(function*() {
      const requests = [
        { path: "/openapi.json" },
        { path: api, fault: 399 },
        { path: api, fault: 400 },
        { path: api, fault: 499 },
        { path: api, fault: 500 }
      ]
      assert.deepStrictEqual(yield* linesFor(requests, { columns: 80 }), [
        "\u001b[32m200\u001b[0m GET    /openapi.json",
        `\u001b[32m399\u001b[0m GET    ${api}`,
        `\u001b[33m400\u001b[0m GET    ${api}`,
        `\u001b[33m499\u001b[0m GET    ${api}`,
        `\u001b[31m500\u001b[0m GET    ${api}`
      ])
    }))

  it.live("is one of JSON with --json", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* linesFor([{ path: api, method: "DELETE", fault: 503 }], { json: true }), [
        `{"method":"DELETE","url":"${api}","status":503}`
      ])
    }))

  it.live("is printed for a path that only begins or ends like one of the pages", () =>
    Effect.gen(function*() {
      const lines = yield* linesFor([
        { method: "DELETE", path: "/" },
        { path: "/docs/page" },
        { path: "/page" },
        { path: "/_tenants" },
        { path: "/x?/_tenant/" }
      ], {})
      assert.deepStrictEqual(lines.map((line) => line.replace(/^\d+ /, "")), [
        "DELETE /",
        "GET    /docs/page",
        "GET    /page",
        "GET    /_tenants",
        "GET    /x?/_tenant/"
      ])
    }))

  const silent: ReadonlyArray<readonly [what: string, requests: ReadonlyArray<Request>]> = [
    ["the live page", [{ path: "/" }, { path: "/?page" }]],
    ["the page of operations", [{ path: "/docs" }, { path: "/docs?page" }, { method: "HEAD", path: "/docs" }]],
    ["the control interface", [
      ...["/_tenant", "/_tenant?x", "/_tenant/state", "/_tenant/nowhere"].map((path) => ({ path })),
      { method: "DELETE", path: "/_tenant/nowhere" }
    ]]
  ]
  for (const [what, requests] of silent) {
    it.live(`is not printed for ${what}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* linesFor(requests, {}), [])
      }))
  }
})

/** Serves a seed until it listens. */
const withSeed = (seed: unknown) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const file = join(yield* fs.makeTempDirectoryScoped(), "seed.json")
    yield* fs.writeFileString(file, JSON.stringify(seed))
    const { code, stderr } = yield* runAlone(["tenant", "--port", "0", "--seed", file], {
      interruptAfter: "IDENTITY_CONTROL_KEY"
    })
    return { code, stderr: stderr.replaceAll(file, "FILE") }
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

describe("a seed", () => {
  it.live("is served if its items have the fields that the tenant needs, and any others", () =>
    Effect.gen(function*() {
      const seed = {
        connections: [{ id: "con_1", name: "one", strategy: "other" }],
        jobs: [{ id: "job_1", type: "users_export", status: "failed", created_at: "2026-01-31T22:00:00.000Z" }],
        profiles: [{ id: "tep_1", more: [] }],
        actions: [{ id: "a", versions: [{ id: "v1", more: {} }] }],
        streams: [{ id: "est_1", events: [{ id: "evt_1", state: "queued", more: 1 }] }]
      }
      assert.deepStrictEqual(yield* withSeed(seed), { code: 130, stderr: "" })
    }))

  const refused: ReadonlyArray<readonly [item: string, field: string, seed: unknown]> = [
    ["a connection", "name", { connections: [{ id: "con_1" }] }],
    ["a job", "id", { jobs: [{}] }],
    ["a profile", "id", { profiles: [{ name: "one" }] }],
    ["an action", "versions", { actions: [{ id: "a" }] }],
    ["a stream", "events", { streams: [{ id: "est_1" }] }],
    ["an event", "state", { streams: [{ id: "est_1", events: [{ id: "evt_1" }] }] }]
  ]
  for (const [item, field, seed] of refused) {
    it.live(`is refused if ${item} has no ${field}, with exit code 2`, () =>
      Effect.gen(function*() {
        const { code, stderr } = yield* withSeed(seed)
        assert.strictEqual(code, 2)
        assert.match(stderr, new RegExp(`^FILE is not a seed: \\w+\\[0\\]\\S*\\.${field}: is missing\n`))
      }))
  }
})

it.live("a seed is refused with all that is wrong with it", () =>
  Effect.gen(function*() {
    const { stderr } = yield* withSeed({ jobs: [{}], streams: [{ id: "est_1" }], more: 1 })
    const [line = ""] = stderr.split("\n")
    const [, ...places] = line.split(/: |, /)
    assert.sameMembers(places, [
      "more",
      "unknown field",
      "jobs[0].id",
      "is missing",
      "streams[0].events",
      "is missing"
    ])
  }))

describe("a port", () => {
  for (const port of ["-1", "65536"]) {
    it.live(`is refused with exit code 2: ${port}`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* runAlone(["tenant", `--port=${port}`])
        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.match(
          stderr,
          new RegExp(
            `^${port} is not a port: expected a number from 0 to 65535\\.\n\nUsage: effect-identity-client tenant`
          )
        )
      }))
  }

  /** Lets each server fail to listen, for the time of a test. */
  const failing = (error: Error) =>
    Effect.acquireRelease(
      Effect.sync(() =>
        vi.spyOn(Server.prototype, "listen").mockImplementation(function(this: Server) {
          this.emit("error", error)
          return this
        })
      ),
      (spy) => Effect.sync(() => spy.mockRestore())
    )

  const failures = [
    ["0", Object.assign(new Error("no"), { code: "EACCES" }), "cannot be used (EACCES)", "8788"],
    ["443", Object.assign(new Error("no"), { code: "EACCES" }), "cannot be used (EACCES)", "8788"],
    ["65535", Object.assign(new Error("no"), { code: "EADDRINUSE" }), "is already in use", "8788"],
    ["8787", new Error("no"), "cannot be used (unknown error)", "8788"],
    ["8787", Object.assign(new Error("no"), { code: "EADDRINUSE" }), "is already in use", "8788"]
  ] as const
  for (const [port, error, reason, other] of failures) {
    it.scopedLive(`is named with another one to choose: ${port} ${reason}`, () =>
      Effect.gen(function*() {
        yield* failing(error)
        assert.deepStrictEqual(yield* runAlone(["tenant", "--port", port]), {
          code: 1,
          stdout: "",
          stderr: `Port ${port} ${reason}. Choose another, for example: --port ${other}\n`
        })
      }))
  }
})

describe("a host", () => {
  /** Serves a tenant, and gives the status of a request for a host, and what was written. */
  const served = (options: ReadonlyArray<string>, host: string) =>
    Effect.gen(function*() {
      let status: number | undefined
      const { code, stderr, stdout } = yield* runAlone(["tenant", "--port", "0", ...options], {
        interruptAfter: "IDENTITY_CONTROL_KEY",
        beforeInterrupt: (stdout) =>
          Effect.promise(async () => {
            const [, port = ""] = /http:\/\/\S+?:(\d+)\n/.exec(stdout) ?? []
            const [, key = ""] = /IDENTITY_CONTROL_KEY=(\w+)/.exec(stdout) ?? []
            status = await statusOf(Number(port), { host, "x-tenant-key": key, "x-forwarded-for": "192.0.2.1" })
          })
      })
      assert.strictEqual(code, 130)
      return { status, stderr, origin: /listens at (\S+):\d+/.exec(stdout)?.[1] }
    })

  it.live("that others reach is served with a warning: this machine, addresses, and the names that are allowed", () =>
    Effect.gen(function*() {
      const open = ["--host", "0.0.0.0", "--allowed-host", "tenant"]
      for (
        const [host, status] of [["localhost", 200], ["192.0.2.7:80", 200], ["TENANT:8787", 200], [
          "other",
          421
        ]] as const
      ) {
        const result = yield* served(open, host)
        assert.deepStrictEqual([host, result.status, result.origin], [host, status, "http://127.0.0.1"])
        assert.include(result.stderr, "Warning: other machines can reach this tenant")
      }
    }))

  it.live("is this machine by default, without a warning; a proxy in front is listed", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* served([], "tenant"), { status: 421, stderr: "", origin: "http://127.0.0.1" })
      assert.strictEqual((yield* served([], "localhost")).status, 403)
      const listed = yield* served(["--allowed-host", "tenant.example.com"], "tenant.example.com")
      assert.deepStrictEqual([listed.status, listed.stderr], [200, ""])
    }))

  it.live("that this machine does not have is named", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* runAlone(["tenant", "--port", "0", "--host", "192.0.2.7"]), {
        code: 1,
        stdout: "",
        stderr:
          "Warning: other machines can reach this tenant, and the secrets of its clients are public. Keep nothing real in it.\n" +
          "192.0.2.7 is no address of this machine. Use 127.0.0.1, or 0.0.0.0 for all of its addresses.\n"
      })
    }))

  it.live("and an origin are refused with exit code 2 if they are none", () =>
    Effect.gen(function*() {
      for (const value of ["http://tenant", "tenant:80", "*", "a b"]) {
        const { code, stderr } = yield* runAlone(["tenant", "--allowed-host", value])
        assert.deepStrictEqual([code, stderr.includes("--allowed-host must be a name")], [2, true], value)
      }
      for (const value of ["files.test", "https://files.test/x", "ftp://files.test"]) {
        const { code, stderr } = yield* runAlone(["tenant", `--export-origin=${value}`])
        assert.deepStrictEqual([code, stderr.includes("--export-origin must be an origin")], [2, true], value)
      }
    }))
})
