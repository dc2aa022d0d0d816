/** Declares the operation that lists the failed deliveries of an event stream. */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { integer, nonNull, omittable, oneOf, string } from "../Schemas.js"
import { Timestamp } from "../Timestamp.js"

const delivery = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({
    id: Schema.String,
    event_stream_id: Schema.String,
    status: oneOf("failed"),
    event_type: Schema.String,
    attempts: Schema.Array(Schema.Struct({
      status: oneOf("failed", "retrying"),
      timestamp: Timestamp,
      duration: omittable(Schema.Number),
      error_message: omittable(Schema.String)
    })),
    event: omittable(Schema.Struct({
      id: omittable(Schema.String),
      source: omittable(Schema.String),
      specversion: omittable(Schema.String),
      type: omittable(Schema.String),
      time: omittable(Timestamp),
      data: omittable(nonNull),
      a0tenant: omittable(Schema.String),
      a0stream: omittable(Schema.String),
      a0purpose: omittable(Schema.String)
    }))
  }).annotations({ identifier: "Delivery" })
)

/**
 * The delivery of an event: its attempts, and the event itself if the service sends it. An attempt `retrying` marks an accepted
 * redelivery; only those that are `failed` are failures. `duration` is in milliseconds. `event.data` is any JSON, mostly an object.
 * @since 0.1.0 @category models
 */
export interface Delivery extends Schema.Schema.Type<typeof delivery> {}
/** The delivery of an event: its attempts, and the event itself if the service sends it. @since 0.1.0 @category schemas */
export const Delivery: Schema.Schema<Delivery> = delivery

const deliveryPage = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({ deliveries: Schema.Array(Delivery), next: omittable(Schema.String) }).annotations({
    identifier: "DeliveryPage"
  })
)

/** A page of deliveries. `next` is the `from` of the next page. @since 0.1.0 @category models */
export interface DeliveryPage extends Schema.Schema.Type<typeof deliveryPage> {}
/** A page of deliveries. `next` is the `from` of the next page. @since 0.1.0 @category schemas */
export const DeliveryPage: Schema.Schema<DeliveryPage> = deliveryPage

/**
 * Returns failed deliveries of an event stream. `Deliveries.failed` returns all of them.
 *
 * Tenants return a page `{ deliveries, next? }` (recorded). The published document has a bare list, which is accepted, too.
 *
 * `id` is the stream's, exactly 26 characters. `statuses` is `failed`, and `event_types` a list with commas; `date_from` and `date_to`
 * are times of at most 20 characters, so without a fraction. `from` is the `next` of the page before; `take` is the size of a
 * page, from 1 to 100. A page without `next`, or an empty one, is the last. Requires one of the scopes `read:event_streams` and `read:event_deliveries`. Fails with `NotFound` if the stream does not exist.
 * @since 0.1.0 @category operations
 */
export const listDeliveries = /* @__PURE__ */ Operation.make("listDeliveries", () => ({
  method: "GET",
  path: "/event-streams/:id/deliveries",
  params: { id: string({ min: 26, max: 26 }) },
  query: {
    statuses: Schema.optional(Schema.String),
    event_types: Schema.optional(Schema.String),
    date_from: Schema.optional(string({ max: 20 })),
    date_to: Schema.optional(string({ max: 20 })),
    from: Schema.optional(Schema.String),
    take: Schema.optional(integer({ min: 1, max: 100 }))
  },
  success: Schema.Union(DeliveryPage, Schema.Array(Delivery)),
  items: "deliveries",
  paging: "checkpoint",
  scope: ["read:event_streams", "read:event_deliveries"],
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
}))
