import { FileSystem, HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigError, ConfigProvider, Context, Effect, Layer, Option } from "effect"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { InvalidInput } from "../../src/Errors.js"
import { IdentityClient } from "../../src/IdentityClient.js"
import * as Node from "../../src/Node.js"
import { createUsersExport, deleteEventStream, listActionVersions } from "../../src/operations/index.js"
import * as Retry from "../../src/Retry.js"
import * as Tenant from "../../src/Tenant.js"
import { form, json, listen } from "../support/tokenServer.js"

const id = "est_0123456789012345678901"

const withVariables = (variables: Record<string, string>) =>
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))

const build = (variables: Record<string, string>) =>
  Layer.build(Node.layerConfig).pipe(Effect.scoped, withVariables(variables))

/** A service with its token endpoint. */
const service = listen((request, response) => {
  if (request.url.startsWith("/oauth/token")) return json(response, 200, { access_token: "issued", expires_in: 86_400 })
  if (request.method === "DELETE") return response.writeHead(204, { "content-type": "application/json" }).end()
  if (request.method === "GET") return json(response, 200, { total: 0, per_page: 20, versions: [] })
  return json(response, 200, { id: "job_1", type: "users_export", status: "pending", connection: "c" })
})

const urls = { IDENTITY_BASE_URL: "https://t.example.com/api/v2", IDENTITY_AUTH_URL: "https://login.example.com" }
const client = { IDENTITY_CLIENT_ID: "i", IDENTITY_CLIENT_SECRET: "s" }

describe("Node.layerConfig is built from these variables", () => {
  for (
    const variables of [
      { IDENTITY_DOMAIN: "t.example.com", IDENTITY_TOKEN: "t" },
      { IDENTITY_DOMAIN: "t.example.com", ...client },
      { IDENTITY_DOMAIN: "t.example.com", ...client, IDENTITY_AUDIENCE: "a" },
      { IDENTITY_BASE_URL: urls.IDENTITY_BASE_URL, IDENTITY_TOKEN: "t" },
      { IDENTITY_DOMAIN: " t.example.com\n", IDENTITY_CLIENT_ID: "i\n", IDENTITY_CLIENT_SECRET: "s\r\n" },
      { ...urls, ...client },
      { ...urls, ...client, IDENTITY_AUDIENCE: "a" },
      { IDENTITY_DOMAIN: "", ...urls, ...client, IDENTITY_TOKEN: "", IDENTITY_AUDIENCE: "" },
      { IDENTITY_DOMAIN: "t.example.com", IDENTITY_BASE_URL: "", IDENTITY_AUTH_URL: "", ...client }
    ]
  ) {
    it.effect(
      JSON.stringify(variables),
      () =>
        Effect.map(
          build(variables),
          (context) => assert.isTrue(Context.getOption(context, IdentityClient).pipe(Option.isSome))
        )
    )
  }
})

