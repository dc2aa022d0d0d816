/** The metrics of calls, as a program sees them in a snapshot. */
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, Exit, Fiber, Layer, Redacted, TestClock } from "effect"
import { type MetricReading, metricReadings } from "../../examples/support/metricReadings.js"
import { listActionVersions, RateLimiter, Retry, TokenProvider } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import * as Testing from "../../src/Testing.js"
import * as TestJobs from "../support/jobs.js"
import * as Permits from "../support/permits.js"
import { ids, service, stream } from "../support/redelivery.js"
import { call, clientOf, logged, outage, quota } from "../support/telemetry.js"
import { table } from "../support/telemetryTables.js"
import * as Tokens from "../support/tokens.js"

const list = listActionVersions({ actionId: "an-action" })

/** Gives the metrics of a host, one line each: name, sorted tags, and the value; for a histogram the count and the sum. */
const metricsOf = (host: string) =>
  Effect.map(metricReadings, (readings) =>
    readings.flatMap(({ kind, name, sum, tags, value }) => {
      if (tags["server.address"] !== host) return []
      const own = Object.entries(tags).flatMap(([key, value]) =>
        key === "server.address" || key === "unit" ? [] : [value]
      )
      const number = kind === "histogram" ? `${value} in ${sum} s` : value
      return [`${[name.replace("identity.", ""), ...own.sort()].join(" ")}: ${number}`]
    }).sort())

const page = { total: 0, per_page: 20, versions: [] }

/** Gives the kind of a metric as the guide names it; for a histogram with its unit. */
const kindOf = ({ kind, tags }: MetricReading) => kind === "histogram" ? `histogram, ${tags.unit}` : kind

