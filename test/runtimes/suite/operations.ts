/** The five operations against the tenant: their requests and values. */
import { Effect, Struct } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  IdentityClient,
  listActionVersions,
  redeliverEvent,
  Timestamp,
  updateTokenExchangeProfile
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import { hasOwnUserAgent } from "../differences.js"
import {
  bareClient,
  calls,
  clientOf,
  equal,
  hasFields,
  isTrue,
  type RawRequest,
  responses,
  secrets,
  type Server,
  Stage,
  tenant,
  test
} from "../kit.js"

const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo

/** Returns the only call that reached a tenant. */
const onlyCall = (server: Server) =>
  Effect.gen(function*() {
    const [call, ...more] = yield* calls(server)
    return call === undefined || more.length > 0
      ? yield* Effect.dieMessage(`${more.length + 1} calls reached the tenant`)
      : call
  })

const job = {
  format: "csv",
  fields: [{ name: "email", export_as: "Größe & 🙂" }],
  connection_id: connection.id
} as const

const sentAs = (how: "JSON" | "a form") =>
  test(
    `createUsersExport sends ${how} and returns the job`,
    Effect.gen(function*() {
      const server = yield* tenant()
      const call = how === "JSON" ? createUsersExport(job) : IdentityClient.withFormBody(createUsersExport(job))
      const created = yield* Effect.provide(call, clientOf(server))
      yield* hasFields(created, { ...job, status: "pending", connection: connection.name })
      const type = how === "JSON" ? "application/json" : "application/x-www-form-urlencoded"
      const { body, contentType } = yield* onlyCall(server)
      yield* isTrue(contentType?.startsWith(type) === true, `${contentType} is ${type}`)
      yield* equal(body, job)
    })
  )

