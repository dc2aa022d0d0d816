/** Runs the vendor's SDK against the embedded tenant on a socket: the SDK works as with the service. */
import { HttpServer } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { type ManagementClient, ManagementError } from "auth0"
import * as Sdk from "auth0"
import { Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import { gunzipSync } from "node:zlib"
import * as Tenant from "../../src/Tenant.js"
import { first, second } from "../support/keys.js"
import { sdkOf, sdkTokensByKey, sdkTokensOf } from "../support/sdk.js"

const { actions: [action], connections: [connection], profiles: [profile], streams: [stream, other] } = Tenant.demo
const [failed, , queued] = stream.events

const credentialsOf = ({ id, secret }: Tenant.Client) => ({ clientId: id, clientSecret: Redacted.value(secret) })

const { full, notGlobal, readsActions } = {
  full: credentialsOf(Tenant.demoClients.full),
  notGlobal: credentialsOf(Tenant.demoClients.notGlobal),
  readsActions: credentialsOf(Tenant.demoClients.readsActions)
}

interface Served {
  readonly origin: string
  readonly tenant: Tenant.Tenant["Type"]
  readonly sdk: ManagementClient
}

/** Runs a test with a tenant of its own, on the real clock, which the SDK uses. */
const serving = (name: string, run: (served: Served) => Promise<void>, options: Tenant.Options = {}) =>
  it.live(name, () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      yield* HttpServer.addressFormattedWith((origin) =>
        Effect.promise(() => run({ origin, tenant, sdk: sdkOf(origin, full) }))
      )
    }).pipe(
      Effect.provide(Layer.provideMerge(
        Tenant.layerServer,
        Layer.merge(
          Tenant.layerWith(options),
          NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" })
        )
      ))
    ))

/** The error that a call of the SDK throws. */
const thrown = async (call: PromiseLike<unknown>): Promise<ManagementError> => {
  const error = await call.then((value) => new Error(`a success: ${JSON.stringify(value)}`), (error: unknown) => error)
  if (error instanceof ManagementError) return error
  throw error
}

const headerOf = ({ rawResponse }: ManagementError, name: string) => rawResponse?.headers.get(name) ?? undefined