describe("metrics", () => {
  it.effect("count the attempts of a call and its 429s, and measure its duration", () =>
    Effect.gen(function*() {
      const { host, layer } = clientOf({
        replies: [
          Testing.reply({ status: 503 }),
          Testing.reply({ status: 429, headers: { "retry-after": "3", ...quota(0) } }),
          Testing.reply({ status: 204, headers: quota(7) })
        ]
      })
      const running = yield* Effect.fork(Effect.provide(call.pipe(Retry.withPolicy({ delay: 0 })), layer))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* metricsOf(host), [
        "call.attempts deleteEventStream: 3",
        "call.duration 204 deleteEventStream: 1 in 3 s",
        "call.throttled deleteEventStream: 1",
        "limiter.wait deleteEventStream: 3 in 0 s",
        "limiter.waiting deleteEventStream: 0",
        "quota.limit deleteEventStream: 10",
        "quota.remaining deleteEventStream: 7"
      ])
    }))

  it.effect("distinguish calls by status and type of failure", () =>
    Effect.gen(function*() {
      const { host, layer } = clientOf({
        replies: [403, 418, 204].map((status) => Testing.reply({ status })).concat(Testing.noReply("ECONNRESET"))
      })
      yield* Effect.provide(Effect.repeatN(Effect.exit(Retry.withoutRetries(call)), 3), layer)
      assert.deepStrictEqual((yield* metricsOf(host)).filter((line) => line.startsWith("call.duration")), [
        "call.duration 204 deleteEventStream: 1 in 0 s",
        "call.duration 403 Forbidden deleteEventStream: 1 in 0 s",
        "call.duration 418 UnexpectedResponse deleteEventStream: 1 in 0 s",
        "call.duration TransportError deleteEventStream: 1 in 0 s"
      ])
    }))

  it.effect("show how many calls wait for the limiter, and how long calls waited, interrupted ones included", () =>
    Effect.gen(function*() {
      const { host, layer } = clientOf({
        replies: Array.makeBy(2, () => Testing.reply({ status: 204 })),
        limiter: Layer.orDie(RateLimiter.layerFixed({ limit: 1, interval: "10 seconds" }))
      })
      yield* Effect.gen(function*() {
        const calls = yield* Effect.forEach([1, 2, 3], () => Effect.fork(call))
        yield* TestClock.adjust("1 second")
        const waiting = (lines: ReadonlyArray<string>) => lines.find((line) => line.startsWith("limiter.waiting"))
        assert.strictEqual(waiting(yield* metricsOf(host)), "limiter.waiting deleteEventStream: 2")
        yield* Fiber.interruptAll(calls.slice(2))
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.joinAll(calls.slice(0, 2))
        const [wait, none] = (yield* metricsOf(host)).filter((line) => line.startsWith("limiter."))
        assert.strictEqual(none, "limiter.waiting deleteEventStream: 0")
        const [, count, sum = ""] = /: (\d+) in ([\d.]+) s$/.exec(wait ?? "") ?? []
        assert.strictEqual(count, "3")
        assert.approximately(Number(sum), 11, 0.05) // 0, 10 and 1; the limiter's chance adds up to 20 ms
      }).pipe(Effect.provide(layer))
    }))

  it.effect("show no waiting call after the limiter threw or died", () =>
    Effect.gen(function*() {
      const broken = (acquire: Parameters<typeof Permits.limiterOf>[0]) =>
        Layer.succeed(RateLimiter.RateLimiter, Permits.limiterOf(acquire))
      const throws = () => {
        throw new Error("broken")
      }
      for (const acquire of [throws, () => Effect.dieMessage("broken"), () => Effect.succeed({ settle: throws })]) {
        const { host, layer } = clientOf({ limiter: broken(acquire), replies: [Testing.reply({ status: 204 })] })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.provide(call, layer))))
        assert.notInclude((yield* metricsOf(host)).join(), "limiter.waiting deleteEventStream: 1")
      }
    }))

  it.effect("count responses that cannot be decoded, by reason", () =>
    Effect.gen(function*() {
      const { host, layer } = clientOf({
        replies: [
          ...["{nope", "[]", "<html>", JSON.stringify(page)].map((body) => Testing.reply({ body })),
          ...[302, 403, 418].map((status) => Testing.reply({ status }))
        ]
      })
      yield* Effect.provide(Effect.repeatN(Effect.exit(Retry.withoutRetries(list)), 6), layer)
      assert.deepStrictEqual((yield* metricsOf(host)).filter((line) => line.startsWith("call.undecodable")), [
        "call.undecodable html listActionVersions: 1",
        "call.undecodable json listActionVersions: 1",
        "call.undecodable listActionVersions schema: 1"
      ])
    }))

  it.effect("count token requests that succeed and that fail", () =>
    Effect.gen(function*() {
      const count = Effect.map(metricReadings, (readings) => {
        const counts: Record<string, number> = {}
        for (const { name, tags, value } of readings) {
          if (name !== "identity.token.requests") continue
          counts[Object.entries(tags).map(([key, value]) => `${key}=${value}`).join()] = value
        }
        return counts
      })
      const before = yield* count
      const tokens = TokenProvider.layerEffect(Effect.succeed({ token: Redacted.make("a-token") }))
      const refused = Layer.unwrapEffect(Effect.succeed(TokenProvider.layerClientCredentials({
        domain: "t.example.com",
        clientId: "a-client",
        clientSecret: Redacted.make("a-secret")
      }))).pipe(Layer.orDie, Layer.provide(Testing.layerHttp(Testing.reply({ status: 401 }))))
      const good = clientOf({ tokens, replies: [Testing.reply({ status: 204 }), Testing.reply({ status: 204 })] })
      yield* Effect.provide(Effect.zipRight(call, call), good.layer)
      const { lines } = yield* logged(Effect.provide(call, clientOf({ tokens: refused, replies: [] }).layer))
      const after = yield* count
      for (const tag of ["", "error.type=TokenError"]) assert.strictEqual((after[tag] ?? 0) - (before[tag] ?? 0), 1)
      assert.deepStrictEqual(lines, ["WARN operation=token could not obtain a token (status 401)"])
    }))

  it.effect("count the retries that the retry budget skips", () =>
    Effect.gen(function*() {
      const callers = 30
      const { host, run } = outage(callers)
      const requests = yield* run
      const metrics = yield* metricsOf(host)
      assert.include(metrics, `call.attempts deleteEventStream: ${requests}`)
      const skipped = metrics.find((line) => line.startsWith("retry.skipped deleteEventStream: "))
      assert.isTrue(Number(skipped?.split(": ")[1]) > 10, skipped)
    }))

  it.effect("count open circuits of a host until they close or their client ends, and the attempts that they refuse", () =>
    Effect.gen(function*() {
      const { host, layer } = clientOf({
        options: { circuit: { failures: 1 } },
        replies: [503, 204, 503].map((status) => Testing.reply({ status }))
      })
      const once = Effect.exit(Retry.withoutRetries(call))
      const seen = Effect.map(
        metricsOf(host),
        (lines) => lines.filter((line) => line.startsWith("circuit.") || line.startsWith("call.attempts"))
      )
      yield* Effect.gen(function*() {
        yield* Effect.repeatN(once, 3)
        assert.deepStrictEqual(yield* seen, [
          "call.attempts deleteEventStream: 1",
          "circuit.open: 1",
          "circuit.refused deleteEventStream: 3"
        ])
        yield* TestClock.adjust("1 second")
        yield* once
        assert.include(yield* seen, "circuit.open: 0")
        yield* once
        assert.include(yield* seen, "circuit.open: 1")
      }).pipe(Effect.provide(layer))
      assert.include(yield* seen, "circuit.open: 0")
    }))

  it.effect("have no quota if the service sends no rate-limit headers", () =>
    Effect.gen(function*() {
      const { host, layer } = clientOf({ replies: [Testing.reply({ status: 204 })] })
      yield* Effect.provide(call, layer)
      const metrics = (yield* metricsOf(host)).join()
      assert.include(metrics, "call.attempts")
      assert.notInclude(metrics, "quota.remaining")
    }))

  it.effect("measure durations with the boundaries that OpenTelemetry's conventions recommend", () =>
    Effect.gen(function*() {
      const { host, layer } = clientOf({ replies: [Testing.reply({ status: 204 })] })
      yield* Effect.provide(call, layer)
      const histograms = (yield* metricReadings).filter(({ kind, tags }) =>
        tags["server.address"] === host && kind === "histogram"
      )
      assert.lengthOf(histograms, 2)
      const recommended = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
      for (const { boundaries } of histograms) assert.includeMembers([...boundaries], recommended)
    }))

  it.effect("have the labels that the program sets around the call", () =>
    Effect.gen(function*() {
      const { host, layer } = clientOf({ replies: [Testing.reply({ status: 204 })] })
      yield* call.pipe(Effect.tagMetrics("team", "blue"), Effect.provide(layer))
      for (const line of yield* metricsOf(host)) assert.include(line, " blue")
    }))

  it.effect("are exactly those in the guide, with the tags listed there", () =>
    Effect.gen(function*() {
      const { layer } = clientOf({
        tokens: TokenProvider.layerEffect(Effect.succeed({ token: Redacted.make("a-token") })),
        replies: [
          Testing.reply({ status: 429, headers: quota(0) }),
          Testing.reply({ body: "{nope" }),
          Testing.reply({ body: { ...page, brand_new: 1, versions: [{ status: "reticulating" }] } })
        ]
      })
      yield* Effect.provide(Effect.repeatN(Effect.exit(Retry.withoutRetries(list)), 2), layer)
      yield* outage(30).run
      const refused = clientOf({ options: { circuit: { failures: 1 } }, replies: [Testing.reply({ status: 503 })] })
      yield* Effect.provide(Effect.repeatN(Effect.exit(Retry.withoutRetries(call)), 1), refused.layer)
      const headers = { "auth0-client-quota-limit": "b=per_hour;q=10;r=7;t=3540" }
      yield* Effect.provide(Tokens.get, Tokens.over((nth) => Effect.succeed({ ...Tokens.issue(nth), headers })).layer)
      yield* Effect.gen(function*() {
        const { submit } = yield* Jobs.Jobs
        yield* submit(Jobs.redelivery({ tenant: "acme", key: "night", stream, events: ids(1) }))
        yield* TestClock.adjust("10 seconds")
      }).pipe(Effect.provide(TestJobs.over({ acme: service() })))
      const documented = table("metric")
      const always = ["identity.operation", "server.address", "unit", "team"]
      const seen = new Set<string>()
      for (const reading of yield* metricReadings) {
        const { description, name, tags } = reading
        if (!name.startsWith("identity.")) continue
        const row = documented.get(name) ?? ""
        assert.notStrictEqual(row, "", `${name} is not in the guide`)
        seen.add(name)
        for (const key of Object.keys(tags)) assert.isTrue(always.includes(key) || row.includes(`\`${key}\``), key)
        assert.strictEqual(kindOf(reading), row.split("|")[2]?.trim())
        assert.isNotEmpty(description)
      }
      assert.sameMembers([...seen], [...documented.keys()], "the guide lists metrics that do not exist")
    }))

  it.effect("count unknown fields and values once for each client, by path and value", () =>
    Effect.gen(function*() {
      const body = { ...page, brand_new: 1, versions: [{ status: "reticulating" }] }
      const { host, layer } = clientOf({ replies: [Testing.reply({ body }), Testing.reply({ body })] })
      const later = Effect.zipRight(TestClock.adjust("1 second"), list)
      yield* Effect.provide(Effect.zipRight(list, later), layer)
      assert.deepStrictEqual((yield* metricsOf(host)).filter((line) => line.startsWith("drift")), [
        "drift brand_new listActionVersions: 1",
        "drift listActionVersions reticulating versions[].status: 1"
      ])
    }))
})
