/** Declares the operation that lists actions. */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { integer, list, omittable } from "../Schemas.js"
import { Action } from "./getAction.js"

const actionPage = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({
    total: omittable(Schema.Number),
    page: omittable(Schema.Number),
    per_page: omittable(Schema.Number),
    actions: list(Action)
  }).annotations({ identifier: "ActionPage" })
)

/** A page of actions. @since 0.1.0 @category models */
export interface ActionPage extends Schema.Schema.Type<typeof actionPage> {}
/** A page of actions. @since 0.1.0 @category schemas */
export const ActionPage: Schema.Schema<ActionPage> = actionPage

/**
 * Returns one page of the tenant's actions. `Pagination.stream` returns all of them.
 *
 * `triggerId` selects those of a trigger, for example `post-login`; `actionName` those with a name, `deployed` and `installed` those
 * that are or are not. `page` counts from 0 (default 0); `per_page` is the maximum number of actions on a page. Requires the scope
 * `read:actions`.
 * @since 0.1.0 @category operations
 */
export const listActions = /* @__PURE__ */ Operation.make("listActions", () => ({
  method: "GET",
  path: "/actions/actions",
  query: {
    triggerId: Schema.optional(Schema.String),
    actionName: Schema.optional(Schema.String),
    deployed: Schema.optional(Schema.Boolean),
    page: Schema.optional(integer({ min: 0 })),
    per_page: Schema.optional(integer({ min: 0 })),
    installed: Schema.optional(Schema.Boolean)
  },
  success: ActionPage,
  items: "actions",
  scope: "read:actions",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited]
}))
