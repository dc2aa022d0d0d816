/** The compressed files of export jobs. A file is made when it is first downloaded; users may be too many to keep them. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import type { Job, Users } from "../api/state.js"
import { lines } from "./rows.js"

/** The number of files that a tenant keeps. Another one is made again. */
const maxFiles = 4

/** The number of characters that are compressed at once. */
const chunkSize = 65_536

function* chunks(lines: Iterable<string>): Generator<string> {
  let chunk = ""
  for (const line of lines) {
    chunk += line
    if (chunk.length < chunkSize) continue
    yield chunk
    chunk = ""
  }
  yield chunk
}

/**
 * Compresses the text piece by piece, so that only the compressed bytes are in memory. Waits for each piece: a `CompressionStream`
 * that is fed by a pipe takes thousands of them at once.
 */
const gzip = (text: Iterator<string>): Effect.Effect<ArrayBuffer> => {
  const encoder = new TextEncoder()
  const { readable, writable } = new CompressionStream("gzip")
  const writer = writable.getWriter()
  const writeNext = Effect.suspend(() => {
    const { done, value } = text.next()
    return done === true
      ? Effect.as(Effect.promise(() => writer.close()), true)
      : Effect.as(Effect.promise(() => writer.write(encoder.encode(value))), false)
  })
  const write = Effect.repeat(writeNext, { until: (closed) => closed }).pipe(
    Effect.onError((cause) => Effect.promise(() => writer.abort(Cause.squash(cause))))
  )
  const read = Effect.promise(() => new Response(readable).arrayBuffer())
  return Effect.zipLeft(read, write, { concurrent: true })
}

/** A compressed file. Another content has another tag: a download that goes on later must not get parts of two files. */
export interface ExportFile {
  readonly bytes: Uint8Array
  readonly etag: string
}

const compress = (job: Job, users: Users): Effect.Effect<ExportFile> =>
  Effect.flatMap(
    gzip(chunks(lines(users, job))),
    (bytes) =>
      Effect.map(
        Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", bytes)),
        (digest) => ({ bytes: new Uint8Array(bytes), etag: `"${Encoding.encodeHex(new Uint8Array(digest))}"` })
      )
  )

/** Identifies the content of a file with these users. */
const contentOf = ({ connection, fields, format, limit }: Job): string =>
  JSON.stringify([connection, fields, format, limit])

/** Gives the file of a job, with these users. */
export type Files = (job: Job, users: Users) => Effect.Effect<ExportFile>

export const make = (): Files => {
  const files = new Map<string, { readonly users: Users; readonly file: Effect.Effect<ExportFile> }>()
  return (job, users) =>
    Effect.suspend(() => {
      const content = contentOf(job)
      const known = files.get(content)
      if (known?.users === users) return known.file
      return Effect.flatMap(
        Effect.cached(Effect.uninterruptible(Effect.suspend(() => compress(job, users)))),
        (file) => {
          files.set(content, { users, file })
          const [oldest = ""] = files.keys()
          if (files.size > maxFiles) files.delete(oldest)
          return file
        }
      )
    })
}
