/** Tests the command: what it writes, selects, checks and refuses. */
import { FileSystem, type Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { spawnSync } from "node:child_process"
import { loading } from "../../src/cli/commands/generate.js"
import { compare } from "../../src/generate/compare/compare.js"
import { stringify } from "../../src/generate/compare/interface.js"
import * as Folder from "../../src/generate/folder.js"
import { makeFormatter } from "../../src/generate/format.js"
import { isIdempotent } from "../../src/generate/model/idempotency.js"
import { operationNames, schemaName } from "../../src/generate/model/names.js"
import { bundledCommand } from "../cli/support/program.js"
import { runAlone } from "../cli/support/run.js"
import { documentOf, failure, generated, type Json, type Parts } from "./support/documents.js"

const string = { type: "string" }
const empty = { 204: { description: "" } }

const inFolder = <A, E>(
  run: (folder: string) => Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>
): Effect.Effect<A, unknown> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return yield* run(yield* fs.makeTempDirectoryScoped())
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

/** Runs the command as a process. */
const spawned = async (...args: ReadonlyArray<string>) => {
  const [node, file] = await bundledCommand()
  const { status, stderr, stdout } = spawnSync(node, [file, ...args], { encoding: "utf8" })
  return { status, stderr, stdout }
}

/** Runs `generate` in this process: whether it succeeds, and what it prints. */
const generating = (...args: ReadonlyArray<string>) =>
  Effect.map(runAlone(["generate", ...args]), ({ code, stderr, stdout }) => ({
    succeeds: code === 0,
    stdout: stdout.trimEnd().split("\n"),
    stderr: stderr.trimEnd()
  }))

const grouped = (group: ReadonlyArray<string> | string, name: string, stage = "GA") => ({
  operationId: "x",
  "x-operation-group": group,
  "x-operation-name": name,
  "x-release-lifecycle": stage,
  responses: empty
})

const several: Json = {
  openapi: "3.1.0",
  info: { title: "Users", version: "2" },
  paths: {
    "/users": { get: grouped("users", "list"), post: grouped("users", "create", "EA") },
    "/users/{id}/roles": {
      parameters: [{ name: "id", in: "path", required: true, schema: string }],
      get: grouped(["users", "roles"], "list", "Beta")
    },
    "/roles": { get: grouped("roles", "list") }
  }
}

describe("the command", () => {
  it.live("writes a folder, finds it unchanged, and says what changed in the interface", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const [spec, out] = [`${folder}/spec.json`, `${folder}/out`]
        const write = (parts: Parts) => fs.writeFileString(spec, JSON.stringify(documentOf(parts)))
        const check = generating("--spec", spec, "--out", out, "--check")
        yield* write({ body: { type: "object", properties: { a: string } } })

        assert.deepStrictEqual(yield* generating("--spec", spec, "--out", out), {
          succeeds: true,
          stdout: [`${out}: 2 operations, 0 schemas`],
          stderr: ""
        })
        assert.sameMembers(
          [...(yield* Folder.read(out)).keys()],
          ["createThing.ts", "getThing.ts", "index.ts", "interface.json"]
        )
        assert.deepStrictEqual(yield* fs.readDirectory(folder), ["out", "spec.json"])
        assert.deepStrictEqual(yield* check, {
          succeeds: true,
          stdout: [`${out}: 2 operations, nothing changed`],
          stderr: ""
        })

        yield* write({ body: { type: "object", required: ["a"], properties: { a: string, b: string } } })
        const changed = yield* check
        assert.isFalse(changed.succeeds)
        assert.deepStrictEqual(changed.stdout, [
          "narrowed  createThing input.a: is required",
          "added     createThing input.b: optional string"
        ])
        assert.match(changed.stderr, /differs: createThing\.ts\ndiffers: interface\.json\n.*is not what would be/)

        const others = Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [`/others/${nth}`, {
          get: { operationId: `getOther${nth}`, responses: empty }
        }]))
        yield* write({ paths: others })
        const grown = yield* check
        assert.include(grown.stdout, "added     getOther7")
        assert.include(grown.stdout, "removed   createThing")
        assert.match(grown.stderr, /missing: getOther1\.ts\n[^]*\n… and 13 more files\n/)
      })
    ))

  it.live("prints lines of JSON with --json", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const [spec, out] = [`${folder}/spec.json`, `${folder}/out`]
        const write = (parts: Parts) => fs.writeFileString(spec, JSON.stringify(documentOf(parts)))
        const generate = (...more: ReadonlyArray<string>) =>
          Effect.map(generating("--spec", spec, "--out", out, "--json", ...more), ({ stderr, stdout, succeeds }) => {
            assert.lengthOf(stdout, 1)
            return { succeeds, stderr, result: JSON.parse(stdout[0] ?? "") as unknown }
          })
        const counts = { folder: out, operations: 2, schemas: 0, leftOut: [] }
        yield* write({ body: { type: "object", properties: { a: string } } })
        assert.deepStrictEqual(yield* generate(), { succeeds: true, stderr: "", result: counts })
        const same = { ...counts, changes: [], files: [] }
        assert.deepStrictEqual(yield* generate("--check"), { succeeds: true, stderr: "", result: same })
        yield* write({ body: { type: "object", properties: { a: string, b: string } } })
        assert.deepStrictEqual(yield* generate("--check"), {
          succeeds: false,
          stderr: `${out} is not what would be generated`,
          result: {
            ...counts,
            changes: [{ kind: "added", path: "createThing input.b", detail: "optional string" }],
            files: ["differs: createThing.ts", "differs: interface.json"]
          }
        })
      })
    ))

  it.live("says so if only the files differ, or if the folder does not say what it is for", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const [spec, out] = [`${folder}/spec.json`, `${folder}/out`]
        const check = Effect.map(generating("--spec", spec, "--out", out, "--check"), ({ stdout }) => stdout)
        yield* fs.writeFileString(spec, JSON.stringify(documentOf({})))
        assert.deepStrictEqual(yield* check, ["the folder does not say which interface it is for"])
        yield* generating("--spec", spec, "--out", out)
        yield* fs.writeFileString(`${out}/index.ts`, "/** Generated by effect-identity-client, and edited */\n")
        assert.deepStrictEqual(yield* check, ["the interface is the same, but the files differ"])
      })
    ))

  it.live("writes nothing and names the place if the document has a mistake", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const [spec, out] = [`${folder}/spec.yaml`, `${folder}/out`]
        yield* fs.writeFileString(
          spec,
          "openapi: 3.1.0\ninfo: {title: a, version: b}\npaths:\n  /a:\n    get: {operationId: a, responses: {200: {description: '', content: {application/json: {schema: {type: text}}}}}}\n"
        )
        const unknown = yield* generating("--spec", spec, "--out", out, "--only", "a", "b")
        assert.isFalse(unknown.succeeds)
        assert.match(unknown.stderr, /no operation b; the nearest names are a\n?/)
        const mistaken = yield* generating("--spec", spec, "--out", out)
        assert.isFalse(mistaken.succeeds)
        assert.match(
          mistaken.stderr,
          /no type text \(at #\/paths\/~1a\/get\/responses\/200\/content\/application~1json\/schema\/type\)/
        )
        const missing = yield* generating("--spec", `${folder}/none`, "--out", out)
        assert.isFalse(missing.succeeds)
        assert.match(missing.stderr, /none/)
        assert.deepStrictEqual(yield* fs.readDirectory(folder), ["spec.yaml"])
      })
    ))

  it.live("takes names beside each other, with commas and one by one, and prints notes", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const [spec, out] = [`${folder}/spec.json`, `${folder}/out`]
        yield* fs.writeFileString(spec, JSON.stringify(several))
        const written = (...args: ReadonlyArray<string>) =>
          Effect.gen(function*() {
            const { succeeds } = yield* generating("--spec", spec, "--out", out, ...args)
            return succeeds ? (yield* fs.readDirectory(out)).filter((name) => !name.startsWith("in")).sort() : []
          })
        const expected = ["createUser.ts", "listRoles.ts", "listUsers.ts"]
        assert.deepStrictEqual(yield* written("--only", "createUser", "listRoles", "listUsers"), expected)
        assert.deepStrictEqual(yield* written("--only", "createUser,listRoles", "--only", "listUsers"), expected)
        assert.deepStrictEqual(
          yield* written("--only", "createUser, listRoles", "listUsers", "--stage", "beta"),
          expected
        )
        assert.deepStrictEqual(yield* written("--group", "roles", "users.roles"), ["listRoles.ts", "listUserRoles.ts"])
        assert.deepStrictEqual(yield* written("--stage", "alpha"), [])
        const patterns = documentOf({ body: { type: "object", patternProperties: { x: string } } })
        yield* fs.writeFileString(spec, JSON.stringify(patterns))
        const noted = yield* generating("--spec", spec, "--out", out)
        assert.match(noted.stderr, /^note: the patterns of names are not checked \(at #\/paths/)
      })
    ))

  it.live(
    "ends as a process with 0, or with 1 after a failure",
    () =>
      inFolder((folder) =>
        Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          yield* fs.writeFileString(`${folder}/spec.json`, JSON.stringify(documentOf({})))
          const args = ["generate", "--spec", `${folder}/spec.json`, "--out", `${folder}/out`]
          assert.deepInclude(yield* Effect.promise(() => spawned(...args)), { status: 0, stderr: "" })
          assert.deepInclude(yield* Effect.promise(() => spawned(...args, "--only", "x")), {
            status: 1,
            stdout: "",
            stderr: "the document has no operation x; the nearest names are getThing\n"
          })
        })
      ),
    120_000
  )
})

