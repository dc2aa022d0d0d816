/** The text of server-sent events: its lines, however they end and are cut, its limits, and the data in it. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Option, Schedule, Schema, Stream, TestClock } from "effect"
import { vi } from "vitest"
import type { Any } from "../../../src/Endpoint.js"
import { RateLimited } from "../../../src/Errors.js"
import { decode } from "../../../src/internal/http/media/eventStream.js"
import * as Operation from "../../../src/Operation.js"

const request = {
  method: "GET",
  path: "/events",
  scope: "read:events",
  idempotent: true,
  error: [RateLimited]
} as const
const { endpoint: ofAnything } = Operation.make("subscribe", () => ({ ...request, events: Schema.Unknown }))
const { endpoint: ofNumbers } = Operation.make("subscribe", () => ({
  ...request,
  events: Schema.Struct({ fields: Schema.Record({ key: Schema.String, value: Schema.Number }) })
}))

const tenant = "https://tenant.example.com/api/v2"
const bytesOf = (text: string) => new TextEncoder().encode(text)
const hide = (text: string) => text.replaceAll("secret", "…")

/** The events in these pieces. */
const read = (pieces: ReadonlyArray<Uint8Array>, endpoint: Any = ofAnything) =>
  Effect.map(
    Stream.runCollect(decode(endpoint, tenant, Stream.fromIterable(pieces), hide)),
    (events): ReadonlyArray<unknown> => Chunk.toReadonlyArray(events)
  )

const readText = (text: string, endpoint: Any = ofAnything) => read([bytesOf(text)], endpoint)

describe("a line that comes in many pieces", () => {
  it.effect("is looked at as often as it ends, not with each piece", () =>
    Effect.gen(function*() {
      const endsWith = String.prototype.endsWith
      let looked = 0
      const spy = vi.spyOn(String.prototype, "endsWith").mockImplementation(function(this: string, ...args) {
        if (args[0] === "\r") looked += this.length
        return endsWith.apply(this, args)
      })
      const piece = "x".repeat(1000)
      const pieces = ["data: ", ...Array.from({ length: 1000 }, () => piece), "\n\n"].map(bytesOf)
      const events = yield* read(pieces)
      spy.mockRestore()
      assert.deepStrictEqual(events, [{ data: piece.repeat(1000) }])
      assert.isAtMost(looked, 1_100_000)
    }))
})

