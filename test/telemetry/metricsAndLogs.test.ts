/** What metrics and the log tell of calls: each law by the numbers and lines that a program would see. */
import { assert, describe, it } from "@effect/vitest"
import {
  Array,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  LogLevel,
  Metric,
  type MetricKey,
  MetricKeyType,
  MetricState,
  Option,
  Redacted,
  TestClock
} from "effect"
import { RateLimited, TokenError } from "../../src/Errors.js"
import {
  createUsersExport,
  deleteEventStream,
  IdentityClient,
  listActionVersions,
  RateLimiter,
  Retry,
  TokenProvider
} from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { bearer, silent } from "../support/client.js"
import { table } from "../support/telemetryTables.js"
import { inProcess } from "../support/tokenServer.js"

const id = "est_1234567890123456789012"
const call = deleteEventStream({ id })
const list = listActionVersions({ actionId: "an-action" })

let hosts = 0

interface Setting {
  readonly replies?: ReadonlyArray<Testing.Reply>
  readonly limiter?: Layer.Layer<RateLimiter.RateLimiter>
  readonly tokens?: Layer.Layer<TokenProvider.TokenProvider>
}

/** A client of a tenant of its own, whose metrics nobody else has: the registry is the whole process's. */
const clientOf = ({ limiter = RateLimiter.layerUnlimited, replies, tokens = bearer }: Setting) => {
  const host = `t${++hosts}.example.com`
  const network = replies === undefined ? silent : Testing.layerHttp(...replies)
  const layer = IdentityClient.layer({ baseUrl: `https://${host}/api/v2` }).pipe(
    Layer.provide([network, limiter, tokens])
  )
  return { host, layer }
}

/** The metrics of a host: a line each, its name, its tags in order, and its number; of a histogram the count and the sum. */
const metricsOf = (host: string) =>
  Effect.map(Metric.snapshot, (snapshot) =>
    snapshot.flatMap(({ metricKey, metricState }) => {
      const tags = Array.fromIterable(metricKey.tags).map(({ key, value }) => [key, value] as const)
      if (!tags.some(([key, value]) => key === "server.address" && value === host)) return []
      const own = tags.filter(([key]) => key !== "server.address" && key !== "unit").map(([, value]) => value)
      const number = MetricState.isHistogramState(metricState)
        ? `${metricState.count} in ${metricState.sum} s`
        : MetricState.isCounterState(metricState)
        ? metricState.count
        : MetricState.isGaugeState(metricState)
        ? metricState.value
        : undefined
      return [`${[metricKey.name.replace("identity.", ""), ...own.sort()].join(" ")}: ${number}`]
    }).sort())

/** Runs an effect, and gives the lines that it wrote to the log: level, message, annotations. */
const logged = <A, E, R>(self: Effect.Effect<A, E, R>, level: LogLevel.LogLevel = LogLevel.Info) =>
  Effect.gen(function*() {
    const lines: globalThis.Array<string> = []
    // The runtime's own lines, such as on a fiber that fails, have no annotations.
    const logger = Logger.make<unknown, void>(({ annotations, logLevel, message }) => {
      const notes = [...annotations].map(([name, value]) => `${name}=${String(value)}`).sort()
      if (notes.length > 0) lines.push([logLevel.label, ...notes, String(message)].join(" "))
    })
    const exit = yield* self.pipe(
      Effect.exit,
      Logger.withMinimumLogLevel(level),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
    return { lines, exit }
  })

const quota = (remaining: number, limit = 10) => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": "1"
})

const page = { total: 0, per_page: 20, versions: [] }

/** What kind of metric it is, as the README says it; of a histogram with its unit. */
const kindOf = ({ keyType, tags }: MetricKey.MetricKey.Untyped) => {
  const unit = tags.find(({ key }) => key === "unit")?.value
  if (MetricKeyType.isHistogramKey(keyType)) return `histogram, ${unit}`
  if (MetricKeyType.isGaugeKey(keyType)) return "gauge"
  return MetricKeyType.isCounterKey(keyType) && keyType.incremental ? "counter" : "another"
}

