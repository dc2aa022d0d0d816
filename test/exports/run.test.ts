/** Exports as streams: waits, rows, bad rows, progress, and how much is read ahead. */
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Duration, Effect, Either, Fiber, Redacted, Schema, Stream, TestClock } from "effect"
import { inspect } from "node:util"
import { Errors, Exports, getJob } from "../../src/index.js"
import { makeCsvParser } from "../../src/internal/exports/csv.js"
import { nextWait, secondsLeft } from "../../src/internal/exports/job.js"
import { makeLineDecoder, makeRowCounter } from "../../src/internal/exports/lines.js"
import { makeNdjsonParser } from "../../src/internal/exports/ndjson.js"
import { makeDecoder, maxRowsAtOnce, type RowResult } from "../../src/internal/exports/rows.js"
import * as Testing from "../../src/Testing.js"
import { silent } from "../support/client.js"
import { readRows } from "../support/rows.js"
import { csv, fastClock, gzip, jobId, jobs, ndjson, type Respond, send, serve, users } from "../support/storage.js"

const sending = (content: string | Uint8Array): Respond => (to, request) => send(to, request, gzip(content))

/** Reads an export of this content to its end. */
const read = <A = Exports.Row, I = unknown>(
  content: string | Uint8Array,
  format: "json" | "csv" = "json",
  options: Exports.Options<A, I> = {}
) =>
  Effect.gen(function*() {
    const { origin } = yield* serve(sending(content))
    const { layer } = jobs(origin, format)
    const all = yield* Stream.runCollect(Exports.run({ format }, options)).pipe(
      Effect.provide([layer, FetchHttpClient.layer]),
      Effect.withClock(fastClock())
    )
    return Chunk.toReadonlyArray(all)
  }).pipe(Effect.scoped)

/** The rows, and for bad ones their line, path and text. */
const outline = (rows: ReadonlyArray<Either.Either<unknown, Exports.UndecodableRow>>) =>
  rows.map(Either.match({
    onLeft: ({ line, message, path, raw }) => `${line} ${path} ${message} ${Redacted.value(raw)}`,
    onRight: (row) => JSON.stringify(row)
  }))

