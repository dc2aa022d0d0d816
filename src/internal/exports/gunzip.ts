/** Decompresses a stream of gzip by the runtime's `DecompressionStream`, which is looked up only when it is used. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { codeOf } from "../http/platformErrors.js"
import * as Streams from "../runtime/streams.js"
import { ExportError } from "./exportError.js"

/** Pulls the next bytes; fails with `Option.none()` at the end. */
export type PullBytes<E> = Effect.Effect<Uint8Array, Option.Option<E>>

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
 * Starts to decompress. Input is taken only as fast as output is pulled. Data that ends too early (`truncated`) is told from data
 * that is damaged (`corrupt`).
 */
export const gunzip = <E>(
  source: Stream.Stream<Uint8Array, E>
): Effect.Effect<PullBytes<E | ExportError>, ExportError, Scope.Scope> =>
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

    const write = (chunk: Uint8Array) => {
      trailer.add(chunk)
      return Effect.tryPromise(() => writer.write(chunk as Uint8Array<ArrayBuffer>)) // sound: HTTP clients share no memory
    }
    const pull = yield* Streams.pull(source)
    const pump: Effect.Effect<void> = Effect.matchCauseEffect(pull, {
      // If the chunk is refused, the reader tells why.
      onSuccess: (chunks) =>
        Effect.matchEffect(Effect.forEach(chunks, write, { discard: true }), {
          onFailure: () => Effect.void,
          onSuccess: () => pump
        }),
      onFailure: (cause) =>
        Effect.sync(() => {
          failure = Option.getOrUndefined(Cause.flipCauseOption(cause))
          hasEnded = true
          void ignored(failure === undefined ? writer.close() : writer.abort())
        })
    })
    yield* Effect.forkScoped(pump)

    const endOf = (error: unknown): Effect.Effect<never, Option.Option<E | ExportError>> => {
      if (failure !== undefined) return Effect.failCause(Cause.map(failure, Option.some))
      const isTruncated = hasEnded && codeOf(error) !== "Z_DATA_ERROR" && !trailer.matches(outputSize)
      return Effect.fail(Option.some(
        isTruncated
          ? new ExportError({ reason: "truncated", message: "the gzip data of the file ends too early" })
          : new ExportError({ reason: "corrupt", message: "the gzip data of the file is damaged" })
      ))
    }
    return Effect.matchEffect(Effect.tryPromise({ try: () => reader.read(), catch: (error) => error }), {
      onFailure: endOf,
      onSuccess: ({ done, value }) => {
        if (done) return failure === undefined ? Effect.fail(Option.none()) : endOf(undefined)
        outputSize += value.length
        return Effect.succeed(value)
      }
    })
  })
