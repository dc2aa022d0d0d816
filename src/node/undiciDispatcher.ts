/** The lean transport over undici: a dispatcher's handler collects the response, without a fiber or a stream in between. */
import type * as Undici from "@effect/platform-node/Undici"
import * as Headers from "@effect/platform/Headers"
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Buffer, isAscii } from "node:buffer"
import type { LeanTransport } from "../internal/http/exchange.js"
import * as PlatformErrors from "../internal/http/platformErrors.js"
import { type BodyLimit, NoResponse, type RawBody, type RawResponse } from "../internal/http/rawExchange.js"
import * as Body from "../internal/http/responseBody.js"

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

type ExchangeResult = Effect.Effect<RawResponse, NoResponse>

interface Head {
  readonly status: number
  readonly headers: Headers.Headers
}

/**
 * Collects one response. Until undici has a connection and begins to write, it is certain that nothing was sent. At its end
 * the handler drops all references, because undici holds on to it for longer.
 */
class ResponseHandler implements Undici.Dispatcher.DispatchHandler {
  private readonly bodyLimit: BodyLimit
  private done: ((result: ExchangeResult) => void) | undefined
  private controller: Undici.Dispatcher.DispatchController | undefined
  private head: Head | undefined
  /** The number of bytes to read from the body. */
  private limit = Infinity
  private chunks: Array<Uint8Array> = []
  private size = 0

  constructor(bodyLimit: BodyLimit, done: (result: ExchangeResult) => void) {
    this.bodyLimit = bodyLimit
    this.done = done
  }

  onRequestStart(controller: Undici.Dispatcher.DispatchController): void {
    // The request was stopped while it waited for a connection: undici drops it and keeps the connection.
    if (this.done === undefined) throw stopped
    this.controller = controller
  }

  onResponseStart(
    _: Undici.Dispatcher.DispatchController,
    status: number,
    headers: Parameters<typeof headersOf>[0]
  ): void {
    if (status < 200) return
    this.head = { status, headers: headersOf(headers) }
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

  /** Aborts the request. Returns whether it may have been sent. */
  stop(): boolean {
    const { controller } = this
    this.release()
    controller?.abort(stopped)
    return controller !== undefined
  }

  private response({ headers, status }: Head, completeness: RawBody["completeness"]): ExchangeResult {
    const body = completeness === "complete"
      ? joined(this.chunks, this.size)
      : Body.concat(this.chunks, Math.min(this.size, this.limit))
    return Body.decompressed({ status, headers, body, completeness, redirected: false }, this.limit)
  }

  private noResponse(error: unknown): ExchangeResult {
    return new NoResponse({
      outcome: this.controller === undefined ? "not-sent" : "unknown",
      code: PlatformErrors.codeOf(error)
    })
  }

  private end(completeness: RawBody["completeness"], error?: unknown): void {
    const { done, head } = this
    const result = head === undefined ? this.noResponse(error) : this.response(head, completeness)
    this.release()
    done?.(result)
  }

  private release(): void {
    this.done = this.controller = this.head = undefined
    this.chunks = []
  }
}

export const over = (dispatcher: Undici.Dispatcher): LeanTransport => (request, bodyLimit, streamed) => (done) => {
  const handler = new ResponseHandler(bodyLimit, done)
  const { body, headers, method, url } = request
  const path = url.indexOf("/", url.indexOf("//") + 2) // a URL of the client always has a path
  // The client sends text, bytes, a stream or nothing. Sound: undici reads any iterable, though its types name only a few.
  const content = typeof body === "string"
    ? body
    : body._tag === "Uint8Array"
    ? body.body
    : (streamed ?? null) as Uint8Array | null
  const options = { origin: url.slice(0, path), path: url.slice(path), method, headers, body: content }
  const dispatch = () => void dispatcher.dispatch(options, handler)
  Either.merge(Either.try({ try: dispatch, catch: (error) => handler.fail(error) })) // undici throws for some wrong requests
  return () => handler.stop()
}
