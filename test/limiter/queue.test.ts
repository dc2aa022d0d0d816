import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { assert, describe, it } from "vitest"
import type { RateLimited } from "../../src/Errors.js"
import type { Call } from "../../src/internal/limiter/limiter.js"
import * as Queue from "../../src/internal/limiter/queue.js"
import type { LimitStrategy } from "../../src/internal/limiter/strategy.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as Garbage from "../support/garbage.js"
import * as Permits from "../support/permits.js"

const tenant = "https://t.example.com/api/v2"

/** The calls of one operation. */
interface State {
  readonly name: string
  readonly call: Call
  readonly bucket: object
  /** When the next call may start. */
  at: number
}

/** A queue whose time stands still unless a test sets it, and whose strategy writes a log. */
const makeQueue = (maxWait = Infinity) => {
  const states = new Map<string, State>()
  const buckets = new Map<string, object>()
  const bucketOf = (name: string): object => {
    const bucket = buckets.get(name) ?? {}
    buckets.set(name, bucket)
    return bucket
  }
  const log: Array<string> = []
  const aheads: Array<number> = []
  const sleeps = new Set<number>()
  const time = { now: 0 }
  const hooks = { wait: () => {} }
  /** Adds an operation, and gives a call of it. */
  const callOf = (name: string, at = 0, bucket = "one", of = tenant): Call => {
    const call = { tenant: of, operation: name }
    states.set(name, { name, call, at, bucket: bucketOf(bucket) })
    return call
  }
  const strategy: LimitStrategy<State, string> = {
    stateOf: ({ operation }) => states.get(operation)!,
    states: () => states.values(),
    limitsOf: ({ bucket }) => [bucket],
    statusOf: ({ name }) => void log.push(`${name} refused`),
    wait: ({ since, state: { at, bucket } }, now, ahead) => {
      hooks.wait()
      if (since === now) aheads.push(ahead(bucket))
      return { millis: Math.max(0, at - now), reason: "limit" }
    },
    start: ({ name }, now, waited) => {
      log.push(`${name} at ${now}${waited ? " waited" : ""}`)
      return name
    },
    giveBack: (name) => void log.push(`${name} given back`),
    settle: (name) => void log.push(`${name} settled`),
    forgetIdle: () => {}
  }
  const clock: Clock.Clock = {
    ...Clock.make(),
    unsafeCurrentTimeMillis: () => time.now,
    unsafeCurrentTimeNanos: () => BigInt(Math.round(time.now * 1e6)),
    currentTimeMillis: Effect.sync(() => time.now),
    sleep: (duration) =>
      Effect.async<void>(() => {
        const at = time.now + Duration.toMillis(duration)
        sleeps.add(at)
        return Effect.sync(() => sleeps.delete(at))
      })
  }
  const scope = Effect.runSync(Scope.make())
  const queue = Effect.runSync(
    Queue.make(strategy, { maxWait, reserve: 0 }).pipe(Scope.extend(scope), Effect.withClock(clock))
  )
  /** Begins to wait for a permit. */
  const begin = (call: Call, isBackground = false) => {
    const acquire = Permits.start(queue, call)
    return Effect.runFork(isBackground ? RateLimiter.withBackground(acquire) : acquire)
  }
  const waiting = (name: string) => queue.queueOf(tenant)?.sizeOf(states.get(name)!) ?? 0
  return {
    queue,
    callOf,
    log,
    aheads,
    sleeps,
    time,
    hooks,
    begin,
    states,
    waiting,
    close: Scope.close(scope, Exit.void)
  }
}

