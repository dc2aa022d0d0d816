/** The embedded tenant below requests that no client should send: it answers each, and blames nobody but the client. */
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Cause, Effect, Exit } from "effect"
import assert from "node:assert/strict"
import * as Tenant from "../../src/Tenant.js"
import { form, type Sent } from "./requests.js"

const ample = { burst: 1_000_000, refill: 1_000_000, per: "1 second" } as const

/** What a tenant is made with, so that no limit is in the way. */
export const options: Tenant.Options = { buckets: { tenant: ample, profileUpdates: ample } }

const host = "http://tenant.test"

/** As a platform that speaks the web's own language would hand it over; none if it could not. */
const asRequest = ({ body, headers, method, target }: Sent, token: string | undefined): Request | undefined => {
  const url = `${host}${target}`
  if (!URL.canParse(url)) return undefined
  const all = token === undefined ? headers : [["authorization", `Bearer ${token}`] as const, ...headers]
  const request = new Request(url, {
    method,
    ...(method !== "GET" && method !== "HEAD" && { body: Buffer.from(body) })
  })
  // One by one: a browser's own check refuses some of them, which then do not come.
  for (const [name, value] of all) {
    try {
      request.headers.append(name, value)
    } catch {
      continue
    }
  }
  return request
}

/** Whoever fails, this is no matter of the tenant's. */
export const isFine = (status: number): boolean => status >= 200 && status < 500

/** What the tenant says is what its content type says. */
export const checkBody = (contentType: string | undefined, text: string): void => {
  if (text !== "" && contentType?.includes("json") === true) JSON.parse(text)
}

const answer = (tenant: Tenant.Tenant["Type"], request: Request) =>
  Effect.map(
    Effect.provideService(tenant.app, HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
    (response) => HttpServerResponse.toWeb(response)
  )

const textOf = (response: Response) => Effect.promise(() => response.text())

/** The token of an answer of the token endpoint. */
export const tokenIn = (text: string): string => (JSON.parse(text) as { readonly access_token: string }).access_token

const signedIn = (tenant: Tenant.Tenant["Type"]) =>
  Effect.gen(function*() {
    const headers = { "content-type": "application/x-www-form-urlencoded" }
    const request = new Request(`${host}/oauth/token`, { method: "POST", headers, body: form })
    return tokenIn(yield* textOf(yield* answer(tenant, request)))
  })

/** Whatever a client sends, the tenant answers, and neither with a 5xx nor with a defect. */
export const law = async (sent: Sent): Promise<void> => {
  const exit = await Effect.runPromiseExit(Effect.gen(function*() {
    const tenant = yield* Tenant.make(options)
    const request = asRequest(sent, sent.isSignedIn ? yield* signedIn(tenant) : undefined)
    if (request === undefined) return
    const response = yield* answer(tenant, request)
    assert(isFine(response.status), `it answered ${response.status}`)
    checkBody(response.headers.get("content-type") ?? undefined, yield* textOf(response))
    yield* tenant.requests // what is remembered of it can be read
  }))
  assert(Exit.isSuccess(exit), `no answer, but ${Exit.isFailure(exit) ? Cause.pretty(exit.cause) : ""}`)
}
