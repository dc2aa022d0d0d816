/** Tests of the tenant's rate limits. */
import { assert, describe, it } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as Tenant from "../../../src/Tenant.js"
import * as TokenBucket from "../../../src/tenant/server/tokenBucket.js"
import {
  action,
  call,
  deleteEventStream,
  itInProcess,
  listActionVersions,
  profile,
  send,
  stream,
  tokenOf,
  updateTokenExchangeProfile
} from "../support/calls.js"

describe("token buckets", () => {
  const small = { burst: 2, refill: 2, per: "1 second" } as const
  const limits = (response: { readonly headers: Readonly<Record<string, string>> }) =>
    ["limit", "remaining", "reset"].map((name) => Number(response.headers[`x-ratelimit-${name}`]))

  itInProcess(
    "hold a billion calls at most, and are numbers in headers",
    () =>
      Effect.gen(function*() {
        const token = yield* tokenOf()
        const response = yield* send(listActionVersions, { params: { actionId: action.id }, token })
        assert.deepStrictEqual(limits(response), [1e9, 1e9 - 1, 1])
      }),
    { buckets: { tenant: { burst: Infinity, refill: 2, per: "1 second" } } }
  )

  itInProcess("hold a burst, refill continuously and report when they are full", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(10_000)
      const token = yield* tokenOf()
      const list = send(listActionVersions, { params: { actionId: action.id }, token })
      assert.deepStrictEqual(limits(yield* list), [2, 1, 11])
      assert.deepStrictEqual(limits(yield* list), [2, 0, 11])
      const refused = yield* list
      assert.strictEqual(refused.status, 429)
      assert.deepStrictEqual(limits(refused), [2, 0, 11])
      assert.strictEqual(refused.headers["retry-after"], "1")
      assert.deepStrictEqual(refused.json, {
        statusCode: 429,
        error: "Too Many Requests",
        message: "Global limit has been reached",
        errorCode: "too_many_requests"
      })
      yield* TestClock.adjust("499 millis")
      assert.strictEqual((yield* list).status, 429)
      yield* TestClock.adjust("1 millis")
      const served = yield* list
      assert.strictEqual(served.status, 200)
      assert.isUndefined(served.headers["retry-after"])
      assert.deepStrictEqual(limits(served), [2, 0, 12])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(limits(yield* list), [2, 1, 3611])
    }), { buckets: { tenant: small } })

  itInProcess("keep their calls when the clock is set back, and refill from then on", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(10_000_000)
      const token = yield* tokenOf()
      const list = send(listActionVersions, { params: { actionId: action.id }, token })
      yield* list
      yield* TestClock.setTime(1_000_000)
      assert.deepStrictEqual(limits(yield* list), [2, 0, 1001])
      yield* TestClock.setTime(10_000)
      const refused = yield* list
      assert.deepStrictEqual([refused.status, refused.headers["retry-after"]], [429, "1"])
      assert.deepStrictEqual(limits(refused), [2, 0, 11])
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(limits(yield* list), [2, 0, 12])
    }), { buckets: { tenant: small } })

  itInProcess("report the whole seconds until the next call in `retry-after`", () =>
    Effect.gen(function*() {
      const list = call(listActionVersions, { params: { actionId: action.id } })
      assert.strictEqual((yield* list).status, 200)
      yield* TestClock.adjust("500 millis")
      assert.strictEqual((yield* list).headers["retry-after"], "60")
    }), { buckets: { tenant: { burst: 1, refill: 1, per: "1 minute" } } })

  itInProcess(
    "limit calls before authentication, and count calls that fail for other reasons",
    () =>
      Effect.gen(function*() {
        const statuses = yield* Effect.all(Arr.makeBy(3, () => send(deleteEventStream, { params: { id: stream.id } })))
        assert.deepStrictEqual(statuses.map(({ status }) => status), [401, 401, 429])
      }),
    { buckets: { tenant: small } }
  )

  itInProcess("are separate for profile updates and other calls", () =>
    Effect.gen(function*() {
      const update = call(updateTokenExchangeProfile, { params: { id: profile.id }, body: { name: "New name" } })
      const list = call(listActionVersions, { params: { actionId: action.id } })
      for (const [remaining, reset] of [[4, 1], [3, 2], [2, 2], [1, 3], [0, 3]] as const) {
        assert.deepStrictEqual(limits(yield* update), [5, remaining, reset])
      }
      assert.strictEqual((yield* update).status, 429)
      assert.deepStrictEqual(limits(yield* list), [50, 49, 1])
      yield* TestClock.adjust("600 millis")
      assert.strictEqual((yield* update).status, 200)
    }))

  it.effect("are emptied and filled on demand, and refill from then on", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(10_000)
      const { burst, left, refillPerSecond, setLeft, take } = yield* TokenBucket.make({ ...small, burst: 4 })
      assert.deepStrictEqual([burst, refillPerSecond, yield* left], [4, 2, 4])
      yield* setLeft(0)
      assert.deepStrictEqual([yield* left, (yield* take).allowed], [0, false])
      yield* TestClock.adjust("250 millis")
      assert.strictEqual(yield* left, 0.5)
      yield* setLeft(3)
      assert.strictEqual(yield* left, 3)
      const { allowed, headers } = yield* take
      assert.deepStrictEqual([allowed, headers["x-ratelimit-remaining"], headers["x-ratelimit-reset"]], [
        true,
        "2",
        "12"
      ])
      yield* setLeft(burst)
      assert.strictEqual(yield* left, 4)
    }))

  itInProcess("are refused if they could never hold a call or never refill", () =>
    Effect.gen(function*() {
      for (const size of [{ ...small, burst: 0 }, { ...small, refill: 0 }, { ...small, per: 0 }]) {
        const { issues } = yield* Effect.flip(Tenant.make({ buckets: { tenant: size, profileUpdates: size } }))
        assert.deepStrictEqual(issues.map(({ path }) => path), ["buckets.tenant", "buckets.profileUpdates"])
      }
    }))
})
