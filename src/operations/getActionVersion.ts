/** Declares the operation that returns a version of an action. */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { ActionVersion } from "./listActionVersions.js"

/**
 * Returns a version of an action.
 *
 * `actionId` is the action's id and `id` the version's, which is not its number. Requires the scope `read:actions`. Fails with
 * `NotFound` if the action or the version does not exist.
 * @since 0.1.0 @category operations
 */
export const getActionVersion = /* @__PURE__ */ Operation.make("getActionVersion", () => ({
  method: "GET",
  path: "/actions/actions/:actionId/versions/:id",
  params: { actionId: Schema.String, id: Schema.String },
  success: ActionVersion,
  scope: "read:actions",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
}))
