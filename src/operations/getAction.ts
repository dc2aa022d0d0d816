/** Declares the operation that returns an action. */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { list, omittable, oneOf } from "../Schemas.js"
import { Timestamp } from "../Timestamp.js"
import { ActionVersion, TriggerDescriptor } from "./listActionVersions.js"

const action = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({
    id: omittable(Schema.String),
    name: omittable(Schema.String),
    supported_triggers: list(TriggerDescriptor),
    all_changes_deployed: omittable(Schema.Boolean),
    created_at: omittable(Timestamp),
    updated_at: omittable(Timestamp),
    code: omittable(Schema.String),
    dependencies: list(Schema.Struct({
      name: omittable(Schema.String),
      version: omittable(Schema.String),
      registry_url: omittable(Schema.String)
    })),
    runtime: omittable(Schema.String),
    secrets: list(Schema.Struct({ name: omittable(Schema.String), updated_at: omittable(Timestamp) })),
    deployed_version: omittable(ActionVersion),
    current_version: omittable(Schema.Struct({
      id: omittable(Schema.String),
      code: omittable(Schema.String),
      runtime: omittable(Schema.String),
      status: omittable(Schema.String),
      number: omittable(Schema.Number),
      build_time: omittable(Timestamp),
      created_at: omittable(Timestamp),
      updated_at: omittable(Timestamp)
    })),
    status: omittable(oneOf("pending", "building", "packaged", "built", "retrying", "failed")),
    built_at: omittable(Timestamp)
  }).annotations({ identifier: "Action" })
)

/**
 * An action: its draft, and the version that is deployed. Every field is optional. `current_version` is the deployed version once more, as
 * it was recorded: with fewer fields, and its status in capitals. Auth0's document lacks it, and has a
 * `built_at` of actions that was never recorded.
 * @since 0.1.0 @category models
 */
export interface Action extends Schema.Schema.Type<typeof action> {}
/** An action: its draft, and the version that is deployed. Every field is optional. @since 0.1.0 @category schemas */
export const Action: Schema.Schema<Action> = action

/**
 * Returns an action: its draft, and the version that is deployed.
 *
 * Requires the scope `read:actions`. Fails with `NotFound` if the action does not exist.
 * @since 0.1.0 @category operations
 */
export const getAction = /* @__PURE__ */ Operation.make("getAction", () => ({
  method: "GET",
  path: "/actions/actions/:id",
  params: { id: Schema.String },
  success: Action,
  scope: "read:actions",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
}))
