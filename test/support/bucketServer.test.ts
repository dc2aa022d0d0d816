import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import * as BucketServer from "./bucketServer.js"
import { scenarios, seeds } from "./goodput.js"
import { operations } from "./operations.js"
import * as VirtualTime from "./virtualTime.js"

const plain: BucketServer.Profile = {
  kind: "refill",
  reset: "ceil",
  hasHeadersWhenRefused: true,
  retryAfter: "none",
  prefix: "X-RateLimit-",
  ahead: 0,
  phase: 0
}

/** Two calls, one refilled in half a second: a window is a second long. */
const size = { burst: 2, interval: 500 }

/** The server's time when a test begins: a whole second. */
const start = 1_900_000_000_000

/** Makes a server, and returns a function that sends it a request, in milliseconds after the start. */
const server = (profile: Partial<BucketServer.Profile> = {}, which = size) => {
  const { respond } = BucketServer.make({ ...plain, ...profile }, which)
  return (at: number, operation = "listActionVersions") => respond(operation, start + at)
}

/** The statuses of calls at these times. */
const statuses = (ask: ReturnType<typeof server>, ...times: ReadonlyArray<number>) => times.map((at) => ask(at).status)

/** The reset, in seconds from the start. */
const resetOf = ({ headers }: BucketServer.BucketResponse) => Number(headers["X-RateLimit-Reset"]) - start / 1000

const kinds = ["refill", "aligned", "opened"] as const

describe("a bucket that refills", () => {
  it("gives a burst, then one call per interval, and a refused call takes nothing", () => {
    assert.deepStrictEqual(
      statuses(server(), 0, 0, 0, 499, 499, 500, 500, 999, 1000),
      [200, 200, 429, 429, 429, 200, 429, 429, 200]
    )
  })

  it("counts from the moment when a call was taken, and fills up to its burst only", () => {
    assert.deepStrictEqual(statuses(server(), 0, 300, 499, 500, 999, 1000), [200, 200, 429, 200, 429, 200])
    assert.deepStrictEqual(statuses(server(), 0, 86_400_000, 86_400_000, 86_400_000), [200, 200, 200, 429])
  })

  it("reports the whole calls left and the time when it is full, not when one is free", () => {
    const ask = server({}, { burst: 50, interval: 62.5 })
    const headers = [0, 0, 32, 62.5, 63].map((at) => ask(at).headers)
    assert.deepStrictEqual(headers.map((one) => one["X-RateLimit-Remaining"]), ["49", "48", "47", "47", "46"])
    assert.deepStrictEqual(new Set(headers.map((one) => one["X-RateLimit-Limit"])), new Set(["50"]))
    for (let nth = 0; nth < 46; nth++) ask(63)
    assert.deepInclude(ask(63), { status: 429 })
    assert.strictEqual(resetOf(ask(63)), 4) // 51 calls are taken since 0: full at 3187.5
  })
})

describe("a window", () => {
  it("begins at multiples of its length, at its phase, whenever it is used", () => {
    const ask = server({ kind: "aligned", phase: 0.25 })
    assert.deepStrictEqual(
      statuses(ask, 248, 249, 249, 250, 700, 1249, 1250, 1250, 1250),
      [200, 200, 429, 200, 200, 429, 200, 200, 429]
    )
  })

  it("or begins with the first call after the last one has ended", () => {
    const ask = server({ kind: "opened" })
    assert.deepStrictEqual(
      statuses(ask, 100, 1000, 1099, 1100, 1101, 2099, 2700, 2701, 3699, 3700),
      [200, 200, 429, 200, 200, 429, 200, 200, 429, 200]
    )
  })

  it("reports its end as the reset as long as it lasts", () => {
    const long = { burst: 4, interval: 2500 }
    for (const [kind, end] of [["aligned", 10], ["opened", 11]] as const) {
      const ask = server({ kind }, long)
      const responses = [1000, 1500, 2000, 2500, 9999].map((at) => ask(at))
      assert.deepStrictEqual(responses.map(resetOf), [end, end, end, end, end])
      assert.deepStrictEqual(
        responses.map(({ headers }) => headers["X-RateLimit-Remaining"]),
        ["3", "2", "1", "0", "0"]
      )
    }
  })
})

