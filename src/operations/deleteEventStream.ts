/** Delete an event stream (contract: Endpoints 5). */
import { BadRequest, Forbidden, InsufficientScope, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { EventId } from "./schemas.js"

/** Deletes an event stream; its id has exactly 26 characters. Deleting one that is already gone succeeds. */
export const deleteEventStream = Operation.make("deleteEventStream", {
  method: "DELETE",
  path: "/event-streams/:id",
  params: { id: EventId },
  scope: "delete:event_streams",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited]
})
