/** Tests of what a queue asks its strategy, and what it makes of what that says. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HashMap from "effect/HashMap"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/TestClock"
import type { RateLimited } from "../../src/Errors.js"
import type { Call, Options } from "../../src/internal/limiter/limiter.js"
import * as Queue from "../../src/internal/limiter/queue.js"
import { type BucketStatus, idleTime, type LimitStrategy } from "../../src/internal/limiter/strategy.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as Permits from "../support/permits.js"

const tenant = "https://t.example.com/api/v2"

/** What the strategy says of an operation, whenever it is asked. Times are in milliseconds. */
interface Limits {
  /** The wait of a call. */
  wait: number
  /** Its wait if another call starts first. */
  readonly after: number
  readonly reason: RateLimiter.WaitReason
  readonly status: BucketStatus | undefined
}

const standard: Limits = {
  wait: 0,
  after: 0,
  reason: "limit",
  status: undefined
}

interface State extends Limits {
  readonly call: Call
  readonly bucket: object
  /** The numbers of calls ahead with which the queue has asked for a wait. */
  readonly asked: Array<number>
}

/** Makes a queue whose operations share one bucket. */
const makeQueue = (operations: Readonly<Record<string, Partial<Limits>>>, options: Options = {}) =>
  Effect.gen(function*() {
    const bucket = {}
    const states = new Map(
      Object.entries(operations).map(([operation, limits]): [string, State] => [
        operation,
        { ...standard, ...limits, call: { tenant, operation }, bucket, asked: [] }
      ])
    )
    const log: Array<string> = []
    const forgotten: Array<{ readonly at: number; readonly isWaiting: boolean }> = []
    const stateOf = (operation: string) => states.get(operation) ?? assert.fail(`there is no operation ${operation}`)
    const strategy: LimitStrategy<State, State> = {
      stateOf: ({ operation }) => stateOf(operation),
      states: () => states.values(),
      limitsOf: () => [bucket],
      statusOf: ({ status }) => status,
      wait: ({ state: { after, asked, reason, wait } }, _, ahead) => {
        const before = ahead(bucket)
        asked.push(before)
        return { millis: before > 0 ? Math.max(wait, after) : wait, reason }
      },
      start: (state) => {
        log.push(state.call.operation)
        return state
      },
      giveBack: ({ call }) => void log.push(`${call.operation} given back`),
      settle: ({ call }) => void log.push(`${call.operation} settled`),
      forgetIdle: (at, isWaiting) => void forgotten.push({ at, isWaiting: isWaiting(tenant) })
    }
    const queue = yield* Queue.make(strategy, options)
    const acquire = (operation: string) => Permits.start(queue, { tenant, operation })
    const settled = TestClock.adjust(0) // lets all that was forked run until it waits
    return {
      queue,
      log,
      forgotten,
      acquire,
      /** Begins to wait for a permit. */
      begin: (operation: string, isBackground = false) => {
        const permit = acquire(operation)
        return Effect.zipLeft(Effect.fork(isBackground ? RateLimiter.withBackground(permit) : permit), settled)
      },
      /** Begins to wait for a permit of each operation, in this order. */
      beginAll: (...operations: ReadonlyArray<string>) =>
        Effect.zipRight(Effect.forEach(operations, (operation) => Effect.fork(acquire(operation))), settled),
      /** Lets the calls of all operations start. */
      release: Effect.sync(() => {
        for (const state of states.values()) state.wait = 0
        queue.wake(tenant)
      }),
      /** The numbers of calls ahead with which the queue asks for the wait of an operation during an effect. */
      askedDuring: <A, E, R>(operation: string, self: Effect.Effect<A, E, R>) => {
        const { asked } = stateOf(operation)
        asked.length = 0
        return Effect.as(self, asked)
      }
    }
  })

describe("a queue of calls", () => {
  it.scoped("starts foreground calls before background calls, each by arrival", () =>
    Effect.gen(function*() {
      const wait = 1000
      const { begin, beginAll, log, release } = yield* makeQueue({
        export: { wait },
        a: { wait },
        b: { wait }
      })
      yield* begin("export", true)
      yield* beginAll("a", "b", "a", "b")
      assert.deepStrictEqual(log, [])
      yield* release
      assert.deepStrictEqual(log, ["a", "b", "a", "b", "export"])
    }))

  it.scoped("lets a call that may start give way to one before it that would start later", () =>
    Effect.gen(function*() {
      const { beginAll, log, release } = yield* makeQueue({
        busy: { wait: 1000, after: 1000 },
        several: { wait: 1000, after: 1600 },
        free: {}
      })
      yield* beginAll("busy", "free")
      assert.deepStrictEqual(log, ["free"])
      yield* beginAll("several", "free")
      assert.deepStrictEqual(log, ["free"])
      yield* release
      assert.deepStrictEqual(log, ["free", "busy", "several", "free"])
    }))

  it.scoped("starts a call at once when those that waited have left: it asks for its wait once", () =>
    Effect.gen(function*() {
      const { askedDuring, begin, log, release } = yield* makeQueue({ a: { wait: 1000 } })
      yield* Fiber.interrupt(yield* begin("a"))
      yield* begin("a")
      yield* release
      assert.deepStrictEqual(yield* askedDuring("a", begin("a")), [0])
      assert.deepStrictEqual(log, ["a", "a"])
    }))

  it.scoped("tells the strategy each hour which tenants have calls that wait", () =>
    Effect.gen(function*() {
      const { begin, forgotten } = yield* makeQueue({ a: { wait: Infinity }, b: {} })
      yield* begin("a")
      yield* TestClock.adjust(idleTime - 1)
      yield* begin("b")
      assert.deepStrictEqual(forgotten, [{ at: 0, isWaiting: false }])
      yield* TestClock.adjust(1)
      yield* begin("b")
      yield* begin("b")
      assert.deepStrictEqual(forgotten.slice(1), [{ at: idleTime, isWaiting: true }])
    }))
})

