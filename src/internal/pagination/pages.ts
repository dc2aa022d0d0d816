/** Begins a listing: by page number (`numberedPages.ts`), or by checkpoint (`checkpointPages.ts`). */
import type { Any } from "../../Endpoint.js"
import type { Issue } from "../../Errors.js"
import { integerIssues } from "../schema/issues.js"
import { byCheckpoint } from "./checkpointPages.js"
import type { Pages, PagingInput } from "./listing.js"
import { byNumber } from "./numberedPages.js"
import type { PagedEndpoint } from "./pageSchema.js"

const isNumbered = ({ paging }: PagedEndpoint, { from, page, per_page }: PagingInput): boolean => {
  switch (paging) {
    case "number":
      return true
    case "checkpoint":
      return false
    case "both":
      return page !== undefined || per_page !== undefined
    case "newer":
      return from === undefined
  }
}

/**
 * Begins a listing. A service that has both is asked by checkpoint, unless the caller chooses a page or its size; one whose checkpoint
 * finds newer items is asked by number, unless the caller chooses the checkpoint.
 */
export const of = <Input extends PagingInput>(endpoint: Any & PagedEndpoint, input: Input): Pages<Input> =>
  isNumbered(endpoint, input) ? byNumber(endpoint, input) : byCheckpoint(input)

/** Query parameters that the listing sets for each page. */
const ownNames = ["page", "per_page", "from", "take"]

/**
 * The fields of an input, and of the query that is sent in addition, with which the pages after the first, or all of them, would not mean what
 * is asked.
 */
export const issuesOf = (
  endpoint: Any & PagedEndpoint,
  input: PagingInput,
  extra: Readonly<Record<string, unknown>> = {}
): ReadonlyArray<Issue> => {
  const { paging, query = {} } = endpoint
  const given = new Set(
    Object.entries({ ...input, ...extra }).flatMap(([name, value]) => value === undefined ? [] : [name])
  )
  const refuse = (names: ReadonlyArray<string>, message: string) =>
    names.filter((name) => given.has(name)).map((path) => ({ path, message }))
  const byNumber = isNumbered(endpoint, input)
  const size = byNumber ? "per_page" : "take"
  return [
    ...ownNames.filter((name) => name in extra)
      .map((name) => ({ path: `withFields.query.${name}`, message: "must be a field of the stream's input" })),
    ...(input[size] === 0 ? integerIssues(size, 0, 1) : []),
    ...(paging === "both" && byNumber ? refuse(["from", "take"], "cannot be combined with `page` or `per_page`") : []),
    ...(paging === "newer" && byNumber
      ? refuse(["take"], "has a meaning only with `from`; `per_page` is the size of a page")
      : []),
    ...(paging === "newer" && !byNumber
      ? refuse(
        Object.keys({ ...query, ...extra }).filter((name) => name !== "from" && name !== "take"),
        "is ignored by the service together with `from`"
      )
      : [])
  ]
}
