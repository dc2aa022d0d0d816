/** Decompression: what is whole, truncated or damaged, over the runtime's stream and over such that tell less. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Exit, Option, type Scope, Stream } from "effect"
import type { ExportError } from "../../src/internal/exports/exportError.js"
import { gunzip } from "../../src/internal/exports/gunzip.js"
import { gzip } from "../support/storage.js"

const truncated = {
  _tag: "ExportError",
  reason: "truncated",
  message: "the gzip data of the file ends too early"
} as const
const corrupt = { _tag: "ExportError", reason: "corrupt", message: "the gzip data of the file is damaged" } as const

const partsOf = (bytes: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, nth) => bytes.slice(nth * size, (nth + 1) * size))

/** Runs pulls until one fails. */
const untilEnd = <E>(
  pulls: Effect.Effect<Effect.Effect<void, Option.Option<E | ExportError>>, ExportError, Scope.Scope>
) => Effect.scoped(Effect.flatMap(pulls, (pull) => Effect.either(Effect.forever(pull))))

/** Decompresses these parts. `end`: none if that is the whole, or the failure. */
const read = <E = never>(source: Stream.Stream<Uint8Array, E>) =>
  Effect.gen(function*() {
    const chunks: Array<Uint8Array> = []
    const end = yield* untilEnd(gunzip(source, (chunk) => void chunks.push(chunk)))
    return { end: Option.getOrUndefined(Either.getOrThrow(Either.flip(end))), text: Buffer.concat(chunks).toString() }
  })

const readParts = (parts: ReadonlyArray<Uint8Array>) => read(Stream.fromIterable(parts))

/** A text that is hard to compress. */
const text = Array.from({ length: 3000 }, (_, nth) => (nth * 2_654_435_761 % 4_294_967_296).toString(36)).join("")
const file = gzip(text)

const damaged = (at: number): Uint8Array => {
  const bytes = Uint8Array.from(file)
  bytes.set([(bytes.at(at) ?? 0) ^ 0xff], at < 0 ? bytes.length + at : at)
  return bytes
}

describe("the data of a file", () => {
  it.live("is whole, in parts of any size", () =>
    Effect.gen(function*() {
      for (const size of [7, 100, 4096, file.length]) {
        const { end, text: read } = yield* readParts(partsOf(file, size))
        assert.isUndefined(end, `in parts of ${size}`)
        assert.strictEqual(read, text, `in parts of ${size}`)
      }
      assert.deepStrictEqual(yield* readParts([gzip("")]), { end: undefined, text: "" })
      assert.deepStrictEqual(yield* readParts([gzip("a"), gzip("b")]), { end: undefined, text: "ab" })
    }))

  it.live("that ends too early is truncated", () =>
    Effect.gen(function*() {
      for (const length of [1, 9, 17, 18, 100, file.length - 9, file.length - 8, file.length - 4, file.length - 1]) {
        for (const size of [length, 1000]) {
          const { end } = yield* readParts(partsOf(file.subarray(0, length), size))
          assert.deepInclude(end, truncated, `${length} bytes in parts of ${size}`)
        }
      }
    }))

  it.live("that is damaged is corrupt", () =>
    Effect.gen(function*() {
      for (const at of [0, 2, Math.floor(file.length / 2), -8, -4, -1]) {
        for (const size of [file.length, 1000]) {
          const { end } = yield* readParts(partsOf(damaged(at), size))
          assert.deepInclude(end, corrupt, `byte ${at}, in parts of ${size}`)
        }
      }
    }))

  it.live("fails like its source, after what came before", () =>
    Effect.gen(function*() {
      const half = file.subarray(0, Math.floor(file.length / 2))
      for (const bytes of [half, file]) {
        const source = Stream.concat(Stream.fromIterable(partsOf(bytes, 1000)), Stream.fail("mine"))
        const { end, text: before } = yield* read(source)
        assert.strictEqual(end, "mine")
        assert.isTrue(text.startsWith(before))
      }
    }))

  it.live("is a defect if its source or its receiver is", () =>
    Effect.gen(function*() {
      const throws = () => {
        throw new Error("defect")
      }
      const exits = [
        yield* Effect.exit(Effect.asVoid(read(Stream.die("defect")))),
        yield* Effect.exit(Effect.asVoid(untilEnd(gunzip(Stream.make(file), throws))))
      ]
      for (const exit of exits) {
        assert.isTrue(Exit.isFailure(exit))
        assert.include(String(exit), "defect")
      }
    }))
})

/** What a decompressing stream does: `output` is what it gives for its first input. */
interface Fake {
  readonly output?: Uint8Array
  /** Fails at the first input. */
  readonly writeError?: unknown
  /** Fails at the end of the input. */
  readonly endError?: unknown
  /** Ends its output, instead of breaking it, when its input is aborted. */
  readonly isLenient?: boolean
}

