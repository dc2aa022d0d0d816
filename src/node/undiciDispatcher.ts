/** Collects responses over undici: a dispatcher's handler does it, without a stream in between. */
import type * as Undici from "@effect/platform-node/Undici"
import * as Headers from "@effect/platform/Headers"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Buffer, isAscii } from "node:buffer"
import type { Collect } from "../internal/http/collecting.js"
import * as PlatformErrors from "../internal/http/platformErrors.js"
import {
  type BodyLimit,
  NoResponse,
  type RawBody,
  type RawRequest,
  type RawResponse
} from "../internal/http/rawExchange.js"
import * as Body from "../internal/http/responseBody.js"
import { toIterable } from "../internal/runtime/streams/parts.js"

/**
 * Joins the chunks of bodies whose text alone is wanted. With a buffer for each body, half of a response's memory outside of
 * the heap were such buffers, and the garbage collector marked the heap every twenty pages of versions (`npm run bench:memory`).
 */
const sharedBuffer = Buffer.allocUnsafeSlow(1024 * 1024)

/** Joins a complete body. If it is all ASCII, as JSON mostly is, returns its text. */
const joined = (chunks: ReadonlyArray<Uint8Array>, size: number): Uint8Array | string => {
  const fits = size <= sharedBuffer.length
  const bytes = Body.concat(chunks, size, fits ? sharedBuffer : undefined)
  if (isAscii(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
  return fits ? Body.concat(chunks, size) : bytes
}

/** Converts undici's headers. Their names are in lower case; a header that came several times has a list of values. */
const headersOf = (record: Readonly<Record<string, string | Array<string> | undefined>>): Headers.Headers => {
  const headers = { ...record }
  for (const name in headers) {
    const value = headers[name]
    if (Array.isArray(value)) headers[name] = value.join(", ")
  }
  return Headers.unsafeFromRecord(headers as Record<string, string>) // sound: no list is left, and a header has a value
}

const stopped = new Error("stopped")

type Result = Effect.Effect<RawResponse, NoResponse>

interface Head {
  readonly status: number
  readonly headers: Headers.Headers
  readonly cookies?: ReadonlyArray<string>
}

/**
 * Collects one response. Until undici has a connection and begins to write, it is certain that nothing was sent. At its end
 * the handler drops all references, because undici holds on to it for longer.
 */
class ResponseHandler implements Undici.Dispatcher.DispatchHandler {
  private readonly bodyLimit: BodyLimit
  private readonly begun: (() => void) | undefined
  private done: ((result: Result) => void) | undefined
  private controller: Undici.Dispatcher.DispatchController | undefined
  private head: Head | undefined
  private hasBegun = false
  /** The number of bytes to read from the body. */
  private limit = Infinity
  private chunks: Array<Uint8Array> = []
  private size = 0

  constructor(bodyLimit: BodyLimit, begun: (() => void) | undefined, done: (result: Result) => void) {
    this.bodyLimit = bodyLimit
    this.begun = begun
    this.done = done
  }

  onRequestStart(controller: Undici.Dispatcher.DispatchController): void {
    // The request was stopped while it waited for a connection: undici drops it and keeps the connection.
    if (this.done === undefined) throw stopped
    this.controller = controller
    this.hasBegun = true
    this.begun?.()
  }

  onResponseStart(
    _: Undici.Dispatcher.DispatchController,
    status: number,
    headers: Parameters<typeof headersOf>[0]
  ): void {
    if (status < 200) return
    const { "set-cookie": cookies } = headers
    this.head = { status, headers: headersOf(headers), ...(Array.isArray(cookies) && { cookies }) }
    this.limit = this.bodyLimit(status)
  }

  onResponseData(controller: Undici.Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.chunks.push(chunk)
    this.size += chunk.length
    if (this.size <= this.limit) return
    this.end("truncated")
    controller.abort(stopped)
  }

  onResponseEnd(): void {
    this.end("complete")
  }

  onResponseError(_: Undici.Dispatcher.DispatchController, error: unknown): void {
    this.fail(error)
  }

  fail(error: unknown): void {
    this.end(PlatformErrors.completenessOf(error), error)
  }

  /** Aborts the request, unless it has ended. Returns whether it may have been sent. */
  stop(): boolean {
    const { controller } = this
    this.release()
    controller?.abort(stopped)
    return this.hasBegun
  }

  private end(completeness: RawBody["completeness"], error?: unknown): void {
    const { chunks, done, head, limit, size } = this
    this.release()
    if (done === undefined) return
    if (head === undefined) {
      const outcome = this.hasBegun ? "unknown" : "not-sent"
      return done(new NoResponse({ outcome, code: PlatformErrors.codeOf(error) }))
    }
    const body = completeness === "complete" ? joined(chunks, size) : Body.concat(chunks, Math.min(size, limit))
    done(Body.decompressed({ ...head, body, completeness, redirected: false }, limit))
  }

  private release(): void {
    this.done = this.controller = this.head = undefined
    this.chunks = []
  }
}

type Content = NonNullable<Undici.Dispatcher.DispatchOptions["body"]> | null

const contentOf = ({ body }: RawRequest): Effect.Effect<Content> => {
  if (typeof body === "string") return Effect.succeed(body)
  if (body._tag === "Stream") return toIterable(body.stream) as Effect.Effect<never> // sound: undici reads any iterable
  if (body._tag === "Empty") return Effect.succeed(null)
  return Effect.succeed((body._tag === "FormData" ? body.formData : body.body) as Content) // sound: all that the platform can send
}

/** Collects responses over a dispatcher. */
export const collect = (dispatcher: Undici.Dispatcher): Collect => (request, bodyLimit, begun) =>
  Effect.map(contentOf(request), (body) => (done) => {
    const handler = new ResponseHandler(bodyLimit, begun, done)
    const { headers, method, url } = request
    const path = url.indexOf("/", url.indexOf("//") + 2) // an absolute URL of a client always has a path
    const options = { origin: url.slice(0, path), path: url.slice(path), method, headers, body }
    const dispatch = () => void dispatcher.dispatch(options, handler)
    Either.merge(Either.try({ try: dispatch, catch: (error) => handler.fail(error) })) // undici throws for some wrong requests
    return () => handler.stop()
  })
