/** Reads server-sent events: the lines of the format, and the data of each event by the operation's schema. */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Any } from "../../../Endpoint.js"
import { TransportError, UnexpectedResponse } from "../../../Errors.js"
import { defined } from "../../runtime/defined.js"
import { memoizeByEndpoint } from "../../runtime/memoize.js"
import { parseJson } from "../../runtime/parseJson.js"
import * as Decode from "../../schema/decode.js"
import * as Issues from "../../schema/issues.js"
import { hostOf } from "../baseUrl.js"

/** A server-sent event. @since 0.1.0 @category models */
export interface ServerSentEvent<Data> {
  /** The identifier of the last event that had one, from which a later call can go on. */
  readonly id?: string
  /** The kind of the event, if it has one. */
  readonly event?: string
  readonly data: Data
}

/** Bytes of a response that goes on. It fails when the connection breaks. */
export type ByteStream = Stream.Stream<Uint8Array, unknown>

/** The longest event in characters. A longer one is no event but an endless line. */
const maxLength = 16 * 1024 * 1024

/** The longest wait for the next bytes. A service sends comments while it has no events, and a connection may end without a sign. */
const idleTimeout = "5 minutes"

const tooLong = "an event is too long"

/** Splits text into events, however it is cut into pieces. */
const makeParser = () => {
  /** The pieces of a line that has not ended, and their length. They are joined once: each time would take as long as all of them. */
  let rest: Array<string> = []
  let length = 0
  /** The rest ends with a carriage return, which may be the first half of a line break. */
  let isCut = false
  let id: string | undefined
  let event = ""
  let data: Array<string> = []
  let size = 0

  const dispatch = (): ReadonlyArray<ServerSentEvent<string>> => {
    const events = data.length === 0
      ? []
      : [{ ...(id !== undefined && { id }), ...(event !== "" && { event }), data: data.join("\n") }]
    data = []
    event = ""
    size = 0
    return events
  }

  const line = (text: string): ReadonlyArray<ServerSentEvent<string>> => {
    if (text === "") return dispatch()
    const colon = text.indexOf(":")
    const name = colon < 0 ? text : text.slice(0, colon)
    const value = colon < 0 ? "" : text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1)
    size += text.length
    if (name === "data") data.push(value)
    else if (name === "event") event = value
    else if (name === "id" && !value.includes("\0")) id = value
    return [] // a comment, `retry`, or a name that nobody knows
  }

  /** Adds a piece. Gives the events that it completes, or what is wrong. */
  return (piece: string): Either.Either<ReadonlyArray<ServerSentEvent<string>>, string> => {
    rest.push(piece)
    length += piece.length
    let events: ReadonlyArray<ServerSentEvent<string>> = []
    if (isCut || /[\r\n]/.test(piece)) {
      const lines = rest.join("").replace(/\r\n|\r(?!$)/g, "\n").split("\n")
      const last = lines.pop() ?? ""
      rest = [last]
      length = last.length
      isCut = last.endsWith("\r")
      events = lines.flatMap(line)
    }
    return size + length > maxLength ? Either.left(tooLong) : Either.right(events)
  }
}

const decoderOf = memoizeByEndpoint(({ events = Schema.Unknown }) => Decode.make(events))

/** Decodes the events of a response. `hide` hides strings of the call's input in the paths of issues. */
export const decode = (
  endpoint: Any,
  tenant: string,
  bytes: ByteStream,
  hide: (text: string) => string
): Stream.Stream<ServerSentEvent<unknown>, TransportError | UnexpectedResponse> => {
  const operation = endpoint.name
  const decodeData = decoderOf(endpoint)
  const refuse = (reason: UnexpectedResponse["reason"], problem: string, path = "") => {
    const message = `${operation}: status 200 from ${hostOf(tenant)}: ${problem}`
    const at = path === "" ? {} : { path }
    const outcome = endpoint.method === "GET" ? "not-done" : "unknown"
    return new UnexpectedResponse({
      operation,
      status: 200,
      reason,
      message,
      outcome,
      ...at,
      shape: "server-sent events"
    })
  }
  const ended = (problem: string, code?: string) => {
    const message = `${operation}: ${problem}`
    return new TransportError(defined({ operation, outcome: "unknown" as const, message, code }))
  }
  const value = (text: string): Either.Either<unknown, UnexpectedResponse> => {
    const json = parseJson(text)
    // Data that is no JSON is a string.
    const decoded = decodeData(Either.getOrElse(json, () => text))
    return Either.mapLeft(decoded, ({ message, path }) => {
      if (Either.isLeft(json)) return refuse("json", "the data of an event is not JSON")
      const at = hide(path)
      return refuse("schema", Issues.mismatch({ path: at, message }), at)
    })
  }
  return Stream.suspend(() => {
    const utf8 = new TextDecoder("utf-8", { fatal: true })
    const parse = makeParser()
    const textOf = (chunk: Uint8Array) =>
      Either.mapLeft(
        Either.try(() => utf8.decode(chunk, { stream: true })),
        () => refuse("encoding", "an event is not valid UTF-8")
      )
    return bytes.pipe(
      Stream.mapError(() => ended(`the connection to ${hostOf(tenant)} broke while events were read`)),
      Stream.timeoutFail(() => ended(`${hostOf(tenant)} sent nothing for ${idleTimeout}`, "TIMEOUT"), idleTimeout),
      Stream.mapEffect((chunk) =>
        Either.flatMap(textOf(chunk), (text) => Either.mapLeft(parse(text), (e) => refuse("size", e)))
      ),
      Stream.mapConcat((events) => events),
      Stream.mapEffect((event) => Either.map(value(event.data), (data) => ({ ...event, data })))
    )
  })
}
