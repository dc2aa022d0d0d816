/** Servers that answer as a test says: in process, where the test's clock rules, and on a real socket. */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { Effect, Layer } from "effect"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"

/** A request that arrived. */
export interface Arrived {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Anything but a string and bytes is sent as JSON. */
  readonly body?: unknown
}

const sent = ({ body = "", status }: Answer): string | Uint8Array<ArrayBuffer> | null =>
  status === 204 ? null : typeof body === "string" || body instanceof Uint8Array
    ? body as string | Uint8Array<ArrayBuffer>
    : JSON.stringify(body)

const bodyOf = (request: HttpClientRequest.HttpClientRequest): string =>
  request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""

/** The members of a form. */
export const form = (body: string): Record<string, string> => Object.fromEntries(new URLSearchParams(body))

/** A network that answers every request, the first numbered 1, and the requests it has seen. */
export const inProcess = (
  answer: (nth: number, request: HttpClientRequest.HttpClientRequest) => Effect.Effect<Answer>
) => {
  const arrived: Array<Arrived> = []
  const client = HttpClient.make((request, url) =>
    Effect.suspend(() => {
      const { headers, method } = request
      const nth = arrived.push({ method, url: url.href, headers, body: bodyOf(request) })
      return Effect.map(answer(nth, request), (answer) =>
        HttpClientResponse.fromWeb(
          request,
          new Response(sent(answer), { status: answer.status ?? 200, headers: answer.headers ?? {} })
        ))
    })
  )
  return { arrived, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

/** A server on a free port of this machine, closed with the scope. */
export const listen = (answer: (request: Arrived, response: Http.ServerResponse) => void) =>
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
          answer(complete, response)
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

/** Answers with JSON. */
export const json = (response: Http.ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
}

/** A JSON Web Token with these claims, signed by nobody. */
export const jwt = (claims: unknown): string =>
  [{ alg: "none" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".") + ".c2ln"
