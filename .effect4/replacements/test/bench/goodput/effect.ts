/** Effect's own HTTP client with Effect's own limiter, which gets the true limit, and its circuit breaker. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Tenant from "../../../src/Tenant.js"
import { client } from "./client.js"
import type { Operations } from "./work.js"

const { full } = Tenant.demoClients

const tokenFrom = (origin: string) =>
  HttpClientRequest.post(`${origin}/oauth/token`).pipe(
    HttpClientRequest.bodyUrlParams({
      grant_type: "client_credentials",
      client_id: full.id,
      client_secret: Redacted.value(full.secret),
      audience: `${origin}/api/v2/`
    }),
    HttpClient.execute,
    Effect.flatMap(HttpClientResponse.filterStatusOk),
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Schema.Struct({ access_token: Schema.String }))),
    Effect.map(({ access_token }) => access_token)
  )

const operationsOf = <E>(http: HttpClient.HttpClient.With<E>): Operations<never> => {
  const send = (request: HttpClientRequest.HttpClientRequest) =>
    Effect.flatMap(http.execute(request), (response) => response.text)
  const { bodyJsonUnsafe, delete: remove, get, patch, post } = HttpClientRequest
  return {
    createUsersExport: (input) => send(bodyJsonUnsafe(post("/jobs/users-exports"), input)),
    updateTokenExchangeProfile: ({ id, name }) =>
      send(bodyJsonUnsafe(patch(`/token-exchange-profiles/${id}`), { name })),
    listActionVersions: ({ actionId }) => send(get(`/actions/actions/${actionId}/versions`)),
    redeliverEvent: ({ event_id, id }) => send(post(`/event-streams/${id}/redeliver/${event_id}`)),
    deleteEventStream: ({ id }) => send(remove(`/event-streams/${id}`))
  }
}

client((origin, work, known) =>
  Effect.gen(function*() {
    const [{ interval, limit } = { interval: "1 second" as const, limit: 1 }] = [known?.prior ?? []].flat()
    const token = yield* tokenFrom(origin)
    const http = (yield* HttpClient.HttpClient).pipe(
      HttpClient.mapRequest(HttpClientRequest.prependUrl(`${origin}/api/v2`)),
      HttpClient.mapRequest(HttpClientRequest.bearerToken(token)),
      HttpClient.withRateLimiter({
        limiter: yield* RateLimiter.RateLimiter,
        key: "tenant",
        algorithm: "token-bucket",
        limit,
        window: interval
      }),
      HttpClient.withCircuitBreaker({
        breaker: yield* CircuitBreaker.make({ tripPolicy: CircuitBreaker.consecutive(5), openDuration: "1 second" })
      }),
      HttpClient.filterStatusOk
    )
    yield* work(operationsOf(http))
  }).pipe(
    Effect.scoped,
    Effect.provide([
      NodeHttpClient.layerUndici,
      Layer.provide(RateLimiter.layer, RateLimiter.layerStoreMemory),
      CircuitBreaker.layerStoreMemory()
    ]),
    Effect.orDie
  )
)