describe("a queue of calls", () => {
  it("takes in no call that was interrupted before it could wait", () => {
    const { callOf, log, queue, waiting } = makeQueue()
    const call = callOf("a", 1000)
    const exit = Effect.runSyncExit(
      Effect.withFiberRuntime<Permits.Permit, RateLimited>((fiber) => {
        fiber.unsafeInterruptAsFork(fiber.id())
        return Permits.start(queue, call)
      })
    )
    assert.isTrue(Exit.isInterrupted(exit))
    assert.deepStrictEqual([waiting("a"), log], [0, []])
  })

  it("refuses a call that was about to wait when the queue was closed", () => {
    const { callOf, close, hooks, log, queue, waiting } = makeQueue()
    const call = callOf("a", 1000)
    hooks.wait = () => Effect.runSync(close)
    assert.isTrue(Exit.isFailure(Effect.runSyncExit(Permits.start(queue, call))))
    assert.deepStrictEqual([waiting("a"), log], [0, ["a refused"]])
  })

  it("refuses the calls that wait when it is closed, and all that come later", async () => {
    const { begin, callOf, close, log } = makeQueue()
    for (const name of ["a", "b"]) begin(callOf(name, 1000))
    begin(callOf("b", 1000))
    await Effect.runPromise(close)
    begin(callOf("c"))
    assert.deepStrictEqual(log, ["a", "b", "b", "c"].map((name) => `${name} refused`))
  })

  it("keeps no queue that is empty", async () => {
    const { begin, callOf, close, queue, waiting } = makeQueue()
    const lists = () => Array.from(queue.queueOf(tenant)?.lists.values() ?? []).flat().length
    const fiber = begin(callOf("a", 1000))
    assert.deepStrictEqual([waiting("a"), lists()], [1, 2])
    Effect.runSync(queue.status)
    await Effect.runPromise(Fiber.interrupt(fiber))
    Effect.runSync(queue.status)
    assert.deepStrictEqual([waiting("a"), lists()], [0, 0])
    await Effect.runPromise(close)
  })

  it("looks at no other tenant when a call starts, ends, comes or goes, however many wait", async () => {
    const { begin, callOf, close, hooks, log, queue, time } = makeQueue()
    const waitingCalls = Array.from(
      { length: 1000 },
      (_, nth) => callOf(`a${nth}`, 1000 + nth, `a${nth}`, `tenant ${nth}`)
    )
    for (const call of waitingCalls) begin(call)
    const looks = (run: () => unknown) => {
      let count = 0
      hooks.wait = () => void count++
      run()
      return count
    }
    const call = callOf("b", 0, "b", "tenant b")
    const calls = [waitingCalls[7]!, call]
    assert.isAtMost(looks(() => Effect.runSyncExit(queue.limit(call)(Effect.fail("no response")))), 4)
    const fibers = calls.map((one) => {
      callOf("b", 4000, "b", "tenant b")
      let fiber: Fiber.RuntimeFiber<Permits.Permit, RateLimited> | undefined
      assert.isAtMost(looks(() => void (fiber = begin(one))), 20)
      return fiber!
    })
    time.now = 1000
    assert.isAtMost(looks(() => queue.wake("tenant 0")), 2)
    assert.strictEqual(log.at(-1), "a0 at 1000 waited")
    let count = 0
    hooks.wait = () => void count++
    await Effect.runPromise(Fiber.interruptAll(fibers))
    assert.isAtMost(count, 20)
    await Effect.runPromise(close)
  })

  it("starts calls of the tenant that is looked at, and of no other", () => {
    const { begin, callOf, log, queue, time } = makeQueue()
    const order = [5, 2, 9, 1, 7, 3, 8, 0, 6, 4]
    for (const nth of order) begin(callOf(`a${nth}`, 100 + nth, "a", `tenant ${nth}`))
    time.now = 99
    queue.wake("another tenant")
    assert.deepStrictEqual(log, [])
    time.now = 130
    for (const nth of order) queue.wake(`tenant ${nth}`)
    assert.sameMembers(log, order.map((nth) => `a${nth} at 130 waited`))
  })

  it("counts the calls ahead on the same bucket: background calls come after all others", () => {
    const { aheads, begin, callOf } = makeQueue()
    const [one, other, elsewhere] = [callOf("a", 1000), callOf("b", 1000), callOf("c", 1000, "other")]
    const ahead = (call: Call, isBackground = false) => {
      aheads.length = 0
      begin(call, isBackground)
      return aheads[0]
    }
    assert.deepStrictEqual([ahead(one), ahead(other), ahead(elsewhere)], [0, 1, 0])
    assert.deepStrictEqual([ahead(one, true), ahead(one, true), ahead(one), ahead(elsewhere, true)], [2, 3, 2, 1])
  })

  it("tells calls that their bucket made wait from those that waited for others only", () => {
    const { begin, callOf, log, queue, time } = makeQueue()
    begin(callOf("a"))
    begin(callOf("b", 1000))
    begin(callOf("c", 0, "other"))
    time.now = 1000
    queue.wake(tenant)
    assert.deepStrictEqual(log, ["a at 0", "c at 0", "b at 1000 waited"])
  })

  it("serves the first call before one that comes when the first may start but was not woken yet", () => {
    const { begin, callOf, log, time } = makeQueue()
    const call = callOf("a", 10)
    begin(call)
    time.now = 15
    begin(call)
    assert.deepStrictEqual(log, ["a at 15 waited", "a at 15"])
  })

  it("refuses a waiting call whose wait has become too long by more than 20 ms, and reports the wait", async () => {
    const { begin, callOf, log, queue, states, time } = makeQueue(1000)
    const retryAfter = (fiber: Fiber.Fiber<Permits.Permit, RateLimited>) =>
      Effect.runPromise(Effect.map(Effect.flip(Fiber.join(fiber)), (error) => error.retryAfter))
    const one = begin(callOf("a", 900))
    const look = (now: number, at: number) => {
      time.now = now
      states.get("a")!.at = at
      queue.wake(tenant)
    }
    look(990, 1019)
    assert.deepStrictEqual(log, [])
    look(995, 1021)
    assert.deepStrictEqual(log, ["a refused"])
    assert.deepStrictEqual(await retryAfter(one), Duration.millis(26))
    const other = begin(callOf("b", Infinity))
    look(1995, 0)
    assert.deepStrictEqual(log.slice(1), ["b refused"])
    assert.deepStrictEqual(await retryAfter(other), Duration.millis(1000))
  })

  it("sleeps until the first call may start, but not where only the end of a call helps, nor when it is closed", async () => {
    const { begin, callOf, close, sleeps } = makeQueue()
    begin(callOf("a", Infinity))
    assert.strictEqual(sleeps.size, 0)
    begin(callOf("b", 500, "other"))
    const [at] = [...sleeps]
    assert.isAtLeast(at!, 500)
    assert.isAtMost(at!, 501)
    await Effect.runPromise(close)
    assert.strictEqual(sleeps.size, 0)
  })
})

describe("a call whose turn it is", () => {
  it("gives its place back when it is interrupted before it begins, and settles it after that", async () => {
    for (const hasBegun of [false, true]) {
      const { callOf, log, queue } = makeQueue()
      const limited = Effect.withFiberRuntime<unknown, RateLimited>((fiber) => {
        if (!hasBegun) fiber.unsafeInterruptAsFork(fiber.id())
        const call = queue.limit(callOf("a"))(Effect.never)
        return hasBegun ? call : Effect.uninterruptible(Effect.zipRight(Effect.yieldNow(), Effect.interruptible(call)))
      })
      const fiber = Effect.runFork(limited)
      await Effect.runPromise(Fiber.interrupt(fiber))
      assert.deepStrictEqual(log, hasBegun ? ["a at 0", "a settled"] : [])
    }
  })

  it("keeps no reference to its call when it has ended", async () => {
    const { callOf, queue } = makeQueue()
    callOf("a")
    const ended = () => {
      const call = { tenant, operation: "a" }
      Effect.runSyncExit(queue.limit(call)(Effect.fail("no response")))
      return new WeakRef(call)
    }
    const call = ended()
    await Garbage.collect()
    assert.isUndefined(call.deref())
  })
})
