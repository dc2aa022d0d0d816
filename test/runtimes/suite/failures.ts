/** Every kind of failure, as the tenant or a bare server causes it, and what decoding refuses. */
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
  answers,
  bareClient,
  calls,
  clientOf,
  credentials,
  equal,
  failsWith,
  isTrue,
  lacks,
  printed,
  secrets,
  tenant,
  test
} from "../kit.js"
import type { Answer } from "../scenes.js"

const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo

/** The tenant, and a client of it that never repeats a call and may not do everything. */
const refused = (name: keyof typeof Tenant.demoClients = "full") =>
  Effect.map(tenant(), (server) => ({
    server,
    client: clientOf(server, {
      defaults: { retry: { attempts: 1 } },
      tokens: credentials(server, Tenant.demoClients[name])
    })
  }))

/** What listing versions gives for one answer. */
const listed = (answer: Answer) =>
  Effect.flatMap(
    answers(answer),
    (server) => Effect.provide(Retry.withoutRetries(listActionVersions({ actionId: action.id })), bareClient(server))
  )

const page = (...versions: ReadonlyArray<unknown>) => ({ body: { total: versions.length, per_page: 20, versions } })

export const failures = [
  test(
    "InvalidInput: names each member, and nothing is sent",
    Effect.gen(function*() {
      const { client, server } = yield* refused()
      const call = createUsersExport({ connection_id: "con_1", fields: [{ name: "é".repeat(101) }] })
      const { issues } = yield* Effect.provide(failsWith(call, "InvalidInput"), client)
      yield* equal(issues.map(({ path }) => path), ["connection_id", "fields[0].name"])
      yield* equal(yield* calls(server), [])
    })
  ),

  test(
    "TokenError: credentials that are refused",
    Effect.gen(function*() {
      const server = yield* tenant()
      const tokens = credentials(server, { id: "demo-full", secret: Redacted.make("kq7zv3-wrong-5922") })
      const error = yield* Effect.provide(
        failsWith(deleteEventStream({ id: stream.id }), "TokenError", { status: 401, operation: "deleteEventStream" }),
        clientOf(server, { tokens })
      )
      yield* lacks(printed(error), { secret: "kq7zv3-wrong-5922" })
      yield* equal(yield* calls(server), [])
    })
  ),

  test(
    "BadRequest: what does not exist",
    Effect.gen(function*() {
      const { client } = yield* refused()
      const call = createUsersExport({ connection_id: "con_0000000000000000" })
      const error = yield* Effect.provide(
        failsWith(call, "BadRequest", { status: 400, errorCode: "invalid_body" }),
        client
      )
      yield* lacks(printed(error), { input: "con_0000000000000000", secret: secrets.client })
    })
  ),

  test(
    "Unauthorized: a client that is not global",
    Effect.gen(function*() {
      const { client } = yield* refused("notGlobal")
      yield* Effect.provide(failsWith(createUsersExport({}), "Unauthorized", { status: 401 }), client)
    })
  ),

  test(
    "Unauthorized: a token that is none",
    Effect.gen(function*() {
      const server = yield* tenant()
      const error = yield* Effect.provide(
        Effect.flip(listActionVersions({ actionId: action.id })),
        bareClient(server)
      )
      yield* isTrue(["Unauthorized", "BadRequest"].includes(error._tag), `${error._tag} is a refusal`)
      yield* lacks(printed(error), { token: secrets.token })
    })
  ),

  test(
    "InsufficientScope: names the scope that would do",
    Effect.gen(function*() {
      const { client } = yield* refused("readsActions")
      yield* Effect.provide(
        failsWith(createUsersExport({}), "InsufficientScope", { status: 403, required: ["read:users"] }),
        client
      )
    })
  ),

  test(
    "Forbidden: 403 for another reason",
    Effect.gen(function*() {
      const { client, server } = yield* refused()
      yield* server.order("injectFault", {
        operation: "redeliverEvent",
        status: 403,
        body: { statusCode: 403, message: "Not in your plan.", errorCode: "feature_not_enabled" }
      })
      yield* Effect.provide(
        failsWith(redeliverEvent({ id: stream.id, event_id: stream.events[0].id }), "Forbidden", {
          message: "Not in your plan.",
          errorCode: "feature_not_enabled"
        }),
        client
      )
    })
  ),

  test(
    "NotFound: an event that is not there",
    Effect.gen(function*() {
      const { client } = yield* refused()
      const call = redeliverEvent({ id: stream.id, event_id: "evt_0000000000000000000000" })
      yield* Effect.provide(failsWith(call, "NotFound", { message: "The requested event does not exist." }), client)
    })
  ),

  test(
    "Conflict: an event that has not failed",
    Effect.gen(function*() {
      const { client } = yield* refused()
      const call = redeliverEvent({ id: stream.id, event_id: stream.events[3].id })
      yield* Effect.provide(failsWith(call, "Conflict", { status: 409 }), client)
    })
  ),

  test(
    "RateLimited: by the service, with all that it tells",
    Effect.gen(function*() {
      const server = yield* tenant({ buckets: { profileUpdates: { burst: 1, refill: 1, per: "1 minute" } } })
      const rename = (name: string) => Retry.withoutRetries(updateTokenExchangeProfile({ id: profile.id, name }))
      const error = yield* Effect.provide(
        Effect.zipRight(rename("First"), failsWith(rename("Second"), "RateLimited", { source: "service", limit: 1 })),
        clientOf(server, { limiter: RateLimiter.layerUnlimited })
      )
      yield* equal(error.remaining, 0)
      yield* isTrue(error.resetAt !== undefined, "it tells when the bucket is full again")
      const wait = error.retryAfter === undefined ? 0 : Duration.toSeconds(error.retryAfter)
      yield* isTrue(wait > 50 && wait <= 60, `${wait} s is what the tenant asks for`)
    })
  ),

  test(
    "RateLimited: by our own limiter, and nothing is sent",
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
      const { client, server } = yield* refused()
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
    "TransportError: a connection that is cut before the answer",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* server.order("injectFault", { operation: "createUsersExport", cut: "before" })
      yield* Effect.provide(
        failsWith(createUsersExport({}), "TransportError", { outcome: "unknown" }),
        bareClient(server) // over a kept-alive connection some runtimes would send it again
      )
    })
  ),

  test(
    "TransportError: a connection that is cut within the answer, which is repeated and succeeds",
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
    "decoding names the first member that is not as promised, and keeps its value to itself",
    Effect.gen(function*() {
      const error = yield* failsWith(
        listed(page({ id: "v1", number: 1 }, { id: "v2", number: "kq7zv3-value-5933" })),
        "UnexpectedResponse",
        { status: 200, reason: "schema", path: "versions[1].number" }
      )
      yield* lacks(printed(error), { value: "kq7zv3-value-5933" })
      const raw = error.raw === undefined ? "" : Redacted.value(error.raw)
      yield* isTrue(raw.includes("kq7zv3-value-5933"), "raw has it")
    })
  ),

  test(
    "decoding keeps members that nobody has described, and unknown values of enumerations",
    Effect.gen(function*() {
      const version = { id: "v1", number: 1, status: "HIBERNATING", novel: { deep: [1, "ü"] } }
      yield* equal((yield* listed(page(version))).versions, [version])
    })
  ),

  test(
    "decoding takes null for missing",
    Effect.gen(function*() {
      yield* equal((yield* listed(page({ id: "v1", number: 1, built_at: null }))).versions, [{ id: "v1", number: 1 }])
    })
  ),

  test(
    "decoding takes a byte order mark off",
    Effect.gen(function*() {
      const { total } = yield* listed({
        headers: { "content-type": "application/json" },
        body: `\uFEFF${JSON.stringify(page().body)}`
      })
      yield* equal(total, 0)
    })
  ),

  test(
    "decoding survives members that are named as objects' own",
    Effect.gen(function*() {
      const text =
        `{"total":1,"per_page":20,"versions":[{"id":"v","number":1,"__proto__":{"polluted":true},"constructor":1}]}`
      const { versions } = yield* listed({ headers: { "content-type": "application/json" }, body: text })
      yield* equal(versions?.length, 1)
      yield* isTrue(!("polluted" in {}), "nothing is polluted")
    })
  ),

  test(
    "no value where none is promised: an empty body, {}, \"\" and null are all fine",
    Effect.gen(function*() {
      const bodies = ["", "{}", "\"\"", "null", "[1]"]
      const server = yield* answers(
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
    "an answer without a content type, from an unknown connection, is decoded",
    Effect.gen(function*() {
      const server = yield* answers({
        headers: { "content-type": "" },
        body: JSON.stringify({ id: "job_1", type: "users_export", status: "pending", connection: connection.name })
      })
      const job = yield* Effect.provide(createUsersExport({}), bareClient(server))
      yield* equal(job.id, "job_1")
    })
  )
]
