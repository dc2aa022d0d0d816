/** Declares the operation that returns the delivery of an event. */
import { BadRequest, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { string } from "../Schemas.js"
import { Delivery } from "./listDeliveries.js"

/**
 * Returns the delivery of an event, with its attempts.
 *
 * `id` is the stream's and `event_id` the event's, exactly 26 characters each. Requires the scope `read:event_deliveries`. Fails with
 * `NotFound` if the stream or the delivery does not exist.
 * @since 0.1.0 @category operations
 */
export const getDelivery = /* @__PURE__ */ Operation.make("getDelivery", () => ({
  method: "GET",
  path: "/event-streams/:id/deliveries/:event_id",
  params: { id: string({ min: 26, max: 26 }), event_id: string({ min: 26, max: 26 }) },
  success: Delivery,
  scope: "read:event_deliveries",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
}))
