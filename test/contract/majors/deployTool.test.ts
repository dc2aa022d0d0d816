/** The vendor's deploy tool exports an embedded tenant that serves generated operations, over TLS. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Struct } from "effect"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Tenant from "../../../src/Tenant.js"
import { cert } from "../../support/certificate.js"
import { tlsTenant } from "../../support/tlsTenant.js"
import { generated } from "./document.js"
import { pageOf, type Selection } from "./pages.js"

const { id: clientId, secret } = Tenant.demoClients.full

const require = createRequire(import.meta.url)
const tool = require.resolve("auth0-deploy-cli")

const newFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-identity-client-deploy-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Exports a tenant with the tool, as a process of its own, into a folder. */
const exportTo = (folder: string, host: string) =>
  Effect.async<{ readonly code: unknown; readonly output: string }>((resume) => {
    const file = join(folder, "cert.pem")
    writeFileSync(file, cert)
    const child = execFile(
      process.execPath,
      [tool, "export", "--format", "directory", "--output_folder", join(folder, "out")],
      {
        env: {
          PATH: process.env["PATH"],
          HOME: folder,
          NODE_EXTRA_CA_CERTS: file,
          AUTH0_DOMAIN: host,
          AUTH0_CLIENT_ID: clientId,
          AUTH0_CLIENT_SECRET: Redacted.value(secret),
          AUTH0_INCLUDED_ONLY: JSON.stringify(["actions", "roles", "clients"]),
          AUTH0_API_MAX_RETRIES: "1"
        }
      },
      (error, ...output) => resume(Effect.succeed({ code: error?.code ?? 0, output: output.join("\n") }))
    )
    return Effect.sync(() => child.kill())
  })

/** The files in a folder by their paths, those of JSON parsed. */
const filesIn = (folder: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const text = readFileSync(path, "utf8")
      return [path.slice(folder.length + 1).replaceAll("\\", "/"), path.endsWith(".json") ? JSON.parse(text) : text]
    })
  )

/** Exports a tenant; gives the files, and the paths and statuses of the requests that were sent for them. */
const exported = (
  seed: Tenant.Seed,
  given: (tenant: Tenant.Tenant["Type"], operations: Readonly<Record<string, any>>) => Effect.Effect<void>
) =>
  Effect.gen(function*() {
    const operations = yield* generated
    const large = { burst: 10_000, refill: 1, per: "1 day" } as const
    // The tool sends `type` with roles, which the document lacks.
    const { host, tenant } = yield* tlsTenant({ seed, operations, unknownQuery: "ignore", buckets: { tenant: large } })
    yield* given(tenant, operations)
    const folder = yield* newFolder
    mkdirSync(join(folder, "out"))
    const { code, output } = yield* exportTo(folder, host)
    const requests = (yield* tenant.requests).map(({ operation, status }) => `${operation} ${status}`)
    assert.strictEqual(code, 0, output)
    return { files: filesIn(join(folder, "out")), requests }
  }).pipe(Effect.scoped)

/** How often each of these occurs. */
const counted = (names: ReadonlyArray<string>) => {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

const { actions: [action] } = Tenant.demo
const [version] = action.versions

/** What the tool writes for the content of a version of an action. */
const exportedAction = (name: string) => ({
  name,
  code: `./actions/${name}/code.js`,
  runtime: version.runtime,
  status: "built",
  dependencies: version.dependencies,
  secrets: version.secrets.map(({ name }) => ({ name })),
  supported_triggers: version.supported_triggers,
  deployed: true
})

describe("the vendor's deploy tool", () => {
  it.live("exports actions, roles and clients as the tenant has them, over several pages", () =>
    Effect.gen(function*() {
      const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
      const actions = numbers(101).map((index) => ({ ...action, id: `action-${index}`, name: `action-${index}` }))
      const clients = numbers(201).map((index) => ({
        client_id: `client-${index}`,
        client_secret: "canary",
        name: `Client ${index}`,
        app_type: "spa",
        grant_types: ["authorization_code"]
      }))
      const roles = numbers(2).map((index) => ({ id: `rol_${index}`, name: `Role ${index}`, description: "" }))
      const permissions = numbers(150).map((index) => (
        { resource_server_identifier: "https://api.example/", permission_name: `read:${index}` }
      ))
      const { files, requests } = yield* exported(
        { actions },
        (tenant, { listClients, listRolePermissions, listRoles }) =>
          Effect.zipRight(
            Effect.all([
              tenant.respond(listClients, (input: Selection) => Effect.succeed(pageOf("clients", clients, input))),
              tenant.respond(listRoles, (input: Selection) => Effect.succeed(pageOf("roles", roles, input)))
            ]),
            tenant.respond(
              listRolePermissions,
              ({ id, ...input }: Selection & { readonly id: string }) =>
                Effect.succeed(pageOf("permissions", id === "rol_0" ? permissions : [], input))
            )
          )
      )

      assert.deepStrictEqual(counted(requests), {
        "token 200": 1,
        "listActions 200": 2,
        "listClients 200": 3,
        "listRoles 200": 1,
        "listRolePermissions 200": 3
      })
      const expected = Object.fromEntries<unknown>([
        ...actions.flatMap(({ name }) => [
          [`actions/${name}.json`, exportedAction(name)] as const,
          [`actions/${name}/code.js`, version.code] as const
        ]),
        ...clients.map((client) =>
          [`clients/${client.name}.json`, Struct.omit(client, "client_id", "client_secret")] as const
        ),
        ...roles.map(({ id, ...role }) =>
          [`roles/${role.name}.json`, { ...role, permissions: id === "rol_0" ? permissions : [] }] as const
        )
      ])
      assert.deepStrictEqual(files, expected)
    }))

  it.live("exports what the tenant makes from schemas, and ends", () =>
    Effect.gen(function*() {
      const { files, requests } = yield* exported({}, () => Effect.void)
      assert.deepStrictEqual(counted(requests), {
        "token 200": 1,
        "listActions 200": 1,
        "listClients 200": 1,
        "listClientCredentials 200": 1,
        "listRoles 200": 1,
        "listRolePermissions 200": 1
      })
      assert.deepStrictEqual(Object.keys(files).sort(), ["clients/string.json", "roles/string.json"])
      assert.deepStrictEqual(files["roles/string.json"], {
        name: "string",
        description: "string",
        permissions: [{ resource_server_identifier: "string", permission_name: "string" }]
      })
    }))
})
