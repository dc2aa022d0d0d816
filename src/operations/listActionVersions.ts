/** Declares the operation that lists the versions of an action (contract: Endpoints 3). */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { Timestamp } from "../Timestamp.js"
import { integer, list, omittable, oneOf } from "./schemas.js"

const string = omittable(Schema.String)

const TriggerDescriptor = Schema.suspend(() =>
  Schema.Struct({
    id: string,
    version: string,
    status: string,
    runtimes: list(Schema.String),
    default_runtime: string,
    compatible_triggers: list(Schema.Struct({ id: string, version: string })),
    binding_policy: string
  }).annotations({ identifier: "TriggerDescriptor" })
)

const version = Schema.suspend(() =>
  Schema.Struct({
    id: string,
    action_id: string,
    code: string,
    dependencies: list(Schema.Struct({ name: string, version: string, registry_url: string })),
    deployed: omittable(Schema.Boolean),
    runtime: string,
    secrets: list(Schema.Struct({ name: string, updated_at: omittable(Timestamp) })),
    status: omittable(oneOf("pending", "building", "packaged", "built", "retrying", "failed")),
    number: omittable(Schema.Number),
    errors: list(Schema.Struct({ id: string, msg: string, url: string })),
    action: omittable(Schema.Struct({
      id: string,
      name: string,
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
      module_id: string,
      module_name: string,
      module_version_id: string,
      module_version_number: omittable(Schema.Number)
    }))
  }).annotations({ identifier: "ActionVersion" })
)

/** A version of an action. Every field is optional (contract: Action version). @since 0.1.0 @category models */
export interface ActionVersion extends Schema.Schema.Type<typeof version> {}
/** A version of an action. Every field is optional (contract: Action version). @since 0.1.0 @category schemas */
export const ActionVersion: Schema.Schema<ActionVersion> = version

const page = Schema.suspend(() =>
  Schema.Struct({
    total: Schema.Number,
    page: omittable(Schema.Number),
    per_page: Schema.Number,
    versions: Schema.Array(ActionVersion)
  }).annotations({ identifier: "ActionVersions" })
)

/** A page of versions. Page 0 lacks the field `page` (contract: Endpoints 3). @since 0.1.0 @category models */
export interface ActionVersions extends Schema.Schema.Type<typeof page> {}
/** A page of versions. Page 0 lacks the field `page` (contract: Endpoints 3). @since 0.1.0 @category schemas */
export const ActionVersions: Schema.Schema<ActionVersions> = page

/**
 * Returns one page of an action's versions (contract: Endpoints 3). `Pagination.stream` returns all of them.
 *
 * `page` counts from 0 (default 0); `per_page` is the maximum number of versions on a page (default 20). Requires the scope
 * `read:actions`.
 * @since 0.1.0 @category operations
 */
export const listActionVersions = Operation.make("listActionVersions", () => ({
  method: "GET",
  path: "/actions/actions/:actionId/versions",
  params: { actionId: Schema.String },
  query: { page: Schema.optional(integer(0)), per_page: Schema.optional(integer(0)) },
  success: ActionVersions,
  items: "versions",
  scope: "read:actions",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited]
}))
