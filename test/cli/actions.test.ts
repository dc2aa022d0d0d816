/** Tests `versions`, `diff` and `rollback` against a tenant on a socket. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
import { deployActionVersion } from "../../src/operations/deployActionVersion.js"
import { getAction } from "../../src/operations/getAction.js"
import { getActionVersion } from "../../src/operations/getActionVersion.js"
import type { ActionVersion } from "../../src/operations/listActionVersions.js"
import * as Tenant from "../../src/Tenant.js"
import { run } from "./support/run.js"

const { actions: [action] } = Tenant.demo

const TenantLive = Tenant.layerServer.pipe(
  Layer.provideMerge(Tenant.layerWith({ operations: [deployActionVersion, getAction, getActionVersion] })),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
)

const sent = Effect.flatMap(
  Tenant.Tenant,
  ({ requests }) => Effect.map(requests, (requests) => requests.flatMap(({ operation }) => operation ?? []))
)

describe("versions", () => {
  it.live("lists the versions, as a table or as lines of JSON, with the requests of one list", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["versions", action.id])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.match(
        stdout,
        /^# {2}status {2}deployed {2}runtime {2}built\n3 {2}built {3}yes {7}node22 .*Z\n(?:.*\n){2}$/
      )
      assert.deepStrictEqual(yield* sent, ["token", "listActionVersions"])
      const json = yield* run(["versions", action.id, "--json"])
      const numbers = json.stdout.trimEnd().split("\n").map((line) => (JSON.parse(line) as ActionVersion).number)
      assert.deepStrictEqual(numbers, [3, 2, 1])
    }).pipe(Effect.provide(TenantLive)))

  it.live("shows what a version lacks, and times without fractions of a second", () =>
    Effect.gen(function*() {
      const { seed } = yield* Tenant.Tenant
      const versions = [
        { id: "v3" },
        { id: "v2", number: 2, status: "built", deployed: true, runtime: "node22", built_at: "2026-01-31T22:00:00.5Z" },
        { id: "v1", number: 1, status: "failed", deployed: false, built_at: "2026-01-31T22:00:00.5Z[UTC]" }
      ]
      yield* seed({ actions: [{ id: "bare", versions }] })
      assert.deepStrictEqual(yield* run(["versions", "bare"]), {
        code: 0,
        stdout: [
          "#  status  deployed  runtime  built",
          "?                             not yet",
          "2  built   yes       node22   2026-01-31T22:00:00Z",
          "1  failed                     2026-01-31T22:00:00.5Z[UTC]",
          ""
        ].join("\n"),
        stderr: ""
      })
    }).pipe(Effect.provide(TenantLive)))

  it.live("shows a wrong secret as one sentence, without it", () =>
    Effect.gen(function*() {
      const variables = { IDENTITY_CLIENT_SECRET: "wrong-secret" }
      const { code, stderr, stdout } = yield* run(["versions", action.id], { variables })
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^TokenError: .*401.*\n$/)
      assert.notInclude(stderr, "wrong-secret")
    }).pipe(Effect.provide(TenantLive)))
})

describe("an action that does not exist", () => {
  for (const args of [["versions", "none"], ["diff", "none"], ["rollback", "none", "1"]]) {
    it.live(`has exit code 3: ${args.join(" ")}`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* run(args)
        assert.deepStrictEqual([code, stdout], [3, ""])
        assert.match(stderr, /^NotFound: listActionVersions: That action does not exist\.\n$/)
        assert.match((yield* run([...args, "--help"])).stdout, /^ {2}3 {4}no such action/m)
      }).pipe(Effect.provide(TenantLive)))
  }

  it.live("is not mixed up with a token endpoint that does not exist, which has exit code 1", () =>
    Effect.gen(function*() {
      const { injectFault } = yield* Tenant.Tenant
      yield* injectFault({ operation: "token", status: 404, times: 10 })
      const { code, stderr } = yield* run(["versions", action.id])
      assert.strictEqual(code, 1)
      assert.match(stderr, /^TokenError: .*404/)
    }).pipe(Effect.provide(TenantLive)))
})

describe("an empty id", () => {
  for (const args of [["versions", ""], ["diff", ""], ["rollback", "", "1"]]) {
    it.live(`is refused as ACTION by ${args[0]}, with exit code 2`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* run(args)
        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.match(stderr, new RegExp(`^ACTION: expected .*\n\nUsage: effect-identity-client ${args[0]} ACTION `))
        assert.deepStrictEqual(yield* sent, [])
      }).pipe(Effect.provide(TenantLive)))
  }
})

describe("diff", () => {
  it.live("shows code, dependencies and secrets, with colours on a terminal only", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* run(["diff", action.id, "1", "3"])
      assert.strictEqual(code, 0)
      for (const line of ["--- code of #1", "+++ code of #3", "+lodash@4.17.21", "+++ secrets of #3"]) {
        assert.include(stdout.split("\n"), line)
      }
      assert.notInclude(stdout, "\u001b")
      const coloured = yield* run(["diff", action.id, "1", "3"], { columns: 80 })
      assert.include(coloured.stdout, "\u001b[32m+lodash@4.17.21\u001b[0m\n")
    }).pipe(Effect.provide(TenantLive)))

  it.live("compares the deployed version with the one before it, or with the one that is named", () =>
    Effect.gen(function*() {
      assert.include((yield* run(["diff", action.id])).stdout, "--- code of #2\n+++ code of #3\n")
      assert.include((yield* run(["diff", action.id, "1"])).stdout, "--- code of #1\n+++ code of #3\n")
      assert.strictEqual(
        (yield* run(["diff", action.id, "2", "2"])).stdout,
        "Code, dependencies and secrets are the same.\n"
      )
      const { stdout } = yield* run(["diff", action.id, "2", "3", "--json"])
      const { changes, from, to } = JSON.parse(stdout) as { from: number; to: number; changes: Array<{ part: string }> }
      assert.deepStrictEqual([from, to, ...changes.map(({ part }) => part)], [2, 3, "code", "dependencies", "secrets"])
    }).pipe(Effect.provide(TenantLive)))

  it.live("keeps each character of the code, also those that look like a colour after a tab", () =>
    Effect.gen(function*() {
      const { seed } = yield* Tenant.Tenant
      const versions = ["", "const names = {\n\t[m]: 1\u009b1m\n}"].map((code, nth) => ({
        id: `v${nth}`,
        number: nth + 1,
        code
      }))
      yield* seed({ actions: [{ id: "tabs", versions }] })
      assert.include((yield* run(["diff", "tabs", "1", "2"])).stdout, "\n+\t[m]: 1\\u009b1m\n")
      const { stdout } = yield* run(["diff", "tabs", "1", "2", "--json"])
      assert.include(stdout, "\\n+\\t[m]: 1\\u009b1m\\n")
    }).pipe(Effect.provide(TenantLive)))

  it.live("names versions that do not exist, with exit code 3", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["diff", action.id, "8", "9"])
      assert.deepStrictEqual([code, stdout], [3, ""])
      assert.strictEqual(stderr, "This action has no version 8 and no version 9.\n")
      const { seed } = yield* Tenant.Tenant
      yield* seed({ actions: [{ id: "bare", versions: [{ id: "v", number: 1 }] }] })
      const bare = yield* run(["diff", "bare"])
      assert.deepStrictEqual([bare.code, bare.stderr], [
        3,
        "No version of this action is deployed: name two versions.\n"
      ])
    }).pipe(Effect.provide(TenantLive)))
})

/** Makes the tenant deploy: the new version is live at once, or never. */
const deploying = (isLive: boolean, made: ActionVersion = { id: "made", number: 4, status: "building" }) =>
  Effect.gen(function*() {
    const { respond } = yield* Tenant.Tenant
    yield* respond(deployActionVersion, () => Effect.succeed(made))
    yield* respond(getAction, () => Effect.succeed(isLive ? { deployed_version: made } : {}))
    yield* respond(getActionVersion, () => Effect.succeed(made))
  })

