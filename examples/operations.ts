/** Five operations, each with its input and its result. `operations.test.ts` runs them against the embedded tenant. */
import { Effect } from "effect"
import * as Identity from "effect-identity-client"

export const all = (ids: { connection: string; profile: string; action: string; stream: string; event: string }) =>
  Effect.gen(function*() {
    // A job, not yet done: { id, type, status: "pending", … }
    const job = yield* Identity.createUsersExport({
      connection_id: ids.connection, // con_ and 16 letters or digits
      format: "csv", // or "json"
      limit: 1000, // at least 1; absent: all users
      fields: [{ name: "email", export_as: "E-mail" }] // at most 100 characters each
    })
    // The profile, or undefined if the service sends none. `name`: 3 to 50 characters; `subject_token_type`: a URI of 8 to 100
    const profile = yield* Identity.updateTokenExchangeProfile({ id: ids.profile, name: "Legacy tokens" })
    // One page: { total, per_page, versions }. Pages count from 0; `Pagination.stream` returns all versions
    const page = yield* Identity.listActionVersions({ actionId: ids.action, page: 0, per_page: 50 })
    // Nothing. Both ids have exactly 26 characters
    yield* Identity.redeliverEvent({ id: ids.stream, event_id: ids.event })
    // Nothing, also if the stream is already gone
    yield* Identity.deleteEventStream({ id: ids.stream })
    return { job, profile, page }
  })
