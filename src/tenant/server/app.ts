/** The tenant as one HTTP application: the operations, the token endpoint, files of exports, and the documentation. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import type * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as Endpoint from "../../Endpoint.js"
import { text as bodyText } from "../../internal/http/errorBody.js"
import type { RawBody } from "../../internal/http/rawExchange.js"
import { readStream } from "../../internal/http/responseBody.js"
import type { Advance } from "../api/advance.js"
import type { Responders } from "../api/responders.js"
import { fileOperation, filePath, prefix, type ServedOperation, tokenPaths } from "../api/routes.js"
import type { State } from "../api/state.js"
import type { BucketName } from "../control/http/schemas.js"
import type { Observation, Observer } from "../control/observer.js"
import type { JsonObject } from "../docs/jsonSchema.js"
import * as DocsRoutes from "../docs/routes.js"
import { download, forbidden, methodNotAllowed } from "../exports/download.js"
import type { Files } from "../exports/files.js"
import { fileOrigin, linkedJob } from "../exports/link.js"
import { peerCertificate } from "./clientAuthentication.js"
import { applyFault, type FaultQueue } from "./faults.js"
import { randomId } from "./randomId.js"
import { type BodyDeclaration, parseBody, type ParsedRequest, readInput, type UnknownQuery } from "./requestInput.js"
import type { RequestLog } from "./requestLog.js"
import { addHeaders, emptyResponse, failure, jsonResponse, oauthFailure, type PlainResponse } from "./response.js"
import * as Router from "./router.js"
import { sendResponse } from "./sendResponse.js"
import type { TokenBucket } from "./tokenBucket.js"
import { authorize, type TokenIssuer } from "./tokens.js"

/** The mutable parts of a tenant. */
export interface TenantParts {
  readonly served: ReadonlyArray<ServedOperation>
  readonly openapi: () => JsonObject
  readonly responders: Responders
  readonly state: Ref.Ref<State>
  readonly advance: Advance
  readonly files: Files
  /** Settings of exports: the origin of the links, and why jobs fail. */
  readonly exports: { readonly origin?: string | undefined; readonly failure?: string | undefined }
  /** What becomes of query parameters that an operation does not declare. */
  readonly unknownQuery: UnknownQuery
  readonly tokens: TokenIssuer
  readonly buckets: Readonly<Record<BucketName, TokenBucket>>
  readonly faults: FaultQueue
  readonly log: RequestLog
  /** Present if somebody may look at the tenant: the live page and the control interface. */
  readonly observer?: Observer | undefined
  /** The size of the largest body, in bytes. */
  readonly bodySize: number
}

/** Matches paths exactly: case, slashes and long ids are all significant. */
const exactly: Router.Matching = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  maxParamLength: Infinity
}

/** Splits the request target. A server may receive, and a web `Request` always has, a whole URL. */
export const splitTarget = (request: HttpServerRequest.HttpServerRequest): readonly [path: string, query: string] => {
  const target = request.originalUrl.replace(/^https?:\/\/[^/?]*/, "")
  const mark = target.indexOf("?")
  return mark < 0 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)]
}

const tooManyRequests = failure(429, "Global limit has been reached", { errorCode: "too_many_requests" })

const payloadTooLarge = failure(413, "Payload content length greater than maximum allowed")

const incompleteBody = failure(400, "The body is incomplete", { errorCode: "invalid_body" })

interface ReadBody {
  /** Empty if the body is of no use. */
  readonly content: RawBody["body"]
  /** The bytes that have arrived, also of a body that is too large. */
  readonly size: number
  /** Tells why it is of no use; `undefined` if it is complete, or there is none. */
  readonly problem: "tooLarge" | "interrupted" | undefined
}

