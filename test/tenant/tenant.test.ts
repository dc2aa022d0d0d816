/** The embedded tenant keeps to the contract and to the wire facts: the same laws in process and over a socket. */
import { NodeHttpServer } from "@effect/platform-node"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpServer from "@effect/platform/HttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { decodeJwt, decodeProtectedHeader } from "jose"
import { createServer } from "node:http"
import { connect } from "node:net"
import { inspect } from "node:util"
import type * as Endpoint from "../../src/Endpoint.js"
import * as operations from "../../src/operations/index.js"
import * as Tenant from "../../src/Tenant.js"
import { decodeForm } from "../../src/tenant/server/formDecoding.js"
import * as InProcess from "../../src/tenant/server/inProcessClient.js"
import * as RequestInput from "../../src/tenant/server/requestInput.js"

const host = "https://tenant.test"
const { demo, demoClients } = Tenant
const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = demo
const [failed, secondFailed, queued, delivered] = stream.events

const endpoints = Object.values(operations).flatMap((exported): ReadonlyArray<Endpoint.Any> =>
  "endpoint" in exported ? [exported.endpoint] : []
)

/** A good call of each operation on the demo tenant. */
const good: Readonly<Record<string, { readonly params?: object; readonly body?: unknown; readonly status: number }>> = {
  createUsersExport: { body: { connection_id: connection.id, format: "csv", limit: 5 }, status: 200 },
  updateTokenExchangeProfile: { params: { id: profile.id }, body: { name: "Renamed" }, status: 200 },
  listActionVersions: { params: { actionId: action.id }, status: 200 },
  redeliverEvent: { params: { id: stream.id, event_id: failed.id }, status: 202 },
  deleteEventStream: { params: { id: demo.streams[1].id }, status: 204 }
}

const fill = (path: string, params: object = {}) =>
  Object.entries(params).reduce((path, [name, value]) => path.replace(`:${name}`, encodeURIComponent(value)), path)

interface Sent {
  readonly params?: object
  readonly query?: string
  readonly body?: unknown
  readonly form?: string
  readonly token?: string
  readonly headers?: Record<string, string>
}

/** Sends a call and gives the answer with its parsed body. */
const send = Effect.fn(
  function*(endpoint: Endpoint.Any, { body, form, headers, params, query = "", token }: Sent = {}) {
    const url = `${host}/api/v2${fill(endpoint.path, params)}${query}`
    const response = yield* HttpClient.execute(
      HttpClientRequest.make(endpoint.method)(url, {
        headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
        ...(body !== undefined && { body: HttpBody.unsafeJson(body) }),
        ...(form !== undefined && { body: HttpBody.text(form, "application/x-www-form-urlencoded") })
      })
    )
    const text = yield* response.text
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text === "" ? undefined : JSON.parse(text)
    }
  }
)

const askToken = Effect.fn(function*(parameters: Record<string, unknown>, path = "/oauth/token") {
  const response = yield* HttpClient.post(`${host}${path}`, { body: HttpBody.unsafeJson(parameters) })
  return { status: response.status, headers: response.headers, json: (yield* response.json) as any }
})

const credentials = (client: Tenant.Client) => ({
  grant_type: "client_credentials",
  client_id: client.id,
  client_secret: Redacted.value(client.secret),
  audience: "/api/v2/"
})

const tokenOf = (client: Tenant.Client = demoClients.full) =>
  Effect.map(askToken(credentials(client)), ({ json }): string => json.access_token)

/** Sends a call with a fresh token. */
const call = (endpoint: Endpoint.Any, sent: Sent = {}, client: Tenant.Client = demoClients.full) =>
  Effect.flatMap(tokenOf(client), (token) => send(endpoint, { token, ...sent }))

const exportUsers = operations.createUsersExport.endpoint
const updateProfile = operations.updateTokenExchangeProfile.endpoint
const listVersions = operations.listActionVersions.endpoint
const redeliver = operations.redeliverEvent.endpoint
const deleteStream = operations.deleteEventStream.endpoint

/** Waits until somebody sleeps by the TestClock: what is signed or sent meanwhile takes real time. */
const sleeping = Effect.promise(() => new Promise((resume) => setImmediate(resume))).pipe(
  Effect.zipRight(TestClock.sleeps()),
  Effect.repeat({ until: Chunk.isNonEmpty })
)

const law = (
  name: string,
  run: () => Effect.Effect<unknown, unknown, HttpClient.HttpClient | Tenant.Tenant>,
  options?: Tenant.Options
) => it.effect(name, () => Effect.provide(run(), Layer.provideMerge(Tenant.layerHttpClient, Tenant.layer(options))))

const ample = { burst: 10_000, refill: 1, per: "1 second" } as const
const generous = { tenant: ample, profileUpdates: ample }

describe("tokens", () => {
  law(
    "are given at both paths, for both content types and all spellings of the audience",
    () =>
      Effect.gen(function*() {
        for (const path of ["/oauth/token", "/oauth/token/"]) {
          for (const audience of ["/api/v2/", "https://any.example/api/v2/", "http://127.0.0.1:8787/api/v2/"]) {
            const parameters = { ...credentials(demoClients.full), audience }
            for (
              const body of [
                HttpBody.unsafeJson(parameters),
                HttpBody.text(new URLSearchParams(parameters).toString(), "application/x-www-form-urlencoded")
              ]
            ) {
              const response = yield* HttpClient.post(`${host}${path}`, { body })
              const json = (yield* response.json) as any
              assert.deepStrictEqual(Object.keys(json).sort(), ["access_token", "expires_in", "scope", "token_type"])
              assert.deepStrictEqual([json.expires_in, json.token_type], [86400, "Bearer"])
              assert.strictEqual(response.headers["cache-control"], "no-store")
              assert.isFalse("x-ratelimit-limit" in response.headers)
            }
          }
        }
      })
  )

  law("carry the service's claims, by the Clock", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("90 seconds")
      const token = yield* tokenOf(demoClients.readsActions)
      assert.deepStrictEqual(decodeProtectedHeader(token), { alg: "HS256", typ: "JWT" })
      const { jti, scope, ...claims } = decodeJwt(token)
      assert.match(String(jti), /^\w{22}$/)
      assert.strictEqual(scope, "read:actions")
      assert.deepStrictEqual(claims, {
        iss: "https://tenant.example/",
        sub: "demo-reads-actions@clients",
        aud: "https://tenant.example/api/v2/",
        iat: 90,
        exp: 90 + 60,
        azp: "demo-reads-actions",
        gty: "client-credentials"
      })
    }), { tokenLifetime: "1 minute" })

  const full = credentials(demoClients.full)
  for (
    const [what, parameters, status, error, description] of [
      ["a grant that is missing", { ...full, grant_type: undefined }, 400, "invalid_request", /parameter: grant_type$/],
      ["another grant", { ...full, grant_type: "password" }, 400, "unsupported_grant_type", /grant type: password$/],
      ["an unknown client", { ...full, client_id: "nobody" }, 401, "invalid_client", /^Unknown client$/],
      ["a wrong secret", { ...full, client_secret: "wrong" }, 401, "invalid_client", /^Unauthorized$/],
      ["a secret that is missing", { ...full, client_secret: undefined }, 401, "invalid_client", /^Unauthorized$/],
      [
        "a grant that cannot be made a string",
        { ...full, grant_type: { toString: 1 } },
        400,
        "invalid_request",
        /parameter: grant_type$/
      ],
      [
        "a client that cannot be made a string",
        { ...full, client_id: { toString: 1 } },
        401,
        "invalid_client",
        /^Unknown client$/
      ],
      [
        "a secret that is a list of the right one",
        { ...full, client_secret: [full.client_secret] },
        401,
        "invalid_client",
        /^Unauthorized$/
      ],
      [
        "an audience that cannot be made a string",
        { ...full, audience: { toString: 1 } },
        403,
        "access_denied",
        /within domain: $/
      ],
      ["an audience that is missing", { ...full, audience: undefined }, 403, "access_denied", /within domain: $/],
      [
        "another audience",
        { ...full, audience: "https://elsewhere.example/" },
        403,
        "access_denied",
        /not enabled within domain: https:\/\/elsewhere\.example\/$/
      ],
      ["an audience like ours", { ...full, audience: "https://x/y/api/v2/" }, 403, "access_denied", /\/y\/api\/v2\/$/],
      ["an audience within ours", { ...full, audience: "https://x/api/v2/y" }, 403, "access_denied", /\/api\/v2\/y$/]
    ] as const
  ) {
    law(`are refused for ${what}`, () =>
      Effect.gen(function*() {
        const { headers, json, status: answered } = yield* askToken(parameters)
        assert.deepStrictEqual([answered, json.error], [status, error])
        assert.match(json.error_description, description)
        assert.lengthOf(Object.keys(json), 2)
        assert.strictEqual(headers["cache-control"], "no-store")
      }))
  }

  law("are refused for a body that cannot be read", () =>
    Effect.gen(function*() {
      for (
        const body of [
          HttpBody.text("{", "application/json"),
          HttpBody.text("[]", "application/json"),
          HttpBody.text("x", "text/plain"),
          HttpBody.text("grant_type=a&grant_type=b", "application/x-www-form-urlencoded"),
          HttpBody.empty
        ]
      ) {
        const response = yield* HttpClient.post(`${host}/oauth/token`, { body })
        assert.strictEqual(response.status, 400)
        assert.strictEqual(((yield* response.json) as any).error, "invalid_request")
      }
    }))
})

