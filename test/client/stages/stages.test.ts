/** Each stage of a call alone, around a `next` of three lines. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted, TestClock } from "effect"
import { TransportError } from "../../../src/Errors.js"
import { authorized, readerOf, withToken } from "../../../src/internal/call/authorized.js"
import type { AuthorizedResponse, RunningCall, Send } from "../../../src/internal/call/call.js"
import { Circuit } from "../../../src/internal/call/circuit.js"
import { guarded, unlessOpen } from "../../../src/internal/call/guarded.js"
import { limited } from "../../../src/internal/call/limited.js"
import { retried } from "../../../src/internal/call/retried.js"
import { RetryBudget } from "../../../src/internal/call/retryBudget.js"
import { staged } from "../../../src/internal/call/staged.js"
import { traced } from "../../../src/internal/call/transport.js"
import { wait } from "../../../src/internal/call/wait.js"
import * as RateLimiter from "../../../src/RateLimiter.js"
import * as Permits from "../../support/permits.js"
import { answer, started } from "../../support/stages.js"

/** A `next` that gives these statuses, or fails, one after the other, and the calls that it got. */
const next = (...results: ReadonlyArray<number | TransportError>) => {
  const calls: Array<RunningCall> = []
  const send: Send<RunningCall, AuthorizedResponse> = (call) => {
    const result = results[calls.push(call) - 1] ?? 204
    return typeof result === "number" ? Effect.succeed({ ...answer, status: result }) : Effect.fail(result)
  }
  return { calls, send }
}

const lost = new TransportError({ operation: "o", message: "lost", outcome: "unknown" })
const unsent = new TransportError({ operation: "o", message: "unsent", outcome: "not-sent" })

/** A provider of tokens t1, t2 and so on: another one after each invalidation. */
const tokens = () => {
  let nth = 1
  return { get: Effect.sync(() => Redacted.make(`t${nth}`)), invalidate: () => Effect.sync(() => void nth++) }
}

describe("traced", () => {
  it.effect("sends each request in a span of its own", () =>
    Effect.gen(function*() {
      const spans: Array<string> = []
      const send: Send<RunningCall, AuthorizedResponse> = () =>
        Effect.as(Effect.tap(Effect.orDie(Effect.currentSpan), ({ name }) => void spans.push(name)), answer)
      yield* Effect.withSpan(Effect.ignore(started(traced(send))), "outer")
      assert.deepStrictEqual(spans, ["outer"])
    }))
})

describe("withToken", () => {
  const first = Redacted.make("first")

  for (const [waited, expected] of [[0, "Bearer first"], [1000, "Bearer t1"]] as const) {
    it.effect(`sends ${expected} after a wait of ${waited} ms`, () =>
      Effect.gen(function*() {
        const { calls, send } = next()
        const notes = { token: first, authorization: "Bearer first", waited }
        const { token } = yield* started(withToken(readerOf(tokens()))(send), notes)
        assert.deepStrictEqual([calls[0]?.notes.authorization, Redacted.value(token)], [expected, expected.slice(7)])
      }))
  }
})

describe("authorized", () => {
  it.effect("sends a call again with another token if its own is refused", () =>
    Effect.gen(function*() {
      const { send } = next(401)
      const sent: Array<string> = []
      const noted: typeof send = (call) => {
        sent.push(call.notes.authorization)
        return Effect.map(send(call), (response) => ({ ...response, token: call.notes.token ?? response.token }))
      }
      const given = tokens()
      yield* started(authorized(readerOf(given), given)(noted))
      assert.deepStrictEqual(sent, ["Bearer t1", "Bearer t2"])
    }))
})

describe("limited", () => {
  it.effect("does not count its wait towards the total time", () =>
    Effect.gen(function*() {
      const limiter = RateLimiter.make(() => Effect.delay("5 seconds"))
      const { calls, send } = next()
      const fiber = yield* Effect.fork(started(limited(limiter)(send)))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(calls.map(({ notes }) => [notes.waited, notes.startedAt]), [[5000, 5000]])
    }))

  for (
    const [hasBegun, title] of [[false, "before the request is CLOSED"], [true, "of the request stays one"]] as const
  ) {
    it.scoped(`an interruption ${title} if the client has closed meanwhile`, () =>
      Effect.gen(function*() {
        const context = yield* Layer.build(RateLimiter.layerFixed({ limit: 1, interval: "1 minute" }))
        let isOpen = true
        const send = limited(Context.get(context, RateLimiter.RateLimiter))(({ notes }) => {
          notes.hasBegun = hasBegun
          isOpen = false
          return Effect.interrupt
        })
        const exit = yield* Effect.exit(
          started((call) => send({ ...call, timeouts: { ...call.timeouts, isOpen: () => isOpen } }))
        )
        assert.strictEqual(Exit.isInterrupted(exit), hasBegun)
      }))
  }

  it.effect("lets a limiter of the user's own learn from an interrupted call", () =>
    Effect.gen(function*() {
      const ends: Array<string> = []
      const end = (name: string) => Effect.sync(() => void ends.push(name))
      const permit = { settle: () => end("settled"), giveBack: end("given back") }
      const send = limited(Permits.limiterOf(() => Effect.succeed(permit)))((call) => wait(call, Effect.never))
      const fiber = yield* Effect.fork(started(send))
      yield* TestClock.adjust(0)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(ends, ["settled"])
    }))
})

