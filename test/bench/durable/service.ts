/** The service in a process of its own: each tenant has a port, a token endpoint and a bucket, and counts how often each event arrives. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { type BucketServer, make, type Profile } from "../../support/bucketServer.js"
import { positionOf, type Work } from "./settings.js"

/** Sent by the process. */
export interface Origins {
  readonly origins: ReadonlyArray<string>
}

/** What a tenant has seen. */
export interface Seen {
  /** How often each event was accepted. */
  readonly arrivals: ReadonlyArray<number>
  readonly refused: number
  readonly tokens: number
  /** The times of the first and the last accepted event. */
  readonly first: number
  readonly last: number
}

const profile: Profile = {
  kind: "refill",
  reset: "ceil",
  hasHeadersWhenRefused: true,
  retryAfter: "seconds",
  prefix: "x-ratelimit-",
  ahead: 0,
  phase: 0
}

interface Tenant {
  readonly bucket: BucketServer
  readonly arrivals: Array<number>
  tokens: number
}

const { burst, eventsEach, limitMs, rate, tenants }: Work = JSON.parse(process.argv[2] ?? "{}")

const latency = () => 20 + Math.random() * 130

const respond = (
  response: Http.ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | null
) => setTimeout(() => response.writeHead(status, headers).end(body ?? ""), latency())

const token = JSON.stringify({
  access_token: "a".repeat(40),
  token_type: "Bearer",
  expires_in: 86_400,
  scope: "update:event_deliveries read:event_streams"
})

/** The event counts as soon as its request is here, even if the response is lost. */
const redeliver = ({ arrivals, bucket }: Tenant, event: string, response: Http.ServerResponse) => {
  const { body, headers, status } = bucket.respond("redeliverEvent", Date.now())
  const position = positionOf(event)
  if (status === 202) arrivals[position] = (arrivals[position] ?? 0) + 1
  respond(response, status, headers, body)
}

const handle = (tenant: Tenant) => (request: Http.IncomingMessage, response: Http.ServerResponse) => {
  const { method, url = "" } = request
  request.resume()
  const event = /^\/api\/v2\/event-streams\/[^/]+\/redeliver\/([^/]+)$/.exec(url)?.[1]
  if (method === "POST" && event !== undefined) return redeliver(tenant, event, response)
  if (method === "POST" && /^\/oauth\/token\/?$/.test(url)) {
    tenant.tokens++
    return respond(response, 200, { "content-type": "application/json" }, token)
  }
  return respond(response, 404, { "content-type": "application/json" }, "{}")
}

const listen = (tenant: Tenant): Promise<string> =>
  new Promise((resolve) => {
    const server = Http.createServer({ keepAliveTimeout: 60_000 }, handle(tenant))
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo // sound: on TCP
      resolve(`http://127.0.0.1:${port}`)
    })
  })

const all = Array.from({ length: tenants }, (): Tenant => ({
  bucket: make(profile, { burst, interval: 1000 / rate }),
  arrivals: Array.from({ length: eventsEach }, () => 0),
  tokens: 0
}))

const seenOf = ({ arrivals, bucket, tokens }: Tenant): Seen => {
  const accepted = bucket.seen.filter(({ status }) => status === 202)
  return {
    arrivals,
    tokens,
    refused: bucket.seen.length - accepted.length,
    first: accepted[0]?.at ?? 0,
    last: accepted.at(-1)?.at ?? 0
  }
}

setTimeout(() => process.exit(1), limitMs)
process.on("disconnect", () => process.exit())
process.on("message", () => process.send?.(all.map(seenOf)))
void Promise.all(all.map(listen)).then((origins) => process.send?.({ origins } satisfies Origins))
