/** Compares the vendor's SDK with our client, response by response: both read the same data, except for the listed differences. */
import { assert, describe, it, vi } from "@effect/vitest"
import { ManagementError } from "auth0"
import { Duration, Effect, Layer, Logger, LogLevel, Redacted } from "effect"
import { IdentityClient, RateLimiter, TokenProvider } from "../../src/index.js"
import * as Node from "../../src/Node.js"
import { cycle } from "../support/random.js"
import { rawServer, responseBytes } from "../support/rawServer.js"
import {
  type Call,
  differences,
  type Name,
  readWithClient,
  readWithSdk,
  sdkOf,
  sdkTokensOf,
  Thrown
} from "../support/sdk.js"

const actionId = "910b1053-577f-4d81-a8c8-020e7319a38a"
const [id, event_id] = ["est_1234567890123456789012", "evt_1234567890123456789012"]

const calls: Readonly<Record<Name, Call>> = {
  createUsersExport: { operation: "createUsersExport", input: { format: "csv" } },
  updateTokenExchangeProfile: {
    operation: "updateTokenExchangeProfile",
    input: { id: "tep_1234567890123456", name: "A name" }
  },
  listActionVersions: { operation: "listActionVersions", input: { actionId, page: 0, per_page: 20 } },
  redeliverEvent: { operation: "redeliverEvent", input: { id, event_id } },
  deleteEventStream: { operation: "deleteEventStream", input: { id } }
}

interface Response {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, with that content type, unless it is a string. */
  readonly body?: unknown
}

const bytes = ({ body = "", headers = {}, status }: Response): Buffer =>
  typeof body === "string"
    ? responseBytes(status, headers, body)
    : responseBytes(status, { "content-type": "application/json; charset=utf-8", ...headers }, JSON.stringify(body))

const json = { "content-type": "application/json" }

const job = {
  id: "job_0000000000000001",
  type: "users_export",
  status: "pending",
  connection: "Username-Password-Authentication",
  connection_id: "con_0000000000000001",
  format: "csv",
  limit: 5,
  fields: [{ name: "email" }, { name: "name", export_as: "Name" }],
  created_at: "2024-02-08T12:41:33.123Z"
}

const { connection: _, ...jobWithoutConnection } = job

const profile = {
  id: "tep_1234567890123456",
  name: "A name",
  type: "custom_authentication",
  subject_token_type: "urn:acme:legacy",
  action_id: actionId,
  created_at: "2024-02-08T12:41:33.123Z",
  updated_at: "2024-02-08T12:41:33.123Z"
}

const trigger = { id: "post-login", version: "v3" }

const version = {
  id: "5b1c7a52-0e6d-4f0b-9a83-2f61d4c0e7b3",
  code: "exports.x = () => {}",
  dependencies: [{ name: "lodash", version: "4.17.21" }],
  deployed: true,
  runtime: "node22",
  secrets: [{ name: "KEY", updated_at: "2023-01-25T17:42:12.004394259Z" }],
  status: "built",
  number: 3,
  action: {
    id: actionId,
    name: "greet",
    supported_triggers: [trigger],
    all_changes_deployed: true,
    created_at: "2023-01-25T17:42:12.004394259Z"
  },
  built_at: "2023-01-25T17:42:12.004394259Z",
  created_at: "2023-01-25T17:42:12.004Z",
  updated_at: "2023-01-25T17:42:12Z",
  supported_triggers: [trigger]
}

const page = (...versions: ReadonlyArray<object>) => ({ total: 21, per_page: 20, versions })

const quota = { "X-RateLimit-Limit": "50", "x-ratelimit-remaining": "49", "X-RATELIMIT-RESET": "1700000000" }

