/** The token cache: one request for many callers, renewal in the background, refused tokens. */
import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  type Clock,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  FiberId,
  FiberRef,
  Option,
  Redacted,
  Scope,
  TestClock
} from "effect"
import { TokenError } from "../../src/Errors.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { breathe, get, invalidate, issue, over } from "../support/tokens.js"

const failed = (message: string) => new TokenError({ operation: "token", message })

/** A provider whose requests the test completes by hand. */
const manual = Effect.gen(function*() {
  const requests: Array<Deferred.Deferred<TokenProvider.IssuedToken, TokenError>> = []
  const request = Effect.suspend(() => {
    const result = Deferred.unsafeMake<TokenProvider.IssuedToken, TokenError>(FiberId.none)
    requests.push(result)
    return Deferred.await(result)
  })
  const provider = yield* TokenProvider.make(request)
  const complete = (nth: number, exit: Exit.Exit<TokenProvider.IssuedToken, TokenError>) =>
    Effect.zipRight(Deferred.done(requests[nth - 1]!, exit), breathe)
  return {
    requests,
    get: Effect.map(provider.get, Redacted.value),
    invalidate: (token: string) => provider.invalidate(Redacted.make(token)),
    succeed: (nth: number, token: string, lifetime?: Duration.DurationInput) =>
      complete(
        nth,
        Exit.succeed({
          token: Redacted.make(token),
          ...(lifetime !== undefined && { lifetime: Duration.decode(lifetime) })
        })
      ),
    fail: (nth: number, message: string) => complete(nth, Exit.fail(failed(message))),
    die: (nth: number) => complete(nth, Exit.die("boom"))
  }
})

describe("a refused token", () => {
  it.scoped("that replaced a refused one is kept for 30 s: the reason is not the token", () =>
    Effect.gen(function*() {
      const { get, invalidate, requests, succeed } = yield* manual
      const obtain = (nth: number) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(get)
          yield* breathe
          yield* succeed(nth, `t${nth}`)
          return yield* Fiber.join(fiber)
        })
      assert.strictEqual(yield* obtain(1), "t1")
      yield* invalidate("t1")
      assert.strictEqual(yield* obtain(2), "t2")
      yield* TestClock.adjust("29999 millis")
      yield* invalidate("t2")
      assert.strictEqual(yield* get, "t2")
      assert.lengthOf(requests, 2)
      yield* TestClock.adjust("1 millis")
      yield* invalidate("t2")
      assert.strictEqual(yield* obtain(3), "t3")
    }))
})

