/** Pulls of streams: how they end, and what they tell of failures. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { emit, fromEmitter } from "../../src/internal/runtime/streams/emitter.js"
import { mapParts, toIterable } from "../../src/internal/runtime/streams/parts.js"
import { failureOf, fromPull, pull } from "../../src/internal/runtime/streams/pulls.js"
import { makeQueue } from "../../src/internal/runtime/streams/queues.js"

/** The failure of a stream that is pulled to its end. */
const failureAtEnd = <E>(stream: Stream.Stream<number, E>) =>
  Effect.scoped(Effect.gen(function*() {
    const next = yield* pull(stream)
    return failureOf(yield* Effect.flip(Effect.sandbox(Effect.forever(next))))
  }))

/** What a cause holds. */
const contents = <E>(cause: Cause.Cause<E> | undefined) =>
  cause && { failures: [...Cause.failures(cause)], defects: [...Cause.defects(cause)] }

describe("the failure of a pull", () => {
  it.effect("is none at the end of a stream", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* failureAtEnd(Stream.make(1, 2)))
    }))

  it.effect("is that of the stream", () =>
    Effect.gen(function*() {
      const failure = yield* failureAtEnd(Stream.concat(Stream.make(1), Stream.fail("broken")))
      assert.deepStrictEqual(contents(failure), { failures: ["broken"], defects: [] })
    }))

  it("keeps a failure and defects that come together, and the defect that comes with the end", () => {
    const [end, failure, defect] = [Cause.fail(Option.none()), Cause.fail(Option.some("broken")), Cause.die("a defect")]
    const both = failureOf<string>(Cause.sequential(failure, defect))
    assert.deepStrictEqual(contents(both), { failures: ["broken"], defects: ["a defect"] })
    assert.deepStrictEqual(contents(failureOf(Cause.sequential(end, defect))), { failures: [], defects: ["a defect"] })
  })

  it("is an interruption if there is nothing else", () => {
    const interrupted = Effect.runSyncExit(Effect.interrupt)
    const cause = interrupted._tag === "Failure" ? interrupted.cause : Cause.empty
    assert.isTrue(Cause.isInterruptedOnly(failureOf(cause) ?? Cause.fail("none")))
  })
})

/** The failure and the defect of a stream, which come together. */
const both = Cause.sequential(Cause.fail("broken"), Cause.die("a defect"))

describe("a failure that comes with a defect", () => {
  const streams: ReadonlyArray<readonly [name: string, stream: Effect.Effect<Stream.Stream<number, string>>]> = [
    ["a pull", Effect.succeed(fromPull(Effect.failCause(Cause.map(both, Option.some))))],
    [
      "a queue",
      Effect.gen(function*() {
        const queue = yield* makeQueue<number, string>(2)
        yield* queue.end(both)
        return queue.stream
      })
    ],
    ["an emitter", Effect.succeed(fromEmitter(Effect.void, () => Effect.failCause(both)))],
    [
      "an emitter after a part",
      Effect.succeed(fromEmitter(Effect.void, () => Effect.succeed({ items: [1], next: Effect.failCause(both) })))
    ]
  ]
  for (const [name, stream] of streams) {
    it.effect(`stays a failure of the stream: ${name}`, () =>
      Effect.gen(function*() {
        const cause = yield* Effect.flip(Effect.sandbox(Stream.runDrain(yield* stream)))
        assert.deepStrictEqual(contents(cause)?.failures, ["broken"])
      }))
  }

  it.effect("does not end a stream that has none", () =>
    Effect.gen(function*() {
      const items = yield* Stream.runCollect(fromEmitter(Effect.void, () => emit([1, 2])))
      assert.deepStrictEqual([...items], [1, 2])
    }))
})

describe("a stream", () => {
  const failing = Stream.concat(Stream.make(1, 2), Stream.fail("broken"))

  it.effect("is transformed part by part", () =>
    Effect.gen(function*() {
      const parts: Array<ReadonlyArray<number>> = []
      const doubled = mapParts(Stream.rechunk(Stream.make(1, 2, 3), 2), (items) =>
        Effect.sync(() => {
          parts.push([...items])
          return items.flatMap((item) => [item, item])
        }))
      assert.deepStrictEqual([...(yield* Stream.runCollect(doubled))], [1, 1, 2, 2, 3, 3])
      assert.deepStrictEqual(parts, [[1, 2], [3]])
    }))

  it.effect("that is transformed fails like its source, and like the transformation", () =>
    Effect.gen(function*() {
      const same = mapParts(failing, Effect.succeed)
      assert.strictEqual(yield* Effect.flip(Stream.runDrain(same)), "broken")
      const refused = mapParts(failing, () => Effect.fail("refused"))
      assert.strictEqual(yield* Effect.flip(Stream.runDrain(refused)), "refused")
    }))

  const read = async (items: AsyncIterable<number>) => {
    const all: Array<number> = []
    for await (const item of items) all.push(item)
    return all
  }

  it.effect("is read outside of fibers", () =>
    Effect.gen(function*() {
      const iterable = yield* toIterable(Stream.make(1, 2, 3))
      assert.deepStrictEqual(yield* Effect.promise(() => read(iterable)), [1, 2, 3])
    }))
})
