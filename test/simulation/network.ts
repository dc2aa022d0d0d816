/** The network of a simulation: an HTTP client for each life, whose requests and responses take time and meet their faults. */
import { HttpClient, type HttpClientError, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { Effect, Redacted } from "effect"
import { requestError } from "../support/httpErrors.js"
import type { Bounds } from "./bounds.js"
import type { Life } from "./machine.js"
import { Draw } from "./numbers.js"
import { type Fault, keyOfEvent, keyOfRedelivery, keyOfToken } from "./plan.js"
import { client as oauthClient, type PlainResponse, type Service } from "./service.js"
import type { World } from "./world.js"

/** The header that names the call of a request. */
export const callHeader = "x-call"

/** The header that says which journal a redelivery belongs to. */
export const journalHeader = "x-journal"

type Resume = (result: Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>) => void

const bodiless = [204, 205, 304]

/** Half of the body, and then the connection breaks. */
const brokenStream = (body: string): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(body)
  let hasBegun = false
  return new ReadableStream({
    pull: (controller) => {
      if (hasBegun) return controller.error(Object.assign(new Error("terminated"), { code: "ECONNRESET" }))
      hasBegun = true
      controller.enqueue(bytes.subarray(0, bytes.length >> 1))
    }
  })
}

export class Network {
  private readonly world: World
  private readonly service: Service
  private readonly bounds: Bounds
  /** The number of requests with each key so far. */
  private readonly counts = new Map<string, number>()

  constructor(world: World, service: Service, bounds: Bounds) {
    this.world = world
    this.service = service
    this.bounds = bounds
  }

  /** The client of a process in one of its lives. */
  clientOf(process: number, life: Life): HttpClient.HttpClient {
    return HttpClient.make((request, url) =>
      Effect.async((resume) => {
        if (life.state === "running") this.send(process, request, url, resume)
        return Effect.sync(() => this.bounds.count(process, "abandoned"))
      })
    )
  }

  /** The key of a request's faults, and the key under which it counts if it is carried out. */
  private keysOf(process: number, request: HttpClientRequest.HttpClientRequest, url: URL): readonly [string, string] {
    const { [callHeader]: call, [journalHeader]: journal } = request.headers
    if (call === undefined) return [keyOfToken(process), keyOfToken(process)]
    if (journal === undefined) return [call, call]
    // A redelivery asks whether its stream exists.
    if (request.method === "GET") return [`${call}s`, `${call}s`]
    const event = Number(url.pathname.slice(-4))
    return [keyOfEvent(call, event), keyOfRedelivery(journal, event)]
  }

  private send(process: number, request: HttpClientRequest.HttpClientRequest, url: URL, resume: Resume): void {
    const { machine, plan } = this.world
    const [key, account] = this.keysOf(process, request, url)
    const nth = this.counts.get(key) ?? 0
    this.counts.set(key, nth + 1)
    const draw = new Draw(plan.seed, "network", key, nth)
    const legs = { request: draw.magnitude(plan.latency.network), response: draw.magnitude(plan.latency.network) }
    const fault = this.world.isHealed
      ? undefined
      : plan.faults.find((fault) => fault.key === key && fault.nth === nth && fault.kind !== "tracer")
    if (fault?.kind === "slow") legs[fault.leg] += fault.millis
    this.world.note(
      `${key}#${nth} ${request.method} ${url.pathname}${fault === undefined ? "" : ` ${JSON.stringify(fault)}`}`
    )

    const isToken = key === keyOfToken(process)
    this.bounds.count(process, isToken ? "tokenRequests" : "requests")
    if (fault !== undefined) this.bounds.count(process, isToken ? "tokenFaults" : "faults")

    const fail = (code: string, syscall: string) =>
      resume(
        requestError(request, "Transport", {
          cause: Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
        })
      )
    const receive = ({ body, headers, status }: PlainResponse, from = request): void => {
      this.world.note(`${key}#${nth} gets ${status}`)
      if (status === 401) this.bounds.count(process, "unauthorized")
      const content = bodiless.includes(status) || body === ""
        ? null
        : fault?.kind === "truncated"
        ? brokenStream(body)
        : body
      const response = new Response(content, { status, headers })
      resume(Effect.succeed(HttpClientResponse.fromWeb(from, response)))
    }
    const later = (task: () => void) => machine.after(legs.response, task)
    const carryOut = (then: (response: PlainResponse) => void) =>
      this.service.handle(account, request, (response) => {
        this.world.note(`${key}#${nth} is given ${response.status}`)
        if (response.status === 429) this.bounds.count(process, "refused")
        then(response)
      })

    machine.after(legs.request, () => {
      switch (fault?.kind) {
        case "lost":
          return
        case "refused":
          return fail("ECONNREFUSED", "connect")
        case "reset":
          return fail("ECONNRESET", "read")
        case "silent":
          return carryOut(() => {})
        case "cut":
          return carryOut(() => later(() => fail("ECONNRESET", "read")))
        case "elsewhere":
          return carryOut(() =>
            later(() =>
              // As the platform's `followRedirects` does: the query is moved out of the URL.
              receive(
                plainResponse(fault.status),
                HttpClientRequest.setUrl(request, new URL(fault.moved ? "?moved=1" : "https://elsewhere.test/", url))
              )
            )
          )
        case "lies":
          return carryOut((response) =>
            later(() => receive({ ...response, headers: { ...response.headers, ...this.falseHeaders(fault.about) } }))
          )
        case "status": {
          const response = this.faulty(fault, request)
          return fault.carriedOut ? carryOut(() => later(() => receive(response))) : void later(() => receive(response))
        }
        default:
          return carryOut((response) => later(() => receive(response)))
      }
    })
  }

  /** Headers that say that nothing is left for most of a day. */
  private falseHeaders(about: "reset" | "date"): Readonly<Record<string, string>> {
    const seconds = Math.floor(this.world.machine.now / 1000)
    const [date, reset] = about === "date" ? [seconds - 86_400, seconds + 10] : [seconds, seconds + 80_000]
    return {
      date: new Date(date * 1000).toUTCString(),
      "x-ratelimit-limit": "10",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(reset)
    }
  }

  /** The response of a fault. */
  private faulty(
    { body, retryAfter, status }: Fault & { readonly kind: "status" },
    request: HttpClientRequest.HttpClientRequest
  ): PlainResponse {
    const repeated = request.headers["authorization"] ?? Redacted.value(oauthClient.secret)
    const response = body === "html"
      ? { status, headers: { "content-type": "text/html" }, body: "<html><title>Bad</title></html>" }
      : plainResponse(status, body === "secret" ? `cannot accept ${repeated}` : "an error")
    return retryAfter === undefined
      ? response
      : { ...response, headers: { ...response.headers, "retry-after": String(retryAfter) } }
  }
}

const plainResponse = (status: number, message = "elsewhere"): PlainResponse => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8" },
  body: JSON.stringify({ statusCode: status, error: "Error", message })
})