describe("rows of NDJSON", () => {
  it.live("are users, and what is no JSON object is a bad row in its place", () =>
    Effect.gen(function*() {
      const content =
        "\uFEFF{\"a\":1}\r\n\n  {\"a\":2}\n{\"a\":\n17\n[]\nnull\n{\"__proto__\":\"x\"}\n{\"a\":\"\\ud800\"}"
      assert.deepStrictEqual(outline(yield* read(content)), [
        "{\"a\":1}",
        "{\"a\":2}",
        "4  line 4: the line is not a JSON object {\"a\":",
        "5  line 5: the line is not a JSON object 17",
        "6  line 6: the line is not a JSON object []",
        "7  line 7: the line is not a JSON object null",
        "{\"__proto__\":\"x\"}",
        "{\"a\":\"\\ud800\"}"
      ])
    }))

  it.live("keep each digit of an integer, as a string where a number would round it", () =>
    Effect.gen(function*() {
      const rows = yield* read(
        "{\"id\":9007199254740993,\"n\":1}\n{\"ids\":[-9007199254740993],\"n\":9007199254740991}"
      )
      assert.deepStrictEqual(outline(rows), [
        "{\"id\":\"9007199254740993\",\"n\":1}",
        "{\"ids\":[\"-9007199254740993\"],\"n\":9007199254740991}"
      ])
    }))

  it.live("with a key that comes twice are bad, because one of its values would be lost", () =>
    Effect.gen(function*() {
      const repeated = [
        "{\"a\":1,\"b\":2,\"a\":3}",
        "{\"a\" :1, \"b\" :2, \"a\" :3}",
        "{\"a\" :1,\"b\":2,\"b\":3}",
        "{\"x\":[{\"y\":{\"a\":{},\"a\":[]}}],\"a\":1}",
        "{\"__proto__\":1,\"__proto__\":2}",
        "{\"a\":1,\"\\u0061\":2}"
      ]
      const message = "a key occurs twice in one object"
      assert.deepStrictEqual(
        outline(yield* read(repeated.join("\n"))),
        repeated.map((text, nth) => `${nth + 1}  line ${nth + 1}: ${message} ${text}`)
      )
      const others = [
        "{\"a\":{\"a\":{\"a\":[{\"a\":1},{\"a\":1}]}}}",
        "{\"a\":\"\\\":\",\"b\":\":\",\"c\":[\":\",\"\\\\\"],\"\\\":\":1}",
        "{\"a\":\"x\\\" :\",\"constructor\":\"\",\"toString\":null}"
      ]
      assert.deepStrictEqual(outline(yield* read(others.join("\n"))), others)
      const spaced = "{ \"a\" : 1 , \"b\"\t:\t\":\"\t}"
      assert.deepStrictEqual(outline(yield* read(spaced)), ["{\"a\":1,\"b\":\":\"}"])
      const deep = `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`
      assert.isTrue((yield* read(deep)).every(Either.isRight))
    }))

  it.live("that are not UTF-8 are bad, and only they", () =>
    Effect.gen(function*() {
      const content = Buffer.concat([
        Buffer.from("{\"a\":\"\uFFFD\"}\n{\"a\":\""),
        Buffer.from([0xff]),
        Buffer.from("\"}\n{\"a\":\"é\"}\n")
      ])
      assert.deepStrictEqual(outline(yield* read(content)), [
        "{\"a\":\"\uFFFD\"}",
        "2  line 2: the line is not valid UTF-8 {\"a\":\"\uFFFD\"}",
        "{\"a\":\"é\"}"
      ])
    }))

  it.live("that are too long are bad, and are not kept", () =>
    Effect.gen(function*() {
      const long = `{"a":"${"x".repeat(300_000)}"}`
      const rows = outline(yield* read(`{"a":1}\n${long}\n{"a":2}\n${long}`, "json", { maxRowSize: 100_000 }))
      assert.strictEqual(rows.length, 4)
      assert.strictEqual(rows[0], "{\"a\":1}")
      assert.match(rows[1] ?? "", /^2 {2}line 2: the line is too long \{"a":"x{1018}$/)
      assert.strictEqual(rows[2], "{\"a\":2}")
      assert.match(rows[3] ?? "", /^4 {2}line 4: the line is too long/)
    }))

  it.live("may have 512 KiB", () =>
    Effect.gen(function*() {
      const row = (length: number) => `{"a":"${"x".repeat(length - 8)}"}`
      const rows = yield* read(`${row(512 * 1024)}\n${row(512 * 1024 + 1)}\n`)
      assert.deepStrictEqual(rows.map(Either.isRight), [true, false])
    }))

  it.each(["json", "csv"] as const)("of %s are too long or not, wherever the storage's parts end", (format) => {
    const row = (length: number) =>
      format === "json" ? `{"a":"${"x".repeat(length - 8)}"}` : `${"x".repeat(length - 2)},y`
    const broken = format === "json" ? [] : [`"${"x\n".repeat(40)}",y`, `"${"x\n".repeat(60)}",y`]
    const rows = [row(20), row(100), row(101), row(20), ...broken, row(250), row(20)]
    const bytes = new TextEncoder().encode(["a,b", ...rows].slice(format === "csv" ? 0 : 1).join("\n"))
    const read = (size: number) => {
      const lines = makeLineDecoder(100)
      const decode = makeDecoder(undefined)
      const parser = format === "csv"
        ? makeCsvParser(decode, { undoGuard: false, maxLength: 100 })
        : makeNdjsonParser(decode)
      const taken: Array<RowResult<Exports.Row>> = []
      for (let at = 0; at < bytes.length; at += size) readRows(parser, lines.push(bytes.subarray(at, at + size)), taken)
      parser.end()
      readRows(parser, lines.end(), taken)
      return taken.map(Either.match({ onLeft: ({ message }) => message, onRight: (row) => JSON.stringify(row) }))
    }
    const whole = read(bytes.length)
    assert.strictEqual(whole.filter((row) => row.includes("too long")).length, format === "json" ? 2 : 3)
    assert.strictEqual(whole.filter((row) => row.startsWith("{")).length, format === "json" ? 4 : 5)
    for (const size of [1, 7, 50, 99, 100, 101, 150, 333]) assert.deepStrictEqual(read(size), whole, String(size))
  })

  it.live("are decoded by a schema; those that do not match say where", () =>
    Effect.gen(function*() {
      const schema = Schema.Struct({ at: Schema.DateFromString, n: Schema.optional(Schema.Number) })
      const rows = yield* read("{\"at\":\"2026-01-02\",\"b\":1}\n{\"at\":\"2026-01-02\",\"n\":\"secret\"}\n", "json", {
        schema
      })
      const [first, second] = rows
      assert.deepStrictEqual(first, Either.right({ at: new Date("2026-01-02") }))
      assert.isTrue(second !== undefined && Either.isLeft(second))
      assert.deepStrictEqual(outline(rows.slice(1)), [
        "2 n line 2, n: expected a number {\"at\":\"2026-01-02\",\"n\":\"secret\"}"
      ])
      assert.notInclude(String(second), "secret")
    }))

  it.live.each(["json", "csv"] as const)(
    "are read in small pieces, though all of %s are bad",
    (format) =>
      Effect.gen(function*() {
        const { origin } = yield* serve(
          sending(format === "json" ? "{x\n".repeat(9000) : `a,b\n${"x,\"y\n".repeat(9000)}`)
        )
        const { layer } = jobs(origin, format)
        let turn = 0
        const count = () => {
          turn++
          immediate = setImmediate(count)
        }
        let immediate = setImmediate(count)
        const rows: Array<number> = []
        yield* Exports.run({ format }).pipe(
          Stream.runForEachChunk((chunk) => Effect.sync(() => void (rows[turn] = (rows[turn] ?? 0) + chunk.length))),
          Effect.provide([layer, FetchHttpClient.layer]),
          Effect.withClock(fastClock()),
          Effect.ensuring(Effect.sync(() => clearImmediate(immediate)))
        )
        assert.strictEqual(rows.reduce((sum, read) => sum + read, 0), 9000)
        assert.isAtMost(Math.max(...rows.filter((read) => read > 0)), maxRowsAtOnce, "in one turn of the event loop")
      }).pipe(Effect.scoped)
  )

  it.scopedLive("before one at which the schema throws come first", () =>
    Effect.gen(function*() {
      const schema = Schema.declare((row: unknown): row is Exports.Row => {
        if (JSON.stringify(row) === "{\"n\":600}") throw new Error("mine")
        return true
      })
      const lines = Array.from({ length: 700 }, (_, n) => `{"n":${n}}\n`)
      const { origin } = yield* serve(sending(lines.join("")))
      const { layer } = jobs(origin, "json")
      const rows: Array<RowResult<Exports.Row>> = []
      const exit = yield* Exports.run({ format: "json" }, { schema }).pipe(
        Stream.runForEach((row) => Effect.sync(() => void rows.push(row))),
        Effect.exit,
        Effect.provide([layer, FetchHttpClient.layer]),
        Effect.withClock(fastClock())
      )
      assert.include(inspect(exit, { depth: 9 }), "mine")
      assert.deepStrictEqual(rows.at(-1), Either.right({ n: 599 }))
      assert.strictEqual(rows.length, 600)
    }))

  it.live("are a defect if the schema throws", () =>
    Effect.gen(function*() {
      const schema = Schema.declare((row: unknown): row is Exports.Row => {
        throw new Error(`mine: ${typeof row}`)
      })
      const exit = yield* Effect.exit(read("{\"a\":1}\n", "json", { schema }))
      assert.include(inspect(exit, { depth: 9 }), "mine")
    }))
})

describe("rows of CSV", () => {
  it.live("have the names of the header; the guard stays or goes", () =>
    Effect.gen(function*() {
      const content = csv(300)
      const guarded = yield* read(content, "csv")
      const plain = yield* read(content, "csv", { undoGuard: true })
      const [, expected] = users(2)
      assert.deepStrictEqual(
        guarded[1],
        Either.right({
          user_id: `'${expected?.user_id}`,
          email: `'${expected?.email}`,
          name: `'${expected?.name}`,
          logins_count: "1"
        })
      )
      assert.strictEqual(plain.length, 300)
      plain.forEach((row, nth) => {
        const { logins_count, ...rest } = users(300)[nth] ?? { logins_count: 0 }
        assert.deepStrictEqual(row, Either.right({ ...rest, logins_count: String(logins_count) }))
      })
    }), 30_000)

  it.live("may have quotes, newlines and commas in fields; a bad row ends with its line", () =>
    Effect.gen(function*() {
      const content =
        "id,\"text\"\r\n1,\"a \"\"b\"\",\r\nc\"\r\n2,plain\n\n3\n4,a\"b\n5,\"c\"d\n6,\"\"\n,x\n7,\"open\n8,y"
      assert.deepStrictEqual(outline(yield* read(content, "csv")), [
        "{\"id\":\"1\",\"text\":\"a \\\"b\\\",\\r\\nc\"}",
        "{\"id\":\"2\",\"text\":\"plain\"}",
        "6  line 6: expected 2 fields, not 1 3",
        "7  line 7: a double quote is out of place 4,a\"b",
        "8  line 8: a double quote is out of place 5,\"c\"d",
        "{\"id\":\"6\",\"text\":\"\"}",
        "{\"id\":\"\",\"text\":\"x\"}",
        "11  line 11: a double quote is not closed 7,\"open",
        "{\"id\":\"8\",\"text\":\"y\"}"
      ])
    }))

  it.live("may have any character of Unicode, as rows of NDJSON may", () =>
    Effect.gen(function*() {
      // The first and the last of each plane's part that begins with another surrogate, and what is next to them.
      const characters = [0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x103ff, 0x10400, 0x107ff, 0x10800, 0x10ffff]
      const expected = characters.map((code) => Either.right({ a: String.fromCodePoint(code) }))
      const lines = characters.map((code) => String.fromCodePoint(code))
      assert.deepStrictEqual(yield* read(["a", ...lines, ""].join("\n"), "csv"), expected)
      assert.deepStrictEqual(yield* read(lines.map((a) => JSON.stringify({ a })).join("\n")), expected)
    }))

  it.live("with one column may have empty values; otherwise an empty line is no row", () =>
    Effect.gen(function*() {
      const empty = "{\"a\":\"\"}"
      assert.deepStrictEqual(outline(yield* read("\na\n\nx\r\n\r\n", "csv")), [empty, "{\"a\":\"x\"}", empty])
      assert.deepStrictEqual(outline(yield* read("a,b\n\nx,y\n\n", "csv")), ["{\"a\":\"x\",\"b\":\"y\"}"])
      for (const [text, rows] of [["a\n\nx\n\n", 3], ["\"a,\"\n\nx\n", 2], ["a,b\n\nx,y\n\n", 1]] as const) {
        const counter = makeRowCounter("csv")
        for (const byte of new TextEncoder().encode(text)) counter.add(Uint8Array.of(byte))
        assert.strictEqual(counter.count(), rows, text)
      }
    }))

  it.live("are all bad if the header is", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(outline(yield* read("i\"d\n1\n", "csv")), [
        "1  line 1: a double quote is out of place i\"d",
        "2  line 2: the header row cannot be read 1"
      ])
    }))

  it.live("that are not UTF-8 or never end are bad, and only they", () =>
    Effect.gen(function*() {
      const content = Buffer.concat([
        Buffer.from("__proto__\n"),
        Buffer.from([0xff]),
        Buffer.from("\n\"'=1\"\n\"open\n2\n")
      ])
      const rows = yield* read(content, "csv", { undoGuard: true, maxRowSize: 9 })
      assert.deepStrictEqual(outline(rows), [
        "2  line 2: the line is not valid UTF-8 \uFFFD",
        "{\"__proto__\":\"=1\"}",
        "4  line 4: a double quote is not closed \"open",
        "{\"__proto__\":\"2\"}"
      ])
    }))

  it.live("are decoded by a schema", () =>
    Effect.gen(function*() {
      const schema = Schema.Struct({ n: Schema.NumberFromString.pipe(Schema.finite()) })
      const rows = yield* read("n\n1\nx\n", "csv", { schema })
      assert.deepStrictEqual(rows[0], Either.right({ n: 1 }))
      assert.match(outline(rows)[1] ?? "", /^3 n line 3, n: expected .* x$/)
    }))
})

