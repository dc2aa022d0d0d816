/** One request to the storage: never with a token, and never to another host than the link's. */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import { open, type OpenResponse } from "../http/exchange.js"
import { codeOf } from "../http/platformErrors.js"
import { defined } from "../runtime/defined.js"
import { ExportError, type ExportReason } from "./exportError.js"

/**
 * The number of bytes that one request asks for. Ranges bound what waits in memory while rows are not taken, without pausing a
 * connection: if a paused one ends, undici 7 throws where nothing can catch it (nodejs/undici#5360).
 */
const rangeSize = 4 * 1024 * 1024

/** A failure after which the download goes on by another request. */
export class Broken extends Data.TaggedError("Broken")<{
  readonly reason: ExportReason
  readonly message: string
  readonly status?: number
  readonly code?: string
}> {}

/** A part of the file, or the whole. */
export interface Part {
  /** The offset of the first byte of `body`. */
  readonly start: number
  /** The offset after the last byte of `body`, if the storage tells it. */
  readonly end: number | undefined
  /** The size of the file, if the storage tells it. */
  readonly total: number | undefined
  readonly etag: string | undefined
  readonly body: Stream.Stream<Uint8Array, Broken>
}

/** The longest wait for a response's head, and for its next bytes. */
const idleTimeout = "60 seconds"

const maxRedirects = 3

const broken = (error: unknown): Broken => {
  const code = codeOf(error)
  return new Broken({
    reason: "network",
    message: `the download broke off${code === undefined ? "" : ` (${code})`}`,
    ...defined({ code })
  })
}

const timedOut = () =>
  new Broken({ reason: "network", message: "the storage sent nothing for a minute", code: "TIMEOUT" })

/** Ends a response whose body is not wanted. */
export const discard = ({ body }: { readonly body: Stream.Stream<Uint8Array, unknown> }): Effect.Effect<void> =>
  Effect.ignore(Effect.timeout(Stream.runHead(body), "5 seconds"))

const integer = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined

const fatal = (reason: ExportReason, message: string, status: number) =>
  Either.left(new ExportError({ reason, message, status }))

/** Reads the head of a response to a request for the bytes from an offset on. */
const partOf = (
  { body, headers, status }: OpenResponse,
  from: number
): Either.Either<Part, ExportError | Broken> => {
  const part = {
    etag: headers["etag"],
    body: body.pipe(
      Stream.mapError((error) => broken(error.cause)),
      Stream.timeoutFail(timedOut, idleTimeout)
    )
  }
  if (status < 300 && /^text\/html\b/i.test(headers["content-type"] ?? "")) {
    return fatal("not-gzip", "the storage sent a web page instead of the file", status)
  }
  if (status === 206) {
    const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers["content-range"] ?? "") ?? []
    const [start, end, total] = [integer(first), integer(last), integer(size)]
    return start === from && end !== undefined && end >= start && total !== undefined && end < total
      ? Either.right({ ...part, start, end: end + 1, total })
      : fatal("length", "the storage sent another part of the file than was asked for", status)
  }
  if (status === 200) {
    // `fetch` decompresses an encoded body, whose length is then another.
    const total = headers["content-encoding"] === undefined ? integer(headers["content-length"]) : undefined
    return Either.right({ ...part, start: 0, end: total, total })
  }
  if (status === 416) return fatal("length", "the file in the storage is shorter than announced", status)
  return [400, 401, 403, 410].includes(status)
    ? Either.left(new Broken({ reason: "refused", message: `the storage refused the link (${status})`, status }))
    : Either.left(new Broken({ reason: "status", message: `the storage responded with ${status}`, status }))
}

/** Requests the bytes of the file from an offset on, at most `rangeSize` of them. A storage without ranges sends all. */
export const request = (
  client: HttpClient.HttpClient,
  link: URL,
  from: number,
  redirects = 0
): Effect.Effect<Part, ExportError | Broken> => {
  const headers = {
    accept: "*/*",
    "accept-encoding": "identity",
    range: `bytes=${from}-${from + rangeSize - 1}`
  }
  return open(client, link, headers, rangeSize).pipe(
    Effect.mapError(({ code }) => broken({ code })),
    Effect.timeoutFail({ duration: idleTimeout, onTimeout: timedOut }),
    Effect.flatMap((response) => {
      const { redirected, status } = response
      if (redirected || status === 0 || (status >= 300 && status < 400)) {
        const { location } = response.headers
        const target = location !== undefined && URL.canParse(location, link) ? new URL(location, link) : undefined
        return Effect.zipRight(
          discard(response),
          !redirected && target?.origin === link.origin && redirects < maxRedirects
            ? request(client, target, from, redirects + 1)
            : Effect.fail(
              new ExportError({
                reason: "redirect",
                message: "the storage redirects to another host, or endlessly",
                status
              })
            )
        )
      }
      return Either.match(partOf(response, from), {
        onLeft: (error) => Effect.zipRight(discard(response), Effect.fail(error)),
        onRight: Effect.succeed
      })
    })
  )
}