/** Successful responses with unusual bodies. */
const successes: Readonly<Record<Name, Readonly<Record<string, Response>>>> = {
  createUsersExport: {
    "the job": { status: 200, body: job },
    "a job without its connection": { status: 200, body: jobWithoutConnection },
    "a job with fields that the contract does not list": {
      status: 200,
      body: { ...job, location: "https://…", more: { a: [1] } }
    },
    "a job of another status": { status: 200, body: { ...job, status: "PAUSED", type: "users_export_2" } },
    "nulls": { status: 200, body: { ...job, connection: null, created_at: null, fields: null } },
    "no content type": { status: 200, body: JSON.stringify(job) },
    "another content type": { status: 200, headers: { "content-type": "text/plain" }, body: JSON.stringify(job) },
    "another 2xx": { status: 201, body: job },
    "rate-limit headers in any case of letters": {
      status: 200,
      headers: { ...quota, "x-auth0-requestid": "1a2b" },
      body: job
    },
    "truncated JSON": { status: 200, headers: json, body: JSON.stringify(job).slice(0, 40) }
  },
  updateTokenExchangeProfile: {
    "the profile": { status: 200, body: profile },
    "no body": { status: 200, headers: json },
    "the JSON string \"\"": { status: 200, headers: json, body: "\"\"" },
    "an empty object": { status: 200, body: {} },
    "no content": { status: 204 }
  },
  listActionVersions: {
    "the first page, without `page`": { status: 200, body: page(version) },
    "another page": { status: 200, body: { ...page(version, version), page: 1 } },
    "an empty page": { status: 200, body: page() },
    "an empty version": { status: 200, body: page({}) },
    "empty lists": {
      status: 200,
      body: page({ dependencies: [], secrets: [], errors: [], modules: [], supported_triggers: [] })
    },
    "lists of empty objects": {
      status: 200,
      body: page({ dependencies: [{}], secrets: [{}], errors: [{}], modules: [{}], supported_triggers: [{}] })
    },
    "fractions": {
      status: 200,
      body: {
        total: 1.1,
        page: 1.1,
        per_page: 1.1,
        versions: [{ number: 1.1, modules: [{ module_version_number: 1.1 }] }]
      }
    },
    "a status in upper case, and a new one": { status: 200, body: page({ status: "BUILT" }, { status: "a new one" }) },
    "newer triggers": {
      status: 200,
      body: page({
        supported_triggers: [{ ...trigger, binding_policy: "trigger-bound", compatible_triggers: [{ version: "v2" }] }]
      })
    },
    "fields that the contract does not list": { status: 200, body: { ...page({ ...version, x: { y: [1] } }), z: 1 } },
    "nulls": { status: 200, body: page({ ...version, built_at: null, errors: null, action: { id: null } }) },
    "no content type": { status: 200, body: JSON.stringify(page(version)) }
  },
  redeliverEvent: {
    "202 with {}": { status: 202, body: {} },
    "200 without a body": { status: 200, headers: json },
    "200 with the JSON string \"\"": { status: 200, headers: json, body: "\"\"" }
  },
  deleteEventStream: {
    "204 labelled as JSON": { status: 204, headers: json },
    "200 with an object": { status: 200, body: { id } },
    "200 with null": { status: 200, headers: json, body: "null" },
    "200 with text": { status: 200, headers: { "content-type": "text/plain" }, body: "OK" }
  }
}

const problem = (statusCode: number, error: string, message: string, more: object = {}): Response => (
  { status: statusCode, body: { statusCode, error, message, ...more } }
)