describe("one request", () => {
  it.scoped("serves any number of concurrent callers", () =>
    Effect.gen(function*() {
      const { requests, get, succeed } = yield* manual
      const callers = yield* Effect.fork(
        Effect.all(Array.from({ length: 1000 }, () => get), { concurrency: "unbounded" })
      )
      yield* breathe
      assert.lengthOf(requests, 1)
      yield* succeed(1, "t1")
      assert.deepStrictEqual(yield* Fiber.join(callers), Array.from({ length: 1000 }, () => "t1"))
      assert.lengthOf(requests, 1)
    }))

  for (const victim of [0, 1, 4]) {
    it.scoped(`continues for the others when caller ${victim} of 5 is interrupted`, () =>
      Effect.gen(function*() {
        const { requests, get, succeed } = yield* manual
        const callers = yield* Effect.forEach([0, 1, 2, 3, 4], () => Effect.zipLeft(Effect.fork(get), breathe))
        yield* Fiber.interrupt(callers[victim]!)
        yield* succeed(1, "t1")
        const others = callers.filter((_, index) => index !== victim)
        assert.deepStrictEqual(yield* Fiber.join(Fiber.all(others)), ["t1", "t1", "t1", "t1"])
        assert.lengthOf(requests, 1)
      }))
  }

  it.scoped("still caches its token when all callers that wait for it are interrupted", () =>
    Effect.gen(function*() {
      const { requests, get, succeed } = yield* manual
      const callers = yield* Effect.forEach([0, 1, 2], () => Effect.fork(get))
      yield* breathe
      yield* Fiber.interruptAll(callers)
      yield* succeed(1, "t1")
      assert.strictEqual(yield* get, "t1")
      assert.lengthOf(requests, 1)
    }))

  it.scoped("is shared with a caller that arrives after all others were interrupted", () =>
    Effect.gen(function*() {
      const { requests, get, succeed } = yield* manual
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* Fiber.interrupt(first)
      const second = yield* Effect.fork(get)
      yield* breathe
      assert.lengthOf(requests, 1)
      yield* succeed(1, "t1")
      assert.strictEqual(yield* Fiber.join(second), "t1")
    }))

  it.scoped("ends with the provider's scope, and so do the waits of all its callers, with a TokenError", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { requests, get } = yield* Scope.extend(manual, scope)
      const callers = yield* Effect.forEach([0, 1, 2], () => Effect.fork(get))
      yield* breathe
      yield* Scope.close(scope, Exit.void)
      const errors = yield* Effect.forEach(callers, (caller) => Effect.flip(Fiber.join(caller)))
      assert.deepStrictEqual(
        errors.map(({ message }) => message),
        Array.from({ length: 3 }, () => "the token provider was closed")
      )
      assert.lengthOf(requests, 1)
    }))

  it.scoped("does not block a caller that arrives after the provider's scope was closed", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { get } = yield* Scope.extend(manual, scope)
      yield* Scope.close(scope, Exit.void)
      assert.deepInclude(yield* Effect.flip(get), { _tag: "TokenError", code: "CLOSED" })
    }))

  it.scoped("serves its callers as soon as there is a token, even if something that it started goes on", () =>
    Effect.gen(function*() {
      let requests = 0
      const tokens = yield* TokenProvider.make(
        Effect.zipRight(
          Effect.zip(Effect.fork(Effect.uninterruptible(Effect.sleep("1 hour"))), Effect.yieldNow()),
          Effect.sync(() => ({ token: Redacted.make(`t${++requests}`) }))
        )
      )
      const fiber = yield* Effect.fork(Effect.zip(tokens.get, tokens.get))
      yield* breathe
      const exit = yield* Fiber.poll(fiber)
      yield* TestClock.adjust("1 hour")
      assert.isTrue(Option.exists(exit, Exit.isSuccess))
      assert.strictEqual(requests, 1)
    }))

  it.scoped("that dies fails its caller with the defect, and the next caller starts another", () =>
    Effect.gen(function*() {
      let times = 0
      const provider = yield* TokenProvider.make(
        Effect.suspend(() => ++times === 1 ? Effect.dieMessage("boom") : Effect.succeed({ token: Redacted.make("t2") }))
      )
      const exit = yield* Effect.exit(provider.get)
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.strictEqual(Redacted.value(yield* provider.get), "t2")
    }))
})

