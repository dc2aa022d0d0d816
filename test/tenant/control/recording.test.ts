/** Requests are recorded in bounded memory, with clients, retries and buckets; a reader gets samples of them. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import * as operations from "../../../src/operations/index.js"
import * as Tenant from "../../../src/Tenant.js"
import * as History from "../../../src/tenant/control/recording/history.js"
import * as Retries from "../../../src/tenant/control/recording/retries.js"
import * as Subscription from "../../../src/tenant/control/recording/subscription.js"
import {
  action,
  credentials,
  largeBuckets,
  listActionVersions,
  requestToken,
  send,
  tokenOf,
  updateTokenExchangeProfile,
  waitForSleep
} from "../support/calls.js"
import { act, control, itControlled, snapshot } from "../support/control.js"

const list = (token: string, query = "") => send(listActionVersions, { params: { actionId: action.id }, query, token })

describe("a recorded request", () => {
  itControlled("has what happened: the client, the bucket, the status, the bodies", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      yield* list(token, "?per_page=1")
      const [issued] = (yield* snapshot).tokens.items
      const details = yield* act("request", "GET", "/requests/2")
      assert.deepStrictEqual({ ...details, request: null, response: null, duration: 0 }, {
        id: 2,
        time: 0,
        method: "GET",
        path: `/api/v2/actions/actions/${action.id}/versions?per_page=1`,
        operation: "listActionVersions",
        outcome: "responded",
        status: 200,
        duration: 0,
        client: "demo-full",
        token: issued?.id,
        bucket: "tenant",
        left: 49,
        retry: 0,
        retryOf: null,
        fault: null,
        host: "tenant.test",
        request: null,
        response: null
      })
      assert.strictEqual(details.request.headers["authorization"], "Bearer <masked>")
      assert.deepStrictEqual([details.request.body, details.request.size], ["", 0])
      assert.strictEqual(JSON.parse(details.response?.body ?? "").versions.length, 1)
      assert.strictEqual(details.response?.size, new TextEncoder().encode(details.response?.body ?? "").length)
      assert.strictEqual(details.response?.headers["x-ratelimit-remaining"], "49")
    }))

  itControlled(
    "names client and token of refused requests, the client of token requests, and none where there is none",
    () =>
      Effect.gen(function*() {
        const token = yield* tokenOf(Tenant.demoClients.readsActions)
        yield* act("revokeTokens", "POST", "/tokens/revoke")
        yield* list(token)
        yield* requestToken({ ...credentials(Tenant.demoClients.full), client_secret: "wrong" })
        yield* list("not.a.token")
        yield* HttpClient.get("https://tenant.test/nowhere")
        yield* send(updateTokenExchangeProfile, { params: { id: "x" }, body: {} })
        const { requests: { items }, tokens: { items: [issued] } } = yield* snapshot
        assert.isString(issued?.id)
        assert.deepStrictEqual(items.toReversed().map(({ client, status, token }) => [client, token, status]), [
          ["demo-reads-actions", null, 200],
          ["demo-reads-actions", issued?.id, 401],
          ["demo-full", null, 401],
          [null, null, 401],
          [null, null, 404],
          [null, null, 401]
        ])
        assert.deepStrictEqual(items.map(({ bucket }) => bucket), [
          "profileUpdates",
          null,
          "tenant",
          null,
          "tenant",
          null
        ])
      })
  )

  itControlled("is the retry of one that failed: the same call by the same client", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      yield* act("addFault", "POST", "/faults", { status: 503, times: 2 })
      for (const query of ["", "", "?page=1", "", ""]) yield* list(token, query)
      const { items } = (yield* snapshot).requests
      assert.deepStrictEqual(items.toReversed().map(({ id, retry, retryOf }) => [id, retry, retryOf]), [
        [1, 0, null],
        [2, 0, null],
        [3, 1, 2],
        [4, 0, null],
        [5, 2, 3],
        [6, 0, null]
      ])
      yield* act("addFault", "POST", "/faults", { status: 503, operation: "listActionVersions" })
      yield* list(token)
      yield* list(yield* tokenOf(Tenant.demoClients.readsActions))
      yield* list(token)
      assert.deepStrictEqual((yield* snapshot).requests.items.slice(0, 2).map(({ retryOf }) => retryOf), [7, null])
    }))

  itControlled("that its program has given up is aborted", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      yield* act("addFault", "POST", "/faults", { delay: 60_000 })
      const running = yield* Effect.fork(list(token))
      yield* waitForSleep
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.interrupt(running)
      assert.deepInclude((yield* snapshot).requests.items[0], { outcome: "aborted", status: null, duration: 2000 })
    }))
})

describe("a recorded request without a response", () => {
  itControlled("ends, too, if the tenant has a defect", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.respond(operations.listActionVersions, () => Effect.die("a defect"))
      yield* Effect.exit(list(token))
      assert.deepInclude((yield* snapshot).requests.items[0], { outcome: "aborted", status: null })
    }))

  itControlled(
    "or with a body that is nested too deeply has its details, without secrets",
    () =>
      Effect.gen(function*() {
        const nested = `${"[".repeat(30_000)}${"]".repeat(30_000)}`
        yield* HttpClient.post("https://tenant.test/oauth/token", {
          body: HttpBody.text(`{"a":${nested},"client_secret":"canary"}`, "application/json")
        })
        const { request, response, status } = yield* act("request", "GET", "/requests/1")
        assert.strictEqual(status, 400)
        assert.strictEqual(request.body, `{"a":${nested},"client_secret":<masked>`)
        assert.include(response?.body ?? "", "nested too deeply")
      })
  )

  itControlled("or with a body that is too large has the size of it", () =>
    Effect.gen(function*() {
      yield* send(updateTokenExchangeProfile, { params: { id: "x" }, body: { name: "x".repeat(70_000) } })
      const { request, status } = yield* act("request", "GET", "/requests/1")
      assert.deepStrictEqual([status, request.body, request.size], [413, null, 70_011])
    }))
})

describe("memory", () => {
  itControlled("keeps the newest 2,000 requests, and lists them in pages", () =>
    Effect.gen(function*() {
      yield* Effect.forEach(Array.from({ length: 2100 }), () => HttpClient.get("https://tenant.test/nowhere"), {
        discard: true
      })
      const { items, oldest, total } = yield* act("requests", "GET", "/requests?limit=3")
      assert.deepStrictEqual([items.map(({ id }) => id), oldest, total], [[2100, 2099, 2098], 101, 2100])
      const last = yield* act("requests", "GET", "/requests?before=103&limit=5")
      assert.deepStrictEqual(last.items.map(({ id }) => id), [102, 101])
      assert.strictEqual((yield* control("GET", "/requests/100")).status, 404)
      assert.lengthOf((yield* snapshot).requests.items, 200)
    }))

  itControlled("keeps bodies up to 16 MiB together, of the newest requests", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      yield* act("addFault", "POST", "/faults", { times: 100, body: "x".repeat(250_000) })
      yield* Effect.forEach(Array.from({ length: 80 }), () => Effect.exit(list(token)), { discard: true })
      const [first, last] = [yield* act("request", "GET", "/requests/2"), yield* act("request", "GET", "/requests/81")]
      assert.deepStrictEqual([first.response?.body, first.response?.size], [null, 250_000])
      assert.deepStrictEqual([last.response?.body?.length, last.response?.size], [250_000, 250_000])
      yield* act("removeFaults", "DELETE", "/faults")
      yield* act("addFault", "POST", "/faults", { body: "x".repeat(300_000) })
      yield* Effect.exit(list(token))
      const tooLarge = yield* act("request", "GET", "/requests/82")
      assert.deepStrictEqual([tooLarge.response?.body, tooLarge.response?.size], [null, 300_000])
    }), { buckets: largeBuckets })
})

describe("memory of bodies", () => {
  itControlled("is not passed by responses that come late", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      yield* act("addFault", "POST", "/faults", { delay: 60_000, body: "x".repeat(250_000) })
      const late = yield* Effect.fork(Effect.exit(list(token)))
      yield* waitForSleep
      yield* act("addFault", "POST", "/faults", { times: 100, body: "x".repeat(250_000) })
      yield* Effect.forEach(Array.from({ length: 80 }), () => Effect.exit(list(token)), { discard: true })
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(late)
      const { outcome, response } = yield* act("request", "GET", "/requests/2")
      assert.deepStrictEqual([outcome, response?.body, response?.size], ["responded", null, 250_000])
    }), { buckets: largeBuckets })
})

describe("a subscription", () => {
  const request = (id: number, outcome = "responded") => ({ id, outcome })
  const take = (subscription: Subscription.Subscription<{ readonly id: number; readonly outcome: string }>) => {
    const { leftOut, requests } = subscription.takeRequests()
    return [requests.map(({ id }) => id), leftOut] as const
  }

  it("gives the newest hundred, and the number of the others", () => {
    const subscription = Subscription.make<{ id: number; outcome: string }>()
    for (let id = 1; id <= 1000; id++) subscription.changed(request(id))
    const [ids, leftOut] = take(subscription)
    assert.deepStrictEqual([ids.length, ids[0], ids.at(-1), leftOut], [100, 901, 1000, 900])
    assert.deepStrictEqual(take(subscription), [[], 0])
  })

  it("gives a request that was pending once more when it has ended, and no other", () => {
    const subscription = Subscription.make<{ id: number; outcome: string }>()
    const [one, two] = [request(1, "pending"), request(2, "pending")]
    subscription.changed(one)
    subscription.changed(two)
    two.outcome = "responded"
    subscription.changed(two)
    assert.deepStrictEqual(take(subscription), [[1, 2], 0])
    one.outcome = "cut"
    subscription.changed(one)
    subscription.changed(two)
    assert.deepStrictEqual(take(subscription), [[1], 0])
    subscription.changed(one)
    assert.deepStrictEqual(take(subscription), [[], 0])
  })

  it("under load gives ends as well as beginnings, and every end in the end", () => {
    const subscription = Subscription.make<{ id: number; outcome: string }>()
    const shown = new Set<number>()
    const ended = new Set<number>()
    let id = 0
    for (let batch = 0; batch < 50; batch++) {
      const started = Array.from({ length: 300 }, () => request(++id, "pending"))
      for (const each of started) subscription.changed(each)
      const { requests } = subscription.takeRequests()
      assert.isAtMost(requests.length, 100)
      for (const { id, outcome } of requests) (outcome === "pending" ? shown : ended).add(id)
      for (const each of started) {
        each.outcome = "responded"
        subscription.changed(each)
      }
    }
    for (let batch = 0; batch < 20; batch++) for (const { id } of subscription.takeRequests().requests) ended.add(id)
    assert.isAbove(shown.size, 2000)
    assert.deepStrictEqual([...shown].filter((each) => !ended.has(each)), [])
  })

  it("sums up what happened to the buckets, and begins anew when it is cleared", () => {
    const subscription = Subscription.make<{ id: number; outcome: string }>()
    subscription.took("tenant", true, 3)
    subscription.took("tenant", true, 2)
    subscription.took("tenant", false, 2.5)
    assert.deepStrictEqual(subscription.takeReadings(), [{ name: "tenant", left: 2, allowed: 2, refused: 1 }])
    assert.deepStrictEqual(subscription.takeReadings(), [])
    subscription.took("tenant", true, 1)
    subscription.changed(request(1, "pending"))
    subscription.clear()
    assert.deepStrictEqual([take(subscription), subscription.takeReadings()], [[[], 0], []])
  })
})

describe("retries", () => {
  it("are matched in their order, for five minutes, and a thousand at most", () => {
    const retries = Retries.make()
    const begin = (key: () => string, at: number, trace?: string) => retries.begin(key, trace, at)
    const fail = (key: string, id: number, retry = 0, trace?: string) =>
      retries.failed(key, { id, retry, at: 0, trace })
    const never = () => assert.fail("no key is needed")
    assert.deepStrictEqual(begin(never, 0), { retry: 0, retryOf: null })
    fail("a", 1, 0)
    fail("a", 2, 4)
    assert.deepStrictEqual(begin(() => "b", 1), { retry: 0, retryOf: null })
    assert.deepStrictEqual(begin(() => "a", 300_000), { retry: 1, retryOf: 1 })
    assert.deepStrictEqual(begin(() => "a", 300_001), { retry: 0, retryOf: null })
    for (const [id, trace] of [[1, "x"], [2, "y"], [3, "z"]] as const) fail("t", id, 0, trace)
    assert.deepStrictEqual(["y", "other", "z", "z"].map((trace) => begin(() => "t", 0, trace).retryOf), [2, 1, 3, null])
    for (let id = 1; id <= 1500; id++) fail(String(id), id)
    assert.deepStrictEqual(begin(() => "500", 0), { retry: 0, retryOf: null })
    assert.deepStrictEqual(begin(() => "501", 0), { retry: 1, retryOf: 501 })
    retries.clear()
    assert.deepStrictEqual(begin(never, 0), { retry: 0, retryOf: null })
  })

  it("are matched by their age, the oldest first if no trace is known", () => {
    const retries = Retries.make()
    retries.failed("a", { id: 1, retry: 0, at: 200_000, trace: "x" })
    retries.failed("a", { id: 2, retry: 0, at: 200_000, trace: undefined })
    assert.deepStrictEqual(retries.begin(() => "a", undefined, 400_000), { retry: 1, retryOf: 1 })
    assert.deepStrictEqual(retries.begin(() => "a", "y", 500_000), { retry: 1, retryOf: 2 })
  })

  it("do not keep the bodies by which they are matched", () => {
    const body = "x".repeat(100_000)
    assert.isBelow(Retries.digest(body).length, 250)
    assert.notStrictEqual(Retries.digest(`${body}a`), Retries.digest(`${body}b`))
    assert.notStrictEqual(Retries.digest(`a${body}`), Retries.digest(`b${body}`))
    assert.strictEqual(Retries.digest(body), Retries.digest("x".repeat(100_000)))
  })

  it("follow what may succeed later", () => {
    const statuses = [null, 200, 400, 401, 403, 404, 408, 409, 429, 500, 503]
    assert.deepStrictEqual(statuses.filter(Retries.isRetried), [null, 401, 408, 429, 500, 503])
  })
})

describe("a history", () => {
  it("shows the lowest level of each step, and computes what happened between", () => {
    const history = History.make(10, 5)
    history.took(100_000, 9, true)
    history.took(100_050, 0, true)
    history.took(100_060, 0, false)
    history.set(100_399, 10)
    const samples = history.samples(100_400)
    assert.lengthOf(samples, 300)
    assert.deepStrictEqual(samples.slice(-4), [
      { left: 10, allowed: 0, refused: 0 },
      { left: 0, allowed: 2, refused: 1 },
      { left: 0.7, allowed: 0, refused: 0 },
      { left: 10, allowed: 0, refused: 0 }
    ])
    assert.deepStrictEqual(history.samples(200_000).slice(-1), [{ left: 10, allowed: 0, refused: 0 }])
    assert.isTrue(history.samples(200_000).every(({ allowed }) => allowed === 0))
    assert.lengthOf(history.samples(100), 300)
  })
})
