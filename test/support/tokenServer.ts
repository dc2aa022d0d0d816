/** Test servers for token and other requests: in process with the test's clock, and on a real socket. */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { Effect, Layer } from "effect"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"

/** A request that the server received. */
export interface Arrived {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Strings and bytes are sent as they are, everything else as JSON. */
  readonly body?: unknown
}

const bodyToSend = ({ body = "", status }: Reply): string | Uint8Array<ArrayBuffer> | null =>
  status === 204 ? null : typeof body === "string" || body instanceof Uint8Array
    ? body as string | Uint8Array<ArrayBuffer>
    : JSON.stringify(body)

const bodyOf = (request: HttpClientRequest.HttpClientRequest): string =>
  request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""

/** Parses a form. */
export const form = (body: string): Record<string, string> => Object.fromEntries(new URLSearchParams(body))

/** Makes a network that replies to each request, and records the requests. `nth` counts them from 1. */
export const inProcess = (
  reply: (nth: number, request: HttpClientRequest.HttpClientRequest) => Effect.Effect<Reply>
) => {
  const arrived: Array<Arrived> = []
  const client = HttpClient.make((request, url) =>
    Effect.suspend(() => {
      const { headers, method } = request
      const nth = arrived.push({ method, url: url.href, headers, body: bodyOf(request) })
      return Effect.map(reply(nth, request), (reply) =>
        HttpClientResponse.fromWeb(
          request,
          new Response(bodyToSend(reply), { status: reply.status ?? 200, headers: reply.headers ?? {} })
        ))
    })
  )
  return { arrived, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

/** Starts a server on a free port of this machine; the scope closes it. */
export const listen = (respond: (request: Arrived, response: Http.ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.async<{ readonly server: Http.Server; readonly url: string; readonly arrived: Array<Arrived> }>((resume) => {
      const arrived: Array<Arrived> = []
      const server = Http.createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const { headers, method = "", url = "" } = request
          const complete = { method, url, headers, body: Buffer.concat(chunks).toString("utf8") }
          arrived.push(complete)
          respond(complete, response)
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ server, url: `http://127.0.0.1:${port}`, arrived }))
      })
    }),
    ({ server }) =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

/** Responds with JSON. */
export const json = (response: Http.ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
}

/** Makes an unsigned JSON Web Token with these claims. */
export const jwt = (claims: unknown): string =>
  [{ alg: "none" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".") + ".c2ln"