describe("a token is renewed", () => {
  it.scoped("from 80 % of its lifetime on, not earlier, and no caller waits for it", () =>
    Effect.gen(function*() {
      const { requests, get, succeed } = yield* manual
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(1, "t1", "100 seconds")
      yield* Fiber.join(first)
      yield* TestClock.adjust("79999 millis")
      assert.strictEqual(yield* get, "t1")
      yield* breathe
      assert.lengthOf(requests, 1)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* Effect.all([get, get, get], { concurrency: "unbounded" }), ["t1", "t1", "t1"])
      yield* breathe
      assert.lengthOf(requests, 2)
      yield* succeed(2, "t2", "100 seconds")
      assert.strictEqual(yield* get, "t2")
      assert.lengthOf(requests, 2)
    }))

  it.scoped("only once if it expires while its renewal is under way", () =>
    Effect.gen(function*() {
      const { requests, get, succeed } = yield* manual
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(1, "t1", "100 seconds")
      yield* Fiber.join(first)
      yield* TestClock.adjust("80 seconds")
      yield* get
      yield* TestClock.adjust("10 seconds")
      const late = yield* Effect.fork(get)
      yield* breathe
      assert.lengthOf(requests, 2)
      yield* succeed(2, "t2", "100 seconds")
      assert.strictEqual(yield* Fiber.join(late), "t2")
    }))

  it.effect("at most every 5 seconds while the endpoint fails, without failing a caller", () => {
    let down = false
    const { arrived, layer } = over((nth) => Effect.succeed(down ? { status: 403 } : issue(nth, { expires_in: 1000 })))
    return Effect.gen(function*() {
      yield* get
      down = true
      yield* TestClock.adjust("800 seconds")
      for (let second = 0; second < 100; second++) {
        assert.strictEqual(yield* get, "t1")
        yield* breathe
        assert.strictEqual(yield* get, "t1")
        yield* TestClock.adjust("1 second")
      }
      assert.lengthOf(arrived, 1 + 20)
      down = false
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* get, "t1")
      yield* breathe
      assert.strictEqual(yield* get, "t22")
    }).pipe(Effect.provide(layer))
  })

  it.scoped("again 5 seconds after its renewal died, and not earlier", () =>
    Effect.gen(function*() {
      const { requests, die, get, succeed } = yield* manual
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(1, "t1", "100 seconds")
      yield* Fiber.join(first)
      yield* TestClock.adjust("80 seconds")
      yield* get
      yield* breathe
      yield* die(2)
      for (const [wait, times] of [["4999 millis", 2], ["1 millis", 3]] as const) {
        yield* TestClock.adjust(wait)
        assert.strictEqual(yield* get, "t1")
        yield* breathe
        assert.lengthOf(requests, times)
      }
    }))

  it.effect("not before the Retry-After of a failed renewal", () => {
    let down = false
    const { arrived, layer } = over((nth) =>
      Effect.succeed(
        down ? { status: 429, headers: { "retry-after": "90" } } : issue(nth, { expires_in: 1000 })
      )
    )
    return Effect.gen(function*() {
      yield* get
      down = true
      yield* TestClock.adjust("800 seconds")
      for (let second = 0; second < 89; second++) {
        assert.strictEqual(yield* get, "t1")
        yield* breathe
        yield* TestClock.adjust("1 second")
      }
      assert.lengthOf(arrived, 2)
    }).pipe(Effect.provide(layer))
  })

  it.scoped("and not used again if it was refused while its renewal failed", () =>
    Effect.gen(function*() {
      const { requests, fail, get, invalidate, succeed } = yield* manual
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(1, "t1", "100 seconds")
      yield* Fiber.join(first)
      yield* TestClock.adjust("80 seconds")
      yield* get
      yield* breathe
      yield* invalidate("t1")
      yield* fail(2, "down")
      const next = yield* Effect.fork(get)
      yield* breathe
      assert.lengthOf(requests, 3)
      yield* succeed(3, "t3")
      assert.strictEqual(yield* Fiber.join(next), "t3")
    }))
})

describe("a failed request", () => {
  it.scoped("fails all callers that wait for it with the same error, and the next caller starts another", () =>
    Effect.gen(function*() {
      const { requests, fail, get, succeed } = yield* manual
      const callers = yield* Effect.forEach([0, 1, 2], () => Effect.fork(Effect.flip(get)))
      yield* breathe
      yield* fail(1, "down")
      const errors = yield* Fiber.join(Fiber.all(callers))
      assert.deepStrictEqual(errors.map(({ message }) => message), ["down", "down", "down"])
      assert.strictEqual(new Set(errors).size, 1)
      assert.lengthOf(requests, 1)
      const next = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(2, "t2")
      assert.strictEqual(yield* Fiber.join(next), "t2")
    }))

  it.effect("is given again while the endpoint asks for a pause, with what is left of it, and at most for 15 minutes", () => {
    const { arrived, layer } = over((nth) =>
      Effect.succeed(nth === 3 ? issue(nth) : { status: 403, headers: { "retry-after": nth === 1 ? "60" : "86400" } })
    )
    const refused = Effect.map(Effect.flip(get), ({ retryAfter, status }) => {
      assert.strictEqual(status, 403)
      return retryAfter && Duration.toSeconds(retryAfter)
    })
    return Effect.gen(function*() {
      assert.strictEqual(yield* refused, 60)
      yield* TestClock.adjust("59 seconds")
      for (let nth = 0; nth < 100; nth++) assert.strictEqual(yield* refused, 1)
      assert.lengthOf(arrived, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* refused, 86_400)
      yield* TestClock.adjust("899 seconds")
      assert.strictEqual(yield* refused, 1)
      assert.lengthOf(arrived, 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* get, "t3")
    }).pipe(Effect.provide(layer))
  })

  it.effect("is not cached, not even within the same millisecond", () => {
    const { arrived, layer } = over((nth) => Effect.succeed(nth < 3 ? { status: 400 } : issue(nth)))
    return Effect.gen(function*() {
      yield* Effect.flip(get)
      yield* Effect.flip(get)
      assert.strictEqual(yield* get, "t3")
      assert.lengthOf(arrived, 3)
    }).pipe(Effect.provide(layer))
  })
})

