/** Replays recorded exchanges against operations: what is refused, sent otherwise, not decoded, changed, or a defect. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { isDeepStrictEqual } from "node:util"
import type { Endpoint } from "../../src/Endpoint.js"
import * as IdentityClient from "../../src/IdentityClient.js"
import { parse } from "../../src/internal/runtime/parseJson.js"
import * as Retry from "../../src/Retry.js"
import { isObject, type Json } from "../generate/harness/document.js"
import type { Exchange } from "./exchange.js"
import { bodyOf, type Extra, type Input, inputOf, moved, partsOf } from "./input.js"
import type { Received, Server } from "./server.js"

export type AnyEndpoint = Endpoint<unknown, unknown, unknown>

/** Something that is not as recorded. */
export interface Finding {
  readonly kind: "refused" | "sent" | "undecoded" | "changed" | "defect"
  readonly reason: string
}

export interface Replayed {
  readonly findings: ReadonlyArray<Finding>
  /** The fields of the request that the operation does not describe. */
  readonly undescribed: ReadonlyArray<string>
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0

const send = (endpoint: AnyEndpoint, fields: unknown, extra: Extra) => {
  const call = Effect.flatMap(IdentityClient.IdentityClient, (client) => client.execute(endpoint, fields))
  const complete = isEmpty(extra.body) && isEmpty(extra.query) ? call : IdentityClient.withFields(call, extra)
  return Retry.withoutRetries(complete)
}

type Result = Exit.Exit<unknown, unknown>

const failureOf = (result: Result): unknown =>
  Exit.isFailure(result) ? Option.getOrUndefined(Cause.failureOption(result.cause)) : undefined

const isTagged = <Tag extends string>(
  error: unknown,
  tag: Tag
): error is { readonly _tag: Tag } & Record<string, unknown> => Predicate.isTagged(error, tag)

interface Issue {
  readonly path: string
  readonly message: string
}

const issuesOf = (error: unknown): ReadonlyArray<Issue> =>
  isTagged(error, "InvalidInput") ? error["issues"] as ReadonlyArray<Issue> : [] // sound: the class has them

/** Calls with an input. Fields that the operation does not describe are sent as they are. */
const call = (endpoint: AnyEndpoint, input: Input, undescribed: ReadonlyArray<string> = []): Effect.Effect<
  { readonly result: Result; readonly undescribed: ReadonlyArray<string> },
  never,
  IdentityClient.IdentityClient
> =>
  Effect.flatMap(Effect.exit(send(endpoint, input.fields, input.extra)), (result) => {
    const unknown = issuesOf(failureOf(result)).filter(({ message }) => message === "unknown field")
    if (unknown.length === 0 || undescribed.length > 100) return Effect.succeed({ result, undescribed })
    const next = unknown.reduce((input, { path }) => moved(input, path, endpoint.body !== undefined), input)
    return call(endpoint, next, [...undescribed, ...unknown.map(({ path }) => path)])
  })

/** An endpoint with the same responses and without input: it shows what a refused request would have got. */
const withoutInput = ({ error, events, idempotent, method, name, success }: AnyEndpoint): AnyEndpoint => ({
  name,
  method,
  path: "/recorded",
  input: Schema.Unknown,
  scope: [],
  idempotent,
  error,
  ...success !== undefined && { success },
  ...events !== undefined && { events }
})

/** Objects without their nulls: those of optional fields are left out of what is decoded. */
const withoutNulls = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withoutNulls)
    : Predicate.isReadonlyRecord(value)
    ? Object.fromEntries(
      Object.entries(value).filter(([, field]) => field !== null).map(([name, field]) => [name, withoutNulls(field)])
    )
    : value

const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(withoutNulls(a), withoutNulls(b))

/** A query without regard to the order of its fields. */
const queryOf = (text: string): ReadonlyArray<readonly [string, string]> =>
  [...new URLSearchParams(text)].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)

const isEmptyObject = (value: Json): boolean => isObject(value) && isEmpty(value)

/** A body as JSON; nothing for `{}`, which says no more. */
const sentBodyOf = (text: string): Json | undefined => {
  const body = bodyOf(text)
  return body !== undefined && isEmptyObject(body) ? undefined : body
}

