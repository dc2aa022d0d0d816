/** All kinds of failures, caused by the tenant or a bare server, and decoding of responses. */
import { Duration, Effect, Redacted } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  listActionVersions,
  RateLimiter,
  redeliverEvent,
  Retry,
  updateTokenExchangeProfile
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import {
  bareClient,
  calls,
  clientOf,
  credentials,
  equal,
  failsWith,
  isTrue,
  lacks,
  printedText,
  responses,
  secrets,
  tenant,
  test
} from "../kit.js"
import type { CannedResponse } from "../scenes.js"

const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo

/** Opens a tenant, and a client without retries for one of the demo clients. */
const tenantAndClient = (name: keyof typeof Tenant.demoClients = "full") =>
  Effect.map(tenant(), (server) => ({
    server,
    client: clientOf(server, {
      defaults: { retry: { attempts: 1 } },
      tokens: credentials(server, Tenant.demoClients[name])
    })
  }))

/** Lists versions from one response. */
const listFrom = (response: CannedResponse) =>
  Effect.flatMap(
    responses(response),
    (server) => Effect.provide(Retry.withoutRetries(listActionVersions({ actionId: action.id })), bareClient(server))
  )

const page = (...versions: ReadonlyArray<unknown>) => ({ body: { total: versions.length, per_page: 20, versions } })