describe("metrics", () => {
  it.effect("count the attempts of a call and its 429s, and measure it as a whole", () =>
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
        "quota.remaining deleteEventStream: 7"
      ])
    }))

  it.effect("tell calls apart by status and by type of failure", () =>
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

  it.effect("show who waits for the limiter, and for how long they did, also of those who gave up", () =>
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
        yield* Fiber.interrupt(calls[2] ?? Fiber.void)
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.joinAll(calls.slice(0, 2))
        const [wait, none] = (yield* metricsOf(host)).filter((line) => line.startsWith("limiter."))
        assert.strictEqual(none, "limiter.waiting deleteEventStream: 0")
        const [, count, sum = ""] = /: (\d+) in ([\d.]+) s$/.exec(wait ?? "") ?? []
        assert.strictEqual(count, "3")
        assert.approximately(Number(sum), 11, 0.05) // 0, 10 and 1; the limiter's chance adds up to 20 ms
      }).pipe(Effect.provide(layer))
    }))

  it.effect("show nobody who waits for a limiter that breaks", () =>
    Effect.gen(function*() {
      const broken = (acquire: RateLimiter.RateLimiter["Type"]["acquire"]) =>
        Layer.succeed(RateLimiter.RateLimiter, {
          acquire,
          observe: () => Effect.void,
          status: Effect.succeed([]),
          changes: RateLimiter.changes as never // sound: nobody reads it
        })
      const throws = () => {
        throw new Error("broken")
      }
      for (const acquire of [throws, () => Effect.dieMessage("broken")]) {
        const { host, layer } = clientOf({ limiter: broken(acquire), replies: [] })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.provide(call, layer))))
        assert.notInclude((yield* metricsOf(host)).join(), "limiter.waiting deleteEventStream: 1")
      }
    }))

  it.effect("count what cannot be decoded, by the reason", () =>
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

  it.effect("count the tokens that are asked for, and those that could not be had", () =>
    Effect.gen(function*() {
      const count = Effect.map(Metric.snapshot, (snapshot) =>
        snapshot.flatMap(({ metricKey, metricState }) =>
          metricKey.name === "identity.token.requests" && MetricState.isCounterState(metricState)
            ? [
              [
                Array.fromIterable(metricKey.tags).map(({ key, value }) =>
                  `${key}=${value}`
                ).join(),
                Number(metricState.count)
              ] as const
            ]
            : []
        ).reduce<Record<string, number>>((counts, [tag, n]) => ({ ...counts, [tag]: n }), {}))
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

  it.effect("say nothing of a limit that the service says nothing of", () =>
    Effect.gen(function*() {
      const { host, layer } = clientOf({ replies: [Testing.reply({ status: 204 })] })
      yield* Effect.provide(call, layer)
      const metrics = (yield* metricsOf(host)).join()
      assert.include(metrics, "call.attempts")
      assert.notInclude(metrics, "quota.remaining")
    }))

  it.effect("measure times in the buckets that OpenTelemetry's conventions advise, at the least", () =>
    Effect.gen(function*() {
      const { host, layer } = clientOf({ replies: [Testing.reply({ status: 204 })] })
      yield* Effect.provide(call, layer)
      const histograms = (yield* Metric.snapshot).flatMap(({ metricKey: { keyType, tags } }) =>
        tags.some(({ value }) => value === host) && MetricKeyType.isHistogramKey(keyType) ? [keyType] : []
      )
      assert.lengthOf(histograms, 2)
      const advised = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
      for (const { boundaries } of histograms) assert.includeMembers([...boundaries.values], advised)
    }))

  it.effect("have the labels that the program has set around the call", () =>
    Effect.gen(function*() {
      const { host, layer } = clientOf({ replies: [Testing.reply({ status: 204 })] })
      yield* call.pipe(Effect.tagMetrics("team", "blue"), Effect.provide(layer))
      for (const line of yield* metricsOf(host)) assert.include(line, " blue")
    }))

  it.effect("are those that the README lists, with its tags", () =>
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
      const documented = table("metric")
      const always = ["identity.operation", "server.address", "unit", "team"]
      const seen = new Set<string>()
      for (const { metricKey } of yield* Metric.snapshot) {
        if (!metricKey.name.startsWith("identity.")) continue
        const row = documented.get(metricKey.name) ?? ""
        assert.notStrictEqual(row, "", `${metricKey.name} is not in the README`)
        seen.add(metricKey.name)
        for (const { key } of metricKey.tags) assert.isTrue(always.includes(key) || row.includes(`\`${key}\``), key)
        assert.strictEqual(kindOf(metricKey), row.split("|")[2]?.trim())
        assert.isNotEmpty(Option.getOrElse(metricKey.description, () => ""))
      }
      assert.sameMembers([...seen], [...documented.keys()], "the README lists what there is not")
    }))

  it.effect("count what no schema knows, once for each client, by its place and by its value", () =>
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

describe("the log", () => {
  it.effect("has a line for each attempt and each wait at the level of debugging, and none above it", () =>
    Effect.gen(function*() {
      const replies = [Testing.reply({ status: 503 }), Testing.noReply("ECONNRESET"), Testing.reply({ status: 403 })]
      const run = ({ layer }: ReturnType<typeof clientOf>) =>
        Effect.provide(call.pipe(Retry.withPolicy({ delay: 0 })), layer)
      const { exit, lines } = yield* logged(run(clientOf({ replies })), LogLevel.Debug)
      assert.isTrue(Exit.isFailure(exit))
      const about = (attempt: number) => `DEBUG attempt=${attempt} operation=deleteEventStream`
      assert.deepStrictEqual(lines, [
        `${about(1)} response with status 503 after 0 ms`,
        `${about(1)} retrying in 0 ms`,
        `${about(2)} no response (ECONNRESET) after 0 ms`,
        `${about(2)} retrying in 0 ms`,
        `${about(3)} response with status 403 after 0 ms`,
        `${about(3)} failed with Forbidden after 0 ms`
      ])
      assert.deepStrictEqual((yield* logged(run(clientOf({ replies })))).lines, [])
    }))

  it.effect("has how long each took at the level of debugging, and no more of a call that goes well", () =>
    Effect.gen(function*() {
      const network = inProcess((nth) =>
        Effect.delay(Effect.succeed({ status: nth === 1 ? 204 : 403 }), nth === 1 ? 1000 : 1500)
      )
      const layer = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
        Layer.provide([network.layer, RateLimiter.layerUnlimited, bearer])
      )
      yield* TestClock.adjust("1 hour")
      const run = Effect.gen(function*() {
        const running = yield* Effect.fork(Effect.exit(call))
        yield* TestClock.adjust(1500)
        yield* Fiber.join(running)
      })
      const { lines } = yield* logged(Effect.provide(Effect.zipRight(run, run), layer), LogLevel.Debug)
      const about = "DEBUG attempt=1 operation=deleteEventStream"
      assert.deepStrictEqual(lines, [
        `${about} response with status 204 after 1 s`,
        `${about} response with status 403 after 1.5 s`,
        `${about} failed with Forbidden after 1.5 s`
      ])
    }))

  it.effect("warns of a token that could not be had, with what is known of the reason", () =>
    Effect.gen(function*() {
      for (
        const [known, shown] of [[{ status: 401, code: "a" }, " (status 401)"], [{ code: "a" }, " (a)"], [
          {},
          ""
        ]] as const
      ) {
        const failure = new TokenError({ operation: "token", message: "none", ...known })
        const { layer } = clientOf({ tokens: TokenProvider.layerEffect(Effect.fail(failure)), replies: [] })
        const { lines } = yield* logged(Effect.provide(call, layer))
        assert.deepStrictEqual(lines, [`WARN operation=token could not obtain a token${shown}`])
      }
    }))

  it.effect("tells of another token", () =>
    Effect.gen(function*() {
      let nth = 0
      const tokens = Layer.succeed(TokenProvider.TokenProvider, {
        get: Effect.sync(() => Redacted.make(`token-${nth}`)),
        invalidate: () => Effect.sync(() => void nth++)
      })
      const { layer } = clientOf({ tokens, replies: [401, 204].map((status) => Testing.reply({ status })) })
      const { lines } = yield* logged(Effect.provide(call, layer), LogLevel.Debug)
      assert.include(
        lines,
        "DEBUG attempt=1 operation=deleteEventStream the token was refused; retrying with a new one"
      )
    }))

  it.effect("warns of being held back for long, once in a minute for each operation", () =>
    Effect.gen(function*() {
      const { layer } = clientOf({
        replies: Array.makeBy(8, (nth) =>
          nth % 2 === 0
            ? Testing.reply({ status: 429, headers: { "retry-after": "6" } })
            : Testing.reply({ status: 204 }))
      })
      const { lines } = yield* logged(
        Effect.gen(function*() {
          for (const pause of [0, 30, 12, 0]) {
            const running = yield* Effect.fork(call)
            yield* TestClock.adjust("6 seconds")
            yield* Fiber.join(running)
            yield* TestClock.adjust(`${pause} seconds`)
          }
        }).pipe(Effect.provide(layer))
      )
      // At 0, 6, 42 and 60 seconds.
      assert.deepStrictEqual(
        lines,
        Array.makeBy(2, () => "WARN attempt=1 operation=deleteEventStream retrying in 6 s")
      )
    }))

  it.effect("warns of the limiter that holds back for long, and notes for debugging what is shorter", () =>
    Effect.gen(function*() {
      const acquire = (wait: number) => ({
        acquire: () => Effect.sleep(wait),
        observe: () => Effect.void,
        status: Effect.succeed([]),
        changes: RateLimiter.changes as never // sound: nobody reads it
      })
      const about = "operation=deleteEventStream the rate limiter delayed the call for"
      for (
        const [wait, level, expected] of [
          [4999, LogLevel.Info, []],
          [5000, LogLevel.Info, [`WARN attempt=0 ${about} 5 s`]],
          [2, LogLevel.Debug, [`DEBUG attempt=0 ${about} 2 ms`]],
          [1, LogLevel.Debug, []] // no wait: the clock went on meanwhile
        ] as const
      ) {
        const limiter = Layer.succeed(RateLimiter.RateLimiter, acquire(wait))
        const { layer } = clientOf({ limiter, replies: [Testing.reply({ status: 204 })] })
        const { lines } = yield* logged(
          Effect.gen(function*() {
            const running = yield* Effect.fork(call)
            yield* TestClock.adjust(wait)
            yield* Fiber.join(running)
          }).pipe(Effect.provide(layer)),
          level
        )
        assert.deepStrictEqual<unknown>(lines.filter((line) => line.includes("attempt=0")), expected)
      }
    }))

  it.effect("warns once when 80 % of a limit is used, and again after it was half full, but not within a minute", () =>
    Effect.gen(function*() {
      const left = [9, 3, 2, 1, 0, 2, 5, 2]
      const { layer } = clientOf({
        // Within the minute it is used up again, and stays so.
        replies: [...left, 6, 2, 1, 0, 6, 2].map((remaining) =>
          Testing.reply({ status: 204, headers: quota(remaining) })
        )
      })
      const { lines } = yield* logged(
        Effect.gen(function*() {
          yield* Effect.repeatN(call, left.length - 1)
          yield* TestClock.adjust("59 seconds")
          yield* Effect.repeatN(call, 1)
          yield* TestClock.adjust("1 second")
          yield* Effect.repeatN(call, 3)
        }).pipe(Effect.provide(layer))
      )
      const warning = (remaining: number) =>
        `WARN attempt=1 operation=deleteEventStream 80 % of the rate limit is used: ${remaining} of 10 calls are left`
      assert.deepStrictEqual(lines, [warning(2), warning(1)])
    }))

  it.effect("warns of a limit again only if more than a half was left meanwhile, however long it takes", () =>
    Effect.gen(function*() {
      const left = [2, 2, 5, 2, 6, 2]
      const { layer } = clientOf({
        replies: left.map((remaining) => Testing.reply({ status: 204, headers: quota(remaining) }))
      })
      const { exit, lines } = yield* logged(
        Effect.provide(Effect.forEach(left, () => Effect.zipRight(call, TestClock.adjust("1 minute"))), layer)
      )
      assert.isTrue(Exit.isSuccess(exit))
      assert.lengthOf(lines, 2) // with the first and the last
    }))

  it.effect("warns of no limit that is not told whole", () =>
    Effect.gen(function*() {
      const { "x-ratelimit-limit": _, ...withoutLimit } = quota(0)
      const { layer } = clientOf({
        replies: [withoutLimit, quota(0, 0), {}].map((headers) => Testing.reply({ status: 204, headers }))
      })
      assert.deepStrictEqual((yield* logged(Effect.provide(Effect.repeatN(call, 2), layer))).lines, [])
    }))

  it.effect("has all that an answer gives rise to", () =>
    Effect.gen(function*() {
      const { layer } = clientOf({ replies: [Testing.reply({ status: 403, headers: quota(1) })] })
      const { lines } = yield* logged(Effect.provide(call, layer), LogLevel.Debug)
      const about = "attempt=1 operation=deleteEventStream"
      assert.deepStrictEqual(lines, [
        `DEBUG ${about} response with status 403 after 0 ms`,
        `WARN ${about} 80 % of the rate limit is used: 1 of 10 calls are left`,
        `DEBUG ${about} failed with Forbidden after 0 ms`
      ])
    }))

  it.effect("has what happened before a failure that nobody waited out", () =>
    Effect.gen(function*() {
      const refusing = Layer.succeed(RateLimiter.RateLimiter, {
        acquire: ({ operation }) =>
          Effect.zipRight(Effect.sleep("6 seconds"), new RateLimited({ operation, message: "no", source: "limiter" })),
        observe: () => Effect.void,
        status: Effect.succeed([]),
        changes: RateLimiter.changes as never // sound: nobody reads it
      })
      const { layer } = clientOf({ limiter: refusing, replies: [] })
      const { lines } = yield* logged(
        Effect.gen(function*() {
          const running = yield* Effect.fork(Effect.exit(createUsersExport({})))
          yield* TestClock.adjust("6 seconds")
          yield* Fiber.join(running)
        }).pipe(Effect.provide(layer))
      )
      assert.deepStrictEqual(lines, [
        "WARN attempt=0 operation=createUsersExport the rate limiter delayed the call for 6 s"
      ])
    }))
})