const sentOtherwise = (
  endpoint: AnyEndpoint,
  exchange: Exchange,
  received: ReadonlyArray<Received>
): ReadonlyArray<string> => {
  const [request] = received
  if (request === undefined) return ["nothing was sent"]
  const [path, query = ""] = request.target.split("?")
  const read = (text: string) => endpoint.multipart === undefined ? sentBodyOf(text) : partsOf(text)
  const [sent, recorded] = [request.body, exchange.requestBody].map(read)
  return [
    ...received.length > 1 ? [`${received.length} requests were sent`] : [],
    ...request.method === exchange.method ? [] : [`the method is ${request.method}`],
    ...decodeURIComponent(path!) === decodeURIComponent(exchange.path) ? [] : [`the path is ${path}`],
    ...isDeepStrictEqual(queryOf(query), queryOf(exchange.query)) ? [] : [`the query is ${query}`],
    ...isDeepStrictEqual(sent, recorded) ? [] : [`the body is ${JSON.stringify(sent)?.slice(0, 300)}`]
  ]
}

const tagOf = (error: unknown): string => Predicate.hasProperty(error, "_tag") ? String(error._tag) : String(error)

const messageOf = (error: unknown): string => Predicate.hasProperty(error, "message") ? String(error.message) : ""

/** What is wrong with the result of a call, by its recorded response. */
const judge = (exchange: Exchange, result: Result): ReadonlyArray<Finding> => {
  const { body, status } = exchange
  if (Exit.isFailure(result) && Cause.isDie(result.cause)) {
    return [{ kind: "defect", reason: Cause.pretty(result.cause).split("\n")[0] ?? "" }]
  }
  if (status < 300) {
    if (Exit.isFailure(result)) {
      const error = failureOf(result)
      return [{ kind: "undecoded", reason: `${tagOf(error)}: ${messageOf(error)}` }]
    }
    // Large integers arrive as their digits.
    const recorded = bodyOf(body) === undefined ? undefined : parse(body)
    const isKept = recorded === undefined || isDeepStrictEqual(recorded, {})
      ? result.value === undefined || isSame(result.value, recorded)
      : isSame(result.value, recorded)
    return isKept ? [] : [{ kind: "changed", reason: `the value is ${JSON.stringify(result.value)?.slice(0, 100)}` }]
  }
  const error = failureOf(result)
  if (Exit.isSuccess(result) || tagOf(error) === "UnexpectedResponse" || !Predicate.hasProperty(error, "raw")) {
    return [{
      kind: "undecoded",
      reason: Exit.isSuccess(result) ? "it is a success" : `${tagOf(error)}: ${messageOf(error)}`
    }]
  }
  const raw = Redacted.isRedacted(error.raw) ? Redacted.value(error.raw) : undefined
  return raw === body ? [] : [{ kind: "changed", reason: "the error has another body" }]
}

/** Replays an exchange. The response to a request that is refused is decoded nevertheless. */
export const replay = (
  server: Server,
  endpoint: AnyEndpoint,
  exchange: Exchange
): Effect.Effect<Replayed, never, IdentityClient.IdentityClient> =>
  Effect.gen(function*() {
    server.respond(exchange)
    const input = inputOf(endpoint, exchange)
    const first = Object.keys(input.extra.query).map((name) => `${name} (query)`)
    const { result, undescribed } = yield* call(endpoint, input, [...first, ...Object.keys(input.extra.body)])
    const error = failureOf(result)
    if (!isTagged(error, "InvalidInput")) {
      const sent = sentOtherwise(endpoint, exchange, server.received())
      const findings = sent.map((reason): Finding => ({ kind: "sent", reason }))
      return { findings: [...findings, ...judge(exchange, result)], undescribed }
    }
    const refused: Finding = { kind: "refused", reason: messageOf(error).slice(0, 300) }
    const { result: other } = yield* call(withoutInput(endpoint), { fields: {}, extra: { body: {}, query: {} } })
    return { findings: [refused, ...judge(exchange, other)], undescribed }
  })
