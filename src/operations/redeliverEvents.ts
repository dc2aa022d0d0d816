/** Declares the operation that redelivers all failed events of a stream that match a filter. */
import * as Schema from "effect/Schema"
import { BadRequest, Conflict, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { dateTime, list, omittable, string } from "../Schemas.js"
import { Timestamp } from "../Timestamp.js"

const redeliveryFilter = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({
    date_from: omittable(Timestamp),
    date_to: omittable(Timestamp),
    statuses: list(Schema.String),
    event_types: list(Schema.String)
  }).annotations({ identifier: "RedeliveryFilter" })
)

/** The filter that the service has accepted. @since 0.1.0 @category models */
export interface RedeliveryFilter extends Schema.Schema.Type<typeof redeliveryFilter> {}
/** The filter that the service has accepted. @since 0.1.0 @category schemas */
export const RedeliveryFilter: Schema.Schema<RedeliveryFilter> = redeliveryFilter

/**
 * Asks the service to deliver all failed events of a stream again that match. `Redelivery.runFiltered` also watches what becomes of them.
 *
 * `id` is the stream's, exactly 26 characters. Every filter is optional: the failures from `date_from` to `date_to`, times of at most
 * 20 characters; `statuses`, which has only `failed`; and `event_types`. Returns the filter. Requires the scope
 * `update:event_deliveries`. Fails with `NotFound` if the stream does not exist, and with `Conflict` if it is disabled.
 *
 * Not idempotent: retried only after a 429 or if certainly not sent. The `fetch` of Deno and of Chromium may repeat it by itself.
 * @since 0.1.0 @category operations
 */
export const redeliverEvents = /* @__PURE__ */ Operation.make("redeliverEvents", () => ({
  method: "POST",
  path: "/event-streams/:id/redeliver",
  params: { id: string({ min: 26, max: 26 }) },
  payload: {
    date_from: Schema.optional(string({ max: 20, format: dateTime })),
    date_to: Schema.optional(string({ max: 20, format: dateTime })),
    statuses: Schema.optional(Schema.Array(Schema.Literal("failed"))),
    event_types: Schema.optional(Schema.Array(Schema.String))
  },
  success: RedeliveryFilter,
  scope: "update:event_deliveries",
  idempotent: false,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, Conflict, RateLimited]
}))
