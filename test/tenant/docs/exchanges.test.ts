/** The requests of the client and the responses of the tenant are as the OpenAPI document describes them. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { IdentityClient, RateLimiter, Retry, TokenProvider } from "../../../src/index.js"
import * as Tenant from "../../../src/Tenant.js"
import { type Exchange, faultsOf, operationOf } from "../../support/openapi.js"
import { operations, type Subject } from "../../support/operations.js"
import { exampleOf } from "../support/examples.js"

const host = "https://tenant.example.com"
const { full, notGlobal, readsActions } = Tenant.demoClients

/** Records the requests to the tenant, and its responses. */
const recording = (exchanges: Array<Exchange>) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.make((request, url) =>
        Effect.gen(function*() {
          const response = yield* client.execute(request)
          const text = yield* Effect.orDie(response.text)
          const { body } = request
          exchanges.push({
            method: request.method,
            path: url.pathname,
            query: [...url.searchParams],
            contentType: request.headers["content-type"],
            body: body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : undefined,
            status: response.status,
            headers: response.headers,
            responseBody: text
          })
          const { headers, status } = response
          return HttpClientResponse.fromWeb(request, new Response(status === 204 ? null : text, { status, headers }))
        })
      ))
  )

const clientOf = ({ id, secret }: Tenant.Client) =>
  IdentityClient.layer({ baseUrl: `${host}/api/v2` }).pipe(
    Layer.provide(RateLimiter.layerUnlimited),
    Layer.provide(TokenProvider.layerClientCredentials({ authUrl: host, clientId: id, clientSecret: secret }))
  )

/** Runs against a new tenant, and gives the requests and responses. */
const exchangesOf = (
  run: Effect.Effect<unknown, unknown, HttpClient.HttpClient | Tenant.Tenant>,
  options: Tenant.Options = {}
) =>
  Effect.suspend(() => {
    const exchanges: Array<Exchange> = []
    const network = Layer.provideMerge(
      Layer.provide(recording(exchanges), Tenant.layerHttpClient),
      Tenant.layerWith(options)
    )
    return Effect.as(Effect.provide(Effect.ignore(run), network), exchanges)
  })

const callAs = (client: Tenant.Client, operation: Subject, input: unknown = exampleOf(operation)) =>
  Effect.provide(Retry.withoutRetries(Effect.exit(operation(input as never))), clientOf(client))

/** Checks every exchange against the document, and gives their statuses. */
const statusesOf = (exchanges: ReadonlyArray<Exchange>) => {
  for (const exchange of exchanges) assert.deepStrictEqual(faultsOf(exchange), [], JSON.stringify(exchange))
  return exchanges.map(({ status }) => status)
}

