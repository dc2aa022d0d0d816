/** Tests of response headers: numbers, dates, waits, and the rate limit, each read exactly or not at all. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration } from "effect"
import * as ResponseHeaders from "../../src/internal/http/responseHeaders.js"

describe("an integer", () => {
  it.each([
    ["0", 0],
    ["007", 7],
    [" 42\t", 42],
    ["999999999999999", 999_999_999_999_999]
  ])("is read from %j", (text, value) => assert.strictEqual(ResponseHeaders.integer(text), value))

  it.each([undefined, null, "", " ", "-1", "+1", "1.5", "1e3", "a1", "1a", "1 2", "1000000000000000"])(
    "is not read from %j",
    (text) => assert.isUndefined(ResponseHeaders.integer(text))
  )
})

describe("the rate limit", () => {
  it("has the number of each header", () => {
    const headers = { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "3", "x-ratelimit-reset": "1700000000" }
    assert.deepStrictEqual(ResponseHeaders.rateLimit(Headers.fromInput(headers)), {
      limit: 10,
      remaining: 3,
      reset: 1_700_000_000
    })
    assert.deepStrictEqual(ResponseHeaders.rateLimit(Headers.fromInput({ "x-ratelimit-limit": "many" })), {
      limit: undefined,
      remaining: undefined,
      reset: undefined
    })
  })

  it("is full again at a time in seconds", () => {
    const iso = (seconds: number | undefined) => {
      const time = ResponseHeaders.resetAt(seconds)
      return time && DateTime.formatIso(time)
    }
    assert.deepStrictEqual([0, 1_700_000_000, 999_999_999_999_999, undefined].map(iso), [
      "1970-01-01T00:00:00.000Z",
      "2023-11-14T22:13:20.000Z",
      undefined,
      undefined
    ])
  })
})

describe("the server's time", () => {
  it.each([
    ["Tue, 14 Nov 2023 22:13:20 GMT", 1_700_000_000],
    ["2023-11-14T22:13:20.500Z", 1_700_000_000.5],
    ["1.5", undefined],
    ["14 Nov 2023", undefined],
    ["at: noon", undefined],
    [undefined, undefined]
  ])(
    "in %j is %j",
    (date, seconds) =>
      assert.strictEqual(ResponseHeaders.date(Headers.fromInput(date === undefined ? {} : { date })), seconds)
  )
})

describe("Retry-After", () => {
  const now = 1_700_000_000_000
  it.each<readonly [value: string | undefined, date: string | undefined, millis: number | undefined]>([
    [undefined, undefined, undefined],
    ["7", undefined, 7000],
    ["0", undefined, 0],
    ["-7", undefined, undefined],
    ["1.5", undefined, undefined],
    ["at: noon", undefined, undefined],
    ["Tue, 14 Nov 2023 22:14:20 GMT", undefined, 60_000],
    ["Tue, 14 Nov 2023 22:14:20 GMT", "today", 60_000],
    ["Tue, 14 Nov 2023 22:14:20 GMT", "Tue, 14 Nov 2023 22:14:00 GMT", 20_000],
    ["Tue, 14 Nov 2023 22:13:00 GMT", undefined, 0]
  ])("of %j beside the date %j is %j milliseconds", (value, date, millis) => {
    const headers = Headers.fromInput({
      ...(value !== undefined && { "retry-after": value }),
      ...(date !== undefined && { date })
    })
    const wait = ResponseHeaders.retryAfter(headers, now)
    assert.strictEqual(wait && Duration.toMillis(wait), millis)
  })
})

describe("the request identifier", () => {
  it("is that of the first header that has one", () => {
    const all = { "x-auth0-requestid": "1", "x-request-id": "2", "x-correlation-id": "3" }
    const found = Object.keys(all).map((_, nth) =>
      ResponseHeaders.requestId(Headers.fromInput(Object.entries(all).slice(nth)))
    )
    assert.deepStrictEqual([...found, ResponseHeaders.requestId(Headers.empty)], ["1", "2", "3", undefined])
  })
})
