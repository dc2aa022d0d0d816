import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { makeBatch } from "../../src/cluster/batch.js"

interface Request {
  readonly key: string
  readonly isRead?: boolean
}

/** A batcher whose batches end when the test says so. */
const setUp = (limit = 3) =>
  Effect.gen(function*() {
    const batches: Array<{ readonly keys: string; readonly end: Deferred.Deferred<void, string> }> = []
    const scope = yield* Scope.make()
    const run = yield* Scope.extend(
      makeBatch<Request, string, string>({
        run: (requests) =>
          Effect.gen(function*() {
            const end = yield* Deferred.make<void, string>()
            batches.push({ keys: requests.map(({ key }) => key).join(""), end })
            yield* Deferred.await(end)
            return requests.map(({ key }) => key.toUpperCase())
          }),
        keyOf: ({ key }) => key,
        isRead: ({ isRead = false }) => isRead,
        isOfOneRequest: (error) => error === "bad request",
        limit,
        closed: "closed"
      }),
      scope
    )
    const settled = Effect.repeatN(Effect.yieldNow(), 20)
    const request = (key: string, isRead = false) => Effect.zipLeft(Effect.fork(run({ key, isRead })), settled)
    return {
      batches,
      close: Scope.close(scope, Exit.void),
      keys: () => batches.map(({ keys }) => keys),
      request,
      run,
      settled
    }
  })

describe("a batch", () => {
  it.effect("collects requests while another one is under way, in their order, up to the limit", () =>
    Effect.gen(function*() {
      const { batches, keys, request } = yield* setUp()
      const fibers = yield* Effect.forEach(["a", "b", "c", "d", "e"], (key) => request(key))
      assert.deepStrictEqual(keys(), ["a"])
      for (let nth = 0; nth < 3; nth++) {
        yield* Effect.repeatN(Effect.yieldNow(), 20)
        yield* Deferred.succeed(batches[nth]!.end, undefined)
      }
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), ["A", "B", "C", "D", "E"])
      assert.deepStrictEqual(keys(), ["a", "bcd", "e"])
    }))

  it.effect("does not read or write what it writes", () =>
    Effect.gen(function*() {
      const { batches, keys, request, settled } = yield* setUp(10)
      yield* request("x")
      for (const [key, isRead] of [["a", true], ["a", true], ["b", false], ["a", false], ["a", true]] as const) {
        yield* request(key, isRead)
      }
      for (let nth = 0; nth < 4; nth++) {
        yield* Deferred.succeed(batches[nth]!.end, undefined)
        yield* settled
      }
      assert.deepStrictEqual(keys(), ["x", "aab", "a", "a"])
    }))

  it.effect("that fails fails each of its requests, and no other", () =>
    Effect.gen(function*() {
      const { batches, request, settled } = yield* setUp()
      const [a, b, c] = yield* Effect.all([request("a"), request("b"), request("c")])
      yield* Deferred.succeed(batches[0]!.end, undefined)
      yield* settled
      yield* Deferred.fail(batches[1]!.end, "down")
      yield* settled
      assert.strictEqual(yield* Fiber.join(a), "A")
      for (const fiber of [b, c]) assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), "down")
      const d = yield* request("d")
      yield* Deferred.succeed(batches[2]!.end, undefined)
      assert.strictEqual(yield* Fiber.join(d), "D")
    }))

  it.effect("that fails because of one request fails only that one", () =>
    Effect.gen(function*() {
      const { batches, keys, request, settled } = yield* setUp()
      const [a, b, c] = yield* Effect.all([request("a"), request("b"), request("c")])
      yield* Deferred.succeed(batches[0]!.end, undefined)
      yield* settled
      yield* Deferred.fail(batches[1]!.end, "bad request")
      yield* settled
      yield* Deferred.fail(batches[2]!.end, "bad request")
      yield* settled
      yield* Deferred.succeed(batches[3]!.end, undefined)
      assert.strictEqual(yield* Fiber.join(a), "A")
      assert.strictEqual(yield* Effect.flip(Fiber.join(b)), "bad request")
      assert.strictEqual(yield* Fiber.join(c), "C")
      assert.deepStrictEqual(keys(), ["a", "bc", "b", "c"])
    }))

  it.effect("goes on without callers that are interrupted, and drops what has not begun", () =>
    Effect.gen(function*() {
      const { batches, keys, request, settled } = yield* setUp()
      const [a, b, c] = yield* Effect.all([request("a"), request("b"), request("c")])
      yield* Fiber.interrupt(a)
      yield* Fiber.interrupt(b)
      assert.deepStrictEqual(keys(), ["a"], "the batch of an interrupted caller goes on")
      yield* Deferred.succeed(batches[0]!.end, undefined)
      yield* settled
      yield* Deferred.succeed(batches[1]!.end, undefined)
      assert.strictEqual(yield* Fiber.join(c), "C")
      assert.deepStrictEqual(keys(), ["a", "c"])
    }))

  it.effect("fails all requests when its scope closes, and those after that", () =>
    Effect.gen(function*() {
      const { close, request, run } = yield* setUp()
      const fibers = yield* Effect.all([request("a"), request("b")])
      yield* close
      for (const fiber of fibers) assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), "closed")
      assert.strictEqual(yield* Effect.flip(run({ key: "c" })), "closed")
    }))

  it.effect("closes also where it was made in a region that cannot be interrupted", () =>
    Effect.gen(function*() {
      const { close, request } = yield* Effect.uninterruptible(setUp())
      const fiber = yield* request("a")
      yield* close
      assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), "closed")
    }))
})