describe("the command without the packages that it needs", () => {
  it.live("says which to install", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const real = yield* Effect.console
      const error = (...texts: ReadonlyArray<unknown>) => Effect.sync(() => void lines.push(texts.join(" ")))
      const absent = Effect.withConsole(loading(() => import("no-such-package" as string)), { ...real, error })
      assert.deepInclude(yield* Effect.flip(absent), { code: 1 })
      assert.match(lines.join("\n"), /no-such-package[^]*npm install --save-dev @seriousme\/\S+ .*yaml/)
      const broken = loading(() => Promise.reject(new TypeError("broken")))
      assert.deepStrictEqual(yield* Effect.exit(broken), Exit.die(new TypeError("broken")))
    }))
})

describe("a selection", () => {
  const names = (selection: Parameters<typeof generated>[1]) =>
    Effect.map(generated(several, selection), ({ interface: { operations } }) => Object.keys(operations))

  it.effect("is by name, by group and by stage", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* names({}), ["createUser", "listRoles", "listUserRoles", "listUsers"])
      assert.deepStrictEqual(yield* names({ only: ["listRoles"] }), ["listRoles"])
      assert.deepStrictEqual(yield* names({ groups: ["users"] }), ["createUser", "listUserRoles", "listUsers"])
      assert.deepStrictEqual(yield* names({ groups: ["users.roles"] }), ["listUserRoles"])
      assert.deepStrictEqual(yield* names({ stage: "ga" }), ["listRoles", "listUsers"])
      assert.deepStrictEqual(yield* names({ stage: "ea" }), ["createUser", "listRoles", "listUsers"])
      assert.match(
        (yield* failure(several, { groups: ["clients"] })).message,
        /no group clients; the nearest names are (?:(?:roles|users|users.roles)(?:, )?){3}$/
      )
    }))

  it.effect("gives the same files as the whole, and does without operations that cannot be read", () =>
    Effect.gen(function*() {
      const document = documentOf({
        success: { $ref: "#/components/schemas/A" },
        schemas: { A: { type: "object", properties: { a: string } } },
        paths: {
          "/a": {
            get: {
              operationId: "getA",
              responses: {
                200: {
                  description: "",
                  content: { "application/json": { schema: { $ref: "#/components/schemas/A" } } }
                }
              }
            }
          }
        }
      })
      const whole = yield* generated(document)
      const part = yield* generated(document, { only: ["getThing"] })
      const shared = whole.files.filter(({ path }) => path === "getThing.ts" || path === "schemas/A.ts")
      assert.deepStrictEqual(part.files.slice(1), shared)
      const broken = documentOf({
        paths: {
          "/a": {
            get: {
              operationId: "broken",
              responses: { 200: { description: "", content: { "application/json": { schema: { not: {} } } } } }
            }
          }
        }
      })
      const { files, leftOut } = yield* generated(broken)
      assert.deepStrictEqual(leftOut.map(({ error, name }) => [name, error.pointer]), [[
        "broken",
        "#/paths/~1a/get/responses/200/content/application~1json/schema/not"
      ]])
      assert.lengthOf(files, 2)
      assert.match((yield* failure(broken, { only: ["broken", "getThing"] })).message, /keyword not/)
      assert.lengthOf((yield* generated(broken, { only: ["getThing"] })).files, 2)
    }))
})