describe("every operation", () => {
  for (const endpoint of endpoints) {
    const { status, ...sent } = good[endpoint.name]!

    law(`${endpoint.name} succeeds with its own scope alone`, () =>
      Effect.gen(function*() {
        const answer = yield* call(endpoint, sent, { ...demoClients.full, id: "only" })
        assert.strictEqual(answer.status, status)
        assert.isTrue(endpoint.success === undefined || Schema.is(endpoint.success)(answer.json))
      }), { clients: [{ ...demoClients.full, id: "only", scopes: [endpoint.scope] }] })

    law(`${endpoint.name} is refused without its scope, which the answer names`, () =>
      Effect.gen(function*() {
        const answer = yield* call(endpoint, sent)
        assert.strictEqual(answer.status, 403)
        assert.deepStrictEqual(answer.json, {
          statusCode: 403,
          error: "Forbidden",
          message: `Insufficient scope, expected any of: ${endpoint.scope}`,
          errorCode: "insufficient_scope"
        })
      }), { clients: [{ ...demoClients.full, scopes: ["read:nothing"] }] })

    law(`${endpoint.name} is refused without a token, and with one that is no JWT`, () =>
      Effect.gen(function*() {
        for (const headers of [{}, { authorization: "" }]) {
          const missing = yield* send(endpoint, { ...sent, headers })
          assert.deepStrictEqual([missing.status, missing.json.message], [401, "Missing authentication"])
        }
        for (
          const authorization of [
            "Bearer abc",
            "Bearer a.b",
            "Basic a.b.c",
            "Bearer",
            "Bearer a.b.c d",
            "No bearer a.b.c"
          ]
        ) {
          const bad = yield* send(endpoint, { ...sent, headers: { authorization } })
          assert.deepStrictEqual(
            [bad.status, bad.json.message, bad.json.errorCode],
            [400, "Bad HTTP authentication header format", "Bearer"]
          )
        }
      }), { buckets: generous })

    law(`${endpoint.name} is refused with a token that was not signed by the tenant`, () =>
      Effect.gen(function*() {
        const token = yield* tokenOf()
        const other = yield* Effect.provide(
          tokenOf(),
          Layer.provide(Tenant.layerHttpClient, Tenant.layer())
        )
        for (
          const [bad, message] of [[other, /^Invalid signature/], ["a.b.c", /^Invalid token$/], [
            `${token}A`,
            /^Invalid/
          ]] as const
        ) {
          const answer = yield* send(endpoint, { ...sent, token: bad })
          assert.strictEqual(answer.status, 401)
          assert.match(answer.json.message, message)
          assert.deepStrictEqual(answer.json.attributes, { error: answer.json.message })
        }
      }))

    law(`${endpoint.name} is refused with an expired token, and not a second earlier`, () =>
      Effect.gen(function*() {
        const token = yield* tokenOf()
        yield* TestClock.adjust("86399 seconds")
        assert.strictEqual((yield* send(endpoint, { ...sent, token })).status, status)
        yield* TestClock.adjust("1 second")
        const answer = yield* send(endpoint, { ...sent, token })
        assert.strictEqual(answer.status, 401)
        assert.match(answer.json.message, /^Expired token received/)
      }))

    law(`${endpoint.name} is refused with a revoked token, and served with the next`, () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const token = yield* tokenOf()
        yield* tenant.revokeTokens
        const answer = yield* send(endpoint, { ...sent, token })
        assert.deepStrictEqual([answer.status, answer.json.message], [401, "Invalid token"])
        assert.strictEqual((yield* call(endpoint, sent)).status, status)
      }))

    law(`${endpoint.name} reports its bucket and the date on every answer`, () =>
      Effect.gen(function*() {
        const token = yield* tokenOf()
        for (const headers of [{ authorization: `Bearer ${token}` }, {}, { authorization: "x" }]) {
          const answer = yield* send(endpoint, { ...sent, headers })
          for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
            assert.match(answer.headers[name]!, /^\d+$/)
          }
          assert.strictEqual(answer.headers["date"], "Thu, 01 Jan 1970 00:00:00 GMT")
        }
      }))

    if (endpoint.payload !== undefined) {
      law(`${endpoint.name} refuses bodies that are none, whatever the content type`, () =>
        Effect.gen(function*() {
          const token = yield* tokenOf()
          for (
            const [contentType, text, told] of [
              ["application/json", "{", "'The body is not valid JSON'"],
              ["application/json", "", "'The body is not valid JSON'"],
              ["Application/JSON ;charset=utf-8", "{", "'The body is not valid JSON'"],
              ["application/json", "[]", "'Expected an object'"],
              ["application/json", "null", "'Expected an object'"],
              ["text/plain", "{}", "'The content type text/plain is not supported'"],
              [undefined, "", "'The content type (none) is not supported'"],
              ["application/x-www-form-urlencoded", "nobody=1", "'is unexpected' on property nobody"],
              ["application/x-www-form-urlencoded", "__proto__[a]=1", "'is unexpected' on property __proto__"],
              ["application/json; charset=utf-8", "{\"__proto__\":{\"a\":1}}", "'is unexpected' on property __proto__"]
            ] as const
          ) {
            const response = yield* HttpClient.execute(
              HttpClientRequest.make(endpoint.method)(`${host}/api/v2${fill(endpoint.path, sent.params)}`, {
                headers: { authorization: `Bearer ${token}` },
                body: contentType === undefined ? HttpBody.empty : HttpBody.text(text, contentType)
              })
            )
            assert.strictEqual(response.status, 400, `${contentType} ${text}`)
            assert.deepStrictEqual(yield* response.json, {
              statusCode: 400,
              error: "Bad Request",
              message: `Payload validation error: ${told}`,
              errorCode: "invalid_body"
            })
          }
        }), { buckets: generous })
    }
  }

  law("is served but for those that do not exist: 404", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      const get = (path: string) => HttpClient.get(`${host}${path}`, { headers: { authorization: `Bearer ${token}` } })
      const ours = yield* get("/api/v2/nothing")
      assert.strictEqual(ours.status, 404)
      assert.strictEqual(ours.headers["x-ratelimit-remaining"], "49")
      assert.deepStrictEqual(yield* ours.json, { statusCode: 404, error: "Not Found", message: "Not Found" })
      for (const path of ["/", "/nothing", "/API/v2/jobs", "/api/v20", "/api/v2"]) {
        const { headers, status } = yield* get(path)
        assert.deepStrictEqual([status, headers["x-ratelimit-remaining"]], [404, undefined])
      }
      const versions = `actions/actions/${action.id}/versions`
      for (const [path, remaining] of [[`/api/v2/${versions}/`, "48"], [`/api/v2//${versions}`, "47"]] as const) {
        const { headers, status } = yield* get(path)
        assert.deepStrictEqual([status, headers["x-ratelimit-remaining"]], [404, remaining])
      }
    }))

  it("is among the routes, and so are both token paths", () => {
    assert.deepStrictEqual(
      Tenant.routes.map(({ method, operation, path, scope }) => [operation, method, path, scope]),
      [
        ...endpoints.map(({ method, name, path, scope }) => [name, method, `/api/v2${path}`, scope]),
        ["token", "POST", "/oauth/token/", undefined],
        ["token", "POST", "/oauth/token", undefined]
      ]
    )
  })
})

