/** The answers of the demo tenant to its operations, one after the other: also to those that find nothing, and before and after what takes time. */
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import type * as Endpoint from "../../../src/Endpoint.js"
import * as operations from "../../../src/operations/index.js"
import * as Tenant from "../../../src/Tenant.js"
import type { Json } from "../../generate/harness/document.js"
import { action, connection, profile, send, stream, tokenOf } from "./requests.js"

export interface Answer {
  readonly status: number
  /** `undefined` if the body is empty. */
  readonly body: Json | undefined
}

const exported = { connection_id: connection.id, format: "csv", limit: 5, fields: [{ name: "email" }] }

/** An action that was never deployed. */
const unused: Tenant.Action = {
  ...Tenant.demo.actions[0],
  id: "c9a1b1f2-4b0e-4c55-8f3c-2d1f6a7b8c90",
  name: "unused",
  versions: [],
  draft: { code: "", dependencies: [], runtime: "node22", secrets: [] }
}

/** The answers by the names of the operations. */
export const answersOfTenant = Effect.gen(function*() {
  yield* TestClock.setTime(Date.parse("2026-02-01T00:00:00.000Z"))
  const tenant = yield* Tenant.Tenant
  yield* tenant.seed({ actions: [unused] })
  const token = yield* tokenOf()
  const answers = new Map<string, Array<Answer>>()
  const ask = (
    operation: { readonly endpoint: Endpoint.Any },
    options: { readonly params?: object; readonly query?: string; readonly body?: unknown } = {}
  ) =>
    Effect.map(send(operation.endpoint, { ...options, token }), ({ json, status }) => {
      const { name } = operation.endpoint
      answers.set(name, [...answers.get(name) ?? [], { status, body: json }])
      return json
    })
  const ofAction = { actionId: action.id, id: action.versions[1].id }
  const ofEvent = { id: stream.id, event_id: stream.events[0].id }
  const unknown = { id: "x".repeat(26), actionId: "x", event_id: "x".repeat(26) }

  yield* ask(operations.listActions)
  yield* ask(operations.listActions, { query: "?actionName=none" })
  yield* ask(operations.getAction, { params: action })
  yield* ask(operations.getAction, { params: unused })
  yield* ask(operations.getAction, { params: unknown })
  yield* ask(operations.listActionVersions, { params: ofAction })
  yield* ask(operations.listActionVersions, { params: { actionId: unused.id } })
  yield* ask(operations.getActionVersion, { params: ofAction })
  const { id } = yield* ask(operations.deployActionVersion, { params: ofAction, body: { update_draft: true } })
  for (const seconds of [1, 1]) {
    yield* ask(operations.getAction, { params: action })
    yield* ask(operations.getActionVersion, { params: { ...ofAction, id } })
    yield* TestClock.adjust(`${seconds} seconds`)
  }
  yield* ask(operations.getAction, { params: action })
  yield* ask(operations.getActionVersion, { params: { ...ofAction, id } })

  const job = yield* ask(operations.createUsersExport, { body: exported })
  for (let second = 0; second <= 2; second++) {
    yield* ask(operations.getJob, { params: { id: job.id } })
    yield* TestClock.adjust("1 seconds")
  }
  yield* ask(operations.getJob, { params: Tenant.demo.jobs[0] })

  yield* ask(operations.listTokenExchangeProfiles)
  yield* ask(operations.getTokenExchangeProfile, { params: profile })
  yield* ask(operations.getTokenExchangeProfile, { params: unknown })
  yield* ask(operations.updateTokenExchangeProfile, { params: profile, body: { name: "Renamed" } })

  yield* ask(operations.listEventStreams)
  for (const stream of Tenant.demo.streams) yield* ask(operations.getEventStream, { params: stream })
  yield* ask(operations.getEventStream, { params: unknown })
  yield* ask(operations.listDeliveries, { params: stream })
  yield* ask(operations.getDelivery, { params: ofEvent })
  yield* ask(operations.redeliverEvent, { params: ofEvent })
  yield* ask(operations.redeliverEvents, { params: stream, body: {} })
  yield* ask(operations.listDeliveries, { params: stream })
  yield* ask(operations.deleteEventStream, { params: Tenant.demo.streams[1] })
  const all: ReadonlyMap<string, ReadonlyArray<Answer>> = answers
  return all
})
