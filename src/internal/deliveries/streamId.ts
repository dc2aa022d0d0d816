/** Validates the id of an event stream. */
import * as Either from "effect/Either"
import type { Any } from "../../Endpoint.js"
import type { Issue } from "../../Errors.js"
import * as Request from "../http/requestEncoder.js"

/** Lists the issues of a stream's id, by the rules of an operation whose field `id` it is. */
export const streamIssues = (endpoint: Any, stream: string): ReadonlyArray<Issue> =>
  Either.match(Request.validate(endpoint, { id: stream }), {
    onLeft: ({ issues }) =>
      issues.filter(({ path }) => path === "id").map(({ message }) => ({ path: "stream", message })),
    onRight: () => []
  })
