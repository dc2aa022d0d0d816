/** An example input of each operation, which the demo tenant carries out. */
import type * as operations from "../../operations/index.js"
import type { OperationName } from "../api/handlers.js"
import { demo } from "../fixtures/demo.js"

const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = demo

export const examples: { readonly [Name in OperationName]?: Parameters<(typeof operations)[Name]>[0] } = {
  createUsersExport: {
    connection_id: connection.id,
    format: "csv",
    limit: 1000,
    fields: [{ name: "email" }, { name: "name", export_as: "Name" }]
  },
  updateTokenExchangeProfile: { id: profile.id, name: "Older tokens", subject_token_type: "urn:example:legacy-token" },
  listActionVersions: { actionId: action.id, page: 0, per_page: 2 },
  redeliverEvent: { id: stream.id, event_id: stream.events[0].id },
  deleteEventStream: { id: stream.id }
}