describe("exports", () => {
  law("are jobs that hold what was asked for", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-01-02T03:04:05.678Z"))
      const fields = [{ name: "email", export_as: "E-mail" }, { name: "name" }]
      const answer = yield* call(exportUsers, {
        body: { connection_id: connection.id, format: "csv", limit: 7, fields }
      })
      const { id, ...job } = answer.json
      assert.match(id, /^job_[A-Za-z0-9]{16}$/)
      assert.deepStrictEqual(job, {
        type: "users_export",
        status: "pending",
        created_at: "2026-01-02T03:04:05.678Z",
        connection: connection.name,
        connection_id: connection.id,
        format: "csv",
        limit: 7,
        fields
      })
      const tenant = yield* Tenant.Tenant
      assert.deepStrictEqual((yield* tenant.state).jobs, [answer.json])
    }))

  law("of nothing in particular are JSON and have no connection", () =>
    Effect.gen(function*() {
      const first = (yield* call(exportUsers, { body: {} })).json
      const second = (yield* call(exportUsers, { form: "" })).json
      assert.deepStrictEqual(Object.keys(first).sort(), ["created_at", "format", "id", "status", "type"])
      assert.strictEqual(first.format, "json")
      assert.notStrictEqual(first.id, second.id)
      const tenant = yield* Tenant.Tenant
      assert.deepStrictEqual((yield* tenant.state).jobs, [first, second])
    }))

  law("are for global clients only", () =>
    Effect.gen(function*() {
      const answer = yield* call(exportUsers, { body: { nonsense: true } }, demoClients.notGlobal)
      assert.strictEqual(answer.status, 401)
      assert.deepStrictEqual(answer.json, {
        statusCode: 401,
        error: "Unauthorized",
        message: "Client is not global",
        attributes: { error: "Client is not global" }
      })
      assert.strictEqual((yield* call(listVersions, good["listActionVersions"], demoClients.notGlobal)).status, 200)
    }))

  law("from a connection that does not exist are refused", () =>
    Effect.gen(function*() {
      const answer = yield* call(exportUsers, { body: { connection_id: "con_0000000000000000" } })
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(
        answer.json.message,
        "Payload validation error: 'The connection does not exist: con_0000000000000000' on property connection_id"
      )
    }))

  const long = "x".repeat(101)
  for (
    const [property, body, form] of [
      ["connection_id", { connection_id: "con_short" }, "connection_id=con_short"],
      ["format", { format: "xml" }, "format=xml"],
      ["limit", { limit: 0 }, "limit=0"],
      ["limit", { limit: 1.5 }, "limit=1.5"],
      ["limit", { limit: "5" }, "limit=five"],
      ["limit", { limit: null }, "limit="],
      ["fields", { fields: {} }, "fields=email"],
      ["fields", { fields: "x" }, "fields[1][name]=x"],
      ["fields", { fields: 1 }, "fields[4294967295][name]=x"],
      ["fields", { fields: true }, "fields[length]=2"],
      ["fields[0]", { fields: ["x"] }, "fields[0]=x"],
      ["fields[0].name", { fields: [{ export_as: "x" }] }, "fields[0][export_as]=x"],
      ["fields[1].name", { fields: [{ name: "x" }, { name: long }] }, `fields[0][name]=x&fields[1][name]=${long}`],
      [
        "fields[0].export_as",
        { fields: [{ name: "x", export_as: long }] },
        `fields[0][name]=x&fields[0][export_as]=${long}`
      ],
      ["fields[0].more", { fields: [{ name: "x", more: "y" }] }, "fields[0][name]=x&fields[0][more]=y"],
      ["fields[0].name", { fields: [{ name: { a: "b" } }] }, "fields[0][name][a]=b"],
      ["more", { more: 1 }, "more[x]=1"],
      ["__proto__", JSON.parse("{\"__proto__\":1}"), "__proto__=1"]
    ] as const
  ) {
    law(`with a wrong ${property} are refused by its name: ${form.slice(0, 40)}`, () =>
      Effect.gen(function*() {
        for (const sent of [{ body }, { form }]) {
          const answer = yield* call(exportUsers, sent)
          assert.strictEqual(answer.status, 400)
          assert.strictEqual(answer.json.errorCode, "invalid_body")
          assert.match(answer.json.message, new RegExp(` on property ${property.replace(/[[\]]/g, "\\$&")}$`))
        }
      }))
  }

  law("are told all that a member may be", () =>
    Effect.gen(function*() {
      const answer = yield* call(exportUsers, { body: { format: "xml" } })
      assert.strictEqual(
        answer.json.message,
        "Payload validation error: 'Expected \"json\" or \"csv\"' on property format"
      )
    }))
})

