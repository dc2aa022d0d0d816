/** Declares the operation that lists event streams. */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { integer, list, omittable } from "../Schemas.js"
import { EventStream } from "./getEventStream.js"

const eventStreams = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({ eventStreams: list(EventStream), next: omittable(Schema.String) }).annotations({
    identifier: "EventStreams"
  })
)

/** A page of event streams. @since 0.1.0 @category models */
export interface EventStreams extends Schema.Schema.Type<typeof eventStreams> {}
/** A page of event streams. @since 0.1.0 @category schemas */
export const EventStreams: Schema.Schema<EventStreams> = eventStreams

/**
 * Returns a page of the tenant's event streams. `Pagination.stream` returns all of them.
 *
 * The page begins at the checkpoint `from`, the `next` of the page before; `take` is its size, from 1 to 100. Requires the scope
 * `read:event_streams`.
 * @since 0.1.0 @category operations
 */
export const listEventStreams = /* @__PURE__ */ Operation.make("listEventStreams", () => ({
  method: "GET",
  path: "/event-streams",
  query: { from: Schema.optional(Schema.String), take: Schema.optional(integer({ min: 1, max: 100 })) },
  success: EventStreams,
  items: "eventStreams",
  paging: "checkpoint",
  scope: "read:event_streams",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited]
}))
