/** The server: it responds with prepared bodies and the headers of a high rate limit. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { jobsPath, perPage, responseBodies, token } from "./payloads.js"

/** Sent by the process when it listens. */
export interface Listening {
  readonly origin: string
}

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))

const [small, job, page, grant] = [
  bytes(responseBodies.small),
  bytes(responseBodies.job),
  bytes(responseBodies.page),
  bytes({ access_token: token, token_type: "Bearer", expires_in: 86_400, scope: "read:actions create:users_exports" })
]

const bodyFor = (url: string): Buffer =>
  url.startsWith("/oauth/") ? grant : url === jobsPath ? job : url.includes(`per_page=${perPage}`) ? page : small

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const body = bodyFor(request.url ?? "")
  const head = {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": body.length,
    "X-RateLimit-Limit": "1000000",
    "X-RateLimit-Remaining": "999999",
    "X-RateLimit-Reset": String(Math.ceil(Date.now() / 1000))
  }
  request.resume().once("end", () => response.writeHead(200, head).end(body))
})

server.listen(0, "127.0.0.1", () => {
  const listening: Listening = { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } // sound: on TCP
  process.send?.(listening)
})
process.on("disconnect", () => process.exit())
