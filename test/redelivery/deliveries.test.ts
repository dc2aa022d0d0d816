/** Failed deliveries as a stream: the filter as it is sent, and lists that change while they are read. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, DateTime, Effect, Either, Layer, Stream } from "effect"
import {
  Deliveries,
  type Delivery,
  Errors,
  IdentityClient,
  listDeliveries,
  type Operation,
  RateLimiter,
  redeliverEvent,
  Redelivery,
  Timestamp,
  TokenProvider
} from "../../src/index.js"
import { encode, type Filter, type Time } from "../../src/internal/deliveries/filter.js"
import * as Tenant from "../../src/Tenant.js"
import * as Testing from "../../src/Testing.js"
import { idOf, ids, stream } from "../support/redelivery.js"

type Input = Operation.Input<typeof listDeliveries>

const deliveryOf = (id: string): Delivery => ({
  id,
  event_stream_id: stream,
  status: "failed",
  event_type: "user.created",
  attempts: [{ status: "failed", timestamp: Timestamp.make("2026-01-01T00:00:00.000Z"), error_message: "503" }]
})

/**
 * Lists the ids that are failed now, in their order, from a checkpoint on. A service may go on after a checkpoint that is gone, refuse it
 * (`strict`), or begin anew (`restarting`).
 */
const listing = (failed: Set<string>, kind: "tolerant" | "strict" | "restarting" = "tolerant") => {
  const inputs: Array<Input> = []
  const handle = (input: Input) =>
    Effect.suspend(() => {
      inputs.push(input)
      const { from, take = 50 } = input
      const isGone = from !== undefined && !failed.has(from)
      if (isGone && kind === "strict") {
        return Effect.fail(new Errors.BadRequest({ operation: "listDeliveries", message: "no such checkpoint" }))
      }
      const begin = isGone && kind === "restarting" ? undefined : from
      const rest = [...failed].sort().filter((id) => begin === undefined || id > begin)
      return Effect.succeed(rest.slice(0, take).map(deliveryOf))
    })
  return { inputs, handler: Testing.handle(listDeliveries, handle) }
}

const idsOf = (deliveries: Chunk.Chunk<Delivery>) => Array.from(deliveries, ({ id }) => id)

const collect = (handler: Testing.Handler, filter?: Filter) =>
  Stream.runCollect(Deliveries.failed(stream, filter)).pipe(Effect.provide(Testing.layer(handler)), Effect.map(idsOf))

