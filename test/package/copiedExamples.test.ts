/** Tests that somebody who copies an example gets no proxy for everybody, no failure that looks like success, and no poorer operation. */
import { HttpServer } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, LogLevel, Redacted } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { failuresOf } from "../../.ci/docs/operationPage.js"
import { TenantLive } from "../../examples/tour.js"
import worker from "../../examples/worker.js"
import * as Errors from "../../src/Errors.js"
import { IdentityClient, RateLimiter } from "../../src/index.js"
import * as Tenant from "../../src/Tenant.js"
import * as Testing from "../../src/Testing.js"
import { bearer } from "../support/client.js"
import { operations, type Subject } from "../support/operations.js"

const { actions: [action] } = Tenant.demo
const { full } = Tenant.demoClients

describe("the worker", () => {
  const secret = "a-secret-of-the-worker"

  /** Asks the worker for the versions of the demo's action. */
  const ask = (headers: Record<string, string>, variables: Record<string, string> = { WORKER_SECRET: secret }) =>
    HttpServer.addressFormattedWith((origin) =>
      Effect.promise(async () => {
        const response = await worker.fetch(new Request(`https://worker.example.com/${action.id}`, { headers }), {
          IDENTITY_BASE_URL: `${origin}/api/v2`,
          IDENTITY_AUTH_URL: origin,
          IDENTITY_CLIENT_ID: full.id,
          IDENTITY_CLIENT_SECRET: Redacted.value(full.secret),
          ...variables
        })
        return { status: response.status, body: await response.text() }
      })
    )

  it.live("responds with 401 to whoever does not know its secret, and calls nothing", () =>
    Effect.gen(function*() {
      const unauthorized = { status: 401, body: "{\"error\":\"unauthorized\"}" }
      for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: secret }]) {
        assert.deepStrictEqual(yield* ask(headers), unauthorized)
      }
      // Without a secret of its own it lets nobody in.
      for (const variables of [{}, { WORKER_SECRET: "" }]) {
        assert.strictEqual((yield* ask({ authorization: "Bearer " }, variables)).status, 502)
      }
      assert.deepStrictEqual(yield* Effect.flatMap(Tenant.Tenant, ({ requests }) => requests), [])
    }).pipe(Effect.provide(TenantLive)))

  it.live("responds with the numbers of the versions, without their code", () =>
    Effect.gen(function*() {
      const { body, status } = yield* ask({ authorization: `Bearer ${secret}` })
      assert.strictEqual(status, 200)
      const { total, versions }: { total: number; versions: ReadonlyArray<object> } = JSON.parse(body)
      assert.strictEqual(total, action.versions.length)
      for (const version of versions) assert.includeMembers(["deployed", "id", "number"], Object.keys(version))
    }).pipe(Effect.provide(TenantLive)))

  it.live("does not tell its callers why it failed", () =>
    Effect.gen(function*() {
      const failed = yield* ask({ authorization: `Bearer ${secret}` }, {
        WORKER_SECRET: secret,
        IDENTITY_CLIENT_SECRET: "wrong"
      })
      assert.deepStrictEqual(failed, { status: 502, body: "{\"error\":\"failed\"}" })
    }).pipe(Effect.provide(TenantLive)))
})

describe("the examples of the operations", () => {
  /** A response of the service that becomes this failure. */
  const replyFor = (tag: string, status: number): Testing.Reply =>
    tag === "InsufficientScope"
      ? Testing.reply({
        status,
        body: { errorCode: "insufficient_scope", message: "Insufficient scope, expected any of: read:users" }
      })
      : Testing.reply({ status, body: { message: "No." } })

  const clientAbove = (reply: Testing.Reply) =>
    IdentityClient.layer({ domain: "tenant.example.com", retry: { attempts: 1 } }).pipe(
      Layer.provide([RateLimiter.layerUnlimited, bearer, Testing.layerHttp(...Array.from({ length: 4 }, () => reply))])
    )

  it.effect.each(operations.map((subject) => [subject.endpoint.name, subject] as const))(
    "%s fails with all but its most specific failure",
    ([name, { endpoint }]: readonly [string, Subject]) =>
      Effect.gen(function*() {
        const { program }: {
          program: Effect.Effect<unknown, { readonly _tag: string }, IdentityClient.IdentityClient>
        } = yield* Effect.promise(() => import(join(import.meta.dirname, "../../examples/operations", `${name}.ts`)))
        const tags = failuresOf(endpoint)
        const handled = ["Conflict", "NotFound"].find((tag) => tags.includes(tag))
        const console = yield* Effect.console
        for (const tag of tags) {
          const status = Object.entries(Errors).flatMap(([name, value]) =>
            name === tag && typeof value === "function" && "status" in value ? [Number(value.status)] : []
          )[0] ?? 0
          const run = program.pipe(
            Effect.provide(clientAbove(replyFor(tag, status))),
            Effect.withConsole({
              ...console,
              log: () =>
                Effect.void
            })
          )
          const exit = yield* Effect.exit(run)
          assert.strictEqual(Exit.isSuccess(exit), tag === handled, tag)
          if (tag !== handled) assert.deepInclude(yield* Effect.flip(run), { _tag: tag })
        }
      }).pipe(Logger.withMinimumLogLevel(LogLevel.None))
  )
})

describe("operations of one's own", () => {
  it("are in no example built-in ones", () => {
    const names = new Set(operations.map(({ endpoint: { name } }) => name))
    const files = readdirSync("examples", { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.(?:ts|md)$/.test(name)
    )
    for (const file of files) {
      for (const [, name = ""] of readFileSync(`examples/${file}`, "utf8").matchAll(/Operation\.make\("(\w+)"/g)) {
        assert.isFalse(names.has(name), `${file} declares ${name}, which is built in`)
      }
    }
  })
})