describe("files", () => {
  it.effect("are the same for the same document, whatever its order, and change only with their operation", () =>
    Effect.gen(function*() {
      const [before, again] = [yield* generated(several), yield* generated(several)]
      assert.deepStrictEqual(again.files, before.files)
      const { paths } = several as { paths: Json }
      const reordered = yield* generated({
        ...several,
        paths: Object.fromEntries(Object.entries(paths).toSorted(([a], [b]) => a < b ? 1 : -1))
      })
      assert.deepStrictEqual(reordered.files, before.files)
      assert.strictEqual(stringify(reordered.interface), stringify(before.interface))
      const next = yield* generated({
        ...several,
        info: { title: "Users", version: "3" },
        paths: { ...paths, "/roles": { get: { ...grouped("roles", "list"), summary: "New" } } }
      })
      const differing = next.files.filter(({ path, text }) =>
        before.files.some((file) => file.path === path && file.text !== text)
      )
      assert.deepStrictEqual(differing.map(({ path }) => path), ["index.ts", "listRoles.ts"])
    }))

  it.effect("say where they come from, and the index names the version", () =>
    Effect.gen(function*() {
      const { files } = yield* generated(several)
      const format = yield* makeFormatter
      for (const { path, text } of files) {
        const formatted = format(path, text)
        assert.match(
          formatted,
          /^\/\*\* Generated by effect-identity-client from .*"Users".*; do not edit\. \*\/\n/,
          path
        )
        assert.strictEqual(format(path, formatted), formatted, path)
      }
      assert.include(files[0]?.text ?? "", "\"Users\" 2; do not edit")
    }))

  it.live("replace a folder as a whole, but none with files of others", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const out = `${folder}/a/b`
        const text = "/** Generated by effect-identity-client from x */\n"
        yield* Folder.write(out, [{ path: "index.ts", text }, { path: "schemas/A.ts", text }])
        yield* Folder.write(out, [{ path: "index.ts", text }, { path: "c.ts", text }])
        assert.deepStrictEqual([...(yield* Folder.read(out)).keys()], ["c.ts", "index.ts"])
        yield* fs.writeFileString(`${out}/mine.ts`, "export {}")
        const refused = yield* Effect.flip(Folder.write(out, [{ path: "index.ts", text }]))
        assert.match(refused.message, /mine\.ts was not generated/)
        assert.deepStrictEqual([...(yield* Folder.read(out)).keys()], ["c.ts", "index.ts", "mine.ts"])
        assert.deepStrictEqual(yield* fs.readDirectory(`${folder}/a`), ["b"])
        const failed = yield* Effect.option(Folder.write(`${folder}/d`, [{ path: "\0", text }]))
        assert.isTrue(Option.isNone(failed))
        assert.isFalse(yield* fs.exists(`${folder}/d`))
      })
    ))
})