describe("profile updates", () => {
  const id = profile.id
  const other = { ...profile, id: "tep_0000000000000000", subject_token_type: "urn:example:other" }

  law("change what is given and nothing else", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-01-02T03:04:05.678Z"))
      const updated_at = "2026-01-02T03:04:05.678Z"
      const first = yield* call(updateProfile, { params: { id }, body: { name: "New name" } })
      assert.deepStrictEqual(first.json, { ...profile, name: "New name", updated_at })
      const subject_token_type = "https://example.com/token"
      const second = yield* call(updateProfile, { params: { id }, form: `subject_token_type=${subject_token_type}` })
      assert.deepStrictEqual(second.json, { ...profile, name: "New name", subject_token_type, updated_at })
      const tenant = yield* Tenant.Tenant
      assert.deepStrictEqual((yield* tenant.state).profiles, [second.json])
    }))

  law("of a profile that is not there are 404", () =>
    Effect.gen(function*() {
      const answer = yield* call(updateProfile, { params: { id: "tep_none" }, body: { name: "New name" } })
      assert.deepStrictEqual(
        [answer.status, answer.json.message],
        [404, "The token exchange profile does not exist."]
      )
    }))

  law("that take another profile's subject token type are 409; one's own is fine", () =>
    Effect.gen(function*() {
      const sent = { params: { id }, body: { subject_token_type: other.subject_token_type } }
      const answer = yield* call(updateProfile, sent)
      assert.deepStrictEqual(
        [answer.status, answer.json.message],
        [409, "A token exchange profile with this subject_token_type exists already."]
      )
      const own = { params: { id }, body: { subject_token_type: profile.subject_token_type } }
      assert.strictEqual((yield* call(updateProfile, own)).status, 200)
    }), { seed: { profiles: [profile, other] } })

  law("need at least one member", () =>
    Effect.gen(function*() {
      for (const sent of [{ body: {} }, { form: "" }]) {
        const answer = yield* call(updateProfile, { params: { id }, ...sent })
        assert.strictEqual(answer.status, 400)
        assert.strictEqual(answer.json.message, "Payload validation error: 'Too few properties (0), minimum 1'")
      }
    }))

  for (
    const [property, value, told] of [
      ["name", "ab", "Expected a string of 3 to 50 characters"],
      ["name", "x".repeat(51), "Expected a string of 3 to 50 characters"],
      ["subject_token_type", "urn:a:b", "Expected a string of 8 to 100 characters"],
      ["subject_token_type", "no uri at all", "Expected a URI of 8 to 100 characters"],
      ["subject_token_type", "http://example.com/", "Must begin with https:// or urn:"],
      ["subject_token_type", "xurn:example:type", "Must begin with https:// or urn:"],
      ["subject_token_type", "urn:ietf:params:oauth:token-type:jwt", "This prefix is reserved"],
      ["subject_token_type", "urn:auth0:anything", "This prefix is reserved"],
      ["subject_token_type", "urn:auth0", "This prefix is reserved"],
      ["subject_token_type", "urn:okta:anything", "This prefix is reserved"],
      ["subject_token_type", "urn:OKTA:anything", "This prefix is reserved"],
      ["subject_token_type", "https://auth0.com/token", "This prefix is reserved"],
      ["subject_token_type", "https://acme.okta.com", "This prefix is reserved"],
      ["id", "tep_x", "is unexpected"]
    ] as const
  ) {
    law(
      `with a wrong ${property} are refused by its name: ${value.slice(0, 60)}`,
      () =>
        Effect.gen(function*() {
          const answer = yield* call(updateProfile, { params: { id }, body: { [property]: value } })
          assert.strictEqual(answer.status, 400)
          assert.strictEqual(answer.json.message, `Payload validation error: '${told}' on property ${property}`)
        }),
      { buckets: generous }
    )
  }

  law("take a subject token type that only resembles a reserved one", () =>
    Effect.gen(function*() {
      for (
        const subject_token_type of [
          "urn:example:urn:ietf:params",
          "urn:auth0x:anything",
          "https://notauth0.com/token",
          "https://auth0.com.example",
          "https://example.com/https://auth0.com/"
        ]
      ) {
        const answer = yield* call(updateProfile, { params: { id }, body: { subject_token_type } })
        assert.deepStrictEqual([answer.status, answer.json.subject_token_type], [200, subject_token_type])
      }
    }), { buckets: generous })
})

describe("versions", () => {
  const many = { id: "many", versions: Arr.makeBy(45, (index) => ({ id: `v${index}`, number: 45 - index })) }
  const seed = { actions: [many, { id: "none", versions: [] }] }

  law("come 20 to a page, and the first page does not say that it is page 0", () =>
    Effect.gen(function*() {
      const first = (yield* call(listVersions, { params: { actionId: "many" } })).json
      assert.deepStrictEqual(first, { total: 45, per_page: 20, versions: many.versions.slice(0, 20) })
      const zero = (yield* call(listVersions, { params: { actionId: "many" }, query: "?page=0" })).json
      assert.deepStrictEqual(zero, first)
      const last = (yield* call(listVersions, { params: { actionId: "many" }, query: "?page=2" })).json
      assert.deepStrictEqual(last, { total: 45, page: 2, per_page: 20, versions: many.versions.slice(40) })
      const beyond = (yield* call(listVersions, { params: { actionId: "none" }, query: "?page=9&per_page=100" })).json
      assert.deepStrictEqual(beyond, { total: 0, page: 9, per_page: 100, versions: [] })
    }), { seed })

  for (
    const [property, query, told] of [
      ["per_page", "?per_page=101", "Must be at most 100"],
      ["per_page", "?per_page=x", "Expected number"],
      ["page", "?page=-1", "Expected an integer of at least 0"],
      ["page", "?page=1&page=2", "is given twice"],
      ["sort", "?sort=1", "is unexpected"]
    ] as const
  ) {
    law(`are refused for ${query} by its name`, () =>
      Effect.gen(function*() {
        const answer = yield* call(listVersions, { params: { actionId: "many" }, query })
        assert.deepStrictEqual([answer.status, answer.json.errorCode], [400, "validation_error"])
        assert.strictEqual(answer.json.message, `Query validation error: '${told}' on property ${property}`)
      }), { seed })
  }

  law(
    "of an unknown action are 404",
    () =>
      Effect.map(
        call(listVersions, { params: { actionId: "unknown" } }),
        ({ json, status }) => assert.deepStrictEqual([status, json.message], [404, "The action does not exist."])
      )
  )

  law("of an action with any id reach just that action", () =>
    Effect.gen(function*() {
      const ids = FastCheck.sample(FastCheck.fullUnicodeString({ minLength: 1, maxLength: 30 }), {
        numRuns: 300,
        seed: 7
      })
        .concat(["/", "a/b", "?", "#", "%", "%2F", "%252F", ";", "a;b", "İ", "+", " ", "é", ":", "*", "x".repeat(2000)])
        .filter((id) => !/\p{Cs}/u.test(id) && id !== "." && id !== "..")
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.seed({ actions: ids.map((id) => ({ id, versions: [{ id }] })) })
      for (const actionId of ids) {
        const answer = yield* send(listVersions, { params: { actionId }, token })
        assert.deepStrictEqual(answer.json.versions, [{ id: actionId }])
      }
      const paths = (yield* tenant.requests).slice(1).map(({ path }) => path)
      assert.deepStrictEqual(paths, ids.map((id) => `/api/v2/actions/actions/${encodeURIComponent(id)}/versions`))
    }), { buckets: generous })

  law("keep a `;` that was not encoded in the path", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      const answer = yield* HttpClient.get(`${host}/api/v2/actions/actions/a;b/versions`, {
        headers: { authorization: `Bearer ${token}` }
      })
      assert.strictEqual(((yield* answer.json) as any).total, 0)
    }), { seed: { actions: [{ id: "a;b", versions: [] }] } })
})

describe("events and streams", () => {
  const again = (event_id: string, id: string = stream.id) => call(redeliver, { params: { id, event_id } })

  law("redeliver an event that failed, once, and it is delivered 30 seconds later", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const states = Effect.map(tenant.state, ({ streams }) => streams[0]!.events.map(({ state }) => state))
      assert.deepStrictEqual(yield* states, ["failed", "failed", "queued", "delivered"])
      yield* TestClock.adjust("10 seconds")
      const answer = yield* again(failed.id)
      assert.deepStrictEqual([answer.status, answer.text], [202, "{}"])
      assert.strictEqual((yield* again(failed.id)).status, 409)
      assert.deepStrictEqual(yield* states, ["queued", "failed", "queued", "delivered"])
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* states, ["queued", "failed", "delivered", "delivered"])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* states, ["delivered", "failed", "delivered", "delivered"])
      assert.strictEqual((yield* again(failed.id)).status, 409)
      assert.strictEqual((yield* again(secondFailed.id)).status, 202)
    }))

  law("refuse to redeliver what is queued or delivered", () =>
    Effect.gen(function*() {
      for (const { id } of [queued, delivered]) {
        const answer = yield* again(id)
        assert.strictEqual(answer.status, 409)
        assert.include(answer.json.message, "not in a state that allows redelivery")
      }
    }))

  law("know neither the events nor the streams that are not there", () =>
    Effect.gen(function*() {
      const noStream = yield* again(failed.id, "est_0000000000000000000000")
      assert.deepStrictEqual(noStream.json, {
        statusCode: 404,
        error: "Not Found",
        message: "The requested stream does not exist."
      })
      for (const answer of [yield* again("evt_0000000000000000000000"), yield* again(failed.id, demo.streams[1].id)]) {
        assert.deepStrictEqual([answer.status, answer.json.message], [404, "The requested event does not exist."])
      }
    }))

  law("delete a stream, and again, with no body under the content type of JSON", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      for (const _ of [1, 2]) {
        const answer = yield* call(deleteStream, { params: { id: stream.id } })
        assert.deepStrictEqual([answer.status, answer.text], [204, ""])
        assert.strictEqual(answer.headers["content-type"], "application/json")
        assert.deepStrictEqual((yield* tenant.state).streams, [demo.streams[1]])
      }
      assert.strictEqual((yield* again(failed.id)).status, 404)
    }))

  law("refuse ids that have not exactly 26 characters", () =>
    Effect.gen(function*() {
      for (const id of ["est_short", `${stream.id}x`, `${stream.id};x`]) {
        const answer = yield* call(deleteStream, { params: { id } })
        assert.deepStrictEqual([answer.status, answer.json.errorCode], [400, "validation_error"])
        assert.match(answer.json.message, / on property id$/)
      }
      const tenant = yield* Tenant.Tenant
      assert.lengthOf((yield* tenant.state).streams, 2)
    }))
})