describe("the filter", () => {
  const times: ReadonlyArray<readonly [string, Time, string, string]> = [
    ["a Date", new Date("2026-03-01T10:20:30.400Z"), "2026-03-01T10:20:30Z", "2026-03-01T10:20:31Z"],
    ["a whole second", new Date("2026-03-01T10:20:30Z"), "2026-03-01T10:20:30Z", "2026-03-01T10:20:30Z"],
    ["a DateTime", DateTime.unsafeMake("2026-03-01T10:20:30.001Z"), "2026-03-01T10:20:30Z", "2026-03-01T10:20:31Z"],
    [
      "a DateTime of a zone",
      DateTime.unsafeMakeZoned("2026-03-01T10:20:30Z", { timeZone: "Europe/Vienna" }),
      "2026-03-01T10:20:30Z",
      "2026-03-01T10:20:30Z"
    ],
    ["text with an offset", "2026-03-01T10:20:30+02:00", "2026-03-01T08:20:30Z", "2026-03-01T08:20:30Z"],
    ["nine digits", "2026-03-01T10:20:30.000000001Z", "2026-03-01T10:20:30Z", "2026-03-01T10:20:31Z"],
    ["zeros", "2026-03-01T10:20:30.000000000Z", "2026-03-01T10:20:30Z", "2026-03-01T10:20:30Z"],
    ["minutes", "2026-03-01T10:20Z", "2026-03-01T10:20:00Z", "2026-03-01T10:20:00Z"],
    ["the year 0", "0000-01-01", "0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"],
    ["three digits", "2026-03-01T10:20:30.100Z", "2026-03-01T10:20:30Z", "2026-03-01T10:20:31Z"],
    ["a date", "2024-02-29", "2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"],
    ["a time before 1970", "1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"],
    ["a Timestamp", Timestamp.make("2026-12-31T23:59:59.999999999Z"), "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"]
  ]
  it.each(times)("rounds `from` down and `to` up: %s", (_, time, down, up) => {
    assert.deepStrictEqual(encode({ from: time }), Either.right({ date_from: down }))
    assert.deepStrictEqual(encode({ to: time }), Either.right({ date_to: up }))
    assert.lengthOf(down, 20)
  })

  const wrong: ReadonlyArray<readonly [string, unknown]> = [
    ["an invalid Date", new Date(NaN)],
    ["other text", "yesterday"],
    ["text with a space before it", " 2026-03-01"],
    ["text with a space after it", "2026-03-01 "],
    ["a local time", "2026-03-01T10:20:30"],
    ["a day that does not exist", "2026-02-30T00:00:00Z"],
    ["an hour that does not exist", "2026-02-03T25:00:00Z"],
    ["a number", 1_700_000_000],
    ["a year of five digits", new Date(Date.UTC(10_000, 0))],
    ["a second that ends beyond the years", new Date(Date.UTC(9999, 11, 31, 23, 59, 59, 1))],
    ["a year before 0", new Date(Date.UTC(-1, 0))]
  ]
  it.each(wrong)("names a field that is no time: %s", (title, time) => {
    const paths = (filter: Filter) =>
      Either.match(encode(filter), { onLeft: (issues) => issues.map(({ path }) => path), onRight: () => [] })
    const isRoundedUp = title.startsWith("a second")
    // Sound: programs without types may give anything.
    assert.deepStrictEqual(paths({ from: time as Time }), isRoundedUp ? [] : ["from"])
    assert.deepStrictEqual(paths({ to: time as Time }), ["to"])
  })

  it("says what it expects", () => {
    const issues = (filter: Filter) => Either.match(encode(filter), { onLeft: (issues) => issues, onRight: () => [] })
    const time = "expected a Date, a DateTime, or ISO 8601 text with Z or an offset, of the years 0 to 9999"
    assert.deepStrictEqual(issues({ from: "now", to: "then" }), [{ path: "from", message: time }, {
      path: "to",
      message: time
    }])
    assert.deepStrictEqual(issues({ eventTypes: [] }), [{ path: "eventTypes", message: "expected at least one type" }])
    assert.deepStrictEqual(issues({ eventTypes: ["a,b"], from: "2026-03-02", to: "2026-03-01" }), [
      { path: "eventTypes[0]", message: "expected a type of event, without commas" },
      { path: "to", message: "expected a time that is not before `from`" }
    ])
    assert.deepStrictEqual(issues({ from: "2026-03-01", to: "2026-03-01" }), [])
  })

  it.effect("is sent with each page; no field that is not given is", () =>
    Effect.gen(function*() {
      const { handler, inputs } = listing(new Set(ids(150)))
      assert.deepStrictEqual(yield* collect(handler), ids(150))
      assert.deepStrictEqual(inputs, [
        { id: stream, statuses: "failed", take: 100 },
        { id: stream, statuses: "failed", take: 100, from: idOf(99) }
      ])
      inputs.length = 0
      const filter = { eventTypes: ["user.created", "user.deleted"], from: "2026-03-01", to: "2026-03-02" }
      yield* collect(handler, filter)
      for (const input of inputs) {
        assert.deepInclude(input, {
          event_types: "user.created,user.deleted",
          date_from: "2026-03-01T00:00:00Z",
          date_to: "2026-03-02T00:00:00Z"
        })
      }
      assert.lengthOf(inputs, 2)
    }))

  it.effect.each<readonly [string, Filter, ReadonlyArray<string>]>([
    ["short", {}, ["stream"]],
    [stream, { eventTypes: [] }, ["eventTypes"]],
    [stream, { eventTypes: ["a", "b,c", ""] }, ["eventTypes[1]", "eventTypes[2]"]],
    [stream, { eventTypes: ["a\uD800", "\uDC00\uD800", "\u{1F600}"] }, ["eventTypes[0]", "eventTypes[1]"]],
    [stream, { from: "now", to: "then" }, ["from", "to"]],
    [stream, { from: "2026-03-02", to: "2026-03-01" }, ["to"]],
    ["short", { from: "now" }, ["stream", "from"]]
  ])(
    "fails with the names of all invalid fields, and nothing is sent: %s %j",
    ([id, filter, paths]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(
          Stream.runDrain(Deliveries.failed(id, filter)).pipe(Effect.provide(Testing.layer()))
        )
        assert.deepInclude(error, { _tag: "InvalidInput", operation: "Deliveries.failed" })
        assert.deepStrictEqual((error as Errors.InvalidInput).issues.map(({ path }) => path), [...paths])
      })
  )

  it.effect("may begin and end in the same second", () =>
    Effect.gen(function*() {
      const { handler } = listing(new Set(ids(1)))
      assert.lengthOf(yield* collect(handler, { from: "2026-03-01T00:00:00Z", to: "2026-03-01T00:00:00Z" }), 1)
    }))
})

