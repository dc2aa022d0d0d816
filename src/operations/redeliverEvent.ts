/** Redeliver a single failed event by ID (contract: Endpoints 4). */
import { Conflict, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { EventId } from "./schemas.js"

/**
 * Asks the service to deliver a failed event of a stream once more. Both ids have exactly 26 characters. It is never
 * repeated after a failure that leaves open whether the request was accepted.
 */
export const redeliverEvent = Operation.make("redeliverEvent", {
  method: "POST",
  path: "/event-streams/:id/redeliver/:event_id",
  params: { id: EventId, event_id: EventId },
  scope: "update:event_deliveries",
  idempotent: false,
  error: [Unauthorized, InsufficientScope, Forbidden, NotFound, Conflict, RateLimited]
})