describe("buckets", () => {
  const small = { burst: 2, refill: 2, per: "1 second" } as const
  const limits = (answer: { readonly headers: Readonly<Record<string, string>> }) =>
    ["limit", "remaining", "reset"].map((name) => Number(answer.headers[`x-ratelimit-${name}`]))

  law("hold a burst, refill continuously and say when they are full", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(10_000)
      const token = yield* tokenOf()
      const list = send(listVersions, { params: { actionId: action.id }, token })
      assert.deepStrictEqual(limits(yield* list), [2, 1, 11])
      assert.deepStrictEqual(limits(yield* list), [2, 0, 11])
      const refused = yield* list
      assert.strictEqual(refused.status, 429)
      assert.deepStrictEqual(limits(refused), [2, 0, 11])
      assert.strictEqual(refused.headers["retry-after"], "1")
      assert.deepStrictEqual(refused.json, {
        statusCode: 429,
        error: "Too Many Requests",
        message: "Global limit has been reached",
        errorCode: "too_many_requests"
      })
      yield* TestClock.adjust("499 millis")
      assert.strictEqual((yield* list).status, 429)
      yield* TestClock.adjust("1 millis")
      const served = yield* list
      assert.strictEqual(served.status, 200)
      assert.isUndefined(served.headers["retry-after"])
      assert.deepStrictEqual(limits(served), [2, 0, 12])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(limits(yield* list), [2, 1, 3611])
    }), { buckets: { tenant: small } })

  law("tell how many whole seconds it takes until one call is free", () =>
    Effect.gen(function*() {
      const list = call(listVersions, { params: { actionId: action.id } })
      assert.strictEqual((yield* list).status, 200)
      yield* TestClock.adjust("500 millis")
      assert.strictEqual((yield* list).headers["retry-after"], "60")
    }), { buckets: { tenant: { burst: 1, refill: 1, per: "1 minute" } } })

  law("refuse before they ask who calls, and count what is refused for other reasons", () =>
    Effect.gen(function*() {
      const statuses = yield* Effect.all(Arr.makeBy(3, () => send(deleteStream, { params: { id: stream.id } })))
      assert.deepStrictEqual(statuses.map(({ status }) => status), [401, 401, 429])
    }), { buckets: { tenant: small } })

  law("are two: profile updates draw on their own and report it", () =>
    Effect.gen(function*() {
      const update = call(updateProfile, { params: { id: profile.id }, body: { name: "New name" } })
      const list = call(listVersions, { params: { actionId: action.id } })
      for (const [remaining, reset] of [[4, 1], [3, 2], [2, 2], [1, 3], [0, 3]] as const) {
        assert.deepStrictEqual(limits(yield* update), [5, remaining, reset])
      }
      assert.strictEqual((yield* update).status, 429)
      assert.deepStrictEqual(limits(yield* list), [50, 49, 1])
      yield* TestClock.adjust("600 millis")
      assert.strictEqual((yield* update).status, 200)
    }))

  law("must be possible", () =>
    Effect.gen(function*() {
      for (const bad of [{ ...small, burst: 0 }, { ...small, refill: 0 }, { ...small, per: 0 }]) {
        const exit = yield* Effect.exit(Tenant.make({ buckets: { tenant: bad } }))
        assert.match(String(exit), /burst must be at least 1, and refill and per must be greater than 0/)
      }
    }))
})

describe("faults", () => {
  const list = (token: string) => send(listVersions, { params: { actionId: action.id }, token })
  const remove = (token: string) => send(deleteStream, { params: { id: stream.id }, token })

  law("replace the answer of so many calls, and the call is not carried out", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.injectFault({ status: 503, times: 2 })
      for (const _ of [1, 2]) {
        const answer = yield* remove(token)
        assert.strictEqual(answer.status, 503)
        assert.deepStrictEqual(answer.json.error, "Service Unavailable")
        assert.isUndefined(answer.headers["x-ratelimit-limit"])
      }
      assert.lengthOf((yield* tenant.state).streams, 2)
      assert.strictEqual((yield* remove(token)).status, 204)
    }))

  law("say the status in words", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      for (
        const [statusCode, error] of [
          [400, "Bad Request"],
          [429, "Too Many Requests"],
          [500, "Internal Server Error"],
          [502, "Bad Gateway"],
          [504, "Gateway Timeout"],
          [599, "Error"]
        ] as const
      ) {
        yield* tenant.injectFault({ status: statusCode })
        const answer = yield* send(listVersions, { params: { actionId: action.id } })
        assert.strictEqual(answer.status, statusCode)
        assert.deepStrictEqual(answer.json, { statusCode, error, message: "An injected fault" })
      }
    }))

  law("are taken in their order, each by the first call that it is meant for", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.injectFault({ status: 500, times: 0 })
      yield* tenant.injectFault({ operation: "deleteEventStream", status: 501 })
      yield* tenant.injectFault({ operation: "token", status: 502 })
      yield* tenant.injectFault({ status: 503 })
      const statuses = [
        (yield* list(token)).status,
        (yield* list(token)).status,
        (yield* remove(token)).status,
        (yield* askToken({})).status,
        (yield* remove(token)).status
      ]
      assert.deepStrictEqual(statuses, [503, 200, 501, 502, 204])
    }))

  law("send text as it is, anything else as JSON, and nothing with a success", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const get = Effect.flatMap(HttpClient.get(`${host}/`), (response) =>
        Effect.map(response.text, (text) => [response.status, response.headers["content-type"], text]))
      yield* tenant.injectFault({ body: "<html>" })
      yield* tenant.injectFault({ status: 502, body: "<html>", headers: { "Content-Type": "text/html" } })
      yield* tenant.injectFault({ body: { a: null } })
      yield* tenant.injectFault({ status: 500, body: [] })
      yield* tenant.injectFault({ status: 201 })
      yield* tenant.injectFault({ status: 204, body: "lost" })
      const answers = yield* Effect.all(Arr.makeBy(6, () =>
        get))
      assert.deepStrictEqual(answers, [
        [200, "text/plain; charset=utf-8", "<html>"],
        [502, "text/html", "<html>"],
        [200, "application/json; charset=utf-8", "{\"a\":null}"],
        [500, "application/json; charset=utf-8", "[]"],
        [201, "application/json", ""],
        [204, "text/plain; charset=utf-8", ""]
      ])
    }))

  law("add, replace and take away headers of the genuine answer", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.injectFault({
        headers: { "X-RateLimit-Reset": "1", "X-RateLimit-Limit": undefined, Date: "never", more: "x" }
      })
      const { headers, status } = yield* list(token)
      assert.deepStrictEqual(
        [status, headers["x-ratelimit-reset"], headers["x-ratelimit-remaining"], headers["date"], headers["more"]],
        [200, "1", "49", "never", "x"]
      )
      assert.isFalse("x-ratelimit-limit" in headers)
    }))

  law("delay the genuine answer, by the Clock", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.injectFault({ delay: "1 minute" })
      const fiber = yield* Effect.fork(remove(token))
      yield* sleeping
      assert.lengthOf((yield* tenant.state).streams, 2)
      yield* TestClock.adjust("59 seconds")
      const { operation, status } = (yield* tenant.requests).at(-1)!
      assert.deepStrictEqual([operation, status], ["deleteEventStream", undefined])
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).status, 204)
      assert.strictEqual((yield* tenant.requests).at(-1)!.status, 204)
    }))

  law("stop with the caller: what was to be carried out later never is", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.injectFault({ delay: "1 minute" })
      const fiber = yield* Effect.fork(remove(token))
      yield* sleeping
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("2 minutes")
      assert.lengthOf((yield* tenant.state).streams, 2)
      assert.strictEqual((yield* tenant.requests).at(-1)!.status, undefined)
    }))

  law("can carry the call out first", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.injectFault({ delay: "1 minute", status: 504, carriedOut: true })
      const fiber = yield* Effect.fork(remove(token))
      yield* sleeping
      assert.lengthOf((yield* tenant.state).streams, 1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(fiber)).status, 504)
    }))

  law("cut the connection before the answer", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      const faults: ReadonlyArray<Tenant.Fault> = [
        {},
        { status: 500 },
        { body: "text" },
        { carriedOut: false },
        { carriedOut: true }
      ]
      for (const fault of faults) {
        yield* tenant.injectFault({ cut: "before", ...fault })
        const error = (yield* Effect.flip(remove(token))) as any
        assert.deepStrictEqual([error._tag, error.reason, error.cause.code], [
          "RequestError",
          "Transport",
          "ECONNRESET"
        ])
        assert.strictEqual(String(error.cause), "ConnectionReset: An injected fault cut the connection")
        assert.lengthOf((yield* tenant.state).streams, fault.carriedOut === true ? 1 : 2)
        assert.isUndefined((yield* tenant.requests).at(-1)!.status)
      }
    }))

  law(
    "cut the connection within a body, genuine or not, and before where none can be cut",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const token = yield* tokenOf()
        for (const fault of [{}, { status: 500 }, { body: "ab" }]) {
          yield* tenant.injectFault({ cut: "within", ...fault })
          const error = (yield* Effect.flip(list(token))) as any
          assert.deepStrictEqual([error._tag, error.cause.code], ["ResponseError", "ECONNRESET"])
          assert.isDefined((yield* tenant.requests).at(-1)!.status)
        }
        for (const fault of [{ body: "a" }, {}]) {
          yield* tenant.injectFault({ cut: "within", ...fault })
          assert.strictEqual(((yield* Effect.flip(remove(token))) as any)._tag, "RequestError")
        }
      })
  )

  law("must be something that a server can do", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      for (
        const fault of [{ status: 600 }, { status: 101 }, { status: 200.5 }, { headers: { "a b": "" } }, {
          headers: { a: "1\r\nb: 2" }
        }]
      ) {
        const exit = yield* Effect.exit(tenant.injectFault(fault))
        assert.match(String(exit), /status must be an integer from 200 to 599, and headers must be valid in HTTP/)
      }
    }))
})