describe("the wait for a job", () => {
  it("is half of the time that is left, from 1 s to 30 s, and grows without a change", () => {
    assert.strictEqual(nextWait(20, 1000, true), 10_000)
    assert.strictEqual(nextWait(0.5, 1000, true), 1000)
    assert.strictEqual(nextWait(10_000, 1000, true), 30_000)
    assert.strictEqual(nextWait(1, 8000, false), 12_000)
    assert.strictEqual(nextWait(undefined, 2000, true), 3000)
    assert.strictEqual(nextWait(undefined, 29_000, false), 30_000)
  })

  it("is estimated by the service's word, or by the part that is done", () => {
    const job = { id: "1", type: "users_export", status: "processing" }
    assert.strictEqual(secondsLeft({ ...job, time_left_seconds: 7, percentage_done: 50 }, 1000), 7)
    assert.strictEqual(secondsLeft({ ...job, percentage_done: 25 }, 10_000), 30)
    for (const percentage_done of [0, -1, 101]) {
      assert.isUndefined(secondsLeft({ ...job, percentage_done }, 10_000))
    }
    assert.isUndefined(secondsLeft(job, 10_000))
  })

  const processing = (percentage_done: number, time_left_seconds: number) =>
    Effect.succeed({ status: "processing", percentage_done, time_left_seconds })

  it.effect("takes few looks, also of an hour", () =>
    Effect.gen(function*() {
      const { layer, seen } = jobs("http://127.0.0.1:1", "json", (nth) =>
        nth < 200 ? processing(nth / 2, (200 - nth) * 18) : Effect.succeed({ status: "failed" }))
      const fiber = yield* Effect.fork(
        Effect.flip(Stream.runDrain(Exports.run({}))).pipe(Effect.provide([layer, FetchHttpClient.layer]))
      )
      yield* TestClock.adjust("1 hour")
      assert.isBelow(seen.looks.length, 130)
      yield* TestClock.adjust("1 hour")
      assert.propertyVal(yield* Fiber.join(fiber), "reason", "job-failed")
    }))

  it.effect("endures passing failures, but not for ever, and no lasting ones", () =>
    Effect.gen(function*() {
      const details = { operation: "getJob", message: "no" }
      const transport = new Errors.TransportError({ ...details, outcome: "unknown" })
      const unavailable = new Errors.UnexpectedResponse({ ...details, status: 503, reason: "status", shape: "" })
      const end = (look: (nth: number) => ReturnType<NonNullable<Parameters<typeof jobs>[2]>>) =>
        Effect.gen(function*() {
          const { layer, seen } = jobs("http://127.0.0.1:1", "json", look)
          const fiber = yield* Effect.fork(
            Effect.flip(Stream.runDrain(Exports.run({}))).pipe(Effect.provide([layer, FetchHttpClient.layer]))
          )
          yield* TestClock.adjust("10 minutes")
          return [(yield* Fiber.join(fiber))._tag, seen.looks.length]
        })
      const twice = yield* end((nth) =>
        nth < 2 ? Effect.fail(nth === 0 ? transport : unavailable) : Effect.succeed({ status: "failed" })
      )
      assert.deepStrictEqual(twice, ["ExportError", 3])
      assert.deepStrictEqual(yield* end(() => Effect.fail(transport)), ["TransportError", 5])
      assert.deepStrictEqual(yield* end(() => Effect.fail(new Errors.NotFound(details))), ["NotFound", 1])
    }))
})

