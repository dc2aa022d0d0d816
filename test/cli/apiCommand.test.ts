/** Tests of `api`: what it sends, asks and prints. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TenantLive } from "../../examples/tour.js"
import * as Tenant from "../../src/Tenant.js"
import { run } from "./support/run.js"

const { actions: [action], profiles: [profile], streams: [stream] } = Tenant.demo

const sent = Effect.map(
  Effect.flatMap(Tenant.Tenant, ({ requests }) => requests),
  (requests) =>
    requests.filter(({ operation }) => operation !== "token").map(({ body, method, path, query }) => ({
      method,
      path,
      query,
      body
    }))
)

describe("api", () => {
  it.live("prints the response of a GET, with the query of the path and of its options", () =>
    Effect.gen(function*() {
      const ran = yield* run(["api", "get", "/api/v2/actions/actions?page=0", "--query", "per_page=1"])
      assert.deepStrictEqual([ran.code, ran.stderr], [0, ""])
      assert.match(ran.stdout, /^\{\n {2}"total": \d+,\n/)
      assert.include(ran.stdout, action.id)
      const line = yield* run(["api", "GET", `actions/actions/${action.id}`, "--json"])
      assert.deepInclude(JSON.parse(line.stdout), { id: action.id })
      assert.strictEqual(line.stdout.trim().split("\n").length, 1)
      const [first] = yield* sent
      assert.deepInclude(first, { method: "GET", path: "/api/v2/actions/actions" })
      assert.deepStrictEqual(first?.query, [["page", "0"], ["per_page", "1"]])
    }).pipe(Effect.provide(TenantLive)))

  it.live("sends a body from a file or the standard input, and asks before it changes something", () =>
    Effect.gen(function*() {
      const file = join(mkdtempSync(join(tmpdir(), "api-")), "body.json")
      writeFileSync(file, JSON.stringify({ name: "From a file" }))
      const args = ["api", "PATCH", `/token-exchange-profiles/${profile.id}`, "--data"]
      const declined = yield* run([...args, file], { reply: "n" })
      assert.deepStrictEqual([declined.code, declined.stdout], [1, ""])
      assert.include(declined.stderr, `Send PATCH /token-exchange-profiles/${profile.id} [y/N]`)
      assert.include((yield* run([...args, file])).stderr, "Nobody can be asked without a terminal")
      assert.deepStrictEqual(yield* sent, [])
      assert.strictEqual((yield* run([...args, file], { reply: "y" })).code, 0)
      const input = JSON.stringify({ name: "From the input" })
      assert.strictEqual((yield* run([...args, "-", "--yes"], { input })).code, 0)
      assert.deepStrictEqual((yield* sent).map(({ body }) => body), [{ name: "From a file" }, {
        name: "From the input"
      }])
    }).pipe(Effect.provide(TenantLive)))

  it.live("prints nothing after a response without a body, and what the service refuses", () =>
    Effect.gen(function*() {
      const args = ["api", "DELETE", `/event-streams/${stream.id}`, "--yes"]
      assert.deepStrictEqual(yield* run(args), { code: 0, stdout: "", stderr: "" })
      const missing = yield* run(["api", "GET", `/event-streams/${stream.id}`])
      assert.strictEqual(missing.code, 3)
      assert.match(missing.stderr, /^NotFound: GET \/event-streams\/:id: /)
    }).pipe(Effect.provide(TenantLive)))

  it.live("names the argument that is wrong, and sends nothing", () =>
    Effect.gen(function*() {
      const folder = mkdtempSync(join(tmpdir(), "api-"))
      const [latin, large] = [join(folder, "latin.json"), join(folder, "large.json")]
      writeFileSync(latin, Buffer.from("{\"name\":\"M\u00fcller\"}", "latin1"))
      writeFileSync(large, "{\"id\":12345678901234567890}")
      const rows = [
        [["FETCH", "/users"], "METHOD: expected GET, POST, PUT, PATCH, DELETE"],
        [["GET", "/users/../clients"], "PATH: expected a path with ids percent-encoded, such as /users/auth0%7C123"],
        [["GET", "https://tenant.example.com/api/v2/users"], "PATH: expected a path"],
        [["GET", "/users/:id"], "PATH: expected a path"],
        [["POST", "/users", "--data", "/nowhere/body.json", "--yes"], "--data: the file cannot be read"],
        [["POST", "/users", "--data", latin, "--yes"], "--data: expected UTF-8"],
        [["POST", "/users", "--data", large, "--yes"], "--data: a number has more digits"],
        [["GET", "/users", "--query", "per_page"], "--query: expected name=value"],
        [["GET", "/users", "--data", "-"], "--data: a GET has no body"],
        [["POST", "/users", "--data", "-", "--yes"], "--data: expected JSON"]
      ] as const
      for (const [args, message] of rows) {
        const input = message.endsWith("JSON") ? Stream.empty as Stream.Stream<never> : "{}"
        const ran = yield* run(["api", ...args], { input })
        assert.strictEqual(ran.code, 2, message)
        assert.include(ran.stderr, message)
      }
      assert.deepStrictEqual(yield* sent, [])
    }).pipe(Effect.provide(TenantLive)))
})