describe("what was received", () => {
  law("is remembered as it came, in its order", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* TestClock.adjust("5 seconds")
      yield* send(exportUsers, { form: "fields[0][name]=a%20b&limit=5", token, headers: { "X-Mine": "1" } })
      yield* send(exportUsers, { body: { limit: 0 } })
      yield* send(listVersions, { params: { actionId: "a/b c" }, query: "?page=1&q=a%26b&q=", token })
      yield* HttpClient.post(`${host}/nothing?x`, { body: HttpBody.text("{", "application/json") })
      const [first, ...rest] = yield* tenant.requests
      assert.deepStrictEqual([first!.operation, first!.at, first!.status, first!.path], [
        "token",
        0,
        200,
        "/oauth/token"
      ])
      assert.deepStrictEqual(
        rest.map((
          { at, body, contentType, method, operation, path, query, status }
        ) => [at, method, path, query, contentType, body, operation, status]),
        [
          [
            5000,
            "POST",
            "/api/v2/jobs/users-exports",
            [],
            "application/x-www-form-urlencoded",
            { fields: [{ name: "a b" }], limit: 5 },
            "createUsersExport",
            200
          ],
          [5000, "POST", "/api/v2/jobs/users-exports", [], "application/json", { limit: 0 }, "createUsersExport", 401],
          [
            5000,
            "GET",
            "/api/v2/actions/actions/a%2Fb%20c/versions",
            [["page", "1"], ["q", "a&b"], ["q", ""]],
            undefined,
            undefined,
            "listActionVersions",
            400
          ],
          [5000, "POST", "/nothing", [["x", ""]], "application/json", "{", undefined, 404]
        ]
      )
      assert.strictEqual(rest[0]!.headers["x-mine"], "1")
      assert.strictEqual(rest[0]!.headers["host"], "tenant.test")
    }))

  law("never shows a token or a client's secret", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      const secret = "demo-full-secret"
      yield* send(listVersions, {
        params: { actionId: action.id },
        token,
        headers: { cookie: secret, "proxy-authorization": secret }
      })
      for (
        const text of [
          `{"client_secret":"${secret}"`,
          `client_secret=${secret}`,
          `client_secret=${secret}&client_secret=x`
        ]
      ) {
        for (const type of ["application/json", "application/x-www-form-urlencoded", "text/plain"]) {
          yield* HttpClient.post(`${host}/oauth/token`, { body: HttpBody.text(text, type) })
        }
      }
      const requests = yield* tenant.requests
      for (const text of [inspect(requests, { depth: 9 }), JSON.stringify(requests)]) {
        assert.notInclude(text, token)
        assert.notInclude(text, secret)
        assert.include(text, "<redacted>")
      }
      assert.strictEqual(
        Redacted.value(requests[1]!.headers["authorization"] as Redacted.Redacted<string>),
        `Bearer ${token}`
      )
    }))

  law(
    "shows of a token request the parameters of the grant, and of anything else nothing",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const given = { ...credentials(demoClients.full), scope: "read:users" }
        yield* askToken(given)
        yield* askToken({ grant_type: "password" })
        yield* askToken({ grant_type: "password", password: "p" })
        yield* HttpClient.post(`${host}/oauth/token`, { body: HttpBody.text("[]", "application/json") })
        yield* HttpClient.post(`${host}/oauth/token`)
        const bodies = (yield* tenant.requests).map(({ body }) => body) as ReadonlyArray<any>
        assert.deepStrictEqual(JSON.parse(JSON.stringify(bodies)), [
          { ...given, client_secret: "<redacted>" },
          { grant_type: "password" },
          "<redacted>",
          "<redacted>",
          null
        ])
        assert.strictEqual(Redacted.value(bodies[0].client_secret), given.client_secret)
      })
  )

  law("is text where nobody says what it is, and nothing only where nothing was said", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      for (
        const body of [
          HttpBody.raw(new TextEncoder().encode("{}")),
          HttpBody.text("", "application/json"),
          HttpBody.empty
        ]
      ) {
        yield* HttpClient.post(`${host}/`, { body })
      }
      assert.deepStrictEqual(
        (yield* tenant.requests).map(({ body, contentType }) => [contentType, body]),
        [[undefined, "{}"], ["application/json", ""], [undefined, undefined]]
      )
    }))
})

