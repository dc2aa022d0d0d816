/** Encodes fields and files as `multipart/form-data` (RFC 7578). */
import * as HttpBody from "@effect/platform/HttpBody"
import * as Chunk from "effect/Chunk"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { Issue } from "../../../Errors.js"
import type { File } from "../../schema/file.js"
import { notFiniteMessage } from "./composite.js"

type Piece = string | Uint8Array | Stream.Stream<Uint8Array, unknown>

/** Encoded fields. */
export interface Multipart {
  readonly contentType: string
  /** Makes the body of one attempt: a stream if a file is one, else bytes. */
  readonly body: () => HttpBody.HttpBody
}

const isFile = (value: unknown): value is File => Predicate.hasProperty(value, "content")

/** Escapes a name as browsers do. */
const quoted = (name: string): string =>
  `"${name.replace(/["\r\n]/g, (char) => char === "\"" ? "%22" : char === "\r" ? "%0D" : "%0A")}"`

/** Finds what the field of this name cannot carry. */
const issueOf = (name: string, value: unknown): Issue | undefined => {
  const texts = isFile(value) ? [value.name, typeof value.content === "string" ? value.content : ""] : [String(value)]
  if (texts.some((text) => /\p{Cs}/u.test(text))) return { path: name, message: "expected well-formed Unicode" }
  if (isFile(value)) {
    return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:[\t ]*;[\t\x20-\x7e]*)?$/.test(value.contentType ?? "a/b")
      ? undefined
      : { path: `${name}.contentType`, message: "expected a media type" }
  }
  return typeof value === "object"
    ? { path: name, message: "a multipart body can express only strings, numbers, booleans and files" }
    : typeof value === "number" && !Number.isFinite(value)
    ? { path: name, message: notFiniteMessage }
    : undefined
}

const partOf = (name: string, value: unknown): ReadonlyArray<Piece> => {
  const disposition = `Content-Disposition: form-data; name=${quoted(name)}`
  if (!isFile(value)) return [`${disposition}\r\n\r\n${String(value)}`]
  const { content, contentType = "application/octet-stream" } = value
  return [`${disposition}; filename=${quoted(value.name)}\r\nContent-Type: ${contentType}\r\n\r\n`, content]
}

const randomBoundary = (): string =>
  `identity-${Array.from(globalThis.crypto.getRandomValues(new Uint8Array(18)), (byte) => byte.toString(36)).join("")}`

const encoder = new TextEncoder()

const bytesOf = (piece: string | Uint8Array): Uint8Array => typeof piece === "string" ? encoder.encode(piece) : piece

const isStream = (piece: Piece): piece is Stream.Stream<Uint8Array, unknown> =>
  typeof piece !== "string" && !(piece instanceof Uint8Array)

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((size, { length }) => size + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Encodes fields in their order. Copies bytes; a stream runs anew for each attempt. */
export const encode = (fields: Readonly<Record<string, unknown>>): Either.Either<Multipart, Issue> => {
  const boundary = randomBoundary()
  const contentType = `multipart/form-data; boundary=${boundary}`
  const pieces: Array<Piece> = []
  for (const [name, value] of Object.entries(fields)) {
    const issue = issueOf(name, value)
    if (issue !== undefined) return Either.left(issue)
    pieces.push(`--${boundary}\r\n`, ...partOf(name, value), "\r\n")
  }
  pieces.push(`--${boundary}--\r\n`)
  const bytes = pieces.flatMap((piece) => isStream(piece) ? [] : [bytesOf(piece)])
  if (bytes.length === pieces.length) {
    const whole = joined(bytes)
    return Either.right({ contentType, body: () => HttpBody.uint8Array(whole, contentType) })
  }
  const streams = Chunk.fromIterable(
    pieces.map((piece) => isStream(piece) ? piece : Stream.succeed(joined([bytesOf(piece)])))
  )
  return Either.right({ contentType, body: () => HttpBody.stream(Stream.concatAll(streams), contentType) })
}