export const operations = [
  sentAs("JSON"),
  sentAs("a form"),

  test(
    "createUsersExport sends only fields that are set",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* Effect.provide(createUsersExport({ limit: 3, format: undefined }), clientOf(server))
      yield* equal((yield* onlyCall(server)).body, { limit: 3 })
    })
  ),

  test(
    "updateTokenExchangeProfile returns the changed profile",
    Effect.gen(function*() {
      const server = yield* tenant()
      const updated = yield* Effect.provide(
        updateTokenExchangeProfile({ id: profile.id, name: "Exchanged ✓" }),
        clientOf(server)
      )
      yield* hasFields(updated ?? {}, {
        id: profile.id,
        name: "Exchanged ✓",
        subject_token_type: profile.subject_token_type
      })
      yield* hasFields(yield* onlyCall(server), { method: "PATCH", status: 200, body: { name: "Exchanged ✓" } })
    })
  ),

  test(
    "listActionVersions returns the page, with all nine digits of its timestamps",
    Effect.gen(function*() {
      const server = yield* tenant()
      const page = yield* Effect.provide(listActionVersions({ actionId: action.id, per_page: 2 }), clientOf(server))
      // Each version has its action, too.
      const versions = page.versions.map((version) => Struct.omit(version, "action"))
      yield* equal({ ...page, versions }, {
        total: 3,
        per_page: 2,
        versions: action.versions.slice(0, 2)
      })
      const built = page.versions?.map(({ built_at }) => built_at) ?? []
      yield* equal(built, ["2023-03-02T09:21:40.550198413Z", "2023-02-11T15:03:27.900071286Z"])
      const [newer, older] = built
      yield* isTrue(
        newer !== undefined && older !== undefined && Timestamp.Order(newer, older) === 1,
        "the newer is greater"
      )
      yield* equal((yield* onlyCall(server)).query, [["per_page", "2"]])
    })
  ),

  test(
    "redeliverEvent sends no body and is accepted",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* Effect.provide(redeliverEvent({ id: stream.id, event_id: stream.events[0].id }), clientOf(server))
      const { contentType, method, status } = yield* onlyCall(server)
      yield* equal({ contentType, method, status }, { method: "POST", status: 202 })
    })
  ),

  test(
    "deleteEventStream succeeds twice",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* Effect.provide(Effect.repeatN(deleteEventStream({ id: stream.id }), 1), clientOf(server))
      yield* equal((yield* calls(server)).map(({ status }) => status), [204, 204])
      const { streams } = yield* server.order<{ streams: ReadonlyArray<{ id: string }> }>("state")
      yield* isTrue(streams.every(({ id }) => id !== stream.id), "the stream is gone")
    })
  ),

  test(
    "every request has the token, Accept and User-Agent",
    Effect.gen(function*() {
      const server = yield* responses({ status: 204 })
      yield* Effect.provide(deleteEventStream({ id: stream.id }), bareClient(server))
      const [request] = yield* server.order<ReadonlyArray<RawRequest>>("requests")
      yield* hasFields(request?.headers ?? {}, { authorization: `Bearer ${secrets.token}`, accept: "application/json" })
      const { runtime } = yield* Stage
      const agent = request?.headers["user-agent"] ?? ""
      const expected = hasOwnUserAgent(runtime) ? /^Mozilla\// : /^effect-identity-client\/\d/
      yield* isTrue(expected.test(agent), `${agent} is the client's user agent`)
    })
  ),

  test(
    "withHeaders replaces User-Agent and adds others",
    Effect.gen(function*() {
      const server = yield* responses({ status: 204 })
      const call = IdentityClient.withHeaders(deleteEventStream({ id: stream.id }), {
        "user-agent": "mine/1",
        "x-more": "more"
      })
      yield* Effect.provide(call, bareClient(server))
      const [request] = yield* server.order<ReadonlyArray<RawRequest>>("requests")
      const { runtime } = yield* Stage
      const agent = hasOwnUserAgent(runtime) ? {} : { "user-agent": "mine/1" }
      yield* hasFields(request?.headers ?? {}, { ...agent, "x-more": "more" })
    })
  ),

  test(
    "withResponse returns status and headers",
    Effect.gen(function*() {
      const server = yield* tenant()
      const { response } = yield* Effect.provide(
        IdentityClient.withResponse(deleteEventStream({ id: stream.id })),
        clientOf(server)
      )
      const { headers, status } = yield* response
      yield* equal([status, headers["x-ratelimit-limit"]], [204, "50"])
    })
  ),

  test(
    "a path parameter is percent-encoded, with any characters",
    Effect.gen(function*() {
      const server = yield* responses({ body: { total: 0, per_page: 20, versions: [] } })
      const actionId = "a/b?c#d%2e;é'(*)!~ \\|\"^`{}🙂"
      yield* Effect.provide(listActionVersions({ actionId }), bareClient(server))
      const [request] = yield* server.order<ReadonlyArray<RawRequest>>("requests")
      const [, target = ""] = request?.line.split(" ") ?? []
      yield* isTrue(/^[\x21-\x7e]+$/.test(target), `${target} is printable ASCII`)
      const [, , , , , sent = "", last] = target.split("/")
      yield* equal([decodeURIComponent(sent), last], [actionId, "versions"])
    })
  ),

  test(
    "a response of 3 MB with several scripts is decoded completely",
    Effect.gen(function*() {
      const code = "// Größe 大きさ 🙂\n".repeat(100_000)
      const server = yield* responses({ body: { total: 1, per_page: 20, versions: [{ id: "v", number: 1, code }] } })
      const page = yield* Effect.provide(listActionVersions({ actionId: action.id }), bareClient(server))
      yield* isTrue(page.versions?.[0]?.code === code, "the same code")
    })
  ),

  test(
    "fifty concurrent calls get their own responses",
    Effect.gen(function*() {
      const server = yield* tenant({ buckets: { tenant: { burst: 1000, refill: 1000, per: "1 second" } } })
      const limits = Array.from({ length: 50 }, (_, index) => index + 1)
      const jobs = yield* Effect.provide(
        Effect.forEach(limits, (limit) => createUsersExport({ limit }), { concurrency: "unbounded" }),
        clientOf(server)
      )
      yield* equal(jobs.map(({ limit }) => limit), limits)
    })
  )
]