/** Failures. Every operation receives each of them, declared or not. */
const failures: Readonly<Record<string, Response>> = {
  "400 invalid_body": problem(400, "Bad Request", "Payload validation error", { errorCode: "invalid_body" }),
  "400 validation_error": problem(400, "Bad Request", "Query validation error", { errorCode: "validation_error" }),
  "400 without a code": problem(400, "Bad Request", "Bad HTTP authentication header format"),
  "400 with rate-limit headers": { ...problem(400, "Bad Request", "No."), headers: quota },
  "401": problem(401, "Unauthorized", "Invalid token", { attributes: { error: "Invalid token" } }),
  "403 insufficient_scope": problem(403, "Forbidden", "Insufficient scope, expected any of: read:users", {
    errorCode: "insufficient_scope"
  }),
  "403 feature_not_enabled": problem(403, "Forbidden", "This feature is not enabled", {
    errorCode: "feature_not_enabled"
  }),
  "404": problem(404, "Not Found", "The requested stream does not exist."),
  "409": problem(409, "Conflict", "The event is not in a state that allows redelivery."),
  "429": {
    ...problem(429, "Too Many Requests", "Global limit has been reached", { errorCode: "too_many_requests" }),
    headers: { ...quota, "X-RateLimit-Remaining": "0", "retry-after": "7", "x-auth0-requestid": "1a2b" }
  },
  "429 with a date in Retry-After": {
    ...problem(429, "Too Many Requests", "Global limit has been reached"),
    headers: { "retry-after": "Tue, 14 Nov 2023 22:13:50 GMT", "date": "Tue, 14 Nov 2023 22:13:20 GMT" }
  },
  "429 with an OAuth body": {
    status: 429,
    body: { error: "too_many_requests", error_description: "Global limit has been reached" }
  },
  "500": problem(500, "Internal Server Error", "An internal server error occurred"),
  "502 with a web page": { status: 502, headers: { "content-type": "text/html" }, body: "<title>Bad gateway</title>" },
  "503 with text": { status: 503, headers: { "content-type": "text/plain" }, body: "upstream connect error" },
  "504 without a body": { status: 504 },
  "500 with truncated JSON": { status: 500, headers: json, body: "{\"statusCode\":500,\"mess" }
}

/** An intended difference: the response, the paths in the data, the operations, and the reason. */
interface Row {
  readonly response: string
  readonly paths: ReadonlyArray<string>
  readonly operations: ReadonlyArray<Name>
  readonly reason: string
}

const all = Object.keys(calls) as ReadonlyArray<Name> // sound: `calls` has exactly these keys

const undocumented = "the published document lacks the status, so the SDK has no class for it; our client has"

const table: ReadonlyArray<Row> = [
  { response: "404", paths: ["error"], operations: ["listActionVersions"], reason: undocumented },
  ...["invalid_body", "validation_error", "with rate-limit headers", "without a code"].map((title): Row => ({
    response: `400 ${title}`,
    paths: ["error"],
    operations: ["redeliverEvent"],
    reason: undocumented
  })),
  {
    response: "403 insufficient_scope",
    paths: ["error"],
    operations: all,
    reason: "the SDK has one class for 403; our client tells a missing scope from other reasons, and names the scopes"
  },
  {
    response: "400 with rate-limit headers",
    paths: ["limit", "remaining", "reset"],
    operations: all,
    reason: "our failures carry the quota only with 429; the rate limiter reads the others"
  },
  {
    response: "429 with an OAuth body",
    paths: ["errorCode", "message"],
    operations: all,
    reason: "the SDK leaves a body of another shape to the caller; our client reads code and message from it"
  },
  {
    response: "500 with truncated JSON",
    paths: ["body", "status"],
    operations: all,
    reason: "the SDK fails while parsing and loses the status; our client keeps the status and the text"
  },
  {
    response: "truncated JSON",
    paths: ["error", "body", "message", "value"],
    operations: ["createUsersExport"],
    reason: "the SDK returns an object of its own, `{ ok: false, … }`, as the job; our client fails"
  },
  {
    response: "the profile",
    paths: ["value"],
    operations: ["updateTokenExchangeProfile"],
    reason:
      "the published schema has no body, so the SDK drops the profile that the service sends; our client returns it"
  },
  {
    response: "an empty object",
    paths: ["value"],
    operations: ["updateTokenExchangeProfile"],
    reason: "as for the profile: our client returns what the service sends"
  }
]

