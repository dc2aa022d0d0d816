/** Declares the operation that redelivers a failed event (contract: Endpoints 4). */
import { BadRequest, Conflict, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { string } from "../Schemas.js"

/**
 * Asks the service to deliver a failed event of a stream again (contract: Endpoints 4). `Redelivery` runs it for many events.
 *
 * `id` is the stream's and `event_id` the event's, exactly 26 characters each. Requires the scope `update:event_deliveries`.
 * Fails with `NotFound` if the stream or the event does not exist, and with `Conflict` if the event has not failed.
 *
 * Not idempotent: retried only after a 429 or if certainly not sent. The `fetch` of Deno and of Chromium may repeat it by itself.
 * @since 0.1.0 @category operations
 */
export const redeliverEvent = /* @__PURE__ */ Operation.make("redeliverEvent", () => ({
  method: "POST",
  path: "/event-streams/:id/redeliver/:event_id",
  params: { id: string({ min: 26, max: 26 }), event_id: string({ min: 26, max: 26 }) },
  scope: "update:event_deliveries",
  idempotent: false,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, Conflict, RateLimited]
}))
