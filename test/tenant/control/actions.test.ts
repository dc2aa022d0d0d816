/** Each action of the control interface works, refuses bad input by the field's name, and is undone by a reset. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as Tenant from "../../../src/Tenant.js"
import { keyHeader } from "../../../src/tenant/control/messages.js"
import { reasonOf } from "../../support/httpErrors.js"
import {
  action,
  call,
  createUsersExport,
  deleteEventStream,
  listActionVersions,
  redeliverEvent,
  send,
  stream,
  tokenOf,
  waitForSleep
} from "../support/calls.js"
import { act, control, itControlled, key, origin, snapshot } from "../support/control.js"

const list = (token: string) => send(listActionVersions, { params: { actionId: action.id }, token })
const statusOf = (token: string) => Effect.map(list(token), ({ status }) => status)
const reset = act("reset", "POST", "/reset")

describe("faults", () => {
  itControlled(
    "fail the next calls of an operation, in their order, until they are used up",
    () =>
      Effect.gen(function*() {
        const token = yield* tokenOf()
        const fault = yield* act("addFault", "POST", "/faults", {
          operation: "listActionVersions",
          status: 503,
          times: 2
        })
        assert.deepStrictEqual(fault, {
          id: 1,
          operation: "listActionVersions",
          times: 2,
          left: 2,
          status: 503,
          delay: 0,
          cut: null,
          carriedOut: false
        })
        assert.strictEqual((yield* send(deleteEventStream, { params: { id: stream.id }, token })).status, 204)
        assert.strictEqual(yield* statusOf(token), 503)
        assert.strictEqual((yield* snapshot).faults[0]?.left, 1)
        assert.deepStrictEqual([yield* statusOf(token), yield* statusOf(token)], [503, 200])
        assert.deepStrictEqual((yield* snapshot).faults, [])
      })
  )

  itControlled(
    "set headers and a body, remove headers, delay by the clock, and break connections",
    () =>
      Effect.gen(function*() {
        const token = yield* tokenOf()
        yield* act("addFault", "POST", "/faults", {
          status: 429,
          headers: { "retry-after": "7", date: null },
          body: { a: 1 }
        })
        const { headers, json, status } = yield* list(token)
        assert.deepStrictEqual([status, json, headers["retry-after"], headers["date"]], [429, { a: 1 }, "7", undefined])
        yield* act("addFault", "POST", "/faults", { delay: 60_000 })
        const delayed = yield* Effect.fork(statusOf(token))
        yield* waitForSleep
        assert.strictEqual((yield* snapshot).requests.items[0]?.outcome, "pending")
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* Fiber.join(delayed), 200)
        yield* act("addFault", "POST", "/faults", { cut: "before" })
        assert.strictEqual(reasonOf(yield* Effect.flip(list(token))), "Transport")
        assert.deepInclude((yield* snapshot).requests.items[0], { outcome: "cut", status: null, fault: 3 })
        yield* act("addFault", "POST", "/faults", { cut: "within" })
        yield* Effect.exit(list(token))
        assert.deepInclude((yield* snapshot).requests.items[0], { outcome: "cut", status: 200 })
      })
  )

  itControlled("are removed one by one, and all together", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      for (const status of [501, 502, 503]) yield* act("addFault", "POST", "/faults", { status })
      assert.deepStrictEqual(yield* act("removeFault", "DELETE", "/faults/2"), { changed: 1 })
      assert.deepStrictEqual((yield* control("DELETE", "/faults/2")).json, {
        status: 404,
        message: "There is no fault 2"
      })
      assert.strictEqual(yield* statusOf(token), 501)
      assert.deepStrictEqual(yield* act("removeFaults", "DELETE", "/faults"), { changed: 1 })
      assert.strictEqual(yield* statusOf(token), 200)
    }))
})

describe("buckets", () => {
  itControlled("are emptied, filled to a level, and refill from there", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      const emptied = yield* act("setBucket", "POST", "/buckets/tenant")
      assert.deepStrictEqual([emptied.name, emptied.left, emptied.burst, emptied.refillPerSecond], [
        "tenant",
        0,
        50,
        16
      ])
      assert.deepStrictEqual(emptied.history.samples.at(-1), { left: 0, allowed: 0, refused: 0 })
      assert.strictEqual(yield* statusOf(token), 429)
      yield* TestClock.adjust("63 millis")
      assert.deepStrictEqual([yield* statusOf(token), yield* statusOf(token)], [200, 429])
      yield* act("setBucket", "POST", "/buckets/tenant", { left: 1 })
      assert.deepStrictEqual([yield* statusOf(token), yield* statusOf(token)], [200, 429])
      assert.strictEqual((yield* snapshot).buckets[1]?.left, 5)
      assert.strictEqual((yield* act("setBucket", "POST", "/buckets/tenant", { left: 50 })).left, 50)
    }))

  itControlled(
    "without a limit are emptied, reset, shown and saved, too",
    () =>
      Effect.gen(function*() {
        const token = yield* tokenOf()
        assert.deepStrictEqual([(yield* snapshot).buckets[0]?.burst, yield* statusOf(token)], [1e9, 200])
        yield* reset
        assert.strictEqual(yield* statusOf(token), 200)
        yield* act("setBucket", "POST", "/buckets/tenant")
        assert.strictEqual(yield* statusOf(token), 429)
        yield* act("setBucket", "POST", "/buckets/tenant", { left: 1 })
        assert.deepStrictEqual([yield* statusOf(token), yield* statusOf(token)], [200, 429])
        yield* reset
        yield* act("load", "POST", "/load", yield* act("save", "GET", "/save"))
        assert.deepStrictEqual([(yield* snapshot).buckets[0]?.left, yield* statusOf(token)], [1e9, 200])
      }),
    { buckets: { tenant: { burst: Infinity, refill: 16, per: "1 second" } } }
  )

  itControlled("show the last minute: bursts, refusals, and the refill between them", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      yield* TestClock.setTime(1_000_000)
      for (let count = 0; count < 52; count++) yield* statusOf(token)
      yield* TestClock.adjust("1 second")
      const [{ history, left } = assert.fail("no bucket")] = (yield* snapshot).buckets
      const { samples, step } = history
      assert.deepStrictEqual([samples.length * step, left], [60_000, 16])
      assert.deepStrictEqual(samples.at(-1 - 1000 / step), { left: 0, allowed: 50, refused: 2 })
      assert.deepStrictEqual(samples.slice(-5).map(({ left }) => left), [3.2, 6.4, 9.6, 12.8, 16])
      assert.strictEqual(samples[0]?.left, 50)
    }))
})

describe("tokens", () => {
  itControlled("are revoked: all, those of a client, one; and issued without a secret", () =>
    Effect.gen(function*() {
      const { demoClients: { full, readsActions } } = Tenant
      const [one, other, reads] = [yield* tokenOf(full), yield* tokenOf(full), yield* tokenOf(readsActions)]
      const { items, total } = (yield* snapshot).tokens
      assert.deepStrictEqual([total, items.map(({ client }) => client)], [3, [readsActions.id, full.id, full.id]])
      assert.deepStrictEqual(items[0], {
        ...items[0]!,
        scopes: ["read:actions"],
        revoked: false,
        expiresAt: items[0]!.issuedAt + 86_400_000
      })
      assert.deepStrictEqual(yield* act("revokeTokens", "POST", "/tokens/revoke", { id: items[2]!.id }), { changed: 1 })
      assert.deepStrictEqual([yield* statusOf(one), yield* statusOf(other), yield* statusOf(reads)], [401, 200, 200])
      assert.deepStrictEqual(yield* act("revokeTokens", "POST", "/tokens/revoke", { client: full.id }), { changed: 1 })
      assert.deepStrictEqual([yield* statusOf(other), yield* statusOf(reads)], [401, 200])
      assert.deepStrictEqual(yield* act("revokeTokens", "POST", "/tokens/revoke"), { changed: 1 })
      assert.strictEqual(yield* statusOf(reads), 401)
      const issued = yield* act("issueToken", "POST", "/tokens", { client: readsActions.id })
      assert.strictEqual(yield* statusOf(issued.token), 200)
      assert.strictEqual(issued.view.client, readsActions.id)
      assert.deepStrictEqual((yield* snapshot).tokens.items.map(({ revoked }) => revoked), [false, true, true, true])
    }))
})

describe("deliveries", () => {
  const stateOf = (event: number) =>
    Effect.map(Effect.flatMap(Tenant.Tenant, ({ state }) => state), ({ streams }) => streams[0]!.events[event]!)

  itControlled("fail at once if they are queued, and later as often as asked", () =>
    Effect.gen(function*() {
      const done = yield* act("failDeliveries", "POST", "/deliveries/fail", {
        stream: stream.id,
        times: 1,
        error: "closed"
      })
      assert.deepStrictEqual(done, { changed: 3 })
      const failed = yield* stateOf(2)
      assert.deepStrictEqual([failed.state, failed.attempts?.at(-1)?.error_message, failed.failsAgain], [
        "failed",
        "closed",
        1
      ])
      assert.isUndefined(failed.queued_at)
      assert.strictEqual((yield* stateOf(3)).state, "delivered")
      assert.strictEqual((yield* call(redeliverEvent, { params: { id: stream.id, event_id: failed.id } })).status, 202)
      const queued = (yield* snapshot).streams.items[0]!
      assert.deepInclude(queued, { failed: 2, queued: 1, delivered: 1, enabled: true, destination: "webhook" })
      assert.strictEqual(queued.events.items.find(({ id }) => id === failed.id)?.dueAt, 30_000)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* stateOf(2)).state, "failed")
      yield* call(redeliverEvent, { params: { id: stream.id, event_id: failed.id } })
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* stateOf(2)).state, "delivered")
    }))

  itControlled("fail of named events, even of delivered ones, and no other", () =>
    Effect.gen(function*() {
      const delivered = stream.events[3].id
      assert.deepStrictEqual(yield* act("failDeliveries", "POST", "/deliveries/fail", { events: [delivered] }), {
        changed: 1
      })
      assert.deepStrictEqual([(yield* stateOf(3)).state, (yield* stateOf(2)).state], ["failed", "queued"])
      assert.deepStrictEqual(yield* act("failDeliveries", "POST", "/deliveries/fail"), { changed: 1 })
      assert.deepStrictEqual((yield* stateOf(2)).attempts?.at(-1), {
        status: "failed",
        timestamp: "1970-01-01T00:00:00.000Z",
        duration: 20.25,
        error_message: "The destination has refused the event"
      })
      yield* act("failDeliveries", "POST", "/deliveries/fail", { events: [delivered], times: 2 })
      yield* act("failDeliveries", "POST", "/deliveries/fail", { events: [delivered] })
      assert.deepStrictEqual([(yield* stateOf(3)).failsAgain, (yield* stateOf(2)).failsAgain], [2, undefined])
    }))
})

describe("the clock", () => {
  itControlled(
    "moves jobs, tokens, buckets and the header date forward, and the tenant's service with them",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const token = yield* tokenOf()
        const { json: { id } } = yield* send(createUsersExport, { body: {}, token })
        assert.deepStrictEqual((yield* snapshot).jobs.items[0]!.status, "pending")
        yield* act("setBucket", "POST", "/buckets/tenant")
        assert.deepStrictEqual(yield* act("moveClock", "POST", "/clock", { forward: 1500 }), {
          time: 1500,
          clockOffset: 1500
        })
        assert.deepInclude((yield* snapshot).jobs.items.find((job) => job.id === id), {
          status: "processing",
          percentageDone: 66,
          timeLeftSeconds: 1
        })
        assert.strictEqual((yield* snapshot).buckets[0]!.left, 24)
        yield* act("moveClock", "POST", "/clock", { forward: 3_600_000 })
        const response = yield* list(token)
        assert.deepStrictEqual([response.status, response.headers["date"]], [200, "Thu, 01 Jan 1970 01:00:01 GMT"])
        assert.strictEqual((yield* tenant.state).jobs.find((job) => job.id === id)?.status, "completed")
        yield* act("moveClock", "POST", "/clock", { forward: 86_400_000 })
        assert.strictEqual(yield* statusOf(token), 401)
        assert.strictEqual((yield* snapshot).time, 1500 + 3_600_000 + 86_400_000)
        yield* tenant.seed({ streams: [{ id: stream.id, events: [{ id: "new", state: "queued" }] }] })
        assert.strictEqual((yield* tenant.state).streams[0]?.events[0]?.queued_at, 90_001_500)
      })
  )
})

describe("a reset", () => {
  itControlled("undoes every action, and forgets the requests", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const before = yield* tenant.state
      const token = yield* tokenOf()
      yield* send(deleteEventStream, { params: { id: stream.id }, token })
      yield* act("moveClock", "POST", "/clock", { forward: 5000 })
      yield* act("addFault", "POST", "/faults", { status: 500, times: 100 })
      yield* act("setBucket", "POST", "/buckets/tenant")
      yield* act("failDeliveries", "POST", "/deliveries/fail", { times: 3 })
      yield* act("revokeTokens", "POST", "/tokens/revoke")
      assert.deepStrictEqual(yield* reset, { changed: 3 })
      const after = yield* snapshot
      assert.deepStrictEqual([after.clockOffset, after.time, after.faults, after.requests.total], [0, 0, [], 0])
      assert.deepStrictEqual(after.buckets.map(({ left }) => left), [50, 5])
      assert.deepStrictEqual(yield* tenant.state, before)
      assert.lengthOf(yield* tenant.requests, 0)
      assert.strictEqual(yield* statusOf(token), 200)
      assert.deepStrictEqual((yield* snapshot).requests.items.map(({ id, retry }) => [id, retry]), [[3, 0]])
    }))
})

describe("a reset after a load", () => {
  itControlled(
    "undoes the load: its tokens and its signing key are gone, the ones before are back",
    () =>
      Effect.gen(function*() {
        const token = yield* tokenOf()
        const own = yield* act("save", "GET", "/save?secrets=include")
        const k = "A".repeat(43)
        const other = { ...own.tokens[0]!, id: "another" }
        yield* act("load", "POST", "/load", { ...own, tokens: [other], signingKey: { kty: "oct", k } })
        const foreign = yield* tokenOf()
        assert.deepStrictEqual([yield* statusOf(token), yield* statusOf(foreign)], [401, 200])
        yield* reset
        assert.deepStrictEqual([yield* statusOf(token), yield* statusOf(foreign)], [200, 401])
        assert.deepStrictEqual((yield* snapshot).tokens.items.map(({ id }) => id), [own.tokens[0]!.id])
        assert.deepStrictEqual((yield* act("save", "GET", "/save?secrets=include")).signingKey, own.signingKey)
      })
  )

  itControlled("keeps the tokens that were issued since by the same key", () =>
    Effect.gen(function*() {
      yield* act("load", "POST", "/load", yield* act("save", "GET", "/save?secrets=include"))
      const token = yield* tokenOf()
      yield* reset
      assert.strictEqual(yield* statusOf(token), 200)
    }))
})

describe("a body that breaks off", () => {
  const broken = (text: string, type: string) =>
    HttpBody.stream(Stream.concat(Stream.succeed(new TextEncoder().encode(text)), Stream.fail("broken")), type)

  itControlled("is refused by the control interface: it could ask for more than meant", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      const response = yield* HttpClient.post(`${origin}/_tenant/tokens/revoke`, {
        headers: { [keyHeader]: key },
        body: broken("{\"id\":\"no", "application/json")
      })
      assert.deepStrictEqual([response.status, yield* response.json], [400, {
        status: 400,
        message: "The body is incomplete"
      }])
      assert.strictEqual(yield* statusOf(token), 200)
    }))

  itControlled("is refused by operations", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      const response = yield* HttpClient.post(`https://tenant.test/api/v2/event-streams/${stream.id}/redeliver`, {
        headers: { authorization: `Bearer ${token}` },
        body: broken("event_types[0]=no", "application/x-www-form-urlencoded")
      })
      assert.strictEqual(response.status, 400)
      assert.include(yield* response.text, "The body is incomplete")
      assert.strictEqual((yield* snapshot).streams.items[0]?.failed, 2)
    }))
})

describe("bad input", () => {
  const cases: ReadonlyArray<readonly [path: string, body: unknown, field: string | undefined, message?: string]> = [
    ["/faults", { status: 199 }, "status"],
    ["/faults", { status: 600 }, "status"],
    ["/faults", { status: 404.5 }, "status"],
    ["/faults", {}, "status", "a fault needs a status, a body, headers, a delay or a cut"],
    ["/faults", { times: 3 }, "status", "a fault needs a status, a body, headers, a delay or a cut"],
    ["/faults", { status: 500, times: 0 }, "times"],
    ["/faults", { status: 500, times: 1e9 }, "times"],
    ["/faults", { delay: -1 }, "delay"],
    ["/faults", { delay: 3_600_001 }, "delay"],
    ["/faults", { cut: "after" }, "cut"],
    ["/faults", { status: 500, operation: "nothing" }, "operation", "the tenant serves no such operation"],
    ["/faults", { headers: { ok: "line\nbreak" } }, "headers.ok", "Expected a value of a header or null"],
    ["/faults", { headers: { "a b": "x" } }, "headers.a b"],
    ["/faults", { headers: { "Content-Length": "3" } }, "headers.Content-Length"],
    ["/faults", { headers: { "transfer-encoding": null } }, "headers.transfer-encoding"],
    ["/faults", { status: 500, other: 1 }, "other"],
    ["/faults", [], undefined, "Expected an object"],
    ["/faults", null, undefined],
    ["/buckets/tenant", { left: 51 }, "left", "the bucket holds at most 50"],
    ["/buckets/tenant", { left: -1 }, "left"],
    ["/buckets/other", {}, "name"],
    ["/tokens", {}, "client"],
    ["/tokens", { client: "nobody" }, "client", "there is no such client"],
    ["/tokens/revoke", { id: 7 }, "id"],
    ["/deliveries/fail", { stream: "none" }, "stream", "there is no such stream"],
    ["/deliveries/fail", { events: [stream.events[0].id, "none"] }, "events[1]", "there is no such event"],
    ["/deliveries/fail", { times: -1 }, "times"],
    ["/clock", {}, "forward"],
    ["/clock", { forward: 0 }, "forward"],
    ["/clock", { forward: -1 }, "forward"],
    ["/clock", { forward: "1 hour" }, "forward"],
    ["/clock", { forward: 1e15 }, "forward"],
    ["/load", {}, "format"],
    ["/load", { format: "other" }, "format"]
  ]

  itControlled("is refused with 400 that names the field, and changes nothing", () =>
    Effect.gen(function*() {
      const before = yield* snapshot
      for (const [path, body, field, expected] of cases) {
        const { json, status } = yield* control("POST", path, { body })
        const refusal = { status: 400, message: json.message, ...(field !== undefined && { field }) }
        assert.deepStrictEqual([status, json], [400, refusal], `${path} ${JSON.stringify(body)}`)
        const [, message = ""] = field === undefined ? ["", json.message] : json.message.split(`${field}: `)
        if (expected !== undefined) assert.strictEqual(message, expected)
        assert.isAbove(message.length, 5)
      }
      for (
        const path of [
          "/requests?limit=0",
          "/requests?limit=501",
          "/requests?limit=x",
          "/state?secrets=yes",
          "/save?a=1"
        ]
      ) {
        const { json, status } = yield* control("GET", path)
        assert.deepStrictEqual([status, json.field], [400, /\?(\w+)/.exec(path)?.[1]], path)
      }
      const notJson = yield* control("POST", "/clock", { text: "{" })
      assert.deepStrictEqual([notJson.status, notJson.json.message], [400, "The body is not valid JSON"])
      assert.deepStrictEqual(yield* snapshot, before)
    }))

  itControlled("that moves the clock more than a thousand years ahead is refused", () =>
    Effect.gen(function*() {
      const clockOffset = 1000 * 366 * 24 * 60 * 60 * 1000
      yield* act("load", "POST", "/load", { ...yield* act("save", "GET", "/save"), clockOffset: clockOffset - 1 })
      assert.strictEqual((yield* act("moveClock", "POST", "/clock", { forward: 1 })).clockOffset, clockOffset)
      const { json, status } = yield* control("POST", "/clock", { body: { forward: 1 } })
      assert.deepStrictEqual([status, json], [400, {
        status: 400,
        field: "forward",
        message: "forward: the clock can be a thousand years ahead at most"
      }])
      assert.strictEqual((yield* snapshot).clockOffset, clockOffset)
    }))

  itControlled(
    "that is nested too deeply is refused with 400, and the tenant can still be saved",
    () =>
      Effect.gen(function*() {
        const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`
        const saved = (yield* control("GET", "/save")).text
        const load = (users: string) => saved.replace(/"users":\[/, `"users":[{"user_id":"deep","nested":${users}},`)
        const tooDeep = [["/faults", `{"status":503,"body":${nested(30_000)}}`], [
          "/load",
          load(nested(30_000))
        ]] as const
        for (const [path, text] of tooDeep) {
          const { json, status } = yield* control("POST", path, { text })
          assert.deepStrictEqual([status, json.message], [
            400,
            "The body is nested too deeply: it may have at most 500 levels"
          ])
        }
        assert.strictEqual((yield* control("POST", "/faults", { text: `{"body":${nested(499)}}` })).status, 200)
        assert.strictEqual((yield* control("POST", "/load", { text: load(nested(400)) })).status, 200)
        for (const path of ["/save", "/save?secrets=include"]) {
          assert.strictEqual((yield* control("GET", path)).status, 200)
        }
      })
  )

  itControlled("that is too large is refused with 413", () =>
    Effect.gen(function*() {
      const text = `{"status":500,"body":"${"x".repeat(1_048_576)}"}`
      const { json, status } = yield* control("POST", "/faults", { text })
      assert.deepStrictEqual([status, json], [413, { status: 413, message: "The body is too large" }])
    }))

  itControlled("in a request that does not exist is a 404", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* control("GET", "/requests/1")).json, {
        status: 404,
        message: "The request 1 is not kept"
      })
      const notNumbers = ["one", "1x", "x1", "1".repeat(16)]
      for (const id of notNumbers) {
        assert.deepStrictEqual((yield* control("GET", `/requests/${id}`)).json, {
          status: 400,
          message: "id: Expected a number",
          field: "id"
        })
      }
      assert.strictEqual((yield* control("GET", `/requests/${"1".repeat(15)}`)).status, 404)
      yield* HttpClient.get("https://tenant.test/nowhere")
      assert.strictEqual((yield* control("GET", "/requests/1")).status, 200)
      assert.deepStrictEqual(yield* act("clearRequests", "DELETE", "/requests"), { changed: 1 })
      assert.strictEqual((yield* control("GET", "/requests/1")).status, 404)
    }))
})