const server = Effect.gen(function*() {
  let next: Response = { status: 200 }
  const { requests, url } = yield* rawServer((_, socket) => void socket.write(bytes(next)))
  return { requests, url, respondWith: (response: Response) => Effect.sync(() => void (next = response)) }
})

const token = "a-token"

/** The expected differences, in alphabetical order. */
const differencesIn = (rows: ReadonlyArray<Row>) =>
  rows.flatMap(({ operations, paths, response }) =>
    operations.flatMap((name) => paths.map((path) => `${name}: ${response}: ${path}`))
  ).sort()

describe("the vendor's SDK and our client", () => {
  const responses = all.flatMap((name) =>
    Object.entries({ ...successes[name], ...failures }).map(([title, response]) => ({ name, title, response }))
  )

  it.scopedLive("read the same data from every response, except for the listed differences", () =>
    Effect.gen(function*() {
      const { respondWith, url } = yield* server
      const sdk = sdkOf(new URL(url).origin, { token })
      const client = IdentityClient.layer({ baseUrl: url }).pipe(
        Layer.provide([
          RateLimiter.layerUnlimited,
          TokenProvider.layerBearer(Redacted.make(token)),
          Node.layerHttpClient
        ])
      )
      const found = yield* Effect.forEach(responses, ({ name, response, title }) =>
        Effect.gen(function*() {
          yield* respondWith(response)
          const theirs = yield* readWithSdk(sdk, calls[name])
          return differences(theirs, yield* readWithClient(calls[name])).map((path) => `${name}: ${title}: ${path}`)
        })).pipe(Effect.provide(client))
      assert.deepStrictEqual(found.flat().sort(), differencesIn(table))
    }))
})