describe("server-sent events", () => {
  it.effect.each(
    [
      ["with data", "data: 1\n\n", [{ data: 1 }]],
      ["without a space", "data:1\n\n", [{ data: 1 }]],
      ["with a second space, which is part of the data", "data:  x\n\n", [{ data: " x" }]],
      ["with data in several lines", "data: {\ndata: \"a\": 1\ndata: }\n\n", [{ data: { a: 1 } }]],
      ["with data that is no JSON", "data: a: b\n\n", [{ data: "a: b" }]],
      ["with empty data", "data\n\ndata:\n\n", [{ data: "" }, { data: "" }]],
      ["with a kind, which is of one event", "event: made\ndata: 1\n\ndata: 2\n\n", [
        { event: "made", data: 1 },
        { data: 2 }
      ]],
      ["with an empty kind", "event\ndata: 1\n\n", [{ data: 1 }]],
      ["with an id, which stays", "id: a\ndata: 1\n\ndata: 2\n\nid\ndata: 3\n\n", [
        { id: "a", data: 1 },
        { id: "a", data: 2 },
        { id: "", data: 3 }
      ]],
      ["with an id that is none", "id: a\u0000\ndata: 1\n\n", [{ data: 1 }]],
      ["without data are none", "event: made\nid: a\n\ndata: 1\n\n", [{ id: "a", data: 1 }]],
      ["with comments and other names", ": comment\nretry: 5\nother: x\ndata: 1\n\n:\n\n", [{ data: 1 }]],
      ["that do not end are none", "data: 1\n\ndata: 2\n", [{ data: 1 }]],
      ["after a byte order mark", "\uFEFFdata: 1\n\n", [{ data: 1 }]]
    ] as const
  )("%s", ([, text, events]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* readText(text), events)
      const bytes = bytesOf(text)
      assert.deepStrictEqual(yield* read(Array.from(bytes, (_, nth) => bytes.slice(nth, nth + 1))), events, "by byte")
    }))

  it.effect("are the same with each kind of line break, cut anywhere", () =>
    Effect.gen(function*() {
      const text = "id: 1\ndata: é\n\n\n\ndata: 2\ndata: 3\n\nevent: x\ndata: 4\n\n"
      const events = yield* readText(text)
      assert.lengthOf(events, 3)
      for (const lineBreak of ["\n", "\r", "\r\n"]) {
        // What follows shows that the last line has ended: a carriage return may be half of a line break.
        const bytes = bytesOf(`${text.replaceAll("\n", lineBreak)}:`)
        for (let at = 0; at <= bytes.length; at++) {
          const pieces = [bytes.slice(0, at), new Uint8Array(), bytes.slice(at)]
          assert.deepStrictEqual(yield* read(pieces), events, `${JSON.stringify(lineBreak)} at ${at}`)
        }
      }
    }))

  it.effect("that are not UTF-8 are refused, and what came before is there", () =>
    Effect.gen(function*() {
      const bad = Uint8Array.from([...bytesOf("data: a"), 0xff, ...bytesOf("\n\n")])
      const bytes = Stream.make(bytesOf("data: \uFFFD\n\n"), bad)
      const before: Array<unknown> = []
      const error = yield* Effect.flip(
        Stream.runForEach(decode(ofAnything, tenant, bytes, hide), ({ data }) => Effect.sync(() => before.push(data)))
      )
      assert.deepInclude(error, { _tag: "UnexpectedResponse", reason: "encoding" })
      assert.deepStrictEqual(before, ["\uFFFD"])
    }))

  it.effect("are awaited for five minutes after the last byte, be it that of a comment", () =>
    Effect.gen(function*() {
      const beats = Stream.fromSchedule(Schedule.intersect(Schedule.spaced("4 minutes"), Schedule.recurs(3)))
      const bytes = Stream.concat(Stream.map(beats, () => bytesOf(": heartbeat\n")), Stream.never)
      const fiber = yield* Effect.fork(Effect.flip(Stream.runDrain(decode(ofAnything, tenant, bytes, hide))))
      yield* TestClock.adjust("16 minutes")
      assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "TransportError", outcome: "unknown", code: "TIMEOUT" })
    }))

  const limit = 16 * 1024 * 1024

  it.effect.each(
    [
      ["a line", [`data: ${"x".repeat(limit - 6)}`], ["y"]],
      ["a line that begins in the same piece as another event", [`data: 1\n\n${"x".repeat(limit)}`], ["y"]],
      ["many lines", [`data: ${"x".repeat(limit - 10)}\n`, "data"], ["a"]],
      ["many lines that are whole", [`data: ${"x".repeat(limit - 10)}\n`], ["data:1\n"]]
    ] as const
  )("are refused if one is longer than 16 MiB: %s", ([, allowed, beyond]) =>
    Effect.gen(function*() {
      yield* read(allowed.map(bytesOf))
      const error = yield* Effect.flip(read([...allowed, ...beyond].map(bytesOf)))
      assert.deepInclude(error, {
        _tag: "UnexpectedResponse",
        operation: "subscribe",
        status: 200,
        reason: "size",
        message: "subscribe: status 200 from tenant.example.com: an event is too long",
        shape: "server-sent events"
      })
      assert.notProperty(error, "path")
    }))

  it.effect("of usual length may be many", () =>
    Effect.gen(function*() {
      const piece = bytesOf(`data: "${"x".repeat(limit / 4)}"\n\n`)
      assert.lengthOf(yield* read(Array.from({ length: 6 }, () => piece)), 6)
    }))

  it.effect("are refused if their data does not match, without the data, and without what is secret", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* readText("data: {\"fields\":{\"a\":1}}\n\n", ofNumbers), [
        { data: { fields: { a: 1 } } }
      ])
      const schema = yield* Effect.flip(readText("data: {\"fields\":{\"secret\":\"hidden\"}}\n\n", ofNumbers))
      assert.deepInclude(schema, {
        reason: "schema",
        path: "fields.…",
        message:
          "subscribe: status 200 from tenant.example.com: unexpected response body at fields.…: expected a number"
      })
      const json = yield* Effect.flip(readText("data: {hidden\n\n", ofNumbers))
      assert.deepInclude(json, {
        reason: "json",
        message: "subscribe: status 200 from tenant.example.com: the data of an event is not JSON"
      })
      assert.notProperty(json, "path")
    }))

  it.effect("fail if the connection breaks, after those that came before", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const bytes = Stream.concat(Stream.make(bytesOf("data: 1\n\ndata: 2")), Stream.fail("broken"))
      const error = yield* Effect.flip(
        Stream.runForEach(
          decode(ofAnything, tenant, bytes, hide),
          ({ data }) => Effect.sync(() => void seen.push(data))
        )
      )
      assert.deepStrictEqual(seen, [1])
      assert.deepInclude(error, {
        _tag: "TransportError",
        operation: "subscribe",
        outcome: "unknown",
        message: "subscribe: the connection to tenant.example.com broke while events were read"
      })
    }))
})
