/** Tests of the live page's data: its model, the history of buckets, the events of the stream. `test/docs` opens it in a browser. */
import { assert, describe, it } from "@effect/vitest"
import type { RequestDetails, RequestSummary, Snapshot } from "../../../src/tenant/control/http/schemas.js"
import { commandOf } from "../../../src/tenant/page/live/data/command.js"
import { splitEvents } from "../../../src/tenant/page/live/data/eventStream.js"
import { addPoint, columnsOf, levelNow, pointsOf } from "../../../src/tenant/page/live/data/history.js"
import { apply, mergeRequests, type Model, rateOf, tenantTime } from "../../../src/tenant/page/live/data/model.js"
import { count, dayAndTime, duration, level, rate, timeOfDay } from "../../../src/tenant/page/live/format.js"

const request = (id: number, more: Partial<RequestSummary> = {}): RequestSummary => ({
  id,
  time: id,
  method: "GET",
  path: "/api/v2/actions/actions",
  operation: "listActions",
  outcome: "responded",
  status: 200,
  duration: 1,
  client: "demo-full",
  token: "abcdefghijklmnopqrstuv",
  bucket: "tenant",
  left: 49,
  retry: 0,
  retryOf: null,
  fault: null,
  ...more
})

const bucket = {
  name: "tenant",
  burst: 50,
  refillPerSecond: 10,
  left: 20,
  history: { step: 500, samples: [{ left: 50, allowed: 0, refused: 0 }, { left: 15, allowed: 35, refused: 2 }] }
} as const

const nothing = { items: [], total: 0 }

const snapshot: Snapshot = {
  time: 1_000_000,
  clockOffset: 0,
  instance: "first",
  version: "1.0.0",
  operations: [],
  clients: [],
  buckets: [bucket],
  tokens: nothing,
  jobs: nothing,
  streams: nothing,
  faults: [],
  requests: { items: [request(3), request(2)], total: 3 },
  counts: { connections: 0, actions: 0, profiles: 0, users: 0 }
}

const started = (now = 0): Model => {
  const model = apply(undefined, { type: "snapshot", snapshot }, now)
  if (model === undefined) throw new Error("no model")
  return model
}

const ids = (requests: ReadonlyArray<RequestSummary>) => requests.map(({ id }) => id)

describe("the model of the live page", () => {
  it("ignores what comes before the first snapshot, and drops what it had at the next one", () => {
    assert.strictEqual(
      apply(undefined, { type: "requests", requests: [request(1)], leftOut: 0, total: 1 }, 0),
      undefined
    )
    const model = apply(started(), { type: "requests", requests: [request(4)], leftOut: 0, total: 4 }, 5)
    assert.deepStrictEqual(ids(model?.requests ?? []), [2, 3, 4])
    const again = apply(model, { type: "snapshot", snapshot: { ...snapshot, requests: nothing } }, 9)
    assert.deepStrictEqual([again?.requests, again?.total], [[], 0])
  })

  it("replaces requests in their places, adds new ones in order, and ignores those that it has dropped", () => {
    const known = [request(5, { outcome: "pending", status: null }), request(8)]
    const merged = mergeRequests(known, [request(7), request(5), request(9), request(1)])
    assert.deepStrictEqual(ids(merged), [5, 7, 8, 9])
    assert.strictEqual(merged[0]?.status, 200)
  })

  it("keeps the newest 2,000 requests", () => {
    const many = Array.from({ length: 2500 }, (_, index) => request(index + 1))
    const merged = mergeRequests([], many)
    assert.deepStrictEqual([merged.length, merged[0]?.id], [2000, 501])
  })

  it("measures the rate over two seconds, and the part that is left out", () => {
    let model: Model | undefined = started()
    for (let now = 100; now <= 4000; now += 100) {
      model = apply(model, { type: "requests", requests: [], leftOut: 50, total: 3 + now * 2 }, now)
    }
    if (model === undefined) throw new Error("no model")
    assert.deepStrictEqual(rateOf(model, 4000), { rate: 2000, leftOut: 0.25 })
    assert.deepStrictEqual(rateOf(model, 7000), { rate: 0, leftOut: 0 })
    assert.isBelow(model.counts.length, 25)
  })

  it("takes in parts of the state, and follows the tenant's clock", () => {
    const counts = { connections: 7, actions: 0, profiles: 0, users: null }
    const model = apply(started(), { type: "state", time: 5_000_000, clockOffset: 60_000, counts }, 100)
    if (model === undefined) throw new Error("no model")
    assert.deepInclude(model.snapshot, { counts, clockOffset: 60_000, instance: "first" })
    assert.strictEqual(tenantTime(model, 250), 5_000_150)
  })

  it("adds readings of buckets to their history", () => {
    const buckets = [{ name: "tenant", left: 4, now: 6, allowed: 30, refused: 1 }] as const
    const model = apply(started(), { type: "buckets", time: 0, clockOffset: 0, buckets }, 100)
    assert.deepStrictEqual(model?.points["tenant"]?.at(-1), { at: 100, low: 4, left: 6, allowed: 30, refused: 1 })
  })
})