/** Reads a body of at most `limit` bytes. The rest is read, too, or the client might miss the response. */
export const readBody = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number
): Effect.Effect<ReadBody> =>
  Effect.suspend(() => {
    const { source } = request
    // The stream of a web `Request` without a body fails.
    if (Predicate.hasProperty(source, "body") && Predicate.isNullable(source.body)) {
      return Effect.succeed({ content: "", size: 0, problem: undefined })
    }
    let size = 0
    const kept = Stream.filter(request.stream, ({ length }) => (size += length) <= limit)
    return Effect.map(readStream(kept, limit, () => "interrupted"), ({ body, completeness }) => {
      const problem = completeness === "interrupted" ? completeness : size > limit ? "tooLarge" : undefined
      return { content: problem === undefined ? body : "", size, problem }
    })
  })

/**
 * Ends the responses of an application that go on without an end, such as events, when its server closes: it would wait for them, and
 * then for their connections.
 */
export const endStreams = (app: Router.App, closing: Deferred.Deferred<void>): Router.App =>
  Effect.map(app, (response) => {
    const { body } = response
    if (body._tag !== "Stream" || body.contentLength !== undefined) return response
    const stream = Stream.interruptWhenDeferred(body.stream, closing)
    return HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType)).pipe(
      HttpServerResponse.setHeader("connection", "close")
    )
  })

