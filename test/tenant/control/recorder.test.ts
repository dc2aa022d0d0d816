/** Tests of the recorder: the bodies that it keeps, what it shows of a request, and what its readers get. */
import * as Headers from "@effect/platform/Headers"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Observation, ObservedRequest } from "../../../src/tenant/control/observer.js"
import * as Recorder from "../../../src/tenant/control/recording/recorder.js"
import * as Subscription from "../../../src/tenant/control/recording/subscription.js"

const make = () =>
  Recorder.make([], {
    tenant: { burst: 10, refillPerSecond: 1 },
    profileUpdates: { burst: 5, refillPerSecond: 1 }
  })

const begin = (recorder: Recorder.Recorder, more: Partial<ObservedRequest> = {}) =>
  recorder.begin({
    at: 0,
    method: "POST",
    target: "/x",
    headers: Headers.empty,
    body: "",
    size: 0,
    parsed: undefined,
    operation: undefined,
    ...more
  })

const beginMany = (recorder: Recorder.Recorder, count: number, body = "") =>
  Effect.forEach(Array.from({ length: count }), () => begin(recorder, { body }))

const respond = ({ ended }: Observation, body = "") =>
  ended({ outcome: "responded", response: { status: 200, headers: Headers.empty, body } })

/** The largest body that is kept: 64 of them are as many as are kept together. */
const largest = "x".repeat(262_144)

describe("bodies", () => {
  it.effect("are kept up to 16 MiB: of the oldest ones, even if they come late, only the size is", () =>
    Effect.gen(function*() {
      const recorder = make()
      const [first = assert.fail("no request")] = yield* beginMany(recorder, 64, largest)
      const isKept = (id: number) => recorder.details(id, false)?.request.body !== null
      assert.deepStrictEqual([1, 2, 64].map(isKept), [true, true, true])
      yield* begin(recorder, { body: "y" })
      assert.deepStrictEqual([1, 2, 3, 65].map(isKept), [false, true, true, true])
      yield* respond(first, "late")
      const { request, response } = recorder.details(1, false) ?? assert.fail("no request")
      assert.deepStrictEqual(request, { headers: {}, body: null, size: largest.length })
      assert.deepStrictEqual(response, { headers: {}, body: null, size: 4 })
      yield* begin(recorder, { body: largest.slice(1) })
      assert.deepStrictEqual([2, 3, 66].map(isKept), [true, true, true])
      yield* begin(recorder, { body: "y" })
      assert.deepStrictEqual([2, 3, 67].map(isKept), [false, true, true])
    }))

  it.effect("are dropped by their age, also after requests that are no longer kept", () =>
    Effect.gen(function*() {
      const recorder = make()
      yield* beginMany(recorder, 2000)
      yield* beginMany(recorder, 65, largest)
      const bodies = [65, 66, 2001, 2002, 2065].map((id) => recorder.details(id, false)?.request.body?.length)
      assert.deepStrictEqual(bodies, [undefined, undefined, undefined, largest.length, largest.length])
      assert.deepStrictEqual([recorder.oldest(), recorder.total()], [66, 2065])
    }))

  it.effect("are shown if they have no type or that of a text, of others only the size is", () =>
    Effect.gen(function*() {
      const recorder = make()
      const body = new TextEncoder().encode("é")
      const typed = (type: string) => Headers.fromInput({ "content-type": type })
      yield* begin(recorder, { body })
      yield* begin(recorder, { body, headers: typed("text/plain") })
      yield* begin(recorder, { body, headers: typed("image/png") })
      const shown = [1, 2, 3].map((id) => recorder.details(id, false)?.request)
      assert.deepStrictEqual(shown.map((request) => [request?.body, request?.size]), [["é", 2], ["é", 2], [null, 2]])
    }))
})

describe("details", () => {
  it.effect("have the path with its secrets only if they are asked for, and an empty host if none was named", () =>
    Effect.gen(function*() {
      const recorder = make()
      yield* begin(recorder, { target: "/x?client_secret=abc" })
      const [hidden, shown] = [recorder.details(1, false), recorder.details(1, true)]
      assert.deepStrictEqual([hidden?.path, shown?.path], ["/x?client_secret=<masked>", "/x?client_secret=abc"])
      assert.deepStrictEqual([hidden?.host, hidden?.response], ["", null])
    }))
})

describe("a history", () => {
  it.effect("shows a level that was set by hand, of that bucket only", () =>
    Effect.gen(function*() {
      const recorder = make()
      yield* recorder.setLevel("tenant", 3)
      const newest = Effect.map(
        Effect.all([recorder.history("tenant"), recorder.history("profileUpdates")]),
        (histories) => histories.map((samples) => samples.at(-1)?.left)
      )
      assert.deepStrictEqual(yield* newest, [3, 5])
    }))
})

describe("a reader", () => {
  const idsOf = (reader: Recorder.Reader) => reader.takeRequests().requests.map(({ id }) => id)

  it.scoped("gets the ends of the requests that it has as pending, and of no others", () =>
    Effect.gen(function*() {
      const recorder = make()
      const reader = yield* recorder.subscribe
      const running = yield* beginMany(recorder, 3)
      reader.begin(2)
      yield* Effect.forEach(running, (each) => respond(each))
      assert.deepStrictEqual(idsOf(reader), [2, 3])
    }))

  it.scoped("gets the end of an old request, however many have ended since", () =>
    Effect.gen(function*() {
      const recorder = make()
      const reader = yield* recorder.subscribe
      const old = yield* begin(recorder)
      yield* Effect.forEach(yield* beginMany(recorder, 1000), (each) => respond(each))
      reader.begin(2000)
      yield* begin(recorder)
      assert.deepStrictEqual(idsOf(reader), [1002])
      yield* respond(old)
      assert.deepStrictEqual(idsOf(reader), [1])
    }))

  it.effect("gets nothing more once it has left", () =>
    Effect.gen(function*() {
      const recorder = make()
      const reader = yield* Effect.scoped(recorder.subscribe)
      yield* begin(recorder)
      assert.deepStrictEqual(reader.takeRequests(), { requests: [], leftOut: 0 })
    }))
})

describe("a subscription", () => {
  /** Subscribes, and takes this many requests while they are pending. */
  const withPending = (count: number) => {
    const subscription = Subscription.make<{ readonly id: number; readonly outcome: string }>()
    for (let id = 1; id <= count; id++) {
      subscription.changed({ id, outcome: "pending" })
      subscription.takeRequests()
    }
    return subscription
  }
  const idsOf = ({ takeRequests }: ReturnType<typeof withPending>) => takeRequests().requests.map(({ id }) => id)

  it("gives the ends of a thousand pending requests", () => {
    const subscription = withPending(1000)
    for (let id = 1; id <= 1000; id++) subscription.changed({ id, outcome: "responded" })
    const ended = Array.from({ length: 11 }, () => idsOf(subscription))
    assert.deepStrictEqual(ended.flat(), Array.from({ length: 1000 }, (_, index) => index + 1))
  })

  it("forgets the oldest of more pending requests", () => {
    const subscription = withPending(1001)
    for (const id of [1, 2]) subscription.changed({ id, outcome: "responded" })
    assert.deepStrictEqual(idsOf(subscription), [2])
  })
})