describe("the headers", () => {
  for (
    const [reset, fraction, whole] of [["floor", 0, 1], ["ceil", 1, 1], ["past", 0, 0]] as const
  ) {
    it(`round the reset by "${reset}"`, () => {
      assert.strictEqual(resetOf(server({ reset })(0)), fraction)
      assert.strictEqual(resetOf(server({ reset })(500)), whole)
    })
  }

  it("have the server's time, in whole seconds", () => {
    const ask = server()
    assert.deepStrictEqual(
      [0, 999, 1000].map((at) => Date.parse(ask(at).headers["Date"] ?? "") - start),
      [0, 0, 1000]
    )
  })

  for (const prefix of ["X-RateLimit-", "x-ratelimit-", "X-RATELIMIT-"] as const) {
    it(`are written ${prefix}…`, () => {
      const { headers } = server({ prefix })(0)
      assert.containsAllKeys(headers, ["Limit", "Remaining", "Reset"].map((name) => `${prefix}${name}`))
    })
  }

  for (const hasHeadersWhenRefused of [true, false]) {
    for (
      const [retryAfter, value] of [
        ["none", undefined],
        ["seconds", "1"],
        ["date", new Date(start + 1000).toUTCString()]
      ] as const
    ) {
      it(`of a 429 are ${hasHeadersWhenRefused ? "those of all responses" : "missing"}, Retry-After: ${retryAfter}`, () => {
        for (const kind of kinds) {
          const ask = server({ kind, hasHeadersWhenRefused, retryAfter })
          const [first, , refused] = [ask(0), ask(0), ask(10)]
          assert.strictEqual(refused.status, 429)
          assert.strictEqual(refused.headers["X-RateLimit-Remaining"], hasHeadersWhenRefused ? "0" : undefined)
          assert.strictEqual(refused.headers["Retry-After"], value)
          assert.containsAllKeys(refused.headers, ["Date", "Content-Type"])
          assert.notProperty(first.headers, "Retry-After")
          assert.property(first.headers, "X-RateLimit-Reset")
        }
      })
    }
  }

  it("say in Retry-After when a call is free, not when all are", () => {
    const [refill, opened] = (["refill", "opened"] as const).map((kind) => {
      const ask = server({ kind, retryAfter: "seconds" }, { burst: 4, interval: 2500 })
      for (let nth = 0; nth < 4; nth++) ask(0)
      return ask(1).headers["Retry-After"]
    })
    assert.deepStrictEqual([refill, opened], ["3", "10"])
  })
})

describe("the time that calls need", () => {
  for (const kind of kinds) {
    it(`is the time of a client that calls without a pause: ${kind}`, () => {
      for (const { refill: { size } } of scenarios) {
        const calls = 2 * size.burst + 3
        for (const [phase, first] of [[0, 0], [0.3, 0], [0.3, 299], [0.9, 1234]] as const) {
          const ask = server({ kind, phase }, size)
          let at = first
          for (let done = 0; done < calls;) {
            if (ask(at).status === 200) done++
            else at += 0.5
          }
          const needed = BucketServer.timeNeeded({ ...plain, kind, phase }, size, calls, start + first)
          assert.strictEqual(at - first, needed, `burst ${size.burst}, phase ${phase}`)
        }
      }
    })
  }
})

describe("the seeds", () => {
  it("choose the same server each time, and together every way to count and to report", () => {
    const profiles = seeds.map(BucketServer.profileOf)
    assert.deepStrictEqual(profiles, seeds.map(BucketServer.profileOf))
    const combinations = (...names: ReadonlyArray<keyof BucketServer.Profile>) =>
      new Set(profiles.map((profile) => names.map((name) => profile[name]).join())).size
    assert.strictEqual(combinations("kind", "reset"), 9)
    assert.strictEqual(combinations("hasHeadersWhenRefused", "retryAfter"), 6)
    assert.strictEqual(combinations("prefix"), 3)
    for (const { ahead, phase } of profiles) {
      assert(Number.isInteger(ahead) && Math.abs(ahead) <= 90_000)
      assert(phase >= 0 && phase < 1)
    }
    assert(profiles.some(({ ahead }) => ahead < -1000) && profiles.some(({ ahead }) => ahead > 1000))
  })
})

describe("the network", () => {
  it.effect("takes 1 to 80 ms each way, and shows the server its own time", () =>
    Effect.gen(function*() {
      const ahead = -12_345
      const server = BucketServer.make({ ...plain, ahead }, { burst: 1000, interval: 1 })
      const ways = Effect.gen(function*() {
        const client = yield* HttpClient.HttpClient
        const begun = yield* Clock.currentTimeMillis
        const response = yield* client.get("http://tenant.example.com/actions/actions/1/versions")
        assert.strictEqual(response.headers["x-ratelimit-limit"], "1000")
        const arrived = (server.seen.at(-1)?.at ?? NaN) - ahead
        return [arrived - begun, (yield* Clock.currentTimeMillis) - arrived]
      })
      const repeated = Effect.replicateEffect(ways, 500).pipe(Effect.provide(BucketServer.layer(server, 1)))
      const found = (yield* VirtualTime.run(repeated, { most: "1 hour" })).flat()
      assert(found.every((way) => way >= 1 && way <= 80), "between 1 and 80 ms")
      const slow = found.filter((way) => way > 25).length
      assert(slow > 0 && slow < 100, `${slow} of ${found.length} take longer than 25 ms`)
    }))

  it.effect("leads to every operation", () =>
    Effect.gen(function*() {
      const server = BucketServer.make(plain, { burst: 1000, interval: 1 })
      const asked = Effect.forEach(operations, ({ endpoint: { method, path } }) =>
        HttpClient.HttpClient.pipe(
          Effect.flatMap((client) => client[verbs[method]](`http://tenant.example.com${path.replaceAll(":", "")}`))
        ))
      yield* VirtualTime.run(Effect.provide(asked, BucketServer.layer(server, 1)), { most: "1 hour" })
      assert.deepStrictEqual(
        server.seen.map(({ operation }) => operation),
        operations.map(({ endpoint }) => endpoint.name)
      )
    }))
})

const verbs = { GET: "get", POST: "post", PATCH: "patch", PUT: "put", DELETE: "del" } as const