export const failures = [
  test(
    "InvalidInput: names each field, and nothing is sent",
    Effect.gen(function*() {
      const { client, server } = yield* tenantAndClient()
      const call = createUsersExport({ connection_id: "con_1", fields: [{ name: "é".repeat(101) }] })
      const { issues } = yield* Effect.provide(failsWith(call, "InvalidInput"), client)
      yield* equal(issues.map(({ path }) => path), ["connection_id", "fields[0].name"])
      yield* equal(yield* calls(server), [])
    })
  ),

  test(
    "TokenError: refused credentials",
    Effect.gen(function*() {
      const server = yield* tenant()
      const tokens = credentials(server, { id: "demo-full", secret: Redacted.make("kq7zv3-wrong-5922") })
      const error = yield* Effect.provide(
        failsWith(deleteEventStream({ id: stream.id }), "TokenError", { status: 401, operation: "deleteEventStream" }),
        clientOf(server, { tokens })
      )
      yield* lacks(printedText(error), { secret: "kq7zv3-wrong-5922" })
      yield* equal(yield* calls(server), [])
    })
  ),

  test(
    "BadRequest: a connection that does not exist",
    Effect.gen(function*() {
      const { client } = yield* tenantAndClient()
      const call = createUsersExport({ connection_id: "con_0000000000000000" })
      const error = yield* Effect.provide(
        failsWith(call, "BadRequest", { status: 400, errorCode: "invalid_body" }),
        client
      )
      yield* lacks(printedText(error), { input: "con_0000000000000000", secret: secrets.client })
    })
  ),

  test(
    "Unauthorized: a client that is not global",
    Effect.gen(function*() {
      const { client } = yield* tenantAndClient("notGlobal")
      yield* Effect.provide(failsWith(createUsersExport({}), "Unauthorized", { status: 401 }), client)
    })
  ),

  test(
    "Unauthorized: an invalid token",
    Effect.gen(function*() {
      const server = yield* tenant()
      const error = yield* Effect.provide(
        Effect.flip(listActionVersions({ actionId: action.id })),
        bareClient(server)
      )
      yield* isTrue(["Unauthorized", "BadRequest"].includes(error._tag), `${error._tag} is a refusal`)
      yield* lacks(printedText(error), { token: secrets.token })
    })
  ),

  test(
    "InsufficientScope: names the required scope",
    Effect.gen(function*() {
      const { client } = yield* tenantAndClient("readsActions")
      yield* Effect.provide(
        failsWith(createUsersExport({}), "InsufficientScope", { status: 403, required: ["read:users"] }),
        client
      )
    })
  ),

  test(
    "Forbidden: 403 for another reason",
    Effect.gen(function*() {
      const { client, server } = yield* tenantAndClient()
      yield* server.order("injectFault", {
        operation: "redeliverEvent",
        status: 403,
        body: { statusCode: 403, message: "Not in your plan.", errorCode: "feature_not_enabled" }
      })
      yield* Effect.provide(
        failsWith(redeliverEvent({ id: stream.id, event_id: stream.events[0].id }), "Forbidden", {
          message: "redeliverEvent: Not in your plan.",
          errorCode: "feature_not_enabled"
        }),
        client
      )
    })
  ),

  test(
    "NotFound: an event that does not exist",
    Effect.gen(function*() {
      const { client } = yield* tenantAndClient()
      const call = redeliverEvent({ id: stream.id, event_id: "evt_0000000000000000000000" })
      yield* Effect.provide(
        failsWith(call, "NotFound", { message: "redeliverEvent: The requested event does not exist." }),
        client
      )
    })
  ),

  test(
    "Conflict: an event that has not failed",
    Effect.gen(function*() {
      const { client } = yield* tenantAndClient()
      const call = redeliverEvent({ id: stream.id, event_id: stream.events[3].id })
      yield* Effect.provide(failsWith(call, "Conflict", { status: 409 }), client)
    })
  ),

  test(
    "RateLimited: by the service, with its rate-limit headers",
    Effect.gen(function*() {
      const server = yield* tenant({ buckets: { profileUpdates: { burst: 1, refill: 1, per: "1 minute" } } })
      const rename = (name: string) => Retry.withoutRetries(updateTokenExchangeProfile({ id: profile.id, name }))
      const error = yield* Effect.provide(
        Effect.zipRight(rename("First"), failsWith(rename("Second"), "RateLimited", { source: "service", limit: 1 })),
        clientOf(server, { limiter: RateLimiter.layerUnlimited })
      )
      yield* equal(error.remaining, 0)
      yield* isTrue(error.resetAt !== undefined, "resetAt is present")
      const wait = error.retryAfter === undefined ? 0 : Duration.toSeconds(error.retryAfter)
      yield* isTrue(wait > 50 && wait <= 60, `retryAfter of ${wait} s is between 50 s and 60 s`)
    })
  ),

  test(
    "RateLimited: by the rate limiter, and nothing is sent",
    Effect.gen(function*() {
      const server = yield* tenant({ buckets: { profileUpdates: { burst: 1, refill: 1, per: "1 minute" } } })
      const rename = (name: string) => updateTokenExchangeProfile({ id: profile.id, name })
      yield* Effect.provide(
        Effect.zipRight(rename("First"), failsWith(rename("Second"), "RateLimited", { source: "limiter" })),
        clientOf(server, { limiter: RateLimiter.layerAdaptive({ maxWait: "1 second" }) })
      )
      yield* equal((yield* calls(server)).length, 1)
    })
  ),

  test(
    "UnexpectedResponse: a status that is not declared",
    Effect.gen(function*() {
      const { client, server } = yield* tenantAndClient()
      yield* server.order("injectFault", {
        operation: "deleteEventStream",
        status: 418,
        headers: { "x-request-id": "r-1" },
        body: { message: "short" }
      })
      yield* Effect.provide(
        failsWith(deleteEventStream({ id: stream.id }), "UnexpectedResponse", {
          status: 418,
          reason: "status",
          requestId: "r-1"
        }),
        client
      )
    })
  ),

  test(
    "TransportError: a connection that closes before the response",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* server.order("injectFault", { operation: "createUsersExport", cut: "before" })
      yield* Effect.provide(
        failsWith(createUsersExport({}), "TransportError", { outcome: "unknown" }),
        bareClient(server) // some runtimes resend a request on a kept-alive connection
      )
    })
  ),

  test(
    "TransportError: a connection that closes within the response; the retry succeeds",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* server.order("injectFault", { operation: "listActionVersions", cut: "within" })
      const { total } = yield* Effect.provide(
        Retry.withPolicy(listActionVersions({ actionId: action.id }), { delay: 1 }),
        clientOf(server)
      )
      yield* equal([total, (yield* calls(server)).length], [3, 2])
    })
  ),

  test(
    "decoding names the first invalid field, but not its value",
    Effect.gen(function*() {
      const error = yield* failsWith(
        listFrom(page({ id: "v1", number: 1 }, { id: "v2", number: "kq7zv3-value-5933" })),
        "UnexpectedResponse",
        { status: 200, reason: "schema", path: "versions[1].number" }
      )
      yield* lacks(printedText(error), { value: "kq7zv3-value-5933" })
      const raw = error.raw === undefined ? "" : Redacted.value(error.raw)
      yield* isTrue(raw.includes("kq7zv3-value-5933"), "raw contains the value")
    })
  ),

  test(
    "decoding keeps unknown fields and unknown values of enumerations",
    Effect.gen(function*() {
      const version = { id: "v1", number: 1, status: "HIBERNATING", novel: { deep: [1, "ü"] } }
      yield* equal((yield* listFrom(page(version))).versions, [version])
    })
  ),

  test(
    "decoding treats null as absent for optional fields",
    Effect.gen(function*() {
      yield* equal((yield* listFrom(page({ id: "v1", number: 1, built_at: null }))).versions, [{ id: "v1", number: 1 }])
    })
  ),

  test(
    "decoding removes a byte order mark",
    Effect.gen(function*() {
      const { total } = yield* listFrom({
        headers: { "content-type": "application/json" },
        body: `\uFEFF${JSON.stringify(page().body)}`
      })
      yield* equal(total, 0)
    })
  ),

  test(
    "decoding does not pollute prototypes",
    Effect.gen(function*() {
      const text =
        `{"total":1,"per_page":20,"versions":[{"id":"v","number":1,"__proto__":{"polluted":true},"constructor":1}]}`
      const { versions } = yield* listFrom({ headers: { "content-type": "application/json" }, body: text })
      yield* equal(versions?.length, 1)
      yield* isTrue(!("polluted" in {}), "Object.prototype is unchanged")
    })
  ),

  test(
    "an operation without a value accepts any body: empty, {}, \"\", null and an array",
    Effect.gen(function*() {
      const bodies = ["", "{}", "\"\"", "null", "[1]"]
      const server = yield* responses(
        ...bodies.map((body) => ({ headers: { "content-type": "application/json" }, body }))
      )
      yield* Effect.provide(
        Effect.forEach(
          bodies,
          () => Retry.withoutRetries(redeliverEvent({ id: stream.id, event_id: stream.events[0].id }))
        ),
        bareClient(server)
      )
    })
  ),

  test(
    "a response without a content type is decoded",
    Effect.gen(function*() {
      const server = yield* responses({
        headers: { "content-type": "" },
        body: JSON.stringify({ id: "job_1", type: "users_export", status: "pending", connection: connection.name })
      })
      const job = yield* Effect.provide(createUsersExport({}), bareClient(server))
      yield* equal(job.id, "job_1")
    })
  )
]
