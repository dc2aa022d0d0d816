/** Tests of the lines of server-sent events: how those of one event are joined, and how many characters they may have. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Schema, Stream } from "effect"
import { RateLimited } from "../../../src/Errors.js"
import { decode } from "../../../src/internal/http/media/eventStream.js"
import * as Operation from "../../../src/Operation.js"

const { endpoint } = Operation.make("subscribe", () => ({
  method: "GET",
  path: "/events",
  scope: "read:events",
  idempotent: true,
  error: [RateLimited],
  events: Schema.Unknown
}))

/** The events in these pieces. */
const read = (...pieces: ReadonlyArray<string>) => {
  const bytes = Stream.fromIterable(pieces.map((piece) => new TextEncoder().encode(piece)))
  return Effect.map(
    Stream.runCollect(decode(endpoint, "https://tenant.example.com", bytes, (text) => text)),
    (events): ReadonlyArray<unknown> => Chunk.toReadonlyArray(events)
  )
}

describe("the lines of an event", () => {
  it.effect.each(
    [
      ["data: a\ndata: b\n\n", "a\nb"],
      ["data: a\ndata\ndata:\n: comment\ndata:  b\n\n", "a\n\n\n b"],
      ["data\r\ndata\r\n\r\n", "\n"]
    ] as const
  )("are joined by line breaks: %j", ([text, data]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* read(text), [{ data }])
    }))

  const limit = 16 * 1024 * 1024

  it.effect("may have 16 MiB without their line breaks", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* read(`data: ${"x".repeat(limit - 7)}\r`, "y"), [])
    }))

  it.effect("may not have more within one piece", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(read(`data: 1\n${"x".repeat(limit)}`))
      assert.strictEqual(error.message, "subscribe: status 200 from tenant.example.com: an event is too long")
    }))
})
