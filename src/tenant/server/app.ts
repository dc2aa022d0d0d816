/** The tenant as one HTTP application: the operations that are declared and have a handler, and the token endpoint. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Ref from "effect/Ref"
import type * as Endpoint from "../../Endpoint.js"
import type { Served } from "../api/routes.js"
import { prefix, served, tokenPaths } from "../api/routes.js"
import type { State } from "../api/state.js"
import * as State_ from "../api/state.js"
import * as Described from "../docs/routes.js"
import type { Faults } from "./faults.js"
import * as Fault from "./faults.js"
import * as Form from "./formDecoding.js"
import * as Ids from "./randomId.js"
import type { Problem } from "./requestBody.js"
import * as Body from "./requestBody.js"
import type { Log } from "./requestLog.js"
import * as Received from "./requestLog.js"
import type { Answer } from "./response.js"
import * as Respond from "./response.js"
import { reply } from "./send.js"
import type { Take } from "./tokenBucket.js"
import type { Tokens } from "./tokens.js"
import { authorize } from "./tokens.js"

/** What the application works with. */
export interface Parts {
  readonly state: Ref.Ref<State>
  readonly tokens: Tokens
  readonly buckets: { readonly tenant: Take; readonly profileUpdates: Take }
  readonly faults: Faults
  readonly log: Log
}

/** A request that was read: what the operations and the token endpoint look at. */
interface Arrived {
  readonly authorization: string | undefined
  readonly query: URLSearchParams
  readonly body: Either.Either<unknown, Problem>
}

/** Paths mean what they say: case, slashes and long ids are all significant. */
const strictly = HttpRouter.withRouterConfig({
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  maxParamLength: Infinity
})

/** `/path` and `query` as they were received; a server may get, and a web request always has, a whole URL. */
const target = (request: HttpServerRequest.HttpServerRequest): readonly [path: string, query: string] => {
  const url = request.originalUrl.replace(/^https?:\/\/[^/?]*/, "")
  const mark = url.indexOf("?")
  return mark < 0 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)]
}

const decode = (part: Body.Part, fields: Endpoint.Fields | undefined, value: unknown, minProperties?: number) =>
  fields === undefined ? Either.right({}) : Body.validate(part, fields, value, minProperties)

/** The input of the operation, put together from path, query and body, each held to its declaration. */
const readInput = (endpoint: Endpoint.Any, arrived: Arrived, params: unknown): Either.Either<object, Answer> =>
  Either.gen(function*() {
    const inPath = yield* decode("Path", endpoint.params, params)
    const search = yield* Either.mapLeft(
      Form.toJson(endpoint.query ?? {}, arrived.query),
      (problem) => Body.refuse("Query", problem)
    )
    const inQuery = yield* decode("Query", endpoint.query, search)
    if (endpoint.payload === undefined) return { ...inPath, ...inQuery }
    const body = yield* Either.mapLeft(arrived.body, (problem) => Body.refuse("Payload", problem))
    return { ...inPath, ...inQuery, ...(yield* decode("Payload", endpoint.payload, body, endpoint.minProperties)) }
  })

const tooManyRequests = Respond.failure(429, "Global limit has been reached", { errorCode: "too_many_requests" })

export const make = ({ buckets, faults, log, state, tokens }: Parts): Effect.Effect<HttpApp.Default> => {
  /** Receives a request, remembers it, and answers: genuinely, or as a fault has it. */
  const answer = <R>(
    operation: string | undefined,
    payload: Endpoint.Fields | undefined,
    carryOut: (arrived: Arrived) => Effect.Effect<Answer, never, R>
  ) =>
    Effect.gen(function*() {
      const at = yield* Clock.currentTimeMillis
      const request = yield* HttpServerRequest.HttpServerRequest
      const { authorization, "content-type": contentType } = request.headers
      const text = yield* Effect.orElseSucceed(request.text, () => "") // the client has gone away
      const [path, search] = target(request)
      const query = new URLSearchParams(search)
      const body = Body.parse(payload ?? {}, contentType, text)
      const shown = text === "" && contentType === undefined ? undefined : Either.getOrElse(body, () => text)
      const answered = yield* log.add({
        at,
        method: request.method,
        path,
        query: [...query],
        headers: Received.redactHeaders(request.headers),
        contentType,
        body: operation === "token" ? Received.redactSecret(shown) : shown,
        operation
      })
      const fault = yield* faults.take(operation)
      const given = yield* Fault.apply(fault, carryOut({ authorization, query, body }))
      const date = DateTime.toDate(yield* DateTime.now).toUTCString()
      return yield* reply(Respond.withHeaders(given, { date, ...fault?.headers }), fault?.cut, request.source, answered)
    }).pipe(Effect.interruptible)

  /** Every call costs one of its bucket, and every answer tells what is left. */
  const metered = <R>(take: Take, call: Effect.Effect<Answer, Answer, R>) =>
    Effect.flatMap(take, ({ allowed, headers }) =>
      Effect.map(
        allowed ? Effect.merge(call) : Effect.succeed(tooManyRequests),
        (given) => Respond.withHeaders(given, headers)
      ))

  const operation = ({ endpoint, handler }: Served) =>
    answer(endpoint.name, endpoint.payload, (arrived) =>
      metered(
        buckets[handler.bucket ?? "tenant"],
        Effect.gen(function*() {
          const caller = yield* tokens.verify(arrived.authorization)
          yield* authorize(caller, endpoint.scope, handler.global)
          // Sound: the parts were just checked by the schemas from which the handler's input type is computed.
          const input = (yield* readInput(endpoint, arrived, yield* HttpRouter.params)) as never
          const now = yield* Clock.currentTimeMillis
          const fresh = yield* Ids.make("", 16)
          const success = (body?: unknown) =>
            body === undefined ? Respond.nothing(handler.status) : Respond.json(handler.status, body)
          return yield* Ref.modify(
            state,
            (before) => handler.run({ input, now, fresh, success }, State_.settle(before, now))
          )
        })
      ))

  const token = answer("token", undefined, ({ body }) =>
    Either.match(body, {
      onLeft: ({ message }) => Effect.succeed(Respond.oauthFailure(400, "invalid_request", message)),
      onRight: tokens.issue
    }))

  const notFound = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const nothing = Effect.succeed(Respond.failure(404, "Not Found"))
    const isOurs = target(request)[0].startsWith(`${prefix}/`)
    return answer(undefined, undefined, () => isOurs ? metered(buckets.tenant, nothing) : nothing)
  })

  const router = HttpRouter.fromIterable([
    ...served.map((one) => HttpRouter.makeRoute(one.endpoint.method, `${prefix}${one.endpoint.path}`, operation(one))),
    ...tokenPaths.map((path) => HttpRouter.makeRoute("POST", path, token)),
    ...Described.routes
  ])

  return Effect.map(strictly(HttpRouter.toHttpApp(router)), (routed) =>
    routed.pipe(
      Effect.catchTag("RouteNotFound", () => notFound),
      // The router takes `;` and `#` for the end of the path, which they are not.
      Effect.updateService(HttpServerRequest.HttpServerRequest, (request) => {
        const [path, query] = target(request)
        return request.modify({ url: `${path.replace(/[;#]/g, encodeURIComponent)}?${query}` })
      })
    ))
}
