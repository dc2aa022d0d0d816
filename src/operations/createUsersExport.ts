/** Create export users job (contract: Endpoints 1). */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { Timestamp } from "../Timestamp.js"
import { integer, omittable, oneOf, text } from "./schemas.js"

const ConnectionId = Schema.String.pipe(
  Schema.pattern(/^con_[A-Za-z0-9]{16}$/, { description: "a string that matches ^con_[A-Za-z0-9]{16}$" })
)

/** A field of the user profile to export, and the title of its column in the CSV file: at most 100 characters each. */
const ExportField = Schema.Struct({
  name: text({ max: 100 }),
  export_as: Schema.optional(text({ max: 100 }))
})

const job = Schema.Struct(
  {
    id: Schema.String,
    type: oneOf("users_export"),
    status: oneOf("pending", "processing", "completed", "failed"),
    // Nobody states its type. A null is none: it means that the member is missing.
    connection: omittable(Schema.Unknown.pipe(Schema.filter((value): boolean => value !== null))),
    created_at: omittable(Timestamp),
    connection_id: omittable(Schema.String),
    format: omittable(oneOf("json", "csv")),
    limit: omittable(Schema.Number),
    fields: omittable(Schema.Array(Schema.Struct({ name: Schema.String, export_as: omittable(Schema.String) })))
  },
  { key: Schema.String, value: Schema.Unknown }
).annotations({ identifier: "UsersExportJob" })

/** An export job as the service describes it, members it lists nowhere included (contract: Export users job). */
export interface UsersExportJob extends Schema.Schema.Type<typeof job> {}
/** An export job as the service describes it, members it lists nowhere included (contract: Export users job). */
export const UsersExportJob: Schema.Schema<UsersExportJob> = job

/**
 * Starts a job that exports users, and gives the job, which is `pending`.
 *
 * Only what is set is sent: without `connection_id` the users of all connections are exported, without `limit` all of
 * them, without `fields` the service's own choice of fields. Needs the scope `read:users` and a global client. It is
 * never repeated after a failure that leaves open whether a job was started.
 */
export const createUsersExport = Operation.make("createUsersExport", {
  method: "POST",
  path: "/jobs/users-exports",
  payload: {
    connection_id: Schema.optional(ConnectionId),
    format: Schema.optional(Schema.Literal("json", "csv")),
    limit: Schema.optional(integer(1)),
    fields: Schema.optional(Schema.Array(ExportField))
  },
  success: UsersExportJob,
  scope: "read:users",
  idempotent: false,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited]
})
