/** Declares the operation that returns an event stream. */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { list, omittable, oneOf, string } from "../Schemas.js"
import { Timestamp } from "../Timestamp.js"

const eventStream = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({
    id: omittable(Schema.String),
    name: omittable(Schema.String),
    subscriptions: list(Schema.Struct({ event_type: omittable(Schema.String) })),
    destination: omittable(Schema.Struct({
      type: oneOf("webhook", "eventbridge", "action"),
      configuration: Schema.Record({ key: Schema.String, value: Schema.Unknown })
    })),
    status: omittable(oneOf("enabled", "disabled")),
    created_at: omittable(Timestamp),
    updated_at: omittable(Timestamp)
  }).annotations({ identifier: "EventStream" })
)

/** An event stream: the events it has, and where they are delivered. Every field is optional. @since 0.1.0 @category models */
export interface EventStream extends Schema.Schema.Type<typeof eventStream> {}
/** An event stream: the events it has, and where they are delivered. Every field is optional. @since 0.1.0 @category schemas */
export const EventStream: Schema.Schema<EventStream> = eventStream

/**
 * Returns an event stream.
 *
 * `id` has exactly 26 characters. Requires the scope `read:event_streams`. Fails with `NotFound` if the stream does not exist.
 * @since 0.1.0 @category operations
 */
export const getEventStream = /* @__PURE__ */ Operation.make("getEventStream", () => ({
  method: "GET",
  path: "/event-streams/:id",
  params: { id: string({ min: 26, max: 26 }) },
  success: EventStream,
  scope: "read:event_streams",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
}))
