/** Declares the operation that lists the versions of an action (contract: Endpoints 3). */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { integer, list, omittable, oneOf } from "../Schemas.js"
import { Timestamp } from "../Timestamp.js"

const triggerDescriptor = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({
    id: omittable(Schema.String),
    version: omittable(Schema.String),
    status: omittable(Schema.String),
    runtimes: list(Schema.String),
    default_runtime: omittable(Schema.String),
    compatible_triggers: list(Schema.Struct({ id: omittable(Schema.String), version: omittable(Schema.String) })),
    binding_policy: omittable(Schema.String)
  }).annotations({ identifier: "TriggerDescriptor" })
)

/** A trigger for which an action runs; every field is optional (contract: Action version). @since 0.1.0 @category models */
export interface TriggerDescriptor extends Schema.Schema.Type<typeof triggerDescriptor> {}
/** A trigger for which an action runs; every field is optional (contract: Action version). @since 0.1.0 @category schemas */
export const TriggerDescriptor: Schema.Schema<TriggerDescriptor> = triggerDescriptor

const actionVersion = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({
    id: omittable(Schema.String),
    action_id: omittable(Schema.String),
    code: omittable(Schema.String),
    dependencies: list(Schema.Struct({
      name: omittable(Schema.String),
      version: omittable(Schema.String),
      registry_url: omittable(Schema.String)
    })),
    deployed: omittable(Schema.Boolean),
    runtime: omittable(Schema.String),
    secrets: list(Schema.Struct({ name: omittable(Schema.String), updated_at: omittable(Timestamp) })),
    status: omittable(oneOf("pending", "building", "packaged", "built", "retrying", "failed")),
    number: omittable(Schema.Number),
    errors: list(Schema.Struct({
      id: omittable(Schema.String),
      msg: omittable(Schema.String),
      url: omittable(Schema.String)
    })),
    action: omittable(Schema.Struct({
      id: omittable(Schema.String),
      name: omittable(Schema.String),
      supported_triggers: list(TriggerDescriptor),
      all_changes_deployed: omittable(Schema.Boolean),
      created_at: omittable(Timestamp),
      updated_at: omittable(Timestamp)
    })),
    built_at: omittable(Timestamp),
    created_at: omittable(Timestamp),
    updated_at: omittable(Timestamp),
    supported_triggers: list(TriggerDescriptor),
    modules: list(Schema.Struct({
      module_id: omittable(Schema.String),
      module_name: omittable(Schema.String),
      module_version_id: omittable(Schema.String),
      module_version_number: omittable(Schema.Number)
    }))
  }).annotations({ identifier: "ActionVersion" })
)

/** A version of an action. Every field is optional (contract: Action version). @since 0.1.0 @category models */
export interface ActionVersion extends Schema.Schema.Type<typeof actionVersion> {}
/** A version of an action. Every field is optional (contract: Action version). @since 0.1.0 @category schemas */
export const ActionVersion: Schema.Schema<ActionVersion> = actionVersion

const actionVersions = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({
    total: omittable(Schema.Number),
    page: omittable(Schema.Number),
    per_page: Schema.Number,
    versions: Schema.Array(ActionVersion)
  }).annotations({ identifier: "ActionVersions" })
)

/** A page of versions. Page 0 lacks the field `page`, and a page of no versions `total`. @since 0.1.0 @category models */
export interface ActionVersions extends Schema.Schema.Type<typeof actionVersions> {}
/** A page of versions. Page 0 lacks the field `page`, and a page of no versions `total`. @since 0.1.0 @category schemas */
export const ActionVersions: Schema.Schema<ActionVersions> = actionVersions

/**
 * Returns one page of an action's versions (contract: Endpoints 3). `Pagination.stream` returns all of them.
 *
 * `page` counts from 0 (default 0); `per_page` is the maximum number of versions on a page (default 20). Requires the scope
 * `read:actions`.
 * @since 0.1.0 @category operations
 */
export const listActionVersions = /* @__PURE__ */ Operation.make("listActionVersions", () => ({
  method: "GET",
  path: "/actions/actions/:actionId/versions",
  params: { actionId: Schema.String },
  query: {
    page: Schema.optional(integer({ min: 0 })),
    per_page: Schema.optional(integer({ min: 0 }))
  },
  success: ActionVersions,
  items: "versions",
  scope: "read:actions",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
}))
