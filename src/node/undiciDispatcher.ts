/** The direct way over undici: a handler of its dispatcher gathers the answer, and nothing else stands in between. */
import type * as Undici from "@effect/platform-node/Undici"
import * as Headers from "@effect/platform/Headers"
import type * as HttpBody from "@effect/platform/HttpBody"
import type * as Effect from "effect/Effect"
import { Buffer, isAscii } from "node:buffer"
import * as Http from "../internal/http/exchange.js"

/** What the client sends are bytes, or nothing. */
const bytes = (body: HttpBody.HttpBody): Uint8Array | null => body._tag === "Uint8Array" ? body.body : null

/** Where bodies lie together of which only the text is wanted: a buffer for each makes the garbage collector mark far more often. */
const desk = Buffer.allocUnsafeSlow(1024 * 1024)

/** A whole body. If it is all ASCII, as JSON mostly is, its text: telling and copying takes a fraction of decoding. */
const whole = (chunks: ReadonlyArray<Uint8Array>, size: number): Uint8Array | string => {
  const bytes = Http.concat(chunks, size, size <= desk.length ? desk : undefined)
  if (isAscii(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
  return size <= desk.length ? Http.concat(chunks, size) : bytes
}

/** undici's record of headers, whose names are in lower case; one that came several times is a list there. */
const headersOf = (record: Readonly<Record<string, string | Array<string> | undefined>>): Headers.Headers => {
  const headers = { ...record } // as one, which is faster than member by member
  for (const name in headers) {
    const value = headers[name]
    if (Array.isArray(value)) headers[name] = value.join(", ")
  }
  return Headers.unsafeFromRecord(headers as Record<string, string>) // sound: there are no lists left, and a header has a value
}

const stopped = new Error("stopped")

type Result = Effect.Effect<Http.RawResponse, Http.NoResponse>

interface Head {
  readonly status: number
  readonly headers: Headers.Headers
  /** How much of the body is read. */
  readonly limit: number
}

/**
 * Gathers one answer. That nothing was sent is certain until undici has a connection and begins to write. When it is over it
 * lets go of what it has gathered, and of its caller: undici keeps a handler for longer, and the garbage collector would find it in use.
 */
class Gatherer implements Undici.Dispatcher.DispatchHandler {
  private readonly limit: (status: number) => number
  /** Whom to tell; nobody any more when it is over. */
  private done: ((result: Result) => void) | undefined
  private controller: Undici.Dispatcher.DispatchController | undefined
  private head: Head | undefined
  private chunks: Array<Uint8Array> = []
  private size = 0

  constructor(limit: (status: number) => number, done: (result: Result) => void) {
    this.limit = limit
    this.done = done
  }

  onRequestStart(controller: Undici.Dispatcher.DispatchController): void {
    // It was stopped while it waited for a connection: so undici takes it from its queue and keeps the connection.
    if (this.done === undefined) throw stopped
    this.controller = controller
  }

  onResponseStart(
    _: Undici.Dispatcher.DispatchController,
    status: number,
    headers: Parameters<typeof headersOf>[0]
  ): void {
    if (status >= 200) this.head = { status, headers: headersOf(headers), limit: this.limit(status) }
  }

  onResponseData(controller: Undici.Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.chunks.push(chunk)
    this.size += chunk.length
    if (this.head === undefined || this.size <= this.head.limit) return
    this.settle(this.received(this.head, "truncated"))
    controller.abort(stopped)
  }

  onResponseEnd(): void {
    this.settle(this.head === undefined ? this.noAnswer(undefined) : this.received(this.head, "complete"))
  }

  onResponseError(_: Undici.Dispatcher.DispatchController, error: unknown): void {
    this.settle(this.head === undefined ? this.noAnswer(error) : this.received(this.head, Http.completenessOf(error)))
  }

  /** Nobody waits for it any more. It says whether it may have been sent. */
  stop(): boolean {
    const { controller } = this
    this.release()
    controller?.abort(stopped)
    return controller !== undefined
  }

  private received({ headers, limit, status }: Head, completeness: Http.RawResponse["completeness"]): Result {
    const body = completeness === "complete"
      ? whole(this.chunks, this.size)
      : Http.concat(this.chunks, Math.min(this.size, limit))
    return Http.unzipped({ status, headers, body, completeness, redirected: false }, limit)
  }

  private noAnswer(error: unknown): Result {
    return new Http.NoResponse({
      outcome: this.controller === undefined ? "not-sent" : "unknown",
      code: Http.codeOf(error)
    })
  }

  private settle(result: Result): void {
    const { done } = this
    this.release()
    done?.(result)
  }

  private release(): void {
    this.done = this.controller = this.head = undefined
    this.chunks = []
  }
}

/** Exchanges over this dispatcher. */
export const over = (dispatcher: Undici.Dispatcher): Http.LeanTransport => (message, limit) => (done) => {
  const gatherer = new Gatherer(limit, done)
  const { body, headers, method, url } = message
  const path = url.indexOf("/", url.indexOf("//") + 2) // a URL that the client has made has one
  dispatcher.dispatch(
    { origin: url.slice(0, path), path: url.slice(path), method, headers, body: bytes(body) },
    gatherer
  )
  return () => gatherer.stop()
}
