/** Downloads the file of an export as a stream of bytes, each once, over links that end and connections that break. */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { defined } from "../runtime/defined.js"
import { stopwatch } from "../runtime/monotonicClock.js"
import { mapParts } from "../runtime/streams/parts.js"
import { ExportError } from "./exportError.js"
import type { Track } from "./progress.js"
import { Broken, discard, type Part, request } from "./storage.js"

/** The number of failures in a row, without a new byte in between, with which a download fails. */
const maxFailures = 5

/** A link is good for 60 s, so it is not used after this time. */
const linkMillis = 50_000

/**
 * The number of chunks, of up to 64 KB each, that are read ahead, so that the next request is under way while rows are taken. Without
 * them the throughput is a tenth less, with 32 the memory grows by 80 MB instead of 20 (`npm run bench:export`).
 */
const chunksAhead = 4

export interface DownloadOptions<E> {
  readonly client: HttpClient.HttpClient
  /** Asks the job for a new link. */
  readonly freshLink: Effect.Effect<URL, E>
  readonly track: Track
}

/** Knowledge of the file, and the progress of its download. */
interface State {
  /** The number of bytes emitted. */
  offset: number
  /** The size of the file. */
  total: number | undefined
  etag: string | undefined
  isComplete: boolean
  /** The failures since the last new byte. */
  failures: number
  /** The link, and when the download got it, in milliseconds after the download began. */
  link: { readonly url: URL; readonly since: number } | undefined
}

/** Compares a response with what is known of the file, and notes what is new. */
const accept = (state: State, { end, etag, total }: Part): Effect.Effect<void, ExportError> => {
  if (state.etag !== undefined && etag !== undefined && etag !== state.etag) {
    return new ExportError({ reason: "changed", message: "the file in the storage has become another" })
  }
  if ((state.total ?? total) !== (total ?? state.total) || (end ?? state.offset) < state.offset) {
    return new ExportError({ reason: "length", message: "the storage tells another length of the file than before" })
  }
  state.etag ??= etag
  state.total ??= total
  return Effect.void
}

const notGzip = new ExportError({ reason: "not-gzip", message: "the storage sent something that is not a gzip file" })

/** The new bytes of a response. */
const bytesOf = (state: State, part: Part): Stream.Stream<Uint8Array, ExportError | Broken> => {
  /** The offset of the next byte of the response. */
  let position = part.start

  const take = (chunk: Uint8Array): Uint8Array => {
    const begin = position
    position += chunk.length
    const fresh = chunk.subarray(Math.max(0, state.offset - begin))
    if (fresh.length > 0) {
      state.offset = position
      state.failures = 0
    }
    return fresh
  }
  /** A file of gzip begins with two known bytes. A page that is sent in its place, even on a later attempt, does not. */
  const isGzip = (chunk: Uint8Array, begin: number): boolean =>
    (begin > 0 || (chunk[0] ?? 0x1f) === 0x1f) && (chunk[1 - begin] ?? 0x8b) === 0x8b
  const endsEarly = (code?: string) =>
    new Broken({
      reason: "length",
      message: `the response ended after ${position} of ${part.end} bytes`,
      ...defined({ code })
    })
  const checkEnd: Stream.Stream<never, Broken> = Stream.suspend(() => {
    const { end, total } = { end: part.end ?? position, total: state.total ?? position }
    state.isComplete = position >= total
    return position >= end ? Stream.empty : Stream.fail(endsEarly())
  })
  return part.body.pipe(
    Stream.mapError((error) => part.end !== undefined && position >= state.offset ? endsEarly(error.code) : error),
    (self) =>
      mapParts(self, (chunks) =>
        Effect.suspend(() => {
          const taken: Array<Uint8Array> = []
          for (const chunk of chunks) {
            if (!isGzip(chunk, position)) return notGzip
            const fresh = take(chunk)
            if (fresh.length > 0) taken.push(fresh)
          }
          return Effect.succeed(taken)
        })),
    Stream.concat(checkEnd)
  )
}

/**
 * Streams the bytes of the file, as they are in the storage. Goes on where a connection broke, and with a new link where one has
 * ended; fails at the fifth failure without a new byte in between.
 */
export const download = <E>(
  { client, freshLink, track }: DownloadOptions<E>,
  firstLink: URL
): Stream.Stream<Uint8Array, E | ExportError> =>
  Stream.unwrap(Effect.map(stopwatch, (elapsed) => {
    const state: State = {
      offset: 0,
      total: undefined,
      etag: undefined,
      isComplete: false,
      failures: 0,
      link: { url: firstLink, since: 0 }
    }

    const link = Effect.flatMap(elapsed, (now) => {
      if (state.link !== undefined && now - state.link.since < linkMillis) return Effect.succeed(state.link.url)
      return Effect.map(freshLink, (url) => {
        state.link = { url, since: now }
        return url
      })
    })

    const attempt: Stream.Stream<Uint8Array, E | ExportError | Broken> = Stream.unwrap(
      Effect.flatMap(link, (url) => request(client, url, state.offset)).pipe(
        Effect.tap((part) => Effect.tapError(accept(state, part), () => discard(part))),
        Effect.tap(() => track({ bytes: state.offset, totalBytes: state.total })),
        Effect.map((part) => bytesOf(state, part))
      )
    )

    const recover = ({ code, message, reason, status }: Broken): Stream.Stream<never, ExportError> => {
      state.failures++
      if (reason === "refused") state.link = undefined
      return state.failures < maxFailures
        ? Stream.drain(Stream.fromEffect(Effect.sleep(2 ** (state.failures - 1) * 1000)))
        : Stream.fail(
          new ExportError({
            reason,
            message: `${message}, ${maxFailures} times in a row`,
            ...defined({ code, status })
          })
        )
    }

    const rest: Stream.Stream<Uint8Array, E | ExportError> = Stream.suspend(() =>
      attempt.pipe(
        Stream.catchAll((error) => error instanceof Broken ? recover(error) : Stream.fail(error)),
        Stream.concat(Stream.suspend(() => state.isComplete ? Stream.empty : rest))
      )
    )
    return Stream.bufferChunks(Stream.tap(rest, () => track({ bytes: state.offset })), { capacity: chunksAhead })
  }))
