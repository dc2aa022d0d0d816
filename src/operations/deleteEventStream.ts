/** Declares the operation that deletes an event stream (contract: Endpoints 5). */
import { BadRequest, Forbidden, InsufficientScope, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { string } from "../Schemas.js"

/**
 * Deletes an event stream (contract: Endpoints 5). Deleting one that does not exist succeeds, so retries are harmless.
 *
 * `id` has exactly 26 characters. Requires the scope `delete:event_streams`.
 * @since 0.1.0 @category operations
 */
export const deleteEventStream = /* @__PURE__ */ Operation.make("deleteEventStream", () => ({
  method: "DELETE",
  path: "/event-streams/:id",
  params: { id: string({ min: 26, max: 26 }) },
  scope: "delete:event_streams",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited]
}))