describe("names", () => {
  const of = (sdk: string) => {
    const parts = sdk.split(".")
    return operationNames({ group: parts.slice(0, -1), method: parts.at(-1), id: undefined, route: "GET /" })[0]
  }

  it("follow the SDK's methods", () => {
    const expected = {
      "users.get": "getUser",
      "organizations.list": "listOrganizations",
      "actions.versions.list": "listActionVersions",
      "clients.rotateSecret": "rotateClientSecret",
      "organizations.getByName": "getOrganizationByName",
      "users.authenticationMethods.deleteAll": "deleteAllUserAuthenticationMethods",
      "users.listUsersByEmail": "listUsersByEmail",
      "users.refreshToken.list": "listUserRefreshTokens",
      "rateLimitPolicies.delete": "deleteRateLimitPolicy",
      "guardian.factors.sms.setProvider": "setGuardianFactorSmsProvider",
      "stats.getDaily": "getStatsDaily",
      "tenants.settings.get": "getTenantSettings",
      "networkAcls.list": "listNetworkAcls",
      "emails.provider.get": "getEmailProvider"
    }
    for (const [sdk, name] of Object.entries(expected)) assert.strictEqual(of(sdk), name)
  })

  it("are identifiers", () => {
    assert.strictEqual(
      operationNames({ group: [], method: undefined, id: "get_event-streams_by_id", route: "GET /" })[0],
      "getEventStreamsById"
    )
    assert.strictEqual(operationNames({ group: [], method: undefined, id: "Über cool", route: "GET /" })[0], "uberCool")
    assert.strictEqual(schemaName("user_id.v2"), "UserIdV2")
    assert.strictEqual(schemaName("EventStreamAWSRegion"), "EventStreamAWSRegion")
    assert.strictEqual(schemaName("Record"), "RecordSchema")
  })
})