describe("Exports.run", () => {
  it.live("goes on with a job by its id, tells it, and starts none", () =>
    Effect.gen(function*() {
      const { origin } = yield* serve(sending(ndjson(3)))
      const { layer, seen } = jobs(origin)
      const noted: Array<string> = []
      const onJob = (id: string) => Effect.sync(() => void noted.push(id))
      const rows = yield* Stream.runCount(Exports.run({}, { job: "job_5", onJob })).pipe(
        Effect.provide([layer, FetchHttpClient.layer])
      )
      assert.strictEqual(rows, 3)
      assert.deepStrictEqual([seen.started, seen.looks, noted], [0, ["job_5"], ["job_5"]])
    }).pipe(Effect.scoped))

  it.live("reports its progress", () =>
    Effect.gen(function*() {
      const content = `${ndjson(1000)}bad\n`
      const { origin } = yield* serve((to, request) => send(to, request, gzip(content), { partSize: 30_000 }))
      const { layer } = jobs(origin, "json", (nth) =>
        Effect.succeed(nth === 0 ? { status: "processing", percentage_done: 50, time_left_seconds: 4 } : {}))
      const progress = yield* Exports.makeProgress
      const seen: Array<Exports.Progress> = []
      yield* Effect.forkScoped(Stream.runForEach(progress.changes, (now) =>
        Effect.sync(() =>
          void seen.push(now)
        )))
      yield* Effect.yieldNow()
      yield* Stream.runDrain(Exports.run({}, { progress })).pipe(
        Effect.provide([layer, FetchHttpClient.layer]),
        Effect.withClock(fastClock())
      )
      const size = gzip(content).length
      const { elapsed, ...last } = yield* progress
      assert.deepStrictEqual(last, {
        phase: "done",
        job: jobId,
        percentage: 100,
        bytes: size,
        totalBytes: size,
        rows: 1001,
        badRows: 1,
        remaining: Duration.zero
      })
      assert.isAbove(Duration.toMillis(elapsed), 1000)
      const waiting = seen.find(({ percentage }) => percentage === 50)
      assert.deepStrictEqual(waiting?.remaining, Duration.seconds(4))
      assert.isTrue(seen.some(({ phase, remaining }) => phase === "downloading" && remaining !== undefined))
    }).pipe(Effect.scoped))

  it.live("reads no further than its consumer asks, but for a bounded part", () =>
    Effect.gen(function*() {
      const file = gzip(ndjson(100_000))
      const { origin, requests } = yield* serve((to, request) => send(to, request, file, { partSize: 200_000 }))
      const { layer } = jobs(origin)
      yield* Effect.scoped(Effect.gen(function*() {
        const pull = yield* Stream.toPull(Exports.run({}))
        yield* pull
        // However long that takes, it ends.
        let before = -1
        while (requests.length > before) {
          before = requests.length
          yield* Effect.sleep("100 millis")
        }
        assert.isBelow(before * 200_000, file.length / 2)
      })).pipe(Effect.provide([layer, FetchHttpClient.layer]))
    }).pipe(Effect.scoped), 30_000)

  it.live.each(
    [
      "http://storage.example.com/file?signature=s",
      "ftp://storage.example.com/file",
      "https://user:secret@storage.example.com/",
      "nonsense"
    ]
  )("sends nothing to %s", (location) =>
    Effect.gen(function*() {
      const { layer } = jobs("", "json", () => Effect.succeed({ location }))
      const error = yield* Effect.flip(Stream.runDrain(Exports.run({}))).pipe(
        Effect.provide([layer, Testing.layerHttp()])
      )
      assert.propertyVal(error, "reason", "unsafe-link")
      assert.propertyVal(error, "job", jobId)
      assert.notInclude(String(error), location)
    }))

  it.effect("gives up on a storage that falls silent", () =>
    Effect.gen(function*() {
      const { layer } = jobs("https://storage.example.com")
      const fiber = yield* Effect.fork(
        Effect.flip(Stream.runDrain(Exports.run({}))).pipe(Effect.provide([layer, silent]))
      )
      yield* TestClock.adjust("10 minutes")
      const error = yield* Fiber.join(fiber)
      assert.propertyVal(error, "reason", "network")
      assert.propertyVal(error, "code", "TIMEOUT")
    }))

  it.live("says so if the runtime cannot decompress", () =>
    Effect.gen(function*() {
      const stream = globalThis.DecompressionStream
      const rows = Effect.acquireUseRelease(
        Effect.sync(() => void Reflect.deleteProperty(globalThis, "DecompressionStream")),
        () => Effect.flip(read(ndjson(1))),
        () => Effect.sync(() => void Object.assign(globalThis, { DecompressionStream: stream }))
      )
      assert.propertyVal(yield* rows, "reason", "unsupported")
    }))

  it.live("refuses a size of rows that is none", () =>
    Effect.gen(function*() {
      assert.propertyVal(yield* Effect.flip(read("", "json", { maxRowSize: 0 })), "_tag", "InvalidInput")
    }))

  it.live("fails like its calls", () =>
    Effect.gen(function*() {
      const layer = Testing.layer(
        Testing.handle(getJob, () => new Errors.NotFound({ operation: "getJob", message: "no" }))
      )
      const error = yield* Effect.flip(Stream.runDrain(Exports.run({}, { job: "job_5" }))).pipe(
        Effect.provide([layer, FetchHttpClient.layer])
      )
      assert.strictEqual(error._tag, "NotFound")
    }))
})
