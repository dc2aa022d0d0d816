/** Majors 6 and 7 of the vendor's SDK read the embedded tenant's deliveries by their own iterators, as those of the service. */
import { assert, describe, it } from "@effect/vitest"
import type { ManagementError } from "auth0"
import { type Duration, Effect } from "effect"
import * as Tenant from "../../src/Tenant.js"
import { Sdk6, Sdk7, serve as serveTenant, usePlainHttp } from "../support/sdkMajors.js"

const { streams: [{ id: stream }] } = Tenant.demo

usePlainHttp()

type Sdk = Sdk6 | Sdk7

interface Options {
  readonly events?: ReadonlyArray<Tenant.StreamEvent>
  readonly delivery?: Duration.DurationInput
}

/** Runs a test with a tenant that has these events. */
const serve = (
  Client: typeof Sdk6 | typeof Sdk7,
  run: (served: { readonly sdk: Sdk; readonly tenant: Tenant.Tenant["Type"] }) => Promise<void>,
  { delivery = "1 hour", events }: Options = {}
) =>
  serveTenant<Sdk>(Client, run, {
    durations: { delivery },
    ...(events && { seed: { streams: [{ ...Tenant.demo.streams[0], events }] } })
  })

/** The ids of deliveries, by the iterator of the SDK. */
const idsOf = async (sdk: Sdk, request: Parameters<Sdk["eventStreams"]["deliveries"]["list"]>[1]) => {
  const ids: Array<string> = []
  for await (const { id } of await sdk.eventStreams.deliveries.list(stream, request)) ids.push(id)
  return ids
}

const idOf = (index: number) => `evt_${String(index).padStart(22, "0")}`

/** Every third one has been delivered, so a page is not a part of consecutive events. */
const events = Array.from({ length: 40 }, (_, index): Tenant.StreamEvent => ({
  id: idOf(index),
  state: index % 3 === 2 ? "delivered" : "failed",
  event_type: index % 2 === 0 ? "user.created" : "user.updated"
}))

const failed = events.flatMap(({ id, state }) => state === "failed" ? [id] : [])

const listsOf = async (tenant: Tenant.Tenant["Type"]) =>
  (await Effect.runPromise(tenant.requests)).filter(({ operation }) => operation === "listDeliveries").length

describe.each([["6", Sdk6], ["7", Sdk7]] as const)("major %s of the vendor's SDK", (_, Client) => {
  it.live.each(
    [
      [1, failed.length],
      [7, Math.ceil(failed.length / 7)],
      [100, 1]
    ] as const
  )("iterates all deliveries, %i at a time", ([take, pages]) =>
    serve(Client, async ({ sdk, tenant }) => {
      assert.deepStrictEqual(await idsOf(sdk, { take }), failed)
      // As recorded, a last page may have a `next`: then an empty page follows.
      assert.include([pages, pages + 1], await listsOf(tenant))
    }, { events }))

  it.live("iterates those of a filter", () =>
    serve(Client, async ({ sdk }) => {
      const created = events.filter(({ event_type, state }) => state === "failed" && event_type === "user.created")
      assert.deepStrictEqual(
        await idsOf(sdk, { take: 10, statuses: "failed", event_types: "user.created" }),
        created.map(({ id }) => id)
      )
      assert.deepStrictEqual(await idsOf(sdk, { event_types: "user.deleted" }), [])
    }, { events }))

  it.live("reads a page, and the object in each event's data", () =>
    serve(Client, async ({ sdk }) => {
      const { data, response } = await sdk.eventStreams.deliveries.list(stream, { take: 3 })
      assert.deepStrictEqual(data, response.deliveries)
      assert.deepStrictEqual(data.map(({ id }) => id), failed.slice(0, 3))
      assert.isString(response.next)
      for (const { attempts, event, event_stream_id, event_type, id, status } of data) {
        assert.deepStrictEqual([event_stream_id, status, event?.id, event?.type], [stream, "failed", id, event_type])
        assert.isObject(event?.data)
        assert.deepStrictEqual(attempts.map(({ status }) => status), ["failed", "failed", "failed", "failed"])
      }
    }, { events }))

  it.live("reads a redelivery that is accepted: the delivery stays failed, with an attempt that is retrying", () =>
    serve(Client, async ({ sdk }) => {
      const { rawResponse } = await sdk.eventStreams.redeliveries.createById(stream, idOf(0)).withRawResponse()
      assert.strictEqual(rawResponse.status, 202)
      const { attempts, status } = await sdk.eventStreams.deliveries.getHistory(stream, idOf(0))
      assert.strictEqual(status, "failed")
      assert.deepStrictEqual(attempts.slice(0, 4).map(({ status }) => status), ["failed", "failed", "failed", "failed"])
      const { timestamp, ...retrying } = attempts[4]!
      assert.deepStrictEqual<unknown>([retrying, attempts.length], [{ status: "retrying" }, 5])
      assert.isNotNaN(Date.parse(timestamp))
      assert.deepStrictEqual(await idsOf(sdk, {}), failed)
    }, { events }))

  it.live("reads a redelivery that fails again: four more failures", () =>
    serve(Client, async ({ sdk }) => {
      const filter = { event_types: ["user.created" as const] }
      const { data, rawResponse } = await sdk.eventStreams.redeliveries.create(stream, filter).withRawResponse()
      assert.deepStrictEqual<unknown>([rawResponse.status, data], [202, filter])
      const { attempts } = await sdk.eventStreams.deliveries.getHistory(stream, idOf(0))
      assert.strictEqual(attempts.map(({ status }) => status[0]).join(""), "ffffrffff")
      const times = attempts.map(({ timestamp }) => Date.parse(timestamp))
      assert.deepStrictEqual(times, [...times].sort((a, b) => a - b))
    }, { events: [{ id: idOf(0), state: "failed", event_type: "user.created", failsAgain: 1 }], delivery: 0 }))

  it.live("no longer finds a delivery that has succeeded", () =>
    serve(Client, async ({ sdk }) => {
      await sdk.eventStreams.redeliveries.createById(stream, idOf(0))
      assert.deepStrictEqual(await idsOf(sdk, {}), failed.slice(1))
      const error = await sdk.eventStreams.deliveries.getHistory(stream, idOf(0)).then(
        () => undefined,
        (error: unknown) => error
      )
      assert.strictEqual((error as ManagementError | undefined)?.statusCode, 404)
    }, { events, delivery: 0 }))
})