describe("idempotency", () => {
  it("is that of the method, or what the table says of the route", () => {
    assert.isTrue(isIdempotent("GET", "/a"))
    assert.isTrue(isIdempotent("DELETE", "/a/{id}"))
    assert.isFalse(isIdempotent("POST", "/a"))
    assert.isFalse(isIdempotent("PATCH", "/unknown/{id}"))
    assert.isTrue(isIdempotent("PATCH", "/users/{user}"))
  })
})

describe("a comparison", () => {
  const changes = (before: Parts, after: Parts) =>
    Effect.gen(function*() {
      const [old, now] = [yield* generated(documentOf(before)), yield* generated(documentOf(after))]
      return compare(old.interface, now.interface).map(({ detail, kind, path }) => `${kind} ${path}: ${detail}`)
    })

  const body = (properties: Json, required: ReadonlyArray<string> = []): Parts => ({
    body: { type: "object", properties, required }
  })

  const cases: ReadonlyArray<readonly [before: Parts, after: Parts, changes: ReadonlyArray<string>]> = [
    [body({ a: string }), body({ a: string }), []],
    [body({ a: string }), {}, ["removed createThing: "]],
    [{}, body({ a: string }), ["added createThing: "]],
    [body({ a: string }), body({ b: string }, ["b"]), [
      "removed createThing input.a: optional string",
      "added createThing input.b: required string"
    ]],
    [body({ a: string }, ["a"]), body({ a: string }), ["widened createThing input.a: is optional"]],
    [body({ a: { type: "string", maxLength: 5 } }), body({ a: { type: "string", maxLength: 9 } }), [
      "widened createThing input.a: max 5 → 9"
    ]],
    [body({ a: string }), body({ a: { type: "string", minLength: 2 } }), [
      "narrowed createThing input.a: min none → 2"
    ]],
    [body({ a: { enum: ["x", "y"] } }), body({ a: { enum: ["y", "z"] } }), [
      "narrowed createThing input.a: values without x",
      "widened createThing input.a: values with z"
    ]],
    [body({ a: string }), body({ a: { type: ["string", "null"] } }), ["widened createThing input.a: also null"]],
    [body({ a: string }), body({ a: { enum: ["x"] } }), ["narrowed createThing input.a: string → \"x\""]],
    [body({ a: { type: "integer" } }), body({ a: { type: "number" } }), [
      "widened createThing input.a: integer → number"
    ]],
    [body({ a: string }), body({ a: { type: "boolean" } }), ["changed createThing input.a: string → boolean"]],
    [body({ a: { type: "string", pattern: "a" } }), body({ a: { type: "string", pattern: "b" } }), [
      "changed createThing input.a: pattern a → b"
    ]],
    [
      body({ a: { type: "array", items: string } }),
      body({ a: { type: "array", items: { enum: ["x"] }, uniqueItems: true } }),
      ["narrowed createThing input.a: without repetition", "narrowed createThing input.a[]: string → \"x\""]
    ],
    [
      { success: { type: "object", properties: { a: { type: "object", properties: { b: string } } } } },
      {
        success: { type: "object", required: ["a"], properties: { a: { type: "object", properties: { c: string } } } }
      },
      [
        "narrowed getThing success.a: is required",
        "removed getThing success.a.b: optional string",
        "added getThing success.a.c: optional string"
      ]
    ],
    [
      { success: { $ref: "#/components/schemas/A" }, schemas: { A: { type: "object", properties: { a: string } } } },
      {
        success: { $ref: "#/components/schemas/A" },
        schemas: { A: { type: "object", properties: { a: { type: "integer" } } } }
      },
      ["changed A.a: string → number"]
    ],
    [
      { get: { security: [{ a: ["read:a"] }] } },
      { get: { security: [{ a: ["read:b"] }] } },
      ["narrowed getThing: scopes without read:a", "widened getThing: scopes with read:b"]
    ],
    [{ success: { type: "string" } }, { get: { responses: { 204: { description: "" }, 404: { description: "" } } } }, [
      "removed getThing success: required string",
      "widened getThing: failures with 404"
    ]],
    [
      body({ a: { type: "array", items: string, uniqueItems: true } }),
      body({ a: { type: "array", items: string } }),
      ["widened createThing input.a: with repetition"]
    ],
    [body({ a: { type: "number" } }), body({ a: { type: "integer", multipleOf: 5 } }), [
      "narrowed createThing input.a: number → integer",
      "narrowed createThing input.a: multipleOf none → 5"
    ]],
    [body({ a: { type: "number", exclusiveMaximum: 5 } }), body({ a: { type: "number", exclusiveMinimum: 1 } }), [
      "narrowed createThing input.a: above none → 1",
      "widened createThing input.a: below 5 → none"
    ]],
    [body({ a: { type: "string", format: "email" } }), body({ a: string }), [
      "widened createThing input.a: format email → none"
    ]],
    [body({ a: { enum: [1, 2] } }), body({ a: { type: "number" } }), [
      "widened createThing input.a: 1 | 2 → number"
    ]],
    [body({ a: string }), body({ a: true }), ["widened createThing input.a: string → unknown"]],
    [body({ a: { type: "array", items: string } }), body({ a: string }), [
      "changed createThing input.a: list of string → string"
    ]],
    [
      body({ a: { oneOf: [string, { type: "boolean" }, { type: "array", items: string }] } }),
      body({ a: { oneOf: [string, { type: "integer" }] } }),
      ["narrowed createThing input.a: no longer boolean, list of string", "widened createThing input.a: also integer"]
    ],
    [
      body({ a: { oneOf: [string, { type: "array", items: string }] } }),
      body({ a: { oneOf: [string, { type: "array", items: { type: "boolean" } }] } }),
      ["changed createThing input.a[]: string → boolean"]
    ],
    [
      body({ a: { type: "array", prefixItems: [string, string], minItems: 2, items: false } }),
      body({ a: { type: "array", prefixItems: [string, { type: "integer" }], minItems: 2, items: false } }),
      ["changed createThing input.a[1]: string → integer"]
    ],
    [
      body({ a: { type: "array", prefixItems: [string, string], minItems: 2, items: false } }),
      body({ a: { type: "array", prefixItems: [string, string], minItems: 1, items: false } }),
      ["changed createThing input.a: 2 elements → 1 to 2 elements"]
    ],
    [
      body({ a: { type: "object", additionalProperties: { type: "integer" } } }),
      body({ a: { type: "object", additionalProperties: { type: "number" } } }),
      ["widened createThing input.a.*: integer → number"]
    ],
    [
      body({ a: { type: "object", properties: { b: string }, additionalProperties: true } }),
      body({ a: { type: "object", properties: { b: string }, additionalProperties: false } }),
      ["narrowed createThing input.a.*: unknown → never"]
    ],
    [
      { get: { parameters: [{ name: "a", in: "query", schema: string }] } },
      { get: { parameters: [{ name: "a", in: "header", schema: string }] } },
      ["changed getThing: place of a \"query\" → \"header\""]
    ],
    [{ success: { type: "string", maxLength: 5 } }, { success: { type: "string" } }, []]
  ]

  it.effect("says what was added, removed, narrowed and widened", () =>
    Effect.gen(function*() {
      for (const [before, after, expected] of cases) {
        assert.deepStrictEqual(yield* changes(before, after), [...expected], JSON.stringify([before, after]))
      }
    }))
})
