/** For tests of programs that use the client: answer its operations, or script the HTTP replies beneath it. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Any } from "./Endpoint.js"
import type { ClientError } from "./Errors.js"
import { IdentityClient } from "./IdentityClient.js"
import * as Request from "./internal/http/requestEncoder.js"
import type { Operation } from "./Operation.js"

/** Answers the calls of one operation. */
export interface Handler {
  readonly endpoint: Any
  /** Gets inputs that were checked. */
  readonly handle: (input: never) => Effect.Effect<unknown, unknown>
}

/** Answers an operation: input, success and failures are held to its types. */
export const handle = <Input, Success, Failure>(
  operation: Operation<Input, Success, Failure>,
  answer: (input: Input) => Effect.Effect<Success, Failure | ClientError>
): Handler => ({ endpoint: operation.endpoint, handle: answer })

/**
 * A client without a network: the handlers answer. Inputs are checked as the real client checks them, so that a program
 * which would get `InvalidInput` gets it here. An operation that nobody handles is a defect that names it.
 */
export const layer = (...handlers: ReadonlyArray<Handler>): Layer.Layer<IdentityClient> => {
  const execute = (endpoint: Any, input: unknown) =>
    Effect.suspend(() => {
      const handler = handlers.find((handler) => handler.endpoint.name === endpoint.name)
      return handler === undefined
        ? Effect.dieMessage(`Testing.layer: nothing handles ${endpoint.name}`)
        : Effect.flatMap(Request.validate(endpoint, input), (input) => handler.handle(input as never))
    })
  // Sound: `handle` has tied each endpoint to an answer of that endpoint's own types.
  return Layer.succeed(IdentityClient, { execute: execute as Context.Tag.Service<IdentityClient>["execute"] })
}

/** An HTTP reply, or the failure to give one. */
export type Reply =
  | {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string | Uint8Array<ArrayBuffer>
  }
  | { readonly code: string }

/**
 * A reply. A `body` that is no string and no bytes is sent as JSON, a string as text unless `headers` say
 * otherwise; default: status 200, no body.
 */
export const reply = (options: {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}): Reply => {
  const { body = "", headers = {}, status = 200 } = options
  return typeof body === "string" || body instanceof Uint8Array
    ? { status, headers, body: body as string | Uint8Array<ArrayBuffer> } // sound: shared memory is no use in a test
    : { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) }
}

/** No reply: the connection fails with this code, for example `ECONNRESET`. */
export const noReply = (code: string): Reply => ({ code })

/** The requests that reached `layerHttp`, the oldest first. */
export class Requests extends Context.Tag("effect-identity-client/Testing/Requests")<
  Requests,
  Effect.Effect<ReadonlyArray<HttpClientRequest.HttpClientRequest>>
>() {}

/** The requests that reached `layerHttp`, the oldest first. */
export const requests: Effect.Effect<
  ReadonlyArray<HttpClientRequest.HttpClientRequest>,
  never,
  Requests
> = Effect.flatten(Requests)

const response = (request: HttpClientRequest.HttpClientRequest, reply: Reply) => {
  if ("code" in reply) {
    const cause = Object.assign(new Error(reply.code), { code: reply.code })
    return Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport", cause }))
  }
  const { body, headers, status } = reply
  const web = new Response(status === 204 || status === 205 || status === 304 ? null : body, { status, headers })
  return Effect.succeed(HttpClientResponse.fromWeb(request, web))
}

/**
 * A network that gives these replies, in their order, whatever is asked; the real client runs above it. A request after
 * the last reply is a defect that names it.
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
