/**
 * Responses that an HTTP client collects: it reads the body itself, and gives it together with status and headers. That saves three quarters
 * of the processor time of a small call: no stream, and no objects of the platform for it (`npm run bench`, `ours-lean` and `ours-stock`).
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { contextOf, withFiber } from "../runtime/fiber.js"
import type { CallbackTask } from "../runtime/timeouts.js"
import { type HttpError, makeError } from "./httpClients.js"
import type { BodyLimit, NoResponse, RawRequest, RawResponse } from "./rawExchange.js"

type Request = HttpClientRequest.HttpClientRequest

/** Sends a request, and collects its response. */
export type Collect = (
  request: RawRequest,
  bodyLimit: BodyLimit
) => Effect.Effect<CallbackTask<RawResponse, NoResponse>>

/** How the current fiber wants responses to be collected. A client that does not know this responds as always. */
export interface Collecting {
  readonly bodyLimit: BodyLimit
  readonly run: (task: CallbackTask<RawResponse, NoResponse>) => Effect.Effect<RawResponse, NoResponse>
}

const Collecting = Context.GenericTag<Collecting>("effect-identity-client/internal/http/Collecting")

/** Collects the responses of the clients that can do it. */
export const withCollecting = <R>(
  context: Context.Context<R>,
  collecting: Collecting
): Context.Context<R | Collecting> => Context.add(context, Collecting, collecting)

/** A response that was collected, in the shape of a web response: the platform wraps it. It makes the web response if a client looks at more. */
class Collected {
  readonly response: RawResponse
  readonly url = ""
  private made: Response | undefined

  constructor(response: RawResponse) {
    this.response = response
  }

  get status(): number {
    return this.response.status
  }

  private get web(): Response {
    if (this.made !== undefined) return this.made
    const { body, completeness } = this.response
    const bytes = new Blob([body as Uint8Array<ArrayBuffer>]).stream() // sound: it was read into a plain buffer, or is a text
    const cut = new TransformStream({
      flush: (controller) => controller.error(new Error(`the body is ${completeness}`))
    })
    const content = body.length === 0 ? null : completeness === "complete" ? bytes : bytes.pipeThrough(cut)
    this.made = new Response(content, { headers: this.response.headers })
    return this.made
  }

  get headers(): Response["headers"] {
    return this.web.headers
  }

  get body(): Response["body"] {
    return this.web.body
  }

  text(): Promise<string> {
    return this.web.text()
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.web.arrayBuffer()
  }

  formData(): Promise<FormData> {
    return this.web.formData()
  }
}

/** The response that was collected, if a response of the platform is one, however often it is wrapped. */
export const collectedOf = (innermost: object): RawResponse | undefined =>
  innermost instanceof Collected ? innermost.response : undefined

const responseTo = (request: Request, response: RawResponse): HttpClientResponse.HttpClientResponse =>
  HttpClientResponse.fromWeb(request, new Collected(response) as unknown as Response) // sound: the platform reads no other fields

const collects = Symbol("collects")

/** A client that collects, unless it is wrapped: then what it is wrapped in must see the request and the response. */
export const collectOf = (client: HttpClient.HttpClient & { readonly [collects]?: Collect }): Collect | undefined =>
  client[collects]

/** Makes a client that collects responses where that is wanted, and leaves all other requests to another client. */
export const over = (client: HttpClient.HttpClient, collect: Collect): HttpClient.HttpClient =>
  Object.assign(
    HttpClient.makeWith<never, never, HttpError, never>(
      (prepared) =>
        Effect.flatMap(prepared, (request) =>
          withFiber((fiber) => {
            const url = HttpClientRequest.toUrl(request)
            const context = contextOf(fiber) as Context.Context<Collecting> // sound: it need not be there
            const collecting = Context.getOrElse(context, Collecting, () => undefined)
            if (collecting === undefined || Option.isNone(url)) return client.execute(request)
            const { body, headers, method } = request
            const task = collect({ method, url: url.value.href, headers, body }, collecting.bodyLimit)
            return Effect.mapBoth(Effect.flatMap(task, collecting.run), {
              onFailure: (noResponse) => makeError(request, noResponse),
              onSuccess: (response) => responseTo(request, response)
            })
          })),
      Effect.succeed
    ),
    { [collects]: collect }
  )
