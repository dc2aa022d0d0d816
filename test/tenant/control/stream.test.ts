/** The stream of events: a snapshot first, then what changes, in batches; a slow reader costs nothing. */
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as Tenant from "../../../src/Tenant.js"
import type { StreamMessage } from "../../../src/tenant/control/http/schemas.js"
import { keyHeader } from "../../../src/tenant/control/messages.js"
import { action, call, listActionVersions, requestToken, send, tokenOf, waitForSleep } from "../support/calls.js"
import { act, itControlled, key, loops, messages, origin, pass, reading } from "../support/control.js"

const ofType = <Type extends StreamMessage["type"]>(read: ReadonlyArray<StreamMessage>, type: Type) =>
  read.filter((message): message is Extract<StreamMessage, { readonly type: Type }> => message.type === type)

describe("the stream", () => {
  itControlled("begins with a snapshot, and shows a request within one batch", () =>
    Effect.gen(function*() {
      yield* HttpClient.get("https://tenant.test/before")
      const read = yield* reading
      assert.deepStrictEqual(ofType(read, "snapshot")[0]?.snapshot.requests.items.map(({ path }) => path), ["/before"])
      yield* HttpClient.get("https://tenant.test/after")
      yield* pass(1)
      assert.deepStrictEqual(
        ofType(read, "requests").map(({ leftOut, requests, total }) => [
          requests.map(({ path }) => path),
          leftOut,
          total
        ]),
        [[["/after"], 0, 2]]
      )
      yield* pass(3)
      assert.lengthOf(ofType(read, "requests"), 1)
    }).pipe(Effect.scoped))

  itControlled("shows a pending request, and then its end", () =>
    Effect.gen(function*() {
      yield* act("addFault", "POST", "/faults", { delay: 1000, operation: "token" })
      const read = yield* reading
      const running = yield* Effect.fork(requestToken({}))
      yield* Effect.repeatN(loops, 5)
      yield* pass(12)
      yield* Fiber.join(running)
      yield* pass(1)
      assert.deepStrictEqual(
        ofType(read, "requests").flatMap(({ requests }) => requests).map(({ id, outcome }) => [id, outcome]),
        [[1, "pending"], [1, "responded"]]
      )
    }).pipe(Effect.scoped))

  itControlled("shows the end of a request that was pending when the reader came", () =>
    Effect.gen(function*() {
      yield* act("addFault", "POST", "/faults", { delay: 1000, operation: "token" })
      const running = yield* Effect.fork(requestToken({}))
      yield* waitForSleep
      const read = yield* reading
      assert.deepStrictEqual(ofType(read, "snapshot")[0]?.snapshot.requests.items.map(({ outcome }) => outcome), [
        "pending"
      ])
      yield* HttpClient.get("https://tenant.test/x")
      yield* pass(12)
      yield* Fiber.join(running)
      yield* pass(1)
      assert.deepStrictEqual(
        ofType(read, "requests").flatMap(({ requests }) => requests).map(({ id, outcome }) => [id, outcome]),
        [[2, "responded"], [1, "responded"]]
      )
    }).pipe(Effect.scoped))

  itControlled("samples a thousand requests, and says how many it left out", () =>
    Effect.gen(function*() {
      const read = yield* reading
      yield* Effect.forEach(Array.from({ length: 1000 }), () => HttpClient.get("https://tenant.test/x"), {
        discard: true
      })
      yield* pass(2)
      const [batch] = ofType(read, "requests")
      assert.deepStrictEqual([batch?.requests.length, batch?.leftOut, batch?.total], [100, 900, 1000])
      assert.deepStrictEqual([batch?.requests[0]?.id, batch?.requests.at(-1)?.id], [901, 1000])
    }).pipe(Effect.scoped))

  itControlled(
    "shows buckets while they change, state when it has changed, and a sign of life",
    () =>
      Effect.gen(function*() {
        const read = yield* reading
        yield* pass(10)
        assert.lengthOf(read, 1)
        yield* call(listActionVersions, { params: { actionId: action.id } })
        yield* act("setBucket", "POST", "/buckets/tenant", { left: 48.4 })
        yield* pass(3)
        const [reading1] = ofType(read, "buckets")
        assert.deepStrictEqual(reading1?.buckets.map(({ name, now }) => [name, now]), [["tenant", 50], [
          "profileUpdates",
          5
        ]])
        assert.deepStrictEqual(reading1?.buckets.map(({ allowed, left, refused }) => [allowed, left, refused]), [
          [1, 49, 0],
          [0, 5, 0]
        ])
        const [state] = ofType(read, "state")
        assert.deepStrictEqual(Object.keys(state ?? {}).toSorted(), ["clockOffset", "time", "tokens", "type"])
        const before = read.length
        yield* pass(40)
        const signs = read.slice(before)
        assert.isAtMost(signs.length, 2)
        assert.isAbove(ofType(signs, "state").length, 0)
      }).pipe(Effect.scoped)
  )

  itControlled("shows jobs, deliveries, faults and the clock as they change", () =>
    Effect.gen(function*() {
      const read = yield* reading
      yield* act("addFault", "POST", "/faults", { status: 500 })
      yield* act("failDeliveries", "POST", "/deliveries/fail")
      yield* act("moveClock", "POST", "/clock", { forward: 1000 })
      yield* pass(3)
      const states = ofType(read, "state")
      assert.lengthOf(states[0]?.faults ?? [], 1)
      assert.strictEqual(states[0]?.streams?.items[0]?.failed, 3)
      assert.strictEqual(states[0]?.clockOffset, 1000)
      assert.isUndefined(states[0]?.jobs)
    }).pipe(Effect.scoped))

  itControlled(
    "shows a level that changes without a call within one batch, and other changes within three",
    () =>
      Effect.gen(function*() {
        const read = yield* reading
        yield* act("setBucket", "POST", "/buckets/tenant", { left: 10 })
        yield* act("addFault", "POST", "/faults", { status: 500 })
        yield* pass(1)
        assert.deepStrictEqual(ofType(read, "buckets").map(({ buckets }) => buckets), [[
          { name: "tenant", left: 11.6, allowed: 0, refused: 0, now: 11.6 },
          { name: "profileUpdates", left: 5, allowed: 0, refused: 0, now: 5 }
        ]])
        yield* pass(1)
        assert.deepStrictEqual(ofType(read, "state"), [])
        yield* pass(1)
        assert.lengthOf(ofType(read, "state"), 1)
      }).pipe(Effect.scoped)
  )

  itControlled("shows a refused call of a bucket whose level stays", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      const list = send(listActionVersions, { params: { actionId: action.id }, token })
      yield* list
      const read = yield* reading
      assert.strictEqual((yield* list).status, 429)
      yield* pass(1)
      assert.deepInclude(ofType(read, "buckets")[0]?.buckets[0], { left: 0, allowed: 0, refused: 1, now: 0 })
    }).pipe(Effect.scoped), { buckets: { tenant: { burst: 1, refill: 1, per: Duration.days(1e11) } } })

  itControlled(
    "is one of server-sent events, those of one time in one chunk, and none is empty",
    () =>
      Effect.gen(function*() {
        const { headers, stream } = yield* HttpClient.get(`${origin}/_tenant/events`, { headers: { [keyHeader]: key } })
        assert.strictEqual(headers["content-type"], "text/event-stream")
        const chunks: Array<string> = []
        yield* Effect.forkScoped(
          Stream.runForEach(Stream.decodeText(stream), (text) => Effect.sync(() => chunks.push(text)))
        )
        yield* Effect.repeat(loops, { until: () => chunks.length > 0 })
        yield* pass(2)
        yield* call(listActionVersions, { params: { actionId: action.id } })
        yield* pass(1)
        const types = chunks.map((chunk) => chunk.replace(/event: (\w+)\ndata: \{"type":"\1",.*\}\n\n/g, "$1;"))
        assert.deepStrictEqual(types, ["snapshot;", "requests;buckets;state;"])
      }).pipe(Effect.scoped)
  )

  itControlled("begins anew after a reset, and after a state is loaded", () =>
    Effect.gen(function*() {
      const read = yield* reading
      yield* HttpClient.get("https://tenant.test/x")
      yield* act("reset", "POST", "/reset")
      yield* pass(1)
      assert.lengthOf(ofType(read, "snapshot"), 2)
      assert.lengthOf(ofType(read, "requests"), 0)
      yield* act("load", "POST", "/load", yield* act("save", "GET", "/save"))
      yield* pass(1)
      assert.lengthOf(ofType(read, "snapshot"), 3)
      const instances = ofType(read, "snapshot").map(({ snapshot }) => snapshot.instance)
      assert.strictEqual(new Set(instances).size, 1)
    }).pipe(Effect.scoped))

  itControlled(
    "is not made for a reader that does not read: it gets the newest when it does",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const pulled = yield* Stream.toPull(messages)
        yield* pulled
        yield* Effect.forEach(Array.from({ length: 500 }), () => HttpClient.get("https://tenant.test/x"), {
          discard: true
        })
        yield* TestClock.adjust("1 minute")
        assert.isAbove((yield* tenant.requests).length, 499)
        const next = yield* Effect.fork(pulled)
        yield* Effect.repeatN(loops, 5)
        yield* TestClock.adjust("100 millis")
        const [message] = [...yield* Fiber.join(next)]
        assert.strictEqual(message?.type === "requests" ? message.requests.length + message.leftOut : 0, 500)
      }).pipe(Effect.scoped)
  )
})