describe("Node.layerConfig names a missing variable", () => {
  for (
    const [missing, variables] of [
      ["IDENTITY_CLIENT_ID", {}],
      ["IDENTITY_CLIENT_SECRET", {}],
      ["IDENTITY_AUTH_URL", {}],
      ["IDENTITY_BASE_URL", { IDENTITY_TOKEN: "t" }],
      ["IDENTITY_BASE_URL", { IDENTITY_AUTH_URL: urls.IDENTITY_AUTH_URL, ...client }],
      ["IDENTITY_BASE_URL", { ...urls, ...client, IDENTITY_BASE_URL: "" }],
      ["IDENTITY_AUTH_URL", { IDENTITY_BASE_URL: urls.IDENTITY_BASE_URL, ...client }],
      ["IDENTITY_AUTH_URL", { ...urls, ...client, IDENTITY_AUTH_URL: "" }],
      ["IDENTITY_CLIENT_ID", { ...urls, IDENTITY_CLIENT_SECRET: "s" }],
      ["IDENTITY_CLIENT_ID", { IDENTITY_DOMAIN: "t.example.com", IDENTITY_CLIENT_SECRET: "s", IDENTITY_CLIENT_ID: "" }],
      ["IDENTITY_CLIENT_SECRET", { IDENTITY_DOMAIN: "t.example.com", IDENTITY_CLIENT_ID: "i" }],
      ["IDENTITY_CLIENT_SECRET", { ...urls, ...client, IDENTITY_CLIENT_SECRET: "" }],
      ["IDENTITY_CLIENT_SECRET", { ...urls, IDENTITY_CLIENT_ID: "i", IDENTITY_TOKEN: "" }]
    ] satisfies ReadonlyArray<readonly [string, Record<string, string>]>
  ) {
    it.effect(`${missing} of ${JSON.stringify(variables)}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(build(variables))
        assert.isTrue(ConfigError.isConfigError(error))
        assert.match(String(error), new RegExp(`\\b${missing}\\b`))
      }))
  }
})

describe("Node.layerConfig fails with InvalidInput for a wrong value", () => {
  for (
    const [setting, variables] of [
      ["baseUrl", { ...urls, ...client, IDENTITY_BASE_URL: "t.example.com" }],
      ["baseUrl", { ...urls, ...client, IDENTITY_BASE_URL: "http://t.example.com/api/v2" }],
      ["authUrl", { ...urls, ...client, IDENTITY_AUTH_URL: "login" }]
    ] as const
  ) {
    it.effect(`${setting} of ${JSON.stringify(variables)}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(build(variables))
        assert.instanceOf(error, InvalidInput)
        assert.deepStrictEqual((error as InvalidInput).issues.map(({ path }) => path), [setting])
      }))
  }

  it.effect("an invalid domain, with and without a token", () =>
    Effect.gen(function*() {
      for (const who of [client, { IDENTITY_TOKEN: "t" }]) {
        const error = yield* Effect.flip(build({ IDENTITY_DOMAIN: "user@t.example.com", ...who }))
        assert.instanceOf(error, InvalidInput)
      }
    }))
})

it.scoped("a journal creates its directory", () =>
  Effect.gen(function*() {
    const parent = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "journal-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
    )
    const directory = join(parent, "of", "mine")
    yield* Node.journal(directory)
    assert.isTrue(existsSync(directory))
  }))

