/** Majors 5 to 7 of the vendor's SDK call each operation that they share with the embedded tenant, and read what it has. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Tenant from "../../../src/Tenant.js"
import { majors, type Sdk, serve, usePlainHttp } from "../../support/sdkMajors.js"
import { generated } from "./document.js"
import { lists } from "./lists.js"

usePlainHttp()

interface Served {
  readonly sdk: Sdk
  readonly tenant: Tenant.Tenant["Type"]
  /** The generated operations. */
  readonly operations: Readonly<Record<string, any>>
}

const { actions: [action, other], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo
const [failed] = stream.events

const stateOf = ({ tenant }: Served) => Effect.runPromise(tenant.state)

/** The status of a failed call. */
const statusOf = (call: PromiseLike<unknown>) => call.then(() => undefined, (error) => error.statusCode)

/** Calls that belong together, by the names of their operations. */
const calls: Readonly<Record<string, (served: Served) => Promise<void>>> = {
  "getAction, getActionVersion": async ({ sdk }) => {
    const found = await sdk.actions.get(action.id)
    assert.deepStrictEqual([found.id, found.name, found.deployed_version?.number], [action.id, "greet", 3])
    assert.strictEqual((await sdk.actions.versions.get(action.id, action.versions[1].id)).number, 2)
    assert.strictEqual(await statusOf(sdk.actions.get("none")), 404)
  },

  deployActionVersion: async ({ sdk }) => {
    // Without a body, as all majors send it.
    assert.strictEqual((await sdk.actions.versions.deploy(action.id, action.versions[2].id)).number, 4)
    const { number } = await sdk.actions.versions.deploy(action.id, action.versions[1].id, { update_draft: true })
    assert.strictEqual(number, 5)
    const found = await sdk.actions.get(action.id)
    assert.deepStrictEqual([found.deployed_version?.number, found.code], [5, action.versions[1].code])
  },

  deployAction: async ({ operations, sdk, tenant }) => {
    await Effect.runPromise(
      tenant.respond(
        operations["deployAction"],
        ({ id }: { readonly id: string }) => Effect.succeed({ id, status: "pending" })
      )
    )
    assert.deepInclude(await sdk.actions.deploy(other.id), { id: other.id, status: "pending" })
  },

  rollbackActionModule: async ({ sdk, tenant }) => {
    const { id } = await sdk.actions.modules.rollback("m 1/2", { module_version_id: "version" })
    const request = (await Effect.runPromise(tenant.requests)).at(-1)
    assert.deepStrictEqual<unknown>([id, request?.path, request?.body], [
      "string",
      "/api/v2/actions/modules/m%201%2F2/rollback",
      { module_version_id: "version" }
    ])
  },

  "createUsersExport, getJob": async ({ sdk }) => {
    const request = { connection_id: connection.id, format: "csv", limit: 2, fields: [{ name: "email" }] } as const
    const job = await sdk.jobs.usersExports.create({ ...request, fields: [...request.fields] })
    assert.deepInclude(job, { type: "users_export", status: "pending", format: "csv", limit: 2 })
    const done = await sdk.jobs.get(job.id)
    assert.deepInclude(done, { id: job.id, status: "completed", percentage_done: 100 })
    assert.strictEqual((await fetch(String(done.location))).status, 200)
    assert.deepInclude(await sdk.jobs.usersExports.create(), { type: "users_export" })
  },

  "createTokenExchangeProfile, getTokenExchangeProfile, updateTokenExchangeProfile, deleteTokenExchangeProfile": async (
    served
  ) => {
    const { operations, sdk, tenant } = served
    await Effect.runPromise(
      tenant.respond(operations["createTokenExchangeProfile"], (input: object) => {
        const created = { ...profile, ...input, id: "tep_0000000000000001" }
        return Effect.as(tenant.seed({ profiles: [created] }), created)
      })
    )
    const { created_at: _, id: __, updated_at: ___, ...fields } = profile
    const request = { ...fields, subject_token_type: "urn:example:new" }
    const { id = "" } = await sdk.tokenExchangeProfiles.create(request)
    assert.deepInclude(await sdk.tokenExchangeProfiles.get(id), { id, ...request })
    await sdk.tokenExchangeProfiles.update(id, { name: "Another name" })
    assert.strictEqual((await sdk.tokenExchangeProfiles.get(id)).name, "Another name")
    assert.lengthOf((await stateOf(served)).profiles, 2)
    assert.strictEqual((await sdk.tokenExchangeProfiles.delete(id).withRawResponse()).rawResponse.status, 204)
  },

  "createEventStream, getEventStream, updateEventStream, testEventStream, deleteEventStream": async (served) => {
    const { operations, sdk, tenant } = served
    const id = "est_0000000000000000000001"
    const change = (input: object) => {
      const changed = { ...stream, events: [], ...input, id }
      return Effect.as(tenant.seed({ streams: [changed] }), changed)
    }
    await Effect.runPromise(tenant.respond(operations["createEventStream"], change))
    await Effect.runPromise(tenant.respond(operations["updateEventStream"], change))
    const created = await sdk.eventStreams.create({
      name: "New",
      subscriptions: [{ event_type: "user.created" }],
      destination: {
        type: "webhook",
        configuration: {
          webhook_endpoint: "https://hook.example/",
          webhook_authorization: { method: "basic", username: "me" }
        }
      }
    })
    assert.strictEqual(created.id, id)
    assert.deepInclude(await sdk.eventStreams.get(id), {
      id,
      name: "New",
      subscriptions: [{ event_type: "user.created" }]
    })
    await sdk.eventStreams.update(id, { name: "Renamed", status: "disabled" })
    assert.deepInclude(await sdk.eventStreams.get(id), { name: "Renamed", status: "disabled" })
    assert.strictEqual((await sdk.eventStreams.test(id, { event_type: "user.created" })).event_type, "user.created")
    assert.deepStrictEqual((await Effect.runPromise(tenant.requests)).at(-1)?.body, { event_type: "user.created" })
    await sdk.eventStreams.delete(id)
    assert.strictEqual(await statusOf(sdk.eventStreams.get(id)), 404)
    assert.notInclude((await stateOf(served)).streams.map((stream) => stream.id), id)
  },

  "getDelivery, redeliverEvent, redeliverEvents": async (served) => {
    const { sdk } = served
    const found = await sdk.eventStreams.deliveries.getHistory(stream.id, failed.id)
    assert.deepInclude(found, { id: failed.id, event_stream_id: stream.id, status: "failed" })
    await sdk.eventStreams.redeliveries.createById(stream.id, failed.id)
    assert.strictEqual(await statusOf(sdk.eventStreams.deliveries.getHistory(stream.id, failed.id)), 404)
    await sdk.eventStreams.redeliveries.create(stream.id, { event_types: ["user.updated"] })
    assert.deepStrictEqual((await stateOf(served)).streams[0]?.events.filter(({ state }) => state === "failed"), [])
  },

  listClientCredentials: async ({ sdk }) => {
    const credentials = await sdk.clients.credentials.list("client")
    assert.deepStrictEqual(credentials.map(({ id }) => id), ["string"])
  }
}

/** The operations of the tenant. */
const names = Effect.gen(function*() {
  const { routes } = yield* Tenant.make({ operations: yield* generated })
  return new Set(routes.map(({ operation }) => operation))
})

it.effect("the vendor's SDK calls each operation that the tenant serves", () =>
  Effect.gen(function*() {
    const called = [...Object.keys(lists), ...Object.keys(calls).flatMap((names) => names.split(", "))]
    assert.deepStrictEqual(["token", ...called].sort(), [...yield* names].sort())
  }))

describe.each(majors)("major %s of the vendor's SDK calls", (_, Client) => {
  it.live.each(Object.entries(calls))(
    "%s",
    ([names, call]) =>
      Effect.flatMap(generated, (operations) =>
        serve<Sdk>(Client, async ({ sdk, tenant }) => {
          await call({ sdk, tenant, operations })
          const carriedOut = (await Effect.runPromise(tenant.requests)).map(({ operation }) => operation)
          for (const name of names.split(", ")) assert.include(carriedOut, name)
        }, { operations, durations: { export: 0, delivery: 0, deployment: 0 } }))
  )
})
