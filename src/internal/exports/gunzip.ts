/** Decompresses a stream of gzip by the runtime's `DecompressionStream`, which is looked up only when it is used. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { codeOf } from "../http/platformErrors.js"
import * as Pulls from "../runtime/streams/pulls.js"
import { ExportError } from "./exportError.js"

/**
 * The number of bytes after which a pull ends. Node's chunks have 16 KB, so that an effect for each of them would cost a fifth of the
 * throughput. They are taken one by one all the same, so that the runtime decompresses the next one meanwhile
 * (`npm run bench:export`).
 */
const batchSize = 128 * 1024

/** The end of the output, or how reading it failed. */
type End = { readonly _tag: "End" } | { readonly _tag: "Failed"; readonly error: unknown }

/** Reads until there were enough bytes, or the end. What `take` throws is a defect. */
const readBatch = (
  reader: ReadableStreamDefaultReader<Uint8Array>,
  take: (chunk: Uint8Array) => void
): Promise<End | undefined> => {
  let size = 0
  const readMore = (): Promise<End | undefined> =>
    reader.read().then(
      ({ done, value }) => {
        if (done) return { _tag: "End" }
        take(value)
        size += value.length
        return size < batchSize ? readMore() : undefined
      },
      (error: unknown) => ({ _tag: "Failed", error })
    )
  return readMore()
}

/** Follows the input, which has at least 18 bytes. Its last four bytes are the size of the output modulo 2^32. */
class Trailer {
  private last: ReadonlyArray<number> = []
  private length = 0

  add(bytes: Uint8Array): void {
    this.last = [...this.last, ...bytes.subarray(-4)].slice(-4)
    this.length += bytes.length
  }

  matches(outputSize: number): boolean {
    return this.length >= 18 && this.last.reduceRight((size, byte) => size * 256 + byte, 0) === outputSize % 2 ** 32
  }
}

const ignored = (promise: Promise<unknown>): Promise<unknown> => promise.catch(() => undefined)

/**
 * Starts to decompress. Each run of the result hands some chunks to `take`; it fails with `Option.none()` at the end, after the last
 * of them. Input is taken only as fast as that. Data that ends too early is `truncated`; damaged data is `corrupt`.
 */
export const gunzip = <E>(
  source: Stream.Stream<Uint8Array, E>,
  take: (chunk: Uint8Array) => void
): Effect.Effect<Effect.Effect<void, Option.Option<E | ExportError>>, ExportError, Scope.Scope> =>
  Effect.gen(function*() {
    if (typeof globalThis.DecompressionStream === "undefined") {
      return yield* new ExportError({ reason: "unsupported", message: "this runtime has no DecompressionStream" })
    }
    const { readable, writable } = new DecompressionStream("gzip")
    const [reader, writer] = [readable.getReader(), writable.getWriter()]
    void ignored(reader.closed)
    void ignored(writer.closed)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        void ignored(reader.cancel())
        void ignored(writer.abort())
      })
    )
    const trailer = new Trailer()
    let outputSize = 0
    let hasEnded = false
    let failure: Cause.Cause<E> | undefined

    let writing = Promise.resolve()
    const lastWrite = Effect.tryPromise(() => writing)
    /** Waits for the chunk before this one, not for this one: while it is decompressed, the source sends the next. */
    const write = (chunk: Uint8Array) =>
      Effect.map(lastWrite, () => {
        trailer.add(chunk)
        writing = writer.write(chunk as Uint8Array<ArrayBuffer>) // sound: HTTP clients share no memory
        void ignored(writing)
      })
    const pull = yield* Pulls.pull(source)
    const pump: Effect.Effect<void, unknown> = Effect.matchCauseEffect(pull, {
      onSuccess: (chunks) => Effect.zipRight(Effect.forEach(chunks, write, { discard: true }), pump),
      onFailure: (cause) =>
        Effect.map(lastWrite, () => {
          failure = Pulls.failureOf(cause)
          hasEnded = true
          void ignored(failure === undefined ? writer.close() : writer.abort())
        })
    })
    // If a chunk is refused, the reader tells why.
    yield* Effect.forkScoped(Effect.ignore(pump))

    const failureOf = (error: unknown): Cause.Cause<E | ExportError> => {
      if (failure !== undefined) return failure
      const isTruncated = hasEnded && codeOf(error) !== "Z_DATA_ERROR" && !trailer.matches(outputSize)
      return Cause.fail(
        isTruncated
          ? new ExportError({ reason: "truncated", message: "the gzip data of the file ends too early" })
          : new ExportError({ reason: "corrupt", message: "the gzip data of the file is damaged" })
      )
    }
    const count = (chunk: Uint8Array): void => {
      outputSize += chunk.length
      take(chunk)
    }
    return Effect.flatMap(Effect.promise(() => readBatch(reader, count)), (end) => {
      if (end === undefined) return Effect.void
      return end._tag === "End" && failure === undefined
        ? Effect.fail(Option.none())
        : Effect.failCause(Cause.map(failureOf(end._tag === "End" ? undefined : end.error), Option.some))
    })
  })