describe("invalidate", () => {
  it.effect("drops the refused token", () => {
    const { layer } = over((nth) => Effect.succeed(issue(nth)))
    return Effect.gen(function*() {
      assert.strictEqual(yield* get, "t1")
      yield* invalidate("t1")
      assert.strictEqual(yield* get, "t2")
    }).pipe(Effect.provide(layer))
  })

  it.effect("keeps a newer token", () => {
    const { arrived, layer } = over((nth) => Effect.succeed(issue(nth)))
    return Effect.gen(function*() {
      yield* get
      yield* invalidate("t1")
      yield* get
      for (const refused of ["t1", "another"]) {
        yield* TestClock.adjust("31 seconds") // a refused token may be dropped again
        yield* invalidate(refused)
        assert.strictEqual(yield* get, "t2")
      }
      assert.lengthOf(arrived, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("by any number of callers with the same refused token makes one request", () => {
    const { arrived, layer } = over((nth) => Effect.as(Effect.yieldNow(), issue(nth)))
    return Effect.gen(function*() {
      yield* get
      const tokens = yield* Effect.all(
        Array.from({ length: 100 }, () => Effect.zipRight(invalidate("t1"), get)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(tokens), new Set(["t2"]))
      assert.lengthOf(arrived, 2)
    }).pipe(Effect.provide(layer))
  })

  it.scoped("does nothing while no token is cached and while the first request is under way", () =>
    Effect.gen(function*() {
      const { requests, get, invalidate, succeed } = yield* manual
      yield* invalidate("t1")
      const caller = yield* Effect.fork(get)
      yield* breathe
      yield* invalidate("t0")
      yield* succeed(1, "t1")
      assert.strictEqual(yield* Fiber.join(caller), "t1")
      assert.strictEqual(yield* get, "t1")
      assert.lengthOf(requests, 1)
    }))

  it.scoped("during a renewal makes callers wait for that renewal", () =>
    Effect.gen(function*() {
      const { requests, get, invalidate, succeed } = yield* manual
      const first = yield* Effect.fork(get)
      yield* breathe
      yield* succeed(1, "t1", "100 seconds")
      yield* Fiber.join(first)
      yield* TestClock.adjust("80 seconds")
      yield* get
      yield* invalidate("t1")
      const caller = yield* Effect.fork(get)
      yield* breathe
      assert.lengthOf(requests, 2)
      yield* succeed(2, "t2", "100 seconds")
      assert.strictEqual(yield* Fiber.join(caller), "t2")
    }))
})

it.effect("a request runs with the settings of the layer, not with those of its first caller", () => {
  const setting = FiberRef.unsafeMake("the layer's")
  const seen: Array<string> = []
  const { layer } = over((nth) =>
    Effect.map(FiberRef.get(setting), (value) => {
      seen.push(value)
      return issue(nth, { expires_in: 1000 })
    })
  )
  return Effect.gen(function*() {
    yield* Effect.locally(get, setting, "the caller's")
    assert.deepStrictEqual(seen, ["the layer's"])
  }).pipe(Effect.provide(layer))
})

describe("a token requested while the machine slept", () => {
  /** Gives the token of a second call if the machine slept during the first token request. */
  const tokenAfter = (sleep: number) =>
    Effect.gen(function*() {
      const clock = yield* Effect.clock
      let [timeOfDay, requests] = [1_700_000_000_000, 0]
      const sleepy = {
        ...clock,
        unsafeCurrentTimeMillis: () => timeOfDay,
        unsafeCurrentTimeNanos: () => 0n
      } as Clock.Clock // sound: a clock is an object of functions
      return yield* Effect.withClock(
        Effect.gen(function*() {
          const tokens = yield* TokenProvider.make(Effect.sync(() => {
            requests++
            if (requests === 1) timeOfDay += sleep
            return { token: Redacted.make(`t${requests}`), lifetime: Duration.hours(1) }
          }))
          yield* tokens.get
          return Redacted.value(yield* tokens.get)
        }),
        sleepy
      )
    }).pipe(Effect.scoped)

  it.effect("counts as older: the monotonic clock may have stopped", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* tokenAfter(3_600_000), "t2")
      assert.strictEqual(yield* tokenAfter(60_000), "t1")
    }))
})
