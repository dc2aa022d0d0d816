/** Declares the operation that deploys a version of an action, for example an earlier one. */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { ActionVersion } from "./listActionVersions.js"

/**
 * Deploys a version of an action, which may be an earlier one (rollback). The service makes a new version of it and returns that.
 *
 * `actionId` is the action's id and `id` the version's. With `update_draft` the action's draft becomes the version, too. Requires the
 * scope `create:actions`.
 *
 * Not idempotent: retried only after a 429 or if certainly not sent. The `fetch` of Deno and of Chromium may repeat it by itself.
 * @since 0.1.0 @category operations
 */
export const deployActionVersion = /* @__PURE__ */ Operation.make("deployActionVersion", () => ({
  method: "POST",
  path: "/actions/actions/:actionId/versions/:id/deploy",
  params: { actionId: Schema.String, id: Schema.String },
  payload: { update_draft: Schema.optional(Schema.Boolean) },
  success: ActionVersion,
  scope: "create:actions",
  idempotent: false,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
}))