describe("a wait", () => {
  for (
    const [title, limits, reason, text] of [
      ["for the limit", { wait: 60_000 }, "limit", "the rate limit is used up"],
      ["for the ceiling", { wait: 60_000, reason: "ceiling" }, "ceiling", "the ceiling that was set is reached"],
      [
        "for the end of a pause",
        { wait: 60_000, reason: "pause" },
        "pause",
        "the service asked for a pause (Retry-After)"
      ],
      ["for the end of another call", { wait: Infinity, reason: "inFlight" }, "inFlight", undefined]
    ] as const
  ) {
    for (const isBackground of [false, true]) {
      it.scoped(`${title} shows and logs its reason, in the ${isBackground ? "background" : "foreground"}`, () => {
        const lines: Array<unknown> = []
        const logger = Logger.make<unknown, void>(({ annotations, logLevel, message }) =>
          void lines.push([logLevel.label, String(message), ...HashMap.entries(annotations)])
        )
        return Effect.gen(function*() {
          const { begin, queue } = yield* makeQueue({ a: limits, idle: {} })
          yield* begin("a", isBackground)
          assert.deepStrictEqual(yield* queue.status, [
            { tenant, operation: "a", waiting: 1, reason },
            { tenant, operation: "idle", waiting: 0 }
          ])
          const line = ["WARN", `calls wait 1m for the rate limiter: ${text}`, ["operation", "a"]]
          assert.deepStrictEqual(lines, text === undefined ? [] : [line])
        }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      })
    }
  }
})

describe("a refusal", () => {
  const status = { limit: 10, remaining: 3, fullAt: 5000 }

  const partsOf = ({ limit, message, operation, remaining, resetAt, retryAfter, source }: RateLimited) => ({
    limit,
    message,
    operation,
    remaining,
    resetAt: resetAt && DateTime.toEpochMillis(resetAt),
    retryAfter: retryAfter && Duration.toMillis(retryAfter),
    source
  })

  const known = { limit: 10, operation: "a", remaining: 3, resetAt: 5000, source: "limiter" } as const

  it.scoped("says that the wait would be too long, and how long, beside what is known of the limit", () =>
    Effect.gen(function*() {
      const { acquire } = yield* makeQueue({ a: { wait: 1001, status } }, { maxWait: 1000 })
      assert.deepStrictEqual(partsOf(yield* Effect.flip(acquire("a"))), {
        ...known,
        message: "a: the rate limiter's wait would exceed maxWait",
        retryAfter: 1001
      })
    }))

  it.effect("says that the limiter was closed, to a call that waits and to a later one", () =>
    Effect.gen(function*() {
      const [waiting, later] = yield* Effect.scoped(
        Effect.flatMap(
          makeQueue({ a: { wait: 1000, status } }),
          ({ acquire, begin }) => Effect.map(begin("a"), (fiber) => [fiber, acquire("a")] as const)
        )
      )
      for (const refused of [Fiber.join(waiting), later]) {
        assert.deepStrictEqual(partsOf(yield* Effect.flip(refused)), {
          ...known,
          message: "a: the rate limiter was closed",
          retryAfter: undefined
        })
      }
    }))
})

describe("a call whose turn it is", () => {
  const response = { status: 200, headers: Headers.empty }

  const ends: ReadonlyArray<readonly [string, Effect.Effect<RateLimiter.LimitedResponse, unknown>, string]> = [
    ["gives its place back if it was not sent", Effect.fail({ outcome: "not-sent" }), "a given back"],
    ["gives its place back if it got no token", Effect.fail({ _tag: "TokenError" }), "a given back"],
    ["is settled by its response", Effect.succeed(response), "a settled"],
    ["is settled if no response came", Effect.fail({ outcome: "unknown" }), "a settled"],
    ["is settled if it dies", Effect.die("boom"), "a settled"],
    ["is settled if it is interrupted", Effect.interrupt, "a settled"]
  ]
  for (const [title, send, expected] of ends) {
    it.scoped(title, () =>
      Effect.gen(function*() {
        const { log, queue } = yield* makeQueue({ a: {} })
        const exit = yield* Effect.exit(queue.limit({ tenant, operation: "a" })(send))
        assert.deepStrictEqual(exit, yield* Effect.exit(send))
        assert.deepStrictEqual(log, ["a", expected])
      }))
  }
})
