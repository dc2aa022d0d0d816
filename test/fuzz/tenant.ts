/** Sends arbitrary requests to the embedded tenant, which responds to each without a server error. */
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Cause, Effect, Exit } from "effect"
import assert from "node:assert/strict"
import * as Tenant from "../../src/Tenant.js"
import { form, type Sent } from "./requests.js"

const ample = { burst: 1_000_000, refill: 1_000_000, per: "1 second" } as const

/** Options of a tenant that is never rate-limited. */
export const options: Tenant.Options = { buckets: { tenant: ample, profileUpdates: ample } }

const host = "http://tenant.test"

/** Converts a request to the web's `Request`, or `undefined` if that refuses it. */
const asRequest = ({ body, headers, method, target }: Sent, token: string | undefined): Request | undefined => {
  const url = `${host}${target}`
  if (!URL.canParse(url)) return undefined
  const all = token === undefined ? headers : [["authorization", `Bearer ${token}`] as const, ...headers]
  const request = new Request(url, {
    method,
    ...(method !== "GET" && method !== "HEAD" && { body: Buffer.from(body) })
  })
  // One by one, because `Headers` refuses some of them.
  for (const [name, value] of all) {
    try {
      request.headers.append(name, value)
    } catch {
      continue
    }
  }
  return request
}

/** Tells if a status is not a server error. */
export const isFine = (status: number): boolean => status >= 200 && status < 500

/** Checks that the body is what its content type says. */
export const checkBody = (contentType: string | undefined, text: string): void => {
  if (text !== "" && contentType?.includes("json") === true) JSON.parse(text)
}

const respond = (tenant: Tenant.Tenant["Type"], request: Request) =>
  Effect.map(
    Effect.provideService(tenant.app, HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
    (response) => HttpServerResponse.toWeb(response)
  )

const textOf = (response: Response) => Effect.promise(() => response.text())

/** Reads the token of a token response. */
export const tokenIn = (text: string): string => (JSON.parse(text) as { readonly access_token: string }).access_token

const signedIn = (tenant: Tenant.Tenant["Type"]) =>
  Effect.gen(function*() {
    const headers = { "content-type": "application/x-www-form-urlencoded" }
    const request = new Request(`${host}/oauth/token`, { method: "POST", headers, body: form })
    return tokenIn(yield* textOf(yield* respond(tenant, request)))
  })

/** The property: the tenant responds to whatever a client sends, without a 5xx or a defect. */
export const law = async (sent: Sent): Promise<void> => {
  const exit = await Effect.runPromiseExit(Effect.gen(function*() {
    const tenant = yield* Tenant.make(options)
    const request = asRequest(sent, sent.isSignedIn ? yield* signedIn(tenant) : undefined)
    if (request === undefined) return
    const response = yield* respond(tenant, request)
    assert(isFine(response.status), `it responded ${response.status}`)
    checkBody(response.headers.get("content-type") ?? undefined, yield* textOf(response))
    yield* tenant.requests // what is remembered of it can be read
  }))
  assert(Exit.isSuccess(exit), `no response, but ${Exit.isFailure(exit) ? Cause.pretty(exit.cause) : ""}`)
}