describe("the vendor's SDK runs every operation", () => {
  serving("createUsersExport", async ({ sdk, tenant }) => {
    const fields = [{ name: "email" }, { name: "name", export_as: "Name" }]
    const input = { connection_id: connection.id, format: "csv", limit: 7, fields } as const
    const { data, rawResponse } = await sdk.jobs.usersExports.create(input).withRawResponse()
    assert.match(data.id, /^job_\w{16}$/)
    assert.match(String(data.created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepStrictEqual({ ...data, id: "", created_at: "" }, {
      ...input,
      id: "",
      created_at: "",
      type: "users_export",
      status: "pending",
      connection: connection.name
    })
    assert.deepStrictEqual([rawResponse.status, rawResponse.headers.get("x-ratelimit-limit")], [200, "50"])
    assert.strictEqual((await Effect.runPromise(tenant.state)).jobs.at(-1)?.id, data.id)
  })

  serving("createUsersExport without input", async ({ sdk }) => {
    assert.deepInclude(await sdk.jobs.usersExports.create(), { type: "users_export", status: "pending" })
  })

  serving("updateTokenExchangeProfile", async ({ sdk, tenant }) => {
    const change = { name: "A new name", subject_token_type: "urn:example:another" }
    assert.isUndefined(await sdk.tokenExchangeProfiles.update(profile.id, change))
    assert.deepInclude((await Effect.runPromise(tenant.state)).profiles[0], change)
  })

  serving("listActionVersions, to the end of its pages", async ({ sdk, tenant }) => {
    const { versions: _, ...own } = action
    const versions = action.versions.map((version) => ({ ...version, action: { ...own, all_changes_deployed: false } }))
    const page = await sdk.actions.versions.list(action.id, { per_page: 2 })
    assert.deepStrictEqual(
      page.response,
      { total: 3, per_page: 2, versions: versions.slice(0, 2) } as never
    )
    const all = []
    for await (const version of page) all.push(version)
    assert.deepStrictEqual(all, versions as never)
    const asked = (await Effect.runPromise(tenant.requests)).filter(({ operation }) =>
      operation === "listActionVersions"
    )
    assert.deepStrictEqual(asked.map(({ query }) => query.map((pair) => pair.join("="))), [
      ["page=0", "per_page=2"],
      ["page=1", "per_page=2"]
    ])
  })

  serving("redeliverEvent", async ({ sdk, tenant }) => {
    const { rawResponse } = await sdk.eventStreams.redeliveries.createById(stream.id, failed.id).withRawResponse()
    assert.strictEqual(rawResponse.status, 202)
    assert.strictEqual((await Effect.runPromise(tenant.state)).streams[0]?.events[0]?.state, "queued")
  })

  serving("deleteEventStream, twice", async ({ sdk, tenant }) => {
    for (let nth = 0; nth < 2; nth++) {
      const { rawResponse } = await sdk.eventStreams.delete(other.id).withRawResponse()
      assert.strictEqual(rawResponse.status, 204)
    }
    assert.deepStrictEqual((await Effect.runPromise(tenant.state)).streams.map(({ id }) => id), [stream.id])
  })

  serving("getJob, and the file of a finished export", async ({ sdk }) => {
    const { id } = await sdk.jobs.usersExports.create({ format: "csv", fields: [{ name: "email" }], limit: 2 })
    const job = await sdk.jobs.get(id)
    assert.deepInclude(job, { id, status: "completed", percentage_done: 100, format: "csv" })
    const response = await fetch(String(job.location))
    assert.strictEqual(new URL(response.url).hostname, "localhost")
    const text = gunzipSync(await response.arrayBuffer()).toString()
    assert.strictEqual(text, "\"email\"\n\"'user00000000@example.com\"\n\"'user00000001@example.com\"\n")
  }, { durations: { export: 0 } })

  serving("listTokenExchangeProfiles and getTokenExchangeProfile", async ({ sdk, tenant }) => {
    const more = { ...profile, id: "tep_9" }
    await Effect.runPromise(tenant.seed({ profiles: [more] }))
    const ids: Array<unknown> = []
    for await (const { id } of await sdk.tokenExchangeProfiles.list({ take: 1 })) ids.push(id)
    assert.deepStrictEqual(ids, [profile.id, "tep_9"].sort())
    assert.deepStrictEqual(await sdk.tokenExchangeProfiles.get(profile.id), { ...profile })
  })

  serving("listActions, getAction and getActionVersion", async ({ sdk }) => {
    const names: Array<unknown> = []
    for await (const { name } of await sdk.actions.list({ per_page: 1 })) names.push(name)
    assert.deepStrictEqual(names, ["greet", "exchange-legacy-token"])
    const found = await sdk.actions.get(action.id)
    assert.strictEqual(found.deployed_version?.number, 3)
    assert.strictEqual((await sdk.actions.versions.get(action.id, action.versions[1].id)).number, 2)
  })

  serving("deployActionVersion", async ({ sdk }) => {
    const { data, rawResponse } = await sdk.actions.versions.deploy(action.id, action.versions[2].id, {
      update_draft: true
    }).withRawResponse()
    assert.deepStrictEqual([rawResponse.status, data.number, data.status], [200, 4, "built"])
    const found = await sdk.actions.get(action.id)
    assert.deepInclude(found.deployed_version, { id: data.id, status: "built", deployed: true })
    assert.strictEqual(found.code, action.versions[2].code)
  }, { durations: { deployment: 0 } })

  serving("listEventStreams and getEventStream", async ({ sdk }) => {
    const ids: Array<unknown> = []
    for await (const { id } of await sdk.eventStreams.list({ take: 1 })) ids.push(id)
    assert.deepStrictEqual(ids, [other.id, stream.id])
    assert.deepInclude(await sdk.eventStreams.get(stream.id), { id: stream.id, name: stream.name, status: "enabled" })
  })

  serving("with one token for concurrent calls, by client credentials", async ({ sdk, tenant }) => {
    await Promise.all(Array.from({ length: 10 }, () => sdk.actions.versions.list(action.id)))
    const requests = await Effect.runPromise(tenant.requests)
    assert.strictEqual(requests.filter(({ operation }) => operation === "token").length, 1)
    assert.strictEqual(requests[0]?.contentType, "application/x-www-form-urlencoded")
  })

  serving("and waits after a 429 before its retry", async ({ origin, tenant }) => {
    const sdk = sdkOf(origin, full, 1)
    await sdk.eventStreams.delete(other.id)
    await sdk.eventStreams.delete(other.id)
    const { operation, status } = { operation: "deleteEventStream", status: 429 }
    const calls = (await Effect.runPromise(tenant.requests)).filter((request) => request.operation === operation)
    assert.deepStrictEqual(calls.map((request) => request.status), [204, status, 204])
  }, { buckets: { tenant: { burst: 1, refill: 1, per: "1 second" } } })
})

describe("the vendor's SDK gets a token with a private key", () => {
  const clients = [{ id: "with-key", publicKeys: [first.publicKey], scopes: ["read:actions"], global: false }]
  const credentials = {
    clientId: "with-key",
    clientAssertionSigningKey: Redacted.value(first.privateKey)
  }

  for (const clientAssertionSigningAlg of ["RS256", "RS384", "PS256"]) {
    serving(`by ${clientAssertionSigningAlg}`, async ({ origin, tenant }) => {
      const token = await sdkTokensByKey(origin, { ...credentials, clientAssertionSigningAlg }).getAccessToken()
      const page = await sdkOf(origin, { token }).actions.versions.list(action.id)
      assert.strictEqual(page.response.total, 3)
      const [request] = await Effect.runPromise(tenant.requests)
      assert.property(request?.body, "client_assertion")
      assert.notProperty(request?.body, "client_secret")
    }, { clients })
  }

  serving("and is refused with another key", async ({ origin }) => {
    const error = await thrown(
      sdkTokensByKey(origin, { ...credentials, clientAssertionSigningKey: Redacted.value(second.privateKey) })
        .getAccessToken()
    )
    assert.deepStrictEqual([error.statusCode, error.body], [401, {
      error: "invalid_client",
      error_description: "Invalid client assertion: signature verification failed"
    }])
  }, { clients })
})

/** An error body of the service. */
const problem = (statusCode: number, error: string, message: string, more: object = {}) => (
  { statusCode, error, message, ...more }
)

const unauthorized = (message: string) => problem(401, "Unauthorized", message, { attributes: { error: message } })

interface Refusal {
  readonly name: string
  readonly call: (served: Served) => PromiseLike<unknown>
  readonly as: new(...args: Array<any>) => ManagementError
  readonly body: { readonly statusCode: number }
  readonly options?: Tenant.Options
}

const insufficient = (scope: string) =>
  problem(403, "Forbidden", `Insufficient scope, expected any of: ${scope}`, { errorCode: "insufficient_scope" })

const { BadRequestError, ConflictError, ForbiddenError, NotFoundError, TooManyRequestsError, UnauthorizedError } =
  Sdk.Management

/** The SDK with a token that the test changes. */
const withToken = async (origin: string, change: (token: string) => string): Promise<ManagementClient> =>
  sdkOf(origin, { token: change(await sdkTokensOf(origin, full).getAccessToken()) })

const refusals: ReadonlyArray<Refusal> = [
  {
    name: "400 invalid_body: a field of the body",
    call: ({ sdk }) => sdk.jobs.usersExports.create({ limit: 0 }),
    as: BadRequestError,
    body: problem(
      400,
      "Bad Request",
      "Payload validation error: 'Expected an integer of at least 1' on property limit",
      {
        errorCode: "invalid_body"
      }
    )
  },
  {
    name: "400 invalid_body: a connection that does not exist",
    call: ({ sdk }) => sdk.jobs.usersExports.create({ connection_id: "con_0000000000000000" }),
    as: BadRequestError,
    body: problem(
      400,
      "Bad Request",
      "Payload validation error: 'The connection does not exist: con_0000000000000000' on property connection_id",
      { errorCode: "invalid_body" }
    )
  },
  {
    name: "400 invalid_body: nothing to change",
    call: ({ sdk }) => sdk.tokenExchangeProfiles.update(profile.id, {}),
    as: BadRequestError,
    body: problem(400, "Bad Request", "Payload validation error: 'Too few properties (0), minimum 1'", {
      errorCode: "invalid_body"
    })
  },
  {
    name: "400 invalid_body: a reserved prefix",
    call: ({ sdk }) => sdk.tokenExchangeProfiles.update(profile.id, { subject_token_type: "urn:auth0:x" }),
    as: BadRequestError,
    body: problem(
      400,
      "Bad Request",
      "Payload validation error: 'This prefix is reserved' on property subject_token_type",
      {
        errorCode: "invalid_body"
      }
    )
  },
  {
    name: "400 validation_error: a parameter of the query",
    call: ({ sdk }) => sdk.actions.versions.list(action.id, { per_page: 101 }),
    as: BadRequestError,
    body: problem(400, "Bad Request", "Query validation error: 'Must be at most 100' on property per_page", {
      errorCode: "validation_error"
    })
  },
  {
    name: "400 validation_error: an id in the path",
    call: ({ sdk }) => sdk.eventStreams.delete("est_short"),
    as: BadRequestError,
    body: problem(
      400,
      "Bad Request",
      "Path validation error: 'Expected a string of exactly 26 characters' on property id",
      { errorCode: "validation_error" }
    )
  },
  {
    name: "400: a token that is not a JSON Web Token",
    call: ({ origin }) => sdkOf(origin, { token: "opaque" }).eventStreams.delete(stream.id),
    as: BadRequestError,
    body: problem(400, "Bad Request", "Bad HTTP authentication header format", { errorCode: "Bearer" })
  },
  {
    name: "401: a wrong signature",
    call: async ({ origin }) => {
      const sdk = await withToken(origin, (token) => `${token.slice(0, token.lastIndexOf("."))}.${"A".repeat(43)}`)
      return sdk.eventStreams.delete(stream.id)
    },
    as: UnauthorizedError,
    body: unauthorized("Invalid signature received for JSON Web Token validation")
  },
  {
    name: "401: a revoked token",
    call: async ({ origin, tenant }) => {
      const sdk = await withToken(origin, (token) => token)
      await Effect.runPromise(tenant.revokeTokens)
      return sdk.eventStreams.delete(stream.id)
    },
    as: UnauthorizedError,
    body: unauthorized("Invalid token")
  },
  {
    name: "401: an expired token",
    call: async ({ origin }) => (await withToken(origin, (token) => token)).eventStreams.delete(stream.id),
    as: UnauthorizedError,
    body: unauthorized("Expired token received for JSON Web Token validation"),
    options: { tokenLifetime: 0 }
  },
  {
    name: "401: a client that is not global",
    call: ({ origin }) => sdkOf(origin, notGlobal).jobs.usersExports.create(),
    as: UnauthorizedError,
    body: unauthorized("Client is not global")
  },
  {
    name: "403 insufficient_scope: an export",
    call: ({ origin }) => sdkOf(origin, readsActions).jobs.usersExports.create(),
    as: ForbiddenError,
    body: insufficient("read:users")
  },
  {
    name: "403 insufficient_scope: a profile",
    call: ({ origin }) => sdkOf(origin, readsActions).tokenExchangeProfiles.update(profile.id, { name: "A name" }),
    as: ForbiddenError,
    body: insufficient("update:token_exchange_profiles")
  },
  {
    name: "403 insufficient_scope: a redelivery",
    call: ({ origin }) => sdkOf(origin, readsActions).eventStreams.redeliveries.createById(stream.id, failed.id),
    as: ForbiddenError,
    body: insufficient("update:event_deliveries")
  },
  {
    name: "403 insufficient_scope: a stream",
    call: ({ origin }) => sdkOf(origin, readsActions).eventStreams.delete(stream.id),
    as: ForbiddenError,
    body: insufficient("delete:event_streams")
  },
  {
    name: "404: a profile",
    call: ({ sdk }) => sdk.tokenExchangeProfiles.update("tep_0000000000000000", { name: "A name" }),
    as: NotFoundError,
    body: problem(404, "Not Found", "Token exchange profile not found.")
  },
  {
    name: "404: a stream",
    call: ({ sdk }) => sdk.eventStreams.redeliveries.createById(`est_${"0".repeat(22)}`, failed.id),
    as: NotFoundError,
    body: problem(404, "Not Found", "The requested stream does not exist.")
  },
  {
    name: "404: an event",
    call: ({ sdk }) => sdk.eventStreams.redeliveries.createById(stream.id, `evt_${"0".repeat(22)}`),
    as: NotFoundError,
    body: problem(404, "Not Found", "The requested event does not exist.")
  },
  {
    name: "409: an event that has not failed",
    call: ({ sdk }) => sdk.eventStreams.redeliveries.createById(stream.id, queued.id),
    as: ConflictError,
    body: problem(409, "Conflict", "The event is not in a state that allows redelivery.")
  },
  {
    name: "409: a profile of the same subject_token_type",
    call: ({ sdk }) =>
      sdk.tokenExchangeProfiles.update("tep_0000000000000001", { subject_token_type: profile.subject_token_type }),
    as: ConflictError,
    body: problem(409, "Conflict", "A token exchange profile with this subject_token_type exists already."),
    options: {
      seed: {
        profiles: [profile, { ...profile, id: "tep_0000000000000001", subject_token_type: "urn:example:another" }]
      }
    }
  },
  {
    name: "429",
    call: async ({ sdk }) => {
      await sdk.eventStreams.delete(other.id)
      return sdk.eventStreams.delete(other.id)
    },
    as: TooManyRequestsError,
    body: problem(429, "Too Many Requests", "Global limit has been reached", { errorCode: "too_many_requests" }),
    options: { buckets: { tenant: { burst: 1, refill: 1, per: "1 minute" } } }
  }
]

describe("the vendor's SDK receives the service's failures", () => {
  for (const { as, body, call, name, options } of refusals) {
    serving(name, async (served) => {
      const error = await thrown(call(served))
      assert.instanceOf(error, as)
      assert.deepStrictEqual([error.statusCode, error.body], [body.statusCode, body])
      assert.match(String(headerOf(error, "content-type")), /^application\/json/)
      for (const header of ["limit", "remaining", "reset"]) {
        assert.match(String(headerOf(error, `x-ratelimit-${header}`)), /^\d+$/)
      }
    }, options)
  }

  serving("429 with Retry-After", async ({ sdk }) => {
    await sdk.eventStreams.delete(other.id)
    const error = await thrown(sdk.eventStreams.delete(other.id))
    assert.deepStrictEqual(["limit", "remaining"].map((name) => headerOf(error, `x-ratelimit-${name}`)), ["1", "0"])
    assert.isAtLeast(Number(headerOf(error, "retry-after")), 50)
  }, { buckets: { tenant: { burst: 1, refill: 1, per: "1 minute" } } })

  for (const status of [500, 502, 503, 504]) {
    serving(`${status}, an undeclared status`, async ({ sdk, tenant }) => {
      await Effect.runPromise(tenant.injectFault({ operation: "deleteEventStream", status }))
      const error = await thrown(sdk.eventStreams.delete(stream.id))
      assert.strictEqual(error.name, "ManagementError")
      assert.deepInclude(error.body, { statusCode: status, message: "An injected fault" })
      assert.strictEqual(error.statusCode, status)
    })
  }

  serving("a web page of a proxy", async ({ sdk, tenant }) => {
    const body = "<title>Bad gateway</title>"
    await Effect.runPromise(
      tenant.injectFault({
        status: 502,
        body,
        headers: { "content-type": "text/html" },
        operation: "deleteEventStream"
      })
    )
    const error = await thrown(sdk.eventStreams.delete(stream.id))
    assert.deepStrictEqual([error.statusCode, error.body], [502, body])
  })

  serving("a closed connection", async ({ sdk, tenant }) => {
    await Effect.runPromise(tenant.injectFault({ cut: "before", operation: "deleteEventStream" }))
    const error = await thrown(sdk.eventStreams.delete(stream.id))
    assert.isUndefined(error.statusCode)
    assert.strictEqual(error.message, "fetch failed")
  })
})

describe("the vendor's SDK receives the failures of the token endpoint", () => {
  const refused = (
    name: string,
    getToken: (served: Served) => Promise<unknown>,
    status: number,
    body: { readonly error: string; readonly error_description: string }
  ) =>
    serving(name, async (served) => {
      const error = await thrown(getToken(served))
      assert.deepStrictEqual([error.statusCode, error.body], [status, body])
    })

  refused(
    "a wrong secret",
    ({ origin }) => sdkTokensOf(origin, { ...full, clientSecret: "wrong" }).getAccessToken(),
    401,
    { error: "invalid_client", error_description: "Unauthorized" }
  )
  refused(
    "an unknown client",
    ({ origin }) => sdkTokensOf(origin, { ...full, clientId: "nobody" }).getAccessToken(),
    401,
    { error: "invalid_client", error_description: "Unknown client" }
  )
  refused(
    "another audience",
    ({ origin }) => sdkTokensOf(origin, full, "https://elsewhere.example/").getAccessToken(),
    403,
    { error: "access_denied", error_description: "Service not enabled within domain: https://elsewhere.example/" }
  )
  refused(
    "too many requests",
    async ({ origin, tenant }) => {
      await Effect.runPromise(tenant.injectFault({
        operation: "token",
        status: 429,
        body: { error: "too_many_requests", error_description: "Global limit has been reached" }
      }))
      return sdkTokensOf(origin, full).getAccessToken()
    },
    429,
    { error: "too_many_requests", error_description: "Global limit has been reached" }
  )
})
