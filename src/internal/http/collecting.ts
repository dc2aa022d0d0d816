/**
 * Responses that an HTTP client collects: it reads the body itself, and gives it together with status and headers. That saves three quarters
 * of the processor time of a small call: no stream, and no objects of the platform for it (`npm run bench`, `ours-lean` and `ours-stock`).
 */
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { CallbackTask } from "../runtime/timeouts.js"
import { type HttpError, makeError } from "./httpClients.js"
import type { BodyLimit, NoResponse, RawRequest, RawResponse } from "./rawExchange.js"

/** Sends a request, and collects its response. */
export type Collect = (
  request: RawRequest,
  bodyLimit: BodyLimit,
  begun?: () => void
) => Effect.Effect<CallbackTask<RawResponse, NoResponse>>

/** Asks for the response to a request to be collected. A client that does not know this responds as always. */
interface Asked {
  readonly bodyLimit: BodyLimit
  /** A request begins, perhaps after others: a wrapper may send it again. */
  readonly begun: () => void
  /** The platform has this response, which was collected. */
  readonly collected: (response: HttpClientResponse.HttpClientResponse, raw: RawResponse) => void
}

const asks = Symbol("asks")

type Asking = HttpBody.HttpBody & { readonly [asks]?: Asked }

/**
 * Adds what is asked to the body of a request, under a symbol: it stays with the request when a wrapper changes that, is never sent, and
 * concerns no request of the wrapper's own. If a wrapper sets another body, the response is not collected.
 */
export const ask = (body: HttpBody.HttpBody, asked: Asked): HttpBody.HttpBody => {
  const asking: HttpBody.HttpBody = Object.create(body)
  return Object.assign(asking, { [asks]: asked })
}

/** A response that was collected, in the shape of a web response, which is made if a client looks at more than its status. */
class Collected {
  readonly status: number
  readonly url = ""
  private readonly raw: RawResponse
  private headersOfWeb: Response["headers"] | undefined
  private bodyOfWeb: Response | undefined

  constructor(raw: RawResponse) {
    this.status = raw.status
    this.raw = raw
  }

  get headers(): Response["headers"] {
    const { cookies = [], headers } = this.raw
    if (this.headersOfWeb !== undefined) return this.headersOfWeb
    this.headersOfWeb = new globalThis.Headers(headers)
    if (cookies.length > 0) this.headersOfWeb.delete("set-cookie")
    for (const cookie of cookies) this.headersOfWeb.append("set-cookie", cookie)
    return this.headersOfWeb
  }

  private get web(): Response {
    if (this.bodyOfWeb !== undefined) return this.bodyOfWeb
    const { body, completeness } = this.raw
    const bytes = new Blob([body as Uint8Array<ArrayBuffer>]).stream() // sound: it was read into a plain buffer, or is a text
    const cut = () =>
      new TransformStream({ flush: (controller) => controller.error(new Error(`the body is ${completeness}`)) })
    const content = completeness === "complete" ? bytes : bytes.pipeThrough(cut())
    this.bodyOfWeb = new Response(content, { headers: this.headers })
    return this.bodyOfWeb
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

const collects = Symbol("collects")

/** A client that collects, unless it is wrapped: then what it is wrapped in must see the request and the response. */
export const collectOf = (client: HttpClient.HttpClient & { readonly [collects]?: Collect }): Collect | undefined =>
  client[collects]

/** Makes a client that collects responses where that is asked, and leaves all other requests to another client. */
export const over = (client: HttpClient.HttpClient, collect: Collect): HttpClient.HttpClient => {
  const execute = (request: HttpClientRequest.HttpClientRequest) => {
    const { body, headers, method } = request
    const { [asks]: asked }: Asking = body
    const url = asked && HttpClientRequest.toUrl(request)
    if (asked === undefined || url === undefined || Option.isNone(url)) return client.execute(request)
    return collect({ method, url: url.value.href, headers, body }, asked.bodyLimit, asked.begun).pipe(
      Effect.flatMap((task) =>
        Effect.async<RawResponse, NoResponse>((resume) => {
          const stop = task(resume)
          return Effect.sync(stop)
        })
      ),
      Effect.mapBoth({
        onFailure: (noResponse) => makeError(request, noResponse),
        onSuccess: (raw) => {
          // Sound: the platform reads no other fields.
          const response = HttpClientResponse.fromWeb(request, new Collected(raw) as unknown as Response)
          asked.collected(response, raw)
          return response
        }
      })
    )
  }
  return Object.assign(
    HttpClient.makeWith<never, never, HttpError, never>(Effect.flatMap(execute), Effect.succeed),
    { [collects]: collect }
  )
}
