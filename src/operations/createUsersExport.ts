/** Declares the operation that creates an export users job (contract: Endpoints 1). */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, RateLimited, Unauthorized } from "../Errors.js"
import { repeatedTitles } from "../internal/exports/columnTitles.js"
import * as Operation from "../Operation.js"
import { integer, list, nonNull, omittable, oneOf, open, string } from "../Schemas.js"
import { Timestamp } from "../Timestamp.js"

const usersExportJob = /* @__PURE__ */ Schema.suspend(() =>
  open({
    id: Schema.String,
    type: oneOf("users_export"),
    status: oneOf("pending", "processing", "completed", "failed"),
    connection: omittable(nonNull),
    created_at: omittable(Timestamp),
    connection_id: omittable(Schema.String),
    format: omittable(oneOf("json", "csv")),
    limit: omittable(Schema.Number),
    fields: list(Schema.Struct({ name: Schema.String, export_as: omittable(Schema.String) }))
  }).annotations({ identifier: "UsersExportJob" })
)

/** A job that exports users, with every field sent (contract: Export users job). @since 0.1.0 @category models */
export interface UsersExportJob extends Schema.Schema.Type<typeof usersExportJob> {}
/** A job that exports users, with every field sent (contract: Export users job). @since 0.1.0 @category schemas */
export const UsersExportJob: Schema.Schema<UsersExportJob> = usersExportJob

/**
 * Starts a job that exports users and returns the job, whose status is `pending` (contract: Endpoints 1).
 *
 * Every input is optional: `connection_id` selects a connection (default: all), `format` is `json` or `csv`, `limit` is the
 * maximum number of users, at least 1 (default: no limit), and `fields` selects profile fields (default: the service's
 * selection). In CSV no two of them may have one title. Requires the scope `read:users`. Fails with `BadRequest` if the connection does not exist, and with `Unauthorized` if the
 * token is refused; a 401 `Client is not global` has been recorded, although Auth0's documents ask for the scope alone.
 *
 * Not idempotent: retried only after a 429 or if certainly not sent. The `fetch` of Deno and of Chromium may repeat it by itself.
 * @since 0.1.0 @category operations
 */
export const createUsersExport = /* @__PURE__ */ Operation.make("createUsersExport", () => ({
  method: "POST",
  path: "/jobs/users-exports",
  payload: {
    connection_id: Schema.optional(string({ pattern: "^con_[A-Za-z0-9]{16}$" })),
    format: Schema.optional(Schema.Literal("json", "csv")),
    limit: Schema.optional(integer({ min: 1 })),
    fields: Schema.optional(Schema.Array(Schema.Struct({
      name: string({ max: 100 }),
      export_as: Schema.optional(string({ max: 100 }))
    })))
  },
  check: repeatedTitles,
  success: UsersExportJob,
  scope: "read:users",
  idempotent: false,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited]
}))
