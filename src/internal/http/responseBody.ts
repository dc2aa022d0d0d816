/** Reads response bodies up to a limit, and decompresses those that are gzip. */
import type * as Headers from "@effect/platform/Headers"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { RawBody, RawResponse } from "./rawExchange.js"

/** Default limits in bytes: 64 MiB for a body that is decoded, 64 KiB for any other. */
export const bodyLimits = { decoded: 64 * 1024 * 1024, drained: 64 * 1024 }

/** The largest body to read in one piece, in bytes: platforms copy all they have with each chunk that arrives. */
const maxSinglePiece = 1024 * 1024

/** Classifies a body whose stream failed. */
type CompletenessOf<E> = (error: E) => RawBody["completeness"]

/** Reads at most `limit` bytes from a stream. To stop early closes the connection. */
export const readStream = <E>(
  stream: Stream.Stream<Uint8Array, E>,
  limit: number,
  completenessOf: CompletenessOf<E>
): Effect.Effect<RawBody> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const result = (completeness: RawBody["completeness"]) => ({
      body: concat(chunks, Math.min(size, limit)),
      completeness
    })
    return Stream.runForEachWhile(stream, (chunk) =>
      Effect.sync(() => {
        chunks.push(chunk)
        size += chunk.length
        return size <= limit
      })).pipe(Effect.match({
        onSuccess: () => result(size <= limit ? "complete" : "truncated"),
        onFailure: (error) => result(completenessOf(error))
      }))
  })

/** Checks that a body is JSON and small enough to be read in one piece, by its declared length. */
export const isSmallJson = (headers: Headers.Headers, limit: number): boolean =>
  /^\d{1,15}$/.test(headers["content-length"] ?? "") &&
  Number(headers["content-length"]) <= Math.min(limit, maxSinglePiece) &&
  headers["content-type"]?.includes("json") === true &&
  headers["content-encoding"] === undefined && headers["transfer-encoding"] === undefined

/** Reads a small body in one piece, without a stream. Nothing is left of a body that is interrupted. */
export const readSinglePiece = <E>(
  body: Effect.Effect<ArrayBuffer, E>,
  limit: number,
  completenessOf: CompletenessOf<E>
): Effect.Effect<RawBody> =>
  Effect.match(body, {
    onSuccess: (buffer): RawBody => ({
      body: new Uint8Array(buffer).subarray(0, limit),
      completeness: buffer.byteLength <= limit ? "complete" : "truncated"
    }),
    onFailure: (error) => ({ body: new Uint8Array(), completeness: completenessOf(error) })
  })

/** Joins the first `size` bytes of these chunks, in `target` if there is more than one chunk. */
export const concat = (
  chunks: ReadonlyArray<Uint8Array>,
  size: number,
  target: Uint8Array = new Uint8Array(size)
): Uint8Array => {
  const [first] = chunks
  if (first?.length === size) return first
  let at = 0
  for (const chunk of chunks) {
    target.set(chunk.subarray(0, size - at), at)
    at += Math.min(chunk.length, size - at)
  }
  return target.subarray(0, size)
}

const gunzip = (bytes: Uint8Array, limit: number): Effect.Effect<RawBody> => {
  const compressed = new Blob([bytes as Uint8Array<ArrayBuffer>]) // sound: `concat` made it, on a plain buffer
  const stream = Stream.fromReadableStream(
    () => compressed.stream().pipeThrough(new DecompressionStream("gzip")),
    () => undefined
  )
  return readStream(stream, limit, () => "corrupt")
}

/** Tests the first bytes: `fetch` keeps the header `content-encoding` when it has decompressed a body. JSON never begins so. */
const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/** Decompresses a complete body that is gzip though the request did not ask for it, up to `limit` bytes. */
export const decompressed = (response: RawResponse, limit: number): Effect.Effect<RawResponse> =>
  response.completeness === "complete" && typeof response.body !== "string" && isGzip(response.body)
    ? Effect.map(gunzip(response.body, limit), (body) => ({ ...response, ...body }))
    : Effect.succeed(response)