describe("guarded", () => {
  it.effect("sends nothing once the circuit has opened, also not what has waited since before that", () =>
    Effect.gen(function*() {
      const circuit = new Circuit({ failures: 1 })
      const { calls, send } = next(lost)
      const guard = guarded({ budget: undefined, circuit })
      const checked = unlessOpen<AuthorizedResponse>(circuit)(send)
      const slow = guard((call) => Effect.flatMap(wait(call, Effect.sleep("500 millis")), () => checked(call)))
      const waiting = yield* Effect.fork(Effect.flip(started(slow)))
      yield* TestClock.adjust(0)
      assert.strictEqual(yield* Effect.flip(started(guard(send))), lost)
      yield* TestClock.adjust("499 millis")
      assert.deepInclude(yield* Effect.flip(started(guard(send))), { code: "CIRCUIT_OPEN", outcome: "not-sent" })
      assert.lengthOf(calls, 1)
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(waiting)
    }))
})

describe("retried", () => {
  const run = (send: Send<RunningCall, AuthorizedResponse>, budget?: RetryBudget) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.exit(started(retried(budget)(send))))
      yield* TestClock.adjust("1 minute")
      return yield* yield* Fiber.join(fiber)
    })

  it.effect("numbers its attempts, and gives the first final result", () =>
    Effect.gen(function*() {
      const { calls, send } = next(503, lost, 204, 500)
      assert.strictEqual((yield* run(send)).status, 204)
      assert.deepStrictEqual(calls.map(({ attempt }) => attempt), [1, 2, 3])
    }))

  it.effect("keeps the result of the last attempt that may have been carried out", () =>
    Effect.gen(function*() {
      const { send } = next(lost, unsent, unsent, unsent)
      assert.strictEqual(yield* Effect.flip(run(send)), lost)
    }))

  it.effect("gives its result if the budget has no retry left", () =>
    Effect.gen(function*() {
      const budget = new RetryBudget(0)
      for (let nth = 0; nth < 50; nth++) budget.attemptEnded(true)
      while (budget.take(0));
      const { calls, send } = next(503, 503, 503, 503)
      assert.strictEqual((yield* run(send, budget)).status, 503)
      assert.lengthOf(calls, 1)
    }))
})

describe("staged", () => {
  it.effect("wraps the first stage around the others, and passes changed headers on, but nothing else", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const { calls, send } = next()
      const stage = (name: string) =>
        staged([
          (inner) => (call) =>
            Effect.zipRight(
              Effect.sync(() => seen.push(name)),
              inner({ ...call, url: "https://elsewhere.example.com", headers: { ...call.headers, "x-name": name } })
            ),
          (inner) => (call) => Effect.tap(inner(call), () => Effect.sync(() => seen.push(call.headers["x-name"] ?? "")))
        ])
      yield* started(stage("one")(send))
      assert.deepStrictEqual(seen, ["one", "one"])
      assert.deepStrictEqual(calls.map(({ headers }) => headers["x-name"]), ["one"])
      assert.notInclude(calls[0]?.url, "elsewhere")
    }))

  it.effect("can fail in place of the request, and give another response", () =>
    Effect.gen(function*() {
      const { calls, send } = next(lost)
      const kill = staged([() => () => Effect.fail(unsent)])
      assert.strictEqual(yield* Effect.flip(started(kill(send))), unsent)
      assert.lengthOf(calls, 0)
      const rescue = staged([(inner) => (call) => Effect.orElseSucceed(inner(call), () => answer)])
      assert.strictEqual((yield* started(rescue(send))).status, 204)
    }))

  it.effect("lets a stage be interrupted while it waits", () =>
    Effect.gen(function*() {
      const { calls, send } = next()
      const fiber = yield* Effect.fork(started(staged([() => () => Effect.never])(send)))
      yield* TestClock.adjust(0)
      yield* Fiber.interrupt(fiber)
      assert.lengthOf(calls, 0)
    }))
})
