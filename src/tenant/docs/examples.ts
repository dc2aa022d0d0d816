/** An example input of each operation, which the demo tenant carries out. */
import type * as operations from "../../operations/index.js"
import type { OperationName } from "../api/operationHandler.js"
import { demo } from "../fixtures/demo.js"

const { actions: [action], connections: [connection], jobs: [job], profiles: [profile], streams: [stream] } = demo
const [, earlier] = action.versions
const [event] = stream.events

export const examples: { readonly [Name in OperationName]: Parameters<(typeof operations)[Name]>[0] } = {
  createUsersExport: {
    connection_id: connection.id,
    format: "csv",
    limit: 1000,
    fields: [{ name: "email" }, { name: "name", export_as: "Name" }]
  },
  updateTokenExchangeProfile: { id: profile.id, name: "Older tokens", subject_token_type: "urn:example:legacy-token" },
  listActionVersions: { actionId: action.id, page: 0, per_page: 2 },
  redeliverEvent: { id: stream.id, event_id: event.id },
  deleteEventStream: { id: stream.id },
  getJob: { id: job.id },
  listTokenExchangeProfiles: { take: 10 },
  getTokenExchangeProfile: { id: profile.id },
  listActions: { triggerId: "post-login", page: 0, per_page: 10 },
  getAction: { id: action.id },
  getActionVersion: { actionId: action.id, id: earlier.id },
  deployActionVersion: { actionId: action.id, id: earlier.id, update_draft: true },
  listEventStreams: { take: 10 },
  getEventStream: { id: stream.id },
  listDeliveries: {
    id: stream.id,
    event_types: "user.created,user.updated",
    date_from: "2026-01-15T22:00:00Z",
    take: 10
  },
  getDelivery: { id: stream.id, event_id: event.id },
  redeliverEvents: {
    id: stream.id,
    date_from: "2026-01-15T22:00:00Z",
    date_to: "2026-01-16T06:00:00Z",
    event_types: ["user.created"]
  }
}
