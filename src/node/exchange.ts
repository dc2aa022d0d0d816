/** The direct way over undici: a handler of its dispatcher gathers the answer, and nothing else stands in between. */
import type * as Undici from "@effect/platform-node/Undici"
import * as Headers from "@effect/platform/Headers"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as Effect from "effect/Effect"
import { Buffer, isAscii } from "node:buffer"
import * as Http from "../internal/http.js"

/** What the client sends are bytes, or nothing. */
const bytes = (body: HttpBody.HttpBody): Uint8Array | null => body._tag === "Uint8Array" ? body.body : null

/** The text of bytes that are all ASCII, as JSON mostly is: telling and copying takes a fraction of decoding. */
const ascii = (bytes: Uint8Array): string | undefined =>
  isAscii(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1") : undefined

const stopped = new Error("stopped")

/** Exchanges over this dispatcher. That nothing was sent is certain until undici has a connection and begins to write. */
export const over = (dispatcher: Undici.Dispatcher): Http.Direct => (message, limit) => (done) => {
  let isOver = false
  let begun: Undici.Dispatcher.DispatchController | undefined
  let head: { readonly status: number; readonly headers: Headers.Headers; readonly limit: number } | undefined
  let size = 0
  const chunks: Array<Uint8Array> = []

  const settle = (result: Effect.Effect<Http.Received, Http.NoAnswer>): void => {
    if (isOver) return
    isOver = true
    done(result)
  }
  const end = ({ headers, limit, status }: NonNullable<typeof head>, end: Http.Received["end"]): void => {
    if (isOver) return
    const body = Http.concat(chunks, Math.min(size, limit))
    settle(Effect.succeed({
      status,
      headers,
      body,
      text: end === "whole" ? ascii(body) : undefined,
      end,
      redirected: false
    }))
  }
  const fail = (error: unknown): void =>
    settle(new Http.NoAnswer({ outcome: begun === undefined ? "not-sent" : "unknown", code: Http.codeOf(error) }))

  const handler: Undici.Dispatcher.DispatchHandler = {
    onRequestStart: (controller) => {
      // It was stopped while it waited for a connection: so undici takes it from its queue and keeps the connection.
      if (isOver) throw stopped
      begun = controller
    },
    onResponseStart: (_, status, headers) => {
      if (status >= 200) head = { status, headers: Headers.fromInput(headers), limit: limit(status) }
    },
    onResponseData: (controller, chunk) => {
      chunks.push(chunk)
      size += chunk.length
      if (head === undefined || size <= head.limit) return
      end(head, "cut")
      controller.abort(stopped)
    },
    onResponseEnd: () => head === undefined ? fail(undefined) : end(head, "whole"),
    onResponseError: (_, error) => head === undefined ? fail(error) : end(head, Http.brokenEnd(error))
  }

  const { origin, pathname, search } = new URL(message.url) // the client has checked it
  const { body, headers, method } = message
  dispatcher.dispatch({ origin, path: `${pathname}${search}`, method, headers, body: bytes(body) }, handler)
  return () => {
    isOver = true
    begun?.abort(stopped)
    return begun !== undefined
  }
}
