/** Tests programs that use the client: handle its operations without HTTP, or script the HTTP replies beneath it. */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type { Any } from "./Endpoint.js"
import type { ClientError } from "./Errors.js"
import { IdentityClient } from "./IdentityClient.js"
import type { Call, Send, Stage } from "./internal/call/call.js"
import { currentSettings } from "./internal/call/settings.js"
import { currentStages, StagedClient, withoutStages } from "./internal/call/staged.js"
import * as HttpClients from "./internal/http/httpClients.js"
import * as Request from "./internal/http/requestEncoder.js"
import { settingOf, withFiber } from "./internal/runtime/fiber.js"
import type { Operation } from "./Operation.js"

/** Handles the calls of one operation. Made by `handle`. @since 0.1.0 @category models */
export interface Handler {
  readonly endpoint: Any
  /** Receives validated inputs only. */
  readonly handle: (input: never) => Effect.Effect<unknown, unknown>
}

/**
 * Handles an operation; input, success and failures have the operation's own types. With server-sent events, the success is a stream.
 * @since 0.1.0 @category constructors
 */
export const handle = <Input, Success, Failure>(
  operation: Pick<Operation<Input, Success, Failure>, "endpoint">,
  handler: (input: NoInfer<Input>) => Effect.Effect<NoInfer<Success>, NoInfer<Failure> | ClientError>
): Handler => ({ endpoint: operation.endpoint, handle: handler })

/** Runs stages around a handler. They see a response without content, because the handler gives the value of the call. */
const withStages = <A, E>(stages: ReadonlyArray<Stage>, call: Call, handled: Effect.Effect<A, E>) => {
  if (stages.length === 0) return handled
  let result: Exit.Exit<A, E> | undefined
  const last: Send = () =>
    Effect.map(Effect.exit(handled), (exit) => {
      result = exit
      return { status: 200, headers: Headers.empty, body: "", completeness: "complete", redirected: false }
    })
  const send = stages.reduceRight((next, stage) => stage(next), last)
  return Effect.flatMap(
    withoutStages(send(call)),
    () => result ?? Effect.dieMessage(`${call.operation}: a stage has made up a response`)
  )
}

/**
 * Provides a client without HTTP, tokens or limits: handlers take the place of the service. Inputs and settings are validated as by
 * the real client, so an invalid one fails with `InvalidInput`. An operation without a handler is a defect that names it; of two
 * handlers the first is used.
 * @since 0.1.0 @category layers @example `Testing.layer(Testing.handle(deleteEventStream, () => Effect.void))`
 */
export const layer = (...handlers: ReadonlyArray<Handler>): Layer.Layer<IdentityClient> => {
  const execute = (endpoint: Any, input: unknown) =>
    withFiber((fiber) => {
      const handler = handlers.find((handler) => handler.endpoint.name === endpoint.name)
      return handler === undefined
        ? Effect.dieMessage(`Testing.layer: no handler for ${endpoint.name}`)
        : Effect.flatMap(Request.make(endpoint, input, settingOf(fiber, currentSettings)), (request) => {
          const { method, target: url } = request
          const call = {
            tenant: "",
            operation: endpoint.name,
            attempt: 1,
            method,
            url,
            headers: Request.requestHeaders(request)
          }
          const stages = settingOf(fiber, currentStages)
          return withStages(stages, call, Effect.suspend(() => handler.handle(request.fields as never)))
        })
    })
  // Sound: `handle` ties each endpoint to a handler with the endpoint's own types.
  return Layer.succeed(
    IdentityClient,
    new StagedClient(execute as Context.Tag.Service<IdentityClient>["execute"])
  )
}

/** A scripted HTTP reply, or the error code of a connection that fails without one. @since 0.1.0 @category models */
export type Reply =
  | {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string | Uint8Array<ArrayBuffer>
  }
  | { readonly code: string }

/**
 * Makes a reply: status 200 without a body by default. A string or bytes are sent as they are; any other `body` is sent as
 * JSON, with that content type unless `headers` sets another.
 * @since 0.1.0 @category constructors
 */
export const reply = (options: {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}): Reply => {
  const { body = "", headers = {}, status = 200 } = options
  if (typeof body === "string" || body instanceof Uint8Array) {
    return { status, headers, body: body as string | Uint8Array<ArrayBuffer> } // sound: tests do not use shared memory
  }
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type")
  return {
    status,
    headers: hasType ? headers : { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  }
}

/**
 * Makes the connection fail without a reply, with an error code such as `ECONNRESET`.
 * @since 0.1.0 @category constructors
 */
export const noReply = (code: string): Reply => ({ code })

/** The service that records the requests of `layerHttp`; `requests` reads it. @since 0.1.0 @category tags */
export class Requests extends Context.Tag("effect-identity-client/Testing/Requests")<
  Requests,
  Effect.Effect<ReadonlyArray<HttpClientRequest.HttpClientRequest>>
>() {}

/** The requests that `layerHttp` has received so far, oldest first. @since 0.1.0 @category getters */
export const requests: Effect.Effect<
  ReadonlyArray<HttpClientRequest.HttpClientRequest>,
  never,
  Requests
> = Effect.flatten(Requests)

const response = (request: HttpClientRequest.HttpClientRequest, reply: Reply) => {
  if ("code" in reply) {
    return Effect.fail(HttpClients.makeError(request, Object.assign(new Error(reply.code), { code: reply.code })))
  }
  const { body, headers, status } = reply
  const web = new Response(status === 204 || status === 205 || status === 304 ? null : body, { status, headers })
  return Effect.succeed(HttpClientResponse.fromWeb(request, web))
}

/**
 * Provides an `HttpClient` that returns the replies in their order, whatever is requested, so that the real client runs above
 * it. A request after the last reply is a defect that names the request.
 * @since 0.1.0 @category layers
 */
export const layerHttp = (...replies: ReadonlyArray<Reply>): Layer.Layer<HttpClient.HttpClient | Requests> =>
  Layer.effectContext(Effect.sync(() => {
    const received: Array<HttpClientRequest.HttpClientRequest> = []
    const client = HttpClient.make((request) =>
      Effect.suspend(() => {
        const reply = replies[received.push(request) - 1]
        return reply === undefined
          ? Effect.dieMessage(`Testing.layerHttp: no reply left for ${request.method} ${request.url}`)
          : response(request, reply)
      })
    )
    return Context.make(HttpClient.HttpClient, client).pipe(Context.add(Requests, Effect.sync(() => [...received])))
  }))