describe("seeds", () => {
  law("add to the state at any time and replace what has their ids", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      assert.deepStrictEqual(yield* tenant.state, { connections: [], jobs: [], profiles: [], actions: [], streams: [] })
      yield* tenant.seed({ connections: [connection], profiles: [profile] })
      yield* tenant.seed({
        connections: [{ ...connection, name: "other" }],
        actions: [action],
        streams: [demo.streams[1]]
      })
      assert.deepStrictEqual(yield* tenant.state, {
        connections: [{ ...connection, name: "other" }],
        jobs: [],
        profiles: [profile],
        actions: [action],
        streams: [demo.streams[1]]
      })
    }), { seed: {} })

  it("for the demo are like the service's", () => {
    const base58 = "[1-9A-HJ-NP-Za-km-z]"
    for (const { id } of demo.connections) assert.match(id, /^con_[A-Za-z0-9]{16}$/)
    for (const { id } of demo.profiles) assert.match(id, /^tep_[A-Za-z0-9]{16}$/)
    for (const { events, id } of demo.streams) {
      assert.match(id, new RegExp(`^est_${base58}{22}$`))
      for (const event of events) assert.match(event.id, new RegExp(`^evt_${base58}{22}$`))
    }
    const actions: ReadonlyArray<Tenant.Action> = demo.actions
    for (const { id, versions } of actions) {
      assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      for (const version of versions) {
        assert.strictEqual(version.action_id, id)
        assert.match(String(version.created_at), /\.\d{9}Z$/)
        assert.include(String(version.code), `setCustomClaim("revision", ${version.number})`)
        assert.deepInclude<Partial<typeof version>>(version, {
          deployed: version.number === versions.length, // only the newest
          runtime: "node22",
          status: "built",
          action: {
            id,
            name: id === action.id ? "greet" : "exchange-legacy-token",
            supported_triggers: [{ id: "post-login", version: "v3" }],
            all_changes_deployed: true
          },
          supported_triggers: id === action.id
            ? [{ id: "post-login", version: "v3" }]
            : [{ id: "custom-token-exchange", version: "v1" }]
        })
      }
    }
  })
})

describe("the clients of the demo", () => {
  it("may do everything, only read actions, or all but what global clients may", () => {
    const { full, notGlobal, readsActions } = demoClients
    const everything = endpoints.map(({ scope }) => scope)
    assert.deepStrictEqual(
      [full, readsActions, notGlobal].map(({ global, scopes }) => [global, scopes]),
      [[true, everything], [true, ["read:actions"]], [false, everything]]
    )
  })
})

describe("the client in process", () => {
  law("sends every kind of body", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const bytes = new TextEncoder().encode("{\"a\":1}")
      const data = new FormData()
      data.append("a", "1")
      for (
        const body of [
          HttpBody.uint8Array(bytes, "application/json"),
          HttpBody.stream(Stream.make(bytes.subarray(0, 3), bytes.subarray(3)), "application/json"),
          HttpBody.raw("{\"a\":1}", { contentType: "application/json" }),
          HttpBody.formData(data)
        ]
      ) {
        yield* HttpClient.post(`${host}/`, { body })
      }
      const received = yield* tenant.requests
      assert.deepStrictEqual(received.slice(0, 3).map(({ body }) => body), [{ a: 1 }, { a: 1 }, { a: 1 }])
      assert.match(String(received[3]!.contentType), /^multipart\/form-data; boundary=/)
    }))

  law("fails for what no transport can send", () =>
    Effect.gen(function*() {
      const request = HttpClientRequest.setBody(HttpClientRequest.get(host), HttpBody.text("a body"))
      const error = (yield* Effect.flip(HttpClient.execute(request))) as any
      assert.deepStrictEqual([error._tag, error.reason], ["RequestError", "Transport"])
    }))

  law("treats a body that breaks off on its way as none", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const body = HttpBody.stream(Stream.fail("gone"), "application/json")
      assert.strictEqual((yield* HttpClient.post(`${host}/oauth/token`, { body })).status, 400)
      const requests = yield* tenant.requests
      assert.lengthOf(requests, 1)
      assert.strictEqual(Redacted.value(requests[0]!.body as Redacted.Redacted), "")
    }))

  law("gives no body to HEAD and sends no fragment", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const response = yield* HttpClient.head(`${host}/x?y#z`)
      assert.strictEqual(yield* response.text, "")
      assert.deepStrictEqual((yield* tenant.requests).map(({ path, query }) => [path, query]), [["/x", [["y", ""]]]])
    }))

  law("leaves an uninterruptible caller uninterrupted", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      yield* tenant.injectFault({ delay: "1 minute" })
      const answered = yield* Deferred.make<number>()
      const get = Effect.tap(HttpClient.get(`${host}/`), ({ status }) => Deferred.succeed(answered, status))
      const fiber = yield* Effect.fork(Effect.uninterruptible(get))
      yield* sleeping
      yield* Fiber.interruptFork(fiber)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Deferred.await(answered), 404)
    }))

  it.effect("does not hide a defect of the application", () =>
    Effect.gen(function*() {
      const client = InProcess.make(Effect.die("broken"))
      assert.deepStrictEqual(yield* Effect.exit(client.get(host)), Exit.die("broken"))
    }))
})