export const make = (parts: TenantParts): Effect.Effect<Router.App> => {
  const {
    advance,
    bodySize,
    buckets,
    exports,
    faults,
    files,
    log,
    observer,
    openapi,
    responders,
    served,
    state,
    tokens,
    unknownQuery
  } = parts
  /** Records the request and responds: genuinely, or as a fault says. */
  const respond = <R>(
    operation: string | undefined,
    declaration: BodyDeclaration,
    carryOut: (request: ParsedRequest, observation: Observation | undefined) => Effect.Effect<PlainResponse, never, R>
  ) =>
    Effect.gen(function*() {
      const at = yield* Clock.currentTimeMillis
      const request = yield* HttpServerRequest.HttpServerRequest
      const { headers, method } = request
      const contentType = headers["content-type"]
      const { content: read, problem, size } = yield* readBody(request, bodySize)
      const content = problem === "tooLarge" ? undefined : read
      const [path, search] = splitTarget(request)
      const query = new URLSearchParams(search)
      const body = yield* parseBody(declaration, contentType, content ?? "")
      const recordStatus = yield* log.add({
        at,
        method,
        path,
        query: [...query],
        headers,
        contentType,
        body: content?.length === 0 && contentType === undefined
          ? undefined
          : Either.getOrElse(body, () => content && bodyText(content)),
        operation
      })
      const target = search === "" ? path : `${path}?${search}`
      const observation = observer && (yield* observer.begin({
        at,
        method,
        target,
        headers,
        body: content,
        size,
        parsed: operation === "token" ? Either.getOrUndefined(body) : undefined,
        operation
      }))
      const taken = yield* faults.take(operation)
      if (taken !== undefined) observation?.tookFault(taken.id)
      const fault = taken?.fault
      const carriedOut = problem === undefined
        ? carryOut({ headers, query, body }, observation)
        : Effect.succeed(problem === "tooLarge" ? payloadTooLarge : incompleteBody)
      const faulty = applyFault(fault, carriedOut)
      const plain = yield* observation === undefined
        ? faulty
        : Effect.onExit(
          faulty,
          (exit) => Exit.isFailure(exit) ? observation.ended({ outcome: "aborted" }) : Effect.void
        )
      const date = DateTime.toDate(yield* DateTime.now).toUTCString()
      const response = addHeaders(addHeaders(plain, { date }), fault?.headers ?? {})
      return yield* sendResponse(response, fault?.cut, request, (status) => {
        const recorded = status === undefined ? Effect.void : recordStatus(status)
        if (observation === undefined) return recorded
        const ending = fault?.cut === undefined
          ? { outcome: "responded", response } as const
          : { outcome: "cut", response: status === undefined ? undefined : response } as const
        return Effect.zipRight(recorded, observation.ended(ending))
      })
    }).pipe(Effect.interruptible)

  /** Takes the call out of the bucket, which every response reports. */
  const metered = <R>(
    name: BucketName,
    observation: Observation | undefined,
    call: Effect.Effect<PlainResponse, PlainResponse, R>
  ) =>
    Effect.flatMap(buckets[name].take, ({ allowed, headers, left }) => {
      const response = Effect.map(
        allowed ? Effect.merge(call) : Effect.succeed(tooManyRequests),
        (response) => addHeaders(response, headers)
      )
      return observation === undefined
        ? response
        : Effect.zipRight(observation.tookCall(name, allowed, left), response)
    })

  const operation = (served: ServedOperation) => {
    const { endpoint, handler } = served
    return respond(endpoint.name, endpoint, (request, observation) =>
      metered(
        handler.bucket ?? "tenant",
        observation,
        Effect.gen(function*() {
          const client = yield* tokens.verify(request.headers["authorization"])
          yield* authorize(client, Endpoint.scopesOf(endpoint), handler.global)
          const read = readInput(endpoint, request, yield* HttpRouter.params, unknownQuery)
          // Sound: `readInput` validates with the schemas from which the handler's input type is computed.
          const input = (yield* Either.match(read, { onLeft: Effect.fail, onRight: Effect.succeed })) as never
          const response = responders.respond(served, input)
          if (response !== undefined) return yield* response
          const now = yield* Clock.currentTimeMillis
          const id = yield* randomId(16)
          const success = (body?: unknown) =>
            body === undefined ? emptyResponse(handler.status) : jsonResponse(handler.status, body)
          const origin = exports.origin ?? fileOrigin(yield* HttpServerRequest.HttpServerRequest)
          const context = { input, now, randomId: id, fileOrigin: origin, exportFailure: exports.failure, success }
          return yield* Ref.modify(state, (before) => handler.run(context, advance(before, now)))
        })
      ))
  }

  const token = respond("token", {}, ({ body }) =>
    Either.match(body, {
      onLeft: ({ message }) => Effect.succeed(oauthFailure(400, "invalid_request", message)),
      onRight: (parameters) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers: { host = "" }, source }) =>
          tokens.issue(parameters, { host, certificate: peerCertificate(source) }))
    }))

  const file = respond(fileOperation, {}, ({ headers, query }) =>
    Effect.gen(function*() {
      const { method } = yield* HttpServerRequest.HttpServerRequest
      if (method !== "GET") return methodNotAllowed
      const now = yield* Clock.currentTimeMillis
      const current = advance(yield* Ref.get(state), now)
      const job = linkedJob(current, { ...yield* HttpRouter.params, signature: query.get("signature") }, now)
      if (job === undefined) return forbidden
      return download(yield* files(job, current.users), headers)
    }))

  const notFound = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const response = Effect.succeed(failure(404, "Not Found"))
    const isManagementPath = splitTarget(request)[0].startsWith(`${prefix}/`)
    return respond(
      undefined,
      {},
      (_, observation) => isManagementPath ? metered("tenant", observation, response) : response
    )
  })

  const routes = [
    ...served.map((served) =>
      HttpRouter.makeRoute(served.endpoint.method, `${prefix}${served.endpoint.path}`, operation(served))
    ),
    ...tokenPaths.map((path) => HttpRouter.makeRoute("POST", path, token)),
    HttpRouter.makeRoute("*", filePath, file),
    ...DocsRoutes.make(openapi, { control: observer !== undefined })
  ]

  return Effect.map(Router.make(routes, notFound, exactly), (app) =>
    // The router would end the path at `;` and `#`, which belong to it.
    Effect.updateService(app, HttpServerRequest.HttpServerRequest, (request) => {
      const [path, query] = splitTarget(request)
      return request.modify({ url: `${path.replace(/[;#]/g, encodeURIComponent)}?${query}` })
    }))
}
