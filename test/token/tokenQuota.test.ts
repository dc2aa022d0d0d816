/** Token quotas: read from the headers of the token endpoint's responses, in errors, as gauges, and in one warning. */
import * as Headers from "@effect/platform/Headers"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Logger, TestClock } from "effect"
import { metricReadings } from "../../examples/support/metricReadings.js"
import type { TokenQuota } from "../../src/Errors.js"
import { parse } from "../../src/internal/token/tokenQuota.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { get, issue, over } from "../support/tokens.js"
import { inProcess } from "../support/tokenServer.js"

const quota = (of: TokenQuota["of"], bucket: string, limit: number, remaining: number, seconds: number): TokenQuota => (
  { of, bucket, limit, remaining, resetAfter: Duration.seconds(seconds) }
)

const parsed = (headers: Record<string, string>) => parse(Headers.fromInput(headers))

describe("a quota is read", () => {
  it("of the client and of its organization, with all its buckets", () => {
    assert.deepStrictEqual(
      parsed({
        "Auth0-Client-Quota-Limit": "b=per_hour;q=10;r=7;t=3540,b=per_day;q=100;r=0;t=80000",
        "Auth0-Organization-Quota-Limit": " b = per_hour; q=5;r=5 ;t=0"
      }),
      [
        quota("client", "per_hour", 10, 7, 3540),
        quota("client", "per_day", 100, 0, 80_000),
        quota("organization", "per_hour", 5, 5, 0)
      ]
    )
  })

  it("without what is damaged, and at most ten of them", () => {
    for (
      const damaged of [
        "",
        "b=per_hour",
        "b=;q=1;r=1;t=1",
        "b=x y\r;q=1;r=-1;t=1",
        "b=a;q=1e3;r=1;t=1",
        "q=1;r=1;t=1",
        "b=a;r=1;t=1",
        "b=a;q=1;t=1",
        "b=a;q=1;r=1",
        "b=a!;q=1;r=1;t=1",
        "b=!a;q=1;r=1;t=1",
        `b=${"a".repeat(33)};q=1;r=1;t=1`
      ]
    ) {
      assert.deepStrictEqual(parsed({ "auth0-client-quota-limit": `${damaged},b=a;q=2;r=1;t=1` }), [
        quota("client", "a", 2, 1, 1)
      ])
    }
    const many = Array.from({ length: 1000 }, (_, nth) => `b=b${nth};q=2;r=1;t=1`).join(",")
    assert.lengthOf(parsed({ "auth0-client-quota-limit": many }), 10)
  })
})

const header = (remaining: number, limit = 10, bucket = "per_hour") => (
  { "auth0-client-quota-limit": `b=${bucket};q=${limit};r=${remaining};t=3540` }
)

it.effect("a TokenError has the quotas of its response", () =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(get)
    assert.deepStrictEqual(error._tag === "TokenError" && error.quotas, [quota("client", "per_hour", 10, 0, 3540)])
  }).pipe(
    Effect.provide(over(() => Effect.succeed({ status: 429, headers: { ...header(0), "retry-after": "3540" } })).layer)
  ))

it.effect("a TokenError of a response without quotas has no such field", () =>
  Effect.gen(function*() {
    assert.notProperty(yield* Effect.flip(get), "quotas")
  }).pipe(Effect.provide(over(() => Effect.succeed({ status: 403 })).layer)))

it.effect("gauges show the last quota of each client, with the labels of the program", () =>
  Effect.gen(function*() {
    const { layer } = inProcess((nth) => Effect.succeed({ ...issue(nth), headers: header(nth) }))
    for (const clientId of ["one", "two"]) {
      const tokens = TokenProvider.layerMutualTls({ domain: "login.example.com", clientId })
      yield* Effect.tagMetrics(Effect.provide(get, Layer.provide(tokens, layer)), "program", "quotas")
    }
    const gauges = (yield* metricReadings).flatMap(({ kind, name, tags, value }) =>
      tags.program === "quotas" && kind === "gauge"
        ? [[name, tags["identity.client_id"], tags["identity.quota"], tags["server.address"], value]]
        : []
    )
    assert.sameDeepMembers(gauges, [
      ["identity.token.quota.limit", "one", "client per_hour", "login.example.com", 10],
      ["identity.token.quota.remaining", "one", "client per_hour", "login.example.com", 1],
      ["identity.token.quota.limit", "two", "client per_hour", "login.example.com", 10],
      ["identity.token.quota.remaining", "two", "client per_hour", "login.example.com", 2]
    ])
  }))

describe("a warning is logged", () => {
  /** Requests a token for each of these quotas, and gives the warnings. */
  const warningsOf = (headers: ReadonlyArray<Record<string, string>>) => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    const { layer } = over((nth) => Effect.succeed({ ...issue(nth), headers: headers[nth - 1] ?? {} }))
    return Effect.forEach(headers, () => Effect.zipRight(get, TestClock.adjust("95 seconds"))).pipe(
      Effect.provide([layer, Logger.replace(Logger.defaultLogger, logger)]),
      Effect.map(() => lines)
    )
  }
  const warning = (rest: string) => `the client's token quota ${rest}, full again in 59m`

  it.effect("once, when a fifth is left", () =>
    Effect.map(
      warningsOf([10, 3, 2, 1, 0].map((remaining) => header(remaining))),
      (lines) => assert.deepStrictEqual(lines, [warning("per_hour is nearly used up: 2 of 10 tokens left")])
    ))

  it.effect("before a small quota is used up", () =>
    Effect.map(
      warningsOf([3, 2, 1, 0].map((remaining) => header(remaining, 3))),
      (lines) => assert.deepStrictEqual(lines, [warning("per_hour is nearly used up: 1 of 3 tokens left")])
    ))

  it.effect("not while a quota is full", () =>
    Effect.map(warningsOf([header(1, 1)]), (lines) => assert.deepStrictEqual(lines, [])))

  it.effect("again after the quota rose, and for each quota", () =>
    Effect.map(
      warningsOf([header(2), header(9), header(1), header(1, 10, "per_day")]),
      (lines) =>
        assert.deepStrictEqual(lines, [
          warning("per_hour is nearly used up: 2 of 10 tokens left"),
          warning("per_hour is nearly used up: 1 of 10 tokens left"),
          warning("per_day is nearly used up: 1 of 10 tokens left")
        ])
    ))
})
