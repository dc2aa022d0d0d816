/** Begins a listing: by page number (`numberedPages.ts`), or by checkpoint (`checkpointPages.ts`). */
import type { Any } from "../../Endpoint.js"
import { byCheckpoint } from "./checkpointPages.js"
import type { Pages, PagingInput } from "./listing.js"
import { byNumber } from "./numberedPages.js"
import type { PagedEndpoint } from "./pageSchema.js"

/** Begins a listing. A service that has both is asked by checkpoint, unless the caller chooses a page or its size. */
export const of = <Input extends PagingInput>(endpoint: Any & PagedEndpoint, input: Input): Pages<Input> => {
  const { paging } = endpoint
  const isNumbered = input.page !== undefined || input.per_page !== undefined
  return paging === "number" || (paging === "both" && isNumbered) ? byNumber(endpoint, input) : byCheckpoint(input)
}