describe("requests and responses", () => {
  for (const operation of operations) {
    const { name } = operation.endpoint

    it.effect(`${name} succeeds as described, as JSON and as a form`, () =>
      Effect.gen(function*() {
        for (const as of [<A>(call: A) => call, IdentityClient.withFormBody]) {
          const exchanges = yield* exchangesOf(as(callAs(full, operation)))
          const [token, status] = statusesOf(exchanges)
          assert.strictEqual(token, 200)
          assert.include([200, 202, 204], status)
          assert.property(operationOf(operation.endpoint).responses, String(status))
        }
      }))

    it.effect(`${name} fails as described without permission and over the limit`, () =>
      Effect.gen(function*() {
        const exchanges = yield* exchangesOf(
          Effect.gen(function*() {
            yield* callAs({ ...full, secret: Redacted.make("wrong") }, operation)
            yield* callAs({ ...full, id: "nobody" }, operation)
            yield* callAs(notGlobal, operation)
            yield* callAs({ ...readsActions, id: "none" }, operation)
            yield* callAs(full, operation)
            yield* callAs(full, operation)
          }),
          {
            clients: [full, notGlobal, { ...readsActions, id: "none", scopes: ["read:nothing"] }],
            buckets: {
              tenant: { burst: 3, refill: 1, per: "1 minute" },
              profileUpdates: { burst: 3, refill: 1, per: "1 minute" }
            }
          }
        )
        const statuses = statusesOf(exchanges)
        for (const status of [200, 401, 403, 429]) assert.include(statuses, status)
      }))

    it.effect(`${name} refuses invalid requests as described`, () =>
      Effect.gen(function*() {
        const { method, params, path, payload } = operation.endpoint
        const url = (id: string) =>
          Object.keys(params ?? {}).reduce((path, name) => path.replace(`:${name}`, id), `${host}/api/v2${path}`)
        const send = (url: string, body: string, type: string, authorization?: string) =>
          HttpClient.execute(
            HttpClientRequest.make(method)(url, { ...(authorization !== undefined && { headers: { authorization } }) })
              .pipe(HttpClientRequest.setBody(payload === undefined ? HttpBody.empty : HttpBody.text(body, type)))
          )
        const exchanges = yield* exchangesOf(
          Effect.gen(function*() {
            const response = yield* HttpClient.post(`${host}/oauth/token`, {
              body: HttpBody.unsafeJson({
                grant_type: "client_credentials",
                client_id: full.id,
                client_secret: Redacted.value(full.secret),
                audience: "/api/v2/"
              })
            })
            const { access_token } = (yield* response.json) as { readonly access_token: string }
            const bearer = `Bearer ${access_token}`
            yield* send(url("short"), "{}", "application/json", bearer)
            yield* send(url("x".repeat(26)), "{", "application/json", bearer)
            yield* send(url("x".repeat(26)), "<a/>", "text/xml", bearer)
            yield* send(`${url("x".repeat(26))}?page=first&more=1`, "{\"more\":1}", "application/json", bearer)
            yield* send(url("x".repeat(26)), "{\"limit\":1,\"name\":\"name\"}", "application/json", bearer)
            yield* send(url("short"), "{}", "application/json")
            yield* send(url("short"), "{}", "application/json", "Basic x")
          })
        )
        const failures = exchanges.filter(({ status }) => status !== 200)
        assert.isAbove(failures.length, 2)
        for (const exchange of failures) {
          const faults = faultsOf(exchange).filter((fault) => !fault.startsWith("request"))
          assert.deepStrictEqual(faults, [], JSON.stringify(exchange))
        }
      }))
  }

  it.effect("that differ from the document are detected", () =>
    Effect.gen(function*() {
      const [exports, , list, , remove] = operations
      if (exports === undefined || list === undefined || remove === undefined) return assert.fail("no operations")
      const exchanges = yield* exchangesOf(
        Effect.gen(function*() {
          const { injectFault } = yield* Tenant.Tenant
          const once = (fault: Tenant.Fault, operation: Subject) =>
            Effect.zipRight(injectFault({ operation: operation.endpoint.name, ...fault }), callAs(full, operation))
          yield* once({ status: 200, body: { versions: [] } }, list)
          yield* once({ status: 400, body: { message: "no status" } }, list)
          yield* once({ status: 200, body: "text" }, exports)
          yield* once({ headers: { "x-ratelimit-limit": undefined } }, exports)
          yield* once({ status: 204, headers: { "x-ratelimit-reset": "soon" } }, remove)
        })
      )
      assert.deepStrictEqual(exchanges.flatMap(faultsOf).filter((fault) => !fault.includes("X-RateLimit")), [
        "response: invalid body",
        "response: invalid body",
        "response: unexpected media type text/plain; charset=utf-8"
      ])
      assert.includeMembers(exchanges.flatMap(faultsOf) as Array<string>, [
        "response: header X-RateLimit-Limit",
        "response: header X-RateLimit-Reset"
      ])
    }))

  it.effect("are as described for unknown ids, conflicts and pages", () =>
    Effect.gen(function*() {
      const [, updateProfile, listVersions, redeliver] = operations as unknown as readonly [
        Subject,
        Subject,
        Subject,
        Subject
      ]
      const { actions: [, other], streams: [stream] } = Tenant.demo
      const exchanges = yield* exchangesOf(
        Effect.gen(function*() {
          yield* callAs(full, updateProfile, { id: "tep_nobody", name: "Nobody" })
          yield* callAs(full, updateProfile, { ...exampleOf(updateProfile), subject_token_type: "urn:ietf:reserved" })
          yield* callAs(full, redeliver, { ...exampleOf(redeliver), id: "x".repeat(26) })
          yield* callAs(full, redeliver, { id: stream.id, event_id: stream.events[3].id })
          yield* callAs(full, listVersions, { actionId: other.id })
          yield* callAs(full, listVersions, { actionId: other.id, page: 3, per_page: 0 })
          yield* callAs(full, listVersions, { actionId: "nothing" })
          yield* callAs(full, listVersions, { actionId: other.id, per_page: 101 })
        })
      )
      // Only this request is not as described, and refused for that.
      assert.deepStrictEqual(exchanges.map(faultsOf).filter((faults) => faults.length > 0), [[
        "request: query per_page"
      ]])
      const [last] = exchanges.slice(-1)
      assert.strictEqual(last?.status, 400)
      assert.deepStrictEqual(
        statusesOf(exchanges.slice(0, -1)).filter((_, index) => index % 2 === 1),
        [404, 400, 404, 409, 200, 200, 404]
      )
    }))
})
