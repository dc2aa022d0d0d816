/** The behaviour of export jobs. */
import * as Struct from "effect/Struct"
import { linkMillis, linkTo } from "../exports/link.js"
import { type Handlers, invalidPayload, notFound } from "./operationHandler.js"
import { type Job, upsert } from "./state.js"
import { timestamp } from "./timestamp.js"

/** The number of fields that an export may have. */
const maxFields = 30

/** The time after its end for which a job gives links. */
const availableMillis = 24 * 60 * 60 * 1000

/** The job as responses show it. */
const publicJob = (job: Job): object => Struct.omit(job, "failure", "links", "ended_at")

export const jobHandlers: Handlers<"createUsersExport" | "getJob"> = {
  createUsersExport: {
    status: 200,
    global: true,
    run: ({ exportFailure, input, now, randomId, success }, state) => {
      const { connection_id, fields, format = "json", limit } = input
      const connection = state.connections.find(({ id }) => id === connection_id)
      if (connection_id !== undefined && connection === undefined) {
        return [invalidPayload("connection_id", `The connection does not exist: ${connection_id}`), state]
      }
      if (fields !== undefined && fields.length > maxFields) {
        return [invalidPayload("fields", `Must have at most ${maxFields} items`), state]
      }
      const job: Job = {
        id: `job_${randomId}`,
        type: "users_export",
        status: "pending",
        created_at: timestamp(now),
        ...(connection && { connection: connection.name, connection_id: connection.id }),
        format,
        ...(limit !== undefined && { limit }),
        ...(fields && { fields }),
        ...(exportFailure !== undefined && { failure: exportFailure })
      }
      return [success(publicJob(job)), { ...state, jobs: upsert(state.jobs, [job]) }]
    }
  },

  getJob: {
    status: 200,
    run: ({ fileOrigin, input, now, randomId, success }, state) => {
      const job = state.jobs.find(({ id }) => id === input.id)
      if (job === undefined) return [notFound("job"), state]
      const { ended_at = now, links = [], status } = job
      if (status !== "completed" || now >= ended_at + availableMillis) return [success(publicJob(job)), state]
      const link = { signature: randomId, expires_at: now + linkMillis }
      const linked: Job = { ...job, links: [...links.filter(({ expires_at }) => expires_at > now), link] }
      const location = linkTo(fileOrigin, linked, link.signature)
      return [success({ ...publicJob(linked), location }), { ...state, jobs: upsert(state.jobs, [linked]) }]
    }
  }
}