/** Runs an effect with a `DecompressionStream` that does this. Gives what happened to the stream, too. */
const withFake = <A, E>(
  { endError, isLenient = false, output, writeError }: Fake,
  effect: Effect.Effect<A, E>,
  events: Array<string> = []
) => {
  const FakeStream = class {
    readonly readable: ReadableStream<Uint8Array>
    readonly writable: WritableStream<Uint8Array>
    constructor() {
      let isFirst = true
      let out: ReadableStreamDefaultController<Uint8Array> | undefined
      this.readable = new ReadableStream({
        start: (controller) => {
          out = controller
        },
        cancel: () => void events.push("cancel")
      })
      this.writable = new WritableStream({
        write: () => {
          if (isFirst) {
            events.push("write")
            isFirst = false
            if (output !== undefined) out?.enqueue(output)
          }
          if (writeError === undefined) return
          out?.error(writeError)
          throw writeError
        },
        close: () => {
          events.push("close")
          if (endError === undefined) out?.close()
          else out?.error(endError)
        },
        abort: (error) => {
          events.push("abort")
          if (isLenient) out?.close()
          else out?.error(error)
        }
      })
    }
  }
  return Effect.map(withGlobal(FakeStream, effect), (result) => ({ result, events }))
}

/** Runs an effect with another `DecompressionStream`, or with none. */
const withGlobal = <A, E>(value: unknown, effect: Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const original = globalThis.DecompressionStream
      if (value === undefined) Reflect.deleteProperty(globalThis, "DecompressionStream")
      else Object.assign(globalThis, { DecompressionStream: value })
      return original
    }),
    () => effect,
    (original) => Effect.sync(() => void Object.assign(globalThis, { DecompressionStream: original }))
  )

describe("the runtime", () => {
  it.live("has to have a DecompressionStream", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(withGlobal(undefined, untilEnd(gunzip(Stream.make(file), () => {}))))
      assert.deepInclude(error, {
        _tag: "ExportError",
        reason: "unsupported",
        message: "this runtime has no DecompressionStream"
      })
    }))

  // 259 bytes of output: 3 and 1 × 256.
  const output = new Uint8Array(259)
  const input = (length: number, ...last: ReadonlyArray<number>) =>
    Uint8Array.from([...Array.from({ length: length - last.length }, () => 9), ...last])
  const plain = new TypeError("it has failed")

  it.live("may not say that data is truncated: then the size at its end says so", () =>
    Effect.gen(function*() {
      const table: ReadonlyArray<readonly [bytes: Uint8Array, expected: object, given?: Uint8Array]> = [
        [input(40, 3, 1, 0, 0), corrupt],
        [input(18, 3, 1, 0, 0), corrupt],
        [input(17, 3, 1, 0, 0), truncated],
        [input(40, 0, 0, 1, 3), truncated],
        [input(40, 2, 1, 0, 0), truncated],
        [input(40, 3, 2, 0, 0), truncated],
        [input(40, 3, 1, 1, 0), truncated],
        [input(40, 3, 1, 0, 1), truncated],
        [input(40, 3, 1, 0, 0, 0), truncated],
        [input(40, 0, 0, 0, 0), corrupt, new Uint8Array(0)]
      ]
      for (const [bytes, expected, given = output] of table) {
        for (const size of [1, 2, 3, 4, 5, 17, 40]) {
          const { result } = yield* withFake({ output: given, endError: plain }, readParts(partsOf(bytes, size)))
          assert.deepInclude(result.end, expected, `${bytes.join()} in parts of ${size}`)
        }
      }
    }))

  it.live("may say by a code that data is damaged, whatever size is at its end", () =>
    Effect.gen(function*() {
      const endError = Object.assign(new Error("it has failed"), { code: "Z_DATA_ERROR" })
      for (const bytes of [input(40, 3, 1, 0, 0), input(40, 0, 0, 0, 0), input(5)]) {
        const { result } = yield* withFake({ output, endError }, readParts([bytes]))
        assert.deepInclude(result.end, corrupt)
      }
    }))

  it.live("refuses damaged data before its end: that is not truncated, and its source is not read on", () =>
    Effect.gen(function*() {
      const endless = Stream.concat(Stream.make(input(40)), Stream.never)
      const { events, result } = yield* withFake({ writeError: plain }, read(endless))
      assert.deepInclude(result.end, corrupt)
      assert.deepStrictEqual(events, ["write"])
    }))

  it.live("learns that the source has failed, and its end is no end then", () =>
    Effect.gen(function*() {
      for (const isLenient of [false, true]) {
        const source = Stream.concat(Stream.make(input(40)), Stream.fail("mine"))
        const { events, result } = yield* withFake({ output, isLenient }, read(source))
        assert.strictEqual(result.end, "mine")
        assert.deepStrictEqual(events, ["write", "abort"])
      }
    }))

  it.live("learns that nobody reads any more", () =>
    Effect.gen(function*() {
      const source = Stream.concat(Stream.make(input(40)), Stream.never)
      const seen: Array<string> = []
      const { events, result } = yield* withFake(
        { output: new Uint8Array(1_000_000) },
        Effect.zipLeft(
          Effect.scoped(Effect.flatMap(gunzip(source, () => {}), Effect.either)),
          Effect.repeat(Effect.sleep("1 millis"), { until: () => seen.length >= 3 })
        ),
        seen
      )
      assert.deepStrictEqual(result, Either.right(undefined))
      assert.deepStrictEqual([...events].sort(), ["abort", "cancel", "write"])
    }))
})
