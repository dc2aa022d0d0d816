import * as Headers from "@effect/platform/Headers"
import { assert, describe, it } from "vitest"
import { readRateLimit } from "../../src/internal/limiter/bucketReading.js"

const read = (status: number, headers: Record<string, string | number>) =>
  readRateLimit(
    {
      status,
      headers: Headers.fromInput(Object.entries(headers).map(([name, value]) => [name, String(value)] as const))
    },
    0,
    60_000
  )

const full = { "x-ratelimit-limit": 10, "x-ratelimit-remaining": 4, "x-ratelimit-reset": 60 }

describe("readRateLimit", () => {
  it("reads limit, remaining and the seconds until the bucket is full", () => {
    assert.deepInclude(read(200, full), { limit: 10, remaining: 4, untilFull: 60, isRateLimited: false })
  })

  it("counts from the response's own Date", () => {
    const date = "Thu, 01 Jan 1970 00:00:50 GMT"
    assert.deepInclude(read(200, { ...full, date }), { date: 50, untilFull: 10 })
  })

  it("reads a status from 500 on as a call that was not served", () => {
    assert.deepStrictEqual([499, 500, 503].map((status) => read(status, full).isServed), [true, false, false])
  })

  it("reads nothing as left from a 429 without the calls left", () => {
    const { "x-ratelimit-remaining": _, ...headers } = full
    assert.deepInclude(read(429, headers), { isRateLimited: true, limit: 10, remaining: 0 })
  })

  it("believes no limit of a 429 that says that calls are left: another limit has refused it", () => {
    assert.deepInclude(read(429, full), { isRateLimited: true, limit: undefined, remaining: undefined })
    assert.deepInclude(read(429, { ...full, "x-ratelimit-remaining": 0 }), { limit: 10, remaining: 0 })
  })

  it("reads no more calls as left than the limit", () => {
    assert.strictEqual(read(200, { ...full, "x-ratelimit-remaining": 40 }).remaining, 10)
  })

  it("ignores a limit of 0, and one without the calls left unless the status is 429", () => {
    assert.isUndefined(read(200, { ...full, "x-ratelimit-limit": 0 }).limit)
    assert.isUndefined(read(200, { "x-ratelimit-limit": 10 }).limit)
    assert.strictEqual(read(429, { "x-ratelimit-limit": 10 }).limit, 10)
  })

  it("ignores a reset that is more than a day away", () => {
    const untilFull = (reset: number) => read(200, { ...full, "x-ratelimit-reset": reset }).untilFull
    assert.deepStrictEqual([86_400, 86_401].map(untilFull), [86_400, undefined])
  })

  it("reads Retry-After of a 429 only, and cuts it at the longest pause", () => {
    assert.deepInclude(read(429, { "retry-after": 7 }), { pause: 7000, isPauseCut: false })
    assert.deepInclude(read(429, { "retry-after": 60 }), { pause: 60_000, isPauseCut: false })
    assert.deepInclude(read(429, { "retry-after": 61 }), { pause: 60_000, isPauseCut: true })
    assert.deepInclude(read(503, { "retry-after": 61 }), { pause: undefined, isPauseCut: false })
  })
})
