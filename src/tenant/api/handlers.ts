/** The operations that the tenant serves with state: those of the contract in its order, then those that whole jobs need. */
import { actionHandlers } from "./actions.js"
import { deliveryHandlers } from "./deliveries.js"
import { eventStreamHandlers } from "./eventStreams.js"
import { jobHandlers } from "./jobs.js"
import type { Handlers } from "./operationHandler.js"
import { profileHandlers } from "./profiles.js"

export const handlers: Handlers = {
  createUsersExport: jobHandlers.createUsersExport,
  updateTokenExchangeProfile: profileHandlers.updateTokenExchangeProfile,
  listActionVersions: actionHandlers.listActionVersions,
  redeliverEvent: deliveryHandlers.redeliverEvent,
  deleteEventStream: eventStreamHandlers.deleteEventStream,
  getJob: jobHandlers.getJob,
  listTokenExchangeProfiles: profileHandlers.listTokenExchangeProfiles,
  getTokenExchangeProfile: profileHandlers.getTokenExchangeProfile,
  listActions: actionHandlers.listActions,
  getAction: actionHandlers.getAction,
  getActionVersion: actionHandlers.getActionVersion,
  deployActionVersion: actionHandlers.deployActionVersion,
  listEventStreams: eventStreamHandlers.listEventStreams,
  getEventStream: eventStreamHandlers.getEventStream,
  listDeliveries: deliveryHandlers.listDeliveries,
  getDelivery: deliveryHandlers.getDelivery,
  redeliverEvents: deliveryHandlers.redeliverEvents
}
