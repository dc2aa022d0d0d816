/** The compressed files of export jobs. A file is made when it is first downloaded; users may be too many to keep them. */
import * as Effect from "effect/Effect"
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

/** Compresses the text piece by piece, so that only the compressed bytes are in memory. */
const gzip = (text: Iterator<string>): Effect.Effect<Uint8Array> => {
  const encoder = new TextEncoder()
  const plain = new ReadableStream<BufferSource>({
    pull: (controller) => {
      const { done, value } = text.next()
      return done === true ? controller.close() : controller.enqueue(encoder.encode(value))
    }
  })
  const compressed = plain.pipeThrough(new CompressionStream("gzip"))
  return Effect.map(Effect.promise(() => new Response(compressed).arrayBuffer()), (bytes) => new Uint8Array(bytes))
}

/** Gives the file of a job, with these users. */
export type Files = (job: Job, users: Users) => Effect.Effect<Uint8Array>

export const make = (): Files => {
  const files = new Map<string, { readonly users: Users; readonly file: Effect.Effect<Uint8Array> }>()
  return (job, users) =>
    Effect.suspend(() => {
      const known = files.get(job.id)
      if (known?.users === users) return known.file
      return Effect.flatMap(
        Effect.cached(Effect.uninterruptible(Effect.suspend(() => gzip(chunks(lines(users, job)))))),
        (file) => {
          files.set(job.id, { users, file })
          const [oldest = ""] = files.keys()
          if (files.size > maxFiles) files.delete(oldest)
          return file
        }
      )
    })
}