describe("a list that changes while it is read", () => {
  for (const kind of ["tolerant", "strict", "restarting"] as const) {
    it.effect(`is redelivered whole, each event once, by a service that is ${kind} about checkpoints`, () =>
      Effect.gen(function*() {
        const failed = new Set(ids(950))
        const { handler } = listing(failed, kind)
        const sent: Array<string> = []
        const redeliver = Testing.handle(redeliverEvent, ({ event_id }) =>
          Effect.sync(() => {
            sent.push(event_id)
            failed.delete(event_id)
          }))
        const list = Stream.map(Deliveries.failed(stream), ({ id }) => id)
        const results = yield* Stream.runCollect(Redelivery.run(list, { stream })).pipe(
          Effect.provide(Testing.layer(handler, redeliver))
        )
        assert.lengthOf(results, 950)
        assert.isTrue(Chunk.every(results, ({ outcome, recalled }) => outcome === "accepted" && !recalled))
        assert.deepStrictEqual(sent.sort(), ids(950))
        assert.strictEqual(failed.size, 0)
      }))
  }

  it.effect("misses none and gives none twice while others vanish and come", () =>
    Effect.gen(function*() {
      const failed = new Set(ids(500).filter((_, nth) => nth % 2 === 0))
      const { handler } = listing(failed)
      let nth = 0
      const seen = yield* Deliveries.failed(stream).pipe(
        Stream.rechunk(1),
        Stream.tap(({ id }) =>
          Effect.sync(() => {
            failed.delete(id)
            failed.delete(idOf(nth % 100)) // that was given already
            failed.add(idOf(300 + 2 * (nth % 100) + 1))
            nth++
          })
        ),
        Stream.runCollect,
        Effect.provide(Testing.layer(handler))
      )
      const given = idsOf(seen)
      assert.lengthOf(new Set(given), given.length)
      // All that were failed from the begin to the time when they were given; the first hundred may have vanished before.
      assert.includeMembers(given, ids(500).filter((_, nth) => nth % 2 === 0 && nth >= 100))
    }))

  it.effect("gives one that is listed again once", () =>
    Effect.gen(function*() {
      const pages = [ids(100), [...ids(60), ...ids(160).slice(120)], []]
      let page = 0
      const handler = Testing.handle(listDeliveries, () => Effect.sync(() => (pages[page++] ?? []).map(deliveryOf)))
      const given = yield* collect(handler)
      assert.lengthOf(given, 140)
      assert.lengthOf(new Set(given), 140)
    }))

  it.effect("gives all of it again to another reader of the same stream", () =>
    Effect.gen(function*() {
      const { handler } = listing(new Set(ids(3)))
      const list = Deliveries.failed(stream)
      const both = Effect.zip(Stream.runCollect(list), Stream.runCollect(list))
      const [first, second] = yield* Effect.provide(both, Testing.layer(handler))
      assert.deepStrictEqual([idsOf(first), idsOf(second)], [ids(3), ids(3)])
    }))
})

describe("with the embedded tenant", () => {
  const domain = "tenant.example.com"
  const { id: clientId, secret: clientSecret } = Tenant.demoClients.full
  const TenantLive = IdentityClient.layer({ domain }).pipe(
    Layer.provide(RateLimiter.layer),
    Layer.provide(TokenProvider.layerClientCredentials({ domain, clientId, clientSecret })),
    Layer.provide(Tenant.layerHttpClient),
    Layer.provideMerge(Tenant.layerWith({ buckets: { tenant: { burst: 1000, refill: 1000, per: "1 second" } } }))
  )

  const [demo] = Tenant.demo.streams
  const count = 230

  it.effect("redelivers what has failed, each event once", () =>
    Effect.gen(function*() {
      const { requests, seed } = yield* Tenant.Tenant
      const events = ids(count).map((id) => ({
        id,
        state: "failed" as const,
        event_type: "user.created",
        attempts: [{ timestamp: "2026-01-15T22:14:03.120Z" }]
      }))
      yield* seed({ streams: [{ ...demo, events }] })
      const list = Stream.map(Deliveries.failed(demo.id, { from: "2026-01-01" }), (delivery) => delivery.id)
      const results = yield* Stream.runCollect(Redelivery.run(list, { stream: demo.id }))
      assert.isTrue(Chunk.every(results, ({ outcome, recalled }) => outcome === "accepted" && !recalled))
      const received = yield* requests
      const sent = received.filter(({ operation }) => operation === "redeliverEvent")
      assert.deepStrictEqual(sent.map(({ path }) => path.split("/").at(-1)).sort(), ids(count))
      const lists = received.filter(({ operation }) => operation === "listDeliveries")
      assert.lengthOf(lists, 4) // the third page names a next one, which is empty
      assert.deepStrictEqual(lists[0]?.query, [
        ["statuses", "failed"],
        ["date_from", "2026-01-01T00:00:00Z"],
        ["take", "100"]
      ])
    }).pipe(Effect.provide(TenantLive)))

  it.effect("fails with NotFound if the stream does not exist, as does a run", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Stream.runDrain(Deliveries.failed(stream)))
      assert.strictEqual(error._tag, "NotFound")
      const ended = yield* Effect.flip(Stream.runDrain(Redelivery.run(ids(50), { stream })))
      assert.deepInclude(ended, { _tag: "RunError", reason: "streamNotFound" })
      const results = yield* Stream.runCollect(Redelivery.run(ids(3), { stream: demo.id }))
      assert.isTrue(Chunk.every(results, ({ outcome }) => outcome === "gone"))
    }).pipe(Effect.provide(TenantLive)))
})
