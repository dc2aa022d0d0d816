/** The server. It copies a prepared page and fills in the versions' numbers, so that it takes little time itself. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { token, version } from "../calls/payloads.js"
import { codeLength, perPage } from "./pages.js"

/** Sent by the process when it listens. */
export interface Listening {
  readonly origin: string
}

const pages = Number(process.argv[2])
const total = pages * perPage

const placeholder = 1_000_000

const template = JSON.stringify({
  total,
  per_page: perPage,
  versions: Array.from({ length: perPage }, (_, nth) => version(placeholder + nth, codeLength))
})

/** The positions of the versions' numbers in the template, also within ids. */
const positions = Array.from(
  template.matchAll(new RegExp(`${placeholder / 100}(\\d\\d)(?=[",])`, "g")),
  ({ 1: nth, index }) => ({ index, nth: Number(nth) })
)

const bytes = Buffer.from(template)

const pageOf = (page: number): Buffer => {
  const copy = Buffer.from(bytes)
  for (const { index, nth } of positions) copy.write(String(placeholder + total - page * perPage - nth), index)
  return copy
}

const grant = Buffer.from(JSON.stringify({ access_token: token, token_type: "Bearer", expires_in: 86_400 }))

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost")
  const body = pathname.startsWith("/oauth/") ? grant : pageOf(Number(searchParams.get("page") ?? 0))
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
