/** Declares the operation that returns a job. */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { omittable, oneOf, open } from "../Schemas.js"

const job = /* @__PURE__ */ Schema.suspend(() =>
  open({
    id: Schema.String,
    type: Schema.String,
    status: oneOf("pending", "processing", "completed", "failed"),
    created_at: omittable(Schema.String),
    connection_id: omittable(Schema.String),
    format: omittable(oneOf("json", "csv")),
    location: omittable(Schema.String),
    percentage_done: omittable(Schema.Number),
    time_left_seconds: omittable(Schema.Number),
    status_details: omittable(Schema.String),
    summary: omittable(Schema.Struct({
      failed: omittable(Schema.Number),
      updated: omittable(Schema.Number),
      inserted: omittable(Schema.Number),
      total: omittable(Schema.Number)
    }))
  }).annotations({ identifier: "Job" })
)

/** A job and its progress, with every field sent. @since 0.1.0 @category models */
export interface Job extends Schema.Schema.Type<typeof job> {}
/** A job and its progress, with every field sent. @since 0.1.0 @category schemas */
export const Job: Schema.Schema<Job> = job

/**
 * Returns a job: how far it is, and where its file is. `Exports.run` starts a job, waits for it and reads the file.
 *
 * `location` is a link to another host that is good for 60 s, and is a secret, because the link alone gives the file. Each call gives a
 * new one, for 24 hours after the end of the job. `percentage_done` and `time_left_seconds` tell when it will end. Requires one of the
 * scopes `create:users` and `read:users`. Fails with `NotFound` if the job does not exist.
 * @since 0.1.0 @category operations
 */
export const getJob = /* @__PURE__ */ Operation.make("getJob", () => ({
  method: "GET",
  path: "/jobs/:id",
  params: { id: Schema.String },
  success: Job,
  scope: ["create:users", "read:users"],
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
}))
