/** Answer by answer, from a server of bare bytes: what the vendor's SDK reads and what we read are the same data, or a row says why not. */
import { assert, describe, it, vi } from "@effect/vitest"
import { ManagementError } from "auth0"
import { Duration, Effect, Layer, Logger, LogLevel, Random, Redacted } from "effect"
import { IdentityClient, RateLimiter, TokenProvider } from "../../src/index.js"
import * as Node from "../../src/Node.js"
import { answer, rawServer } from "../support/rawServer.js"
import { type Call, differences, type Name, readBySdk, readByUs, sdkOf, sdkTokensOf, Thrown } from "../support/sdk.js"

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

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Anything but a string is sent as JSON, and labelled so. */
  readonly body?: unknown
}

const bytes = ({ body = "", headers = {}, status }: Answer): Buffer =>
  typeof body === "string"
    ? answer(status, headers, body)
    : answer(status, { "content-type": "application/json; charset=utf-8", ...headers }, JSON.stringify(body))

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

const { connection: _, ...nameless } = job

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

/** Successful answers and fields that surprise, by what is peculiar about them. */
const successes: Readonly<Record<Name, Readonly<Record<string, Answer>>>> = {
  createUsersExport: {
    "the job": { status: 200, body: job },
    "a job without its connection": { status: 200, body: nameless },
    "a job with members that nobody listed": { status: 200, body: { ...job, location: "https://…", more: { a: [1] } } },
    "a job of another status": { status: 200, body: { ...job, status: "PAUSED", type: "users_export_2" } },
    "nulls": { status: 200, body: { ...job, connection: null, created_at: null, fields: null } },
    "no content type": { status: 200, body: JSON.stringify(job) },
    "another content type": { status: 200, headers: { "content-type": "text/plain" }, body: JSON.stringify(job) },
    "another 2xx": { status: 201, body: job },
    "a quota, in every case of letters": { status: 200, headers: { ...quota, "x-auth0-requestid": "1a2b" }, body: job },
    "JSON cut off": { status: 200, headers: json, body: JSON.stringify(job).slice(0, 40) }
  },
  updateTokenExchangeProfile: {
    "the profile": { status: 200, body: profile },
    "no body": { status: 200, headers: json },
    "the JSON string \"\"": { status: 200, headers: json, body: "\"\"" },
    "no member": { status: 200, body: {} },
    "no content": { status: 204 }
  },
  listActionVersions: {
    "the first page, without `page`": { status: 200, body: page(version) },
    "another page": { status: 200, body: { ...page(version, version), page: 1 } },
    "an empty page": { status: 200, body: page() },
    "a version of which all is missing": { status: 200, body: page({}) },
    "lists with nothing in them": {
      status: 200,
      body: page({ dependencies: [], secrets: [], errors: [], modules: [], supported_triggers: [] })
    },
    "lists with empty members": {
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
    "members that nobody listed": { status: 200, body: { ...page({ ...version, x: { y: [1] } }), z: 1 } },
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

const problem = (statusCode: number, error: string, message: string, more: object = {}): Answer => (
  { status: statusCode, body: { statusCode, error, message, ...more } }
)

/** Failures, each answered to every operation, whether it declares the status or not. */
const failures: Readonly<Record<string, Answer>> = {
  "400 invalid_body": problem(400, "Bad Request", "Payload validation error", { errorCode: "invalid_body" }),
  "400 validation_error": problem(400, "Bad Request", "Query validation error", { errorCode: "validation_error" }),
  "400 without a code": problem(400, "Bad Request", "Bad HTTP authentication header format"),
  "400 with a quota": { ...problem(400, "Bad Request", "No."), headers: quota },
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
  "429 that tells a date": {
    ...problem(429, "Too Many Requests", "Global limit has been reached"),
    headers: { "retry-after": "Tue, 14 Nov 2023 22:13:50 GMT", "date": "Tue, 14 Nov 2023 22:13:20 GMT" }
  },
  "429 in the shape of OAuth": {
    status: 429,
    body: { error: "too_many_requests", error_description: "Global limit has been reached" }
  },
  "500": problem(500, "Internal Server Error", "An internal server error occurred"),
  "502 with a web page": { status: 502, headers: { "content-type": "text/html" }, body: "<title>Bad gateway</title>" },
  "503 with text": { status: 503, headers: { "content-type": "text/plain" }, body: "upstream connect error" },
  "504 with nothing": { status: 504 },
  "500 with JSON cut off": { status: 500, headers: json, body: "{\"statusCode\":500,\"mess" }
}

/** A difference that is meant to be: at which answers, where in what was read, and why. */
interface Row {
  readonly at: string
  readonly paths: ReadonlyArray<string>
  readonly of: ReadonlyArray<Name>
  readonly why: string
}

const all = Object.keys(calls) as ReadonlyArray<Name> // sound: it has been written down with just these

const table: ReadonlyArray<Row> = [
  {
    at: "403 insufficient_scope",
    paths: ["as"],
    of: all,
    why: "the SDK has one class for all of 403; ours tells a missing scope from another reason, and names the scopes"
  },
  {
    at: "400 with a quota",
    paths: ["limit", "remaining", "reset"],
    of: all,
    why: "a failure of ours carries the quota where it is the reason, at 429; the limiter has read the others"
  },
  {
    at: "429 in the shape of OAuth",
    paths: ["errorCode", "message"],
    of: all,
    why: "the SDK leaves a body of another shape to the caller; we read code and words from it"
  },
  {
    at: "500 with JSON cut off",
    paths: ["body", "status"],
    of: all,
    why: "the SDK fails at the body and forgets the status; to us the status decides, and the text stays readable"
  },
  {
    at: "JSON cut off",
    paths: ["as", "body", "message", "value"],
    of: ["createUsersExport"],
    why: "the SDK gives an object of its own, `{ ok: false, … }`, as if it were the job; to us it is no answer"
  },
  {
    at: "the profile",
    paths: ["value"],
    of: ["updateTokenExchangeProfile"],
    why: "the published schema has no body, so the SDK throws the profile away that the service sends; we give it"
  },
  {
    at: "no member",
    paths: ["value"],
    of: ["updateTokenExchangeProfile"],
    why: "the same: what the service sends is given, though there is nothing in it"
  }
]

const server = Effect.gen(function*() {
  let next: Answer = { status: 200 }
  const { requests, url } = yield* rawServer((_, socket) => void socket.write(bytes(next)))
  return { requests, url, give: (answer: Answer) => Effect.sync(() => void (next = answer)) }
})

const token = "a-token"

/** Names each difference by where it is, in the order of the alphabet. */
const listed = (rows: ReadonlyArray<Row>) =>
  rows.flatMap(({ at, of, paths }) => of.flatMap((name) => paths.map((path) => `${name}: ${at}: ${path}`))).sort()

describe("the vendor's SDK reads what we read", () => {
  const answers = all.flatMap((name) =>
    Object.entries({ ...successes[name], ...failures }).map(([at, answer]) => ({ name, at, answer }))
  )

  it.scopedLive("of every answer, but for what the table says", () =>
    Effect.gen(function*() {
      const { give, url } = yield* server
      const sdk = sdkOf(new URL(url).origin, { token })
      const client = IdentityClient.layer({ baseUrl: url }).pipe(
        Layer.provide([
          RateLimiter.layerUnlimited,
          TokenProvider.layerBearer(Redacted.make(token)),
          Node.layerHttpClient()
        ])
      )
      const found = yield* Effect.forEach(answers, ({ answer, at, name }) =>
        Effect.gen(function*() {
          yield* give(answer)
          const theirs = yield* readBySdk(sdk, calls[name])
          return differences(theirs, yield* readByUs(calls[name])).map((path) => `${name}: ${at}: ${path}`)
        })).pipe(Effect.provide(client))
      assert.deepStrictEqual(found.flat().sort(), listed(table))
    }))
})

const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`
const hour = 3600

/** Answers to a request for a token. */
const tokenAnswers: Readonly<Record<string, Answer>> = {
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
  "429 for hours": {
    status: 429,
    headers: { "retry-after": "7200" },
    body: { error: "too_many_requests", error_description: "Global limit has been reached" }
  },
  "502 with a web page": { status: 502, headers: { "content-type": "text/html" }, body: "<title>Bad gateway</title>" },
  "400 with JSON cut off": { status: 400, headers: json, body: "{\"error\":\"inv" },
  "a page instead of a token": { status: 200, headers: { "content-type": "text/html" }, body: "<html></html>" },
  "no token": { status: 200, body: { token_type: "Bearer" } }
}

interface TokenReading {
  readonly token?: string | undefined
  /** Whether another is asked for when the hour is over for which it is good. */
  readonly isRenewed?: boolean
  /** What it failed with. */
  readonly as?: string | undefined
  readonly status?: number | undefined
  readonly error?: unknown
  readonly description?: unknown
  readonly retryAfter?: number | undefined
}

/** What is not the same of tokens, and why. */
const tokenTable: Readonly<Record<string, string>> = {
  "a token without `expires_in`: isRenewed":
    "the SDK keeps such a token for ever; we keep it as long as it says itself, by `iat` and `exp`",
  "403 with a code: description": "the SDK leaves a body of another shape to the caller; we read it",
  "403 with a code: error": "the same",
  "403 with an object: description": "the same",
  "403 with an object: error": "the same",
  "429 for hours: retryAfter": "the SDK's failure has no headers here; ours says when to ask again",
  "a page instead of a token: as": "the SDK lets out what JSON.parse throws; ours is like any failure to get a token",
  "a page instead of a token: status": "the same",
  "no token: as": "the SDK gives `undefined`, with which it then signs its calls; to us it is a failure",
  "no token: isRenewed": "the same",
  "no token: status": "the same"
}

const credentials = { clientId: "a-client", clientSecret: "a-secret" }

/** Whether asking once more, when so many seconds have gone by on the clock of the day, makes another request. */
const asksAfter = <E>(seconds: number, ask: Effect.Effect<unknown, E>, requests: ReadonlyArray<unknown>) =>
  Effect.suspend(() => {
    const before = requests.length
    vi.setSystemTime(Date.now() + seconds * 1000)
    return Effect.map(ask, () => requests.length > before)
  })

const tokenBySdk = (origin: string, requests: ReadonlyArray<unknown>): Effect.Effect<TokenReading> => {
  const tokens = sdkTokensOf(origin, credentials)
  const ask = Effect.tryPromise({ try: () => tokens.getAccessToken(), catch: (error) => new Thrown({ error }) })
  return Effect.gen(function*() {
    const token = yield* ask
    return { token, isRenewed: yield* asksAfter(hour, ask, requests) }
  }).pipe(Effect.catchAll(({ error }) => {
    if (!(error instanceof ManagementError)) return Effect.succeed({ as: (error as Error).name })
    const body = error.body as Readonly<Record<string, unknown>>
    return Effect.succeed(
      { as: "a failure", status: error.statusCode, error: body["error"], description: body["error_description"] }
    )
  }))
}

const tokenByUs = (origin: string, requests: ReadonlyArray<unknown>): Effect.Effect<TokenReading> =>
  Effect.gen(function*() {
    const { get } = yield* TokenProvider.TokenProvider
    const token = Redacted.value(yield* get)
    return { token, isRenewed: yield* asksAfter(hour, get, requests) }
  }).pipe(
    Effect.provide(Layer.provide(
      TokenProvider.layerClientCredentials({
        authUrl: origin,
        tokenPath: "/oauth/token",
        clientId: credentials.clientId,
        clientSecret: Redacted.make(credentials.clientSecret)
      }),
      Node.layerHttpClient()
    )),
    Logger.withMinimumLogLevel(LogLevel.None),
    Effect.withRandom(Random.fixed([0])), // the waits between its attempts are a random part of what they may be
    Effect.catchTag("TokenError", ({ description, error, retryAfter, status }) =>
      Effect.succeed({
        as: "a failure",
        status,
        error,
        description,
        retryAfter: retryAfter && Duration.toSeconds(retryAfter)
      })),
    Effect.orDie
  )

describe("the vendor's SDK reads what we read of a token endpoint", () => {
  it.scopedLive("of every answer, but for what the table says", () =>
    Effect.gen(function*() {
      const { give, requests, url } = yield* server
      const { origin } = new URL(url)
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.useFakeTimers({ toFake: ["Date"] })),
        () => Effect.sync(() => vi.useRealTimers())
      )
      const found = yield* Effect.forEach(Object.entries(tokenAnswers), ([at, answer]) =>
        Effect.gen(function*() {
          yield* give(answer)
          const theirs = yield* tokenBySdk(origin, requests)
          return differences(theirs, yield* tokenByUs(origin, requests)).map((path) => `${at}: ${path}`)
        }))
      assert.deepStrictEqual(found.flat().sort(), Object.keys(tokenTable).sort())
    }))
})