describe("on a socket", () => {
  const socket = (
    name: string,
    run: (origin: string, tenant: Tenant.Tenant["Type"]) => Effect.Effect<unknown, unknown>
  ) =>
    it.effect(name, () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        yield* HttpServer.addressFormattedWith((origin) => run(origin, tenant))
      }).pipe(
        Effect.provide(Tenant.layerServer),
        Effect.provide(
          Layer.merge(Tenant.layer(), NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
        )
      ))

  const fetched = (url: string, init?: RequestInit) =>
    Effect.tryPromise({ try: () => fetch(url, init), catch: (error) => error as any })
  const text = (response: Response) => Effect.tryPromise({ try: () => response.text(), catch: (error) => error as any })
  const signIn = (origin: string) =>
    Effect.gen(function*() {
      const parameters = { ...credentials(demoClients.full), audience: `${origin}/api/v2/` }
      const response = yield* fetched(`${origin}/oauth/token`, {
        method: "POST",
        body: new URLSearchParams(parameters)
      })
      return { authorization: `Bearer ${JSON.parse(yield* text(response)).access_token}` }
    })

  socket("every operation answers as it does in process", (origin) =>
    Effect.gen(function*() {
      const headers = yield* signIn(origin)
      for (const { method, name, path } of endpoints) {
        const { body, params, status } = good[name]!
        const response = yield* fetched(`${origin}/api/v2${fill(path, params)}`, {
          method,
          headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
          body: body === undefined ? null : JSON.stringify(body)
        })
        assert.strictEqual(response.status, status)
        assert.strictEqual(response.headers.get("date"), "Thu, 01 Jan 1970 00:00:00 GMT")
        assert.match(String(response.headers.get("x-ratelimit-reset")), /^\d+$/)
        assert.match(String(response.headers.get("content-type")), /^application\/json/)
        yield* text(response)
      }
    }))

  socket(
    "a cut destroys the connection, before any byte or within the body",
    (origin, tenant) =>
      Effect.gen(function*() {
        const headers = yield* signIn(origin)
        yield* tenant.injectFault({ cut: "before" })
        assert.strictEqual((yield* Effect.flip(fetched(`${origin}/`))).cause.code, "UND_ERR_SOCKET")
        yield* tenant.injectFault({ cut: "within" })
        const response = yield* fetched(`${origin}/api/v2/actions/actions/${action.id}/versions`, { headers })
        assert.strictEqual(response.status, 200)
        assert.strictEqual((yield* Effect.flip(text(response))).message, "terminated")
        assert.strictEqual((yield* fetched(`${origin}/`)).status, 404)
      })
  )

  socket("a cut within leaves exactly half of the body", (origin, tenant) =>
    Effect.gen(function*() {
      yield* tenant.injectFault({ cut: "within", body: "0123456789" })
      const received = yield* raw(origin, "GET / HTTP/1.1\r\nhost: x\r\n\r\n")
      assert.match(received, /^HTTP\/1.1 200 OK\r\n/)
      assert.match(received, /\r\ncontent-length: 10\r\n[^]*\r\n\r\n01234$/i)
    }))

  socket(
    "a target that is a whole URL, one that holds a URL, and one with a raw `#`, are read as they should be",
    (origin, tenant) =>
      Effect.gen(function*() {
        const targets = [
          ["http://x.test/a?b", "/a", [["b", ""]]],
          ["http://x.test?b", "", [["b", ""]]],
          ["/a/http://x.test/b", "/a/http://x.test/b", []],
          ["/a#b", "/a#b", []]
        ] as const
        for (const [target] of targets) {
          yield* raw(origin, `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
        }
        assert.deepStrictEqual(
          (yield* tenant.requests).map(({ path, query }) => [path, query]),
          targets.map(([, path, query]) => [path, query])
        )
      })
  )

  socket("a client that goes away while it waits is not answered", (origin, tenant) =>
    Effect.gen(function*() {
      yield* tenant.injectFault({ delay: "1 minute" })
      const aborted = new AbortController()
      const fiber = yield* Effect.fork(Effect.exit(fetched(`${origin}/`, { signal: aborted.signal })))
      yield* sleeping
      aborted.abort()
      assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
      assert.isUndefined((yield* tenant.requests)[0]!.status)
    }))

  /** Sends the bytes and gives all that comes until the connection ends. */
  const raw = (origin: string, bytes: string) =>
    Effect.async<string>((resume) => {
      let received = ""
      const { hostname, port } = new URL(origin)
      connect(Number(port), hostname)
        .on("data", (chunk) => void (received += chunk.toString()))
        .on("close", () => resume(Effect.succeed(received)))
        .write(bytes)
    })
})

describe("forms", () => {
  const fields = {
    text: Schema.String,
    count: Schema.optional(Schema.Number.pipe(Schema.positive())),
    flag: Schema.Boolean,
    either: Schema.Union(Schema.Number, Schema.String),
    pair: Schema.Tuple(Schema.String, Schema.String),
    list: Schema.Array(Schema.Struct({ name: Schema.String, size: Schema.optional(Schema.Number) })),
    numbers: Schema.optional(Schema.Array(Schema.Number)),
    inner: Schema.Struct({ deep: Schema.Struct({ count: Schema.Number }) })
  }
  const read = (form: string) => decodeForm(fields, new URLSearchParams(form))

  it("are read as the declaration wants them", () => {
    const form = "text=true&count=2.25&flag=true&either=3&pair[1]=b&pair[0]=a&list[1][name]=b&list[0][name]=a" +
      "&list[0][size]=-4&numbers[0]=5&inner[deep][count]=6&unknown[x]=7&a[2][3][4][5][6][7][8]=9"
    assert.deepStrictEqual(
      read(form),
      Either.right({
        text: "true",
        count: 2.25,
        flag: true,
        either: "3",
        pair: ["a", "b"],
        list: [{ name: "a", size: -4 }, { name: "b" }],
        numbers: [5],
        inner: { deep: { count: 6 } },
        unknown: { x: "7" },
        a: { 2: { 3: { 4: { 5: { 6: { 7: { 8: "9" } } } } } } }
      })
    )
  })

  it("leave as text what is no number or boolean", () => {
    for (const value of ["", " 1", "1e9999", "0x10", "Infinity", "NaN", "1_000", "--1", "untrue", "falsely"]) {
      assert.deepStrictEqual(
        decodeForm(fields, [["count", value], ["flag", value]]),
        Either.right({ count: value, flag: value })
      )
    }
  })

  for (
    const [told, rows] of [
      ["is not a name in bracket notation", [
        ["a[", "a["],
        ["a]", "a]"],
        ["[a]=1", "[a]"],
        ["=1", ""],
        ["a[]=1", "a[]"],
        ["a[b]c=1", "a[b]c"],
        ["a[b[c]]=1", "a[b[c]]"],
        [`a${"[b]".repeat(8)}=1`, `a${"[b]".repeat(8)}`],
        [`a${"[b]".repeat(50_000)}=1`, `a${"[b]".repeat(50_000)}`]
      ]],
      ["is given twice", [["text=1&text=2", "text"], ["text[a]=1&text=2", "text"]]],
      ["is both a value and an object", [
        ["text=1&text[a]=2", "text[a]"],
        ["unknown[a]=1&inner[deep][count][x]=1&list[0][name]=a&list[0][name][b]=1", "list[0][name][b]"]
      ]],
      ["is not a list numbered from 0 without gaps", [
        ["list[1][name]=a", "list"],
        ["list[0][name]=a&list[2][name]=b", "list"],
        ["list[00][name]=a", "list"],
        ["list[0][name]=a&list[name]=b", "list"],
        ["list[9007199254740993]=a", "list"],
        ["list[-1]=a", "list"],
        ["numbers[0]=1&numbers[length]=9", "numbers"]
      ]]
    ] as const
  ) {
    for (const [form, path] of rows) {
      it(`are refused by name: ${form.slice(0, 50)}`, () => {
        assert.deepStrictEqual(read(form), Either.left({ path, message: told }))
      })
    }
  }

  it("name the path of a list with gaps wherever it is", () => {
    const nested = { outer: Schema.Array(Schema.Struct({ list: Schema.Array(Schema.String) })) }
    const result = decodeForm(nested, [["outer[0][list][1]", "x"]])
    assert.deepStrictEqual(Either.flip(result).pipe(Either.map(({ path }) => path)), Either.right("outer[0].list"))
  })

  it("cannot reach a prototype", () => {
    for (const name of ["__proto__", "constructor", "prototype"]) {
      for (const key of [`${name}[polluted]`, `unknown[${name}][polluted]`, `inner[${name}][polluted]`]) {
        const result = decodeForm(fields, [[key, "yes"]])
        assert.isTrue(Either.isRight(result))
        assert.isUndefined(Reflect.get({}, "polluted"))
        assert.isUndefined(Reflect.get(Object.getPrototypeOf(Either.getOrThrow(result)), "polluted"))
      }
    }
  })

  it("read back what bracket notation wrote, whatever it is", () => {
    const write = (value: unknown, name: string): ReadonlyArray<readonly [string, string]> =>
      typeof value === "object" && value !== null
        ? Object.entries(value).flatMap(([key, inner]) => write(inner, name === "" ? key : `${name}[${key}]`))
        : [[name, String(value)]]
    const text = FastCheck.string({ unit: "grapheme" })
    const value = FastCheck.record({
      text,
      count: FastCheck.integer(),
      flag: FastCheck.boolean(),
      list: FastCheck.array(FastCheck.record({ name: text, size: FastCheck.integer() }), {
        minLength: 1,
        maxLength: 12
      })
    })
    FastCheck.assert(FastCheck.property(value, (value) => {
      const form = new URLSearchParams(write(value, "").map(([name, value]) => [name, value])).toString()
      assert.deepStrictEqual(read(form), Either.right(value))
    }))
  })
})

describe("bodies", () => {
  it("are refused for the first of their members that is wrong, and told all that it may be", () => {
    const fields = {
      one: Schema.Union(Schema.Number, Schema.Struct({ a: Schema.Boolean })),
      other: Schema.Number
    }
    const messageOf = (value: unknown) =>
      Either.match(RequestInput.validate("Payload", fields, value), {
        onLeft: ({ body }) => JSON.parse(body).message,
        onRight: () => undefined
      })
    const told = "Payload validation error: 'Expected number' on property one"
    assert.strictEqual(messageOf({ one: { a: 1 }, other: "2" }), told)
    assert.isUndefined(messageOf({ one: { a: true }, other: 2 }))
  })
})

it.effect("a program without a tenant is told what it lacks", () =>
  Effect.gen(function*() {
    const lacking = Effect.asVoid(Tenant.Tenant) as Effect.Effect<void> // what the compiler would not let pass
    const cause = yield* Effect.sandbox(lacking).pipe(Effect.flip)
    assert.match(Cause.pretty(cause), /Service not found: effect-identity-client\/Tenant\b/)
  }))