const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`
const hour = 3600

/** Responses of the token endpoint. */
const tokenResponses: Readonly<Record<string, Response>> = {
  "a token": {
    status: 200,
    body: { access_token: "a.b.c", token_type: "Bearer", expires_in: hour, scope: "read:users" }
  },
  "a token without `scope`": { status: 200, body: { access_token: "a.b.c", token_type: "Bearer", expires_in: hour } },
  "a token without `expires_in`": {
    status: 200,
    body: { access_token: jwt({ iat: 1_700_000_000, exp: 1_700_000_000 + hour }), token_type: "Bearer" }
  },
  "401": { status: 401, body: { error: "invalid_client", error_description: "Unauthorized" } },
  "403 with error_uri": {
    status: 403,
    body: { error: "access_denied", error_description: "Service not enabled", error_uri: "https://example.com/" }
  },
  "403 with a code": { status: 403, body: { code: "access_denied", description: "Service not enabled" } },
  "403 with an object": { status: 403, body: { code: "access_denied", description: { rules: [1] } } },
  "429 with a long Retry-After": {
    status: 429,
    headers: { "retry-after": "7200" },
    body: { error: "too_many_requests", error_description: "Global limit has been reached" }
  },
  "502 with a web page": { status: 502, headers: { "content-type": "text/html" }, body: "<title>Bad gateway</title>" },
  "400 with truncated JSON": { status: 400, headers: json, body: "{\"error\":\"inv" },
  "a web page": { status: 200, headers: { "content-type": "text/html" }, body: "<html></html>" },
  "200 without a token": { status: 200, body: { token_type: "Bearer" } }
}

interface TokenReading {
  readonly token?: string | undefined
  /** Whether the client requests another token when the hour of its lifetime is over. */
  readonly isRenewed?: boolean
  /** The kind of failure; absent for a success. */
  readonly failure?: string | undefined
  readonly status?: number | undefined
  readonly error?: unknown
  readonly description?: unknown
  readonly retryAfter?: number | undefined
}

/** The intended differences and their reasons. */
const tokenDifferences: Readonly<Record<string, string>> = {
  "a token without `expires_in`: isRenewed": "the SDK keeps such a token for ever; our client uses its `iat` and `exp`",
  "403 with a code: description": "the SDK leaves a body of another shape to the caller; our client reads it",
  "403 with a code: error": "as for description",
  "403 with an object: description": "as with a code",
  "403 with an object: error": "as with a code",
  "429 with a long Retry-After: retryAfter": "the SDK's failure has no headers here; ours has the wait",
  "a web page: failure": "the SDK lets the error of JSON.parse escape; our client fails as for any token",
  "a web page: status": "as for failure",
  "200 without a token: failure": "the SDK returns `undefined` and sends it with its calls; our client fails",
  "200 without a token: isRenewed": "as for failure",
  "200 without a token: status": "as for failure"
}

const credentials = { clientId: "a-client", clientSecret: "a-secret" }

/** Moves the wall clock forward, gets a token, and tells whether that made a request. */
const requestsAfter = <E>(seconds: number, get: Effect.Effect<unknown, E>, requests: ReadonlyArray<unknown>) =>
  Effect.suspend(() => {
    const before = requests.length
    vi.setSystemTime(Date.now() + seconds * 1000)
    return Effect.map(get, () => requests.length > before)
  })

const tokenOfSdk = (origin: string, requests: ReadonlyArray<unknown>): Effect.Effect<TokenReading> => {
  const tokens = sdkTokensOf(origin, credentials)
  const get = Effect.tryPromise({ try: () => tokens.getAccessToken(), catch: (error) => new Thrown({ error }) })
  return Effect.gen(function*() {
    const token = yield* get
    return { token, isRenewed: yield* requestsAfter(hour, get, requests) }
  }).pipe(Effect.catchAll(({ error }) => {
    if (!(error instanceof ManagementError)) return Effect.succeed({ failure: (error as Error).name })
    const body = error.body as Readonly<Record<string, unknown>>
    return Effect.succeed(
      { failure: "TokenError", status: error.statusCode, error: body["error"], description: body["error_description"] }
    )
  }))
}

const tokenOfClient = (origin: string, requests: ReadonlyArray<unknown>): Effect.Effect<TokenReading> =>
  Effect.gen(function*() {
    const { get } = yield* TokenProvider.TokenProvider
    const token = Redacted.value(yield* get)
    return { token, isRenewed: yield* requestsAfter(hour, get, requests) }
  }).pipe(
    Effect.provide(Layer.provide(
      TokenProvider.layerClientCredentials({
        authUrl: origin,
        tokenPath: "/oauth/token",
        clientId: credentials.clientId,
        clientSecret: Redacted.make(credentials.clientSecret)
      }),
      Node.layerHttpClient
    )),
    Logger.withMinimumLogLevel(LogLevel.None),
    Effect.withRandom(cycle(0)), // so that retries do not wait
    Effect.catchTag("TokenError", ({ description, error, retryAfter, status }) =>
      Effect.succeed({
        failure: "TokenError",
        status,
        error,
        description,
        retryAfter: retryAfter && Duration.toSeconds(retryAfter)
      })),
    Effect.orDie
  )

describe("the vendor's SDK and our client at a token endpoint", () => {
  it.scopedLive("read the same data from every response, except for the listed differences", () =>
    Effect.gen(function*() {
      const { requests, respondWith, url } = yield* server
      const { origin } = new URL(url)
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.useFakeTimers({ toFake: ["Date"] })),
        () => Effect.sync(() => vi.useRealTimers())
      )
      const found = yield* Effect.forEach(
        Object.entries(tokenResponses),
        ([title, response]) =>
          Effect.gen(function*() {
            yield* respondWith(response)
            const theirs = yield* tokenOfSdk(origin, requests)
            return differences(theirs, yield* tokenOfClient(origin, requests)).map((path) => `${title}: ${path}`)
          })
      )
      assert.deepStrictEqual(found.flat().sort(), Object.keys(tokenDifferences).sort())
    }))
})