describe("the history of a bucket", () => {
  const reading = { name: "tenant", left: 1, now: 2, allowed: 5, refused: 0 } as const

  it("begins with the samples of the snapshot", () => {
    assert.deepStrictEqual(pointsOf(bucket, 1000), [
      { at: 500, low: 50, left: 50, allowed: 0, refused: 0 },
      { at: 1000, low: 15, left: 20, allowed: 35, refused: 2 }
    ])
  })

  it("drops points older than a minute, except the newest of them", () => {
    const points = [0, 1000, 2000].map((at) => ({ at, low: 0, left: 0, allowed: 0, refused: 0 }))
    assert.deepStrictEqual(addPoint(points, reading, 61_500).map(({ at }) => at), [1000, 2000, 61_500])
    assert.deepStrictEqual(addPoint(points, reading, 90_000).map(({ at }) => at), [2000, 90_000])
    assert.lengthOf(addPoint([], reading, 5), 1)
  })

  it("sums calls in columns of half a second", () => {
    const columns = columnsOf(pointsOf(bucket, 60_900), 61_000)
    assert.lengthOf(columns, 120)
    assert.deepStrictEqual(columns.at(-2), { allowed: 35, refused: 2 })
    assert.deepStrictEqual(columns.at(-1), { allowed: 0, refused: 0 })
  })

  it("refills between two readings, up to the burst", () => {
    const points = pointsOf(bucket, 1000)
    assert.strictEqual(levelNow(points, bucket, 2000), 30)
    assert.strictEqual(levelNow(points, bucket, 60_000), 50)
    assert.strictEqual(levelNow([], bucket, 0), 50)
  })
})

describe("the stream of events", () => {
  it("is split into the data of each event, whatever the parts in which it comes", () => {
    const text = ": comment\n\nevent: state\ndata: {\"a\":1}\n\ndata: {\"b\":\ndata: 2}\r\n\r\ndata: {\"c\""
    assert.deepStrictEqual(splitEvents(text), { data: ["{\"a\":1}", "{\"b\":\n2}"], rest: "data: {\"c\"" })
  })
})

describe("the command for a request", () => {
  const page = { protocol: "http:", host: "tenant:8787" }
  const details = (sent: Partial<RequestDetails["request"]>, host = "tenant.example.com"): RequestDetails => ({
    ...request(1, { method: "POST", path: "/api/v2/jobs" }),
    host,
    request: { headers: {}, body: "", size: 0, ...sent },
    response: null
  })

  it("has the headers that curl does not set itself", () => {
    const headers = { "host": "other", "content-length": "2", "x-mine": "1", "content-type": "text/plain" }
    assert.deepStrictEqual(commandOf(details({ headers, body: "ab", size: 2 }), page).split(" \\\n  "), [
      "curl -X POST 'http://tenant.example.com/api/v2/jobs'",
      "-H 'x-mine: 1'",
      "-H 'content-type: text/plain'",
      "--data-raw 'ab'"
    ])
    assert.include(commandOf(details({}, ""), page), "'http://tenant:8787/api/v2/jobs'")
  })

  it("says that the body is missing, if it is", () => {
    const missing = /^# The body of 300000 bytes is missing: .*\ncurl -X POST '[^']*'$/
    assert.match(commandOf(details({ body: null, size: 300_000 }), page), missing)
    assert.match(commandOf(details({}), page), /^curl/)
  })
})

describe("the texts of the live page", () => {
  it("are counts, of an unknown number, too", () => {
    assert.deepStrictEqual([count(1, "call"), count(1200, "call"), count(0, "delivery", "deliveries")], [
      "1 call",
      "1,200 calls",
      "0 deliveries"
    ])
    assert.deepStrictEqual([count(null, "call"), count(undefined, "call")], ["? calls", "? calls"])
  })

  it("are durations in their two largest units", () => {
    const cases = [[0.4, "0 ms"], [999, "999 ms"], [1500, "1.5 s"], [61_000, "1 min 1 s"], [86_460_000, "1 d 1 min"]]
    for (const [millis, text] of cases) assert.strictEqual(duration(Number(millis)), text)
  })

  it("are times, levels and rates", () => {
    const time = new Date(2026, 0, 2, 3, 4, 5, 6).getTime()
    assert.deepStrictEqual([timeOfDay(time), dayAndTime(time)], ["03:04:05.006", "2026-01-02 03:04:05"])
    assert.deepStrictEqual([level(12.7), level(3.25), level(5)], ["12", "3.3", "5"])
    assert.deepStrictEqual([rate(29.9999999), rate(1.6666)], ["30", "1.7"])
  })
})