const deployments = Effect.map(sent, (sent) => sent.filter((name) => name === "deployActionVersion").length)

describe("rollback", () => {
  it.live("shows the changes, asks, deploys, and waits until the version is live", () =>
    Effect.gen(function*() {
      yield* deploying(true)
      const { code, stderr, stdout } = yield* run(["rollback", action.id, "2"], { reply: "y" })
      assert.match(stdout, /^--- code of #3\n\+\+\+ code of #2\n[^]*\nVersion 2 is live, as version 4\.\n$/)
      assert.strictEqual(stderr, "Deploy version 2? [y/N] version 4 is deployed; waiting until it is live\n")
      assert.deepStrictEqual([code, yield* deployments], [0, 1])
    }).pipe(Effect.provide(TenantLive)))

  it.live("deploys for the first time, also as a version whose number the service does not tell", () =>
    Effect.gen(function*() {
      const { seed } = yield* Tenant.Tenant
      yield* seed({ actions: [{ id: "new", versions: [{ id: "v1", number: 1 }] }] })
      yield* deploying(true, { id: "made" })
      assert.deepStrictEqual(yield* run(["rollback", "new", "1", "--yes"]), {
        code: 0,
        stdout: "No version is deployed.\nVersion 1 is live, as version ?.\n",
        stderr: "version ? is deployed; waiting until it is live\n"
      })
    }).pipe(Effect.provide(TenantLive)))

  it.live("deploys nothing without a yes", () =>
    Effect.gen(function*() {
      yield* deploying(true)
      const no = yield* run(["rollback", action.id, "2"], { reply: "" })
      assert.deepStrictEqual([no.code, no.stderr.endsWith("Nothing was deployed.\n")], [1, true])
      const quit = yield* run(["rollback", action.id, "2"], { reply: "^C" })
      assert.deepStrictEqual([quit.code, quit.stderr.includes("Interrupted. Nothing was deployed.")], [130, true])
      assert.strictEqual(yield* deployments, 0)
    }).pipe(Effect.provide(TenantLive)))

  it.live("refuses without a terminal and without --yes, with exit code 2", () =>
    Effect.gen(function*() {
      yield* deploying(true)
      const refused = yield* run(["rollback", action.id, "2"])
      assert.deepStrictEqual([refused.code, yield* deployments], [2, 0])
      assert.match(refused.stderr, /^Nobody can be asked without a terminal: check, and add --yes\.\n\nUsage: /)
      const { code, stdout } = yield* run(["rollback", action.id, "2", "--yes", "--json"])
      assert.deepStrictEqual([code, yield* deployments], [0, 1])
      assert.deepInclude(JSON.parse(stdout), { outcome: "live" })
    }).pipe(Effect.provide(TenantLive)))

  it.live("says so if the version is live already, or does not exist", () =>
    Effect.gen(function*() {
      const same = yield* run(["rollback", action.id, "3"])
      assert.deepStrictEqual([same.code, same.stdout], [0, "Version 3 is live already.\n"])
      const missing = yield* run(["rollback", action.id, "9"])
      assert.deepStrictEqual([missing.code, missing.stderr], [3, "This action has no version 9.\n"])
      assert.strictEqual(yield* deployments, 0)
    }).pipe(Effect.provide(TenantLive)))

  it.live("ends after --timeout if the version is not live", () =>
    Effect.gen(function*() {
      yield* deploying(false)
      const { code, stderr } = yield* run(["rollback", action.id, "2", "--yes", "--timeout", "0"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /\nDeploymentFailed: version 4 is deployed, but was not live in time\n$/)
    }).pipe(Effect.provide(TenantLive)))

  it.live("says that the service may have deployed it if it is interrupted before the response", () =>
    Effect.gen(function*() {
      const { injectFault, requests } = yield* Tenant.Tenant
      yield* deploying(true)
      yield* injectFault({ operation: "deployActionVersion", delay: "10 minutes" })
      const isSent = Effect.map(
        requests,
        (requests) => requests.some(({ operation }) => operation === "deployActionVersion")
      )
      const ran = yield* run(["rollback", action.id, "2", "--yes"], { interruptWhen: isSent })
      assert.strictEqual(ran.code, 130)
      assert.strictEqual(
        ran.stderr,
        "Interrupted. The service may have deployed it. See which version is deployed: " +
          `effect-identity-client versions ${action.id}\n`
      )
    }).pipe(Effect.provide(TenantLive)))

  it.live("says that the deployment goes on if it is interrupted then", () =>
    Effect.gen(function*() {
      yield* deploying(false)
      const ran = yield* run(["rollback", action.id, "2", "--yes"], { interruptAfter: "waiting until" })
      assert.strictEqual(ran.code, 130)
      assert.include(ran.stderr, `Interrupted. The deployment goes on: effect-identity-client versions ${action.id}\n`)
    }).pipe(Effect.provide(TenantLive)))
})
