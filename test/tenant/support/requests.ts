/** Requests to the demo tenant in process. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Endpoint from "../../../src/Endpoint.js"
import * as operations from "../../../src/operations/index.js"
import * as Tenant from "../../../src/Tenant.js"

export const host = "https://tenant.test"
const { demo, demoClients } = Tenant
export const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = demo

export const createUsersExport = operations.createUsersExport.endpoint
export const updateTokenExchangeProfile = operations.updateTokenExchangeProfile.endpoint
export const listActionVersions = operations.listActionVersions.endpoint
export const redeliverEvent = operations.redeliverEvent.endpoint
export const deleteEventStream = operations.deleteEventStream.endpoint

export const endpoints = Object.values(operations).flatMap((exported): ReadonlyArray<Endpoint.Any> =>
  "endpoint" in exported ? [exported.endpoint] : []
)

/** A call of each operation that the demo tenant carries out, and the status of its response. */
export const validCalls: Readonly<
  Record<string, { readonly params?: object; readonly body?: unknown; readonly status: number }>
> = {
  createUsersExport: { body: { connection_id: connection.id, format: "csv", limit: 5 }, status: 200 },
  updateTokenExchangeProfile: { params: { id: profile.id }, body: { name: "Renamed" }, status: 200 },
  listActionVersions: { params: { actionId: action.id }, status: 200 },
  redeliverEvent: { params: { id: stream.id, event_id: stream.events[0].id }, status: 202 },
  deleteEventStream: { params: { id: demo.streams[1].id }, status: 204 },
  getJob: { params: { id: demo.jobs[0].id }, status: 200 },
  listTokenExchangeProfiles: { status: 200 },
  getTokenExchangeProfile: { params: { id: profile.id }, status: 200 },
  listActions: { status: 200 },
  getAction: { params: { id: action.id }, status: 200 },
  getActionVersion: { params: { actionId: action.id, id: action.versions[1].id }, status: 200 },
  deployActionVersion: { params: { actionId: action.id, id: action.versions[1].id }, body: {}, status: 200 },
  listEventStreams: { status: 200 },
  getEventStream: { params: { id: stream.id }, status: 200 },
  listDeliveries: { params: { id: stream.id }, status: 200 },
  getDelivery: { params: { id: stream.id, event_id: stream.events[1].id }, status: 200 },
  redeliverEvents: { params: { id: stream.id }, body: { event_types: ["none"] }, status: 202 }
}

/** Fills the parameters of a path. */
export const fillPath = (path: string, params: object = {}) =>
  Object.entries(params).reduce((path, [name, value]) => path.replace(`:${name}`, encodeURIComponent(value)), path)

interface CallOptions {
  readonly params?: object
  readonly query?: string
  readonly body?: unknown
  readonly form?: string
  readonly token?: string
  readonly headers?: Record<string, string>
}

/** Sends a call, and gives the response with its parsed body. */
export const send = Effect.fn(
  function*(endpoint: Endpoint.Any, { body, form, headers, params, query = "", token }: CallOptions = {}) {
    const url = `${host}/api/v2${fillPath(endpoint.path, params)}${query}`
    const response = yield* HttpClient.execute(
      HttpClientRequest.make(endpoint.method)(url, {
        headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
        ...(body !== undefined && { body: HttpBody.unsafeJson(body) }),
        ...(form !== undefined && { body: HttpBody.text(form, "application/x-www-form-urlencoded") })
      })
    )
    const text = yield* response.text
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text === "" ? undefined : JSON.parse(text)
    }
  }
)

/** Sends a token request. */
export const requestToken = Effect.fn(function*(parameters: Record<string, unknown>) {
  const response = yield* HttpClient.post(`${host}/oauth/token`, { body: HttpBody.unsafeJson(parameters) })
  return { status: response.status, headers: response.headers, json: (yield* response.json) as any }
})

/** The parameters of a client's token request. */
export const credentials = (client: Tenant.Client) => ({
  grant_type: "client_credentials",
  client_id: client.id,
  client_secret: Redacted.value(client.secret),
  audience: "/api/v2/"
})

/** Gets a new token. */
export const tokenOf = (client: Tenant.Client = demoClients.full) =>
  Effect.map(requestToken(credentials(client)), ({ json }): string => json.access_token)

/** Sends a call with a new token. */
export const call = (
  endpoint: Endpoint.Any,
  options: CallOptions = {},
  client: Tenant.Client = demoClients.full
) => Effect.flatMap(tokenOf(client), (token) => send(endpoint, { token, ...options }))

const largeBucket = { burst: 10_000, refill: 1, per: "1 second" } as const

/** Buckets that no test empties. */
export const largeBuckets = { tenant: largeBucket, profileUpdates: largeBucket }