describe("over sockets", () => {
  it.scoped("client credentials: one token serves all calls", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* service
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* createUsersExport({ format: "csv" })).id, "job_1")
        assert.deepStrictEqual((yield* listActionVersions({ actionId: "a/b", page: 0 })).versions, [])
        assert.isUndefined(yield* deleteEventStream({ id }))
      }).pipe(
        Effect.provide(Node.layerConfig),
        withVariables({ IDENTITY_BASE_URL: `${url}/api/v2`, IDENTITY_AUTH_URL: url, ...client })
      )
      assert.deepStrictEqual(arrived.map(({ method, url }) => `${method} ${url}`), [
        "POST /oauth/token/",
        "POST /api/v2/jobs/users-exports",
        "GET /api/v2/actions/actions/a%2Fb/versions?page=0",
        `DELETE /api/v2/event-streams/${id}`
      ])
      assert.deepStrictEqual(form(arrived[0]!.body), {
        grant_type: "client_credentials",
        client_id: "i",
        client_secret: "s",
        audience: "/api/v2/"
      })
      assert.deepStrictEqual(arrived.slice(1).map(({ headers }) => headers.authorization), [
        "Bearer issued",
        "Bearer issued",
        "Bearer issued"
      ])
      assert.strictEqual(arrived[1]?.body, "{\"format\":\"csv\"}")
    }))

  it.scoped("the audience goes to the token endpoint", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* service
      yield* deleteEventStream({ id }).pipe(
        Effect.provide(Node.layerConfig),
        withVariables({ IDENTITY_BASE_URL: url, IDENTITY_AUTH_URL: url, ...client, IDENTITY_AUDIENCE: "urn:mine" })
      )
      assert.strictEqual(form(arrived[0]!.body).audience, "urn:mine")
    }))

  it.scoped("IDENTITY_TOKEN is sent as it is", () =>
    Effect.gen(function*() {
      const { arrived, url } = yield* service
      yield* deleteEventStream({ id }).pipe(
        Effect.provide(Node.layerConfig),
        withVariables({ IDENTITY_BASE_URL: url, IDENTITY_AUTH_URL: url, IDENTITY_TOKEN: "mine" })
      )
      assert.deepStrictEqual(arrived.map(({ headers }) => headers.authorization), ["Bearer mine"])
    }))

  it.scopedLive("the token endpoint follows from IDENTITY_DOMAIN", () =>
    Effect.gen(function*() {
      const error = yield* deleteEventStream({ id }).pipe(
        Effect.flip,
        Effect.provide(Node.layerConfig),
        withVariables({ IDENTITY_DOMAIN: "127.0.0.1:1", ...client })
      )
      assert.deepInclude(error, { _tag: "TokenError", operation: "deleteEventStream", code: "ECONNREFUSED" })
    }))

  it.scoped("a service that is down is a TransportError with outcome not-sent", () =>
    Effect.gen(function*() {
      const { url } = yield* Effect.scoped(service)
      const error = yield* deleteEventStream({ id }).pipe(
        Retry.withoutRetries,
        Effect.flip,
        Effect.provide(Node.layerConfig),
        withVariables({ IDENTITY_BASE_URL: url, IDENTITY_TOKEN: "mine" })
      )
      assert.deepInclude(error, { _tag: "TransportError", outcome: "not-sent", code: "ECONNREFUSED" })
    }))

  it.scoped("a refused token is replaced, and the call retried once", () =>
    Effect.gen(function*() {
      let issued = 0
      const { arrived, url } = yield* listen((request, response) =>
        request.url.startsWith("/oauth/") ?
          json(response, 200, { access_token: `t${++issued}` })
          : request.headers.authorization === "Bearer t1" ?
          json(response, 401, { message: "Expired token received" })
          : void response.writeHead(204).end()
      )
      yield* deleteEventStream({ id }).pipe(
        Effect.provide(Node.layerConfig),
        withVariables({ IDENTITY_BASE_URL: url, IDENTITY_AUTH_URL: url, ...client })
      )
      assert.deepStrictEqual(arrived.map(({ headers }) => headers.authorization), [
        undefined,
        "Bearer t1",
        undefined,
        "Bearer t2"
      ])
    }))

  it.scoped("options of a server reach the limiter and the client, and Exports has what it needs", () =>
    Effect.gen(function*() {
      const { url } = yield* listen((_, response) => json(response, 503, {}))
      const variables = { IDENTITY_BASE_URL: url, IDENTITY_TOKEN: "mine" }
      const wrong = Node.layerConfigWith({ ceiling: { limit: 0, interval: "1 second" } })
      const error = yield* Effect.flip(Layer.build(wrong)).pipe(withVariables(variables))
      assert.deepInclude(error, { _tag: "InvalidInput", operation: "RateLimiter.layerAdaptive" })
      const layer = Node.layerConfigWith({ maxWait: "10 seconds", retry: { attempts: 0 } })
      const context = yield* Layer.build(layer).pipe(withVariables(variables))
      assert.isTrue(Option.isSome(Context.getOption(context, HttpClient.HttpClient)))
      assert.isTrue(Option.isSome(Context.getOption(context, FileSystem.FileSystem)))
      const failure = yield* Effect.flip(Effect.provide(listActionVersions({ actionId: "a" }), context))
      assert.strictEqual(failure._tag, "UnexpectedResponse")
    }))

  it.scoped("a response in many small pieces is joined", () =>
    Effect.gen(function*() {
      const body = JSON.stringify({ total: 1, per_page: 20, versions: [{ code: "ü".repeat(200) }] })
      const { url } = yield* listen((_, response) => {
        Readable.from([...Buffer.from(body)].map((byte) => Buffer.of(byte))).pipe(response)
      })
      const page = yield* listActionVersions({ actionId: "a" }).pipe(
        Effect.provide(Node.layerConfig),
        withVariables({ IDENTITY_BASE_URL: url, IDENTITY_TOKEN: "mine" })
      )
      assert.deepStrictEqual(page, JSON.parse(body))
    }))
})

it("the routes of the embedded tenant have the order of the contract, however the modules were loaded", () => {
  assert.deepStrictEqual(Tenant.routes.map(({ operation }) => operation), [
    "createUsersExport",
    "updateTokenExchangeProfile",
    "listActionVersions",
    "redeliverEvent",
    "deleteEventStream",
    "getJob",
    "listTokenExchangeProfiles",
    "getTokenExchangeProfile",
    "listActions",
    "getAction",
    "getActionVersion",
    "deployActionVersion",
    "listEventStreams",
    "getEventStream",
    "listDeliveries",
    "getDelivery",
    "redeliverEvents",
    "token",
    "token"
  ])
})
